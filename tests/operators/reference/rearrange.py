"""DEPTH_TO_SPACE and SPACE_TO_DEPTH: transposed axes of blocks."""

from __future__ import annotations

import numpy as np

from .windows import Array


def depth_to_space(x: Array, *, block_size: int, order: str = "DEPTH_COLUMN_ROW") -> Array:
    n, channels, height, width = x.shape
    b, c = block_size, channels // block_size**2
    parts, axes = {
        "DEPTH_COLUMN_ROW": ((n, b, b, c, height, width), (0, 3, 4, 1, 5, 2)),
        "COLUMN_ROW_DEPTH": ((n, c, b, b, height, width), (0, 1, 4, 2, 5, 3)),
    }[order]
    return np.ascontiguousarray(x.reshape(parts).transpose(axes)).reshape(n, c, height * b, width * b)


def space_to_depth(x: Array, *, block_size: int, order: str = "DEPTH_COLUMN_ROW") -> Array:
    n, c, height, width = x.shape
    b = block_size
    parts = (n, c, height // b, b, width // b, b)
    axes = {"DEPTH_COLUMN_ROW": (0, 3, 5, 1, 2, 4), "COLUMN_ROW_DEPTH": (0, 1, 3, 5, 2, 4)}[order]
    return np.ascontiguousarray(x.reshape(parts).transpose(axes)).reshape(n, c * b * b, height // b, width // b)
