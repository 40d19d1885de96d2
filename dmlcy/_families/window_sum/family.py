"""window_sum: means of integers under windows, and what the gradients of windows give back to the elements."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from dmlcy._arithmetic import Array
from dmlcy._families.base import Family, Result
from dmlcy._families.blocks import RESULTS, At, cut, parts, shorten, sizes_of, whole
from dmlcy._families.given import Given
from dmlcy._families.spread import Spread, combined
from dmlcy._families.window_maxima import NONE, places_of
from dmlcy._families.windows import Slide, numbers_inside, slide

LEAD: Final = 2
"""Axes without a window: the batch and the channels."""


class WindowSum(Family):
    """The family."""

    of_a_part = 14

    def evaluate(self, given: Given, output: str) -> Result:
        """The whole output."""
        every = whole(given.output_sizes)
        kind = KINDS[given.told.words["of"]]
        return Result(kind(given).of(every), magnitudes=lambda: kind(given, absolute=True).of(every))

    def result(self, given: Given, output: str) -> Array:
        """The same, part by part."""
        kind = KINDS[given.told.words["of"]](given)
        result: Array = np.empty(given.output_sizes, given.dtype(output))
        for at in kind.parts():
            result[at] = self.stored(given, kind.of(at), output, sizes_of(at))
        return result


class _Windows:
    """Windows over an image, and what goes where along its axes. ``absolute``: of the sizes of the terms."""

    def __init__(self, given: Given, image: tuple[int, ...], absolute: bool) -> None:
        self.given, self.m, self.absolute = given, given.arithmetic, absolute
        self.window = slide(given, image)
        self.counts: list[Array] = []
        self.volume = math.prod(self.window.sizes)

    def numbers(self, array: Array) -> Any:
        """Elements, or their absolute values."""
        found = self.m.of(array)
        return self.m.absolute(found) if self.absolute else found

    def divisors(self, positions: tuple[slice, ...]) -> Any:
        """How many elements count at these positions, at least 1."""
        if self.given.field("counted"):
            return self.volume
        count = np.ones((1,) * len(positions), np.int64)
        for d, (inside, some) in enumerate(zip(self.counts, positions, strict=True)):
            count = count * inside[some].reshape([-1 if k == d else 1 for k in range(len(positions))])
        return self.m.of(np.maximum(count, 1))

    def taps(self, positions: tuple[int, ...]) -> list[tuple[Array, Array]]:
        """Along each axis, the position and the place of each element under a window at some position."""
        found = []
        for d, count in enumerate(positions):
            window: Slide = self.window
            firsts = [position * window.strides[d] - window.start[d] for position in range(count)]
            inside = [numbers_inside(one, window.dilations[d], window.sizes[d], window.limits[d]) for one in firsts]
            self.counts.append(np.array([len(one) for one in inside]))
            places = [np.array(one) * window.dilations[d] + first for one, first in zip(inside, firsts, strict=True)]
            position = np.repeat(np.arange(count), self.counts[-1])
            found.append((position, np.concatenate(places).astype(np.int64)))
        return found

    def parts(self) -> Iterator[At]:
        """Parts of the output that are computed one after another."""
        return parts(self.given.output_sizes, RESULTS)


class _Shares(_Windows):
    """Each element is spread over its window in equal shares."""

    def __init__(self, given: Given, absolute: bool = False) -> None:
        super().__init__(given, given.output_sizes, absolute)
        self.gradient = given.input
        taps = self.taps(self.gradient.shape[LEAD:])
        self.spreads = [
            Spread.of(self.m, position, place, None, size)
            for (position, place), size in zip(taps, given.output_sizes[LEAD:], strict=True)
        ]

    def of(self, at: At) -> Any:
        """A part of the gradient."""
        m = self.m
        found = [spread.within(one) for spread, one in zip(self.spreads, at[LEAD:], strict=True)]
        needed = tuple(one for one, _ in found)
        numbers = m.divide(self.numbers(self.gradient[(*at[:LEAD], *needed)]), self.divisors(needed))
        for d, (_, spread) in enumerate(found, LEAD):
            numbers = spread.applied(m, numbers, d)
        return m.add(numbers, 0)


class _Means(_Windows):
    """Means of quantized integers under each window, quantized again."""

    def __init__(self, given: Given, absolute: bool = False) -> None:
        super().__init__(given, given.input.shape, absolute)
        taps = self.taps(given.output_sizes[LEAD:])
        self.spreads = [
            Spread.of(self.m, place, position, None, count)
            for (position, place), count in zip(taps, given.output_sizes[LEAD:], strict=True)
        ]

    def entries(self, role: str, at: At) -> Any:
        """The elements of a tensor of one element, or of one for each channel; None without the tensor."""
        array = self.given.arrays.get(self.given.told.roles[role])
        if array is None:
            return None
        flat = array.ravel() if array.size == 1 else array.ravel()[at[1]]
        return self.m.of(flat.reshape(-1, *[1] * len(at[LEAD:])))

    def of(self, at: At) -> Any:
        """A part of the output."""
        m, given = self.m, self.given
        found = [spread.within(one) for spread, one in zip(self.spreads, at[LEAD:], strict=True)]
        numbers = m.of(given.input[(*at[:LEAD], *(one for one, _ in found))])
        zero = self.entries("zero", at)
        numbers = numbers if zero is None else m.subtract(numbers, zero)
        for d, (_, spread) in enumerate(found, LEAD):
            numbers = spread.applied(m, numbers, d)
        numbers = m.divide(m.multiply(m.double(numbers), self.entries("scale", at)), self.divisors(at[LEAD:]))
        numbers = m.function("round_even", m.single(m.divide(numbers, self.entries("output_scale", at))))
        zero = self.entries("output_zero", at)
        dtype = given.dtype(given.outputs[0][0])
        return m.saturate(numbers if zero is None else m.add(numbers, zero), dtype)


class _Greatest(_Windows):
    """Each element goes to the place of the maximum of its window."""

    def __init__(self, given: Given, absolute: bool = False) -> None:
        super().__init__(given, given.output_sizes, absolute)
        self.gradient = given.arrays[given.told.roles["gradient"]]

    def parts(self) -> Iterator[At]:
        """Some channels after others."""
        sizes = self.given.output_sizes
        steps, most = list(sizes), max(math.prod(sizes), self.gradient.size)
        for d in range(LEAD):
            shorten(steps, d, RESULTS, most)
            most = most * steps[d] // sizes[d]
        return cut(whole(sizes), steps)

    def of(self, at: At) -> Any:
        """A part of the gradient, of whole images."""
        m, lead = self.m, at[:LEAD]
        sizes, gradient = sizes_of(at), self.gradient[lead]
        places = places_of(m, self.window, self.given.input[lead], gradient.shape).ravel()
        order = np.argsort(places, kind="stable")
        order = order[: np.searchsorted(places[order], NONE)]
        values, places = combined(m.add, self.numbers(gradient).ravel()[order], places[order], 0)
        result = m.of(np.zeros(math.prod(sizes)))
        result[places] = m.add(values, 0)
        return result.reshape(sizes)


KINDS: Final[dict[str, Any]] = {"shares": _Shares, "means": _Means, "greatest": _Greatest}
FAMILY: Final = WindowSum()
