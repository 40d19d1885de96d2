"""Along one axis: the pieces of the input that are operated on by themselves, and what each gives of the output."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

MOST_TURNS: Final = 8
"""Padding that goes over an axis more often makes it whole."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Elements ``begin`` to ``end`` of the input, with padding before and after them, give ``size`` of the output."""

    begin: int
    end: int
    size: int
    before: int = 0
    after: int = 0


def bounds(chunks: Sequence[int]) -> list[int]:
    """0 and where each chunk ends; chunks of no elements count for nothing."""
    return [0, *itertools.accumulate(size for size in chunks if size)]


def cut(chunks: Sequence[int], takes: int, gives: int) -> list[Piece]:
    """An independent axis: chunks of whole multiples of ``takes``."""
    whole = sorted({bound // takes * takes for bound in bounds(chunks)})
    return [Piece(begin, end, (end - begin) // takes * gives) for begin, end in itertools.pairwise(whole)]


def slide(chunks: Sequence[int], extent: int, stride: int, before: int, after: int) -> list[Piece]:
    """An axis under a window: its positions belong to the chunk in which they begin, and read over its end."""
    ends = bounds(chunks)[1:]
    size = ends[-1]
    positions = (before + size + after - extent) // stride + 1

    def piece(first: int, last: int) -> Piece:
        begin, end = first * stride - before, (last - 1) * stride - before + extent
        return Piece(max(begin, 0), min(end, size), last - first, max(-begin, 0), max(end - size, 0))

    starts: list[int] = [0]  # the first positions of the pieces
    for end in ends[:-1]:
        last = min(-(-(end + before) // stride), positions)
        if last > starts[-1] and _reads(piece(starts[-1], last)) and _reads(piece(last, positions)):
            starts.append(last)
    if len(starts) == 1:
        return [Piece(0, size, positions, before, after)]
    return [piece(first, last) for first, last in itertools.pairwise([*starts, positions])]


def _reads(piece: Piece) -> bool:
    """Whether a window of the piece lies not in the padding alone: an operator takes no empty tensor."""
    return piece.size > 0 and piece.begin < piece.end


def pad(chunks: Sequence[int], before: int, after: int, index: Callable[[int, int], int] | None) -> list[Piece]:
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
