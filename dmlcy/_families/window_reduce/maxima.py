"""Maxima of the elements under a window, and where they stand."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from dmlcy._arithmetic import Array
from dmlcy._families.base import Result
from dmlcy._families.given import Given
from dmlcy._families.windows import slide


def maxima(given: Given) -> Result:
    """The maximum of the elements of each window; of none the least number."""
    dtype = given.input.dtype
    least = -math.inf if dtype.kind == "f" else int(np.iinfo(dtype).min)
    best = given.arithmetic.of(np.full(given.output_sizes, least, dtype))
    for under, x, better, _ in _better(given):
        best[under] = given.arithmetic.where(better(best[under]), x, best[under])
    return Result(best)


def indices(given: Given) -> Result:
    """Where these maxima stand in the input, counted over all axes; 2**32 - 1 where there is none."""
    numbers = np.arange(given.input.size).reshape(given.input.shape)
    result: Array = np.full(given.output_sizes, 2**32 - 1, np.int64)
    best = given.arithmetic.of(np.zeros(given.output_sizes, given.input.dtype))
    for under, x, better, places in _better(given):
        greater = better(best[under])
        best[under] = given.arithmetic.where(greater, x, best[under])
        result[under] = np.where(greater, numbers[places], result[under])
    return Result(result)


def _better(given: Given) -> Iterator[tuple[Any, Any, Any, Any]]:
    """For each element of the window: its positions, its elements there, whether each is above others, its places.

    Numbers are above NaN, +0 is above -0, and everything is above what no element was seen for.
    """
    window, m = slide(given, given.input.shape), given.arithmetic
    source = m.of(given.input)
    seen: Array = np.zeros(given.output_sizes, bool)
    for _, positions, places in window.taps(given.output_sizes[-len(window.sizes) :]):
        under: Any = (..., *positions)
        x = source[(..., *places)]

        def better(best: Any, x: Any = x, under: Any = under) -> Any:
            zeros = m.both(m.equal(best, x), m.both(m.negative(best), m.negation(m.negative(x))))
            above = m.either(m.either(m.less(best, x), zeros), m.both(m.isnan(best), m.negation(m.isnan(x))))
            found = m.either(m.negation(seen[under]), above)
            seen[under] = True
            return found

        yield under, x, better, (..., *places)
