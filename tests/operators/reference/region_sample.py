"""The versions of ROI_ALIGN and their gradient: one sample of one cell of one region after the other."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from .elementwise import Near
from .windows import Array, grid, order

SINGLE = np.float32


@dataclass(frozen=True)
class Sample:
    """A sample along an axis: its two elements and their weights, and how far it is along the region."""

    low: int
    high: int
    rest: float
    way: float

    def both(self) -> list[tuple[int, float]]:
        return [(self.low, 1 - self.rest), *([(self.high, self.rest)] if self.rest else [])]


@dataclass(frozen=True)
class Axis:
    """The samples of each cell of a region along an axis, those outside the input left out."""

    each: int
    cells: list[list[Sample]]


def axis(start: Any, end: Any, scale: float, cells: int, size: int, given: dict[str, Any]) -> Axis:
    first, last = SINGLE(start) * SINGLE(scale), SINGLE(end) * SINGLE(scale)
    length = last - first
    ratio = float(np.ceil(length / SINGLE(cells)))
    least, most = given["minimum_samples_per_output"], given["maximum_samples_per_output"]
    each = int(min(max(ratio, least), most))
    total, corners = cells * each, given["align_regions_to_corners"]
    after = -0.5 if corners and total == 1 else 0.0 if corners else given["output_pixel_offset"]
    steps = total - 1 if corners and total > 1 else total
    found: list[list[Sample]] = [[] for _ in range(cells)]
    for i in range(total):
        place = (SINGLE(i) - SINGLE(after)) * (length / SINGLE(steps)) + first - SINGLE(given["input_pixel_offset"])
        if not -1 <= place <= size:
            continue
        place = min(max(float(place), 0.0), size - 1.0)
        if given["interpolation_mode"] == "LINEAR":
            low = math.floor(place)
        else:
            low, place = (math.ceil(place - 0.5),) * 2
        way = (i - float(SINGLE(after))) / steps
        found[i // each].append(Sample(low, min(low + 1, size - 1), place - low, way))
    return Axis(each, found)


DEFAULTS = {
    "spatial_scale_x": 1.0,
    "spatial_scale_y": 1.0,
    "minimum_samples_per_output": 1,
    "input_pixel_offset": 0.5,
    "output_pixel_offset": -0.5,
    "align_regions_to_corners": False,
    "out_of_bounds_input_value": 0.0,
}


def regions(roi: Array, items: Array, cells: Any, sizes: Any, given: dict[str, Any]) -> Iterator[tuple[int, Axis, Axis]]:
    """The item of the batch of each region, and its samples along the height and the width."""
    for (x1, y1, x2, y2), item in zip(roi.reshape(-1, 4), items.ravel(), strict=True):
        rows = axis(y1, y2, given["spatial_scale_y"], cells[0], sizes[0], given)
        yield int(item), rows, axis(x1, x2, given["spatial_scale_x"], cells[1], sizes[1], given)


def value(image: Array, row: Sample, column: Sample) -> Array:
    """A sample of all channels."""
    lines = [sum_of([weight * image[:, y, x] for y, weight in row.both()]) for x in (column.low, column.high)]
    return (1 - column.rest) * lines[0] + column.rest * lines[1] if column.rest else lines[0]


def sum_of(terms: list[Array]) -> Array:
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total


def roi_align(x: Array, roi: Array, items: Array, *, output_sizes: Any, reduction_function: str, **given: Any) -> Near:
    given = DEFAULTS | given
    result = np.zeros((items.size, x.shape[1], *output_sizes))
    terms = result.copy()
    wide, outside = x.astype(np.float64), float(SINGLE(given["out_of_bounds_input_value"]))
    for r, (item, rows, columns) in enumerate(regions(roi, items, output_sizes, x.shape[2:], given)):
        for at in grid(output_sizes):
            pairs = [(row, column) for row in rows.cells[at[0]] for column in columns.cells[at[1]]]
            samples = [value(wide[item], *pair) for pair in pairs]
            sizes = [value(np.abs(wide[item]), *pair) for pair in pairs]
            missing = rows.each * columns.each - len(samples)
            samples += [np.full(x.shape[1], outside)] * missing
            sizes += [np.full(x.shape[1], abs(outside))] * missing
            every, magnitudes = np.array(samples), np.array(sizes)
            if reduction_function == "MAX":
                best = order(every).argmax(0)[None]
                result[(r, slice(None), *at)] = np.take_along_axis(every, best, 0)[0]
                terms[(r, slice(None), *at)] = magnitudes.max(0)
            else:
                mean = sum_of(list(every)) / len(every)
                result[(r, slice(None), *at)] = mean
                terms[(r, slice(None), *at)] = magnitudes.mean(0)
    return Near(result, 1, terms)


def winner(samples: list[Array], channel: int, missing: bool) -> int | None:
    """The first of the greatest samples; None if one outside the input, which is 0, is greater."""
    every = np.array([SINGLE(one[channel]) for one in samples])
    best = int(order(every).argmax())
    return None if missing and order(every)[best] < order(np.zeros(1, SINGLE))[0] else best


def roi_align_grad(
    x: Array, gradient: Array, roi: Array, items: Array, *, reduction_function: str, output_gradient: Any = "",
    output_roi_gradient: Any = "", output_gradient_sizes: Any = None, **given: Any,
) -> Any:  # fmt: skip
    """What goes back to the elements, and how much the cells change with the corners."""
    given = DEFAULTS | given
    wide, g = x.astype(np.float64), gradient.astype(np.float64)
    image, image_terms = np.zeros(x.shape), np.zeros(x.shape)
    corners, corner_terms = np.zeros((items.size, 4)), np.zeros((items.size, 4))
    scales = [float(SINGLE(given[f"spatial_scale_{name}"])) for name in "xy"]
    for r, (item, rows, columns) in enumerate(regions(roi, items, gradient.shape[2:], x.shape[2:], given)):
        for at in grid(gradient.shape[2:]):
            pairs = [(row, column) for row in rows.cells[at[0]] for column in columns.cells[at[1]]]
            if not pairs:
                continue
            every = rows.each * columns.each
            samples = [value(wide[item], *pair) for pair in pairs]
            for channel in range(x.shape[1]):
                part = g[(r, channel, *at)]
                chosen, share = pairs, part / every
                if reduction_function == "MAX":
                    best = winner(samples, channel, len(pairs) < every)
                    chosen, share = ([] if best is None else [pairs[best]]), part
                for row, column in chosen:
                    for y, high in row.both():
                        for x_, wide_ in column.both():
                            image[item, channel, y, x_] += high * wide_ * share
                            image_terms[item, channel, y, x_] += abs(high * wide_ * share)
                    moves(wide[item, channel], row, column, share, corners[r], corner_terms[r])
    found = []
    if output_gradient:
        found.append(Near(image, 1, image_terms))
    if output_roi_gradient:
        factor = np.array(scales * 2)
        shape = roi.shape
        found.append(
            Near((corners * factor).reshape(shape), 1, (corner_terms * np.abs(factor)).reshape(shape))
        )
    return tuple(found) if len(found) > 1 else found[0]


def moves(image: Array, row: Sample, column: Sample, share: float, sums: Array, terms: Array) -> None:
    """What a sample changes by if the start or the end of its region moves: x1, y1, x2, y2."""
    for k, (own, other, flat) in enumerate(((column, row, image), (row, column, image.T))):
        if own.rest:
            lines = [(flat[i, own.high], flat[i, own.low], weight) for i, weight in other.both()]
            change = sum(weight * (high - low) for high, low, weight in lines)
            size = sum(weight * (abs(high) + abs(low)) for high, low, weight in lines)
            for end, way in ((0, 1 - own.way), (2, own.way)):
                sums[k + end] += change * way * share
                terms[k + end] += abs(size * way * share)
