"""The ways of window_scatter. The sizes of a window's case are those of the output."""

from __future__ import annotations

import math

from checks import assert_same_bits as same
from reference.windows import positions
from strategies import Array, Windows, any_bits, small_integers

from dmlcy._facts.rows import Operator

from . import Kind, Way
from .window_gather import image

__all__ = ["DTYPES", "columns", "kinds", "same", "ways"]

DTYPES = ("uint8", "int16", "float16", "float32", "float64")
WINDOWS = {
    "long lines": image((1, 2, 3, 3000), 3, padding=1),
    "short lines": image((2, 5, 9, 7), 3, padding=1),
    "no padding": image((2, 3, 40, 43), 3),
    "many windows over an element": image((1, 2, 30, 70), 7, padding=3),
    "dilated": image((1, 5, 33, 37), 3, dilation=2, padding=2),
    "dilated by the stride": image((1, 5, 33, 37), 3, stride=2, dilation=2, padding=2),
    "overlapping strides": image((2, 5, 33, 35), 3, stride=2, padding=1),
    "overlapping patches": image((1, 2, 64, 70), 16, stride=8),
    "side by side 2": image((2, 5, 64, 70), 2, stride=2),
    "side by side 3": image((2, 4, 48, 53), 3, stride=3),
    "side by side 4": image((2, 3, 64, 68), 4, stride=4),
    "patches 16": image((2, 3, 64, 16 * 18), 16, stride=16),
    "patches with padding": image((1, 2, 60, 100), 8, stride=8, padding=3),
    "patches apart": image((1, 2, 61, 103), 5, stride=7, padding=3),
    "patches of more than a line is woven of": image((1, 2, 140, 210), 70, stride=70),
    "strides beyond the image": image((1, 2, 20, 20), 17, stride=100, padding=1),
    "padding only at most places": image((1, 2, 3, 2), 2, padding=9),
    "a window of many taps": Windows((1, 2, 4, 300), (2, 70), (1, 1), (1, 1), (0, 69), (1, 69)),
    "one axis": image((2, 3, 1000), 3, padding=1),
    "one axis, strided": image((2, 3, 5001), 5, stride=3, padding=2),
    "one axis, wider than a slab": image((1, 1, 9001), 3, padding=1),
    "one axis, woven of several slabs": image((1, 2, 9001), 5, stride=3, padding=2),
    "strides longer than a slab": image((1, 1, 15002), 5003, stride=4999),
    "strides and dilations longer than a slab": image((1, 1, 15002), 3, stride=4999, dilation=5001),
    "rows of several slabs": image((1, 1, 90, 300), 3, padding=1),
    "rows apart by more than a slab": image((1, 1, 60, 900), 9, stride=7, padding=2),
    "side by side in several slabs": image((1, 1, 700, 130), 2, stride=2),
    "side by side along a row": Windows((1, 2, 21, 24), (2, 3), (3, 3), (2, 1), (1, 0), (2, 0)),
    "one column": Windows((1, 2, 5000, 1), (3, 1), (1, 1), (1, 1), (1, 0), (1, 0)),
    "one row of one plane": Windows((2, 3, 1, 1, 50), (1, 1, 4), (3, 2, 2), (2, 1, 1), (0, 0, 1), (0, 1, 0)),
    "a column in padding": Windows((1, 2, 30, 1), (3, 1), (2, 2), (1, 1), (0, 2), (0, 1)),
    "one element": Windows((2, 3, 1, 1), (1, 1), (2, 3), (1, 1), (0, 0), (0, 0)),
    "volumes": image((1, 4, 9, 10, 11), 3, padding=1),
    "volumes side by side": image((1, 2, 8, 8, 40), 2, stride=2),
    "many channels": image((1, 70, 40, 44), 3, padding=1),
    "many channels side by side": image((2, 90, 64, 68), 2, stride=2),
    "more rows of blocks than are transposed": image((1, 2, 120, 60), 5, dilation=2, padding=4),
    "rows that no window reaches": Windows((1, 3, 90, 40), (2, 3), (40, 1), (1, 1), (0, 1), (9, 1)),
}


def columns(case: Windows) -> tuple[int, ...]:
    """Sizes of the input whose output has the sizes of the case."""
    blocks = positions(case.sizes[2:], case.window, case.strides, case.dilations, case.start, case.end)
    return case.sizes[0], case.sizes[1] * math.prod(case.window), math.prod(blocks)


def ways(operator: Operator) -> list[Way]:
    return [Way(columns(case), {"output_sizes": case.sizes[2:], **case.unfold}) for case in WINDOWS.values()]


def exact(seed: int, sizes: tuple[int, ...], dtype: str) -> Array:
    """Whole numbers, whose sums are exact; integers wrap around."""
    return small_integers(seed, sizes, dtype) if dtype[0] == "f" else any_bits(seed, sizes, dtype)


def kinds(operator: Operator) -> list[Kind]:
    return [exact]
