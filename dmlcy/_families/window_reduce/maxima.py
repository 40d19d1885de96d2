"""Maxima of the elements under a window, and where they stand."""

from __future__ import annotations

import math

import numpy as np

from dmlcy._families.base import Result
from dmlcy._families.exact import Array, first_largest, grid, largest
from dmlcy._families.given import Given
from dmlcy._families.windows import slide


def maxima(given: Given) -> Result:
    """The maximum of the elements of each window; of none the least number."""
    window, source = slide(given, given.input.shape), given.input
    lead = source.ndim - len(window.sizes)
    result: Array = np.empty(given.output_sizes, source.dtype)
    least = -math.inf if source.dtype.kind == "f" else np.iinfo(source.dtype).min
    for position in grid(given.output_sizes[lead:]):
        places = [place for _, place in window.inside(position)]
        for item in grid(given.output_sizes[:lead]):
            result[item + position] = largest([source[item + place] for place in places]) if places else least
    return Result(result)


def indices(given: Given) -> Result:
    """Where these maxima stand in the input, counted over all axes; 2**32 - 1 where there is none."""
    window, source = slide(given, given.input.shape), given.input
    lead = source.ndim - len(window.sizes)
    result: Array = np.full(given.output_sizes, 2**32 - 1, np.uint64)
    for position in grid(given.output_sizes[lead:]):
        places = [place for _, place in window.inside(position)]
        if not places:
            continue
        for item in grid(given.output_sizes[:lead]):
            at = item + places[first_largest([source[item + place] for place in places])]
            result[item + position] = np.ravel_multi_index(at, source.shape)
    return Result(result)
