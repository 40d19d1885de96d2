"""The ways of reduce: lines in rows and in columns, short and long ones, parts of lines, few lines and many."""

from __future__ import annotations

from typing import Any

import numpy as np
from checks import assert_same_values as same
from strategies import Array, any_bits

import dmlcy as dml
from dmlcy._facts.rows import Operator

from . import Kind, Way

__all__ = ["DTYPES", "kinds", "same", "ways"]

DTYPES = ("float32", "float16")
"""Rules say which functions take integers: test_reduce.py has their ways."""
SIZES: list[tuple[tuple[int, ...], tuple[int, ...]]] = [
    ((3, 700), (1,)), ((700, 37), (0,)), ((5, 40, 32), (2,)), ((5, 40, 33), (1,)), ((9000,), (0,)),
    ((3, 5000), (1,)), ((2, 1100, 3), (1,)), ((600, 3), (1,)), ((3, 4, 50, 6), (1, 3)), ((2, 3, 40, 50), (2, 3)),
    ((2, 30, 20), (0, 2)), ((40, 30), ()), ((1, 2100), (0,)), ((7, 1, 9, 1), (1, 2)), ((20, 600), (0, 1)),
    ((13, 2, 65), (0,)), ((3000, 2), (0,)), ((2, 3, 2, 2, 3, 2, 2, 5), (1, 3, 6)), ((130, 8), (1,)), ((64, 31), (1,)),
]  # fmt: skip
LARGE = [((700_000,), (0,)), ((3, 300_000), (1,)), ((70_000, 9), (0,)), ((40, 60, 500), (0, 2))]
"""Threads share lines."""
FUNCTIONS = [member.name for member in dml.ReduceFunction]


def ways(operator: Operator) -> list[Way]:
    found = []
    for number, (sizes, axes) in enumerate([*SIZES, *LARGE]):
        large = number >= len(SIZES)
        if "mode" not in operator.definition.roles:
            given: dict[str, Any] = {"axes": axes, "axis_direction": ("INCREASING", "DECREASING")[number % 2]}
            given["output_dtype"] = ("UINT32", "INT64", "INT32", "UINT64")[number % 4]
            found.append(Way(sizes, given, large))
            continue
        functions = FUNCTIONS if number < 12 or large else FUNCTIONS[number % 3 :: 3]
        for function in functions:
            found.append(Way(sizes, {"axes": axes, "function": function}, large))
    return found


def of_all(seed: int, sizes: tuple[int, ...], dtype: str) -> Array:
    return any_bits(seed, sizes, dtype)


def near_one(seed: int, sizes: tuple[int, ...], dtype: str) -> Array:
    """Floats whose products and logarithms are numbers; integers with many equal ones."""
    random = np.random.default_rng(seed)
    if dtype[0] == "f":
        return random.uniform(0.5, 2, sizes).astype(dtype)
    return random.integers(0, 4, sizes).astype(dtype)


def kinds(operator: Operator) -> list[Kind]:
    return [of_all, near_one]
