"""Properties of reduce."""

from __future__ import annotations

from typing import Any

import numpy as np
from checks import assert_same_bits, assert_same_values
from strategies import Array

from dmlcy._facts.rows import Operator

from .common import Arrays, Property, run, whole


def more_axes_of_one_element(desc: Any, arrays: Arrays, result: Array) -> bool:
    """Axes of one element change no bit, wherever they are: the order in memory stays."""
    x = arrays["input"]
    if x.ndim > 6:
        return False
    found = run(desc, {"input": x[None, ..., None]}, axes=tuple(axis + 1 for axis in desc.axes))
    assert_same_bits(found.reshape(result.shape), result)
    return True


def kept_axes_in_another_order(desc: Any, arrays: Arrays, result: Array) -> bool:
    """If the last axis is as before, the bits of all results are."""
    x = arrays["input"]
    order = [*range(x.ndim - 1)][::-1]
    kept = [d for d in order if d not in desc.axes]
    places = iter(kept)
    order = [*(d if d in desc.axes else next(places) for d in range(x.ndim - 1)), x.ndim - 1]
    found = run(desc, {"input": x.transpose(order)})
    assert_same_bits(np.ascontiguousarray(found), np.ascontiguousarray(result.transpose(order)))
    return len(kept) > 1


def lines_one_by_one(desc: Any, arrays: Arrays, result: Array) -> bool:
    """The results of a part of the positions along an axis that is kept."""
    x = arrays["input"]
    kept = [d for d in range(x.ndim - 1) if d not in desc.axes and x.shape[d] > 1]
    for axis in kept[:1]:
        for part in (slice(0, 1), slice(1, None)):
            at = (slice(None),) * axis + (part,)
            assert_same_values(run(desc, {"input": x[at]}), np.ascontiguousarray(result[at]))
    return bool(kept)


def whole_numbers_in_any_order(desc: Any, arrays: Arrays, result: Array) -> bool:
    """Small whole numbers have the same sum, maximum and so on in any order; a place says where an element is."""
    x = whole(desc, arrays)["input"]
    first = run(desc, {"input": x})
    if not desc.axes:
        return False
    axis = desc.axes[0]
    found = run(desc, {"input": np.flip(x, axis)})
    if getattr(getattr(desc, "function", None), "name", desc.operator.name).startswith("ARG"):
        if len(desc.axes) > 1:
            return False
        for one, array in ((first, x), (found, np.flip(x, axis))):
            taken = np.take_along_axis(array, one.astype(np.intp), axis)
            greatest = "MAX" in getattr(getattr(desc, "function", None), "name", desc.operator.name)
            assert_same_values(taken, array.max(axis, keepdims=True) if greatest else array.min(axis, keepdims=True))
    else:
        np.testing.assert_allclose(found, first, 1e-2 if x.dtype.itemsize == 2 else 1e-5, 1e-3)
    made: bool = x.shape[axis] > 1
    return made


def properties(operator: Operator) -> list[Property]:
    return [more_axes_of_one_element, kept_axes_in_another_order, lines_one_by_one, whole_numbers_in_any_order]
