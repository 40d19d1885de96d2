"""Properties of elementwise."""

from __future__ import annotations

from typing import Any

import numpy as np
from checks import assert_same_values
from strategies import Array

import dmlcy as dml
from dmlcy._facts.rows import Operator

from .common import Arrays, Property, attributes_of, run


def flipped_inputs_give_a_flipped_result(desc: Any, arrays: Arrays, result: Array) -> bool:
    flipped = run(desc, {name: np.flip(x) for name, x in arrays.items()})
    assert_same_values(flipped, np.ascontiguousarray(np.flip(result)))
    return result.size > 1


def each_element_is_by_itself(desc: Any, arrays: Arrays, result: Array) -> bool:
    """The last element of each input at each place gives the last one of the result at each place."""
    last = (slice(-1, None),) * result.ndim
    repeated = run(desc, {name: np.broadcast_to(x[last], x.shape) for name, x in arrays.items()})
    assert_same_values(repeated, np.array(np.broadcast_to(result[last], result.shape)))
    return result.size > 1


def the_result_may_be_an_input(desc: Any, arrays: Arrays, result: Array) -> bool:
    """One whose memory the output may share."""
    for name in desc.operator.in_place:
        copy = np.array(arrays[name], order="C")
        given = {**arrays, name: copy}
        found = getattr(dml, desc.operator.python)(*given.values(), **attributes_of(desc), out=copy)
        assert found is copy
        assert_same_values(found, result)
    return True


def properties(operator: Operator) -> list[Property]:
    in_place = [the_result_may_be_an_input] if operator.in_place else []
    return [flipped_inputs_give_a_flipped_result, each_element_is_by_itself, *in_place]
