"""Properties of index: PyTorch and ONNX give the same, the last of several updates stays, wrong indices are refused."""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import numpy as np
import pytest
from checks import assert_same_bits
from strategies import any_bits

import dmlcy as dml
from dmlcy._facts.tables import OPERATORS
from dmlcy._families.index import family
from families.common import peak

Array = np.ndarray[Any, Any]
INDICES = ("u4", "i8", "i4", "u8")


def drawn(random: np.random.Generator, sizes: Any, dtype: str = "f4") -> Array:
    return any_bits(int(random.integers(1 << 20)), tuple(map(int, sizes)), dtype)


def any_index(random: np.random.Generator, size: int, sizes: Any, dtype: str) -> Array:
    """Indices along an axis, negative ones among them where the data type has them."""
    low = -size if dtype[0] == "i" else 0
    return random.integers(low, size, tuple(map(int, sizes))).astype(dtype)


def wrapped(torch: Any, indices: Array, size: int) -> Any:
    """The same places as PyTorch takes them, counted from the first element."""
    return torch.from_numpy(np.asarray(indices.astype(np.int64) % size))


def test_gather_against_pytorch() -> None:
    torch = pytest.importorskip("torch")
    random = np.random.default_rng(1)
    for number in range(60):
        rank, count = int(random.integers(1, 5)), int(random.integers(0, 4))
        axis = int(random.integers(max(count - 1, 0), max(rank, count)))
        sizes = random.integers(1, 5, max(rank, count, axis + 1))
        sizes[: max(count - 1, 0)] = 1
        x = drawn(random, sizes, ("f4", "i2", "u1", "f8")[number % 4])
        own = random.integers(1, 4, count)
        indices = any_index(random, x.shape[axis], own, INDICES[number % 4])
        taken = torch.index_select(torch.from_numpy(x), axis, wrapped(torch, indices, x.shape[axis]).reshape(-1))
        expected = taken.numpy().reshape((*x.shape[:axis], *own, *x.shape[axis + 1 :]))
        found = dml.gather(
            x, indices.reshape((1,) * (x.ndim - count) + indices.shape), axis=axis, index_dimensions=count
        )
        assert found.ndim == x.ndim
        assert_same_bits(found.reshape(expected.shape), expected.copy())


def test_elements_against_pytorch(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch")
    random = np.random.default_rng(2)
    for number in range(60):
        monkeypatch.setattr(family, "BLOCK", (1 << 20, 5)[number % 2])
        sizes = random.integers(1, 6, random.integers(1, 5))
        axis = int(random.integers(len(sizes)))
        around = sizes if number % 3 else random.integers(1, sizes + 1)  # smaller along any axis
        own = [*around[:axis], int(random.integers(1, 9)), *around[axis + 1 :]]
        x = drawn(random, sizes).transpose()[::-1].transpose()
        indices = any_index(random, x.shape[axis], own, INDICES[number % 4])
        places = wrapped(torch, indices, x.shape[axis])
        expected = torch.gather(torch.from_numpy(x.copy()), axis, places)
        assert_same_bits(dml.gather_elements(x, indices, axis=axis), expected.numpy())
        updates = drawn(random, own)
        result = dml.scatter(x, np.asfortranarray(indices), updates, axis=axis)
        expected_array = np.array(x)
        for at in np.ndindex(*updates.shape):  # one after the other: the last one stays
            to = (*at[:axis], int(places[at]), *at[axis + 1 :])
            expected_array[to] = updates[at]
        assert_same_bits(result, expected_array)
        if own[axis] == 1:  # PyTorch does not say which of two updates it keeps
            other = torch.from_numpy(x.copy()).scatter(axis, places, torch.from_numpy(updates))
            assert_same_bits(result, other.numpy())


def test_smaller_indices_give_a_warning_and_larger_ones_are_refused() -> None:
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    indices, updates = np.array([[2, 0], [1, -1]], np.int64), np.array([[-1, -2], [-3, -4]], np.float32)
    assert dml.gather_elements(x, indices, axis=0).tolist() == [[8, 1], [4, 9]]
    found = dml.scatter(x, indices, updates, axis=1)
    assert found.tolist() == [[-2, 1, -1, 3], [4, -3, 6, -4], [8, 9, 10, 11]]
    for name, others in (("GATHER_ELEMENTS", {"output": (2, 2)}), ("SCATTER", {"updates": (2, 2), "output": (3, 4)})):
        given = {"input": dml.TensorDesc("FLOAT32", (3, 4)), "indices": dml.TensorDesc("INT64", (2, 2))}
        given |= {path: dml.TensorDesc("FLOAT32", sizes) for path, sizes in others.items()}
        desc = getattr(dml.desc, OPERATORS[name].desc)(**given, axis=1)
        assert dml.check(desc) == []
        (warning,) = dml.check(desc, warnings=True)
        assert (warning.id, warning.severity, warning.index) == (f"DML-{name}-indices-fit-accepted", "warning", 0)
    for function, more in ((dml.gather_elements, ()), (dml.scatter, (np.zeros((4, 4), np.float32),))):
        with pytest.raises(dml.InvalidDescError, match=r"sizes\(indices\)\[0\] = 4, .*-indices-fit\]"):
            function(x, np.zeros((4, 4), np.int64), *more, axis=1)


def nd_case(random: np.random.Generator, dtype: str, batches: int) -> tuple[Array, Array, list[int], int]:
    """A tensor, tuples that point into it, the sizes of what they point to, and the rank that all tensors need."""
    counted = random.integers(1, 5, random.integers(batches + 1, batches + 4))
    coordinates = int(random.integers(1, len(counted) - batches + 1))
    tuples = random.integers(1, 5, random.integers(1, 3)).tolist()
    parts = [
        any_index(random, int(size), [*counted[:batches], *tuples], dtype)
        for size in counted[batches : batches + coordinates]
    ]
    indices = np.stack(parts, -1)
    pointed = [*counted[:batches].tolist(), *tuples, *counted[batches + coordinates :].tolist()]
    return drawn(random, counted), indices, pointed, max(len(counted), indices.ndim, len(pointed))


def with_ones(x: Array, rank: int) -> Array:
    return x.reshape((1,) * (rank - x.ndim) + x.shape)


def test_tuples_against_onnx_and_pytorch() -> None:
    torch = pytest.importorskip("torch")
    onnx = pytest.importorskip("onnx.reference.ops.op_gathernd")
    random = np.random.default_rng(3)
    for number in range(80):
        batches = number % 3
        x, indices, pointed, rank = nd_case(random, INDICES[number % 4], batches)
        counts: Any = {"input_dimension_count": x.ndim, "indices_dimension_count": indices.ndim}
        tensors = with_ones(x, rank), with_ones(indices, rank)
        found = dml.gather_nd1(*tensors, **counts, batch_dimension_count=batches)
        whole = indices.astype(np.int64)
        sizes = np.array(x.shape[batches : batches + indices.shape[-1]])
        expected = onnx.GatherND.eval(x, whole % sizes, batch_dims=batches)
        assert_same_bits(found, with_ones(np.ascontiguousarray(expected), rank))
        if batches:
            continue
        assert_same_bits(dml.gather_nd(*tensors, **counts), found)
        updates = drawn(random, pointed)
        result = dml.scatter_nd(*tensors, with_ones(updates, rank), **counts)
        expected = np.array(x)
        for at in np.ndindex(*indices.shape[:-1]):
            expected[tuple((whole % sizes)[at])] = updates[at]
        assert_same_bits(result, with_ones(expected, rank))
        flat = [torch.from_numpy((whole % sizes)[..., k].ravel()) for k in range(len(sizes))]
        if len({*zip(*(one.tolist() for one in flat), strict=True)}) == len(flat[0]):
            values = torch.from_numpy(updates.reshape(len(flat[0]), *updates.shape[indices.ndim - 1 :]))
            other = torch.from_numpy(np.array(x)).index_put(tuple(flat), values)
            assert_same_bits(result, with_ones(other.numpy(), rank))


def test_max_unpooling_against_pytorch() -> None:
    torch = pytest.importorskip("torch")
    random = np.random.default_rng(4)
    for _ in range(20):
        x = random.standard_normal((1, 1, 2 * random.integers(1, 4), 2 * random.integers(1, 4)), np.float32)
        maxima, places = dml.max_pooling1(x, window_size=2, strides=2, output_indices=True)
        found = dml.max_unpooling(maxima, places, output_sizes=x.shape)
        wide = torch.from_numpy(places.astype(np.int64))
        expected = torch.nn.functional.max_unpool2d(torch.from_numpy(maxima), wide, 2)
        assert_same_bits(found, expected.numpy())
    twice = dml.max_unpooling(
        np.array([[[[1, 2, 3]]]], np.int8), np.array([[[[1, 0, 1]]]], np.uint64), output_sizes=(1, 2, 1, 2)
    )
    assert twice.ravel().tolist() == [2, 3, 0, 0]


def test_reverse_subsequences_against_pytorch(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch")
    random = np.random.default_rng(5)
    for number in range(60):
        monkeypatch.setattr(family, "BLOCK", (1 << 20, 4, 30)[number % 3])
        x = drawn(random, random.integers(1, 6, random.integers(1, 5)))
        axis = int(random.integers(x.ndim))
        lines = [1 if d == axis else size for d, size in enumerate(x.shape)]
        lengths = random.integers(0, x.shape[axis] + 3, lines).astype(("u4", "u8")[number % 2])
        expected = torch.from_numpy(x.copy()).movedim(axis, -1)
        for at in np.ndindex(*expected.shape[:-1]):
            own = int(np.moveaxis(lengths, axis, -1)[at][0])
            expected[at][:own] = expected[at][:own].flip(0)
        found = dml.reverse_subsequences(x, lengths, axis=axis)
        assert_same_bits(found, np.ascontiguousarray(expected.movedim(-1, axis).numpy()))
    huge = np.full((1, 1), 2**64 - 1, np.uint64)
    assert dml.reverse_subsequences(np.arange(3)[None], huge, axis=1).tolist() == [[2, 1, 0]]


X = np.arange(6, dtype=np.float32).reshape(2, 3)
PAIRS: Any = {"input_dimension_count": 2, "indices_dimension_count": 2}
REFUSED: list[tuple[str, list[Any], dict[str, Any], str]] = [
    ("gather", [X, [[0, 3]]], {"axis": 1, "index_dimensions": 1}, "indices[0, 1] is outside the axis"),
    ("gather", [X, [[-4, 0]]], {"axis": 1, "index_dimensions": 1}, "indices[0, 0] is outside the axis"),
    ("gather_elements", [X, [[0, 2], [1, 3]]], {"axis": 1}, "indices[1, 1] is outside the axis"),
    ("scatter", [X, [[0, 2], [-4, 2]], X[:, :2]], {"axis": 1}, "indices[1, 0] is outside the axis"),
    ("gather_nd", [X, [[1, 2], [2, 0]]], PAIRS, "indices[1, 0] is outside the axis that it indexes"),
    ("gather_nd1", [X, [[1, 2], [0, 3]]], PAIRS, "indices[1, 1] is outside the axis that it indexes"),
    ("scatter_nd", [X, [[1, 2], [0, -4]], X[:1, :2]], PAIRS, "indices[1, 1] is outside the axis that it indexes"),
]


def test_wrong_indices_are_refused_before_anything_is_written() -> None:
    for name, (x, indices, *more), given, words in REFUSED:
        tensors = [x, np.array(indices), *more]
        good = getattr(dml, name)(x, np.zeros_like(tensors[1]), *more, **given)
        out = np.full_like(good, 77)
        operator = OPERATORS[name.upper()]
        fields = [field.python for field in operator.fields if field.kind == "input"]
        descs = {field: dml.TensorDesc.from_array(one) for field, one in zip(fields, tensors, strict=True)}
        compiled = dml.compile(getattr(dml.desc, operator.desc)(**descs, **given))
        for call in (partial(getattr(dml, name), *tensors, **given), partial(compiled, *tensors)):
            with pytest.raises(dml.InvalidDataError) as raised:
                call(out=out)
            (violation,) = raised.value.violations
            assert words in violation.message
            assert violation.id == f"DML-{name.upper()}-indices-inside" and violation.field == "indices"
            assert (out == 77).all()
            with pytest.raises(dml.InvalidDataError):
                call()


def test_a_place_beyond_the_output() -> None:
    for place in (4, 2**63, 2**64 - 1):
        with pytest.raises(dml.InvalidDataError, match=r"indices\[0, 0, 0, 1\] is beyond the last element"):
            dml.max_unpooling(
                np.ones((1, 1, 1, 2), np.float32), np.array([[[[0, place]]]], np.uint64), output_sizes=(1, 1, 2, 2)
            )


def test_many_indices_are_looked_at_together() -> None:
    indices = np.random.default_rng(6).integers(-(10**6), 10**6, 10**6)
    x = np.arange(10**6, dtype=np.int32)
    start = time.process_time()
    found = dml.gather(x, indices, axis=0, index_dimensions=1)
    assert time.process_time() - start < 1
    np.testing.assert_array_equal(found, indices % 10**6)


def test_long_lines_are_reversed_in_little_memory() -> None:
    x = np.arange(1 << 22).astype(np.uint8)
    lengths = np.array([(1 << 22) - 3], np.uint32)
    expected = np.concatenate([x[:-3][::-1], x[-3:]])
    assert_same_bits(dml.reverse_subsequences(x, lengths, axis=0), expected)
    assert peak(lambda: dml.reverse_subsequences(x, lengths, axis=0)) < 2 * x.nbytes
    rows = np.stack([x, x + 1])[:, None]
    found = dml.reverse_subsequences(rows.swapaxes(0, 2), np.array([[[1, 2**32 - 1]]], np.uint32), axis=0)
    assert_same_bits(np.ascontiguousarray(found.swapaxes(0, 2)), np.stack([rows[0], rows[1, :, ::-1]]))


def test_a_tuple_of_all_coordinates_by_itself() -> None:
    """The indices are one tuple, and its update is one element."""
    x, place = np.arange(6, dtype=np.float32).reshape(2, 3), np.array([1, 2], np.uint32)
    said: dict[str, Any] = {"input_dimension_count": 2, "indices_dimension_count": 1}
    found = dml.scatter_nd(x, place.reshape(1, 2), np.array([[9]], np.float32), **said)
    assert found.tolist() == [[0, 1, 2], [3, 4, 9]]


@pytest.mark.parametrize("dtype", INDICES)
def test_indices_at_any_address(dtype: str) -> None:
    """The checks read them where they are."""
    x, indices = np.arange(40, dtype=np.float32), np.arange(33, dtype=dtype)[::-1]
    for step in (1, 2):
        block = np.zeros(1 + indices.itemsize * indices.size * step, np.uint8)
        view: Array = np.ndarray(indices.shape, indices.dtype, block, 1, (indices.itemsize * step,))
        view[:] = indices
        assert_same_bits(dml.gather_elements(x, view, axis=0), x[:33][::-1])
        view[32] = 40
        with pytest.raises(dml.InvalidDataError):
            dml.gather_elements(x, view, axis=0)
