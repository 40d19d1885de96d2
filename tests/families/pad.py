"""Properties of pad."""

from __future__ import annotations

from typing import Any

import numpy as np
from checks import assert_same_bits
from strategies import Array

from dmlcy._facts.rows import Operator

from .common import Arrays, Property, run

NEVER_LARGEST = ("start_padding", "end_padding")  # an output holds the padding beside the input


def cropping_gives_the_input(desc: Any, arrays: Arrays, result: Array) -> bool:
    x = arrays["input"]
    inside = tuple(slice(start, start + n) for start, n in zip(desc.start_padding, x.shape, strict=True))
    assert_same_bits(np.ascontiguousarray(result[inside]), np.array(x, order="C"))
    return result.size > x.size


def padding_a_flip_is_a_flip(desc: Any, arrays: Arrays, result: Array) -> bool:
    turned = {"start_padding": desc.end_padding, "end_padding": desc.start_padding}
    assert_same_bits(run(desc, {"input": np.flip(arrays["input"])}, **turned), np.ascontiguousarray(np.flip(result)))
    return True


def padding_in_two_steps(desc: Any, arrays: Arrays, result: Array) -> bool:
    """Where the mode reads nothing but the edge, or nothing at all."""
    if desc.padding_mode.name not in ("CONSTANT", "EDGE"):
        return False
    first = run(desc, arrays, end_padding=0)
    assert_same_bits(run(desc, {"input": first}, start_padding=0), result)
    return result.size > arrays["input"].size


def padding_another_axis_order(desc: Any, arrays: Arrays, result: Array) -> bool:
    turned = {"start_padding": desc.start_padding[::-1], "end_padding": desc.end_padding[::-1]}
    assert_same_bits(run(desc, {"input": arrays["input"].T}, **turned), np.ascontiguousarray(result.T))
    return arrays["input"].ndim > 1


def properties(operator: Operator) -> list[Property]:
    return [cropping_gives_the_input, padding_a_flip_is_a_flip, padding_in_two_steps, padding_another_axis_order]
