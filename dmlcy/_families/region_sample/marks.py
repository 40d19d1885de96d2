"""The values that conditions on elements read of samples of regions, and of their gradients."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dmlcy._families.given import Given
from dmlcy._families.region_sample.gradients import Backwards, Winners
from dmlcy._families.region_sample.regions import Region, regions
from dmlcy._families.spread import idle
from dmlcy._types import Array


def of_cells(given: Given) -> Iterator[Region]:
    """The regions of a use that is no gradient."""
    return regions(given, given.output_sizes[2:], given.input.shape[2:])


def ties(region: Region) -> Array:
    """In which cells of a region a nearest element is one of two, for all channels."""
    found: Array = (region.rows.ties()[:, None] | region.columns.ties())[None]
    return found


def tied(given: Given) -> Array:
    """The elements beside such samples, for the gradient of the input."""
    m, backwards = given.arithmetic, Backwards.of(given, False)
    found: Array = np.zeros(backwards.sizes, np.bool_)
    height, width = backwards.sizes[2:]
    for _, region in backwards.regions():
        rows, columns = (one.beside(m) for one in (region.rows, region.columns))
        some = rows.turned(m, height).every.touched(ties(region), 1)
        found[region.item] |= columns.turned(m, width).every.touched(some, 2)
    return found


def contested(given: Given, of_regions: bool) -> Array:
    """The elements of a cell of which several samples may be the greatest; or the regions that have such a cell."""
    m, backwards = given.arithmetic, Backwards.of(given, False)
    count = len(given.arrays[given.told.roles["gradient"]])
    found: Array = np.zeros((count, 1) if of_regions else backwards.sizes, np.bool_)
    if backwards.is_mean:
        return found
    height, width = backwards.sizes[2:]
    for channels in backwards.channels():
        for r, region in backwards.regions():
            if region.is_outside():
                continue
            cells = Winners(given, r, region, channels).contested(backwards.cells)
            if of_regions:
                found[r] |= cells.any()
                continue
            some = region.rows.means(m).turned(m, height).touched(cells, 1)
            found[region.item, channels] |= region.columns.means(m).turned(m, width).touched(some, 2)
    return found


def idle_of_gradient(given: Given, marks: Array) -> Array:
    """The elements beside samples of marked cells that have no weight."""
    m, backwards = given.arithmetic, Backwards.of(given, False)
    found: Array = np.zeros(backwards.sizes, np.bool_)
    for r, region in backwards.regions():
        both = enumerate((region.rows, region.columns), 1)
        nearby = {axis: one.nearby(m).turned(m, backwards.sizes[axis + 1]) for axis, one in both}
        found[region.item] |= idle(marks[r], nearby)
    return found
