"""FOLD: one element of the window after the other."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from .windows import EVERY, Array, positions, taps


def fold(
    x: Array, *, output_sizes: Sequence[int], window_sizes: Sequence[int], strides: Sequence[int],
    dilations: Sequence[int], start_padding: Sequence[int], end_padding: Sequence[int],
) -> Array:  # fmt: skip
    """The elements at one place of the window are added after those at the place before."""
    blocks = positions(output_sizes, window_sizes, strides, dilations, start_padding, end_padding)
    columns = x.reshape(len(x), -1, math.prod(window_sizes), *blocks)
    wide = np.float32 if x.dtype == np.float16 else x.dtype
    result = np.zeros((*columns.shape[:2], *output_sizes), wide)
    with np.errstate(all="ignore"):
        for row, at, places in taps(output_sizes, blocks, window_sizes, strides, dilations, start_padding):
            result[(*EVERY, *places)] += columns[(*EVERY, row, *at)].astype(wide)
        return result.astype(x.dtype)
