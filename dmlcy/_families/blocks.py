"""Parts of a tensor that are computed at once: small enough for their numbers, which are wider than the elements."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from dmlcy._types import Array

At = tuple[slice, ...]
"""A part of a tensor: a slice for each axis."""

BLOCK: Final = 1 << 16
"""Elements that are computed at once: their numbers stay in the caches."""
RESULTS: Final = 1 << 18
"""Results along axes that are kept at once."""


def whole(sizes: Sequence[int]) -> At:
    """All of a tensor as a part."""
    return tuple(slice(0, size) for size in sizes)


def sizes_of(at: At) -> tuple[int, ...]:
    """The sizes of a part."""
    return tuple(one.stop - one.start for one in at)


def ranges(all_: slice, step: int) -> Iterator[slice]:
    """A slice in pieces of ``step`` elements; the last piece may have fewer."""
    for first in range(all_.start, all_.stop, step):
        yield slice(first, min(first + step, all_.stop))


def cut(part: At, steps: Sequence[int]) -> Iterator[At]:
    """A tensor, or a part of it, in parts of ``steps`` elements along each axis."""
    return itertools.product(*(tuple(ranges(one, step)) for one, step in zip(part, steps, strict=True)))


def steps_of(
    sizes: Sequence[int], most: int, axes: Iterable[int] | None = None, least: Sequence[int] | None = None
) -> list[int]:
    """The sizes of parts of at most ``most`` elements, if cutting ``axes`` is enough for this, the slowest first.

    ``least``: how many elements a part has at least along each axis, if the tensor has as many.
    """
    steps = list(sizes)
    for d in range(len(sizes)) if axes is None else axes:
        shorten(steps, d, most, math.prod(steps))
        if least is not None:
            steps[d] = min(sizes[d], max(steps[d], least[d]))
    return steps


def shorten(steps: list[int], d: int, most: int, count: int) -> None:
    """Makes the step along an axis short enough for ``most`` of ``count`` elements, if it can."""
    if count > most:
        steps[d] = max(1, most * steps[d] // count)


def parts(sizes: Sequence[int], most: int, axes: Iterable[int] | None = None) -> Iterator[At]:
    """The parts with these steps."""
    return cut(whole(sizes), steps_of(sizes, most, axes))


def around(sizes: Sequence[int], axes: Iterable[int], most: int) -> Iterator[At]:
    """Parts of a tensor that is reduced along some axes, which are whole in each part.

    The parts have at most ``most`` elements where cutting the axes before the first reduced one is enough, and at most
    RESULTS results along the reduced axes.
    """
    reduced = {d for d in axes if sizes[d] > 1}
    kept = [d for d in range(len(sizes)) if d not in reduced]
    first = min(reduced, default=len(sizes))
    steps = list(sizes)
    for d in kept:
        if d < first:
            shorten(steps, d, most, math.prod(steps))
        else:
            shorten(steps, d, RESULTS, math.prod(steps[k] for k in kept))
    return cut(whole(sizes), steps)


def within(array: Array, at: At) -> Array:
    """The part of a tensor that goes with a part of another one; an axis of one element goes with all."""
    return array[tuple(one if size > 1 else slice(None) for one, size in zip(at, array.shape, strict=True))]


def inside(at: At, part: At) -> At:
    """Where a part is in another one that has it."""
    return tuple(slice(a.start - b.start, a.stop - b.start) for a, b in zip(at, part, strict=True))
