"""index: a tensor of integers says where the elements of another one come from, or go to.

Of several elements that go to one place, the last one in the order of the indices stays: NumPy assigns to a list of
places in its order.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from dmlcy._arithmetic import Array
from dmlcy._families import blocks
from dmlcy._families.base import Family, Result
from dmlcy._families.given import Given

BLOCK: Final = 1 << 20
"""Elements whose places are worked out at once."""


class Index(Family):
    """The family."""

    def evaluate(self, given: Given, output: str) -> Result:
        """The elements of the output, bit for bit."""
        sizes = tuple(given.values[output].sizes)
        return Result(WAYS[given.told.words["by"]](given, sizes), moved=True)


def _tensor(given: Given, role: str) -> Array:
    """The array of a tensor that plays a role."""
    array: Array = given.arrays[given.told.roles[role]]
    return array


def _places(indices: Array, size: int) -> Array:
    """Indices along an axis, of which negative ones count from its end."""
    found = indices.astype(np.intp)
    return np.where(found < 0, found + size, found) if indices.dtype.kind == "i" else found


def _slices(given: Given, sizes: tuple[int, ...]) -> Array:
    """A slice of an axis for each index."""
    array, indices, axis = _tensor(given, "input"), _tensor(given, "indices"), given.field("axis")
    own = indices.shape[indices.ndim - given.field("count") :]
    return np.take(array, _places(indices, array.shape[axis]).reshape(own), axis).reshape(sizes)


def _elements(given: Given, sizes: tuple[int, ...]) -> Array:
    """An element for each index, whose other coordinates are its own; or a copy with an update for each."""
    array, indices, axis = _tensor(given, "input"), _tensor(given, "indices"), given.field("axis")
    if "updates" not in given.told.roles:
        return np.take_along_axis(array, _places(indices, array.shape[axis]), axis)
    result = np.array(array, order="C")
    flat, updates, own = result.reshape(-1), _tensor(given, "updates").reshape(-1), indices.reshape(-1)
    inner = math.prod(sizes[axis + 1 :])
    line = indices.shape[axis] * inner
    for part in blocks.ranges(slice(0, own.size), BLOCK):
        numbers = np.arange(part.start, part.stop)
        along = _places(own[part], sizes[axis])
        flat[(numbers // line * sizes[axis] + along) * inner + numbers % inner] = updates[part]
    return result


def _tuples(given: Given, sizes: tuple[int, ...]) -> Array:
    """An element or a block for each tuple of coordinates; or a copy with an update for each."""
    array, indices = _tensor(given, "input"), _tensor(given, "indices")
    counted = array.shape[array.ndim - given.field("input_count") :]
    own = indices.shape[indices.ndim - given.field("indices_count") :]
    batches, coordinates = given.number(given.told.roles["batches"]), own[-1]
    axes = counted[batches : batches + coordinates]
    tuples = indices.reshape(math.prod(own[:batches]), -1, coordinates)
    rows = np.arange(len(tuples), dtype=np.intp)[:, None] * np.ones(tuples.shape[1], np.intp)
    for place, size in enumerate(axes):
        rows = rows * size + _places(tuples[..., place], size)
    shape = (math.prod(counted[: batches + coordinates]), math.prod(counted[batches + coordinates :]))
    if "updates" not in given.told.roles:
        return np.take(array.reshape(shape), rows.ravel(), 0).reshape(sizes)
    result = np.array(array, order="C")
    result.reshape(shape)[rows.ravel()] = _tensor(given, "updates").reshape(-1, shape[1])
    return result


def _whole(given: Given, sizes: tuple[int, ...]) -> Array:
    """Each element at its place in the whole output, and 0 elsewhere."""
    array = _tensor(given, "input")
    result: Array = np.zeros(sizes, array.dtype)
    result.reshape(-1)[_tensor(given, "indices").ravel().astype(np.intp)] = array.ravel()
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


WAYS: Final[dict[str, Callable[[Given, tuple[int, ...]], Any]]] = {
    "slices": _slices, "elements": _elements, "tuples": _tuples, "places": _whole, "lengths": _reversed,
}  # fmt: skip
FAMILY: Final = Index()
