"""Along one axis: the pieces of the input that are operated on by themselves, and what each gives of the output."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from dmlcy._families.given import Kernel


@dataclass(frozen=True, slots=True)
class Piece:
    """Elements ``begin`` to ``end`` of the input, with padding before and after them, give ``size`` of the output."""

    begin: int
    end: int
    size: int
    before: int = 0
    after: int = 0


class Padding(NamedTuple):
    """An entry of the two fields that say how much padding is before and after the axes."""

    start: str
    end: str
    entry: int


@dataclass(frozen=True, slots=True)
class Cut:
    """An axis of some tensors, by their names, and its pieces.

    ``padding``: which entry is each piece's own. ``sized``: of attributes, the entry that is the size of each piece.
    """

    axes: dict[str, int]
    pieces: Sequence[Piece]
    padding: Padding | None = None
    sized: Mapping[str, int] = field(default_factory=dict)


class Cutting(Protocol):
    """A call on chunked arrays, of which a family says how it can be cut."""

    kernel: Kernel
    input: str  # the names of the first tensors
    output: str

    def sizes(self, name: str) -> tuple[int, ...]:
        """The sizes of a tensor."""

    def chunks(self, name: str, axis: int) -> Sequence[int]:
        """The sizes of the chunks of an input along an axis."""

    def merge_rows(self, name: str, axis: int) -> None:
        """Makes the chunks of an input whole along all axes behind this one, and no larger than they were."""


def bounds(chunks: Sequence[int]) -> list[int]:
    """0 and where each chunk ends; chunks of no elements count for nothing."""
    return [0, *itertools.accumulate(size for size in chunks if size)]


def cut(chunks: Sequence[int], takes: int, gives: int) -> list[Piece]:
    """An independent axis: chunks of whole multiples of ``takes``."""
    whole = sorted({bound // takes * takes for bound in bounds(chunks)})
    return [Piece(begin, end, (end - begin) // takes * gives) for begin, end in itertools.pairwise(whole)]
