"""A device that loses as much as it can, always to the same side: how far a recurrence carries errors of one sign."""

from __future__ import annotations

import math

import numpy as np

from dmlcy._arithmetic.ranges import Limits
from dmlcy._arithmetic.wide import Wide, is_integer
from dmlcy._types import Array, Number


class Truncating(Wide):
    """Arrays of float64, of which each operation takes so many times the largest error of a device toward 0."""

    def __init__(self, limits: Limits, times: float = 1.0) -> None:
        self.unit, self.added = times * limits.unit, times * limits.added

    def _cut(self, a: Number, terms: float = 1.0) -> Number:
        unit = self.unit if terms == 1 else terms * self.added
        return a if is_integer(a) else np.multiply(a, 1 - min(unit, 1.0))

    def add(self, a: Number, b: Number) -> Number:
        return self._cut(super().add(a, b))

    def subtract(self, a: Number, b: Number) -> Number:
        return self._cut(super().subtract(a, b))

    def multiply(self, a: Number, b: Number) -> Number:
        return self._cut(super().multiply(a, b))

    def divide(self, a: Number, b: Number) -> Number:
        return self._cut(super().divide(a, b))

    def function(self, name: str, *values: Number) -> Number:
        return self._cut(super().function(name, *values))

    def sum(self, a: Array, axes: int | tuple[int, ...]) -> Number:
        count = math.prod(a.shape[axis] for axis in (axes if isinstance(axes, tuple) else (axes,)))
        return self._cut(super().sum(a, axes), count)

    def matmul(self, a: Array, b: Array) -> Number:
        found: Number = super().matmul(a, b)
        return self._cut(found, a.shape[-1])
