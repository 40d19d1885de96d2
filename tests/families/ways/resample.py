"""The ways of resample: moves, gathered rows, and means along rows, across rows and lanes, in blocks and pieces."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from checks import assert_same_values as same
from strategies import Array, any_bits, small_integers

from dmlcy._facts.rows import Operator

from . import Kind, Way

__all__ = ["DTYPES", "kinds", "same", "ways"]

DTYPES = ("float32", "float16", "uint8", "int8")
Sizes = tuple[int, ...]
SCALES: list[tuple[Sizes, tuple[float, ...]]] = [
    ((1, 2, 20, 30), (1, 1, 2, 2)),
    ((2, 3, 21, 34), (1, 1, 0.5, 0.5)),
    ((1, 2, 17, 40), (1, 1, 1.5, 1.5)),
    ((1, 1, 9, 70), (1, 1, 3, 0.3)),
    ((1, 2, 30, 11), (1, 1, 0.4, 4)),
    ((1, 1, 13, 400), (1, 1, 1, 2.5)),
    ((1, 1, 60, 13), (1, 1, 2.5, 1)),
    ((3, 5, 7, 6), (2, 1.5, 0.5, 2)),
    ((2, 3, 1, 9), (1, 1, 4, 3)),
    ((1, 1, 3, 2), (1, 1, 9, 0.6)),
    ((1, 1, 200, 150), (1, 1, 0.9, 1.1)),
    ((1, 1, 90, 2), (1, 1, 0.05, 1)),
    ((1, 20, 8, 9), (1, 1, 2, 2)),
    ((1, 1, 300, 260), (1, 1, 2, 1.5)),
    ((1, 1, 2, 9001), (1, 1, 1, 1.9)),
    ((1, 1, 17100, 2), (1, 1, 0.6, 1)),
    ((1, 1, 300, 290), (1, 1, 0.01, 0.004)),
]


def sizes_of(sizes: Sizes, scales: tuple[float, ...]) -> Sizes:
    return tuple(max(1, round(size * scale)) for size, scale in zip(sizes, scales, strict=True))


def ways(operator: Operator) -> list[Way]:
    found = []
    fields = {field.python for field in operator.fields}
    for number, (sizes, scales) in enumerate(SCALES):
        for mode in ("LINEAR", "NEAREST_NEIGHBOR"):
            given: dict[str, Any] = {"interpolation_mode": mode}
            if "scale_size" in fields:
                given["scale_size"] = tuple(max(1, round(scale)) for scale in scales[2:])
            else:
                given |= {"output_sizes": sizes_of(sizes, scales), "scales": scales}
            if "rounding_direction" in fields:
                given["rounding_direction"] = ("INCREASING", "DECREASING")[number % 2]
            if "antialiased" in fields:
                given["antialiased"] = number % 3 < 2
            if "input_pixel_offsets" in fields and number % 4 == 1:
                given |= {"input_pixel_offsets": (0.0,) * 4, "output_pixel_offsets": (0.0,) * 4}
            large = np.prod(sizes) > 20_000
            found.append(Way(sizes, given, bool(large)))
    return found


def quarters(seed: int, sizes: Sizes, dtype: str) -> Array:
    """Numbers of few digits: means of most have few, too."""
    return small_integers(seed, sizes, dtype) if dtype[0] == "f" else any_bits(seed, sizes, dtype)


def normal(seed: int, sizes: Sizes, dtype: str) -> Array:
    if dtype[0] != "f":
        return any_bits(seed, sizes, dtype)
    return np.random.default_rng(seed).standard_normal(sizes).astype(dtype)


def kinds(operator: Operator) -> list[Kind]:
    return [partial(quarters), partial(normal)]
