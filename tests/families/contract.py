"""Properties of contract."""

from __future__ import annotations

from typing import Any

import numpy as np
from checks import assert_same_bits, assert_same_values
from strategies import Array

from dmlcy._facts.rows import Operator

from .common import Arrays, Property, contiguous, run

NEVER_LARGEST = ("group_count",)
"""A filter has as many output channels."""


def rows_in_another_order(desc: Any, arrays: Arrays, result: Array) -> bool:
    """Each sum is by itself: the bits do not depend on the place of its row."""
    axis = result.ndim - (1 if desc.trans_a.name == "TRANSPOSE" else 2)
    if desc.fused_activation is not None and "SOFTMAX" in desc.fused_activation.operator.name:
        return False
    turned = {"a": np.flip(arrays["a"], axis)}
    if "c" in arrays:
        turned["c"] = np.flip(arrays["c"], -2)
    assert_same_values(run(desc, {**arrays, **turned}), np.ascontiguousarray(np.flip(result, -2)))
    found: bool = result.shape[-2] > 1
    return found


def filters_in_another_order(desc: Any, arrays: Arrays, result: Array) -> bool:
    """Where there is one group, as above; and of the filters of each group."""
    backward = desc.direction.name == "BACKWARD"
    axis = 1 if backward else 0
    groups = desc.group_count
    whole = arrays["filter"]
    own = whole.shape[axis] if backward else whole.shape[0] // groups
    order = np.concatenate([np.arange(own)[::-1] + group * own for group in range(groups)])
    turned = {"filter": np.take(whole, order[:own] if backward else order, axis)}
    if "bias" in arrays:
        turned["bias"] = np.take(arrays["bias"], order, 1)
    assert_same_values(run(desc, {**arrays, **turned}), np.take(result, order, 1))
    found: bool = own > 1
    return found


def twice_the_left_is_twice_the_result(desc: Any, arrays: Arrays, result: Array) -> bool:
    """Of whole numbers, without what is added and activated: the bits of a sum that is exact."""
    names = [field.python for field in desc.operator.fields if field.kind == "input"]
    few = {name: np.rint(np.clip(np.nan_to_num(contiguous(arrays[name])), -3, 3)) for name in names[:2]}
    once = run(desc, few, fused_activation=None, **({"alpha": 1} if names[2] == "c" else {}))
    twice = run(
        desc,
        {**few, names[0]: few[names[0]] * few[names[0]].dtype.type(2)},
        fused_activation=None,
        **({"alpha": 1} if names[2] == "c" else {}),
    )
    assert_same_bits(twice + twice.dtype.type(0), once * once.dtype.type(2) + once.dtype.type(0))
    return result.size > 0


def as_numbers_less_zero(desc: Any, arrays: Arrays, result: Array) -> bool:
    """An integer and its zero point moved alike, where all are in the range: the bits stay."""
    name = next(iter(arrays))
    given = dict(arrays)
    zero = f"{name}_zero_point"
    for one in (name, zero):
        limits = np.iinfo(arrays[name].dtype)
        if one not in arrays or arrays[one].max() == limits.max:
            return False
        given[one] = contiguous(arrays[one]) + arrays[one].dtype.type(1)
    assert_same_bits(run(desc, given), result)
    return result.size > 0


def other_rows_or_filters(desc: Any, arrays: Arrays, result: Array) -> bool:
    """Each row by itself, or each filter: the others may be any, and so may be their zero points."""
    windows = "filter" in arrays
    name, axis = ("filter", 0) if windows else ("a", arrays["a"].ndim - 2)
    keep = 0 if windows else (..., 0, slice(None))
    changed = contiguous(np.flip(arrays[name], -1))
    changed[keep] = arrays[name][keep]
    found = run(desc, {**arrays, name: changed})
    at = (slice(None), 0) if windows else keep
    assert_same_bits(np.ascontiguousarray(found[at]), np.ascontiguousarray(result[at]))
    return bool(arrays[name].shape[axis] > 1)


def properties(operator: Operator) -> list[Property]:
    if operator.python not in ("gemm", "convolution"):
        return [as_numbers_less_zero, other_rows_or_filters]
    own = rows_in_another_order if operator.python == "gemm" else filters_in_another_order
    return [own, twice_the_left_is_twice_the_result]
