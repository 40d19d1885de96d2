"""The gradients of samples of regions: of the input, and of the corners of the regions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from dmlcy._arithmetic import Arithmetic
from dmlcy._families.blocks import RESULTS
from dmlcy._families.given import Given
from dmlcy._families.region_sample.regions import Region, regions
from dmlcy._families.region_sample.samples import STEPS, Samples
from dmlcy._families.spread import combined
from dmlcy._field_types.float import single
from dmlcy._runtime.places import indices_of
from dmlcy._types import Array, Number


@dataclass(frozen=True, slots=True)
class Backwards:
    """A use of a gradient.

    ``cells``: of a region, along height and width. ``sizes``: of the input. ``most``: elements of a channel of the
    result, or samples of a region, whichever are more.
    """

    given: Given
    cells: tuple[int, ...]
    sizes: tuple[int, ...]
    most: int
    is_mean: bool
    absolute: bool

    @classmethod
    def of(cls, given: Given, absolute: bool) -> Backwards:
        """``absolute``: of the sizes of the terms."""
        roles = given.told.roles
        tensor = given.values[roles["image_gradient"]] or given.values[roles["input"]]
        sizes, cells = tuple(tensor.sizes), given.arrays[roles["gradient"]].shape[2:]
        samples = (region.samples() for region in regions(given, cells, sizes[2:]))
        most = max(sizes[0] * sizes[2] * sizes[3], max(samples, default=0))
        return cls(given, cells, sizes, most, given.field("reduction").name == "AVERAGE", absolute)

    def regions(self) -> Iterator[tuple[int, Region]]:
        """The number and the samples of each region, found anew: those of many regions take more than the result."""
        return enumerate(regions(self.given, self.cells, self.sizes[2:]))

    def numbers(self, role: str, *at: Number) -> Number:
        """A part of an input."""
        m = self.given.arithmetic
        found = m.of(self.given.arrays[self.given.told.roles[role]][at])
        return m.absolute(found) if self.absolute else found

    def channels(self) -> Iterator[slice]:
        """Some channels after others."""
        count, step = self.sizes[1], max(1, RESULTS // self.most)
        for first in range(0, count, step):
            yield slice(first, min(first + step, count))

    def image(self) -> Iterator[tuple[slice, Number]]:
        """The gradient of some channels of the input after others."""
        m = self.given.arithmetic
        batch, _, *image = self.sizes
        for channels in self.channels():
            result = m.partial(m.of(np.zeros((batch, channels.stop - channels.start, *image))))
            for r, region in self.regions():
                if region.is_outside():
                    continue
                gradient = self.numbers("gradient", r, channels)
                high, wide, values = (
                    self.shares(region, gradient) if self.is_mean else self.winners(r, region, channels, gradient)
                )
                part = (region.item, slice(None), high, wide)
                result[part] = m.add(result[part], values)
            yield channels, result

    def shares(self, region: Region, gradient: Number) -> tuple[slice, slice, Number]:
        """Rows and columns of an image, and what goes to them of means."""
        m, found = self.given.arithmetic, []
        for axis, samples in enumerate((region.rows, region.columns), 1):
            needed, spread = samples.means(m).within(slice(0, samples.grid.cells))
            gradient = spread.turned(m, needed.stop - needed.start).applied(m, gradient, axis)
            found.append(needed)
        return found[0], found[1], gradient

    def winners(self, r: int, region: Region, channels: slice, gradient: Number) -> tuple[slice, slice, Number]:
        """The whole image, and what goes to the elements that the greatest samples are made of."""
        m = self.given.arithmetic
        best = Winners(self.given, r, region, channels)
        height, width = self.sizes[2:]
        numbers, targets = [], []
        for row, high in best.rows.corners(m):
            for column, wide in best.columns.corners(m):
                targets.append((best.channel * height + row[best.row]) * width + column[best.column])
                weight = m.multiply(high[best.row], wide[best.column])
                kept = m.negation(m.equal(weight, 0))
                numbers.append(m.multiply(weight, gradient[best.at])[kept])
                targets[-1] = targets[-1][kept]
        target = np.concatenate(targets)
        order = np.argsort(target, kind="stable")
        values, places = combined(m.add, m.partial(np.concatenate(numbers)[order]), target[order], 0)
        result = m.of(np.zeros(len(gradient) * height * width))
        result[places] = values
        return slice(None), slice(None), result.reshape(len(gradient), height, width)

    def corners(self) -> Number:
        """The gradient of the corners of all regions: x1, y1, x2, y2."""
        m = self.given.arithmetic
        result = m.of(np.zeros((len(self.given.arrays[self.given.told.roles["gradient"]]), 4)))
        scales = [single(self.given.values[self.given.told.roles[role]]) for role in ("scale_x", "scale_y")] * 2
        for r, region in self.regions():
            if region.is_outside() or region.rows.grid.nearest:
                continue
            for channels in self.channels():
                found = self.moves(r, region, channels) if self.is_mean else self.winning_moves(r, region, channels)
                for k, terms in enumerate(found):
                    total = m.sum(terms, tuple(range(terms.ndim))).reshape(())[()]
                    factor = m.of(np.array([scales[k]]))[0]
                    total = m.multiply(total, m.absolute(factor) if self.absolute else factor)
                    result[r, k] = m.add(result[r, k], total)
        return result

    def moves(self, r: int, region: Region, channels: slice) -> Iterator[Number]:
        """How much each mean changes with the corners, times its gradient."""
        m = self.given.arithmetic
        gradient = self.numbers("gradient", r, channels)
        image = self.numbers("input", region.item, channels)
        both = region.rows, region.columns
        means = [
            samples.means(m).applied(m, image, axis) for axis, samples in enumerate(both, 1)
        ]  # along the rows, and along the columns
        for is_end in (False, True):
            for axis, other in ((2, means[0]), (1, means[1])):
                spread = both[axis - 1].slopes(m, _share(m, both[axis - 1], is_end))
                yield m.multiply(spread.applied(m, other, axis, self.absolute), gradient)

    def winning_moves(self, r: int, region: Region, channels: slice) -> Iterator[Number]:
        """The same of the greatest samples."""
        m = self.given.arithmetic
        best = Winners(self.given, r, region, channels)
        gradient = self.numbers("gradient", r, channels)[best.at]
        image = self.numbers("input", region.item, channels)
        slopes = best.slopes(m, image, m.add if self.absolute else m.subtract)
        for is_end in (False, True):
            for samples, number, slope in (
                (best.columns, best.column, slopes[1]), (best.rows, best.row, slopes[0])
            ):  # fmt: skip
                share = _share(m, samples, is_end)[number]
                share = m.absolute(share) if self.absolute else share
                yield m.multiply(m.multiply(slope, share), gradient)


def _share(m: Arithmetic, samples: Samples, is_end: bool) -> Number:
    """How far each sample moves if the start or the end of the region does."""
    way = m.of(samples.way)
    return way if is_end else m.subtract(1, way)


class Winners:
    """Of each cell the greatest sample, the first one of equal ones; none if it is outside the input, where all are 0.

    ``at``: the channels, rows and columns of the cells that have one. ``channel``, ``row`` and ``column``: the channels
    again, and the numbers of the samples.
    """

    def __init__(self, given: Given, r: int, region: Region, channels: slice) -> None:
        m = given.arithmetic
        self.rows, self.columns = region.rows.extremes(), region.columns.extremes()
        rows, columns = self.rows.values(m), self.columns.values(m)
        image = m.of(given.arrays[given.told.roles["input"]][region.item, channels])
        samples = m.single(columns.applied(m, rows.applied(m, image, 1), 2))
        flat = samples.ravel()

        def greater(first: Array, second: Array) -> Array:
            a, b = flat[first], flat[second]
            signs = m.both(m.equal(a, b), m.both(m.negative(a), m.negation(m.negative(b))))
            above = m.either(m.either(m.less(a, b), signs), m.both(m.isnan(a), m.negation(m.isnan(b))))
            signs = m.both(m.equal(a, b), m.both(m.negative(b), m.negation(m.negative(a))))
            below = m.either(m.either(m.less(b, a), signs), m.both(m.isnan(b), m.negation(m.isnan(a))))
            return np.where(above, second, np.where(below, first, np.minimum(first, second)))

        self.samples = samples
        numbers = np.arange(samples.size).reshape(samples.shape)
        numbers, high = combined(greater, numbers, self.rows.cell, 1)
        numbers, wide = combined(greater, numbers, self.columns.cell, 2)
        best = flat[numbers]
        loses = m.either(m.either(m.less(best, 0), m.isnan(best)), m.both(m.equal(best, 0), m.negative(best)))
        some = np.broadcast_to(region.outside()[0][high[:, None], wide], best.shape)
        channel, row, column = np.nonzero(~(np.asarray(loses) & some))
        self.at = channel, high[row], wide[column]
        self.channel, self.row, self.column = indices_of(numbers[channel, row, column], samples.shape)

    def contested(self, cells: tuple[int, ...]) -> Array:
        """In which of all cells another sample is as great, or nearly: some units in the last place less; or NaN."""
        best, high = combined(np.fmax, self.samples, self.rows.cell, 1)
        best, wide = combined(np.fmax, best, self.columns.cell, 2)
        rows, columns = np.searchsorted(high, self.rows.cell), np.searchsorted(wide, self.columns.cell)
        least = (best - STEPS * np.spacing(np.abs(best).astype(np.float32)))[:, rows[:, None], columns]
        many = np.isnan(self.samples) * 2 + (
            (self.samples == best[:, rows[:, None], columns]) | (self.samples >= least)
        )
        count, _ = combined(np.add, many, self.rows.cell, 1)
        count, _ = combined(np.add, count, self.columns.cell, 2)
        found: Array = np.zeros((len(count), *cells), np.bool_)
        found[:, high[:, None], wide] = count > 1
        return found

    def slopes(self, m: Arithmetic, image: Number, minus: Number) -> tuple[Number, Number]:
        """How much the samples change with their rows and with their columns; 0 if they are not between two."""
        (above, upper), (below, lower) = self.rows.corners(m)
        (before, left), (behind, right) = self.columns.corners(m)
        high = [(above[self.row], upper[self.row]), (below[self.row], lower[self.row])]
        wide = [(before[self.column], left[self.column]), (behind[self.column], right[self.column])]

        def mean(parts: list[tuple[Number, Number]]) -> Number:
            (first, weight), (second, rest) = parts
            total = m.add(m.multiply(first, weight), m.multiply(second, rest))
            return m.where(m.equal(rest, 0), first, total)

        def change(lines: Number, others: Number, is_row: bool) -> Number:
            def element(line: Array, other: Array) -> Number:
                return image[(self.channel, line, other) if is_row else (self.channel, other, line)]

            (first, _), (second, rest) = lines
            found = mean([(minus(element(second, one), element(first, one)), weight) for one, weight in others])
            return m.where(m.equal(rest, 0), m.multiply(rest, 0), found)

        return change(high, wide, True), change(wide, high, False)
