"""The ways of contract: strips of each width, one row and many, blocks of k, small products, each kind of place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from checks import assert_same_values as same
from strategies import Array, any_bits, small_integers

from dmlcy._facts.rows import Operator

from . import Kind, Way

__all__ = ["DTYPES", "kinds", "same", "ways"]

DTYPES = ("float32", "float16")
Sizes = tuple[int, ...]

PRODUCTS: list[tuple[int, int, int]] = [
    (4, 4, 4), (1, 700, 300), (3, 40, 70), (13, 300, 33), (12, 5, 32), (25, 256, 100), (2, 600, 200), (400, 70, 30),
    (5, 1, 2000), (6, 64, 10), (8, 64, 8), (63, 80, 1), (1, 64, 64), (7, 63, 9), (1, 300, 1), (30, 257, 17),
    (7, 20, 40), (1, 70, 200), (3, 85, 75), (8, 300, 40), (1, 60, 600), (1, 90, 500), (1, 290, 70), (5, 60, 37),
    (12, 20, 20), (2, 40, 90), (60, 20, 300), (1, 530, 130), (1, 4, 64), (4, 33, 18), (1, 77, 45),
]  # fmt: skip
"""M, K and N. Those of M * N < 64 and K of at least 64 are sums of several chains. Every third one is a batch of two
products, whose sums are the elements of the output. Columns lie along k in two of four, and are turned for few rows."""


def matrices() -> list[Way]:
    found = []
    for number, (rows, depth, columns) in enumerate(PRODUCTS):
        batch = (2,) if number % 3 == 0 else ()
        given: dict[str, Any] = {}
        left: Sizes = (*batch, rows, depth)
        right: Sizes = (*batch, depth, columns)
        summand: Sizes = (*batch, rows, columns)
        if number % 2:
            given["trans_a"], left = "TRANSPOSE", (*batch, depth, rows)
        if number // 2 % 2:
            given["trans_b"], right = "TRANSPOSE", (*batch, columns, depth)
        if number % 5 == 1:
            given |= {"alpha": 0.5, "beta": -2.0}

        def others(dtype: str, right: Sizes = right, number: int = number, summand: Sizes = summand) -> Any:
            # Some arrays as Fortran has them, and a summand that is one row for all.
            second = small_integers(number + 1, right, dtype, 9)
            second = np.asfortranarray(second) if number % 4 == 3 else second
            if number % 3 == 0:
                return (second, None)
            third = small_integers(number + 2, summand, dtype, 9)
            return (second, np.broadcast_to(third[..., :1, :], summand) if number % 3 == 1 else third)

        found.append(Way(left, given, others=others))
    return found


WINDOWS: list[tuple[Sizes, int, Sizes, dict[str, Any]]] = [
    ((2, 1, 10, 11), 5, (1, 1), {"strides": 2}),
    ((2, 20, 14, 14), 30, (3, 3), {"start_padding": 1, "end_padding": 1}),
    ((1, 3, 41, 39), 20, (7, 7), {"strides": 2, "start_padding": 3, "end_padding": 3}),
    ((5, 12, 7, 7), 26, (3, 3), {"start_padding": 1, "end_padding": 1}),
    ((3, 40, 9, 9), 13, (1, 1), {}),
    ((2, 17, 10, 11), 5, (1, 1), {"strides": 2}),
    ((2, 12, 20, 50), 12, (3, 3), {"group_count": 12, "start_padding": 1, "end_padding": 1}),
    ((2, 12, 21, 40), 12, (5, 5), {"group_count": 12, "strides": 2, "start_padding": 2, "end_padding": 2}),
    ((1, 12, 9, 33), 24, (3, 3), {"group_count": 6, "start_padding": 1, "end_padding": 1}),
    ((1, 4, 30, 40), 6, (3, 3), {"dilations": 3, "start_padding": 3, "end_padding": 2, "mode": "CONVOLUTION"}),
    ((1, 6, 6, 7, 8), 9, (3, 2, 3), {"start_padding": 1, "end_padding": 1}),
    ((2, 5, 300), 8, (9,), {"strides": 3, "start_padding": 4, "end_padding": 40}),
    ((3, 70, 4, 4), 3, (1, 1), {}),
    ((3, 8, 5, 5), 2, (3, 3), {"start_padding": 1, "end_padding": 1}),
    ((2, 30, 8, 9), 4, (2, 3), {"output_padding": (2, 3)}),
    ((1, 3, 5, 5), 4, (3, 3), {"start_padding": 6, "end_padding": 9}),
    ((1, 9, 3, 300), 70, (2, 40), {"start_padding": 20, "end_padding": 30}),
    ((1, 30, 9, 64), 29, (3, 3), {"start_padding": 1, "end_padding": 1}),
    ((2, 5, 21, 70), 23, (3, 5), {"strides": 2, "start_padding": (1, 2), "end_padding": 1}),
    ((2, 12, 14, 7), 12, (5, 5), {"group_count": 12, "start_padding": 2, "end_padding": 2}),
    ((2, 8, 9, 7), 3, (3, 2), {"direction": "BACKWARD", "strides": (2, 3), "start_padding": 1}),
    ((1, 6, 6, 8), 2, (2, 3), {"direction": "BACKWARD", "strides": 4, "dilations": (6, 1), "group_count": 3}),
    ((2, 30, 12, 10), 20, (4, 4), {"direction": "BACKWARD", "strides": 2, "start_padding": 1, "end_padding": 1}),
]
"""Sizes of the input, output channels, taps, and attributes."""


def windows() -> list[Way]:
    found = []
    for number, (sizes, outputs, taps, given) in enumerate(WINDOWS):
        groups = given.get("group_count", 1)
        backward = "direction" in given
        filters = (sizes[1], outputs, *taps) if backward else (outputs, sizes[1] // groups, *taps)
        biases = (1, outputs * groups if backward else outputs, *(1,) * len(taps))

        def others(dtype: str, filters: Sizes = filters, biases: Sizes = biases, number: int = number) -> Any:
            second = small_integers(number + 1, filters, dtype, 9)
            second = np.asfortranarray(second) if number % 4 == 3 else second
            return (second, None if number % 3 == 0 else small_integers(number + 2, biases, dtype, 9))

        found.append(Way(sizes, given, others=others))
    return found


WAYS: dict[str, Callable[[], list[Way]]] = {"gemm": matrices, "convolution": windows}


def ways(operator: Operator) -> list[Way]:
    return WAYS[operator.python]()


def few(seed: int, sizes: Sizes, dtype: Any) -> Array:
    """Whole numbers whose sums are exact."""
    return small_integers(seed, sizes, dtype, 9)


def kinds(operator: Operator) -> list[Kind]:
    return [few, any_bits, few]
