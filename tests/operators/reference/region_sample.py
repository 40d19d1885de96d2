"""The versions of ROI_ALIGN and their gradient: one cell of one region after the other, with all of its samples."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from .elementwise import Near
from .windows import Array, grid, order

SINGLE = np.float32
FEW = 10_000
"""Samples along an axis that are all looked at."""


@dataclass(frozen=True)
class Samples:
    """Samples along an axis: their elements, how far they are behind the first, and how far along the region."""

    low: Array
    high: Array
    rest: Array
    way: Array
    each: int

    def of(self, some: Any) -> Samples:
        return Samples(self.low[some], self.high[some], self.rest[some], self.way[some], self.each)

    def lines(self, x: Array) -> Array:
        """The samples along the last axis; an element without weight does not count."""
        first, second = x[..., self.low], x[..., self.high]
        return np.where(self.rest == 0, first, (1 - self.rest) * first + self.rest * second)

    def weights(self) -> dict[int, float]:
        """How much each element counts, of all samples."""
        found: dict[int, float] = {}
        for index, weight in zip([*self.low, *self.high], [*(1 - self.rest), *self.rest], strict=True):
            if weight:
                found[int(index)] = found.get(int(index), 0.0) + float(weight)
        return found

    def changes(self, x: Array) -> Array:
        """How much the samples along the last axis change with their places."""
        return np.where(self.rest == 0, 0.0, x[..., self.high] - x[..., self.low])


def samples(start: Any, end: Any, scale: float, cells: int, size: int, given: dict[str, Any]) -> list[Samples]:
    """The samples of each cell that are inside the input."""
    first, last = SINGLE(start) * SINGLE(scale), SINGLE(end) * SINGLE(scale)
    length = last - first
    ratio = float(np.ceil(length / SINGLE(cells)))
    least, most = given["minimum_samples_per_output"], given["maximum_samples_per_output"]
    each = int(least if not ratio > least else most if ratio >= most else ratio)
    total, corners = cells * each, given["align_regions_to_corners"]
    after = SINGLE(-0.5 if corners and total == 1 else 0.0 if corners else given["output_pixel_offset"])
    before = SINGLE(given["input_pixel_offset"])
    steps = total - 1 if corners and total > 1 else total
    step = length / SINGLE(steps)
    begin, stop = 0, total
    if total > FEW and not math.isfinite(float(first) + float(step)):
        stop = 0  # no number is at such a place
    elif total > FEW and step > 0:
        ends = [(float(edge) + float(before) - float(first)) / float(step) + float(after) for edge in (-1, size)]
        slack = [4 + 1e-5 * abs(one) + 1e-5 * abs(float(first) / float(step)) for one in ends]
        begin, stop = (int(min(max(one + off, 0), total)) for one, off in zip(ends, (-slack[0], slack[1]), strict=True))
    numbers = np.arange(begin, max(stop, begin))
    places = (numbers.astype(SINGLE) - after) * step + first - before
    inside = (places >= -1) & (places <= size)
    numbers, found = numbers[inside], np.clip(places[inside].astype(np.float64), 0, size - 1)
    linear = given["interpolation_mode"] == "LINEAR"
    low = (np.floor(found) if linear else np.ceil(found - 0.5)).astype(int)
    rest = found - low if linear else np.zeros(len(low))
    every = Samples(low, np.minimum(low + 1, size - 1), rest, (numbers - float(after)) / steps, each)
    return [every.of(numbers // each == cell) for cell in range(cells)]


DEFAULTS = {
    "spatial_scale_x": 1.0,
    "spatial_scale_y": 1.0,
    "minimum_samples_per_output": 1,
    "input_pixel_offset": 0.5,
    "output_pixel_offset": -0.5,
    "align_regions_to_corners": False,
    "out_of_bounds_input_value": 0.0,
}


def cells_of(
    roi: Array, items: Array, cells: Any, sizes: Any, given: dict[str, Any]
) -> Iterator[tuple[int, int, Any, Samples, Samples]]:
    """Each region and its item of the batch, each cell and its samples along the height and the width."""
    for r, ((x1, y1, x2, y2), item) in enumerate(zip(roi.reshape(-1, 4), items.ravel(), strict=True)):
        rows = samples(y1, y2, given["spatial_scale_y"], cells[0], sizes[0], given)
        columns = samples(x1, x2, given["spatial_scale_x"], cells[1], sizes[1], given)
        for at in grid(cells):
            yield r, int(item), at, rows[at[0]], columns[at[1]]


def values(x: Array, rows: Samples, columns: Samples) -> Array:
    """All samples of a cell, of each channel."""
    return columns.lines(rows.lines(x.swapaxes(-1, -2)).swapaxes(-1, -2))


def roi_align(x: Array, roi: Array, items: Array, *, output_sizes: Any, reduction_function: str, **given: Any) -> Near:
    given = DEFAULTS | given
    result = np.zeros((items.size, x.shape[1], *output_sizes))
    terms = result.copy()
    wide, outside = x.astype(np.float64), float(SINGLE(given["out_of_bounds_input_value"]))
    for r, item, at, rows, columns in cells_of(roi, items, output_sizes, x.shape[2:], given):
        every, place = rows.each * columns.each, (r, slice(None), *at)
        found = values(wide[item], rows, columns).reshape(x.shape[1], -1)
        sizes = values(np.abs(wide[item]), rows, columns).reshape(x.shape[1], -1)
        missing = every - found.shape[1]
        if reduction_function == "MAX":
            rest = np.full((x.shape[1], min(missing, 1)), outside)
            found, sizes = np.append(found, rest, 1), np.append(sizes, np.abs(rest), 1)
            result[place] = np.take_along_axis(found, order(found).argmax(1)[:, None], 1)[:, 0]
            terms[place] = sizes.max(1)
        else:
            mean = found.sum(1, initial=-0.0 if found.size else 0.0) / every
            result[place] = mean + outside * (missing / every) if missing else mean
            terms[place] = sizes.sum(1) / every + abs(outside) * (missing / every)
    return Near(result, 1, terms)


def winner(found: Array, missing: bool) -> int | None:
    """The first of the greatest samples; None if one outside the input, which is 0, is greater."""
    every = order(np.append(found.astype(SINGLE).ravel(), SINGLE(0)))
    best = int(every[:-1].argmax())
    return None if missing and every[best] < every[-1] else best


def roi_align_grad(
    x: Array | None, gradient: Array, roi: Array, items: Array, *, reduction_function: str, output_gradient: Any = "",
    output_roi_gradient: Any = "", output_gradient_sizes: Any = None, **given: Any,
) -> Any:  # fmt: skip
    """The gradients of the elements, and how much the cells change with the corners."""
    given = DEFAULTS | given
    sizes = x.shape if x is not None else tuple(output_gradient_sizes)
    wide, g = (np.zeros(sizes) if x is None else x).astype(np.float64), gradient.astype(np.float64)
    image, image_terms = np.zeros(sizes), np.zeros(sizes)
    corners, corner_terms = np.zeros((items.size, 4)), np.zeros((items.size, 4))
    for r, item, at, rows, columns in cells_of(roi, items, gradient.shape[2:], sizes[2:], given):
        every, shape = rows.each * columns.each, (len(rows.low), len(columns.low))
        if not math.prod(shape):
            continue
        for channel in range(sizes[1]):
            own, part = wide[item, channel], g[(r, channel, *at)]
            share, some = part / every, (rows, columns)
            if reduction_function == "MAX":
                best = winner(values(own, rows, columns), math.prod(shape) < every)
                if best is None:
                    continue
                y, x_ = divmod(best, shape[1])
                share, some = part, (rows.of([y]), columns.of([x_]))
            for high, weight in some[0].weights().items():
                for wide_, other in some[1].weights().items():
                    image[item, channel, high, wide_] += weight * other * share
                    image_terms[item, channel, high, wide_] += abs(weight * other * share)
            if given["interpolation_mode"] != "LINEAR":
                continue  # the nearest element does not change with a small move
            for k, (line, across, flat) in enumerate(((some[1], some[0], own), (some[0], some[1], own.T))):
                lines = across.lines(flat.T).T
                change, size = line.changes(lines), np.where(line.rest == 0, 0.0, 2 * np.abs(lines).max())
                for end, way in ((0, 1 - line.way), (2, line.way)):
                    corners[r, k + end] += (change * way).sum() * share
                    corner_terms[r, k + end] += np.abs(size * way).sum() * len(across.low) * abs(share)
    factor = np.array([float(SINGLE(given[f"spatial_scale_{name}"])) for name in "xy"] * 2)
    found = [Near(image, 1, image_terms)] if output_gradient else []
    if output_roi_gradient:
        found.append(
            Near((corners * factor + 0.0).reshape(roi.shape), 1, (corner_terms * np.abs(factor)).reshape(roi.shape))
        )
    return tuple(found) if len(found) > 1 else found[0]
