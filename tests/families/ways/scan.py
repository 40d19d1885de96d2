"""The ways of scan: lines one by one and side by side, alone and in fours, in both directions."""

from __future__ import annotations

import numpy as np
from checks import assert_same_values as same
from strategies import Array, any_bits

from dmlcy._facts.rows import Operator

from . import Kind, Way

__all__ = ["DTYPES", "kinds", "same", "ways"]

DTYPES = ("float32", "float16", "int32", "uint32", "int64", "uint64")
SIZES: list[tuple[tuple[int, ...], int]] = [
    ((3, 700), 1), ((700, 37), 0), ((5, 40, 32), 2), ((5, 40, 33), 1), ((900,), 0), ((9, 2, 300), 0), ((2, 600, 3), 1),
    ((3, 1, 50), 1), ((40, 520), 0), ((2, 3, 2, 2, 3, 2, 2, 5), 6), ((130, 8), 1), ((14, 31), 1),
]  # fmt: skip
LARGE = [((60, 9000), 1), ((600, 1000), 0)]


def ways(operator: Operator) -> list[Way]:
    exclusive = operator.definition.roles["exclusive"]
    return [
        Way(
            sizes,
            {"axis": axis, "axis_direction": ("INCREASING", "DECREASING")[number % 2], exclusive: number % 3 == 2},
            number >= len(SIZES),
        )
        for number, (sizes, axis) in enumerate([*SIZES, *LARGE])
    ]


def near_one(seed: int, sizes: tuple[int, ...], dtype: str) -> Array:
    """Floats whose products are numbers, with a zero here and there; small integers."""
    random = np.random.default_rng(seed)
    if dtype[0] != "f":
        return random.integers(0, 4, sizes).astype(dtype)
    x = random.uniform(-2, 2, sizes)
    return np.where(random.random(sizes) < 0.01 * (seed % 2), 0, x).astype(dtype)


def far_apart(seed: int, sizes: tuple[int, ...], dtype: str) -> Array:
    """Floats whose products are soon larger, or smaller, than all numbers; any integers."""
    if dtype[0] != "f":
        return any_bits(seed, sizes, dtype)
    random = np.random.default_rng(seed)
    most = 30 if dtype == "float32" else 4
    return (10.0 ** random.uniform(-most, most, sizes)).astype(dtype)


def kinds(operator: Operator) -> list[Kind]:
    return [near_one, far_apart, any_bits]
