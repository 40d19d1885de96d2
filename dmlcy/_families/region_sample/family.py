"""region_sample: each region is divided into cells, and samples of each cell become one element."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

import numpy as np

from dmlcy._arithmetic import Arithmetic
from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._families.base import Family, Result
from dmlcy._families.blocks import BLOCK
from dmlcy._families.given import Given
from dmlcy._families.region_sample import marks
from dmlcy._families.region_sample.gradients import Backwards
from dmlcy._families.region_sample.regions import Region, regions
from dmlcy._families.spread import combined, idle
from dmlcy._field_types.float import single
from dmlcy._types import Array, Number

OF_A_PLACE: Final = 3
"""Numbers of 8 bytes for each sample along one axis."""


class RegionSample(Family):
    """The family."""

    of_a_part = 24

    def evaluate(self, given: Given, output: str) -> Result:
        """The mean or the maximum of the samples of each cell; or the gradients of the input and of the regions."""
        if "gradient" in given.told.roles:
            return _gradient(given, output)

        def whole(absolute: bool) -> Number:
            result = given.arithmetic.of(np.zeros(given.output_sizes))
            for r, channels, values in _parts(given, absolute):
                result[r, channels] = values
            return result

        return Result(whole(False), magnitudes=lambda: whole(True))

    def operations(self, desc: OperatorDesc) -> None:
        """The elements of the regions say how many."""

    def told(self, given: Given, output: str) -> Mapping[str, Callable[[], Array]]:
        """``odd_tie``: whether a nearest element of the cell is one of two, of which the first has an odd index.

        ``contested``, of a gradient: whether several samples may be the greatest one.
        """
        if "gradient" not in given.told.roles:
            return {"odd_tie": lambda: np.array([marks.ties(one) for one in marks.of_cells(given)])}
        of_regions = _is_of_regions(given, output)
        return {
            "odd_tie": lambda: np.zeros(1, np.bool_) if of_regions else marks.tied(given),
            "contested": lambda: marks.contested(given, of_regions),
        }

    def spread(self, given: Given, output: str, name: str, marked: Array) -> Array:
        """The cells that have a sample between elements of which one is marked, and has a weight."""
        m = given.arithmetic
        several = [(marked[one.item], one.rows.means(m), one.columns.means(m)) for one in marks.of_cells(given)]
        return np.array([columns.touched(rows.touched(some, 1), 2) for some, rows, columns in several])

    def idle(self, given: Given, output: str, name: str, marked: Array) -> Array:
        """The cells that have a sample beside a marked element, which has no weight; of a gradient, such elements."""
        if "gradient" in given.told.roles:
            return marks.idle_of_gradient(given, marked)
        m = given.arithmetic
        several = [
            (marked[one.item], {1: one.rows.nearby(m), 2: one.columns.nearby(m)}) for one in marks.of_cells(given)
        ]
        return np.array([idle(some, nearby) for some, nearby in several])

    def workspace(self, desc: OperatorDesc) -> int:
        """Of a part of samples, of which a cell has many, and of the places of the fewest samples of an axis."""
        roles = desc.operator.definition.roles
        cells = getattr(desc, roles.get("gradient", "output")).sizes[2:]
        places: int = max(cells) * getattr(desc, roles["least"])
        return 8 * (self.of_a_part * BLOCK + OF_A_PLACE * places)

    def result(self, given: Given, output: str) -> Array:
        """The same, some channels of a region after others."""
        found: Array = given.room(output)
        if _is_of_regions(given, output):
            return super().result(given, output)
        if "gradient" in given.told.roles:
            for channels, values in Backwards.of(given, False).image():
                found[:, channels] = self.stored(given, values, output, values.shape)
            return found
        for r, channels, values in _parts(given, False):
            found[r, channels] = self.stored(given, values, output, values.shape)
        return found


def _is_of_regions(given: Given, output: str) -> bool:
    return output == given.told.roles.get("region_gradient")


def _gradient(given: Given, output: str) -> Result:
    sizes = given.values[output].sizes

    def whole(absolute: bool) -> Number:
        backwards = Backwards.of(given, absolute)
        if _is_of_regions(given, output):
            return backwards.corners().reshape(sizes)
        result = given.arithmetic.of(np.zeros(sizes))
        for channels, values in backwards.image():
            result[:, channels] = values
        return result

    return Result(whole(False), magnitudes=lambda: whole(True))


def _parts(given: Given, absolute: bool) -> Iterator[tuple[int, slice, Number]]:
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

    def of(self, image: Array, beyond: Number) -> Number:
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

    def of(self, image: Array, beyond: Number) -> Number:
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
