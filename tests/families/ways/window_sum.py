"""The ways of window_sum: windows that overlap a little, much or not at all, rows, bands and volumes."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from checks import assert_same_values as same
from reference.windows import positions
from strategies import Array, Windows, any_bits, small_integers

from dmlcy._facts.rows import Operator

from . import Kind, Way
from .window_gather import image

__all__ = ["DTYPES", "kinds", "same", "ways"]

DTYPES = ("float32", "float16", "uint8", "int8")
WINDOWS = {
    "small": image((2, 3, 20, 23), 3, padding=1),
    "steps": image((2, 3, 21, 34), 3, stride=2, padding=1),
    "side by side": image((1, 5, 24, 40), 2, stride=2),
    "side by side, and some behind": image((2, 3, 9, 77), 2, stride=2),
    "apart": image((1, 2, 23, 31), 2, stride=3, padding=1),
    "large": image((1, 2, 40, 45), 9, padding=4),
    "larger than the image": image((1, 2, 9, 8), 20, padding=15),
    "large steps": image((1, 2, 60, 61), 13, stride=2, padding=3),
    "steps of three": image((1, 2, 50, 47), 11, stride=3, padding=2),
    "one column": Windows((1, 2, 300, 1), (7, 1), (1, 1), (1, 1), (3, 0), (3, 0)),
    "one row": Windows((1, 2, 1, 500), (1, 16), (1, 1), (1, 1), (0, 8), (0, 7)),
    "padding only at most places": image((1, 2, 3, 2), 2, padding=9),
    "a window of the whole image": Windows((2, 3, 14, 15), (14, 15), (1, 1), (1, 1), (0, 0), (0, 0)),
    "volumes": image((1, 2, 7, 8, 9), 3, padding=1),
    "volumes in steps": image((1, 2, 9, 10, 11), 3, stride=2, padding=1),
    "volumes side by side": image((1, 2, 6, 6, 10), 2, stride=2),
    "large windows of volumes": image((1, 1, 12, 11, 13), 6, padding=3),
    "long rows": image((1, 1, 12, 700), 5, padding=2),
    "many rows": image((1, 1, 700, 40), 8),
    "dilated": image((1, 2, 23, 27), 3, dilation=2, padding=2),
    "dilated by the stride": image((1, 2, 33, 37), 4, stride=2, dilation=2, padding=2),
    "much dilated": image((1, 2, 33, 37), 12, dilation=3, padding=6),
}


def way(operator: Operator, case: Windows, counted: bool) -> Way:
    """The window of a case, with what the operator has beside it."""
    dilated = "dilations" in {field.python for field in operator.fields}
    own = case if dilated else replace(case, dilations=(1,) * len(case.window))
    counts = positions(own.sizes[2:], own.window, own.strides, own.dilations, own.start, own.end)
    blocks = (*own.sizes[:2], *counts)
    given: dict[str, Any] = dict(own.pooling) | ({"dilations": own.dilations} if dilated else {})
    if operator.python == "max_pooling_grad":
        return Way(own.sizes, given, others=lambda dtype: (small_integers(1, blocks, dtype),))
    given["include_padding"] = counted
    if operator.python == "average_pooling_grad":
        return Way(blocks, given | {"output_sizes": own.sizes[2:]})
    return Way(own.sizes, given, others=partial(quantized, own.sizes[1], len(own.sizes)))


def ways(operator: Operator) -> list[Way]:
    return [way(operator, case, number % 3 == 0) for number, case in enumerate(WINDOWS.values())]


def quantized(channels: int, rank: int, dtype: str) -> tuple[Array, ...]:
    """Scales and zero points: one for all channels, or one for each."""
    each = (1, channels, *[1] * (rank - 2))
    scale = np.linspace(0.25, 1.5, channels, dtype=np.float32).reshape(each)
    zeros = (np.arange(channels) + (-100 if dtype == "int8" else 3)).astype(dtype).reshape(each)
    one = (1,) * rank
    return scale, np.full(one, 7, dtype), np.full(one, 0.375, np.float32), zeros


def numbers(seed: int, sizes: tuple[int, ...], dtype: str) -> Array:
    return small_integers(seed, sizes, dtype) if dtype[0] == "f" else any_bits(seed, sizes, dtype)


def kinds(operator: Operator) -> list[Kind]:
    return [numbers]
