"""The differences that pass for a rounded value hold what is within the bound of the exact one, and hardly more."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dmlcy._arithmetic.rounding import unit
from dmlcy._reference import ulp
from dmlcy._reference.expected import Expected
from dmlcy._reference.passing import passing

FLOATS = [np.dtype(name) for name in ("f2", "f4", "f8")]
exact = st.one_of(
    st.fractions(),
    st.builds(
        lambda sign, mantissa, exponent: sign * mantissa * Fraction(2) ** exponent,
        st.sampled_from([-1, 1]), st.integers(0, 2**60), st.integers(-1200, 1100),
    ),
    st.sampled_from([math.inf, -math.inf, math.nan, Fraction(65519), Fraction(65520), Fraction(2) ** 128]),
)  # fmt: skip


def of(value: Any, dtype: np.dtype[Any], bound: float) -> Expected:
    one = unit(abs(value), dtype) if isinstance(value, Fraction) else Fraction(1)
    values, units = np.empty(1, object), np.empty(1, object)
    values[0], units[0] = value, one
    return Expected(values, dtype, bound, units)


@settings(deadline=None, max_examples=200)
@given(exact, st.sampled_from(FLOATS), st.sampled_from([0.5, 1.0, 2.0, 5.0, 40.0]), st.integers(-50, 50))
def test_numbers_within_the_bound_pass_and_others_hardly_ever(
    value: Any, dtype: np.dtype[Any], bound: float, steps: int
) -> None:
    found = of(value, dtype, bound)
    values, allowed = passing(found)
    assert allowed is not None and values.dtype == dtype
    actual = values.copy()
    with np.errstate(all="ignore"):  # beyond the range
        for _ in range(abs(steps)):
            actual = np.nextafter(actual, dtype.type(math.copysign(math.inf, steps)))
    (error,), passes = found.errors(actual), bool((ulp.difference(values, actual) <= allowed).all())
    if error <= bound:
        assert passes
    elif passes and math.isfinite(error):
        assert error <= bound + 1  # rounding the value costs half a unit, and so does a bound that is no whole number


def test_nothing_is_promised() -> None:
    """Any number passes where there is no unit, except in place of NaN."""
    values, units = np.empty(2, object), np.empty(2, object)
    values[:] = [Fraction(1), math.nan]
    _, allowed = passing(Expected(values, np.dtype("f4"), 1.0, units))
    assert allowed is not None and np.isnan(allowed[0]) and allowed[1] == 0


def test_what_is_exact_has_no_differences() -> None:
    moved = np.arange(4, dtype=np.float32)
    values, allowed = passing(Expected(moved, moved.dtype, 0.0, None))
    assert values is moved and allowed is None


@pytest.mark.parametrize("dtype", FLOATS)
def test_beyond_the_range_only_infinity_passes(dtype: np.dtype[Any]) -> None:
    found = of(Fraction(2) ** 2000, dtype, 2.0)
    values, allowed = passing(found)
    assert np.isinf(values).all() and allowed is not None and not allowed.any()
