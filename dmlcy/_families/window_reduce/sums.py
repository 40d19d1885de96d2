"""Sums of the elements under a window, and of what a step makes of them."""

from __future__ import annotations

import math
import sys
from fractions import Fraction
from typing import Final

import numpy as np

from dmlcy._arithmetic import EXACT
from dmlcy._families.base import Result
from dmlcy._families.given import Given
from dmlcy._families.windows import slide
from dmlcy._types import Array

LARGEST: Final = Fraction(sys.float_info.max)
SMALLEST: Final = Fraction(math.ulp(0.0))


def sums(given: Given) -> Result:
    """``finish`` of the elements of each window after ``step`` with each; and the accumulators before ``finish``.

    An accumulator of elements that are not 0, but whose powers are, counts as the smallest number of float64.
    """
    window, m, shape = slide(given, given.input.shape), given.arithmetic, given.output_sizes
    source = m.of(given.input)
    acc = m.partial(m.of(np.full(shape, float(given.value("init")))))
    count: Array = np.zeros(shape, np.int64)
    vanished: Array = np.ones(shape, bool)
    for _, positions, places in window.taps(shape[-len(window.sizes) :]):
        x = source[(..., *places)]
        acc[(..., *positions)] = given.value("step", acc=acc[(..., *positions)], x=x)
        count[(..., *positions)] += 1
        vanished[(..., *positions)] &= m.equal(x, 0)
    results = given.value("finish", acc=acc, count=m.of(count), volume=math.prod(window.sizes))
    return Result(results, _accumulators(acc, ~vanished) if m is EXACT else None)


def _accumulators(acc: Array, some: Array) -> Array:
    """Exact sums as tests compare them with the limits of a data type; ``some``: where an element is not 0."""
    found: Array = np.empty(acc.shape, object)
    for at in np.ndindex(acc.shape):
        one = acc[at]
        found[at] = SMALLEST if one == 0 and some[at] else math.inf if one > LARGEST else one
    return found
