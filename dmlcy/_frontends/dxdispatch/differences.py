"""How far an array is from what it should be, element by element, and whether that is within the bound.

NaN equals NaN, whatever its sign and payload; -0 equals +0; an infinity is the number after the largest. A difference
of ``accuracy.SIDES`` bounds passes, or, from values rounded from exact ones, the difference that is given with them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from dmlcy._frontends.dxdispatch.histogram import Histogram
from dmlcy._reference import ulp
from dmlcy._reference.accuracy import RESULT, SIDES, Bound, Tolerance, of_results
from dmlcy._runtime.places import indices_of

Array = npt.NDArray[Any]

_CHUNK: Final = 2**20
_FIRST: Final = 4


@dataclass(frozen=True, slots=True)
class Worst:
    """The element with the largest error for its bound; among equals the largest error, then the first one.

    Attributes
    ----------
    at
        Position in row-major order.
    expected, actual
        The two numbers.
    error, allowed, ratio
        The distance, the largest that passes, and the one over the other.
    steps
        The distance as a number of steps from number to next number; ``ulp.APART`` where one is NaN.
    units
        The distance in the units that the bound is stated in, rounded up where they are those of the magnitudes.
    """

    at: int
    expected: Any
    actual: Any
    error: float
    allowed: float
    ratio: float
    steps: int
    units: int

    @property
    def distance(self) -> float:
        """The distance as it is: exact between integers, infinite or NaN where one of two floats is."""
        if np.asarray(self.expected).dtype.kind != "f":
            return self.steps
        with np.errstate(invalid="ignore", over="ignore"):
            return abs(float(self.expected) - float(self.actual))

    @property
    def rank(self) -> tuple[float, float, int]:
        """The larger, the worse."""
        return self.ratio, self.error, self.steps


@dataclass(slots=True)
class Differences:
    """What ``measure`` found.

    Attributes
    ----------
    elements, different, exceeding
        All elements, those whose values differ, those that differ by more than passes.
    first, ranges
        The first few positions of those, in row-major order; the smallest and largest index of them all, per axis.
    unjudged
        Elements without a bound, for the accuracy promises nothing of them: a sum of absolute values exceeds the range
        of the data type, or a sum of powers that of the accumulator. NaN in place of a number is judged all the same,
        unless the bound is NaN: sums of both signs may overflow.
    signs
        Zeros of another sign.
    flushed
        Among the exceeding ones, subnormal numbers that became 0.
    worst
        None where nothing differs.
    histogram
        Distances in the units of ``Worst.units``, of the elements that can be judged.
    """

    elements: int
    different: int = 0
    exceeding: int = 0
    first: list[int] = field(default_factory=list)
    ranges: list[tuple[int, int]] = field(default_factory=list)
    unjudged: int = 0
    signs: int = 0
    flushed: int = 0
    worst: Worst | None = None
    histogram: Histogram = field(default_factory=Histogram)

    @property
    def verdict(self) -> str:
        """passed, failed, or unjudged: values differ, and no element has a bound that could tell whether they may."""
        if self.exceeding:
            return "failed"
        return "unjudged" if self.different and self.unjudged == self.elements else "passed"


def measure(
    expected: Array,
    actual: Array,
    bound: Bound | None,
    tolerance: Tolerance | None = None,
    reached: Callable[[int, int], None] = lambda done, total: None,
    sides: int = SIDES,
) -> Differences:
    """Compare two arrays of one data type and as many elements; ``tolerance`` has the bounds ``of`` magnitudes.

    ``reached`` is told how many elements are compared, of how many. ``sides``: how many bounds pass.
    """
    e, a = expected.reshape(-1), actual.reshape(-1)
    t = None if tolerance is None else tolerance.reshape(-1)
    found = Differences(e.size)
    bits = np.dtype(f"u{e.itemsize}")
    unbounded = 0  # different elements without a bound
    for start in range(0, e.size, _CHUNK):
        reached(start, e.size)
        part = slice(start, start + _CHUNK)
        where = np.flatnonzero(e[part].view(bits) != a[part].view(bits)) + start
        found.unjudged += 0 if t is None else int((~np.isfinite(t[part])).sum())
        limit = None
        if t is not None:
            finite, apart = np.isfinite(t[where]), ulp.steps(e[where], a[where]) > 0
            judged = finite | (np.isinf(t[where]) & (np.isnan(e[where]) != np.isnan(a[where])))
            unbounded += int((apart & ~finite).sum())
            found.different += int((apart & ~judged).sum())
            limit = np.where(finite, t[where], 0.0)[judged]
            where = where[judged]
        if where.size:
            exceeds = _count(found, where, e[where], a[where], bound, limit, sides)
            _locate(found, where[exceeds], expected.shape)
    reached(e.size, e.size)
    found.histogram.add_zeros(found.elements - found.unjudged - (found.different - unbounded))
    return found


def _count(
    found: Differences, where: Array, e: Array, a: Array, bound: Bound | None, tolerance: Tolerance | None, sides: int
) -> npt.NDArray[np.bool_]:
    """Add elements whose bits differ; which of them differ by more than passes."""
    steps, error = ulp.steps(e, a), ulp.difference(e, a)
    allowed = _allowed(e, bound, tolerance, sides)
    exceeds = steps > 0 if bound is None else error > allowed
    units = _units(steps, error, bound, tolerance)
    apart = steps > 0
    found.different += int(apart.sum())
    found.exceeding += int(exceeds.sum())
    nan, infinite = np.zeros((2, *e.shape), bool)
    if e.dtype.kind == "f":
        nan = np.isnan(e) != np.isnan(a)
        infinite = exceeds & ~nan & (np.isinf(e) | np.isinf(a))
        found.signs += int(((e == 0) & (a == 0)).sum())
        small = np.abs(e) < np.finfo(e.dtype).smallest_normal
        found.flushed += int((exceeds & small & (a == 0)).sum())
    found.histogram.add(units[apart & ~nan & ~infinite], int(nan.sum()), int(infinite.sum()))
    if apart.any():
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            ratio = np.where(np.isinf(error), np.inf, np.where(apart, error / allowed, -1.0))
        i = _largest(ratio, error, steps)
        worst = Worst(
            at=int(where[i]),
            expected=e[i],
            actual=a[i],
            error=float(error[i]),
            allowed=float(allowed[i]),
            ratio=float(ratio[i]),
            steps=int(steps[i]),
            units=int(units[i]),
        )
        if found.worst is None or worst.rank > found.worst.rank:
            found.worst = worst
    return exceeds


def _locate(found: Differences, failing: Array, shape: tuple[int, ...]) -> None:
    """Add the positions of elements that differ by more than passes."""
    if not failing.size:
        return
    found.first += [int(at) for at in failing[: _FIRST - len(found.first)]]
    here = [(int(axis.min()), int(axis.max())) for axis in indices_of(failing, shape)]
    before = found.ranges or here
    found.ranges = [(min(a, c), max(b, d)) for (a, b), (c, d) in zip(before, here, strict=True)]


def _largest(*keys: Array) -> int:
    """The first position with the largest value of the first key; among equals of the next one."""
    left = np.arange(keys[0].size)
    for key in keys:
        left = left[key[left] == key[left].max()]
    return int(left[0])


def _allowed(e: Array, bound: Bound | None, tolerance: Tolerance | None, sides: int) -> npt.NDArray[np.float64]:
    if bound is None:
        return np.zeros(e.shape)
    if tolerance is not None:
        with np.errstate(over="ignore"):  # an infinite difference is allowed where the bound is half the range
            return sides * tolerance
    return sides * of_results(bound, e)


def _units(
    steps: npt.NDArray[np.uint64], error: npt.NDArray[np.float64], bound: Bound | None, tolerance: Tolerance | None
) -> npt.NDArray[np.uint64]:
    """Distances in the units of the bound.

    They are steps where the bound counts units of the result, where it is 0, and between NaN and a number.
    """
    if bound is None or tolerance is None or bound.of == RESULT:
        return steps
    counted = (tolerance > 0) & np.isfinite(error)
    unit = np.where(counted, tolerance / bound.ulp, 1.0)
    with np.errstate(over="ignore"):
        units = np.minimum(np.ceil(np.where(counted, error, 0.0) / unit), 2.0**63).astype(np.uint64)
    return np.where(counted, units, steps)
