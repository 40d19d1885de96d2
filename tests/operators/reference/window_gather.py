"""UNFOLD: one element of the window after the other."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from .windows import EVERY, Array, positions, taps


def unfold(
    x: Array, *, window_sizes: Sequence[int], strides: Sequence[int], dilations: Sequence[int],
    start_padding: Sequence[int], end_padding: Sequence[int],
) -> Array:  # fmt: skip
    n, channels, *sizes = x.shape
    blocks = positions(sizes, window_sizes, strides, dilations, start_padding, end_padding)
    result = np.zeros((n, channels, math.prod(window_sizes), *blocks), x.dtype)
    for row, at, places in taps(sizes, blocks, window_sizes, strides, dilations, start_padding):
        result[(*EVERY, row, *at)] = x[(*EVERY, *places)]
    return result.reshape(n, channels * math.prod(window_sizes), math.prod(blocks))
