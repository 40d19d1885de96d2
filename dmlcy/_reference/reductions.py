"""The definitions of families that make one element of many: window_reduce, window_scatter, region_reduce."""

from __future__ import annotations

import math
import sys
from fractions import Fraction
from typing import Any, Final

import numpy as np

from dmlcy._reference.exact import Array, exact, grid, single
from dmlcy._reference.given import Given
from dmlcy._reference.slide import slide

LARGEST: Final = Fraction(sys.float_info.max)
SMALLEST: Final = Fraction(math.ulp(0.0))


def window_reduce(given: Given) -> tuple[Array, Array]:
    """``finish`` of the elements of each window after ``step`` with each; and the accumulators before ``finish``.

    An accumulator of elements that are not 0, but whose powers are, counts as the smallest number of float64.
    """
    window, source = slide(given, given.input.shape), exact(given.input)
    shape = given.output_sizes
    lead = len(shape) - len(window.sizes)
    results, accumulators = np.empty(shape, object), np.empty(shape, object)
    volume, init = math.prod(window.sizes), given.of("init")
    for position in grid(shape[lead:]):
        places = [place for _, place in window.inside(position)]
        for item in grid(shape[:lead]):
            acc = init
            for place in places:
                acc = given.of("step", acc=acc, x=source[item + place])
            at = item + position
            acc = math.inf if acc > LARGEST else acc
            vanished = acc == 0 and any(source[item + place] != 0 for place in places)
            accumulators[at] = SMALLEST if vanished else acc
            result = given.of("finish", acc=acc, count=len(places), volume=volume)
            results[at] = Fraction(result) if math.isfinite(result) else result
    return results, accumulators


def _plus(first: Any, second: Any) -> Any:
    """A sum; an infinity or NaN, which is a float, is not added to a fraction that no float can hold."""
    if isinstance(first, float) == isinstance(second, float):
        return first + second
    return first if isinstance(first, float) else second


PLUS: Final = np.frompyfunc(_plus, 2, 1)


def window_scatter(given: Given) -> tuple[Array, Array]:
    """The sum of the elements that lie on each element of the image."""
    sizes = given.output_sizes
    window = slide(given, sizes)
    assert window.blocks is not None
    taps = math.prod(window.sizes)
    source = exact(given.input).reshape(*sizes[:2], taps, math.prod(window.blocks))
    sums: Array = np.zeros(sizes, object)
    for column, position in enumerate(grid(window.blocks)):
        for row, place in window.inside(position):
            under: Any = (slice(None), slice(None), *place)
            with np.errstate(invalid="ignore"):  # of infinities of both signs
                sums[under] = PLUS(sums[under], source[:, :, row, column])
    return sums, sums


def window_maximum(given: Given) -> Array:
    """The maximum of the elements of each window; of none the least number."""
    window, source = slide(given, given.input.shape), given.input
    lead = source.ndim - len(window.sizes)
    result: Array = np.empty(given.output_sizes, source.dtype)
    least = -math.inf if source.dtype.kind == "f" else np.iinfo(source.dtype).min
    for position in grid(given.output_sizes[lead:]):
        places = [place for _, place in window.inside(position)]
        for item in grid(given.output_sizes[:lead]):
            result[item + position] = _largest([source[item + place] for place in places]) if places else least
    return result


def window_indices(given: Given) -> Array:
    """Where these maxima stand in the input, counted over all axes; 2**32 - 1 where there is none."""
    window, source = slide(given, given.input.shape), given.input
    lead = source.ndim - len(window.sizes)
    result: Array = np.full(given.output_sizes, 2**32 - 1, np.uint64)
    for position in grid(given.output_sizes[lead:]):
        places = [place for _, place in window.inside(position)]
        if not places:
            continue
        for item in grid(given.output_sizes[:lead]):
            at = item + places[_first([source[item + place] for place in places])]
            result[item + position] = np.ravel_multi_index(at, source.shape)
    return result


def region_reduce(given: Given) -> Array:
    """The maximum of each bin of each region; bins are clamped to the input."""
    rois = given.arrays[given.told.roles["rois"]]
    regions = np.empty(rois.shape, object)
    regions[...] = [[[[single(value) for value in row] for row in plane] for plane in item] for item in rois.tolist()]
    rules = given.formulas.rules
    for name, value in vars(rules).items():
        if type(value) is float:
            setattr(rules, name, single(value))
    setattr(rules, given.told.roles["rois"], regions)
    source, shape = given.input, given.output_sizes
    result: Array = np.empty(shape, source.dtype)
    for r in range(shape[0]):
        image = source[int(given.of("batch", r=r))]
        rows, columns = (
            _bins(given, r, axis, count, size)
            for axis, count, size in zip(("height", "width"), shape[2:], source.shape[2:], strict=True)
        )
        for y, x in grid(shape[2:]):
            for channel in range(shape[1]):
                values = image[channel, rows[y].start : rows[y].stop, columns[x].start : columns[x].stop]
                result[r, channel, y, x] = _largest([*values.ravel()]) if values.size else given.of("empty")
    return result


def _bins(given: Given, r: int, axis: str, count: int, size: int) -> list[range]:
    first, last = (given.of(f"{side}.{axis}", r=r) for side in ("first", "last"))
    bounds = [
        [given.of(f"bin.{side}", i=i, first=first, last=last, count=count) for side in ("start", "end")]
        for i in range(count)
    ]
    return [range(*(min(max(bound, 0), size) for bound in pair)) for pair in bounds]


def _largest(values: list[Any]) -> Any:
    """The maximum: numbers before NaN, +0 before -0."""
    return values[_first(values)]


def _first(values: list[Any]) -> int:
    """Where the maximum stands, the first of equal ones."""

    def key(at: int) -> tuple[object, ...]:
        value = values[at]
        return (False,) if math.isnan(value) else (True, value, math.copysign(1, value))

    return max(range(len(values)), key=key)
