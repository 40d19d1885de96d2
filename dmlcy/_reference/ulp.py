"""Units in the last place: how large they are, and how far two numbers lie apart.

An infinity counts as the number after the largest, +0 and -0 as one number, and integers have units of 1.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from dmlcy._types import Array, DType

APART: Final = 2**64 - 1
"""The distance between NaN and a number; two numbers are never so far apart."""


def unit(magnitude: Array, dtype: DType) -> npt.NDArray[np.float64]:
    """The unit in the last place of numbers of a data type that are as large as these; inf and NaN give themselves."""
    wide = np.abs(_wide(magnitude))
    if dtype.kind != "f":
        return np.where(np.isfinite(wide), 1.0, wide)
    limits = np.finfo(dtype)
    exponent = np.frexp(np.maximum(wide, float(limits.smallest_normal)))[1] - 1 - limits.nmant
    return np.where(np.isfinite(wide), np.ldexp(1.0, exponent), wide)


def steps(a: Array, b: Array) -> npt.NDArray[np.uint64]:
    """How many steps from number to next number lead from ``a`` to ``b``, of the same data type; NaN equals NaN."""
    if a.dtype.kind != "f":
        return np.maximum(a, b).astype(np.uint64) - np.minimum(a, b).astype(np.uint64)
    first, second = _ordinal(a), _ordinal(b)
    count = np.maximum(first, second).astype(np.uint64) - np.minimum(first, second).astype(np.uint64)
    nan = np.isnan(a), np.isnan(b)
    count[nan[0] | nan[1]] = APART
    count[nan[0] & nan[1]] = 0
    return count


def difference(a: Array, b: Array) -> npt.NDArray[np.float64]:
    """The distance of two numbers; infinite where just one of them is NaN."""
    if a.dtype.kind != "f":
        return steps(a, b).astype(np.float64)
    limits = np.finfo(a.dtype)
    largest, after = float(limits.max), 2.0 ** (limits.maxexp - 1 - limits.nmant)
    first, second = _wide(a), _wide(b)
    with np.errstate(over="ignore", invalid="ignore"):
        apart = np.abs(np.clip(first, -largest, largest) - np.clip(second, -largest, largest))
        apart += after * (np.isinf(first).astype(np.float64) + np.isinf(second))
    apart[np.isnan(first) | np.isnan(second)] = np.inf
    apart[(first == second) | (np.isnan(first) & np.isnan(second))] = 0.0
    return apart


def bits(value: np.generic) -> str:
    """The bits of a NumPy scalar in hexadecimal."""
    pattern = np.asarray(value).reshape(1).view(f"u{value.itemsize}")
    return f"0x{int(pattern[0]):0{2 * value.itemsize}X}"


def _wide(values: Array) -> npt.NDArray[np.float64]:
    with np.errstate(invalid="ignore"):  # a signalling NaN
        return values.astype(np.float64)


def _ordinal(values: Array) -> Array:
    """The position of each number among all of its data type, 0 for both zeros."""
    size = values.dtype.itemsize
    bits = values.view(np.dtype(f"i{size}").newbyteorder(values.dtype.byteorder)).astype(np.int64)
    magnitude = bits & (2 ** (8 * size - 1) - 1)
    ordinal: Array = np.where(bits < 0, -magnitude, magnitude)
    return ordinal
