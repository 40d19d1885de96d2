"""region_reduce: each region of the input is divided into bins, each bin becomes one element."""

from __future__ import annotations

from typing import Final

import numpy as np

from dmlcy._arithmetic import SINGLE, Array
from dmlcy._families.base import Family, Result
from dmlcy._families.elements import grid, largest
from dmlcy._families.given import Given


class RegionReduce(Family):
    """The family."""

    def evaluate(self, given: Given, output: str) -> Result:
        """The maximum of each bin of each region; bins are clamped to the input."""
        given.arithmetic = SINGLE  # the places are those that FLOAT32 gives
        setattr(given.rules, given.told.roles["rois"], given.elements(given.told.roles["rois"]))
        source, shape = given.input, given.output_sizes
        result: Array = np.empty(shape, source.dtype)
        for r in range(shape[0]):
            image = source[int(given.value("batch", r=r))]
            rows, columns = (
                _bins(given, r, axis, count, size)
                for axis, count, size in zip(("height", "width"), shape[2:], source.shape[2:], strict=True)
            )
            for y, x in grid(shape[2:]):
                for channel in range(shape[1]):
                    values = image[channel, rows[y].start : rows[y].stop, columns[x].start : columns[x].stop]
                    result[r, channel, y, x] = largest([*values.ravel()]) if values.size else given.value("empty")
        return Result(result, moved=True)


def _bins(given: Given, r: int, axis: str, count: int, size: int) -> list[range]:
    first, last = (given.value(f"{side}.{axis}", r=r) for side in ("first", "last"))
    bounds = [
        [given.value(f"bin.{side}", i=i, first=first, last=last, count=count) for side in ("start", "end")]
        for i in range(count)
    ]
    return [range(*(min(max(bound, 0), size) for bound in pair)) for pair in bounds]


FAMILY: Final = RegionReduce()
