"""The window of input elements behind one element of an output."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._families import window_of
from dmlcy._families.given import kernel_of
from dmlcy._families.windows import slide
from dmlcy._runtime.places import indices_of
from dmlcy._types import Array

SHOWN: Final = 8
"""Elements that are shown along each of the last two axes."""
PLANES: Final = 4
"""Positions on the axes before them that are shown."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a window lies in its input.

    Attributes
    ----------
    input
        Python name of the tensor.
    lead
        Index on the axes before the spatial ones.
    start
        First element along each spatial axis; negative where it is padding.
    sizes, dilations
        Elements along each spatial axis, and the distance between them.
    tap
        The element of the window that was copied; None where all of them count.
    limits
        Sizes of the input along the spatial axes.
    """

    input: str
    lead: tuple[int, ...]
    start: tuple[int, ...]
    sizes: tuple[int, ...]
    dilations: tuple[int, ...]
    tap: tuple[int, ...] | None
    limits: tuple[int, ...]

    @property
    def inside(self) -> bool:
        """Whether the tap is in the input, not in the padding."""
        return all(0 <= at < limit for at, limit in zip(self.source, self.limits, strict=True))

    @property
    def source(self) -> tuple[int, ...]:
        """The position in the input of the tap, which must be there."""
        assert self.tap is not None
        return tuple(first + t * step for first, t, step in zip(self.start, self.tap, self.dilations, strict=True))

    def axis(self, number: int, most: int) -> range:
        """At most so many positions in the input along a spatial axis; the tap is among them."""
        size, step = self.sizes[number], self.dilations[number]
        first = 0 if self.tap is None else max(0, min(self.tap[number] - most // 2, size - most))
        begin = self.start[number] + first * step
        return range(begin, begin + min(size - first, most) * step, step)


@dataclass(frozen=True, slots=True)
class Plane:
    """A part of a window on its last two axes, or on its only one; a row or column may lie in the padding.

    ``lead`` is the position on the spatial axes before, ``rows`` is empty for an only axis; padding elements are None.
    """

    lead: tuple[int, ...]
    rows: range
    columns: range
    values: tuple[tuple[np.generic | None, ...], ...]


def locate(desc: OperatorDesc, index: Sequence[int]) -> Place | None:
    """The window behind the element of the output at this index; None for an operator without one."""
    roles = window_of(desc.operator)
    if roles is None:
        return None
    shape = getattr(desc, roles.input).sizes
    window = slide(kernel_of(desc), shape)
    spatial = len(window.sizes)
    lead = len(shape) - spatial
    if window.blocks is None:
        position, tap = tuple(index[-spatial:]), None
        leading = tuple(index[-spatial - lead : -spatial])
    else:
        *before, row, column = index
        position = indices_of(column, window.blocks)
        channel, element = divmod(row, math.prod(window.sizes))
        tap = indices_of(element, window.sizes)
        leading = (*before, channel)[-lead:]
    first = window.first(position)
    return Place(roles.input, leading, first, window.sizes, window.dilations, tap, tuple(window.limits))


def planes(place: Place, values: Array) -> tuple[Plane, ...]:
    """The elements of a window that are shown."""
    inner = min(len(place.sizes), 2)
    outer = len(place.sizes) - inner
    axes = [place.axis(number, SHOWN) for number in range(outer, len(place.sizes))]
    rows, columns = axes if inner == 2 else (range(0), axes[0])
    leads: Iterable[tuple[int, ...]] = itertools.product(*(place.axis(number, PLANES) for number in range(outer)))
    if place.tap is not None:
        leads = [place.source[:outer]]
    found = []
    for lead in itertools.islice(leads, PLANES):
        lines = [[*lead, row] for row in rows] if inner == 2 else [[*lead]]
        table = tuple(tuple(_at(values, place.lead, [*line, column]) for column in columns) for line in lines)
        found.append(Plane(lead, rows, columns, table))
    return tuple(found)


def _at(values: Array, lead: tuple[int, ...], position: Sequence[int]) -> np.generic | None:
    """The element as a NumPy scalar, None in the padding."""
    inside = all(0 <= p < size for p, size in zip(position, values.shape[len(lead) :], strict=True))
    found: np.generic | None = values[(*lead, *position)] if inside else None
    return found
