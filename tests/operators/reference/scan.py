"""Running sums and products, one element after the other."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .elementwise import Near
from .windows import Array


def scanned(x: Array, axis: int, decreasing: bool, exclusive: bool, product: bool) -> Near | Array:
    turned = np.moveaxis(np.flip(x, axis) if decreasing else x, axis, -1)
    floats = x.dtype.kind == "f"
    found = np.empty(turned.shape, np.float64 if floats else x.dtype)
    terms = np.empty(turned.shape)
    with np.errstate(all="ignore"):
        for at in np.ndindex(*turned.shape[:-1]):
            if not floats:
                line = np.cumprod(turned[at], dtype=x.dtype) if product else np.cumsum(turned[at], dtype=x.dtype)
                found[at], terms[at] = line, 0
            elif product:
                found[at] = terms[at] = products(turned[at].astype(np.float64))
            else:
                found[at] = np.cumsum(turned[at].astype(np.float64) * 1.0) + 0.0
                terms[at] = np.cumsum(np.abs(turned[at].astype(np.float64)))
    both = []
    for one in (found, terms):
        if exclusive:
            one = np.roll(one, 1, -1)
            one[..., 0] = int(product)
        back = np.moveaxis(one, -1, axis)
        both.append(np.ascontiguousarray(np.flip(back, axis) if decreasing else back))
    return Near(both[0], 1, np.abs(both[1])) if floats else both[0]


def products(line: Array) -> list[float]:
    """Products of any size: a part and a power of two."""
    part, power, found = 1.0, 0, []
    for x in line.tolist():
        part, more = math.frexp(part * x)
        power = power + more if part else 0
        found.append(float(np.ldexp(part, max(min(power, 3000), -3000))))
    return found


def is_decreasing(direction: Any) -> bool:
    return bool(getattr(direction, "name", direction) == "DECREASING")


def cumulative_summation(
    x: Array, *, axis: int, axis_direction: Any = "INCREASING", has_exclusive_sum: bool = False
) -> Near | Array:
    return scanned(x, axis, is_decreasing(axis_direction), has_exclusive_sum, False)


def cumulative_product(
    x: Array, *, axis: int, axis_direction: Any = "INCREASING", has_exclusive_product: bool = False
) -> Near | Array:
    return scanned(x, axis, is_decreasing(axis_direction), has_exclusive_product, True)
