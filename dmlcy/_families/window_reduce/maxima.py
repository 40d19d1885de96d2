"""Maxima of the elements under a window, and their places."""

from __future__ import annotations

import math

import numpy as np

from dmlcy._families.base import Result
from dmlcy._families.given import Given
from dmlcy._families.window_maxima import candidates, places_of
from dmlcy._families.windows import slide


def maxima(given: Given) -> Result:
    """The maximum of the elements of each window; of none the least number."""
    m, dtype = given.arithmetic, given.input.dtype
    least = -math.inf if dtype.kind == "f" else int(np.iinfo(dtype).min)
    numbers = m.of(given.input)
    best = m.of(np.full(given.output_sizes, least, dtype)).astype(numbers.dtype)
    window = slide(given, given.input.shape)
    for under, x, better, _ in candidates(m, window, numbers, given.output_sizes):
        best[under] = m.where(better(best[under]), x, best[under])
    return Result(best)


def indices(given: Given) -> Result:
    """The places of these maxima in the input, counted over all axes; 2**32 - 1 where there is none."""
    window = slide(given, given.input.shape)
    return Result(places_of(given.arithmetic, window, given.input, given.output_sizes))
