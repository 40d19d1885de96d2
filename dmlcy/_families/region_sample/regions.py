"""The regions of a use, and where their samples are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from dmlcy._families.given import Given
from dmlcy._families.region_sample.samples import Grid, Samples
from dmlcy._field_types.float import single
from dmlcy._types import Number


@dataclass(frozen=True, slots=True)
class Region:
    """A region: its item of the batch, and its samples along the height and the width."""

    item: int
    rows: Samples
    columns: Samples

    def outside(self) -> Number:
        """Of each cell, whether some of its samples are outside the input, and whether all are."""
        rows, columns = self.rows.inside(), self.columns.inside()
        some = (rows < self.rows.each)[:, None] | (columns < self.columns.each)
        return some, (rows == 0)[:, None] | (columns == 0)

    def is_outside(self) -> bool:
        """Whether all samples are outside the input."""
        return not (len(self.rows.place) and len(self.columns.place))

    def samples(self) -> int:
        """How many samples are inside the input."""
        return len(self.rows.place) * len(self.columns.place)


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
