"""The parts that references of families share: indices of tensors, maxima of elements, and their order."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator

import numpy as np

from dmlcy._types import Array, Number


def grid(sizes: Iterable[int]) -> Iterator[tuple[int, ...]]:
    """Every index of a tensor, in row-major order."""
    return itertools.product(*map(range, sizes))


def largest(values: list[Number]) -> Number:
    """The maximum: numbers before NaN, +0 before -0."""

    def key(at: int) -> tuple[object, ...]:
        value = values[at]
        return (False,) if math.isnan(value) else (True, value, math.copysign(1, value))

    return values[max(range(len(values)), key=key)]


def keys(array: Array, descending: bool) -> Array:
    """Whole numbers in the order of the elements, the least for the first one.

    NaN is behind every number in both directions. Zeros of both signs are equal.
    """
    if array.dtype.kind != "f":
        return ~array if descending else array
    bits = array.view(f"i{array.itemsize}")
    top = np.iinfo(bits.dtype)
    ordered: Array = np.where(bits < 0, bits ^ top.max, bits)
    ordered[bits == top.min] = 0  # -0
    if descending:
        ordered = ~ordered
    ordered[np.isnan(array)] = top.max
    return ordered
