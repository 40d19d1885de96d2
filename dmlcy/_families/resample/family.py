"""resample: elements between those of a tensor, along each axis by itself."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

import numpy as np

from dmlcy._arithmetic import Arithmetic, Array
from dmlcy._desc.memory import dtype_of
from dmlcy._facts.dtypes import numpy_dtype
from dmlcy._families.base import Family, Result
from dmlcy._families.given import Given

NEAREST: Final = "NEAREST_NEIGHBOR"
HALF: Final = Fraction(1, 2)
BLOCK: Final = 1 << 18
"""Elements of the output that are computed at once."""


@dataclass(frozen=True, slots=True)
class Line:
    """Along one axis, the places in the input of all elements of the output.

    ``low``: the last element of the input that is not behind the place, not cut to the input; ``rest`` of ``whole``:
    how far the place is behind it. ``size``: of the input.
    """

    low: Array
    rest: Array
    whole: int
    size: int

    @property
    def moves(self) -> bool:
        """Whether the axis is another one in the output."""
        return len(self.low) != self.size or bool(self.rest.any()) or bool((self.low != np.arange(self.size)).any())

    def nearest(self) -> Array:
        """The nearest element of each place; of two, the first one."""
        return np.clip(np.where(2 * self.rest > self.whole, self.low + 1, self.low), 0, self.size - 1).astype(np.intp)

    def part(self, at: slice) -> Line:
        """The same of some elements of the output."""
        return Line(self.low[at], self.rest[at], self.whole, self.size)

    def within(self) -> tuple[slice, Line]:
        """The part of the input that the places need, and the places in this part."""
        first = int(np.clip(self.low.min(), 0, self.size - 1))
        last = int(np.clip(self.low.max() + 1, 0, self.size - 1))
        below = first - 1 if self.low.min() < 0 else first  # a place before the first element stays before it
        shift = first if below == first else 0
        return slice(first, last + 1), Line(self.low - shift, self.rest, self.whole, last + 1 - first)


def line(size: int, count: int, factor: Fraction) -> Line:
    """The places of the middles of so many elements, each of which is 1 / factor long."""
    step, first = 1 / factor, HALF / factor - HALF
    whole = math.lcm(step.denominator, first.denominator)
    numbers = np.arange(count, dtype=object if count * step * whole >= 2**62 else np.int64)
    low, rest = np.divmod(numbers * int(step * whole) + int(first * whole), whole)
    return Line(low.astype(np.int64), rest, whole, size)


class Resample(Family):
    """The family."""

    def evaluate(self, given: Given, output: str) -> Result:
        """Each axis after the other: the nearest element of each place, or a mean of two."""
        lines = _lines(given, output)
        if given.field("mode").name == NEAREST:
            return Result(_nearest(given.input, lines), moved=True)
        m = given.arithmetic
        numbers = m.of(given.input)
        return Result(_means(m, numbers, lines), magnitudes=lambda: _means(m, m.absolute(numbers), lines))

    def result(self, given: Given, output: str) -> Array:
        """The same, block by block."""
        tensor = given.values[output]
        sizes = tuple(tensor.sizes)
        if given.field("mode").name == NEAREST or math.prod(sizes) <= BLOCK:
            return super().result(given, output)
        result: Array = np.empty(sizes, numpy_dtype(dtype_of(tensor)))
        lines = _lines(given, output)
        for at in _parts(sizes):
            needed, parts = zip(*(one.part(here).within() for one, here in zip(lines, at, strict=True)), strict=True)
            numbers = given.arithmetic.of(given.input[needed])
            target = result[at]
            target[...] = self.stored(given, _means(given.arithmetic, numbers, parts), output, target.shape)
        return result


def _lines(given: Given, output: str) -> list[Line]:
    """The places along each axis."""
    sizes, counts = given.input.shape, given.values[output].sizes
    factors = given.numbers(given.told.roles["factors"], len(sizes))
    return [line(size, count, Fraction(factor)) for size, count, factor in zip(sizes, counts, factors, strict=True)]


def _nearest(array: Array, lines: Sequence[Line]) -> Array:
    """The nearest element of each place; the last axis first, so that others move whole lines."""
    for axis in reversed(range(array.ndim)):
        if lines[axis].moves:
            array = np.take(array, lines[axis].nearest(), axis)
    return array


def _parts(sizes: Sequence[int]) -> Iterator[tuple[slice, ...]]:
    """Parts of the output of about BLOCK elements each."""
    steps: list[int] = []
    left = BLOCK
    for size in reversed(sizes):
        steps.insert(0, min(size, max(left, 1)))
        left //= size
    cuts = [range(0, size, step) for size, step in zip(sizes, steps, strict=True)]
    for firsts in itertools.product(*cuts):
        yield tuple(slice(a, min(a + n, size)) for a, n, size in zip(firsts, steps, sizes, strict=True))


def _means(m: Arithmetic, numbers: Array, lines: Sequence[Line]) -> Any:
    """Means of neighbours along each axis, by their distance from the places. What has no weight does not count."""
    for axis, one in enumerate(lines):
        if not one.moves:
            continue
        low, high = (np.clip(one.low + k, 0, one.size - 1).astype(np.intp) for k in (0, 1))
        shape = [-1 if d == axis else 1 for d in range(numbers.ndim)]
        rest = one.rest.reshape(shape)
        first, second = np.take(numbers, low, axis), np.take(numbers, high, axis)
        weighted = m.multiply(first, m.divide(one.whole - rest, one.whole))
        mean = m.add(weighted, m.multiply(second, m.divide(rest, one.whole)))
        numbers = m.where(rest == 0, first, mean) if (one.rest == 0).any() else mean
    return numbers


FAMILY: Final = Resample()
