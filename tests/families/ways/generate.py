"""The ways of generate."""

from __future__ import annotations

from typing import Any

import numpy as np
from checks import assert_same_bits as same
from strategies import Array, any_bits

from dmlcy._facts.rows import Operator

from . import Kind, Way

__all__ = ["DTYPES", "kinds", "same", "ways"]

DTYPES = ("uint8", "float16", "float32", "int64", "uint32")
SIZES = [(3, 700), (200_000,), (2, 3, 40, 65), (1, 1), (600, 3), (70, 4000)]
MATRICES = [(70, 140), (3, 500), (500, 3), (2, 3, 33, 65), (300, 300), (1, 2, 1, 4000)]
"""Some are of more numbers than are made at once."""
LINES = [((70, 1), 1, 140), ((3, 1, 500), 1, 40), ((1, 300), 0, 70), ((40, 6, 1), 2, 3)]
DRAWN = [(3,), (2, 700), (3, 1, 1025), (1, 4099), (5, 3, 2, 40)]
BANDS = [(0, 1), (-2, 3), (5, -5), (-(2**31), 1), (1, 1)]


def given(operator: Operator, number: int, sizes: tuple[int, ...]) -> dict[str, Any]:
    """The arguments of a call for an output of these sizes."""
    dtype = ("FLOAT32", "UINT8", "FLOAT16", "INT32")[number % 4]
    match operator.python:
        case "fill_value_constant":
            return {"output_sizes": sizes, "value": 7, "output_dtype": dtype}
        case "fill_value_sequence":
            return {"output_sizes": sizes, "value_start": 3, "value_delta": 2, "output_dtype": dtype}
        case _:
            return {"output_sizes": sizes, "offset": number - 2, "value": 2.5, "output_dtype": dtype}


def hot(sizes: tuple[int, ...], axis: int, length: int) -> Way:
    values = [3, 4]
    shape = (*[1] * (len(sizes) - 1), 2)
    output = tuple(length if d == axis else n for d, n in enumerate(sizes))
    return Way(
        sizes, {"axis": axis, "output_sizes": output}, others=lambda dtype: (np.array(values, "f4").reshape(shape),)
    )


def ways(operator: Operator) -> list[Way]:
    match operator.python:
        case "one_hot":
            return [hot(*one) for one in LINES]
        case "random_generator":
            return [
                Way((1,) * (len(sizes) - 1) + (6,), {"output_sizes": sizes, "output_state": "UINT32"})
                for sizes in DRAWN
            ]
        case "diagonal_matrix1":
            bands = [BANDS[number % len(BANDS)] for number in range(len(MATRICES))]
            return [
                Way(sizes, {"output_sizes": sizes, "value": 7, "diagonal_fill_begin": begin, "diagonal_fill_end": end})
                for sizes, (begin, end) in zip(MATRICES, bands, strict=True)
            ]
        case "diagonal_matrix":
            return [Way(sizes, given(operator, number, sizes)) for number, sizes in enumerate(MATRICES)]
        case _:
            return [Way(sizes, given(operator, number, sizes)) for number, sizes in enumerate(SIZES)]


def numbers(seed: int, sizes: tuple[int, ...], dtype: str) -> Array:
    """Some indices are in no line."""
    return np.random.default_rng(seed).integers(0, 150, sizes).astype(dtype)


def kinds(operator: Operator) -> list[Kind]:
    return [numbers if operator.python == "one_hot" else any_bits]
