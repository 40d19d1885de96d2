"""The numbers of a data type that pass for what the reference gives: the nearest one, and how far others may be off."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from dmlcy._arithmetic import Array
from dmlcy._arithmetic.rounding import nearest
from dmlcy._reference import ulp
from dmlcy._reference.accuracy import Tolerance
from dmlcy._reference.expected import Expected


def passing(found: Expected) -> tuple[Array, Tolerance | None]:
    """The values in their data type, and the largest difference from each that passes; None: each must be equal.

    The difference counts an infinity as the number after the largest one, as ``ulp.difference`` does. It is NaN where
    the spec promises nothing. It holds all numbers that are within the accuracy of the exact value, and on one side of
    it perhaps one more: the value that stands here is rounded.
    """
    if found.units is None:
        return found.values, None
    values = np.empty(found.values.shape, found.dtype)
    ends = np.empty((2, *values.shape), found.dtype)
    unknown = np.zeros(values.shape, np.bool_)
    for at in np.ndindex(values.shape):
        value, one = found.values[at], found.units[at]
        values[at] = nearest(value, found.dtype)
        unknown[at] = one is None and not (isinstance(value, float) and math.isnan(value))
        for end, side in enumerate((-1, 1)):
            ends[(end, *at)] = values[at] if one is None else _end(value, Fraction(found.ulp) * one, side, found.dtype)
    return values, np.where(unknown, np.nan, np.maximum(*(ulp.difference(values, end) for end in ends)))


def _end(value: Any, most: Fraction, side: int, dtype: np.dtype[Any]) -> Any:
    """The last number on one side (-1 or 1) of an exact value that is at most so far from it."""
    if isinstance(value, float) and not math.isfinite(value):
        return dtype.type(value)
    limit = Fraction(value) + side * most
    found = dtype.type(nearest(limit, dtype))
    beyond = Fraction(2) ** int(np.finfo(dtype).maxexp) * side  # the number after the largest one
    if np.isinf(found):
        if (beyond - limit) * side <= 0:
            return found
    elif (Fraction(float(found)) - limit) * side <= 0:
        return found
    with np.errstate(all="ignore"):  # of a subnormal number
        return np.nextafter(found, dtype.type(-side * np.inf))
