"""Properties of resample."""

from __future__ import annotations

from typing import Any

import numpy as np
from checks import assert_same_bits, assert_same_values
from strategies import Array

from dmlcy._facts.rows import Operator

from .common import Arrays, Property, assert_near, run, whole


def first_of(arrays: Arrays) -> tuple[str, Array]:
    return next(iter(arrays.items()))


def means_of_one_number_are_it(desc: Any, arrays: Arrays, result: Array) -> bool:
    name, x = first_of(arrays)
    assert_same_bits(run(desc, {name: np.full(x.shape, 3, x.dtype)}), np.full(result.shape, 3, x.dtype))
    return True


def nothing_is_lost(desc: Any, arrays: Arrays, result: Array) -> bool:
    """The sum of a gradient is that of what it is made of."""
    name, x = first_of(whole(desc, arrays))
    exact = run(desc, {name: x}).astype(np.float64)
    unit = np.spacing(np.abs(exact).max(initial=1).astype(x.dtype)).astype(np.float64)
    assert abs(exact.sum() - x.astype(np.float64).sum()) <= exact.size * unit + x.size * 1e-3
    return bool(x.any())


def twice_the_elements_give_twice(desc: Any, arrays: Arrays, result: Array) -> bool:
    name, x = first_of(whole(desc, arrays))
    if x.dtype.kind != "f":
        return False
    assert_same_values(run(desc, {name: 2 * x}), 2 * run(desc, {name: x}))
    return True


def sums_are_those_of_parts(desc: Any, arrays: Arrays, result: Array) -> bool:
    name, x = first_of(whole(desc, arrays))
    if x.dtype.kind != "f":
        return False
    y = np.array(x[..., ::-1], order="C")
    parts = [run(desc, {name: each}).astype(np.float64) for each in (x, y)]
    size = np.abs(parts[0]) + np.abs(parts[1]) + np.abs(x).max(initial=1) * max(1, x.size // result.size)
    assert_near(run(desc, {name: x + y}), parts[0] + parts[1], size, 3)
    return True


def properties(operator: Operator) -> list[Property]:
    own = nothing_is_lost if operator.python.startswith("resample_grad") else means_of_one_number_are_it
    return [own, twice_the_elements_give_twice, sums_are_those_of_parts]
