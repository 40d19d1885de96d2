"""Properties of rearrange."""

from __future__ import annotations

from typing import Any

import numpy as np
from checks import assert_same_bits
from strategies import Array

from dmlcy._facts.rows import Operator

from .common import Arrays, Property, a_batch_is_its_items, other_bits_are_moved_alike, run

NEVER_LARGEST = ("block_size",)  # its square divides the channels


def in_numpy_to_space(x: Array, b: int, order: str) -> Array:
    n, channels, height, width = x.shape
    c = channels // b**2
    parts, axes = {
        "DEPTH_COLUMN_ROW": ((n, b, b, c, height, width), (0, 3, 4, 1, 5, 2)),
        "COLUMN_ROW_DEPTH": ((n, c, b, b, height, width), (0, 1, 4, 2, 5, 3)),
    }[order]
    return x.reshape(parts).transpose(axes).reshape(n, c, height * b, width * b)


def in_numpy_to_depth(x: Array, b: int, order: str) -> Array:
    n, c, height, width = x.shape
    parts = (n, c, height // b, b, width // b, b)
    axes = {"DEPTH_COLUMN_ROW": (0, 3, 5, 1, 2, 4), "COLUMN_ROW_DEPTH": (0, 1, 3, 5, 2, 4)}[order]
    return x.reshape(parts).transpose(axes).reshape(n, c * b * b, height // b, width // b)


def inverse(desc: Any, y: Array) -> Array:
    """Space to depth of a result of depth to space, or the other way round, by NumPy."""
    order = desc.order.name if hasattr(desc, "order") else "DEPTH_COLUMN_ROW"
    back = in_numpy_to_depth if desc.output.sizes[2] >= desc.input.sizes[2] else in_numpy_to_space
    return back(y, desc.block_size, order)


def the_inverse_in_numpy_gives_the_input(desc: Any, arrays: Arrays, result: Array) -> bool:
    assert_same_bits(np.ascontiguousarray(inverse(desc, result)), np.array(arrays["input"], order="C"))
    return bool(desc.block_size > 1)


def the_operator_undoes_its_inverse(desc: Any, arrays: Arrays, result: Array) -> bool:
    """Of any tensor of the sizes of the result."""
    other = result[..., ::-1]
    assert_same_bits(run(desc, {"input": inverse(desc, other)}), np.ascontiguousarray(other))
    return bool(desc.block_size > 1)


def properties(operator: Operator) -> list[Property]:
    return [
        a_batch_is_its_items, other_bits_are_moved_alike, the_inverse_in_numpy_gives_the_input,
        the_operator_undoes_its_inverse,
    ]  # fmt: skip
