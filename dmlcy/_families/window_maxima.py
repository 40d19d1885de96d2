"""Maxima of the elements under a window, element by element of the window, and where they are."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from dmlcy._arithmetic import Arithmetic
from dmlcy._families.windows import Slide
from dmlcy._types import Array, Number

NONE = 2**32 - 1
"""The index of no element."""


def candidates(
    m: Arithmetic, window: Slide, source: Number, sizes: tuple[int, ...]
) -> Iterator[tuple[Number, Number, Callable[[Number], Number], Number]]:
    """For each element of the window: its positions, its elements there, whether each is above others, its places.

    ``sizes``: how many positions there are, after the axes without a window. Numbers are above NaN, +0 is above -0, and
    everything is above what no element was seen for.
    """
    seen: Array = np.zeros(sizes, bool)
    for _, positions, places in window.taps(sizes[-len(window.sizes) :]):
        under: Number = (..., *positions)
        x = source[(..., *places)]

        def better(best: Number, x: Number = x, under: Number = under) -> Number:
            zeros = m.both(m.equal(best, x), m.both(m.negative(best), m.negation(m.negative(x))))
            above = m.either(m.either(m.less(best, x), zeros), m.both(m.isnan(best), m.negation(m.isnan(x))))
            found = m.either(m.negation(seen[under]), above)
            seen[under] = True
            return found

        yield under, x, better, (..., *places)


def places_of(m: Arithmetic, window: Slide, array: Array, sizes: tuple[int, ...]) -> Array:
    """Where the maxima are in an array, counted over all axes; NONE where there is none."""
    source, counted = m.of(array), np.arange(array.size).reshape(array.shape)
    result: Array = np.full(sizes, NONE, np.int64)
    best = m.of(np.zeros(sizes, array.dtype)).astype(source.dtype)
    for under, x, better, places in candidates(m, window, source, sizes):
        greater = better(best[under])
        best[under] = m.where(greater, x, best[under])
        result[under] = np.where(greater, counted[places], result[under])
    return result
