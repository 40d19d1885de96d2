"""Numbers of the reference: exact ones, maxima, and products that the specs want in single precision."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


def exact(values: Array) -> Array:
    """The same numbers as fractions; infinities and NaN stay floats."""
    wide = [value.item() for value in values.ravel()]
    result = np.empty(len(wide), object)
    result[:] = [Fraction(value) if math.isfinite(value) else value for value in wide]
    return result.reshape(values.shape)


def unit(magnitude: Fraction, dtype: np.dtype[Any]) -> Fraction:
    """The unit in the last place of the numbers of a data type that are as large as this one."""
    limits = np.finfo(dtype)
    exponent = int(limits.minexp)
    if magnitude > 0:
        about = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
        exponent = max(exponent, about if Fraction(2) ** about <= magnitude else about - 1)
    return Fraction(2) ** (exponent - int(limits.nmant))


def grid(sizes: Iterable[int]) -> Iterator[tuple[int, ...]]:
    """Every index of a tensor, in row-major order."""
    return itertools.product(*map(range, sizes))


class Single(float):
    """A number whose sums and products are rounded to FLOAT32."""

    __slots__ = ()

    def __add__(self, other: float) -> Single:
        return single(float(self) + other)

    def __sub__(self, other: float) -> Single:
        return single(float(self) - other)

    def __mul__(self, other: float) -> Single:
        return single(float(self) * other)

    def __truediv__(self, other: float) -> Single:
        return single(float(self) / other)


def single(value: float) -> Single:
    """The nearest number of FLOAT32. Of two of its numbers float64 holds sum, product and quotient well enough."""
    with np.errstate(over="ignore"):
        return Single(np.float32(value))


def largest(values: list[Any]) -> Any:
    """The maximum: numbers before NaN, +0 before -0."""
    return values[first_largest(values)]


def first_largest(values: list[Any]) -> int:
    """Where the maximum stands, the first of equal ones."""

    def key(at: int) -> tuple[object, ...]:
        value = values[at]
        return (False,) if math.isnan(value) else (True, value, math.copysign(1, value))

    return max(range(len(values)), key=key)
