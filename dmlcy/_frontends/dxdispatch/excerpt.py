"""The piece of a line of a model file that shows a place, and how far the value there reaches."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

WIDTH: Final = 120
"""Characters of a line that are shown."""
BEFORE: Final = 50
"""Characters of a long line that are shown before the place."""

_PIECE: Final = re.compile(r'"(?:[^"\\]|\\.)*+"?|//.*|/\*.*?\*/|[^\s"{}\[\],:/]++|.')


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A piece of one line of the file; ``marked`` is the value, empty at the end of a line.

    ``cut_before``, ``cut_after``: the line has more to it.
    """

    before: str
    marked: str
    after: str
    cut_before: bool
    cut_after: bool


def excerpt(text: str, at: int, column: int, end: int | None = None) -> Excerpt:
    """The line round an offset, or the part of it near by, with the value that starts there in this column.

    ``end``: the offset behind what is marked; None: behind the value.
    """
    start, reach = at - column + 1, min(at + WIDTH, len(text))  # no further: a line may be as long as the file
    stop = text.find("\n", at, reach)
    stop = reach if stop < 0 else stop
    if at < stop and text[stop - 1] == "\r" and text.startswith("\n", stop):
        stop -= 1
    left = start if stop - start <= WIDTH else max(start, min(at - BEFORE, stop - WIDTH))
    right = min(stop, left + WIDTH)
    end = _end(text, at, right) if end is None else max(at, min(end, right))
    more = right < len(text) and not text.startswith(("\n", "\r\n"), right)
    return Excerpt(text[left:at], text[at:end], text[end:right], left > start, more)


def _end(text: str, at: int, limit: int) -> int:
    """Where the value ends: behind its bracket for a list or an object that is closed before the limit."""
    depth, end = 0, at
    while end < limit:
        piece = _PIECE.match(text, end, limit)
        if piece is None:
            break
        depth += {"{": 1, "[": 1, "}": -1, "]": -1}.get(piece[0], 0)
        end = piece.end()
        if depth <= 0:
            return end
    return min(at + 1, limit)
