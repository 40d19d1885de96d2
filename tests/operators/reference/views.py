"""JOIN, SPLIT, TILE and slices: NumPy's, and elements at places that are counted one by one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .windows import Array

Ints = Sequence[int]


def join(inputs: Sequence[Array], *, axis: int) -> Array:
    return np.concatenate(inputs, axis)


def split(x: Array, *, axis: int, output_sizes: Sequence[Ints]) -> tuple[Array, ...]:
    ends = np.cumsum([sizes[axis] for sizes in output_sizes])[:-1]
    return tuple(np.ascontiguousarray(part) for part in np.split(x, ends, axis))


def tile(x: Array, *, repeats: Ints) -> Array:
    return np.tile(x, repeats)


def slice(x: Array, *, sizes: Ints, offsets: Ints | None = None, strides: Ints | None = None) -> Array:
    first, steps = offsets or [0] * x.ndim, strides or [1] * x.ndim
    return x[np.ix_(*([f + k * s for k in range(n)] for f, n, s in zip(first, sizes, steps, strict=True)))]


def met(window: Any, rank: int) -> list[list[int]]:
    """The places along each axis that the steps through a window meet."""
    first = window.get("input_window_offsets") or [0] * rank
    steps = window.get("input_window_strides") or [1] * rank
    found = []
    for begin, length, step in zip(first, window["input_window_sizes"], steps, strict=True):
        at, places = begin if step > 0 else begin + length - 1, []
        while begin <= at < begin + length:
            places.append(at)
            at += step
        found.append(places)
    return found


def slice1(x: Array, *, output_sizes: Ints | None = None, **window: Any) -> Array:
    places = met(window, x.ndim)
    sizes = output_sizes or [len(one) for one in places]
    return x[np.ix_(*(one[:size] for one, size in zip(places, sizes, strict=True)))]


def slice_grad(x: Array, *, output_sizes: Ints, **window: Any) -> Array:
    result = np.zeros(output_sizes, x.dtype)
    result[np.ix_(*(one[:size] for one, size in zip(met(window, x.ndim), x.shape, strict=True)))] = x
    return result
