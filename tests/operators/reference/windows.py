"""Where a window that slides over an image is, and the order of the elements that it compares."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
Slices = tuple[Any, ...]
"""Slices: NumPy's types do not take an index that is joined of several tuples of them."""
EVERY: Slices = (slice(None), slice(None))


def grid(sizes: Sequence[int]) -> itertools.product[tuple[int, ...]]:
    return itertools.product(*map(range, sizes))


def positions(
    sizes: Sequence[int], window: Sequence[int], strides: Sequence[int], dilations: Sequence[int],
    start: Sequence[int], end: Sequence[int],
) -> list[int]:  # fmt: skip
    """How many positions a window has along each axis: counted, one step at a time."""
    counts = []
    for n, w, step, dilation, before, after in zip(sizes, window, strides, dilations, start, end, strict=True):
        last = -before + dilation * (w - 1)
        count = 0
        while last < n + after:
            count, last = count + 1, last + step
        counts.append(count)
    return counts


def taps(
    sizes: Sequence[int], counts: Sequence[int], window: Sequence[int], strides: Sequence[int],
    dilations: Sequence[int], start: Sequence[int],
) -> Iterator[tuple[int, Slices, Slices]]:  # fmt: skip
    """Of each element of a window: its number, the positions at which it is inside the image, and where it is then."""
    for number, tap in enumerate(grid(window)):
        blocks, places = [], []
        for t, n, count, step, dilation, before in zip(tap, sizes, counts, strides, dilations, start, strict=True):
            first = t * dilation - before
            low, high = max(0, -(first // step)), min(count - 1, (n - 1 - first) // step)
            there = low <= high
            blocks.append(slice(low, high + 1) if there else slice(0, 0))
            places.append(slice(first + low * step, first + high * step + 1, step) if there else slice(0, 0))
        yield number, tuple(blocks), tuple(places)


def pooled(
    x: Array, *, window_size: Sequence[int], strides: Sequence[int], start_padding: Sequence[int],
    end_padding: Sequence[int], dilations: Sequence[int] | None = None, output_sizes: Sequence[int] | None = None,
) -> tuple[int, ...]:  # fmt: skip
    """The sizes of a result with an element for each position of the window: those given, or of whole windows."""
    if output_sizes is not None:
        return tuple(output_sizes)
    apart = dilations or [1] * len(window_size)
    return *x.shape[:2], *positions(x.shape[2:], window_size, strides, apart, start_padding, end_padding)


def under(x: Array, **window: Any) -> Iterator[tuple[tuple[Any, ...], Array]]:
    """Each position of the window in the result, and the elements under it in each channel."""
    for at in grid(pooled(x, **window)[2:]):
        inside = []
        for axis, (w, i, step, before) in enumerate(
            zip(window["window_size"], at, window["strides"], window["start_padding"], strict=True)
        ):
            apart, begin = window["dilations"][axis] if window.get("dilations") else 1, i * step - before
            inside.append(range(max(begin, begin % apart), min(begin + w * apart, x.shape[2 + axis]), apart))
        under_it: Slices = (*EVERY, *np.ix_(*inside))
        yield (*EVERY, *at), x[under_it].reshape(*x.shape[:2], math.prod(map(len, inside)))


def order(x: Array) -> Array:
    """Whole numbers in the order of the elements: a NaN is less than every number, -0 less than +0."""
    if x.dtype.kind != "f":
        return x
    bits = np.ascontiguousarray(x).view(f"u{x.itemsize}")
    sign = bits.dtype.type(1 << (8 * x.itemsize - 1))
    return np.where(np.isnan(x), bits.dtype.type(0), np.where(bits & sign, ~bits, bits | sign))
