"""Numbers with the range in which those of a correct device are, as arrays of records.

A record has the number of the reference, the ends of the range, and the variance of the errors that rounding typically
makes. A sum whose terms may be added in any order is not rounded yet: ``size`` is the sum of the absolute values of its
terms, ``terms`` is how many there are, and ``settled`` widens the range by what their additions may lose.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from dmlcy._types import Array, Number

RECORD: Final = np.dtype([(name, np.float64) for name in ("value", "low", "high", "variance", "size", "terms")])
SPARE: Final = 2
"""Roundings of a sum beside its additions: those of its terms, and of a factor of all terms."""


class Test(np.ndarray[tuple[int, ...], np.dtype[np.bool_]]):
    """A condition of numbers, which a device may find otherwise where ``unsure``: an array of as many elements."""

    unsure: Array | None

    def __array_finalize__(self, other: object) -> None:
        self.unsure = None


def test(nominal: Number, unsure: Array | bool) -> Number:
    """A condition; without unsure elements an array like any other."""
    if not np.any(unsure):
        return nominal
    found = np.asarray(nominal).view(Test)
    found.unsure = np.asarray(unsure)
    return found


def unsure_of(condition: Number) -> Array | bool:
    """Where a device may find a condition otherwise; False: nowhere."""
    found = condition.unsure if isinstance(condition, Test) else None
    return False if found is None else found


def is_record(a: object) -> bool:
    """Whether this is a record, or an array of them."""
    return isinstance(a, np.ndarray | np.void) and a.dtype == RECORD


def made(value: Number, low: Number, high: Number, variance: Number, size: Number = 0.0, terms: Number = 0.0) -> Array:
    """An array of records."""
    columns = (value, low, high, variance, size, terms)
    found: Array = np.empty(np.broadcast(*columns).shape, RECORD)
    for name, column in zip(RECORD.names or (), columns, strict=True):
        found[name] = column
    return found


def exact(values: Number) -> Array:
    """Records of numbers that every device has."""
    found = np.asarray(values, np.float64)
    return made(found, found, found, 0.0)


@dataclass(frozen=True, slots=True)
class Limits:
    """The rounding of a device: ``unit`` is the largest relative error of an operation, ``added`` that of an addition
    of a sum. ``most`` is the largest number, ``top`` that of a sum, and numbers below ``least`` may become 0. ``step``
    is the distance of subnormal numbers, by which results are off there."""

    unit: float
    added: float
    most: float
    least: float
    top: float
    step: float

    def rounded(self, value: Number, low: Number, high: Number, variance: Number, unit: float | None = None) -> Array:
        """The result of an operation: the range of the exact result, widened by one rounding."""
        unit = self.unit if unit is None else unit
        low, high = self.widened(value, low, high, unit * np.abs(low), unit * np.abs(high))
        typical = self.stepped(unit * np.abs(np.nan_to_num(value, posinf=0, neginf=0)))
        return made(value, low, high, np.add(variance, np.square(typical)))

    def stepped(self, error: Number) -> Number:
        """Errors, of which none is smaller than the step; that of 0 is 0."""
        return np.where(error == 0, 0.0, np.maximum(error, self.step)) if self.step else error

    def widened(self, value: Number, low: Number, high: Number, below: Number, above: Number) -> tuple[Number, Number]:
        """The ends of a range after a rounding by so much at most, with overflow and flushed numbers.

        ``below``: by how much the lower end may be rounded down; ``above``: the upper end up.
        """
        value, low, high = np.asarray(value), np.asarray(low), np.asarray(high)
        below, above = self.stepped(below), self.stepped(above)
        least, most = low - below, high + above
        if max(np.abs(least).max(initial=0), np.abs(most).max(initial=0)) <= self.most:  # no infinities or NaN
            small = ((least > 0) & (least < self.least)) | ((most < 0) & (most > -self.least))
            if not small.any():
                return least, most
        fixed = low == high
        unknown = (np.isnan(low) | np.isnan(high)) & ~np.isnan(value)
        low = np.where(np.isfinite(low), low - below, low)
        high = np.where(np.isfinite(high), high + above, high)
        low = np.where(np.isfinite(low), np.minimum(low, self.most), low)
        high = np.where(np.isfinite(high), np.maximum(high, -self.most), high)
        low = np.where(low < -self.most, -np.inf, low)
        high = np.where(high > self.most, np.inf, high)
        low = np.where((low > 0) & (low < self.least), 0.0, low)
        high = np.where((high < 0) & (high > -self.least), -0.0, high)
        still = (np.isnan(value) & ~is_unknown(low, high)) | (fixed & np.isinf(value))
        low = np.where(still, value, np.where(unknown, -np.inf, low))
        return low, np.where(still, value, np.where(unknown, np.inf, high))

    def summed(self, value: Number, low: Number, high: Number, size: Number) -> tuple[Number, Number]:
        """The ends of a range, all numbers where a part of a sum of this size may be infinite, to whatever side."""
        beyond = (size > self.top) & ~np.isnan(value)
        return np.where(beyond, -np.inf, low), np.where(beyond, np.inf, high)

    def vanished(self, a: Array) -> Number:
        """The most that a sum loses if its terms below the normal numbers become 0, or the parts that are added."""
        return np.minimum(a["terms"] * self.least, a["size"])

    def settled(self, a: Number) -> Array:
        """Numbers with sums rounded: what any order of additions may lose is in their ranges."""
        if not is_record(a):
            return exact(a)
        found = np.asarray(a)
        if not found["terms"].any():
            return found
        value, size, terms = found["value"], found["size"], found["terms"]
        lost = (terms + SPARE * (terms > 0)) * self.added
        error = np.where(terms > 0, lost / np.maximum(1 - lost, 0.5) * np.where(np.isfinite(value), size, 0.0), 0.0)
        vanished = self.vanished(found)
        error = error + vanished
        if self.unit > self.added:  # the sum is rounded to the narrower type
            error = np.where(terms > 0, error + self.stepped(self.unit * (np.abs(value) + error)), error)
        low, high = found["low"], found["high"]
        error = np.where(np.isfinite(value), error, 0.0)
        ends = self.widened(value, low, high, error, error)
        low, high = (np.where(terms > 0, one, old) for one, old in zip(ends, (low, high), strict=True))
        low, high = self.summed(value, low, high, size)
        own = np.square(self.stepped(self.unit * np.abs(value))) if self.unit > self.added else 0.0
        typical = np.where(terms > 0, terms * np.square(self.added * size) + own + np.square(vanished), 0.0)
        variance = found["variance"] + np.where(np.isfinite(typical), typical, 0.0)
        return made(value, low, high, variance)


def is_unknown(low: Number, high: Number) -> Number:
    """Whether a range has all numbers, and NaN."""
    return np.isneginf(low) & np.isposinf(high)


def radius(a: Array) -> Number:
    """How far from its number a range reaches."""
    with np.errstate(invalid="ignore"):
        found = np.maximum(a["high"] - a["value"], a["value"] - a["low"])
    return np.where(a["high"] == a["low"], 0.0, np.where(np.isnan(found), np.inf, found))
