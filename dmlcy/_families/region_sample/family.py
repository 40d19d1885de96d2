"""region_sample: each region is divided into cells, and samples of each cell become one element."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from dmlcy._arithmetic import Arithmetic, Array
from dmlcy._families.base import Family, Result
from dmlcy._families.blocks import BLOCK
from dmlcy._families.given import Given
from dmlcy._families.region_sample.samples import Grid, Samples
from dmlcy._families.spread import combined
from dmlcy._field_types.float import single


@dataclass(frozen=True, slots=True)
class Region:
    """A region: its item of the batch, and its samples along the height and the width."""

    item: int
    rows: Samples
    columns: Samples

    def outside(self) -> Any:
        """Of each cell, whether some of its samples are outside the input, and whether all are."""
        rows, columns = self.rows.inside(), self.columns.inside()
        some = (rows < self.rows.each)[:, None] | (columns < self.columns.each)
        return some, (rows == 0)[:, None] | (columns == 0)


class RegionSample(Family):
    """The family."""

    def evaluate(self, given: Given, output: str) -> Result:
        """The mean or the maximum of the samples of each cell."""

        def whole(absolute: bool) -> Any:
            result = given.arithmetic.of(np.zeros(given.output_sizes))
            for r, channels, values in _parts(given, absolute):
                result[r, channels] = values
            return result

        return Result(whole(False), magnitudes=lambda: whole(True))

    def result(self, given: Given, output: str) -> Array:
        """The same, some channels of a region after others."""
        found: Array = np.empty(given.output_sizes, given.input.dtype)
        for r, channels, values in _parts(given, False):
            found[r, channels] = self.stored(given, values, output, values.shape)
        return found


def _parts(given: Given, absolute: bool) -> Iterator[tuple[int, slice, Any]]:
    """The elements of some channels of each region. ``absolute``: how large their terms are."""
    m = given.arithmetic
    count = given.input.shape[1]
    role = given.told.roles["outside"]
    outside = single(getattr(given.rules, role))
    beyond = m.of(np.array(abs(outside) if absolute else outside))[()]
    is_mean = given.field("reduction").name == "AVERAGE"
    for r, region in enumerate(regions(given, given.output_sizes[2:], given.input.shape[2:])):
        cells = _Means(m, region) if is_mean else _Maxima(m, region)
        step = max(1, BLOCK // max(1, cells.numbers))
        for first in range(0, count, step):
            channels = slice(first, min(first + step, count))
            image = m.of(given.input[region.item, channels, cells.high, cells.wide])
            yield r, channels, cells.of(m.absolute(image) if absolute else image, beyond)


def regions(given: Given, cells: tuple[int, ...], sizes: tuple[int, ...]) -> Iterator[Region]:
    """The regions of a use; ``cells``: of the output, ``sizes``: of the input, both along height and width."""
    roles, value = given.told.roles, given.values
    corners = bool(value[roles["corners"]]) if "corners" in roles else False
    before = single(value[roles["before"]]) if "before" in roles else 0.5
    after = single(value[roles["after"]]) if "after" in roles else -0.5
    nearest = given.field("mode").name != "LINEAR"
    grids = [
        Grid(count, size, single(value[roles[scale]]), value[roles["least"]], value[roles["most"]], before, after,
             corners, nearest)
        for count, size, scale in zip(cells, sizes, ("scale_y", "scale_x"), strict=True)
    ]  # fmt: skip
    corner = given.arrays[roles["rois"]].reshape(-1, 4)
    items = given.arrays[roles["batches"]].ravel().tolist()
    for item, (x1, y1, x2, y2) in zip(items, corner.astype(np.float32).tolist(), strict=True):
        yield Region(item, grids[0].samples(y1, y2), grids[1].samples(x1, x2))


class _Means:
    """Means of the samples of each cell: along the rows, then along the columns."""

    def __init__(self, m: Arithmetic, region: Region) -> None:
        self.m = m
        rows, columns = region.rows.means(m), region.columns.means(m)
        self.high, self.rows = rows.within(slice(0, rows.count))
        self.wide, self.columns = columns.within(slice(0, columns.count))
        self.numbers = max(len(rows.source), self.high.stop - self.high.start) * (self.wide.stop - self.wide.start)
        inside = [
            m.divide(m.of(one.inside()), one.each).reshape(sizes)
            for one, sizes in ((region.rows, (-1, 1)), (region.columns, (1, -1)))
        ]
        self.outside = region.outside()[0]
        self.share = m.subtract(1, m.multiply(*inside))

    def of(self, image: Array, beyond: Any) -> Any:
        """The means of a part of the input."""
        found = self.columns.applied(self.m, self.rows.applied(self.m, image, 1), 2)
        return self.m.where(self.outside, self.m.add(found, self.m.multiply(beyond, self.share)), found)


class _Maxima:
    """Maxima of the samples of each cell; of many samples between the same elements, two are enough."""

    def __init__(self, m: Arithmetic, region: Region) -> None:
        self.m = m
        self.cells = region.rows.grid.cells, region.columns.grid.cells
        few = region.rows.extremes(), region.columns.extremes()
        self.places = [one.cell for one in few]
        rows, columns = (one.values(m) for one in few)
        self.high, self.rows = rows.within(slice(0, rows.count))
        self.wide, self.columns = columns.within(slice(0, columns.count))
        wide = self.wide.stop - self.wide.start
        self.numbers = max(len(rows.source), 1) * max(wide, len(columns.source))
        self.some, self.all = region.outside()

    def of(self, image: Array, beyond: Any) -> Any:
        """The maxima of a part of the input."""
        m = self.m
        result = m.of(np.zeros((len(image), *self.cells)))
        if not self.all.all():
            values = self.columns.applied(m, self.rows.applied(m, image, 1), 2)
            values, rows = combined(m.maximum, values, self.places[0], 1)
            values, columns = combined(m.maximum, values, self.places[1], 2)
            result[:, rows[:, None], columns] = values
        result = m.where(np.broadcast_to(self.all, result.shape), beyond, result)
        return m.where(np.broadcast_to(self.some, result.shape), m.maximum(result, beyond), result)


FAMILY: Final = RegionSample()
