"""window_sum: means of integers under windows, and what the gradients of windows give back to the elements."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np

from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._families.base import Family, Result
from dmlcy._families.blocks import RESULTS, At, cut, shorten, sizes_of, steps_of, whole
from dmlcy._families.given import Given
from dmlcy._families.operations import sizes_only
from dmlcy._families.spread import Spread, combined
from dmlcy._families.window_maxima import NONE, places_of
from dmlcy._families.windows import slide
from dmlcy._types import Array, Number

LEAD: Final = 2
"""Axes without a window: the batch and the channels."""


class WindowSum(Family):
    """The family."""

    part, of_a_part = RESULTS, 14

    def evaluate(self, given: Given, output: str) -> Result:
        """The whole output."""
        every = whole(given.output_sizes)
        kind = KINDS[given.told.words["of"]]
        return Result(kind(given).of(every), magnitudes=lambda: kind(given, absolute=True).of(every))

    def result(self, given: Given, output: str) -> Array:
        """The same, part by part."""
        kind = KINDS[given.told.words["of"]](given)
        result: Array = given.room(output)
        for at in kind.parts():
            result[at] = self.stored(given, kind.of(at), output, sizes_of(at))
        return result

    def operations(self, desc: OperatorDesc) -> int:
        """The operations: one for each window and each of its elements, padding too, and the operations of each window,
        or of each mean.

        Of a mean these are four and one for each zero point: two scales, the divisor, the rounding to a whole number.
        Of a gradient it is one: the share, or the sum at the place of the maximum.
        """
        given = sizes_only(desc)
        roles, means = given.told.roles, given.told.words["of"] == "means"
        gradient = given.arrays.get(roles.get("gradient", ""))
        windows = math.prod(given.output_sizes if means else (given.input if gradient is None else gradient).shape)
        zeros = sum(given.arrays.get(roles.get(role, "")) is not None for role in ("zero", "output_zero"))
        volume = math.prod(slide(given, given.input.shape if means else given.output_sizes).sizes)
        return windows * (volume + (4 + zeros if means else 1))

    def told(self, given: Given, output: str) -> Mapping[str, Callable[[], Array]]:
        """Of a mean, ``count``: elements of the window that are no padding; ``beyond``: it reaches past the padding."""
        window, positions = slide(given, given.input.shape), given.output_sizes[LEAD:]
        return {"count": lambda: window.counts(positions), "beyond": lambda: window.beyond(positions)}

    def spread(self, given: Given, output: str, name: str, marks: Array) -> Array:
        """The windows that have a marked element; of a gradient, all elements of these windows."""
        if name != next(iter(given.arrays)):  # a tensor of one element, or of one for each channel
            return marks.reshape(-1, *[1] * len(given.output_sizes[LEAD:]))
        if given.told.words["of"] == "means":
            return slide(given, given.input.shape).touched(marks, given.output_sizes[LEAD:])
        window = slide(given, given.output_sizes)
        gradient = given.arrays[given.told.roles["gradient"]]
        return window.under(window.touched(marks, gradient.shape[LEAD:]))


class _Windows:
    """Windows over an image, and what goes where along its axes. ``absolute``: of the sizes of the terms."""

    def __init__(self, given: Given, image: tuple[int, ...], absolute: bool) -> None:
        self.given, self.m, self.absolute = given, given.arithmetic, absolute
        self.window = slide(given, image)
        self.volume = math.prod(self.window.sizes)

    def numbers(self, array: Array) -> Number:
        """Elements, or their absolute values."""
        found = self.m.of(array)
        return self.m.absolute(found) if self.absolute else found

    def divisors(self, positions: tuple[slice, ...]) -> Number:
        """How many elements count at these positions, at least 1."""
        if self.given.field("counted"):
            return self.volume
        count = np.ones((1,) * len(positions), np.int64)
        for d, some in enumerate(positions):
            _, inside = self.inside(d, some)
            count = count * inside.reshape([-1 if k == d else 1 for k in range(len(positions))])
        return self.m.of(np.maximum(count, 1))

    def inside(self, d: int, positions: slice) -> tuple[Array, Array]:
        """Along an axis, at each of some positions the place of the first element of the window that is no padding.

        And how many elements there are from it on, which are as far from each other as the dilation says.
        """
        window = self.window
        dilation, limit = window.dilations[d], window.limits[d]
        place = np.arange(positions.start, positions.stop) * window.strides[d] - window.start[d]
        first = np.maximum(0, -(place // dilation))
        last = np.minimum(window.sizes[d], (limit - 1 - place) // dilation + 1)
        return place + first * dilation, np.maximum(last - first, 0)

    def taps(self, d: int, positions: slice) -> tuple[Array, Array]:
        """Along an axis, the position and the place of each element under a window at some of the positions."""
        first, count = self.inside(d, positions)
        number = np.arange(int(count.sum())) - np.repeat(np.cumsum(count) - count, count)
        place = np.repeat(first, count) + number * self.window.dilations[d]
        return np.repeat(np.arange(positions.start, positions.stop), count), place

    def spread(self, source: Array, target: Array, at: slice) -> tuple[slice, Spread]:
        """The sources that some targets need, and what goes from these to the targets."""
        count = at.stop - at.start
        return Spread.of(self.m, source, target - at.start, None, count).within(slice(0, count))

    def parts(self) -> Iterator[At]:
        """Parts of the output that are computed one after another, so that few numbers are kept at once."""
        sizes, most = self.given.output_sizes, RESULTS
        steps = steps_of(sizes, most)
        while most > 1 and self.kept(steps) > RESULTS:
            most //= 2
            steps = steps_of(sizes, most)
        return cut(whole(sizes), steps)

    def kept(self, steps: Sequence[int]) -> int:
        """The most numbers that are kept at once for a part of these sizes: the axes are added up one by one."""
        own = steps[LEAD:]
        read = [self.read(d, size) for d, size in enumerate(own)]
        taps = [size * min(window, count) for size, window, count in zip(own, self.window.sizes, read, strict=True)]
        of_axes = (math.prod(own[:d]) * taps[d] * math.prod(read[d + 1 :]) for d in range(len(own)))
        return math.prod(steps[:LEAD]) * max(of_axes)

    def read(self, d: int, size: int) -> int:
        """How long the part of the input is that so many elements of the output along an axis need."""
        raise NotImplementedError

    def far(self, d: int) -> int:
        """How far the last element of a window is from the first one."""
        return (self.window.sizes[d] - 1) * self.window.dilations[d]


class _Shares(_Windows):
    """Each element is spread over its window in equal shares."""

    def __init__(self, given: Given, absolute: bool = False) -> None:
        super().__init__(given, given.output_sizes, absolute)
        self.gradient = given.input

    def read(self, d: int, size: int) -> int:
        """The number of windows over the elements."""
        positions: int = self.gradient.shape[LEAD + d]
        return min(positions, (size - 1 + self.far(d)) // self.window.strides[d] + 1)

    def under(self, d: int, at: slice) -> tuple[slice, Spread]:
        """The positions of the windows over some elements along an axis, and which element is under which."""
        window = self.window
        stride, start = window.strides[d], window.start[d]
        first = max(0, -((self.far(d) - at.start - start) // stride))
        last = min(self.gradient.shape[LEAD + d], (at.stop - 1 + start) // stride + 1)
        position, place = self.taps(d, slice(first, max(first, last)))
        some = (place >= at.start) & (place < at.stop)
        return self.spread(position[some], place[some], at)

    def of(self, at: At) -> Number:
        """A part of the gradient."""
        m = self.m
        found = [self.under(d, one) for d, one in enumerate(at[LEAD:])]
        needed = tuple(one for one, _ in found)
        numbers = m.divide(self.numbers(self.gradient[(*at[:LEAD], *needed)]), self.divisors(needed))
        for d, (_, spread) in enumerate(found, LEAD):
            numbers = spread.applied(m, numbers, d)
        return m.add(numbers, 0)


class _Means(_Windows):
    """Means of quantized integers under each window, quantized again."""

    def __init__(self, given: Given, absolute: bool = False) -> None:
        super().__init__(given, given.input.shape, absolute)

    def read(self, d: int, size: int) -> int:
        """Those under the windows."""
        return min(self.window.limits[d], (size - 1) * self.window.strides[d] + self.far(d) + 1)

    def entries(self, role: str, at: At) -> Number:
        """The elements of a tensor of one element, or of one for each channel; None without the tensor."""
        array = self.given.arrays.get(self.given.told.roles[role])
        if array is None:
            return None
        flat = array.ravel() if array.size == 1 else array.ravel()[at[1]]
        return self.m.of(flat.reshape(-1, *[1] * len(at[LEAD:])))

    def of(self, at: At) -> Number:
        """A part of the output."""
        m, given = self.m, self.given
        taps = [self.taps(d, one) for d, one in enumerate(at[LEAD:])]
        found = [self.spread(place, position, one) for (position, place), one in zip(taps, at[LEAD:], strict=True)]
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

    def of(self, at: At) -> Number:
        """A part of the gradient, of whole images."""
        m, lead = self.m, at[:LEAD]
        sizes, gradient = sizes_of(at), self.gradient[lead]
        places = places_of(m, self.window, self.given.input[lead], gradient.shape).ravel()
        order = np.argsort(places, kind="stable")
        order = order[: np.searchsorted(places[order], NONE)]
        values, places = combined(m.add, m.partial(self.numbers(gradient).ravel()[order]), places[order], 0)
        result = m.of(np.zeros(math.prod(sizes)))
        result[places] = m.add(values, 0)
        return result.reshape(sizes)


KINDS: Final[dict[str, Any]] = {"shares": _Shares, "means": _Means, "greatest": _Greatest}
FAMILY: Final = WindowSum()
