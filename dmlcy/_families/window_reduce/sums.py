"""Sums of the elements under a window, and of what a step makes of them."""

from __future__ import annotations

import math
import sys
from fractions import Fraction
from typing import Final

import numpy as np

from dmlcy._families.base import Result
from dmlcy._families.exact import Array, exact, grid
from dmlcy._families.given import Given
from dmlcy._families.windows import slide

LARGEST: Final = Fraction(sys.float_info.max)
SMALLEST: Final = Fraction(math.ulp(0.0))


def sums(given: Given) -> Result:
    """``finish`` of the elements of each window after ``step`` with each; and the accumulators before ``finish``.

    An accumulator of elements that are not 0, but whose powers are, counts as the smallest number of float64.
    """
    window, source = slide(given, given.input.shape), exact(given.input)
    shape = given.output_sizes
    lead = len(shape) - len(window.sizes)
    results: Array = np.empty(shape, object)
    accumulators: Array = np.empty(shape, object)
    volume, init = math.prod(window.sizes), given.value("init")
    for position in grid(shape[lead:]):
        places = [place for _, place in window.inside(position)]
        for item in grid(shape[:lead]):
            acc = init
            for place in places:
                acc = given.value("step", acc=acc, x=source[item + place])
            at = item + position
            acc = math.inf if acc > LARGEST else acc
            vanished = acc == 0 and any(source[item + place] != 0 for place in places)
            accumulators[at] = SMALLEST if vanished else acc
            result = given.value("finish", acc=acc, count=len(places), volume=volume)
            results[at] = Fraction(result) if math.isfinite(result) else result
    return Result(results, accumulators)
