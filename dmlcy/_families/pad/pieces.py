"""The pieces of a padded axis."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from dmlcy._families.pieces import Piece, bounds

MOST_TURNS: Final = 8
"""Padding that goes over an axis more often makes it whole."""

IndexMap = Callable[[int, int], int]


def pieces_of(chunks: Sequence[int], before: int, after: int, index: IndexMap | None) -> list[Piece]:
    """A padded axis. ``index`` says which element position p reads along an axis of n; None: no element, a value."""
    ends = bounds(chunks)[1:]
    size, inner = ends[-1], ends[:-1]
    whole = [Piece(0, size, before + size + after, before, after)]
    if not inner or (index is not None and max(before, after) > MOST_TURNS * size):
        return whole
    front, first = [Piece(0, inner[0], before + inner[0], before)], inner[0]
    back, last = [Piece(inner[-1], size, size - inner[-1] + after, 0, after)], inner[-1]
    if index is not None:
        left = [index(p, size) for p in range(-before, 0)]
        right = [index(size + p, size) for p in range(after)]
        near = (m for m in inner if all(index(p - before, m) == at for p, at in enumerate(left)))
        outwards = range(after)[::-1]  # the farthest position tells soonest
        far = (m for m in reversed(inner) if all(index(size - m + p, size - m) + m == right[p] for p in outwards))
        first, last = next(near, 0), next(far, size)
        front = [Piece(0, first, before + first, before)] if first else list(_runs(left))
        back = [Piece(last, size, size - last + after, 0, after)] if last < size else list(_runs(right))
        many = max(len(front) - before // size, len(back) - after // size)
        if first > last or many > 2:
            return whole
    body = itertools.pairwise([first, *(end for end in inner if first < end < last), last])
    return [*front, *(Piece(begin, end, end - begin) for begin, end in body if begin < end), *back]


def _runs(places: Sequence[int]) -> Iterator[Piece]:
    """Elements that are read in the order in which they lie, as pieces without padding."""
    starts = [at for at, place in enumerate(places) if at == 0 or place != places[at - 1] + 1]
    for at, end in itertools.pairwise([*starts, len(places)]):
        yield Piece(places[at], places[end - 1] + 1, end - at)
