"""resample: elements between those of a tensor, along each axis by itself."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from dmlcy._arithmetic import Arithmetic, Array
from dmlcy._desc.memory import dtype_of
from dmlcy._facts.dtypes import numpy_dtype
from dmlcy._families.base import Family, Result
from dmlcy._families.given import Given

NEAREST: Final = "NEAREST_NEIGHBOR"
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

    def cut(self, places: Array) -> Array:
        """Places of which those outside are at the ends of the input."""
        return np.minimum(np.maximum(places, 0), self.size - 1)

    def nearest(self) -> Array:
        """The nearest element of each place; of two, the first one."""
        return self.cut(self.low + (2 * self.rest > self.whole))

    def within(self, at: slice) -> tuple[slice, Line]:
        """The part of the input that some of the places need, and these places in this part."""
        low, rest = self.low[at], self.rest[at]
        first, last = (int(one) for one in self.cut(np.array([low[0], low[-1] + 1])))
        shift = first if low[0] >= 0 else 0  # a place before the first element stays before it
        return slice(first, last + 1), Line(low - shift, rest, self.whole, last + 1 - first)


def line(size: int, count: int, factor: int) -> Line:
    """The places of the middles of so many elements, each of which is 1 / factor long: (i + 0.5) / factor - 0.5."""
    low, rest = np.divmod(2 * np.arange(count) + (1 - factor), 2 * factor)
    return Line(low, rest, 2 * factor, size)


class Resample(Family):
    """The family."""

    of_a_part = 24

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
            needed, parts = list(at), dict(lines)
            for axis, one in lines.items():
                needed[axis], parts[axis] = one.within(at[axis])
            numbers = given.arithmetic.of(given.input[tuple(needed)])
            target = result[at]
            target[...] = self.stored(given, _means(given.arithmetic, numbers, parts), output, target.shape)
        return result


def _lines(given: Given, output: str) -> dict[int, Line]:
    """The places along each axis that is another one in the output."""
    sizes, counts = given.input.shape, given.values[output].sizes
    factors = given.numbers(given.told.roles["factors"], len(sizes))
    return {
        axis: line(size, count, factor)
        for axis, (size, count, factor) in enumerate(zip(sizes, counts, factors, strict=True))
        if (size, factor) != (count, 1)
    }


def _nearest(array: Array, lines: Mapping[int, Line]) -> Array:
    """The nearest element of each place; the last axis first, so that others move whole lines."""
    for axis in sorted(lines, reverse=True):
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


def _means(m: Arithmetic, numbers: Array, lines: Mapping[int, Line]) -> Any:
    """Means of neighbours along each axis, by their distance from the places. What has no weight does not count."""
    for axis, one in lines.items():
        low, high = one.cut(one.low), one.cut(one.low + 1)
        shape = [-1 if d == axis else 1 for d in range(numbers.ndim)]
        rest = one.rest.reshape(shape)
        first, second = np.take(numbers, low, axis), np.take(numbers, high, axis)
        weighted = m.multiply(first, m.divide(one.whole - rest, one.whole))
        mean = m.add(weighted, m.multiply(second, m.divide(rest, one.whole)))
        numbers = m.where(rest == 0, first, mean) if (one.rest == 0).any() else mean
    return numbers


FAMILY: Final = Resample()
