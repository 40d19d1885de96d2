"""Properties of generate: PyTorch gives the same; sequences wrap; a call says sizes and data types."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest
from checks import assert_same_bits

import dmlcy as dml
from dmlcy._families.generate import philox
from families.common import peak

Array = np.ndarray[Any, Any]


def test_constants_and_sequences_against_pytorch() -> None:
    torch = pytest.importorskip("torch")
    random = np.random.default_rng(1)
    for number in range(60):
        sizes = tuple(random.integers(1, 7, random.integers(1, 5)).tolist())
        start, delta = random.integers(0, 100, 2).tolist()
        dtype = ("float32", "int64", "uint8", "int16", "float16", "int32")[number % 6]
        of_torch = getattr(torch, dtype)
        filled = dml.fill_value_constant(output_sizes=sizes, value=start, output_dtype=dtype)
        assert_same_bits(filled, torch.full(sizes, start, dtype=of_torch).numpy())
        expected = (torch.arange(int(np.prod(sizes)), dtype=torch.int64) * delta + start).to(of_torch)
        found = dml.fill_value_sequence(output_sizes=sizes, value_start=start, value_delta=delta, output_dtype=dtype)
        assert_same_bits(found, expected.numpy().reshape(sizes))


def test_sequences_of_floats_and_large_integers() -> None:
    found = dml.fill_value_sequence(output_sizes=(1 << 17,), value_start=0.1, value_delta=-0.3)
    start, delta = (float(np.float32(one)) for one in (0.1, -0.3))
    exact = start + np.arange(1 << 17) * np.longdouble(delta)
    assert np.abs(found - exact).max() <= np.spacing(np.float32(exact.max() - exact.min()))
    large = dml.fill_value_sequence(
        output_sizes=(3,), value_start=2**64 - 1, value_delta=2**63 + 1, output_dtype="UINT64"
    )
    assert large.tolist() == [2**64 - 1, 2**63, 1]
    small = dml.fill_value_sequence(output_sizes=(300,), value_start=-128, value_delta=1, output_dtype="INT8")
    assert small.tolist() == [(k - 128 + 128) % 256 - 128 for k in range(300)]
    odd = dml.fill_value_constant(output_sizes=(2,), value=float("nan"), output_dtype="FLOAT16")
    assert odd.dtype == np.float16 and np.isnan(odd).all()
    zero = dml.fill_value_constant(output_sizes=(2,), value=-0.0)
    assert np.signbit(zero).all()


@pytest.mark.parametrize("dtype", ["UINT64", "INT64", "UINT8", "INT8"])
def test_a_value_on_the_diagonal_beyond_an_integer(dtype: str) -> None:
    """The diagonal gets the nearest integer of the data type."""
    limits = np.iinfo(dtype.lower())
    for value, nearest in ((3e38, limits.max), (-3e38, limits.min), (2.0**63, min(2**63, limits.max))):
        found = dml.diagonal_matrix(output_sizes=(2, 2), value=value, output_dtype=dtype)
        assert found.tolist() == [[nearest, 0], [0, nearest]]


def test_diagonals_against_pytorch() -> None:
    torch = pytest.importorskip("torch")
    random = np.random.default_rng(2)
    for _ in range(80):
        rows, columns = random.integers(1, 7, 2).tolist()
        begin, end = random.integers(-8, 9, 2).tolist()
        x = random.standard_normal((2, rows, columns)).astype(np.float32)
        x[0, 0, 0] = np.nan
        ones = torch.ones(rows, columns)
        at_least = torch.triu(ones, begin).bool()
        below = ~torch.triu(ones, end).bool()
        filled = at_least & below if begin <= end else at_least | below
        expected = torch.from_numpy(x).masked_fill(filled, 7)
        given: Any = {"diagonal_fill_begin": begin, "diagonal_fill_end": end, "output_sizes": x.shape, "value": 7}
        assert_same_bits(dml.diagonal_matrix1(x, **given), expected.numpy())
        zeros = dml.diagonal_matrix1(None, **given, output_dtype="INT32")
        assert_same_bits(zeros, (filled * 7).to(torch.int32).expand(x.shape).contiguous().numpy())
        one = dml.diagonal_matrix(output_sizes=(rows, columns), offset=begin, value=2.75, output_dtype="INT16")
        diagonal = torch.triu(ones, begin) - torch.triu(ones, begin + 1)
        assert_same_bits(one, (diagonal * 2).to(torch.int16).numpy())


def test_one_hot_against_pytorch() -> None:
    torch = pytest.importorskip("torch")
    random = np.random.default_rng(3)
    for dtype in ("u4", "u8", "i4", "i8"):
        for _ in range(10):
            sizes, length = random.integers(1, 5, 3).tolist(), int(random.integers(1, 6))
            axis = int(random.integers(3))
            sizes[axis] = 1
            indices = random.integers(0, length, sizes).astype(dtype)
            hot = torch.nn.functional.one_hot(torch.from_numpy(indices.astype(np.int64)).squeeze(axis), length)
            expected = torch.where(hot.movedim(-1, axis) == 1, 5, -3).to(torch.float32).numpy()
            values = np.array([[[-3, 5, 99]]], np.float32)
            out = tuple(length if d == axis else size for d, size in enumerate(sizes))
            found = dml.one_hot(indices, values, axis=axis, output_sizes=out)
            assert_same_bits(found, np.ascontiguousarray(expected))
            if dtype[0] == "i":
                assert_same_bits(dml.one_hot(indices - length, values, axis=axis, output_sizes=out), found)
            beyond = indices + np.array(length).astype(dtype)
            assert (dml.one_hot(beyond, values, axis=axis, output_sizes=out) == -3).all()
    for index in (np.array([2**64 - 1], np.uint64), np.array([-(2**63)]), np.array([2**63 - 1]), np.array([-4])):
        found = dml.one_hot(index, np.array([0, 1], np.uint8), axis=0, output_sizes=(3,))
        assert found.tolist() == [0, 0, 0]


KNOWN = [
    ([0] * 6, [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]),
    ([0xFFFFFFFF] * 6, [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]),
    (
        [0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344, 0xA4093822, 0x299F31D0],
        [0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1],
    ),
]
"""States, and the numbers of their counters that the authors of Philox publish."""


def test_random_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    for state, expected in KNOWN:
        found, after = dml.random_generator(np.array(state, np.uint32), output_sizes=(4,), output_state=True)
        assert found.tolist() == expected
        counter = sum(word << 32 * place for place, word in enumerate(state[:4]))
        assert sum(word << 32 * place for place, word in enumerate(after[:4].tolist())) == (counter + 1) % 2**128
        assert after[4:].tolist() == state[4:]
    for low in (0, 2**32 - 2, 2**64 - 3, 2**96 - 2, 2**128 - 1):
        start = np.array([*(low >> 32 * place & 0xFFFFFFFF for place in range(4)), 5, 7], np.uint32)
        whole, last = dml.random_generator(start, output_sizes=(3, 7), output_state=True)
        monkeypatch.setattr(philox, "BLOCK", 2)
        assert_same_bits((philox.numbers(start, 21).reshape(3, 7), philox.following(start, 21)), (whole, last))
        parts, after = [], start
        for count in (4, 8, 4, 4, 1):
            part, after = dml.random_generator(after, output_sizes=(count,), output_state=True)
            parts.append(part)
        assert_same_bits(np.concatenate(parts), whole.ravel())
        assert_same_bits(after, last)
        monkeypatch.undo()


def test_many_random_numbers_where_the_counter_grows() -> None:
    """Compare with the reference: among numbers that are made at once, the lower words of the counter begin again."""
    for low in (2**32 - 300, 2**64 - 301, 2**96 - 7, 2**128 - 1000):
        state = np.array([*(low >> 32 * place & 0xFFFFFFFF for place in range(4)), 2**32 - 1, 7], np.uint32)
        found, after = dml.random_generator(state, output_sizes=(7, 601), output_state=True)
        assert_same_bits((found.ravel(), after), (philox.numbers(state, 4207), philox.following(state, 4207)))
        alone = dml.random_generator(state, output_sizes=(7, 601))
        assert_same_bits(alone, found)


def test_the_data_type_and_the_sizes_of_a_call() -> None:
    assert dml.fill_value_constant(output_sizes=(2,), value=1).dtype == np.float32
    out = np.zeros((2, 3), np.int8)
    assert dml.fill_value_constant(output_sizes=(2, 3), value=1, out=out) is out
    assert out.all()
    indices, values = np.array([[0], [2]]), np.array([[1, 2]], np.float32)
    lines = np.zeros((2, 4), np.float32)
    assert dml.one_hot(indices, values, axis=1, out=lines) is lines
    assert lines.tolist() == [[2, 1, 1, 1], [1, 1, 2, 1]]
    for given, words in (
        ({}, "output_sizes is missing. Pass the sizes of output"),
        ({"output_sizes": (3, 4)}, "differs in size from the indices in a dimension other than Axis"),
        ({"output_sizes": (2, 4, 1)}, "has a different number of dimensions"),
        ({"output_sizes": "24"}, "output_sizes must be a sequence of ints"),
        ({"output_sizes": (2, 0)}, r"output_sizes\[1\] is 0, and must be from 1"),
        ({"output_sizes": (2, 5), "out": lines}, r"out has sizes \(2, 4\), and must have \(2, 5\): output_sizes"),
    ):
        with pytest.raises(dml.DmlError, match=words):
            dml.one_hot(indices, values, axis=1, **given)
    with pytest.raises(dml.DmlError, match=r"value is -1\.5, which UINT8 cannot hold"):
        dml.fill_value_constant(output_sizes=(2,), value=-1.5, output_dtype="UINT8")
    with pytest.raises(dml.DmlError, match="out has sizes"):
        dml.fill_value_constant(output_sizes=(3, 2), value=1, out=out)


def test_large_tensors_take_little_memory() -> None:
    sizes = (1, 1, 2048, 2048)
    for name, given in (
        ("fill_value_sequence", {"value_start": 1, "value_delta": 2}),
        ("fill_value_constant", {"value": 1}),
        ("diagonal_matrix1", {}),
    ):
        tracemalloc.start()
        try:
            found = getattr(dml, name)(output_sizes=sizes, **given)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert peak < 2 * found.nbytes, f"{name}: {peak / 2**20:.0f} MB"


def test_long_lines_take_little_memory() -> None:
    """One line of many elements of a byte: no place of an element is a number of eight bytes."""
    sizes, ones = (1, 1, 1, 1 << 22), np.array([[[[0, 1]]]], np.int8)
    for call in (
        lambda: dml.one_hot(np.full((1, 1, 1, 1), 7), ones, axis=3, output_sizes=sizes),
        lambda: dml.diagonal_matrix(output_sizes=sizes, offset=7, value=1, output_dtype="INT8"),
    ):
        assert np.flatnonzero(call()).tolist() == [7]
        assert peak(call) < 3 << 22
