"""The ways of region_reduce.

The loops tell apart columns and channels in blocks of 8, rows of few columns, bins wider than 256 columns, more than 64
bins, and layouts.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from checks import assert_same_values as same
from strategies import Array, small_integers

from dmlcy._facts.rows import Operator
from dmlcy.testing import specials

from . import Kind, Way

__all__ = ["DTYPES", "kinds", "same", "ways"]

DTYPES = ("float32", "float16")
SIZES = [(1, 8, 9, 8), (2, 8, 5, 7), (2, 9, 6, 33), (1, 16, 40, 9), (1, 17, 20, 300), (1, 3, 4, 700), (3, 1, 12, 16)]
GRIDS = [(7, 7), (1, 1), (3, 20), (70, 2), (2, 70), (1, 7), (8, 8), (4, 2)]
LARGER = [((2, 3, 70, 300), (7, 7)), ((1, 2, 5, 2000), (2, 3)), ((1, 40, 33, 65), (3, 40))]


def regions(sizes: tuple[int, ...], dtype: str) -> tuple[Array, ...]:
    """Inside, as wide as the input, beyond it, of one column, of one row, narrow at the end, and outside."""
    batch, _, height, width = sizes
    rows = [
        (0, 0, width - 1, height - 1),
        (1, 1, width // 2, height - 2),
        (-5, -3, width + 9, height + 4),
        (width - 1, 0, width - 1, height - 1),
        (0, height - 1, width - 1, height - 1),
        (width - 3, 2, width - 1, height // 2),
        (width, 0, width + 5, height),
        (-9, 0, 3, height + 20),
        (3, 0, 11, 3),
    ]
    return (np.array([(r % batch, *row) for r, row in enumerate(rows)], dtype),)


def ways(operator: Operator) -> list[Way]:
    some = [(SIZES[i], GRIDS[j], (i + j) % 4 > 0) for i in range(len(SIZES)) for j in range(len(GRIDS))]
    return [
        Way(sizes, {"spatial_scale": 1.0, "pooled_size": grid}, large, partial(regions, sizes))
        for sizes, grid, large in [*some, *((*pair, True) for pair in LARGER)]
    ]


def numbers(part: float, seed: int, sizes: tuple[int, ...], dtype: str) -> Array:
    """Whole numbers, a part of them special values."""
    x = small_integers(seed, sizes, dtype, most=2000)
    rng = np.random.default_rng(seed)
    chosen = rng.random(sizes) < part
    x[chosen] = rng.choice(specials(dtype), int(chosen.sum()))
    return x


def kinds(operator: Operator) -> list[Kind]:
    return [partial(numbers, 0.02), partial(numbers, 0.9)]
