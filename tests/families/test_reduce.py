"""Properties of reduce, compared with PyTorch."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from checks import assert_same_bits
from each import each_of

import dmlcy as dml
from dmlcy._families import blocks
from families.common import assert_near, peak

Array = np.ndarray[Any, Any]
INDEX = ("ARGMAX", "ARGMIN")
SHAPES = [(7,), (3, 4), (2, 5, 3), (1, 4, 1, 3), (5, 2, 3, 2, 2)]
INTEGERS = ("SUM", "MULTIPLY", "SUM_SQUARE", "L1", "MAX", "MIN")


def axes_of(rank: int) -> list[tuple[int, ...]]:
    """Some lists of axes, in any order."""
    every = [axes for count in range(1, rank + 1) for axes in itertools.permutations(range(rank), count)]
    return [every[k] for k in range(0, len(every), max(1, len(every) // 6))]


def reduced(x: Array, function: Any, axes: tuple[int, ...], **more: Any) -> Array:
    more.setdefault("output_dtype", "INT64" if function in INDEX else x.dtype.name.upper())
    found: Array = dml.reduce(x, function=function, axes=axes, **more)
    return found


def lines(torch: Any, x: Array, axes: tuple[int, ...]) -> tuple[Any, list[int]]:
    """The elements that become one as the last axis, and the sizes of the result."""
    kept = [d for d in range(x.ndim) if d not in axes]
    wide = torch.from_numpy(np.ascontiguousarray(x.transpose(*kept, *sorted(axes))))
    flat = wide.reshape(*(x.shape[d] for d in kept), -1)
    return flat, [1 if d in axes else size for d, size in enumerate(x.shape)]


def peer(torch: Any, function: str) -> Any:
    return {
        "ARGMAX": lambda x: x.argmax(-1), "ARGMIN": lambda x: x.argmin(-1), "AVERAGE": lambda x: x.mean(-1),
        "L1": lambda x: x.abs().sum(-1), "L2": lambda x: torch.linalg.vector_norm(x, 2, -1),
        "LOG_SUM": lambda x: x.sum(-1).log(), "LOG_SUM_EXP": lambda x: x.logsumexp(-1), "MAX": lambda x: x.amax(-1),
        "MIN": lambda x: x.amin(-1), "MULTIPLY": lambda x: x.prod(-1), "SUM": lambda x: x.sum(-1),
        "SUM_SQUARE": lambda x: (x * x).sum(-1),
    }[function]  # fmt: skip


@each_of("function", [member.name for member in dml.ReduceFunction])
def test_pytorch_agrees(function: str) -> None:
    """On random numbers of many sizes, along any axes in any order, and on infinities."""
    torch = pytest.importorskip("torch")
    random = np.random.default_rng(3)
    for shape, dtype in itertools.product(SHAPES, (np.float32, np.float16)):
        for axes, infinite in itertools.product(axes_of(len(shape)), (False, True)):
            x = (random.standard_normal(shape) * random.choice([0.5, 3])).astype(dtype)
            x = np.round(x) if function in INDEX else x
            if infinite:
                x.ravel()[random.integers(x.size)] = random.choice([np.inf, -np.inf])
            flat, sizes = lines(torch, x, axes)
            expected = peer(torch, function)(flat.to(torch.float64)).numpy().reshape(sizes)
            result = reduced(x, function, axes)
            if function in INDEX:
                np.testing.assert_array_equal(result, expected)
                continue
            with np.errstate(all="ignore"):
                size = flat.abs().to(torch.float64).sum(-1).numpy().reshape(sizes) + 1
                size = size + size / np.exp(expected) if function == "LOG_SUM" else size
            assert_near(result, expected, 0 if function in ("L1", "L2", "MAX", "MIN", "MULTIPLY") else size)


def layouts(x: Array) -> Iterator[Array]:
    """The same elements in other places of memory."""
    yield x
    yield np.asfortranarray(x)
    yield np.ascontiguousarray(x[..., ::-1])[..., ::-1]
    yield np.repeat(x, 2, -1)[..., ::2]
    if x.ndim > 1:
        yield np.ascontiguousarray(np.moveaxis(x, 1, -1)).transpose((0, x.ndim - 1, *range(1, x.ndim - 1)))
        yield np.concatenate([x, x[..., :1]], -1)[..., :-1]


LINES = [
    ((3, 5000), (1,)), ((1100, 40), (0,)), ((6, 40, 32), (1, 2)), ((5, 7, 9), (0, 2)), ((2, 300, 9), (1,)),
    ((70, 9), (1,)), ((3, 32, 64), (1,)), ((40, 33), (0, 1)), ((9, 2100), (1,)), ((12, 64), (1,)), ((2, 3, 50), ()),
    ((21, 1500), (0,)),
]  # fmt: skip
"""Sizes and axes: lines along the last axis and across it, of one part and of several."""


@each_of("function", [member.name for member in dml.ReduceFunction])
def test_layouts_change_no_bit(function: str) -> None:
    random = np.random.default_rng(8)
    for (sizes, axes), dtype in itertools.product(LINES, (np.float32, np.float16)):
        x = random.uniform(0.5, 2, sizes).astype(dtype) * random.choice([1, 1, -1], sizes).astype(dtype)
        expected = reduced(x, function, axes)
        for one in layouts(x):
            assert_same_bits(reduced(one, function, axes), expected)


@each_of("function", INTEGERS)
def test_layouts_of_integers(function: str) -> None:
    random = np.random.default_rng(9)
    every = ("i4", "u4", "i8", "u8", *(("i1", "u1", "i2", "u2") if function in ("MAX", "MIN") else ()))
    for (sizes, axes), dtype in itertools.product(LINES, every):
        limits = np.iinfo(dtype)
        x = random.integers(limits.min, limits.max, sizes, dtype, True)
        with np.errstate(over="ignore"):
            y = {"SUM_SQUARE": x * x, "L1": np.where(x < 0, 0 - x, x)}.get(function, x)
        find = {"MULTIPLY": np.multiply, "MAX": np.maximum, "MIN": np.minimum}.get(function, np.add)
        expected = find.reduce(y, axes, x.dtype, keepdims=True)
        for one in layouts(x):
            assert_same_bits(reduced(one, function, axes), expected)


@each_of("function", ["SUM", "L2", "MAX", "ARGMIN"])
def test_threads_that_share_lines_change_no_bit(function: str) -> None:
    random = np.random.default_rng(10)
    before = dml.get_num_threads()
    try:
        for sizes, axes in (((700_000,), (0,)), ((2, 300_000), (1,)), ((70_000, 9), (0,)), ((9000, 80), (0, 1))):
            x = np.round(random.standard_normal(sizes) * 1000).astype(np.float32)
            found = []
            for threads in (1, 2, 5):
                dml.set_num_threads(threads)
                found.append(reduced(x, function, axes))
            assert_same_bits(found[1], found[0])
            assert_same_bits(found[2], found[0])
            if function == "ARGMIN":
                flat = np.moveaxis(x, axes[0], -1) if len(axes) == 1 else x.ravel()
                np.testing.assert_array_equal(found[0].ravel(), np.ravel(flat.argmin(-1)))
            elif function == "MAX":
                np.testing.assert_array_equal(found[0], x.max(axes, keepdims=True))
    finally:
        dml.set_num_threads(before)


def test_extremes_where_few_elements_are_nan() -> None:
    """The loops look again then, with more care."""
    random = np.random.default_rng(11)
    for sizes, axes in (((40, 70), (1,)), ((70, 40), (0,)), ((3, 5000), (1,)), ((600_000,), (0,))):
        x = random.choice(np.array([1, -2, np.nan, -np.nan, -np.inf, 0, -0.0], np.float32), sizes)
        x[..., 0] = np.float32(-np.inf) if len(sizes) > 1 else x[..., 0]
        with np.errstate(invalid="ignore"):
            for function, wanted in (("MAX", np.fmax), ("MIN", np.fmin)):
                np.testing.assert_array_equal(reduced(x, function, axes), wanted.reduce(x, axes, keepdims=True))


@each_of("function, dtype", [*itertools.product(INTEGERS, ("INT32", "UINT32", "INT64", "UINT64"))])
def test_integers_are_exact_and_wrap(function: str, dtype: str) -> None:
    random = np.random.default_rng(4)
    limits = np.iinfo(dtype.lower())
    few = np.array([limits.min, limits.max, 0, 1, 2, limits.max // 3], dtype.lower())
    for x in (random.choice(few, (4, 9)), random.integers(limits.min, limits.max, (4, 9), dtype.lower(), True)):
        for axes in ((0,), (1,), (0, 1)):
            result = reduced(x, function, axes)
            for place, found in np.ndenumerate(result):
                line = [int(v) for v in x[tuple(slice(None) if d in axes else place[d] for d in range(2))].ravel()]
                total = 1
                for value in line:
                    total *= value
                expected = {
                    "SUM": sum(line), "MULTIPLY": total, "SUM_SQUARE": sum(v * v for v in line),
                    "L1": sum(map(abs, line)), "MAX": max(line), "MIN": min(line),
                }[function]  # fmt: skip
                assert int(found) % 2**limits.bits == expected % 2**limits.bits


def test_numbers_before_nan_and_zeros_in_order() -> None:
    nan = np.nan
    x = np.array([[nan, 2, 1], [nan, nan, nan], [-0.0, 0.0, -0.0], [0.0, -0.0, nan]], np.float32)
    for function, expected in (("MAX", [2, nan, 0.0, 0.0]), ("MIN", [1, nan, -0.0, -0.0])):
        assert_same_bits(np.abs(reduced(x, function, (1,))), np.abs(np.array(expected, np.float32)[:, None]))
        signs = np.signbit(reduced(x, function, (1,)))[[0, 2, 3], 0]
        np.testing.assert_array_equal(signs, np.signbit(np.array(expected))[[0, 2, 3]])
    places: list[tuple[Any, list[int], list[int]]] = [
        (dml.argmax, [1, 0, 0, 0], [1, 2, 2, 1]),
        (dml.argmin, [2, 0, 0, 0], [2, 2, 2, 1]),
    ]
    for extreme, first, last in places:
        for direction, place in (("INCREASING", first), ("DECREASING", last)):
            np.testing.assert_array_equal(extreme(x, axes=[1], axis_direction=direction).ravel(), place)
    for function in ("SUM", "AVERAGE", "L1", "L2", "LOG_SUM", "LOG_SUM_EXP", "MULTIPLY", "SUM_SQUARE"):
        np.testing.assert_array_equal(np.isnan(reduced(x, function, (1,))).ravel(), [True, True, False, True])
    assert np.isnan(reduced(np.array([-1, 0], np.float32), "LOG_SUM", (0,)))


def test_the_last_of_equal_elements_along_several_axes() -> None:
    random = np.random.default_rng(5)
    for dtype in (np.float16, np.float32, np.int8, np.uint8, np.int16, np.uint16, np.int64, np.uint64, np.uint32):
        x = random.integers(0, 3, (4, 3, 5)).astype(dtype)
        for axes in ((0, 2), (2, 0), (1,), (0, 1, 2)):
            kept = [d for d in range(3) if d not in axes]
            flat = x.transpose(*kept, *sorted(axes)).reshape(*(x.shape[d] for d in kept), -1)
            size = flat.shape[-1]
            for function, find in ((dml.argmax, np.argmax), (dml.argmin, np.argmin)):
                last = function(x, axes=axes, axis_direction="DECREASING")
                np.testing.assert_array_equal(last.ravel(), (size - 1 - find(flat[..., ::-1], -1)).ravel())
                np.testing.assert_array_equal(function(x, axes=axes).ravel(), find(flat, -1).ravel())


def test_nothing_overflows_but_the_result() -> None:
    x = np.array([1e38, 2e38, -3e38, 1e38, 3e38], np.float32)
    assert reduced(x, "SUM", (0,)) == np.inf
    assert reduced(x, "AVERAGE", (0,)) == np.float32(x.astype(np.float64).mean())
    many = np.array([1e38] * 400 + [1e-38] * 400 + [3], np.float32)
    np.testing.assert_allclose(reduced(many, "MULTIPLY", (0,)), 3 * (float(many[0]) * float(many[400])) ** 400, 1e-4)
    assert reduced(np.array([1000, 1000], np.float32), "LOG_SUM_EXP", (0,)) == np.float32(1000 + np.log(2))
    assert reduced(np.array([-1e4, -1e4], np.float32), "LOG_SUM_EXP", (0,)) == np.float32(-1e4 + np.log(2))


@each_of("function", [member.name for member in dml.ReduceFunction])
def test_large_tensors_are_reduced_in_parts(function: str, monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(6)
    for shape, axes in (((2, 13, 3), (1,)), ((2, 13, 3), (0, 2)), ((4, 11), (0,)), ((70,), (0,)), ((3, 9), ())):
        x = random.integers(-2, 9, shape).astype(np.float32)
        monkeypatch.undo()
        whole = reduced(x, function, axes)
        for block, results in ((1, 1), (10, 3), (20, 100)):
            monkeypatch.setattr(blocks, "BLOCK", block)
            monkeypatch.setattr(blocks, "RESULTS", results)
            parts = reduced(x.T.copy().T, function, axes)
            np.testing.assert_allclose(parts, whole, 3e-7, equal_nan=True)


def test_parts_of_products_do_not_overflow(monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.array([1e30] * 64 + [1e-30] * 64 + [2], np.float32)
    y = np.array([3**39 + k for k in range(60)], np.int64)
    each: tuple[Array, ...] = (x, y, y)
    whole = reduced(x, "MULTIPLY", (0,)), reduced(y, "MULTIPLY", (0,)), reduced(y, "SUM_SQUARE", (0,))
    monkeypatch.setattr(blocks, "BLOCK", 7)
    for found, other in zip(whole, each, strict=True):
        function = "SUM_SQUARE" if found is whole[2] else "MULTIPLY"
        np.testing.assert_allclose(reduced(other, function, (0,)), found, 1e-6 if other is x else 0)


@each_of(
    "function, axes",
    [*itertools.product(("SUM", "L2", "LOG_SUM_EXP", "MAX", "MULTIPLY", "ARGMAX"), ((0, 1), (0,), (1,)))],
)
def test_memory_is_that_of_parts(function: str, axes: tuple[int, ...]) -> None:
    x = np.broadcast_to(np.linspace(0.5, 1.5, 1 << 12, dtype=np.float16), (1 << 9, 1 << 12))
    assert peak(lambda: reduced(x, function, axes)) < 10 << 20


def test_the_error_about_integers_is_that_of_the_input() -> None:
    """The data type of the output, which nobody gave, is not at fault."""
    for function in ("AVERAGE", "L2", "LOG_SUM"):
        with pytest.raises(dml.InvalidDescError) as refused:
            dml.reduce(np.ones((2, 2), np.int32), function=function, axes=[1])
        assert [one.id for one in refused.value.violations] == ["DML-REDUCE-input-floats"]
