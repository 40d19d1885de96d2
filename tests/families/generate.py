"""Properties of generate."""

from __future__ import annotations

from typing import Any

import numpy as np
from checks import assert_same_bits, assert_same_values

import dmlcy as dml
from dmlcy._facts.rows import Operator

from .common import Arrays, Property, run, several

Array = np.ndarray[Any, Any]


def as_one_row(desc: Any, arrays: Arrays, result: Array) -> bool:
    """Elements are counted row by row."""
    assert_same_values(run(desc, arrays, output_sizes=(result.size,)), result.ravel())
    return result.ndim > 1


def of_some_first_elements(desc: Any, arrays: Arrays, result: Array) -> bool:
    part = result[:1]
    assert_same_values(run(desc, arrays, output_sizes=part.shape), part)
    return len(result) > 1


def by_rows(desc: Any, result: Array) -> list[dict[str, Any]]:
    """The arguments of a call for each row alone: the diagonals are further to the left from row to row."""
    names = [name for name in ("offset", "diagonal_fill_begin", "diagonal_fill_end") if hasattr(desc, name)]
    limits = np.iinfo(np.int32)
    if not all(limits.min <= getattr(desc, name) + row <= limits.max for name in names for row in (0, len(result))):
        return []
    return [{name: getattr(desc, name) + row for name in names} for row in range(result.shape[-2])]


def each_row_alone(desc: Any, arrays: Arrays, result: Array) -> bool:
    x = arrays.get("input")
    found = by_rows(desc, result)
    for row, changes in enumerate(found):
        part = result[..., row : row + 1, :]
        given: Any = {} if x is None else {"input": x[..., row : row + 1, :]}
        assert_same_values(run(desc, given, output_sizes=part.shape, **changes), np.ascontiguousarray(part))
    return len(found) > 1


def bits_of(x: Array) -> Array:
    found = np.ascontiguousarray(x)
    return found.view(f"u{found.itemsize}")


def one_value_is_elsewhere(desc: Any, arrays: Arrays, result: Array) -> bool:
    """Each line has at most one element that is not the first value."""
    other, own = bits_of(arrays["values"].ravel()[:2]).tolist()
    lines = np.moveaxis(bits_of(result), desc.axis, -1)
    assert ((lines != other).sum(-1) <= 1).all() and np.isin(lines, (other, own)).all()
    return bool(other != own and (lines != other).any())


def other_values_lie_alike(desc: Any, arrays: Arrays, result: Array) -> bool:
    values = arrays["values"]
    swapped = values.ravel()[[1, 0]].reshape((*[1] * (values.ndim - 1), 2))
    own, other = bits_of(swapped.ravel()).tolist()
    found = bits_of(run(desc, {**arrays, "values": swapped}))
    assert np.array_equal(found == other, bits_of(result) == own)
    return bool(other != own)


def the_index_of_the_greatest(desc: Any, arrays: Arrays, result: Array) -> bool:
    """Of ones at indices that are in the lines."""
    length = result.shape[desc.axis]
    indices = (arrays["indices"].astype(np.int64) % length).astype(np.uint32)
    hot = np.array([0, 1], np.int8).reshape((*[1] * (indices.ndim - 1), 2))
    found = dml.one_hot(indices, hot, axis=desc.axis, output_sizes=result.shape)
    assert_same_bits(
        np.expand_dims(found.argmax(desc.axis), desc.axis).astype(np.uint32), np.ascontiguousarray(indices)
    )
    made: bool = length > 1
    return made


def the_numbers_of_parts(desc: Any, arrays: Arrays, result: Any) -> bool:
    """The state behind some numbers gives the next ones, and the last state."""
    whole, last = run(desc, arrays, output_sizes=(13,), output_state=True)
    found, after = run(desc, arrays, output_sizes=(8,), output_state=True)
    rest, behind = run(desc, {"input_state": after}, output_sizes=(5,), output_state=True)
    assert_same_bits((np.concatenate([found, rest]), behind), (whole, last))
    count = min(several(result)[0].size, 13)
    assert_same_bits(several(result)[0].ravel()[:count].copy(), whole[:count])
    return True


def no_counter_gives_what_another_does(desc: Any, arrays: Arrays, result: Any) -> bool:
    """Nor does another key."""
    blocks = several(result)[0].ravel()[: several(result)[0].size // 4 * 4].reshape(-1, 4)
    assert len({*map(bytes, blocks)}) == len(blocks)
    other = several(run(desc, {"input_state": arrays["input_state"] ^ np.uint32(1)}))[0]
    return bool((other != several(result)[0]).any())


PROPERTIES: dict[str, list[Property]] = {
    "fill_value_constant": [as_one_row, of_some_first_elements],
    "fill_value_sequence": [as_one_row, of_some_first_elements],
    "diagonal_matrix": [each_row_alone],
    "diagonal_matrix1": [each_row_alone],
    "random_generator": [the_numbers_of_parts, no_counter_gives_what_another_does],
    "one_hot": [one_value_is_elsewhere, other_values_lie_alike, the_index_of_the_greatest],
}


def properties(operator: Operator) -> list[Property]:
    return PROPERTIES[operator.python]
