"""The one rounding from an exact number to a floating data type: to the nearest, ties to even."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from dmlcy._types import DType, Number


def unit(magnitude: Fraction, dtype: DType) -> Fraction:
    """The unit in the last place of the numbers of a data type that are as large as this one."""
    limits = np.finfo(dtype)
    exponent = int(limits.minexp)
    if magnitude > 0:
        about = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
        exponent = max(exponent, about if Fraction(2) ** about <= magnitude else about - 1)
    return Fraction(2) ** (exponent - int(limits.nmant))


def nearest(value: Number, dtype: DType) -> float:
    """The nearest number of a floating data type, as a float; infinite beyond its range."""
    if type(value) is float and (not math.isfinite(value) or value == 0):
        return value
    exact = Fraction(value)
    one = unit(abs(exact), dtype)
    rounded = round(exact / one) * one
    if abs(rounded) >= Fraction(2) ** int(np.finfo(dtype).maxexp):
        return math.inf if exact > 0 else -math.inf
    return float(rounded) if rounded else 0.0 if exact >= 0 else -0.0
