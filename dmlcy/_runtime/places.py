"""Places in row-major order, and the indices that they are along each axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from dmlcy._types import Array

Place = TypeVar("Place", int, Array)


def indices_of(place: Place, sizes: Sequence[int]) -> tuple[Place, ...]:
    """The index along each axis of the element at a place of a tensor; of an array of places, arrays.

    In NumPy 2.3 and 2.4, ``unravel_index`` is wrong for more than 8,192 places in an array whose last axis has size 1.
    """
    found: list[Place] = []
    for size in reversed(sizes):
        place, index = divmod(place, size)
        found.append(index)
    return tuple(reversed(found))
