"""How far an array is from what it should be, element by element, and whether that passes.

NaN equals NaN, whatever its sign and payload; -0 equals +0; an infinity is the number after the largest.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from dmlcy._judge.histogram import Histogram
from dmlcy._judge.passes import BEYOND, Passes
from dmlcy._reference import ulp
from dmlcy._reference.device import SUSPECT as TYPICAL
from dmlcy._runtime.places import indices_of
from dmlcy._types import Array

Mask = npt.NDArray[np.bool_]

PASSED, SUSPECT, FAILING = range(3)
"""The verdicts on an element, the worst last."""
_CHUNK: Final = 2**20
_FIRST: Final = 4
_LEANING: Final = 15
"""A mean of signed errors of one typical deviation is suspect, and of ``1 + _LEANING / sqrt(n)`` among n elements."""


@dataclass(frozen=True, slots=True)
class Worst:
    """The worst element: a failing one before a suspect one, then that with the largest error for what passes.

    Among equals it is that with the largest error, then the first one.

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
    typical
        The largest distance that is not suspect; None: all that passes is.
    place
        PASSED, SUSPECT or FAILING.
    """

    at: int
    expected: Any
    actual: Any
    error: float
    allowed: float
    ratio: float
    steps: int
    typical: float | None
    place: int

    @property
    def distance(self) -> float:
        """The distance as it is: exact between integers, infinite or NaN where one of two floats is."""
        if np.asarray(self.expected).dtype.kind != "f":
            return self.steps
        with np.errstate(invalid="ignore", over="ignore"):
            return abs(float(self.expected) - float(self.actual))

    @property
    def rank(self) -> tuple[int, float, float, int]:
        """The larger, the worse."""
        return self.place, self.ratio, self.error, self.steps


@dataclass(slots=True)
class Places:
    """Some elements: their number, the first few in row-major order, and the ends of the indices of all, per axis."""

    count: int = 0
    first: list[int] = field(default_factory=list)
    ranges: list[tuple[int, int]] = field(default_factory=list)

    def add(self, places: Array, shape: tuple[int, ...]) -> None:
        """Add more elements behind these."""
        if not places.size:
            return
        self.count += int(places.size)
        self.first += [int(at) for at in places[: _FIRST - len(self.first)]]
        here = [(int(axis.min()), int(axis.max())) for axis in indices_of(places, shape)]
        before = self.ranges or here
        self.ranges = [(min(a, c), max(b, d)) for (a, b), (c, d) in zip(before, here, strict=True)]


@dataclass(slots=True)
class Differences:
    """The differences that ``measure`` found.

    Attributes
    ----------
    elements, different
        All elements, and those whose values differ.
    failing, suspect
        Elements that differ by more than passes, and elements that pass and differ by more than is typical.
    not_judged
        By id of an interpretation, or BEYOND, how many elements are not judged. An element may have several ids.
    unjudged
        Elements that are not judged.
    left_out
        Elements that are not compared, which are no part of the output any more; they count in nothing else.
    leaning
        The mean of the signed errors, in typical deviations, if rounding does not explain it; else 0. Elements do not
        count that fail, that are suspect for themselves, or that pass as results of flushed operands.
    outward
        The same mean of errors away from 0, which are positive where a number is too large in size.
    signs
        Zeros of another sign.
    flushed
        Among the failing ones, subnormal numbers that became 0.
    worst
        Of the elements that are judged; None where nothing differs.
    ratio
        The largest error for what passes, of the elements that are judged.
    histogram
        Distances in steps, of the elements that are judged.
    """

    elements: int
    different: int = 0
    failing: Places = field(default_factory=Places)
    suspect: Places = field(default_factory=Places)
    not_judged: dict[str, int] = field(default_factory=dict)
    unjudged: int = 0
    left_out: int = 0
    leaning: float = 0.0
    outward: float = 0.0
    signs: int = 0
    flushed: int = 0
    worst: Worst | None = None
    ratio: float = 0.0
    histogram: Histogram = field(default_factory=Histogram)

    @property
    def verdict(self) -> str:
        """failed, not judged (no element is), suspect, or passed."""
        if self.failing.count:
            return "failed"
        if self.unjudged and self.unjudged + self.left_out == self.elements:
            return "not judged"
        return "suspect" if self.suspect.count or self.leaning or self.outward else "passed"


def measure(
    expected: Array,
    actual: Array,
    passes: Passes,
    reached: Callable[[int, int], None] = lambda done, total: None,
) -> Differences:
    """Compare two arrays of one data type and as many elements. ``reached`` is told how many of them are compared."""
    found = Differences(expected.size)
    run = _Measuring(found, expected, actual, passes)
    for start in range(0, expected.size, _CHUNK):
        reached(start, expected.size)
        run.part(slice(start, start + _CHUNK))
    reached(expected.size, expected.size)
    found.leaning, found.outward = (run.leaning(total) for total in (run.signed, run.outward))
    return found


class _Measuring:
    def __init__(self, found: Differences, expected: Array, actual: Array, passes: Passes) -> None:
        self.found, self.shape = found, expected.shape
        self.e, self.a = expected.reshape(-1), actual.reshape(-1)
        self.allowed, self.typical = (_flat(one) for one in (passes.allowed, passes.typical))
        self.flushed = None if passes.flushed is None else tuple(one.reshape(-1) for one in passes.flushed)
        self.marks = [(name, mask.reshape(-1)) for name, mask in passes.not_judged]
        self.standing = _flat(passes.standing)
        self.signed, self.outward, self.counted = 0.0, 0.0, 0

    def part(self, part: slice) -> None:
        """Compare some elements."""
        found, e, a = self.found, self.e[part], self.a[part]
        standing: Mask = np.ones(e.shape, np.bool_) if self.standing is None else self.standing[part]
        found.left_out += int((~standing).sum())
        free = self.free(part, standing)
        steps = ulp.steps(e, a)
        found.different += int(((steps > 0) & standing).sum())
        left = np.flatnonzero(standing & ~free)
        same = left[steps[left] == 0]
        found.histogram.add_zeros(same.size)
        if e.dtype.kind == "f":
            bits = np.dtype(f"u{e.itemsize}")
            zeros = (e[same] == 0) & (e[same].view(bits) != a[same].view(bits))
            found.signs += int(zeros.sum())
        if self.typical is not None:
            self.counted += int(self.usable(part.start + left).sum())
        where = left[steps[left] > 0]
        if where.size:
            self.count(part.start + where, steps[where])

    def free(self, part: slice, standing: Mask) -> Mask:
        """The elements that are not judged, among the elements that are left; they are counted."""
        e, a = self.e[part], self.a[part]
        free: Mask = np.zeros(e.shape, np.bool_)
        for name, mask in self.marks:
            self.note(name, int((mask[part] & standing).sum()))
            free |= mask[part] & standing
        if self.allowed is not None:
            t = self.allowed[part]
            unbounded = ~np.isfinite(t) & standing
            if unbounded.any() and e.dtype.kind == "f":  # NaN in place of a number is judged unless the bound is NaN
                unbounded &= np.isnan(t) | (np.isnan(e) == np.isnan(a))
            self.note(BEYOND, int((unbounded & ~free).sum()))
            free |= unbounded
        self.found.unjudged += int(free.sum())
        return free

    def note(self, name: str, count: int) -> None:
        if count:
            self.found.not_judged[name] = self.found.not_judged.get(name, 0) + count

    def usable(self, places: Array) -> Mask:
        """The elements in whose typical deviations errors are counted: not where another value passes as well."""
        assert self.typical is not None
        found: Mask = np.isfinite(self.typical[places]) & (self.typical[places] > 0)
        if self.flushed is not None:
            found &= ulp.steps(self.e[places], self.flushed[0][places]) == 0
        return found

    def lean(self, where: Array, usual: Mask) -> None:
        """Add the signed errors of elements that differ, except elements that are not as near as usual."""
        if self.typical is None:
            return
        usable = self.usable(where)
        with np.errstate(all="ignore"):
            units = (self.a[where].astype(np.float64) - self.e[where]) / self.typical[where]
        units = np.where(usable & usual & np.isfinite(units), units, 0.0)
        self.signed += float(units.sum())
        counted = units != 0.0  # there, the expected value is a number
        self.outward += float((units[counted] * np.sign(self.e[where][counted].astype(np.float64))).sum())
        self.counted -= int((usable & ~usual).sum())

    def leaning(self, total: float) -> float:
        """The mean of errors with this sum in typical deviations, where it is suspect."""
        if not self.counted:
            return 0.0
        mean = TYPICAL * total / self.counted
        return mean if abs(mean) > 1 + _LEANING / math.sqrt(self.counted) else 0.0

    def count(self, where: Array, steps: Array) -> None:
        """Count elements that differ."""
        found, e, a = self.found, self.e[where], self.a[where]
        error = ulp.difference(e, a)
        allowed = np.zeros(e.shape) if self.allowed is None else self.allowed[where]
        allowed = np.where(np.isfinite(allowed), allowed, 0.0)
        exceeds, other = error > allowed, np.zeros(e.shape, np.bool_)
        if self.flushed is not None:
            values, limits = (one[where] for one in self.flushed)
            other = ulp.difference(values, a) <= np.where(np.isnan(limits), np.inf, limits)
            exceeds &= ~other
            other &= ulp.steps(e, values) > 0
        nan, infinite = np.zeros((2, *e.shape), bool)
        if e.dtype.kind == "f":
            nan = np.isnan(e) != np.isnan(a)
            infinite = exceeds & ~nan & (np.isinf(e) | np.isinf(a))
            small = np.abs(e) < np.finfo(e.dtype).smallest_normal
            found.flushed += int((exceeds & small & (a == 0)).sum())
        found.histogram.add(steps[~nan & ~infinite], int(nan.sum()), int(infinite.sum()))
        found.failing.add(where[exceeds], self.shape)
        typical = np.full(e.shape, np.inf) if self.typical is None else self.typical[where]
        suspect = (error > typical) & (error <= allowed) & ~other
        suspect &= ~np.isinf(a)  # an infinity that passes is of a number beyond the range
        found.suspect.add(where[suspect], self.shape)
        self.lean(where, error <= np.fmin(allowed, typical))
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            ratio = np.where(np.isinf(error), np.inf, error / allowed)
        ratio = np.where(exceeds, ratio, np.minimum(ratio, 1.0))  # flushed, and near the other value
        found.ratio = max(found.ratio, float(ratio.max()))
        places = np.where(exceeds, FAILING, np.where(suspect, SUSPECT, PASSED))
        i = _largest(places, ratio, error, steps)
        numbers = [float(one[i]) for one in (error, allowed, ratio)]
        usual = float(typical[i]) if np.isfinite(typical[i]) else None
        at, number = int(where[i]), int(steps[i])
        worst = Worst(at, e[i], a[i], numbers[0], numbers[1], numbers[2], number, usual, int(places[i]))
        if found.worst is None or worst.rank > found.worst.rank:
            found.worst = worst


def _flat(array: Array | None) -> Array | None:
    return None if array is None else array.reshape(-1)


def _largest(*keys: Array) -> int:
    """The first position with the largest value of the first key; among equals of the next one."""
    left = np.arange(keys[0].size)
    for key in keys:
        left = left[key[left] == key[left].max()]
    return int(left[0])
