"""region_reduce: each region of the input is divided into bins, each bin becomes one element."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

import numpy as np

from dmlcy._arithmetic import SINGLE
from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._families.base import Family, Result
from dmlcy._families.elements import grid, largest
from dmlcy._families.given import Given, beside
from dmlcy._types import Array

SIDES: Final = tuple(f"{side}.{axis}" for side in ("first", "last") for axis in ("height", "width"))


class RegionReduce(Family):
    """The family."""

    def evaluate(self, given: Given, output: str) -> Result:
        """The maximum of each bin of each region; bins are clamped to the input."""
        shape = given.output_sizes
        result: Array = np.empty(shape, given.input.dtype)
        for r, y, x, bin_ in _all_bins(given):
            for channel in range(shape[1]):
                values = [*bin_[channel].ravel()]
                result[r, channel, y, x] = largest(values) if values else given.value("empty")
        return Result(result, moved=True)

    def operations(self, desc: OperatorDesc) -> None:
        """The elements of the regions say how many."""

    def told(self, given: Given, output: str) -> Mapping[str, Callable[[], Array]]:
        """``count``: elements of the bin; ``tie``: whether a corner of the region is so near the middle between
        two that the last bit of a coordinate decides.
        """

        def count() -> Array:
            found: Array = np.zeros((given.output_sizes[0], 1, *given.output_sizes[2:]), np.int64)
            for r, y, x, bin_ in _all_bins(given):
                found[r, 0, y, x] = bin_[0].size
            return found

        def tie() -> Array:
            rois = given.arrays[given.told.roles["rois"]].astype(np.float32)
            corners = [_corners(given, np.nextafter(rois, to, dtype=np.float32)) for to in (-np.inf, np.inf)]
            found: Array = (corners[0] != corners[1]).any(1).reshape(-1, 1, 1, 1)
            return found

        return {"count": count, "tie": tie}

    def spread(self, given: Given, output: str, name: str, marks: Array) -> Array:
        """The bins that have a marked element."""
        found: Array = np.zeros(given.output_sizes, np.bool_)
        for r, y, x, bin_ in _all_bins(given.with_arrays({**given.arrays, name: marks})):
            found[r, :, y, x] = bin_.any((1, 2))
        return found


def _corners(given: Given, rois: Array) -> Array:
    """The first and the last row and column of each region."""
    given = given.with_arrays(given.arrays)
    given.arithmetic = SINGLE
    given.rules = beside(given.rules, {given.told.roles["rois"]: SINGLE.of(rois)})
    return np.array([[int(given.value(side, r=r)) for side in SIDES] for r in range(given.output_sizes[0])])


def _all_bins(given: Given) -> Iterator[tuple[int, int, int, Array]]:
    """Each region, row and column of a bin, and its elements, of which there may be none, by channel."""
    given = given.with_arrays(given.arrays)
    given.arithmetic = SINGLE  # the places are computed in FLOAT32
    rois = given.told.roles["rois"]
    given.rules = beside(given.rules, {rois: given.elements(rois)})
    source, shape = given.input, given.output_sizes
    for r in range(shape[0]):
        image = source[int(given.value("batch", r=r))]
        rows, columns = (
            _bins(given, r, axis, count, size)
            for axis, count, size in zip(("height", "width"), shape[2:], source.shape[2:], strict=True)
        )
        for y, x in grid(shape[2:]):
            yield r, y, x, image[:, rows[y].start : rows[y].stop, columns[x].start : columns[x].stop]


def _bins(given: Given, r: int, axis: str, count: int, size: int) -> list[range]:
    first, last = (given.value(f"{side}.{axis}", r=r) for side in ("first", "last"))
    bounds = [
        [given.value(f"bin.{side}", i=i, first=first, last=last, count=count) for side in ("start", "end")]
        for i in range(count)
    ]
    return [range(*(min(max(bound, 0), size) for bound in pair)) for pair in bounds]


FAMILY: Final = RegionReduce()
