"""Properties of views."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from checks import assert_same_bits
from strategies import Array

import dmlcy as dml
from dmlcy._facts.rows import Operator

from .common import Arrays, Property, attributes_of, contiguous, run, several

NEVER_LARGEST = ("offsets", "input_window_offsets")  # an offset is less than a size


def parts_of(whole: Array, axis: int, lengths: Sequence[int]) -> list[Array]:
    """The whole, cut along an axis."""
    return [contiguous(part) for part in np.split(whole, np.cumsum(lengths)[:-1], axis)]


def the_parts_are_the_inputs(desc: Any, arrays: Any, result: Array) -> bool:
    given = arrays["inputs"]
    lengths = [one.shape[desc.axis] for one in given]
    for one, part in zip(given, parts_of(result, desc.axis, lengths), strict=True):
        assert_same_bits(part, contiguous(one))
    return len(given) > 1


def joining_some_first(desc: Any, arrays: Any, result: Array) -> bool:
    given = arrays["inputs"]
    first = dml.join(given[:-1], axis=desc.axis) if len(given) > 1 else given[0]
    assert_same_bits(dml.join((first, *given[1:][-1:]), axis=desc.axis), result)
    return len(given) > 2


def joining_gives_the_input(desc: Any, arrays: Arrays, result: Any) -> bool:
    assert_same_bits(dml.join(several(result), axis=desc.axis), contiguous(arrays["input"]))
    return len(several(result)) > 1


def each_copy_is_the_input(desc: Any, arrays: Arrays, result: Array) -> bool:
    x = arrays["input"]
    for place in np.ndindex(*desc.repeats):
        at = tuple(np.s_[k * n : (k + 1) * n] for k, n in zip(place, x.shape, strict=True))
        assert_same_bits(contiguous(result[at]), contiguous(x))
    return result.size > x.size


def another_axis_order(desc: Any, arrays: Arrays, result: Array) -> bool:
    x = next(iter(arrays.values()))
    turned = {name: tuple(value)[::-1] for name, value in attributes_of(desc).items() if isinstance(value, tuple)}
    found = run(desc, {name: x.T for name in arrays}, **turned)
    assert_same_bits(found, contiguous(result.T))
    return x.ndim > 1


def a_mirrored_window_of_a_mirrored_input(desc: Any, arrays: Arrays, result: Array) -> bool:
    """A step that is the least number has no opposite."""
    if min(desc.input_window_strides) == -(2**31):
        return False
    sizes = arrays["input"].shape
    ends = zip(sizes, desc.input_window_offsets, desc.input_window_sizes, strict=True)
    mirrored = {
        "input_window_offsets": [size - first - length for size, first, length in ends],
        "input_window_strides": [-step for step in desc.input_window_strides],
        "output_sizes": result.shape,
    }
    assert_same_bits(run(desc, {"input": np.flip(arrays["input"])}, **mirrored), result)
    return any(step < 0 for step in desc.input_window_strides)


def the_slice_is_the_input(desc: Any, arrays: Arrays, result: Array) -> bool:
    """And nothing else was written."""
    x = contiguous(arrays["input_gradient"])
    given = attributes_of(desc)
    del given["output_sizes"]
    assert_same_bits(dml.slice1(result, output_sizes=x.shape, **given), x)
    bits = f"u{x.itemsize}"
    assert np.count_nonzero(result.view(bits)) == np.count_nonzero(x.view(bits))
    found: bool = result.size > x.size
    return found


PROPERTIES: dict[str, list[Property]] = {
    "join": [the_parts_are_the_inputs, joining_some_first],
    "split": [joining_gives_the_input],
    "tile": [each_copy_is_the_input, another_axis_order],
    "slice": [another_axis_order],
    "slice1": [another_axis_order, a_mirrored_window_of_a_mirrored_input],
    "slice_grad": [another_axis_order, the_slice_is_the_input],
}


def properties(operator: Operator) -> list[Property]:
    return PROPERTIES[operator.python]
