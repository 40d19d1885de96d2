"""Parts of tensors that are computed one after another, so that the numbers of a part take little memory."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Final

LIMIT: Final = 1 << 20
"""Numbers of a part of a tensor: 8 MB."""
SIDE: Final = 1024
"""Rows and columns of a part of a matrix, if the matrix has as many."""

Part = tuple[slice, ...]


def ranges(whole: slice, step: int) -> Iterator[slice]:
    """A slice in pieces of ``step`` elements; the last piece may have fewer."""
    for first in range(whole.start, whole.stop, step):
        yield slice(first, min(first + step, whole.stop))


def parts(whole: Part, steps: Sequence[int]) -> Iterator[Part]:
    """A tensor, or a part of it, in parts of ``steps`` elements along each axis."""
    return itertools.product(*(tuple(ranges(one, step)) for one, step in zip(whole, steps, strict=True)))


def steps_of(sizes: Sequence[int], most: int) -> tuple[int, ...]:
    """The sizes of parts of at most so many elements, which are whole along as many of the last axes as possible."""
    steps: list[int] = []
    for size in reversed(sizes):
        steps.insert(0, max(1, min(size, most)))
        most //= size
    return tuple(steps)


def lengths(part: Part) -> tuple[int, ...]:
    """The sizes of a part."""
    return tuple(one.stop - one.start for one in part)
