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

DTYPES = ("float32", "float16", "uint8", "int8", "uint16", "int32")
Sizes = tuple[int, ...]

PRODUCTS: list[tuple[int, int, int]] = [
    (4, 4, 4), (1, 700, 300), (3, 40, 70), (13, 300, 33), (12, 5, 32), (25, 256, 100), (2, 600, 200), (400, 70, 30),
    (5, 1, 2000), (6, 64, 10), (8, 64, 8), (63, 80, 1), (1, 64, 64), (7, 63, 9), (1, 300, 1), (30, 257, 17),
    (7, 20, 40), (1, 70, 200), (3, 85, 75), (8, 300, 40), (1, 60, 600), (1, 90, 500), (1, 290, 70), (5, 60, 37),
    (12, 20, 20), (2, 40, 90), (60, 20, 300), (1, 530, 130), (1, 4, 64), (4, 33, 18), (1, 77, 45),
]  # fmt: skip
"""M, K and N. Products of M * N < 64 and K of at least 64 are sums of several chains. Every third one is a batch of two
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
    ((1, 160, 6, 48), 40, (3, 3), {"start_padding": 1, "end_padding": 1}),
    ((1, 4, 9, 112), 35, (3, 3), {"start_padding": 1, "end_padding": 1}),
    ((2, 5, 21, 70), 23, (3, 5), {"strides": 2, "start_padding": (1, 2), "end_padding": 1}),
    ((2, 12, 14, 7), 12, (5, 5), {"group_count": 12, "start_padding": 2, "end_padding": 2}),
    ((2, 8, 9, 7), 3, (3, 2), {"direction": "BACKWARD", "strides": (2, 3), "start_padding": 1}),
    ((1, 6, 6, 8), 2, (2, 3), {"direction": "BACKWARD", "strides": 4, "dilations": (6, 1), "group_count": 3}),
    ((2, 30, 12, 10), 20, (4, 4), {"direction": "BACKWARD", "strides": 2, "start_padding": 1, "end_padding": 1}),
    ((1, 9, 3, 150), 3, (3, 4), {"direction": "BACKWARD", "strides": 2, "start_padding": 1, "end_padding": (1, 2)}),
    ((1, 700, 3, 4), 110, (3, 4), {"direction": "BACKWARD", "strides": (1, 2), "start_padding": 1}),
    ((1, 7, 2, 3, 70), 5, (2, 3, 3), {"direction": "BACKWARD", "strides": (2, 2, 3), "output_padding": (1, 0, 2)}),
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


WHOLE: list[tuple[int, int, int]] = [
    (13, 70, 33), (3, 5, 130), (200, 70, 65), (12, 1030, 64), (1, 700, 70), (2, 33000, 5), (7, 63, 40), (25, 8, 1),
    (5, 1, 200), (24, 256, 128), (4, 40, 9), (1, 130, 20),
]  # fmt: skip
"""M, K and N of products of integers. Sums of more than 32768 products may have more than 32 bits."""
SIGNS = ("uint8", "int8")


def lines(seed: int, turn: int, dtype: str, *sizes: int) -> Array | None:
    """A zero point: none, one for all, or one for each row, column or channel."""
    return None if turn == 0 else any_bits(seed, (1,) * len(sizes) if turn == 1 else sizes, dtype)


def scales(seed: int, turn: int, dtype: str, *sizes: int) -> Array:
    numbers = np.random.default_rng(seed).uniform(-2, 2, (1,) * len(sizes) if turn < 2 else sizes)
    return numbers.astype(dtype)


def whole_matrices(name: str) -> list[Way]:
    found = []
    for number, (rows, depth, columns) in enumerate(WHOLE):
        batch = (2,) if number % 4 == 0 else ()

        def others(
            dtype: str, number: int = number, batch: Sizes = batch, at: tuple[int, int, int] = (rows, depth, columns)
        ) -> Any:
            rows, depth, columns = at
            one = (1,) * len(batch)
            right = dtype if "float" in name else SIGNS[(number + (dtype == "int8")) % 3 % 2]
            up, along = (*one, rows, 1), (*one, 1, columns)
            b = any_bits(number + 1, (*batch, depth, columns), right)
            b = np.asfortranarray(b) if number % 3 == 1 else b
            zeros = lines(number + 2, number % 3, dtype, *up), lines(number + 3, (number + 1) % 3, right, *along)
            if name == "matrix_multiply_integer":
                return (zeros[0], b, zeros[1])
            kind = "float16" if name.endswith("float") and number % 3 == 2 else "float32"
            first, second = scales(number, number % 3, kind, *up), scales(number + 1, number // 2 % 3, kind, *along)
            if name.endswith("float"):
                bias = scales(number + 2, 2, kind, *batch, rows, columns) if number % 2 else None
                return (first, zeros[0], b, second, zeros[1], bias)
            third = scales(number + 4, number // 3 % 3, kind, *up) * np.float32(1e4)
            return (first, zeros[0], b, second, zeros[1], third, lines(number + 5, 1 + number % 2, dtype, *up))

        found.append(Way((*batch, rows, depth), {}, others=others))
    return found


WHOLE_WINDOWS: list[tuple[Sizes, int, Sizes, dict[str, Any]]] = [
    ((2, 6, 10, 11), 5, (1, 1), {"strides": 2}),
    ((2, 20, 14, 14), 30, (3, 3), {"start_padding": 1, "end_padding": 1}),
    ((1, 3, 41, 39), 14, (7, 7), {"strides": 2, "start_padding": 3, "end_padding": 3}),
    ((1, 4, 9, 9), 270, (1, 1), {}),
    ((2, 12, 20, 30), 12, (3, 3), {"group_count": 12, "start_padding": 1, "end_padding": 1}),
    ((1, 12, 9, 33), 24, (3, 3), {"group_count": 2, "start_padding": 1, "end_padding": 1}),
    ((1, 4, 30, 40), 6, (3, 3), {"dilations": 3, "start_padding": 3, "end_padding": 2}),
    ((2, 5, 300), 8, (9,), {"strides": 3, "start_padding": 4, "end_padding": 40}),
    ((1, 3, 2500), 4, (5,), {"strides": 2}),
    ((1, 3, 5, 6), 4, (2, 2), {"dilations": (2**21, 3), "start_padding": (2**21, 1), "strides": (1, 2)}),
    ((1, 9, 3, 300), 40, (2, 40), {"start_padding": 20, "end_padding": 30}),
    ((1, 33000, 1, 3), 3, (1, 1), {"strides": 6}),
    ((1, 4, 12, 90), 5, (2, 5), {"strides": (1, 5), "end_padding": (0, 7)}),
]


def whole_windows(name: str) -> list[Way]:
    found = []
    for number, (sizes, outputs, taps, given) in enumerate(WHOLE_WINDOWS):
        filters = (outputs, sizes[1] // given.get("group_count", 1), *taps)

        def others(dtype: str, filters: Sizes = filters, number: int = number) -> Any:
            one, each = (1,) * len(filters), (1, filters[0], *(1,) * (len(filters) - 2))
            right = SIGNS[(number + (dtype == "int8")) % 3 % 2]
            w = any_bits(number + 1, filters, right)
            w = np.asfortranarray(w) if number % 4 == 3 else w
            zeros = lines(number + 2, number % 3, dtype, *one), lines(number + 3, (number + 1) % 3, right, *each)
            if len(filters) == 3 and zeros[1] is not None:  # of rank 4, or one element
                zeros = zeros[0], zeros[1][:, :1]
            if name == "convolution_integer":
                return (zeros[0], w, zeros[1])
            bias = small_integers(number + 4, each, "int32", 2**31 - 1) if number % 2 else None
            first, third = scales(number, 0, "float32", *one), scales(number + 1, 0, "float32", *one) * np.float32(1e4)
            second = scales(number + 2, 0 if len(filters) == 3 else number % 3, "float32", *each)
            return (first, zeros[0], w, second, zeros[1], bias, third, lines(number + 5, 1, dtype, *one))

        found.append(Way(sizes, given, others=others))
    return found


WAYS: dict[str, Callable[[str], list[Way]]] = {
    "gemm": lambda name: matrices(), "convolution": lambda name: windows(),
    "matrix_multiply_integer": whole_matrices, "matrix_multiply_integer_to_float": whole_matrices,
    "quantized_linear_matrix_multiply": whole_matrices,
    "convolution_integer": whole_windows, "quantized_linear_convolution": whole_windows,
}  # fmt: skip


def ways(operator: Operator) -> list[Way]:
    return WAYS[operator.python](operator.python)


def few(seed: int, sizes: Sizes, dtype: Any) -> Array:
    """Whole numbers whose sums are exact."""
    return small_integers(seed, sizes, dtype, 9)


def kinds(operator: Operator) -> list[Kind]:
    return [few, any_bits, few]
