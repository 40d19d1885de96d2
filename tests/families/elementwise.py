"""Properties of elementwise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from checks import assert_same_values
from strategies import Array

from dmlcy._facts.rows import Operator

from .common import Arrays, Property, run, several


def axes_of(desc: Any, result: Array) -> tuple[int, ...]:
    """The axes along which all elements are computed alike: not that of channels which have a number each."""
    of_channels = any(field.type == "float_array" for field in desc.operator.fields)
    return tuple(axis for axis in range(result.ndim) if not (of_channels and axis == 1))


def changed(arrays: Arrays, change: Callable[[Array], Array]) -> Arrays:
    """The inputs, and those of arrays of tensors, after a change."""
    return {n: tuple(map(change, x)) if isinstance(x, tuple) else change(x) for n, x in arrays.items()}


def flipped_inputs_give_a_flipped_result(desc: Any, arrays: Arrays, result: Any) -> bool:
    axes = axes_of(desc, several(result)[0])
    flipped = run(desc, changed(arrays, lambda x: np.flip(x, axes)))
    for found, one in zip(several(flipped), several(result), strict=True):
        assert_same_values(found, np.ascontiguousarray(np.flip(one, axes)))
    return several(result)[0].size > 1


def each_element_is_by_itself(desc: Any, arrays: Arrays, result: Any) -> bool:
    """The last element of each input at each place gives the last one of the result at each place."""
    axes = axes_of(desc, several(result)[0])
    last = tuple(slice(-1, None) if axis in axes else slice(None) for axis in range(several(result)[0].ndim))
    repeated = run(desc, changed(arrays, lambda x: np.broadcast_to(x[last], x.shape)))
    for found, one in zip(several(repeated), several(result), strict=True):
        assert_same_values(found, np.array(np.broadcast_to(one[last], one.shape)))
    return several(result)[0].size > 1


def the_result_may_be_an_input(desc: Any, arrays: Arrays, result: Any) -> bool:
    """The output shares the memory of an input that allows it. With several outputs, it is the output at the same
    place.
    """
    for place, name in enumerate(desc.operator.in_place):
        copy = np.array(arrays[name], order="C")
        outs = [np.empty_like(one) for one in several(result)]
        outs[place if len(outs) > 1 else 0] = copy
        found = run(desc, {**arrays, name: copy}, out=tuple(outs) if isinstance(result, tuple) else copy)
        assert any(one is copy for one in several(found))
        for one, wanted in zip(several(found), several(result), strict=True):
            assert_same_values(one, wanted)
    return True


def properties(operator: Operator) -> list[Property]:
    in_place = [the_result_may_be_an_input] if operator.in_place else []
    return [flipped_inputs_give_a_flipped_result, each_element_is_by_itself, *in_place]
