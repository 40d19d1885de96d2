"""Where the samples of the regions are, along one axis: in FLOAT32, step by step."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import Final

import numpy as np

from dmlcy._arithmetic import Arithmetic
from dmlcy._families.spread import Nearby, Spread, between, parted
from dmlcy._types import Array, Number

ALL: Final = 1 << 16
"""Samples of a region along an axis, of which all places are computed; of more, those inside the input are found."""

HALF: Final = 0.5
STEPS: Final = 4
"""Units in the last place by which FLOAT32 may move a place."""


@dataclass(frozen=True, slots=True)
class Grid:
    """The facts that all regions have in common along an axis.

    ``cells``: elements of the output; ``size``: of the input. ``least`` and ``most``: samples of a cell. ``before`` and
    ``after``: the offsets of places in the input and in the output. ``corners``: the outer samples are at the ends.
    """

    cells: int
    size: int
    scale: float
    least: int
    most: int
    before: float
    after: float
    corners: bool
    nearest: bool

    def samples(self, start: float, end: float) -> Samples:
        """The samples of the region between these places, which are not scaled yet."""
        with np.errstate(all="ignore"):
            first, last = np.float32(start) * np.float32(self.scale), np.float32(end) * np.float32(self.scale)
            return self._samples(first, last - first)

    def _samples(self, first: np.float32, length: np.float32) -> Samples:
        ratio = float(np.ceil(length / np.float32(self.cells)))
        each = self.least if not ratio > self.least else self.most if ratio >= self.most else int(ratio)
        total = self.cells * each
        middle = self.corners and total == 1
        after = np.float32(-0.5 if middle else 0.0 if self.corners else self.after)
        steps = total - 1 if self.corners and not middle else total
        step = length / np.float32(steps)

        def place(numbers: Number) -> Number:
            return (np.asarray(numbers).astype(np.float32) - after) * step + first - np.float32(self.before)

        begin, stop = 0, total
        if total > ALL and step > 0:  # the places are in order
            begin = bisect_left(range(total), True, key=lambda i: bool(place(i) >= -1))
            stop = bisect_left(range(total), True, key=lambda i: bool(place(i) > self.size))
        numbers = np.arange(begin, max(begin, stop))
        places = place(numbers)
        inside = (places >= -1) & (places <= self.size)
        numbers, places = numbers[inside], np.clip(places[inside].astype(np.float64), 0, self.size - 1)
        way = (numbers - float(after)) / steps
        return Samples(numbers // each, places, way, each, self)


@dataclass(frozen=True, slots=True)
class Samples:
    """The samples of a region that are inside the input.

    ``cell``: the element of the output that each sample is for. ``place``: its place in the input. ``way``: its
    distance from the start of the region to the end, as a part of the whole. ``each``: how many samples a cell has,
    inside the input or not.
    """

    cell: Array
    place: Array
    way: Array
    each: int
    grid: Grid

    def inside(self) -> Array:
        """How many samples of each cell are inside the input."""
        return np.bincount(self.cell, minlength=self.grid.cells)

    def corners(self, m: Arithmetic) -> list[tuple[Array, Number]]:
        """Of each sample, the element before it and the one behind it, and the weight of each; or the nearest one."""
        if self.grid.nearest:
            source = np.ceil(self.place - 0.5).astype(np.int64)
            return [(source, m.of(np.ones(len(source))))]
        source, weight = between(m, *parted(m, self.place), self.grid.size)
        half = len(self.place)
        return [(source[:half], weight[:half]), (source[half:], weight[half:])]

    def weights(self, m: Arithmetic) -> tuple[Array, Array, Number]:
        """The numbers of the samples, elements of the input and their weights; two for each place between elements."""
        corners = self.corners(m)
        source, weight = (np.concatenate(several) for several in zip(*corners, strict=True))
        return np.tile(np.arange(len(self.place)), len(corners)), source, weight

    def nearby(self, m: Arithmetic) -> Nearby:
        """Both elements beside the samples of each cell; or the nearest ones."""
        if self.grid.nearest:
            every = self.means(m)
            return Nearby(every, Spread(np.arange(0), np.arange(0), None, every.count))
        return self.beside(m)

    def beside(self, m: Arithmetic) -> Nearby:
        """Both elements beside the samples of each cell."""
        return Nearby.of(m, *parted(m, self.place), self.grid.size, self.cell, self.grid.cells)

    def ties(self) -> Array:
        """Whether a sample of each cell is in the middle between two elements, of which the first one has an odd index,
        or so near the middle that FLOAT32 decides.
        """
        far = STEPS * np.spacing(np.maximum(self.place, 1).astype(np.float32))
        away = np.abs(self.place % 1 - HALF)
        some = self.cell[self.grid.nearest & np.where(away == 0, self.place % 2 > 1, away <= far)]
        return np.bincount(some, minlength=self.grid.cells) > 0

    def means(self, m: Arithmetic) -> Spread:
        """The parts of the input that go to each cell, if its samples are averaged."""
        number, source, weight = self.weights(m)
        return Spread.of(m, source, self.cell[number], m.divide(weight, self.each), self.grid.cells)

    def slopes(self, m: Arithmetic, share: Number) -> Spread:
        """The change of each cell, if each sample moves by its share: the elements behind less the elements before."""
        between_ = np.flatnonzero(self.place % 1) if not self.grid.nearest else np.arange(0)
        low, cell = np.floor(self.place[between_]).astype(np.int64), self.cell[between_]
        share = m.divide(share[between_], self.each)
        weight = np.concatenate([m.negate(share), share])
        return Spread.of(m, np.concatenate([low, low + 1]), np.tile(cell, 2), weight, self.grid.cells, merged=False)

    def values(self, m: Arithmetic) -> Spread:
        """The parts of the input that go to each sample."""
        number, source, weight = self.weights(m)
        return Spread.of(m, source, number, weight, len(self.place))

    def extremes(self) -> Samples:
        """The first and the last sample between two elements of the input: no other one has an extreme value."""
        low = np.ceil(self.place - 0.5) if self.grid.nearest else np.floor(self.place)
        differs = (np.diff(self.cell) != 0) | (np.diff(low) != 0)
        kept = np.flatnonzero(np.append(True, differs) | np.append(differs, True)) if len(low) else np.arange(0)
        return Samples(self.cell[kept], self.place[kept], self.way[kept], self.each, self.grid)
