"""The versions of RESAMPLE, their gradients and UPSAMPLE_2D: the weights of each place along each axis, one by one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np

from .elementwise import Near
from .windows import Array

Weights = list[dict[int, float]]
"""Of each place, the weights of the elements that count."""
Entries = float | Sequence[float]


def added(weights: dict[int, float], index: int, weight: float, size: int) -> None:
    index = min(max(index, 0), size - 1)
    if weight:
        weights[index] = weights.get(index, 0.0) + weight


def series(first: int, last: int, place: float, scale: float) -> float:
    """The weight of the numbers first … last, all on one side of the place: half of both ends, times their number."""
    weights = [max(1 - abs(index - place) * scale, 0.0) for index in (first, last)]
    return max(last - first + 1, 0) * sum(weights) / 2


def stretched(place: float, size: int, scale: float) -> dict[int, float]:
    """The elements less than 1 / scale away; those beyond an end are the one there."""
    found: dict[int, float] = {}
    reach = 1 / scale
    place = min(max(place, -2 * reach), size - 1 + 2 * reach)
    low, high, middle = math.ceil(place - reach), math.floor(place + reach), math.floor(place)
    for index in range(max(low, 1), min(high, size - 2) + 1):
        added(found, index, max(1 - abs(index - place) * scale, 0.0), size)
    ends = [(low, min(high, 0), 0), (max(low, size - 1), high, size - 1)] if size > 1 else [(low, high, 0)]
    for first, last, index in ends:
        added(found, index, series(first, min(last, middle), place, scale), size)
        added(found, index, series(max(first, middle + 1), last, place, scale), size)
    total = sum(found.values())
    return {index: weight / total for index, weight in found.items()}


def one(low: int, rest: float, size: int, mode: str, higher: bool, direction: str | None) -> dict[int, float]:
    """The elements of a place that is ``rest`` behind element ``low``."""
    found: dict[int, float] = {}
    if mode == "LINEAR":
        added(found, low, 1 - rest, size)
        added(found, low + 1, rest, size)
        return found
    more = rest > 0.5 or (higher and rest == 0.5)
    if direction is not None:
        more = rest > 0 and direction == "INCREASING"
    added(found, low + more, 1.0, size)
    return found


def along(
    size: int, count: int, scale: float, before: float, after: float, smooth: bool, mode: str, higher: bool,
    direction: str | None,
) -> Weights:  # fmt: skip
    found = []
    for i in range(count):
        with np.errstate(all="ignore"):
            place = float((np.float32(i) - np.float32(after)) / np.float32(scale) - np.float32(before))
        if smooth and mode == "LINEAR" and np.float32(scale) < 0.5:
            found.append(stretched(place, size, float(np.float32(scale))))
            continue
        place = min(max(place, 0.0), size - 1)
        found.append(one(math.floor(place), place - math.floor(place), size, mode, higher, direction))
    return found


def combined(x: Array, axis: int, weights: Weights) -> Array:
    """Sums of elements along an axis, in float64."""
    lines = np.moveaxis(x, axis, 0)
    zero = np.zeros(lines.shape[1:])
    found = [
        reduce(np.add, [weight * lines[index] for index, weight in each.items()]) if each else zero for each in weights
    ]
    return np.moveaxis(np.array(found), 0, axis)


def backwards(weights: Weights, size: int) -> Weights:
    found: Weights = [{} for _ in range(size)]
    for target, each in enumerate(weights):
        for source, weight in each.items():
            found[source][target] = weight
    return found


def made(x: Array, axes: list[Weights]) -> tuple[Array, Array]:
    """The sums, and those of absolute values."""
    result, terms = x.astype(np.float64), np.abs(x.astype(np.float64))
    for axis, weights in enumerate(axes):
        if any(each != {i: 1.0} for i, each in enumerate(weights)) or len(weights) != x.shape[axis]:
            result, terms = combined(result, axis, weights), combined(terms, axis, weights)
    return result, terms


def entries(value: Entries, rank: int) -> Sequence[float]:
    return [value] * rank if isinstance(value, int | float) else value


def finished(x: Array, result: Array, terms: Array, mode: str) -> Any:
    if mode != "LINEAR":
        return result.astype(x.dtype)
    if x.dtype.kind != "f":
        return np.trunc(result.astype(np.float32)).astype(x.dtype)
    return Near(result, 1, terms)


def resample(
    x: Array, *, output_sizes: Sequence[int], interpolation_mode: str, scales: Sequence[float],
    input_pixel_offsets: Entries = 0.5, output_pixel_offsets: Entries = -0.5, rounding_direction: str | None = None,
    antialiased: bool = False,
) -> Any:  # fmt: skip
    before, after = entries(input_pixel_offsets, x.ndim), entries(output_pixel_offsets, x.ndim)
    columns = zip(x.shape, output_sizes, scales, before, after, strict=True)
    axes = [along(*each, antialiased, interpolation_mode, True, rounding_direction) for each in columns]
    if interpolation_mode != "LINEAR":
        places = [[next(iter(each)) for each in weights] for weights in axes]
        return x[np.ix_(*places)]
    return finished(x, *made(x, axes), interpolation_mode)


def resample_grad(
    x: Array, *, output_sizes: Sequence[int], interpolation_mode: str, scales: Sequence[float],
    input_pixel_offsets: Entries = 0.5, output_pixel_offsets: Entries = -0.5, rounding_direction: str | None = None,
) -> Near:  # fmt: skip
    """Each element goes back to those of which the operator makes it."""
    before, after = entries(input_pixel_offsets, x.ndim), entries(output_pixel_offsets, x.ndim)
    columns = zip(output_sizes, x.shape, scales, before, after, strict=True)
    axes = [backwards(along(*each, False, interpolation_mode, False, rounding_direction), each[0]) for each in columns]
    result, terms = made(x, axes)
    return Near(result + 0.0, 1, terms)


def upsample_2d(x: Array, *, scale_size: Sequence[int], interpolation_mode: str) -> Any:
    """Places are exact: those of the middles of elements."""
    axes: list[Weights] = []
    for size, factor in zip(x.shape, [1] * (x.ndim - 2) + list(scale_size), strict=True):
        places = [divmod(2 * i + 1 - factor, 2 * factor) for i in range(size * factor)]
        axes.append([one(low, rest / (2 * factor), size, interpolation_mode, False, None) for low, rest in places])
    if interpolation_mode != "LINEAR":
        return x.repeat(scale_size[0], -2).repeat(scale_size[1], -1)
    return finished(x, *made(x, axes), interpolation_mode)
