"""The picture of samples of the cells of regions."""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping

from ..base import Picture, Place, Region, Use, grid, inside


def single(value: float) -> float:
    """A number as FLOAT32 has it, in which the places of samples are computed."""
    try:
        found: float = struct.unpack("f", struct.pack("f", value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)
    return found


class Axis:
    """The samples of regions along the height or the width."""

    def __init__(self, roles: Mapping[str, str], use: Use, cells: int, size: int, scale: str) -> None:
        self.cells, self.size, self.scale = cells, size, use.value(roles[scale])
        self.least, self.most = use.value(roles["least"]), use.value(roles["most"])
        self.before = use.value(roles["before"]) if "before" in roles else 0.5
        self.after = use.value(roles["after"]) if "after" in roles else -0.5
        self.corners = "corners" in roles and use.value(roles["corners"])
        self.is_nearest = use.value(roles["mode"]).name == "NEAREST_NEIGHBOR"

    def read(self, start: float, end: float) -> list[set[int]]:
        """For each cell of a region, the elements of the input of which its samples are made."""
        first = single(start * self.scale)
        length = single(single(end * self.scale) - first)
        ratio = single(length / self.cells)
        each = self.least if not ratio > self.least else self.most if ratio >= self.most else math.ceil(ratio)
        each, total = min(each, self.most), self.cells * min(each, self.most)
        middle = self.corners and total == 1
        after = -0.5 if middle else 0.0 if self.corners else self.after
        step = single(length / (total - 1 if self.corners and not middle else total))
        found: list[set[int]] = [set() for _ in range(self.cells)]
        for number in range(total):
            place = single(single(single(single(number - after) * step) + first) - self.before)
            if -1 <= place <= self.size:
                at = min(max(place, 0), self.size - 1)
                some = {math.ceil(at - 0.5)} if self.is_nearest else {math.floor(at), math.ceil(at)}
                found[number // each] |= some
        return found

    def framed(self, start: float, end: float) -> tuple[int, int]:
        """The first and the last element of the input that a region covers in part."""
        low, high = (place * self.scale - self.before + 0.5 for place in (start, end))
        first = math.floor(max(low, 0)) if low < self.size else self.size
        return first, (math.ceil(min(high, self.size)) if high > 0 else 0) - 1


def sampled(roles: Mapping[str, str], use: Use) -> Picture:
    """Each element of the output is made of the elements around the samples of its cell."""
    sources: dict[Place, tuple[Place, ...]] = {}
    regions: list[Region] = []
    sizes, (_, channels, *cells) = use.sizes(use.input), use.sizes(use.output)
    axes = [
        Axis(roles, use, count, size, scale)
        for count, size, scale in zip(cells, sizes[2:], ("scale_y", "scale_x"), strict=True)
    ]
    rois, batches = roles["rois"], roles["batches"]
    for row, item in zip(rows(use.sizes(rois)), grid(use.sizes(batches)), strict=True):
        r, image = item[-1], int(use.element(batches, item))
        x1, y1, x2, y2 = (use.element(rois, (*row, entry)) for entry in range(4))
        high, wide = axes[0].read(y1, y2), axes[1].read(x1, x2)
        for channel, y, x in grid((channels, *cells)):
            sources[r, channel, y, x] = tuple((image, channel, i, j) for i in sorted(high[y]) for j in sorted(wide[x]))
        ends = axes[0].framed(y1, y2), axes[1].framed(x1, x2)
        first, last = ((image, 0, ends[0][side], ends[1][side]) for side in (0, 1))
        if inside(first, sizes) and inside(last, sizes):
            regions.append(Region(f"{r}", {use.input: (first, last), rois: ((*row, 0), (*row, 3))}))
    captions = (
        "An element of the output is computed from the elements of the same colour, around the samples of its cell.",
        f"The number of a framed region is the number of its row in {rois}.",
    )
    return Picture(captions, sources, {place: place for place in sources}, regions=tuple(regions))


def rows(sizes: Place) -> list[Place]:
    """The places of the rows of a tensor."""
    return [*grid(sizes[:-1])]
