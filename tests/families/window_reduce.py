"""Properties of window_reduce."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from checks import assert_same_bits, assert_same_values
from strategies import Array

import dmlcy as dml
from dmlcy._facts.rows import Operator
from dmlcy._families.windows import roles_of

from .common import (
    Arrays,
    Property,
    a_batch_is_its_items,
    attributes_of,
    channels_permuted,
    more_data_gives_no_less,
    run,
    whole,
)
from .windows import a_flip_flips, a_window_of_one_is_the_identity, window_of


def one_more_stride_of_padding_shifts(desc: Any, arrays: Arrays, result: Array) -> bool:
    window = window_of(desc, arrays)
    if window.blocks is not None or max(window.strides) > 50:
        return False
    start = tuple(before + step for before, step in zip(window.start, window.strides, strict=True))
    exact = whole(desc, arrays)
    moved = run(desc, exact, **{roles_of(desc.operator).start: start})
    inner = moved[(slice(None), slice(None), *[slice(1, None)] * len(start))]
    assert_same_bits(np.ascontiguousarray(inner), run(desc, exact))
    return True


def a_depth_of_one_makes_no_difference(desc: Any, arrays: Arrays, result: Array) -> bool:
    """An image is a volume of depth 1."""
    given = attributes_of(desc)
    if len(given[roles_of(desc.operator).window]) != 2:
        return False
    deep = {
        name: (0 if name.endswith("padding") else 1, *value) if isinstance(value, tuple) else value
        for name, value in given.items()
    }
    found = getattr(dml, desc.operator.python)(arrays["input"][:, :, None], **deep)
    assert_same_values(np.ascontiguousarray(found[:, :, 0]), result)
    return True


def sums_of_a_constant(desc: Any, arrays: Arrays, result: Array) -> bool:
    """Where padding is not counted, the mean of a constant is that; 0 of a window over padding only."""
    x = np.full(arrays["input"].shape, 3, arrays["input"].dtype)
    reached = run(desc, {"input": np.ones_like(x)}, include_padding=False)
    assert set(np.unique(reached)) <= {0.0, 1.0}
    assert_same_bits(run(desc, {"input": x}, include_padding=False), reached * x.dtype.type(3))
    return True


def signs_make_no_difference(desc: Any, arrays: Arrays, result: Array) -> bool:
    assert_same_values(run(desc, {"input": -arrays["input"]}), result)
    return True


def a_norm_of_one_element_is_its_size(desc: Any, arrays: Arrays, result: Array) -> bool:
    roles, x = roles_of(desc.operator), np.abs(whole(desc, arrays)["input"])
    changes = dict.fromkeys(filter(None, (roles.window, roles.strides, roles.dilations)), 1)
    same = run(desc, {"input": x}, **changes, **{roles.start: 0}, end_padding=0, p=min(desc.p, 50))
    assert_same_bits(same, np.array(x, order="C").reshape(same.shape))
    return True


def larger_data_gives_no_less(desc: Any, arrays: Arrays, result: Array) -> bool:
    x = whole(desc, arrays)["input"]
    low, high = run(desc, {"input": x}), run(desc, {"input": 2 * x})
    assert (low <= high).all()
    return bool((low < high).any())


def the_maximum_axis_after_axis(desc: Any, arrays: Arrays, result: Array) -> bool:
    """The maximum of maxima; of numbers, to which those of padding only lose."""
    exact, roles = whole(desc, arrays), roles_of(desc.operator)
    neutral = {roles.window: 1, roles.strides: 1, roles.start: 0, "end_padding": 0}
    neutral |= {roles.dilations: 1} if roles.dilations else {}
    found = exact["input"]
    count = len(getattr(desc, roles.window))
    if any(size > 100 for name in (roles.start, "end_padding") for size in getattr(desc, name)):
        return False
    for axis in range(count):
        here = {
            name: tuple(getattr(desc, name)[d] if d == axis else value for d in range(count))
            for name, value in neutral.items()
        }
        found = run(desc, {"input": found}, **here)
    assert_same_bits(found, run(desc, exact))
    return True


def a_linear_ramp_gives_the_middle_of_the_window(desc: Any, arrays: Arrays, result: Array) -> bool:
    window, shape = window_of(desc, arrays), arrays["input"].shape
    limits = window.limits
    if math.prod(limits) > 2000 or math.prod(window.sizes) > 2000:
        return False
    slopes = [2 * axis + 1 for axis in range(len(limits))]
    places = np.meshgrid(*map(np.arange, limits), indexing="ij")
    ramp = sum(slope * place for slope, place in zip(slopes, places, strict=True))
    dtype = arrays["input"].dtype
    found = run(desc, {"input": np.broadcast_to(ramp, shape).astype(dtype)})
    seen = False
    for position in np.ndindex(found.shape[2:]):
        first = [i * step - before for i, step, before in zip(position, window.strides, window.start, strict=True)]
        reach = [(w - 1) * apart for w, apart in zip(window.sizes, window.dilations, strict=True)]
        if all(f >= 0 and f + r < n for f, r, n in zip(first, reach, limits, strict=True)):
            middle = sum((s * (f + Fraction(r, 2)) for s, f, r in zip(slopes, first, reach, strict=True)), Fraction(0))
            assert (found[(slice(None), slice(None), *position)] == dtype.type(np.float32(float(middle)))).all()
            seen = True
    return seen


ALL: list[Property] = [
    a_batch_is_its_items, channels_permuted, one_more_stride_of_padding_shifts, a_flip_flips,
    a_depth_of_one_makes_no_difference,
]  # fmt: skip
MAXIMA: list[Property] = [the_maximum_axis_after_axis, more_data_gives_no_less, a_window_of_one_is_the_identity]
MEANS: list[Property] = [
    sums_of_a_constant, a_linear_ramp_gives_the_middle_of_the_window, a_window_of_one_is_the_identity,
]  # fmt: skip
NORMS: list[Property] = [signs_make_no_difference, a_norm_of_one_element_is_its_size, larger_data_gives_no_less]


OF_KIND = {"max": MAXIMA, "acc + x": MEANS, "norm": NORMS}


def kind_of(operator: Operator) -> str:
    """How an operator joins the elements of a window: max, acc + x or norm."""
    told = operator.definition
    if told.words["reduction"] == "max":
        return "max"
    step = told.formulas["step"].text
    return step if step == "acc + x" else "norm"


def properties(operator: Operator) -> list[Property]:
    return [*ALL, *OF_KIND[kind_of(operator)]]
