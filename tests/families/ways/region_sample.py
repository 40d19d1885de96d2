"""The ways of region_sample: regions inside, beyond and outside the input, means and maxima, few samples and many."""

from __future__ import annotations

from functools import partial
from itertools import product
from typing import Any

import numpy as np
from checks import assert_same_values as same
from strategies import Array

from dmlcy._facts.rows import Operator

from . import Kind, Way

__all__ = ["DTYPES", "kinds", "same", "ways"]

DTYPES = ("float32", "float16")
Sizes = tuple[int, ...]
CASES: list[tuple[Sizes, Sizes, int, int]] = [
    ((2, 5, 17, 19), (7, 7), 2, 2),
    ((1, 3, 9, 30), (3, 2), 1, 1),
    ((3, 2, 12, 8), (2, 5), 1, 4),
    ((1, 70, 6, 7), (2, 2), 2, 2),
    ((2, 2, 1, 9), (2, 3), 3, 3),
    ((1, 1, 15, 15), (1, 1), 1, 9),
]
"""Sizes of the input, cells, and the fewest and the most samples."""


def corners(sizes: Sizes, dtype: str) -> Array:
    height, width = sizes[2:]
    return np.array(
        [
            (0, 0, width, height), (1.25, 0.5, width / 2, height / 2), (-3, -2, width + 2, height + 1.5),
            (width + 5, 0, width + 9, 3), (2, 1, 1, 0.5), (0.5, 0.5, 0.5, 0.5),
        ],
        dtype,
    )  # fmt: skip


def others(sizes: Sizes, cells: Sizes, gradient: bool, dtype: str) -> tuple[Array, ...]:
    rows = corners(sizes, dtype)
    items = (np.arange(len(rows)) % sizes[0]).astype(np.uint32)
    random = np.random.default_rng(3)
    given = random.integers(-8, 9, (len(rows), sizes[1], *cells)).astype(dtype)
    return (given, rows, items) if gradient else (rows, items)


def ways(operator: Operator) -> list[Way]:
    found = []
    fields = {field.python for field in operator.fields}
    modes = product(CASES, ("AVERAGE", "MAX"), ("LINEAR", "NEAREST_NEIGHBOR"))
    for number, ((sizes, cells, least, most), reduction, mode) in enumerate(modes):
        given: dict[str, Any] = {
            "reduction_function": reduction,
            "interpolation_mode": mode,
            "minimum_samples_per_output": least,
            "maximum_samples_per_output": most,
            "spatial_scale_x": (1.0, 0.5)[number % 2],
        }
        if "align_regions_to_corners" in fields:
            given |= {"align_regions_to_corners": number % 3 == 1, "output_pixel_offset": (-0.5, 0.0)[number % 5 == 2]}
        gradient = "input_gradient" in fields
        if gradient:
            given |= {"output_gradient": number % 4 != 3, "output_roi_gradient": number % 4 > 1}
            given |= {"output_gradient_sizes": sizes} if given["output_gradient"] else {}
        else:
            given |= {"output_sizes": cells, "out_of_bounds_input_value": float(number % 3)}
        found.append(Way(sizes, given, others=partial(others, sizes, cells, gradient)))
    return found


def numbers(seed: int, sizes: Sizes, dtype: str) -> Array:
    return np.random.default_rng(seed).integers(-900, 900, sizes).astype(dtype)


def kinds(operator: Operator) -> list[Kind]:
    return [numbers]
