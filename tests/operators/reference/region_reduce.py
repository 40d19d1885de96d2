"""ROI_POOLING: one bin of one region after the other."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from .windows import Array, grid, order

INT32_MIN, INT32_MAX = -(2**31), 2**31 - 1


def scaled(coordinate: Any, spatial_scale: float) -> int:
    """The product in float32, ties away from zero, saturated to 32 bits."""
    with np.errstate(over="ignore", under="ignore"):
        product = float(np.float32(coordinate) * np.float32(spatial_scale))
    if math.isinf(product):
        return INT32_MAX if product > 0 else INT32_MIN
    whole = math.floor(abs(Fraction(product)) + Fraction(1, 2))
    return max(INT32_MIN, min(INT32_MAX, whole if product > 0 else -whole))


def bin_bounds(number: int, count: int, first: int, last: int, size: int) -> slice:
    span = last - first + 1
    start = (number * span) // count + first
    end = ((number + 1) * span + count - 1) // count + first
    return slice(min(max(start, 0), size), min(max(end, 0), size))


def roi_pooling(x: Array, roi: Array, *, spatial_scale: float, pooled_size: tuple[int, int]) -> Array:
    """The maximum of each bin: 0 of nothing, numbers before NaN, +0 before -0."""
    _, channels, height, width = x.shape
    regions, ordered = roi.reshape(-1, 5), order(x)
    result = np.zeros((len(regions), channels, *pooled_size), x.dtype)
    for r, (batch, *corners) in enumerate(regions):
        x1, y1, x2, y2 = (scaled(corner, spatial_scale) for corner in corners)
        for py, px in grid(pooled_size):
            ys = bin_bounds(py, pooled_size[0], y1, y2, height)
            xs = bin_bounds(px, pooled_size[1], x1, x2, width)
            values, keys = (part[int(batch), :, ys, xs].reshape(channels, -1) for part in (x, ordered))
            if values.size:
                result[r, :, py, px] = values[np.arange(channels), keys.argmax(-1)]
    return result
