"""Properties of scan, compared with PyTorch and Python's integers."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from checks import assert_same_bits
from each import each_of

import dmlcy as dml
from dmlcy._families import blocks
from families.common import assert_near, peak

Array = np.ndarray[Any, Any]
EXCLUSIVE = {"cumulative_summation": "has_exclusive_sum", "cumulative_product": "has_exclusive_product"}
SHAPES = [(9,), (3, 4), (2, 5, 3), (1, 4, 1, 3)]
WAYS = [*itertools.product(EXCLUSIVE, ("INCREASING", "DECREASING"), (False, True))]


def scanned(name: str, x: Array, axis: int, direction: str, exclusive: bool) -> Array:
    more = {EXCLUSIVE[name]: exclusive}
    result: Array = getattr(dml, name)(x, axis=axis, axis_direction=direction, **more)
    return result


def turned(x: Any, axis: int, direction: str) -> Any:
    return np.flip(x, axis) if direction == "DECREASING" else x


def shifted(found: Array, axis: int, exclusive: bool, first: int) -> Array:
    moved = np.roll(found, 1, axis)
    moved[(slice(None),) * axis + (0,)] = first
    return moved if exclusive else found


@each_of("name, direction, exclusive", WAYS)
def test_pytorch_agrees(name: str, direction: str, exclusive: bool) -> None:
    torch = pytest.importorskip("torch")
    random = np.random.default_rng(3)
    sums = name == "cumulative_summation"
    for shape, dtype in itertools.product(SHAPES, (np.float32, np.float16)):
        for axis in range(len(shape)):
            x = (random.standard_normal(shape) * 3).astype(dtype)
            ahead = torch.from_numpy(turned(x, axis, direction).astype(np.float64))
            found = (ahead.cumsum(axis) if sums else ahead.cumprod(axis)).numpy()
            both = found, ahead.abs().cumsum(axis).numpy() if sums else found
            expected, size = (turned(shifted(one, axis, exclusive, 1 - sums), axis, direction) for one in both)
            assert_near(scanned(name, x, axis, direction, exclusive), expected, size)


@each_of("name, dtype", [*itertools.product(EXCLUSIVE, ("i4", "u4", "i8", "u8"))])
def test_integers_are_exact_and_wrap(name: str, dtype: str) -> None:
    random = np.random.default_rng(4)
    limits = np.iinfo(dtype)
    x = random.integers(limits.min, limits.max, (3, 40), dtype, True)
    for direction, exclusive in itertools.product(("INCREASING", "DECREASING"), (False, True)):
        result = scanned(name, x, 1, direction, exclusive)
        for line, found in zip(turned(x, 1, direction).tolist(), turned(result, 1, direction).tolist(), strict=True):
            total = expected = 0 if name == "cumulative_summation" else 1
            for value, one in zip(line, found, strict=True):
                expected = total
                total = total + value if name == "cumulative_summation" else total * value
                assert one % 2**limits.bits == (expected if exclusive else total) % 2**limits.bits


@each_of("name, direction, exclusive", WAYS)
def test_layouts_change_no_bit(name: str, direction: str, exclusive: bool) -> None:
    """Lines along any axis; of 300 elements, so that products leave the range of doubles on their way."""
    random = np.random.default_rng(5)
    for dtype, most in ((np.float32, 30), (np.float32, 0.1), (np.float16, 3)):
        x = (10 ** random.uniform(-most, most, (9, 3, 300)) * random.choice([1, -1], (9, 3, 300))).astype(dtype)
        x[2, 1, 40] = 0
        expected = scanned(name, x, 2, direction, exclusive)
        for order in itertools.permutations(range(3)):
            one = np.ascontiguousarray(x.transpose(order))
            axis = order.index(2)
            back = np.argsort(order)
            found = scanned(name, one, axis, direction, exclusive).transpose(back)
            assert_same_bits(np.ascontiguousarray(found), expected)
            found = scanned(name, one.transpose(back), 2, direction, exclusive)
            assert_same_bits(found, expected)
        place = x.copy()
        getattr(dml, name)(place, axis=2, axis_direction=direction, out=place, **{EXCLUSIVE[name]: exclusive})
        assert_same_bits(place, expected)


def test_infinities_and_nan_go_on() -> None:
    x = np.array([1, -np.inf, 2, np.inf, 3], np.float32)
    np.testing.assert_array_equal(dml.cumulative_summation(x, axis=0), [1, -np.inf, -np.inf, np.nan, np.nan])
    np.testing.assert_array_equal(dml.cumulative_product(x, axis=0), [1, -np.inf, -np.inf, -np.inf, -np.inf])
    y = np.array([3e38, 3e38, -3e38, 0, np.nan, 1], np.float32)
    np.testing.assert_array_equal(
        dml.cumulative_summation(y, axis=0)[:4], np.array([3e38, np.inf, 3e38, 3e38], np.float32)
    )
    assert np.isnan(dml.cumulative_summation(y, axis=0)[4:]).all()


def test_a_later_product_may_be_finite_again() -> None:
    many = np.array([1e30] * 50 + [1e-30] * 50 + [7], np.float32)
    result = dml.cumulative_product(many, axis=0)
    step = float(many[0]) * float(many[50])
    assert np.isinf(result[1:97]).all()
    np.testing.assert_allclose(
        result[[0, 98, 99, 100]], np.array([1e30, 1e30 * step**49, step**50, 7 * step**50], np.float32), 1e-6
    )


@each_of("name, direction, exclusive", WAYS)
def test_large_tensors_are_computed_in_parts(
    name: str, direction: str, exclusive: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = np.random.default_rng(6)
    for shape, axis, dtype in itertools.product(((4, 9, 3), (40,)), (0, 1), (np.float32, np.int64)):
        if axis >= len(shape):
            continue
        x = random.choice([1e30, 1e-30, -2, 3], shape).astype(dtype) if dtype is np.float32 else None
        x = random.integers(-(2**62), 2**62, shape, dtype) if x is None else x
        monkeypatch.undo()
        whole = scanned(name, x, axis, direction, exclusive)
        for block in (1, 5, 20):
            monkeypatch.setattr(blocks, "BLOCK", block)
            np.testing.assert_allclose(scanned(name, x, axis, direction, exclusive), whole, 3e-7)


@each_of("name, axis", [*itertools.product(EXCLUSIVE, (0, 1))])
def test_memory_is_that_of_parts(name: str, axis: int) -> None:
    x = np.broadcast_to(np.linspace(0.5, 1.5, 1 << 8, dtype=np.float16)[:, None], (1 << 8, 1 << 13))
    assert peak(lambda: scanned(name, x, axis, "DECREASING", True)) < x.nbytes + (10 << 20)


@each_of("dtype, axis, path", [*itertools.product(("FLOAT32", "FLOAT16"), (0, 1), (None, "reference"))])
def test_a_sum_is_never_minus_zero(dtype: str, axis: int, path: Any) -> None:
    x = np.full((5, 7), -0.0, dtype.lower())
    tensor = dml.TensorDesc(dtype, x.shape)
    directions: list[Any] = ["INCREASING", "DECREASING"]
    for direction, exclusive in itertools.product(directions, (False, True)):
        desc = dml.desc.CumulativeSummation(
            input=tensor, output=tensor, axis=axis, axis_direction=direction, has_exclusive_sum=exclusive
        )
        assert_same_bits(dml.compile(desc, path=path)(x), np.zeros_like(x))
