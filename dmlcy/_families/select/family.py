"""select: some elements of the input, and where they are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

import numpy as np

from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._families import blocks
from dmlcy._families.base import Family, Result, tensors_of
from dmlcy._families.elements import keys
from dmlcy._families.given import Given
from dmlcy._types import Array, Number

FIRST: Final = "first"
SHORT: Final = 4
"""Bytes of keys that go into one number of 64 bits with a place."""
BITS: Final = 32
"""Of a place."""
MORE: Final = 4
"""How many times as many elements as are chosen are put in order at once."""


class Select(Family):
    """The family."""

    def evaluate(self, given: Given, output: str) -> Result:
        """The elements that come first along an axis, or the coordinates of the elements that are not 0."""
        result: Array = np.zeros(given.values[output].sizes, given.dtype(output))
        if given.told.words["choose"] == FIRST:
            self.first(given, result, output == given.told.roles["values"])
        elif output == given.told.roles["count"]:
            result[...] = np.count_nonzero(given.input)
        else:
            _coordinates(given.input, result.reshape(result.shape[-2:]))
        return Result(result, moved=True)

    def operations(self, desc: OperatorDesc) -> int:
        """A comparison of each element."""
        return tensors_of(desc)[0].element_count

    def told(self, given: Given, output: str) -> Mapping[str, Callable[[], Number]]:
        """``row`` of coordinates, and how many rows are ``found``: elements that are not 0."""
        rows = given.values[output].sizes[-2:][0]
        return {"row": lambda: np.arange(rows)[:, None], "found": lambda: int(np.count_nonzero(given.input))}

    def spread(self, given: Given, output: str, name: str, marks: Array) -> Array:
        """All elements that are chosen from the line of a marked element, or from all elements."""
        axes = int(given.field("axis")) if given.told.words["choose"] == FIRST else None
        return np.asarray(marks.any(axes, keepdims=axes is not None))

    def first(self, given: Given, result: Array, values: bool) -> None:
        """Writes the elements that come first in each line along an axis, or their indices."""
        axis = int(given.field("axis"))
        descending = not given.is_member("direction", "INCREASING")
        source, target = (np.moveaxis(one, axis, -1) for one in (given.input, result))
        for at in blocks.parts(source.shape, blocks.BLOCK, range(source.ndim - 1)):
            part = np.ascontiguousarray(source[at])
            places = _places(part, target.shape[-1], descending)
            target[at[:-1]] = np.take_along_axis(part, places, -1) if values else places


def _places(lines: Array, count: int, descending: bool) -> Array:
    """The places of the first elements of each line: equal ones in the order in which they are."""
    return (_of_short if lines.itemsize <= SHORT else _of_long)(_pieces(lines, count, descending), count)


def _pieces(lines: Array, count: int, descending: bool) -> Iterator[tuple[Array, Array]]:
    """The keys and the places of some elements of each line at a time, so that few are put in order at once."""
    step = max(MORE * count, blocks.BLOCK)
    for first in range(0, lines.shape[-1], step):
        found = keys(lines[..., first : first + step], descending)
        yield found, np.broadcast_to(np.arange(first, first + found.shape[-1], dtype=np.int64), found.shape)


def _of_short(pieces: Iterator[tuple[Array, Array]], count: int) -> Array:
    """The first places; each key is one number with its place behind it."""
    best: Number = None
    for found, here in pieces:
        middle = 2 ** (8 * found.itemsize - 1) if found.dtype.kind == "u" else 0
        joined = (found.astype(np.int64) - middle << BITS) + here
        best = joined if best is None else np.concatenate([best, joined], -1)
        if count < best.shape[-1]:
            best = np.partition(best, count - 1, -1)[..., :count]
    places: Array = np.sort(best, -1) & (2**BITS - 1)
    return places


def _of_long(pieces: Iterator[tuple[Array, Array]], count: int) -> Array:
    """The first places, by a sort that keeps the order of equal keys."""
    best: Number = None
    places: Number = None
    for found, here in pieces:
        if best is not None:
            found, here = np.concatenate([best, found], -1), np.concatenate([places, here], -1)
        order = np.argsort(found, -1, kind="stable")[..., :count]
        best, places = np.take_along_axis(found, order, -1), np.take_along_axis(here, order, -1)
    result: Array = places
    return result


def _coordinates(array: Array, rows: Array) -> None:
    """Writes a row for each element that is not 0: the last of its coordinates, as many as a row has."""
    begin = 0
    for at in blocks.parts(array.shape, blocks.BLOCK):
        found = np.nonzero(array[at])
        count = len(found[0])
        for column in range(rows.shape[-1]):
            d = array.ndim - rows.shape[-1] + column
            rows[begin : begin + count, column] = found[d] + at[d].start
        begin += count


FAMILY: Final = Select()
