"""Properties of attention."""

from __future__ import annotations

from typing import Any

import numpy as np
from checks import assert_same_bits, assert_same_values
from strategies import small_integers

from dmlcy._facts.rows import Operator

from .common import Arrays, Property, run, several


def queries_in_another_order(desc: Any, arrays: Arrays, result: Any) -> bool:
    """Each query is by itself: the bits do not depend on its place, unless its place says what it sees."""
    first = several(result)[0]
    if "query" not in arrays or "past_sequence_lengths" in arrays or first.shape[-2] == 1:
        return False
    turned = {"query": np.flip(arrays["query"], -2)}
    if "mask" in arrays and desc.mask_type.name == "BOOLEAN" and arrays["mask"].ndim > 1:
        turned["mask"] = np.flip(arrays["mask"], -2)
    if "relative_position_bias" in arrays:
        turned["relative_position_bias"] = np.flip(arrays["relative_position_bias"], -2)
    found = several(run(desc, {**arrays, **turned}))[0]
    assert_same_values(found, np.ascontiguousarray(np.flip(first, -2)))
    return True


def twice_the_values_are_twice_the_result(desc: Any, arrays: Arrays, result: Any) -> bool:
    """Of whole numbers, without what is added to the values: a power of two changes no rounding of a normal number."""
    names = [name for name in ("value", "past_value") if name in arrays]
    if "value" not in names or "bias" in arrays:
        return False
    whole = {name: small_integers(x.size, x.shape, x.dtype, 9) for name, x in arrays.items() if x.dtype.kind == "f"}
    once = {**arrays, **whole, **{name: x for name, x in arrays.items() if name == "past_sequence_lengths"}}
    doubles: Arrays = {name: whole[name] * whole[name].dtype.type(2) for name in names}
    twice = {**once, **doubles}
    first, second = (several(run(desc, one))[0] for one in (once, twice))
    zero, doubled, range_ = first.dtype.type(0), first * first.dtype.type(2), np.finfo(first.dtype)
    normal = ~(np.abs(second) < 2 * range_.smallest_normal)
    assert_same_bits(np.where(normal, second + zero, zero), np.where(normal, doubled + zero, zero))
    assert np.all(np.abs(second - doubled)[~normal] <= 2 * range_.smallest_subnormal)
    return first.size > 0


def properties(operator: Operator) -> list[Property]:
    return [queries_in_another_order, twice_the_values_are_twice_the_result]
