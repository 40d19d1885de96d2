"""Properties of normalize."""

from __future__ import annotations

from typing import Any

import numpy as np
from checks import assert_same_values
from strategies import Array

from dmlcy._facts.rows import Operator

from .common import Arrays, Property, run, several

FOLDED = ("scale", "mean")
"""Inputs that have the size 1 along the axes of a line."""


def axes_of(desc: Any) -> tuple[int, ...]:
    """The axes along which a line is."""
    rank = len(desc.input.sizes)
    if hasattr(desc, "local_size"):
        return (1,) if desc.cross_channel else (2, 3)
    if hasattr(desc, "axes"):
        return tuple(desc.axes)
    if hasattr(desc, "axis"):
        return (desc.axis,)
    if hasattr(desc, "cross_channel"):
        return (1, 2, 3) if desc.cross_channel else (2, 3)
    name = desc.operator.python
    if name.startswith("batch"):
        part = getattr(desc, next(one for one in reversed(FOLDED) if hasattr(desc, one))).sizes
        return tuple(d for d, size in enumerate(part) if size == 1)
    return tuple(range(rank)) if name == "dynamic_quantize_linear" else (rank - 1,)


def halves_alone(desc: Any, arrays: Arrays, result: Any) -> bool:
    """Lines do not depend on others: half of them at a time are the same bits."""
    shape = arrays["input"].shape
    for axis in {*range(len(shape))} - {*axes_of(desc)}:
        if shape[axis] > 1:
            for part in (slice(0, shape[axis] // 2), slice(shape[axis] // 2, None)):
                cut = (slice(None),) * axis + (part,)
                given = {name: one[cut] if one.shape[axis] > 1 else one for name, one in arrays.items()}
                for found, one in zip(several(run(desc, given)), several(result), strict=True):
                    assert_same_values(found, one[cut])
            return True
    return False


def in_another_layout(desc: Any, arrays: Arrays, result: Any) -> bool:
    turned = {name: np.asfortranarray(one) for name, one in arrays.items()}
    for found, one in zip(several(run(desc, turned)), several(result), strict=True):
        assert_same_values(found, one)
    return len(arrays["input"].shape) > 1


def one_is_hot(desc: Any, arrays: Arrays, result: Array) -> bool:
    """Each line has one 1."""
    sums = result.astype(np.float64).sum(axes_of(desc))
    np.testing.assert_array_equal(sums, np.ones_like(sums))
    return bool(axes_of(desc))


def sums_are_one(desc: Any, arrays: Arrays, result: Array) -> bool:
    """Of a softmax, and of the exponentials of its logarithm."""
    wide = result.astype(np.float64)
    wide = np.exp(wide) if "log" in desc.operator.python else wide
    sums = wide.sum(axes_of(desc))
    unit = np.finfo(result.dtype).eps * (1 + np.log1p(wide.size))
    assert (np.isnan(sums) | (np.abs(sums - 1) < 20 * unit)).all()
    return True


def negated(desc: Any, arrays: Arrays, result: Array) -> bool:
    """A norm has no sign."""
    assert_same_values(run(desc, {"input": -arrays["input"]}), -result)
    return True


def properties(operator: Operator) -> list[Property]:
    found: list[Property] = [in_another_layout]
    if operator.python != "dynamic_quantize_linear":
        found.append(halves_alone)
    if "hardmax" in operator.python:
        found.append(one_is_hot)
    elif "softmax" in operator.python:
        found.append(sums_are_one)
    elif operator.python == "lp_normalization":
        found.append(negated)
    return found
