"""Properties of views: PyTorch moves the same bits, outputs in arrays, and sizes that a call says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from checks import assert_same_bits
from strategies import any_bits

import dmlcy as dml
from dmlcy._families import family_of
from dmlcy._families.given import Given
from dmlcy._reference import call
from dmlcy._runtime.tensor import may_overlap

Array = np.ndarray[Any, Any]
DRAWS = 60


def drawn(random: np.random.Generator, sizes: Any, dtype: str = "i2") -> Array:
    return any_bits(int(random.integers(1 << 20)), tuple(map(int, sizes)), dtype)


def test_join_and_split_against_pytorch() -> None:
    torch = pytest.importorskip("torch")
    random = np.random.default_rng(1)
    for _ in range(DRAWS):
        sizes = random.integers(1, 6, random.integers(1, 6))
        axis, parts = int(random.integers(len(sizes))), random.integers(1, 5, random.integers(1, 5)).tolist()
        arrays = [drawn(random, [*sizes[:axis], part, *sizes[axis + 1 :]]) for part in parts]
        whole = torch.cat([torch.from_numpy(array) for array in arrays], axis)
        assert_same_bits(dml.join(arrays, axis=axis), whole.numpy())
        pieces = tuple(piece.numpy() for piece in torch.split(whole, parts, axis))
        asked = [piece.shape for piece in pieces]
        found = dml.split(whole.numpy(), axis=axis, output_sizes=asked)
        assert_same_bits(tuple(map(np.ascontiguousarray, pieces)), found)


def test_tile_against_pytorch() -> None:
    torch = pytest.importorskip("torch")
    random = np.random.default_rng(2)
    for _ in range(DRAWS):
        rank = int(random.integers(1, 7))
        x = drawn(random, random.integers(1, 4, rank))
        repeats = random.integers(1, 4, rank).tolist()
        assert_same_bits(dml.tile(x, repeats=repeats), torch.tile(torch.from_numpy(x), repeats).numpy())


def windows(random: np.random.Generator, negative: bool) -> tuple[Array, list[int], list[int], list[int]]:
    """A tensor, and a window in it: offsets, sizes and strides."""
    sizes = random.integers(1, 9, random.integers(1, 5))
    offsets = [int(random.integers(size)) for size in sizes]
    lengths = [int(random.integers(1, size - first + 1)) for size, first in zip(sizes, offsets, strict=True)]
    strides = [int(random.integers(1, 4)) * (int(random.choice([1, -1])) if negative else 1) for _ in sizes]
    return drawn(random, sizes), offsets, lengths, strides


def places(first: int, length: int, stride: int) -> list[int]:
    """The places that steps through a window meet, one by one."""
    at, found = first if stride > 0 else first + length - 1, []
    while first <= at < first + length:
        found.append(at)
        at += stride
    return found


def test_slices_against_pytorch() -> None:
    torch = pytest.importorskip("torch")
    random = np.random.default_rng(3)
    for _ in range(DRAWS):
        x, offsets, lengths, strides = windows(random, negative=True)
        met = [places(*one) for one in zip(offsets, lengths, strides, strict=True)]
        expected = torch.from_numpy(x)
        for axis, indices in enumerate(met):
            expected = expected.index_select(axis, torch.tensor(indices))
        window: dict[str, Any] = {
            "input_window_offsets": offsets,
            "input_window_sizes": lengths,
            "input_window_strides": strides,
        }
        assert_same_bits(dml.slice1(x, **window), expected.numpy())
        some = tuple(slice(int(random.integers(1, len(one) + 1))) for one in met)
        asked = [one.stop for one in some]
        assert_same_bits(dml.slice1(x, **window, output_sizes=asked), np.ascontiguousarray(expected.numpy()[some]))
        forward = np.abs(strides).tolist()
        counts = [len(one) for one in met]
        straight = torch.from_numpy(x)
        for axis, one in enumerate(zip(offsets, lengths, forward, strict=True)):
            straight = straight.index_select(axis, torch.tensor(places(*one)))
        assert_same_bits(dml.slice(x, offsets=offsets, sizes=counts, strides=forward), straight.numpy())


def test_the_gradient_of_a_slice_by_autograd() -> None:
    torch = pytest.importorskip("torch")
    random = np.random.default_rng(4)
    for _ in range(DRAWS):
        x, offsets, lengths, strides = windows(random, negative=True)
        leaf = torch.from_numpy(x.astype(np.float64)).requires_grad_()
        sliced = leaf
        for axis, one in enumerate(zip(offsets, lengths, strides, strict=True)):
            sliced = sliced.index_select(axis, torch.tensor(places(*one)))
        incoming = random.standard_normal(sliced.shape)
        sliced.backward(torch.from_numpy(incoming))
        found = dml.slice_grad(
            incoming,
            output_sizes=x.shape,
            input_window_offsets=offsets,
            input_window_sizes=lengths,
            input_window_strides=strides,
        )
        np.testing.assert_array_equal(found, leaf.grad.numpy())


X = np.arange(6, dtype=np.float32).reshape(1, 1, 2, 3)
SPLIT: list[tuple[dict[str, Any], str, str]] = [
    ({}, "outputs-required", "output_sizes is missing"),
    ({"output_sizes": 3}, "outputs-type", "output_sizes must be a sequence of sizes, not 3."),
    (
        {"output_sizes": [3, (1, 1, 2, 3)]},
        "outputs-type",
        "output_sizes[0] must be a sequence of ints, one for each axis, not 3.",
    ),
    ({"output_sizes": [(1, 1, 2, 0), (1, 1, 2, 3)]}, "outputs-range", "output_sizes[0][3] is 0"),
    ({"output_sizes": [(1, 1, 2, 1)]}, "outputs-whole", "do not add up to the size of the input along Axis"),
    ({"output_sizes": [(1, 1, 1, 3)]}, "outputs-fit", "outputs[0] differs in size from the input"),
    ({"output_sizes": []}, "outputs-some", "outputs has no tensor"),
    ({"output_sizes": [None, (1, 1, 2, 3)]}, "outputs-required", "outputs[0] is missing."),
    ({"out": [X, X], "output_sizes": [None, (1, 1, 2, 3)]}, "outputs-required", "output_sizes[0] is missing."),
    ({"out": np.zeros_like(X)}, "outputs-type", "out must be a sequence of arrays"),
    ({"out": [np.zeros_like(X), 3]}, "outputs-type", "out[1] must be an array, not 3."),
    ({"out": [np.zeros_like(X, np.float64)]}, "outputs-same-dtype", "out[0] has data type FLOAT64"),
    ({"out": [X]}, "outputs-overlap", "out[0] shares memory with input."),
    (
        {"out": [np.zeros_like(X)], "output_sizes": [(1, 1, 2, 1), (1, 1, 2, 2)]},
        "outputs-length",
        "out has 1 entry and needs 2, as output_sizes has.",
    ),
    (
        {"out": [np.zeros_like(X)], "output_sizes": [(1, 1, 3, 2)]},
        "outputs-sizes",
        "out[0] has sizes (1, 1, 2, 3), and must have (1, 1, 3, 2): output_sizes[0].",
    ),
]


def test_refused_outputs_of_an_array() -> None:
    for given, slug, words in SPLIT:
        outs = given.get("out", ())
        before = [one.tobytes() for one in outs if isinstance(one, np.ndarray)]
        with pytest.raises(dml.DmlError) as raised:
            dml.split(X, axis=3, **given)
        assert raised.value.violations[0].id == f"DML-SPLIT-{slug}", given
        assert words in str(raised.value), raised.value
        assert [one.tobytes() for one in outs if isinstance(one, np.ndarray)] == before


def test_out_says_the_sizes() -> None:
    parts = [np.zeros((1, 1, 2, 1), np.float32), np.zeros((2, 2, 1, 1), np.float32).transpose(2, 3, 0, 1)]
    for out in (parts, tuple(parts)):
        assert dml.split(X, axis=3, out=out) is out
    assert_same_bits(np.concatenate(parts, 3), X)
    some = np.zeros((1, 1, 1, 2), np.float32)
    assert dml.slice1(X, input_window_sizes=X.shape, out=some) is some
    assert some.tolist() == [[[[0, 1]]]]
    with pytest.raises(dml.InvalidDescError, match=r"out has sizes .* must have \(1, 1, 2, 2\): output_sizes"):
        dml.slice1(X, input_window_sizes=X.shape, out=some, output_sizes=(1, 1, 2, 2))
    with pytest.raises(
        dml.InvalidDescError,
        match=r"has sizes \(1, 1, 2, 4\), and must have \(1, 1, 2, 3\): the number of steps through the window",
    ):
        dml.slice1(X, input_window_sizes=X.shape, output_sizes=(1, 1, 2, 4))


def test_a_compiled_split() -> None:
    first, second = dml.TensorDesc("FLOAT32", (1, 1, 2, 1)), dml.TensorDesc("FLOAT32", (1, 1, 2, 2))
    desc = dml.desc.Split(input=dml.TensorDesc.from_array(X), outputs=(first, second), axis=3)
    compiled = dml.compile(desc)
    found = compiled(X)
    assert isinstance(found, tuple) and [one.shape for one in found] == [first.sizes, second.sizes]
    out = [np.empty_like(one) for one in found]
    assert compiled(X, out=out) is out
    assert_same_bits(tuple(out), found)
    for wrong, words in ((out[::-1], "sizes of the desc"), (out[:1], "needs 2"), (out[0], "a sequence of arrays")):
        with pytest.raises(dml.DmlError, match=words):
            compiled(X, out=wrong)


def test_each_of_many_outputs_costs_as_much_as_one_of_few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the outputs begin is worked out once for all of them, and arrays that lie apart are not compared."""
    looks: Counter[str] = Counter()

    class Outputs(tuple[Any, ...]):
        def __iter__(self) -> Iterator[Any]:
            looks["outputs"] += 1
            return super().__iter__()

    count = 40
    x = np.arange(3 * count, dtype=np.int8).reshape(count, 3)
    part = dml.TensorDesc("INT8", (1, 3))
    desc = dml.desc.Split(input=dml.TensorDesc.from_array(x), outputs=(part,) * count, axis=0)
    given = Given.of_desc(desc, {"input": x})
    given.outputs = Outputs(given.outputs)
    found = [family_of(desc.operator).result(given, f"outputs[{number}]") for number in range(count)]
    assert_same_bits(np.concatenate(found), x)
    assert 0 < looks["outputs"] < 5

    def compared(one: Array, other: Array) -> bool:
        looks["pairs"] += 1
        return may_overlap(one, other)

    monkeypatch.setattr(call, "may_overlap", compared)
    memory = np.zeros((count + 1, 3), np.int8)
    dml.split(x, axis=0, out=[memory[number : number + 1] for number in range(count)])
    assert_same_bits(memory[:-1], x)
    assert looks["pairs"] < 2 * count
    shared = [*(memory[number : number + 1] for number in range(count - 1)), memory[3:4]]
    with pytest.raises(dml.InvalidDescError, match="shares memory"):
        dml.split(x, axis=0, out=shared)


def test_recorded_arrays_of_tensors() -> None:
    with dml.record() as recording:
        parts = dml.split(X, axis=2, output_sizes=[(1, 1, 1, 3)] * 2)
        dml.join(parts, axis=3)
    split, join = recording.calls
    assert_same_bits(split.outputs["outputs"], parts)
    assert_same_bits(join.inputs["inputs"], parts)
    assert_same_bits(dml.compile(join.desc)(join.inputs["inputs"]), join.outputs["output"])
    assert not join.inputs["inputs"][0].flags.writeable


def test_a_result_is_never_memory_of_an_input() -> None:
    for found in (
        dml.slice(X, sizes=X.shape),
        dml.slice1(X, input_window_sizes=X.shape),
        *dml.split(X, axis=0, output_sizes=[X.shape]),
        dml.join([X], axis=0),
        dml.tile(X, repeats=(1, 1, 1, 1)),
    ):
        assert not np.shares_memory(found, X)
        assert_same_bits(found, X)
