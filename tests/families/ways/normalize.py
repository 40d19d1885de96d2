"""The ways of normalize: lines of all lengths, along rows, across them and in both directions, alone and in units.

The loops tell apart lines of one chunk of 4096 elements and longer ones, and blocks of 32 elements. Other cases are
tensors with lines in the order of the loops, and tensors with repeated elements.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from checks import assert_same_values as same
from strategies import Array

from dmlcy._facts.rows import Operator

from . import Kind, Way

__all__ = ["DTYPES", "kinds", "same", "ways"]

DTYPES = ("float32", "float16")
LINES: list[tuple[tuple[int, ...], tuple[int, ...]]] = [
    ((3, 40), (1,)), ((40, 3), (0,)), ((2, 31, 33), (1, 2)), ((2, 3, 70), (2,)), ((5, 64, 9), (1,)),
    ((70, 2, 33), (0, 2)), ((1, 4096), (1,)), ((2, 4097), (1,)), ((4100, 3), (0,)), ((3, 9000), (1,)),
    ((2, 2, 65, 130), (2, 3)), ((1, 10), (1,)), ((600, 2), (1,)), ((7, 1), (1,)), ((3, 5), ()),
    ((17, 2, 300), (0, 2)), ((1, 30000), (0, 1)), ((100, 129), (0,)), ((20, 33, 20), (0, 2)),
    ((2, 16, 8, 8), (0, 2, 3)), ((1, 1, 64, 64), (2, 3)), ((33, 1, 70), (2,)), ((2, 3, 4, 5), (1, 3)),
    ((130, 32), (1,)), ((9, 8200), (1,)), ((64, 20), (0,)), ((5, 1000), (1,)), ((40000,), (0,)),
    ((3, 2, 1, 50), (3,)), ((2, 5, 700), (1,)), ((8, 16), (0, 1)), ((4, 3, 31), (2,)),
]  # fmt: skip
"""Sizes, and the axes along which lines are."""
IMAGES = [(1, 3, 5, 7), (2, 4, 8, 8), (1, 2, 64, 65), (2, 1, 1, 40), (3, 5, 2, 2), (1, 1, 100, 90), (2, 3, 33, 1)]


def numbers(most: float, seed: int, sizes: tuple[int, ...], dtype: str) -> Array:
    """Numbers of a normal distribution; sometimes one of them is infinite, or NaN, in a line of its own."""
    x = np.random.default_rng(seed).normal(0, most, sizes).astype(dtype)
    if seed % 3 == 0:
        x.ravel()[0] = (np.inf, -np.inf, np.nan, 0)[seed // 3 % 4]
    return x


def part_of(seed: int, sizes: tuple[int, ...], dtype: str, axes: tuple[int, ...]) -> Array:
    """Positive numbers, one for each line."""
    kept = tuple(1 if d in axes else size for d, size in enumerate(sizes))
    return np.random.default_rng(seed).uniform(0.5, 2, kept).astype(dtype)


def some_of(seed: int, sizes: tuple[int, ...], dtype: str) -> Array:
    """Numbers that are repeated along some axes, of which the seed says which."""
    kept = tuple(1 if seed >> d & 1 else size for d, size in enumerate(sizes))
    return numbers(2, seed | 1, kept, dtype) if seed % 3 else part_of(seed, kept, dtype, ())


def line_of(operator: Operator, number: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Sizes that the operator takes, and its axes."""
    sizes, axes = LINES[number]
    names = {field.python for field in operator.fields}
    if "cross_channel" in names or "local_size" in names:
        image = IMAGES[number % len(IMAGES)]
        return image, (1, 2, 3) if number % 2 else (2, 3)
    if "axis" in names:
        return sizes, axes[:1] or (0,)
    if operator.python.startswith("activation") and "axes" not in names:
        matrix = (1, *sizes)[-2:]
        return matrix, (1,)
    return sizes, axes


def way(operator: Operator, number: int) -> Way:
    sizes, axes = line_of(operator, number)
    given: dict[str, Any] = {}
    names = {field.python for field in operator.fields}
    if "axes" in names:
        given["axes"] = axes
    if "axis" in names:
        given["axis"] = axes[0]
    if "cross_channel" in names:
        given["cross_channel"] = number % 2 == 1
    if "local_size" in names:
        given |= {
            "local_size": (1, 2, 3, 5, 8, 20, 300)[number % 7],
            "alpha": 0.5,
            "beta": (0.75, 1.0, 2.5)[number % 3],
        }
    if "p" in names:
        given["p"] = 1 + number % 2
    if "epsilon" in names:
        given["epsilon"] = 0.125
    for name in ("use_mean", "use_variance", "normalize_variance"):
        if name in names:
            given[name] = number % 5 != len(name) % 5
    name = operator.python
    if name == "dynamic_quantize_linear":
        given["output_dtype"] = ("UINT8", "INT8")[number % 2]

    def others(dtype: str) -> tuple[Any, ...]:
        if name.startswith("mean_variance"):
            return () if number % 4 == 0 else tuple(some_of(number + 5 * place, sizes, dtype) for place in (1, 2))
        if name == "batch_normalization_training":
            parts = (part_of(number, sizes, dtype, axes), part_of(number + 1, sizes, dtype, axes))
            return (*parts, numbers(1, 3 * number + 1, sizes, dtype)) if number % 2 else parts
        if name == "local_response_normalization_grad":
            return (numbers(1, 3 * number + 1, sizes, dtype),)
        if name.startswith("batch"):
            three = (part_of(number + place, sizes, dtype, axes) for place in range(3))
            return (numbers(1, 3 * number + 1, sizes, dtype), *three)
        return ()

    return Way(sizes, given, others=others)


def ways(operator: Operator) -> list[Way]:
    return [way(operator, number) for number in range(len(LINES))]


def kinds(operator: Operator) -> list[Kind]:
    return [partial(numbers, 3.0), partial(numbers, 40.0)]
