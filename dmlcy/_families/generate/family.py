"""generate: elements that are made of their places."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from dmlcy._arithmetic.counted import element
from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._families.base import Family, Result
from dmlcy._families.blocks import BLOCK, parts, ranges
from dmlcy._families.generate.philox import following, numbers
from dmlcy._families.given import Given
from dmlcy._families.operations import along, sizes_only
from dmlcy._types import Array, DType, Number

OF_A_NUMBER: Final = 20
"""Of Philox: 10 rounds, each of two products, four exclusive ors and two sums, give four numbers."""


class Generate(Family):
    """The family."""

    def evaluate(self, given: Given, output: str) -> Result:
        """The expression of the number of each element, or what is on diagonals or in lines."""
        sizes, dtype = _output(given, output)
        roles = given.told.roles
        if "state" in roles:
            state = given.arrays[roles["state"]].ravel()
            count = math.prod(given.output_sizes)
            found = following(state, count) if output == roles["next"] else numbers(state, count)
            return Result(found.reshape(sizes), moved=True)
        if "line" in roles:
            return Result(_lines(given, sizes, dtype), moved=True)
        if "filled" in given.told.formulas:
            return Result(_matrices(given, sizes, dtype), moved=True)
        places = np.arange(math.prod(sizes)).reshape(sizes)
        values = _expression(given, "result", places, dtype)
        if "magnitudes" not in given.told.formulas:
            return Result(values)
        return Result(values, magnitudes=lambda: _expression(given, "magnitudes", places, dtype))

    def operations(self, desc: OperatorDesc) -> int:
        """The operations of the expression of each element; for random numbers, a quarter of the rounds of Philox."""
        given = sizes_only(desc)
        sizes = given.output_sizes
        if "state" in given.told.roles:
            return OF_A_NUMBER * math.prod(sizes)
        if "filled" in given.told.formulas:
            return 0
        return along(given, "result", i=element("i", sizes))

    def computes(self, desc: OperatorDesc) -> bool:
        """Sequences only."""
        return "filled" not in desc.operator.definition.formulas

    def result(self, given: Given, output: str) -> Array:
        """The same, block by block."""
        if "result" not in given.told.formulas or "filled" in given.told.formulas:
            return super().result(given, output)
        dtype = given.dtype(output)
        result: Array = given.room(output)
        flat = result.reshape(-1)
        for part in ranges(slice(0, flat.size), BLOCK):
            places = np.arange(part.start, part.stop)
            values = _expression(given, "result", places, dtype)
            flat[part] = given.arithmetic.stored(values, dtype, places.shape)
        return result


def _output(given: Given, output: str) -> tuple[tuple[int, ...], DType]:
    """The sizes and the data type of the output."""
    return tuple(given.values[output].sizes), given.dtype(output)


def _expression(given: Given, key: str, places: Array, dtype: DType) -> Number:
    """An expression of the numbers of elements, over attributes in the data type of the output."""
    m = given.arithmetic
    names: dict[str, Number] = {"i": m.of(places.astype(np.float64 if dtype.kind == "f" else np.int64))}
    for field in given.operator.fields:
        if field.scalar_type is not None:
            value = dtype.type(given.values[field.python]).item()
            names[field.python] = m.of(np.array(value)) if type(value) is float else value
    return given.value(key, **names)


def _matrices(given: Given, sizes: tuple[int, ...], dtype: DType) -> Array:
    """The value on the diagonals that are filled, and elsewhere the elements of the input, or 0."""
    rows, columns = sizes[-2:]
    value = given.arithmetic.stored(_expression(given, "result", np.zeros(1, np.int64), dtype), dtype, (1,))
    on: Array = np.empty(rows + columns - 1, bool)
    for part in ranges(slice(0, on.size), BLOCK):
        on[part] = given.value("filled", d=np.arange(part.start, part.stop) + (1 - rows))
    filled = np.lib.stride_tricks.sliding_window_view(on, columns)[::-1]
    under = given.arrays.get(given.told.roles.get("under", ""))
    return np.where(filled, value, np.zeros((*sizes[:-2], 1, 1), dtype) if under is None else under)


def _lines(given: Given, sizes: tuple[int, ...], dtype: DType) -> Array:
    """For each index a line with the first value, and with the second one at the index, if it is in the line."""
    axis = given.field("line")
    indices, values = (given.arrays[given.told.roles[role]] for role in ("indices", "values"))
    length = sizes[axis]
    other, own = values.ravel()[:1], values.ravel()[1:2]
    found: Array = np.empty(sizes, dtype)
    found[...] = other
    for at in parts(indices.shape, BLOCK):
        places = _inside(indices[at], length)
        inside = (places >= 0) & (places < length)
        lines = found[(*at[:axis], slice(None), *at[axis + 1 :])]
        np.put_along_axis(lines, np.where(inside, places, 0), np.where(inside, own, other), axis)
    return found


def _inside(indices: Array, length: int) -> Array:
    """Places in a line, of which negative indices count from its end; those beyond its end stay beyond it."""
    if indices.dtype.kind == "u":
        return np.asarray(np.minimum(indices, np.asarray(length).astype(indices.dtype)).astype(np.int64))
    found: Array = np.where(indices < 0, indices.astype(np.int64) + length, indices)
    return found


FAMILY: Final = Generate()
