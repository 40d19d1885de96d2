"""The ways of select: few and many of a line, lines alone and side by side; rows of coordinates."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from checks import assert_same_bits as same
from strategies import Array, any_bits

from dmlcy._facts.rows import Operator

from . import Kind, Way

__all__ = ["DTYPES", "kinds", "same", "ways"]

DTYPES = ("float32", "uint8", "float16", "int16", "int64", "uint32", "int8", "uint64", "int32", "uint16")
Sizes = tuple[int, ...]
FIRST: list[tuple[Sizes, int, int]] = [
    ((3, 700), 1, 1),
    ((3, 700), 1, 9),
    ((2, 1300), 1, 16),
    ((1, 2, 1500), 2, 17),  # some wait, and most of them are left out
    ((2, 1500), 1, 40),
    ((1400,), 0, 200),  # all words wait
    ((2, 900), 1, 900),
    ((2, 530, 20), 1, 7),  # lines side by side
    ((530, 37), 0, 40),
    ((40, 5, 3), 0, 40),
    ((300, 2, 2), 1, 1),
    ((2, 1, 1), 1, 1),
]
"""Sizes, an axis, and how many come first."""
NONZERO: list[tuple[Sizes, Sizes]] = [
    ((3, 5000), ()),
    ((40, 30, 20), ()),
    ((700, 3, 1), ()),
    ((1, 1, 6000), (6000, 1)),
    ((1, 3, 2, 900), (1, 5400, 3)),
    ((2, 3, 2, 1, 3, 2, 5, 7), ()),
    ((1, 1), (1, 1)),
    ((17_000,), ()),
]
"""Sizes, and those of the coordinates if they are given."""


def ways(operator: Operator) -> list[Way]:
    if operator.definition.words["choose"] == "nonzero":
        return [Way(sizes, {"output_coordinates_sizes": table} if table else {}) for sizes, table in NONZERO]
    found = []
    for number, (sizes, axis, k) in enumerate(FIRST):
        given: dict[str, Any] = {"axis": axis, "k": k}
        if "direction" in operator.definition.roles and number % 2:
            given["axis_direction"] = "INCREASING"
        if number % 3 == 1:
            given["output_index_dtype"] = "UINT64"
        found.append(Way(sizes, given))
    return found


def few_different(seed: int, sizes: Sizes, dtype: str) -> Array:
    """With all that floats have."""
    random = np.random.default_rng(seed)
    if dtype[0] != "f":
        limits = np.iinfo(dtype)
        return random.choice(np.array([limits.min, limits.max, 0, 0, 0, 1, 2], dtype), sizes)
    return random.choice(np.array([0, -0.0, 0, 1, -1, np.inf, -np.inf, np.nan, -np.nan, 2**-24], dtype), sizes)


def in_order(seed: int, sizes: Sizes, dtype: str) -> Array:
    """Each element is before the one at its left, or behind."""
    x = np.sort(any_bits(seed, sizes, dtype), None)
    return np.ascontiguousarray(x[:: 1 - 2 * (seed % 2)]).reshape(sizes)


def mostly_zero(seed: int, sizes: Sizes, dtype: str) -> Array:
    random = np.random.default_rng(seed)
    return np.where(random.random(sizes) < 0.01, any_bits(seed, sizes, dtype), np.zeros((), dtype))


def kinds(operator: Operator) -> list[Kind]:
    chosen = [mostly_zero] if operator.definition.words["choose"] == "nonzero" else [in_order]
    return [*itertools.chain(chosen), few_different, any_bits]
