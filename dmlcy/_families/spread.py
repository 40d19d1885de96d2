"""Numbers along an axis that go, each with a weight, to places of another axis, and are combined there.

An interpolation, the sums of a window, and the gradients of both have this in common.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from dmlcy._arithmetic import Arithmetic
from dmlcy._types import Array, Number, Operation


@dataclass(frozen=True, slots=True)
class Spread:
    """The movement of numbers along an axis: ``source`` and ``target`` of each number, in the order of the targets.

    ``weight``: the factor of each number; None: 1. ``count``: how many targets there are.
    """

    source: Array
    target: Array
    weight: Number
    count: int

    @classmethod
    def of(cls, m: Arithmetic, source: Array, target: Array, weight: Number, count: int, merged: bool = True) -> Spread:
        """Numbers in any order. Numbers without a weight go nowhere.

        ``merged``: weights of one source and one target are added up.
        """
        if weight is not None:
            some = np.flatnonzero(m.negation(m.equal(weight, 0)))
            source, target, weight = source[some], target[some], weight[some]
        order = np.lexsort((source, target))
        source, target = source[order], target[order]
        if weight is None or not merged:
            return cls(source, target, None if weight is None else weight[order], count)
        both = target * (int(source.max(initial=0)) + 1) + source
        weight, kept = combined(m.add, weight[order], both, 0)
        first = np.searchsorted(both, kept)
        return cls(source[first], target[first], weight, count)

    def turned(self, m: Arithmetic, size: int) -> Spread:
        """The same backwards, to an axis of this size: of an interpolation, the gradient."""
        return Spread.of(m, self.target, self.source, self.weight, size)

    def within(self, at: slice) -> tuple[slice, Spread]:
        """The part of the sources that some targets need, and what goes from this part to these targets."""
        some = slice(*np.searchsorted(self.target, (at.start, at.stop)))
        source = self.source[some]
        first = int(source.min(initial=2**62)) if len(source) else 0
        last = int(source.max(initial=0))
        weight = None if self.weight is None else self.weight[some]
        part = Spread(source - first, self.target[some] - at.start, weight, at.stop - at.start)
        return slice(first, last + 1), part

    def applied(self, m: Arithmetic, numbers: Array, axis: int, absolute: bool = False) -> Number:
        """The sums at all targets, along this axis; 0 where nothing goes. ``absolute``: with weights without signs."""
        values: Number = np.take(numbers, self.source, axis)
        if self.weight is not None:
            weight = m.absolute(self.weight) if absolute else self.weight
            values = m.multiply(values, weight.reshape([-1 if d == axis else 1 for d in range(numbers.ndim)]))
        values, places = combined(m.add, m.partial(values), self.target, axis)
        if len(places) == self.count:
            return values
        sizes = tuple(self.count if d == axis else size for d, size in enumerate(values.shape))
        result: Number = m.of(np.zeros(sizes, np.float64 if values.dtype == object else values.dtype))
        result[along(places, axis)] = values
        return result

    def touched(self, marks: Array, axis: int) -> Array:
        """The targets to which a marked number goes, along this axis."""
        found, places = combined(np.logical_or, np.take(marks, self.source, axis), self.target, axis)
        result: Array = np.zeros(tuple(self.count if d == axis else n for d, n in enumerate(marks.shape)), np.bool_)
        result[along(places, axis)] = found
        return result

    @property
    def most(self) -> float:
        """How many numbers go to a target, on average; at least 1."""
        return max(1.0, len(self.source) / self.count)


@dataclass(frozen=True, slots=True)
class Nearby:
    """Both elements beside each place along an axis: all that go to the targets, and others without a weight."""

    every: Spread
    idle: Spread

    @classmethod
    def of(cls, m: Arithmetic, low: Array, rest: Number, size: int, target: Array, count: int) -> Nearby:
        """Of places that are ``rest`` behind the elements ``low``."""
        source, weight = between(m, low, rest, size)
        target, beside = np.tile(target, 2), np.append(np.full(len(low), False), source[len(low) :] != low)
        some = np.flatnonzero(m.equal(weight, 0) & beside)
        whole = Spread.of(m, source, target, None, count)
        return cls(whole, Spread.of(m, source[some], target[some], None, count))

    def turned(self, m: Arithmetic, size: int) -> Nearby:
        """The same backwards, to an axis of this size."""
        return Nearby(self.every.turned(m, size), self.idle.turned(m, size))


def idle(marks: Array, nearby: Mapping[int, Nearby]) -> Array:
    """For which targets a marked number is beside the place and has no weight, along these axes."""
    every, found = marks, np.zeros_like(marks)
    for axis, one in nearby.items():
        found = one.every.touched(found, axis) | one.idle.touched(every, axis)
        every = one.every.touched(every, axis)
    return found


def combined(function: Operation, values: Number, target: Array, axis: int) -> tuple[Number, Array]:
    """The result of a function of two numbers for all numbers of one target, and these targets; both in their order."""
    while True:
        begins = np.flatnonzero(np.diff(target, prepend=-1))
        if len(begins) == len(target):
            return values, target
        number = np.arange(len(target)) - np.repeat(begins, np.diff(begins, append=len(target)))
        kept = np.flatnonzero(number % 2 == 0)
        pairs = np.flatnonzero(np.append(target[1:], -1)[kept] == target[kept])
        second = np.take(values, kept[pairs] + 1, axis)
        values, target = np.take(values, kept, axis), target[kept]
        if len(pairs) == len(kept):
            values = function(values, second)
        else:
            at = along(pairs, axis)
            values[at] = function(values[at], second)


def along(places: Array, axis: int) -> tuple[slice | Array, ...]:
    """An index of some places along an axis."""
    return (*[slice(None)] * axis, places)


def between(m: Arithmetic, low: Array, rest: Number, size: int) -> tuple[Array, Number]:
    """Of places in an axis, first the elements before them, then those behind them; and the weight of each.

    ``rest``: how far each place is behind the element before it. Elements beyond the ends are those at the ends.
    """
    source = np.clip(np.concatenate([low, low + 1]), 0, size - 1)
    return source, np.concatenate([m.subtract(1, rest), rest])


def parted(m: Arithmetic, place: Array) -> tuple[Array, Number]:
    """Of places of float64 that are small: the whole numbers before them, and how far they are behind these."""
    low = np.floor(place)
    return low.astype(np.int64), m.placed(place - low, place)
