"""Properties of window_sum."""

from __future__ import annotations

from typing import Any

import numpy as np
from checks import assert_same_values
from strategies import Array

from dmlcy._facts.rows import Operator

from .common import Arrays, Property, run, whole

IMAGES = ("input", "input_gradient")


def a_batch_is_its_items(desc: Any, arrays: Arrays, result: Array) -> bool:
    count = len(result)
    items = []
    for i in range(count):
        items.append(run(desc, {name: x[i : i + 1] if name in IMAGES else x for name, x in arrays.items()}))
    assert_same_values(np.concatenate(items), result)
    return count > 1


def twice_the_gradient_gives_twice(desc: Any, arrays: Arrays, result: Array) -> bool:
    exact = whole(desc, arrays)
    doubled = exact | {"input_gradient": 2 * exact["input_gradient"]}
    assert_same_values(run(desc, doubled), 2 * run(desc, exact))
    return True


def one_number_stays(desc: Any, arrays: Arrays, result: Array) -> bool:
    """Averages of an element everywhere are this element, if padding does not count and the scales are the same."""
    names = {"input_zero_point", "output_zero_point"} & {*arrays}
    if len(names) < 2 or arrays["input_zero_point"].dtype != result.dtype or desc.include_padding:
        return False
    scale = np.ones((1,) * result.ndim, np.float32)
    zero = np.full((1,) * result.ndim, 5, result.dtype)
    given = {"input_scale": scale, "output_scale": scale} | dict.fromkeys(names, zero)
    x = np.full(arrays["input"].shape, 77, result.dtype)
    found = run(desc, arrays | given | {"input": x})
    assert {*np.unique(found).tolist()} <= {77, 5}  # a window of padding only gives the zero point
    return True


def properties(operator: Operator) -> list[Property]:
    own = twice_the_gradient_gives_twice if operator.python.endswith("_grad") else one_number_stays
    return [a_batch_is_its_items, own]
