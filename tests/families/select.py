"""Properties of select."""

from __future__ import annotations

from typing import Any

import numpy as np
from checks import assert_same_bits
from strategies import Array

from dmlcy._facts.rows import Operator

from .common import Arrays, Property, run

Outputs = tuple[Array, Array]


def values_are_at_their_places(desc: Any, arrays: Arrays, result: Outputs) -> bool:
    values, places = result
    taken = np.take_along_axis(arrays["input"], places.astype(np.intp), desc.axis)
    assert_same_bits(values, np.ascontiguousarray(taken))
    return True


def fewer_are_the_first_of_them(desc: Any, arrays: Arrays, result: Outputs) -> bool:
    k = (desc.k + 1) // 2
    for fewer, all_of_them in zip(run(desc, arrays, k=k), result, strict=True):
        assert_same_bits(fewer, np.ascontiguousarray(all_of_them.take(range(k), desc.axis)))
    return bool(k < desc.k)


def the_whole_line_is_in_order(desc: Any, arrays: Arrays, result: Outputs) -> bool:
    """Each place is there once, and what is chosen are the first ones."""
    n = arrays["input"].shape[desc.axis]
    values, places = run(desc, arrays, k=n)
    assert (
        np.sort(places, desc.axis) == np.moveaxis(np.arange(n).reshape(n, *[1] * (places.ndim - 1)), 0, desc.axis)
    ).all()
    for chosen, line in zip(result, (values, places), strict=True):
        assert_same_bits(chosen, np.ascontiguousarray(line.take(range(desc.k), desc.axis)))
    return bool(desc.k < n)


def the_complement_is_ordered_backwards(desc: Any, arrays: Arrays, result: Outputs) -> bool:
    """Of integers: where the greatest come first, the least of their complements do."""
    x = arrays["input"]
    if x.dtype.kind == "f":
        return False
    other = "INCREASING" if desc.axis_direction.name == "DECREASING" else "DECREASING"
    values, places = run(desc, {"input": ~x}, axis_direction=other)
    assert_same_bits(places, result[1])
    assert_same_bits(~values, result[0])
    return True


def rows_of(result: Outputs) -> Array:
    """The rows of the elements that were found."""
    return result[1].reshape(-1, result[1].shape[-1])[: int(result[0].item())]


def elements_found_are_not_zero(desc: Any, arrays: Arrays, result: Outputs) -> bool:
    x = arrays["input"]
    rows = rows_of(result)
    x = x.reshape(x.shape[x.ndim - rows.shape[-1] :])
    assert len({*map(tuple, rows.tolist())}) == len(rows) == sum(one != 0 for one in x.ravel().tolist())
    assert all(x[tuple(row)] != 0 for row in rows.tolist())
    assert not result[1].reshape(-1, rows.shape[-1])[len(rows) :].any()
    return len(rows) > 0


def coordinates_rise(desc: Any, arrays: Arrays, result: Outputs) -> bool:
    rows = rows_of(result).tolist()
    assert rows == sorted(rows)
    return len(rows) > 1


def other_elements_that_are_not_zero(desc: Any, arrays: Arrays, result: Outputs) -> bool:
    x = arrays["input"]
    for one, other in zip(run(desc, {"input": (x != 0).astype(x.dtype)}), result, strict=True):
        assert_same_bits(one, other)
    return bool((x != 0).any())


PROPERTIES: dict[str, list[Property]] = {
    "first": [
        values_are_at_their_places, fewer_are_the_first_of_them, the_whole_line_is_in_order,
        the_complement_is_ordered_backwards,
    ],
    "nonzero": [elements_found_are_not_zero, coordinates_rise, other_elements_that_are_not_zero],
}  # fmt: skip


def properties(operator: Operator) -> list[Property]:
    found = PROPERTIES[operator.definition.words["choose"]]
    turns = "direction" in operator.definition.roles
    return [one for one in found if turns or one is not the_complement_is_ordered_backwards]
