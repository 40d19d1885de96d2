"""AVERAGE_POOLING, LP_POOLING and MAX_POOLING: one position of the window after the other."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from .windows import Array, order, pooled, under

NONE = 2**32 - 1  # the index of no element


class Average(NamedTuple):
    """Of each window: float64 sums, correctly rounded, and the divisor (0: nothing but padding that does not count)."""

    total: Array
    magnitude: Array  # sum of the absolute values of finite elements
    divisor: Array

    def mean(self) -> Array:
        return np.where(self.divisor == 0, 0.0, self.total / np.maximum(self.divisor, 1))

    def rounded(self, dtype: Any) -> Array:
        """The mean of sums that float32 holds exactly: one float32 division, then rounded to the data type."""
        quotient = self.total.astype(np.float32) / np.maximum(self.divisor, 1).astype(np.float32)
        return quotient.astype(dtype)


class Norm(NamedTuple):
    """Of each window the norm, in float64, and its P-th power."""

    norm: Array
    power: Array

    def rounded(self, dtype: Any) -> Array:
        return self.norm.astype(dtype)


def exact_sum(values: list[float]) -> float:
    try:
        return math.fsum(values)
    except ValueError:  # both infinities
        return math.nan


def average_pooling(x: Array, *, include_padding: bool, **window: Any) -> Average:
    result = Average(*(np.zeros(pooled(x, **window)) for _ in range(3)))
    with np.errstate(invalid="ignore"):  # signalling NaN
        x = x.astype(np.float64)
    for at, taps in under(x, **window):
        finite = np.where(np.isfinite(taps), np.abs(taps), 0.0)
        result.total[at] = [[exact_sum(row) for row in item] for item in taps.tolist()]
        result.magnitude[at] = [[math.fsum(row) for row in item] for item in finite.tolist()]
        result.divisor[at] = math.prod(window["window_size"]) if include_padding else taps.shape[2]
    return result


def lp_pooling(x: Array, *, p: int, **window: Any) -> Norm:
    """Powers and roots are those of the largest element of each window as a unit, which is then put back."""
    result = Norm(*(np.zeros(pooled(x, **window)) for _ in range(2)))
    with np.errstate(all="ignore"):
        for at, taps in under(np.abs(x.astype(np.float64)), **window):
            most = taps.max(-1, initial=0.0)
            plain = (most > 0) & np.isfinite(most)
            unit = np.where(plain, most, 1.0)
            total = ((taps / unit[..., None]) ** p).sum(-1)
            logarithm = np.log(total) + p * np.log(unit)
            power = np.where(abs(logarithm) < 700, np.exp(logarithm), np.where(logarithm > 0, np.inf, 0.0))
            result.norm[at] = np.where(plain, most * total ** (1 / p), most)
            result.power[at] = np.where(plain, power, most)
    return result


def max_pooling(x: Array, *, output_indices: str = "", **window: Any) -> Array | tuple[Array, Array]:
    """The first of the greatest elements in the order of the window."""
    values, ordered, least = x.ravel(), order(x).ravel(), -np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min
    result = np.full(pooled(x, **window), least, x.dtype)
    indices = np.full(result.shape, NONE, np.uint64)
    for at, places in under(np.arange(x.size).reshape(x.shape), **window):
        if places.size:
            first = ordered[places].argmax(-1)[..., None]
            found = np.take_along_axis(places, first, -1)[..., 0]
            result[at], indices[at] = values[found], found
    return (result, indices.astype(output_indices.lower())) if output_indices else result
