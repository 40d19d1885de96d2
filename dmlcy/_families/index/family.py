"""index: a tensor of integers says where the elements of another one come from, or go to.

Of several elements that go to one place, the last one in the order of the indices stays: NumPy assigns to a list of
places in its order.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

import numpy as np

from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._families import blocks
from dmlcy._families.base import Family, Result
from dmlcy._families.blocks import BLOCK
from dmlcy._families.given import Given
from dmlcy._runtime.places import indices_of
from dmlcy._types import Array


class Index(Family):
    """The family."""

    def computes(self, desc: OperatorDesc) -> bool:
        """No: elements move."""
        return False

    def evaluate(self, given: Given, output: str) -> Result:
        """The elements of the output, bit for bit."""
        sizes = tuple(given.values[output].sizes)
        return Result(WAYS[given.told.words["by"]](given, sizes), moved=True)

    def told(self, given: Given, output: str) -> Mapping[str, Callable[[], Array]]:
        """``repeated``: whether several updates of an element have different bits."""
        return {"repeated": lambda: _repeated(given, tuple(given.values[output].sizes))}


def _repeated(given: Given, sizes: tuple[int, ...]) -> Array:
    """Which elements of the output have an update of other bits than the one that stays.

    The numbers of the updates, from 1 on, are written in the place of updates, and read again where each was written.
    """
    roles, way = given.told.roles, WAYS[given.told.words["by"]]
    role = "updates" if "updates" in roles else "input"
    updates = np.ascontiguousarray(_tensor(given, role)).view(f"u{_tensor(given, role).itemsize}")
    kind = np.int32 if updates.size < np.iinfo(np.int32).max else np.int64
    numbers = np.arange(1, updates.size + 1, dtype=kind).reshape(updates.shape)
    base = {} if role == "input" else {roles["input"]: np.zeros(sizes, kind)}
    last = way(given.with_arrays({**given.arrays, **base, roles[role]: numbers}), sizes)
    if role == "input":
        stays = last.reshape(-1)[_tensor(given, "indices").astype(np.intp)]
    else:
        reading = given.with_arrays({**given.arrays, roles["input"]: last})
        reading.told = replace(given.told, roles={one: name for one, name in roles.items() if one != role})
        stays = way(reading, updates.shape)
    differs: Array = np.zeros(updates.size + 1, np.bool_)
    bits, stays = updates.reshape(-1), stays.reshape(-1)
    for part in blocks.ranges(slice(0, bits.size), BLOCK):
        differs[stays[part][bits[stays[part] - 1] != bits[part]]] = True
    result: Array = differs[last]
    return result


def _tensor(given: Given, role: str) -> Array:
    """The array of a tensor that plays a role."""
    array: Array = given.arrays[given.told.roles[role]]
    return array


def _places(indices: Array, size: int) -> Array:
    """Indices along an axis, of which negative ones count from its end."""
    found = indices.astype(np.intp)
    return np.where(found < 0, found + size, found) if indices.dtype.kind == "i" else found


def _flat(array: Array, part: slice) -> Array:
    """Some of the elements of a tensor in row-major order, without a copy of the others."""
    if array.flags.c_contiguous:
        return array.reshape(-1)[part]
    found: Array = array.flat[part]
    return found


def _slices(given: Given, sizes: tuple[int, ...]) -> Array:
    """A slice of an axis for each index."""
    array, indices, axis = _tensor(given, "input"), _tensor(given, "indices"), given.field("axis")
    count = math.prod(indices.shape[indices.ndim - given.field("count") :])
    lines = (*array.shape[:axis], count, *array.shape[axis + 1 :])
    result: Array = np.empty(lines, array.dtype)
    for at in blocks.parts(lines, BLOCK):
        places: tuple[Array | slice, ...] = (
            *at[:axis],
            _places(_flat(indices, at[axis]), array.shape[axis]),
            *at[axis + 1 :],
        )
        result[at] = array[places]
    return result.reshape(sizes)


def _elements(given: Given, sizes: tuple[int, ...]) -> Array:
    """An element for each index, whose other coordinates are its own; or a copy with an update for each."""
    array, indices, axis = _tensor(given, "input"), _tensor(given, "indices"), given.field("axis")
    if "updates" not in given.told.roles:
        result: Array = np.empty(sizes, array.dtype)
        for at in blocks.parts(sizes, BLOCK):
            lines = array[(*at[:axis], slice(None), *at[axis + 1 :])]
            result[at] = np.take_along_axis(lines, _places(indices[at], array.shape[axis]), axis)
        return result
    result = np.array(array, order="C")
    flat, updates = result.reshape(-1), _tensor(given, "updates")
    for part in blocks.ranges(slice(0, indices.size), BLOCK):
        own = indices_of(np.arange(part.start, part.stop), indices.shape)
        places = (*own[:axis], _places(_flat(indices, part), sizes[axis]), *own[axis + 1 :])
        flat[np.ravel_multi_index(places, sizes)] = _flat(updates, part)
    return result


def _tuples(given: Given, sizes: tuple[int, ...]) -> Array:
    """An element or a block for each tuple of coordinates; or a copy with an update for each."""
    array, indices = _tensor(given, "input"), _tensor(given, "indices")
    counted = array.shape[array.ndim - given.field("input_count") :]
    own = indices.shape[indices.ndim - given.field("indices_count") :]
    batches, coordinates = given.number(given.told.roles["batches"]), own[-1]
    axes, block = counted[batches : batches + coordinates], counted[batches + coordinates :]
    each = math.prod(own[batches:-1])
    updated = "updates" in given.told.roles
    result: Array = np.array(array, order="C") if updated else np.empty(sizes, array.dtype)
    source, target = array.reshape(counted), result.reshape(counted if updated else (math.prod(own[:-1]), *block))
    for rows, *at in blocks.parts((math.prod(own[:-1]), *block), BLOCK // max(1, coordinates)):
        tuples = _flat(indices, slice(rows.start * coordinates, rows.stop * coordinates)).reshape(-1, coordinates)
        batch = indices_of(np.arange(rows.start, rows.stop) // each, own[:batches])
        places: tuple[Array | slice, ...] = (
            *batch,
            *(_places(tuples[:, place], size) for place, size in enumerate(axes)),
            *at,
        )
        if updated:
            target[places] = _updates(_tensor(given, "updates"), own[:-1], block, (rows, *at))
        else:
            target[(rows, *at)] = source[places]
    return result


def _updates(updates: Array, rows: tuple[int, ...], block: tuple[int, ...], at: blocks.At) -> Array:
    """The updates of some tuples: a part of a block for each."""
    numbers = indices_of(np.arange(at[0].start, at[0].stop), rows)
    places: tuple[Array | slice, ...] = (*numbers, *at[1:])
    found: Array = updates.reshape((*rows, *block))[places]
    return found


def _whole(given: Given, sizes: tuple[int, ...]) -> Array:
    """Each element at its place in the whole output, and 0 elsewhere."""
    array, indices = _tensor(given, "input"), _tensor(given, "indices")
    result: Array = np.zeros(sizes, array.dtype)
    for part in blocks.ranges(slice(0, array.size), BLOCK):
        result.reshape(-1)[_flat(indices, part).astype(np.intp)] = _flat(array, part)
    return result


def _reversed(given: Given, sizes: tuple[int, ...]) -> Array:
    """The lines along an axis, of each of which as many elements as its length says are reversed."""
    array, lengths, axis = _tensor(given, "input"), _tensor(given, "indices"), given.field("axis")
    size = sizes[axis]
    if size > BLOCK:
        return _reversed_lines(array, lengths, axis)
    places = np.arange(size, dtype=np.int32)
    places = places.reshape([-1 if d == axis else 1 for d in range(len(sizes))])
    result: Array = np.empty(sizes, array.dtype)
    for at in blocks.parts(sizes, BLOCK, [d for d in range(len(sizes)) if d != axis]):
        ends = np.minimum(lengths[at], np.asarray(size).astype(lengths.dtype)).astype(places.dtype)
        taken = np.where(places < ends, ends - 1 - places, places)
        result[at] = np.take_along_axis(array[at], taken, axis)
    return result


def _reversed_lines(array: Array, lengths: Array, axis: int) -> Array:
    """The same line by line, for long lines: no place of an element is a number."""
    result = np.array(array, order="C")
    for at in np.ndindex(lengths.shape):
        before, after = at[:axis], at[axis + 1 :]
        first = (*before, slice(0, min(int(lengths[at]), array.shape[axis])), *after)
        result[first] = array[first][::-1]
    return result


WAYS: Final[dict[str, Callable[[Given, tuple[int, ...]], Array]]] = {
    "slices": _slices, "elements": _elements, "tuples": _tuples, "places": _whole, "lengths": _reversed,
}  # fmt: skip
FAMILY: Final = Index()
