"""Properties of rearrange."""

from __future__ import annotations

from typing import Any

import numpy as np
from checks import assert_same_bits
from reference.rearrange import depth_to_space, space_to_depth
from strategies import Array

from dmlcy._facts.rows import Operator

from .common import Arrays, Property, a_batch_is_its_items, other_bits_are_moved_alike, run

NEVER_LARGEST = ("block_size",)  # its square divides the channels


def inverse(desc: Any, y: Array) -> Array:
    """Space to depth of a result of depth to space, or the other way round, by NumPy."""
    order = desc.order.name if hasattr(desc, "order") else "DEPTH_COLUMN_ROW"
    back = space_to_depth if desc.output.sizes[2] >= desc.input.sizes[2] else depth_to_space
    return back(y, block_size=desc.block_size, order=order)


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
