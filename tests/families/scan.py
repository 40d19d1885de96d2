"""Properties of scan."""

from __future__ import annotations

from typing import Any

import numpy as np
from checks import assert_same_bits
from strategies import Array

from dmlcy._facts.rows import Operator

from .common import Arrays, Property, run


def exclusive(desc: Any) -> str:
    return str(desc.operator.definition.roles["exclusive"])


def the_other_end_first(desc: Any, arrays: Arrays, result: Array) -> bool:
    other = "INCREASING" if desc.axis_direction.name == "DECREASING" else "DECREASING"
    found = run(desc, {"input": np.flip(arrays["input"], desc.axis)}, axis_direction=other)
    assert_same_bits(np.ascontiguousarray(np.flip(found, desc.axis)), result)
    made: bool = result.shape[desc.axis] > 1
    return made


def another_axis(desc: Any, arrays: Arrays, result: Array) -> bool:
    """The elements of a line are taken in the same order, wherever they are: the bits are the same."""
    x = arrays["input"]
    for axis in range(x.ndim):
        moved = np.ascontiguousarray(np.moveaxis(x, desc.axis, axis))
        assert_same_bits(
            np.ascontiguousarray(np.moveaxis(run(desc, {"input": moved}, axis=axis), axis, desc.axis)), result
        )
    return x.ndim > 1


def what_is_before_an_element(desc: Any, arrays: Arrays, result: Array) -> bool:
    """Without the element itself, a result is the one before it."""
    inclusive, before = (run(desc, arrays, **{exclusive(desc): value}) for value in (False, True))
    late, early = slice(1, None), slice(None, -1)
    if desc.axis_direction.name == "DECREASING":
        late, early = early, late
    at = (slice(None),) * desc.axis
    assert_same_bits(*(np.ascontiguousarray(one) for one in (before[(*at, late)], inclusive[(*at, early)])))
    found: bool = result.shape[desc.axis] > 1
    return found


def in_its_own_place(desc: Any, arrays: Arrays, result: Array) -> bool:
    x = np.array(arrays["input"], order="C")
    assert_same_bits(run(desc, {"input": x}, out=x), result)
    return True


def properties(operator: Operator) -> list[Property]:
    return [the_other_end_first, another_axis, what_is_before_an_element, in_its_own_place]
