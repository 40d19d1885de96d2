"""The parts of the input that go to each place along one axis."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from dmlcy._arithmetic import Arithmetic
from dmlcy._families.spread import Nearby, Spread, between, parted
from dmlcy._types import Array, Number

HALF: Final = 0.5
STEPS: Final = 4
"""Units in the last place by which FLOAT32 may move a place."""


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis of ``size`` elements, and of ``count`` ones between them, ``factor`` times as many.

    ``before`` and ``after``: the offsets of places in the input and in the output; None: those of the middles of
    elements, in exact arithmetic. ``direction``: in which a place is rounded, a member of DML_AXIS_DIRECTION; None: to
    the nearest element. ``higher``: of two nearest elements the second one. ``first``: the number of the first of the
    ``count`` elements.
    """

    size: int
    count: int
    factor: float
    before: float | None
    after: float
    direction: str | None
    higher: bool
    first: int = 0

    def is_same(self) -> bool:
        """Whether each element is at its own place."""
        offsets = (self.before, self.after) in ((0.5, -0.5), (0.0, 0.0), (None, 0.0))
        return self.size == self.count and self.factor == 1 and offsets

    def part(self, at: slice) -> Axis:
        """The same of some elements only."""
        return replace(self, count=at.stop - at.start, first=at.start)

    def taken(self, smooth: bool) -> float:
        """How many elements of the input a place takes, about."""
        return 2 / self.factor + 1 if smooth else 2

    def numbers(self) -> Array:
        """The numbers of the elements."""
        return np.arange(self.first, self.first + self.count)

    def places(self) -> Array:
        """The places of all elements, in FLOAT32, step by step."""
        assert self.before is not None
        with np.errstate(all="ignore"):
            numbers = self.numbers().astype(np.float32) - np.float32(self.after)
            found: Array = numbers / np.float32(self.factor) - np.float32(self.before)
        return found.astype(np.float64)

    def inside(self, m: Arithmetic) -> tuple[Array, Number]:
        """The element before each place, and how far the place is behind it; of places beyond the ends those there."""
        if self.before is not None:
            return parted(m, np.clip(self.places(), 0, self.size - 1))
        factor = int(self.factor)
        low, rest = np.divmod(2 * self.numbers() + (1 - factor), 2 * factor)
        return low, m.divide(rest, 2 * factor)

    def nearest(self, m: Arithmetic) -> Spread:
        """One element for each place."""
        low, rest = self.inside(m)
        if self.direction is None:
            low = low + (m.less_equal(HALF, rest) if self.higher else m.less(HALF, rest))
        elif self.direction == "INCREASING":
            low = low + m.less(0, rest)
        return Spread(np.clip(low, 0, self.size - 1), np.arange(self.count), None, self.count)

    def linear(self, m: Arithmetic) -> Spread:
        """Two elements for each place, by their distance."""
        source, weight = between(m, *self.inside(m), self.size)
        return Spread.of(m, source, np.tile(np.arange(self.count), 2), weight, self.count)

    def nearby(self, m: Arithmetic) -> Nearby:
        """The two elements beside each place."""
        low, rest = self.inside(m)
        rest, low = m.where(low < 0, 0, rest), np.maximum(low, 0)  # a place beyond an end is that end
        return Nearby.of(m, low, rest, self.size, np.arange(self.count), self.count)

    def odd_ties(self) -> Array:
        """Whether a place is in the middle between two elements, of which the first one has an odd index."""
        place = self.places()
        with np.errstate(invalid="ignore"):
            found: Array = (place % 2 == 1.5) & (place > 0) & (place < self.size - 1)
        return found

    def near(self) -> Array:
        """Whether FLOAT32 decides which element is the nearest one, as the quotient is rounded."""
        assert self.before is not None
        place = self.places()
        middle = HALF if self.direction is None else 0.0
        ahead, last = np.rint(place - middle), self.size - 1
        if self.direction == "INCREASING":
            choice = (ahead >= 0) & (ahead < last)
        else:
            choice = (ahead + middle > 0) & (ahead + middle <= last)
        with np.errstate(all="ignore"):
            numbers = self.numbers() - self.after
            quotient = numbers / self.factor
            rounded = (quotient != quotient.astype(np.float32)) | (quotient * self.factor != numbers)
            far = STEPS * np.spacing((np.abs(quotient) + abs(self.before)).astype(np.float32))
        found: Array = choice & rounded & (np.abs(place - middle - ahead) < far)
        return found

    def edge(self) -> Array:
        """Whether ``smooth`` gives weight to elements beyond an end."""
        place, reach = self.places(), 1 / float(self.factor)
        found: Array = (place + 1 < reach) | (self.size - place < reach)
        return found

    def smooth(self, m: Arithmetic) -> Spread:
        """All elements that are less than 1 / factor away, by their distance; the ends are repeated without end."""
        reach = 1 / float(self.factor)
        place = np.clip(self.places(), -2 * reach, self.size - 1 + 2 * reach)  # where only an end has weight, as beyond
        first = np.clip(np.floor(place - reach), 0, self.size - 1).astype(np.int64)
        last = np.clip(np.ceil(place + reach), 0, self.size - 1).astype(np.int64)
        counts = last - first + 1
        target = np.repeat(np.arange(self.count), counts)
        source = np.arange(len(target)) - np.repeat(np.cumsum(counts) - counts, counts) + first[target]
        weight = m.weighed(lambda m: self._weights(m, place, source, target), place[target], float(self.factor) ** 2)
        return Spread.of(m, source, target, weight, self.count)

    def _weights(self, m: Arithmetic, place: Array, source: Array, target: Array) -> Number:
        """How much each element counts at a place, of all that do."""
        slopes = _Slopes(m, m.of(place), m.of(np.array([self.factor], np.float64))[0])
        # Not the factor times the distance: the place has so few digits that it times the factor is exact.
        scaled, number = slopes.scaled[target], m.multiply(m.of(source), slopes.factor)
        before, after = m.add(m.subtract(1, scaled), number), m.subtract(m.add(1, scaled), number)
        weight = m.maximum(m.minimum(before, after), 0)
        weight = m.where(source == 0, slopes.up_to(0)[target], weight)
        weight = m.where(source == self.size - 1, slopes.beyond(self.size - 2)[target], weight)
        if self.size == 1:
            weight = slopes.total
        return m.divide(weight, slopes.total[target])


class _Slopes:
    """Sums of the weights of whole numbers: 1 at a place, and less by ``factor`` for each step away, down to 0."""

    def __init__(self, m: Arithmetic, place: Number, factor: Number) -> None:
        self.m, self.place, self.factor = m, place, factor
        self.scaled = m.multiply(place, factor)
        low = m.function("floor", place)
        self.total = m.add(self.side(m.subtract(place, low)), self.side(m.subtract(m.add(low, 1), place)))

    def side(self, distance: Number) -> Number:
        """Of the numbers at this distance and farther away, to the same side."""
        m = self.m
        count = m.maximum(m.function("ceil", m.subtract(m.divide(1, self.factor), distance)), 0)
        sums = m.add(m.multiply(count, distance), m.divide(m.multiply(count, m.subtract(count, 1)), 2))
        return m.subtract(count, m.multiply(self.factor, sums))

    def up_to(self, number: int) -> Number:
        """Of this number and all less than it."""
        m = self.m
        below = self.side(m.maximum(m.subtract(self.place, number), 0))
        above = m.subtract(self.total, self.side(m.maximum(m.subtract(number + 1, self.place), 0)))
        return m.where(m.less(self.place, number), above, below)

    def beyond(self, number: int) -> Number:
        """Of all numbers greater than this one."""
        m = self.m
        below = m.subtract(self.total, self.side(m.maximum(m.subtract(self.place, number), 0)))
        above = self.side(m.maximum(m.subtract(number + 1, self.place), 0))
        return m.where(m.less(self.place, number + 1), above, below)
