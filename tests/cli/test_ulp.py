"""Units in the last place against exact fractions."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hn

from dmlcy._reference import ulp

FLOATS = ["f2", "f4", "f8"]
INTEGERS = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]

pairs = st.sampled_from(FLOATS + INTEGERS).flatmap(
    lambda dtype: st.tuples(hn.arrays(dtype, st.just(1)), hn.arrays(dtype, st.just(1)))
)


def steps(a: Any, b: Any, dtype: str) -> int:
    return int(ulp.steps(np.array([a], dtype), np.array([b], dtype))[0])


def difference(a: Any, b: Any, dtype: str) -> float:
    return float(ulp.difference(np.array([a], dtype), np.array([b], dtype))[0])


def unit(value: float | np.floating[Any], dtype: str) -> float:
    return float(ulp.unit(np.array([value], np.float64), np.dtype(dtype))[0])


def above(value: Any) -> Any:
    """The next number, which may be infinity."""
    with np.errstate(over="ignore", under="ignore"):
        return np.nextafter(value, np.array(np.inf, value.dtype))


def exact(value: Any, dtype: str) -> Fraction:
    """The value; of an infinity, what the number after the largest would be."""
    if math.isinf(value):
        limits = np.finfo(dtype)
        return Fraction(2 ** int(limits.maxexp)) * (1 if value > 0 else -1)
    return Fraction(value)


@given(pairs)
def test_differences_are_exact_to_double_precision(pair: tuple[Any, Any]) -> None:
    dtype = pair[0].dtype.str
    a, b = pair[0].item(), pair[1].item()
    found = float(ulp.difference(*pair)[0])
    if math.isnan(a) or math.isnan(b):
        assert found == (0 if math.isnan(a) and math.isnan(b) else math.inf)
        return
    apart = abs(exact(a, dtype) - exact(b, dtype)) if pair[0].dtype.kind == "f" else abs(a - b)
    try:
        wanted = float(apart)
    except OverflowError:
        wanted = math.inf
    assert found == pytest.approx(wanted, rel=2**-51, abs=0)


@given(pairs)
def test_steps_are_symmetric_and_only_equal_numbers_are_none_apart(pair: tuple[Any, Any]) -> None:
    a, b = pair
    found = int(ulp.steps(a, b)[0])
    assert found == int(ulp.steps(b, a)[0])
    if a.dtype.kind != "f":
        assert found == abs(a.item() - b.item())
    elif np.isnan(a) != np.isnan(b):
        assert found == ulp.APART
    else:
        assert (found == 0) == bool(np.isnan(a) or a == b)
        assert found < ulp.APART


@given(st.sampled_from(FLOATS).flatmap(lambda dtype: hn.arrays(dtype, st.just(1))), st.integers(1, 40))
def test_as_many_steps_as_nextafter_makes(start: Any, count: int) -> None:
    end = start
    for _ in range(count):
        if not np.isposinf(end):
            end = above(end)
    if np.isnan(start):
        assert int(ulp.steps(start, end)[0]) == 0
    elif not np.isposinf(end):
        assert int(ulp.steps(start, end)[0]) == count


@given(st.sampled_from(FLOATS).flatmap(lambda dtype: hn.arrays(dtype, st.just(1))))
def test_a_unit_is_the_gap_above(value: Any) -> None:
    dtype = value.dtype
    if not np.isfinite(value):
        np.testing.assert_array_equal(ulp.unit(value, dtype), np.abs(value).astype("f8"))
        return
    value = np.abs(value)
    gap = exact(above(value).item(), dtype.str) - Fraction(value.item())
    assert Fraction(float(ulp.unit(value, dtype)[0])) == gap


@pytest.mark.parametrize("dtype", FLOATS)
def test_ends_and_zeros(dtype: str) -> None:
    limits = np.finfo(dtype)
    tiny, largest = limits.smallest_subnormal, limits.max
    assert steps(0.0, -0.0, dtype) == 0 and difference(0.0, -0.0, dtype) == 0
    assert steps(-tiny, tiny, dtype) == 2 and difference(-tiny, tiny, dtype) == 2 * float(tiny)
    assert steps(-0.0, tiny, dtype) == 1
    below = np.nextafter(limits.smallest_normal, np.array(0, dtype))
    assert steps(below, limits.smallest_normal, dtype) == 1
    assert steps(largest, np.inf, dtype) == 1
    assert steps(np.inf, np.inf, dtype) == 0 and difference(np.inf, np.inf, dtype) == 0
    assert difference(largest, np.inf, dtype) == unit(largest, dtype)
    assert steps(-np.inf, np.inf, dtype) == 2 * (2 ** (8 * np.dtype(dtype).itemsize - 1) - 2**limits.nmant)
    assert difference(-np.inf, np.inf, dtype) >= float(largest)
    assert steps(np.nan, -np.nan, dtype) == 0 and difference(np.nan, np.nan, dtype) == 0
    assert steps(np.nan, np.inf, dtype) == ulp.APART and difference(1, np.nan, dtype) == math.inf
    assert unit(0.0, dtype) == unit(float(tiny), dtype) == unit(float(limits.smallest_normal), dtype) == float(tiny)
    assert unit(1.0, dtype) == float(limits.eps)
    assert unit(-1.5, dtype) == float(limits.eps)


def test_a_magnitude_beyond_the_range_has_the_unit_of_its_exponent() -> None:
    assert unit(65536.0, "f2") == 64.0
    assert unit(2.0**-40, "f2") == 2.0**-24
    assert unit(math.inf, "f2") == math.inf and math.isnan(unit(math.nan, "f2"))


def test_integers() -> None:
    assert steps(-(2**63), 2**63 - 1, "i8") == 2**64 - 1
    assert steps(0, 2**64 - 1, "u8") == 2**64 - 1
    assert steps(-128, 127, "i1") == 255
    assert difference(-128, 127, "i1") == 255
    assert unit(77, "i4") == 1


def test_signalling_nan() -> None:
    signalling = np.array([0x7F800001], np.uint32).view(np.float32)
    assert int(ulp.steps(signalling, np.array([np.nan], np.float32))[0]) == 0
    assert float(ulp.difference(signalling, np.array([1], np.float32))[0]) == math.inf
    half = np.array([0x7C01], np.uint16).view(np.float16)
    assert float(ulp.difference(half, np.array([1], np.float16))[0]) == math.inf


def test_big_endian() -> None:
    a, b = np.array([1.0], ">f4"), np.array([np.nextafter(np.float32(1), np.float32(2))], ">f4")
    assert int(ulp.steps(a, b)[0]) == 1
