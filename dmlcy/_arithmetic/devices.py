"""The numbers that correct devices compute: the third face of ``[kernel]``, beside the result and the loops.

Each number carries the range in which the number of a correct device is. Operations round, perhaps by truncation, and
sums are added in any order. Functions are approximated, and numbers below the normal ones of FLOAT32 become 0. The
nominal numbers are those of ``WIDE``. Integers are exact, and are not records.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from dmlcy._arithmetic import approximated, ends
from dmlcy._arithmetic.base import Arithmetic
from dmlcy._arithmetic.ranges import RECORD, Limits, exact, is_record, is_unknown, made, radius, test, unsure_of
from dmlcy._arithmetic.wide import WIDE, is_integer
from dmlcy._runtime import four_bits
from dmlcy._types import Array, DType, Number, Operation

_SINGLE: Final = np.finfo(np.float32)
_DOUBLE: Final = np.finfo(np.float64)
_HALF: Final = np.dtype(np.float16)
_UNITS: Final = {2: 2.0**-10, 4: 2.0**-23, 8: 2.0**-51}
"""The largest relative error of an operation that truncates, by the bytes of the data type."""
CHAINED: Final = 64
"""Typical deviations that the state of a recurrence may be off: more than the worst order of 4096 additions gives."""
ROUNDINGS: Final = 4
"""Roundings of a place and of its distance to an element."""
_WHOLE: Final = 4
"""Bytes of the integers that a record holds exactly."""


def limits_of(size: int, half: bool) -> Limits:
    """The rounding of a device for tensors of floats of so many bytes. ``half``: it adds FLOAT16 in FLOAT16."""
    own = _DOUBLE if size == _DOUBLE.dtype.itemsize else _SINGLE
    unit = _UNITS[size]
    added = unit if half else min(unit, _UNITS[4])
    least = 0.0 if own is _DOUBLE else float(own.smallest_normal)
    top = float(np.finfo(np.float16).max) if half and size == _HALF.itemsize else float(own.max)
    step = float(np.finfo(_HALF).smallest_subnormal) if size == _HALF.itemsize else 0.0
    return Limits(unit, added, float(own.max), least, top, step)


class Devices(Arithmetic):
    """Numbers with ranges; ``size``: of the narrowest floats of a use, in bytes."""

    def __init__(self, size: int, half: bool = False) -> None:
        self.limits = limits_of(size, half)
        self.precision = approximated.HALF if size == _HALF.itemsize else approximated.SINGLE

    def of(self, array: Array) -> Array:
        if is_record(array):
            return array
        found = WIDE.of(array)
        return found if is_integer(found) else exact(found)

    def storage(self, dtype: DType) -> DType:
        return dtype if dtype.kind != "f" and dtype.itemsize > _WHOLE else RECORD

    def stored(self, values: Number, dtype: DType, sizes: Sequence[int]) -> Array:
        if self.storage(dtype) != RECORD:
            return WIDE.stored(values["value"] if is_record(values) else values, dtype, sizes)
        if is_record(values):
            found = self.settled(values)
        else:
            found = exact(four_bits.values_of(WIDE.stored(values, dtype, sizes)))
            unsure = unsure_of(values)
            if np.any(unsure):
                low, high = (np.where(unsure, end, found["value"]) for end in (0.0, 1.0))
                found = made(found["value"], low, high, 0.0)
        if dtype.kind == "f":
            found = self.narrowed(found, dtype)
        return found if found.shape == tuple(sizes) else np.broadcast_to(found, sizes)

    def narrowed(self, a: Array, dtype: DType) -> Array:
        """Numbers rounded to a data type, perhaps by truncation; numbers that are of this type stay."""
        with np.errstate(all="ignore"):
            nearest = a["value"].astype(dtype).astype(np.float64)
            kept = (nearest == a["value"]) & (a["low"] == a["high"])
            kept |= np.isnan(nearest)
            info = np.finfo(dtype)
            below, above, step = (
                np.fmax(_finite(_UNITS[dtype.itemsize] * np.abs(a[name])), float(info.smallest_subnormal))
                for name in ("low", "high", "value")
            )
            limits = Limits(0.0, 0.0, float(info.max), self.limits.least, float(info.max), 0.0)
            low, high = limits.widened(a["value"], a["low"], a["high"], below, above)
            variance = a["variance"] + np.square(step)
        columns = [np.where(kept, a[name], one) for name, one in
                   (("low", low), ("high", high), ("variance", variance))]  # fmt: skip
        return made(a["value"], *columns)

    def settled(self, a: Number) -> Array:
        """Records whose ranges have what sums lose."""
        with np.errstate(all="ignore"):
            return self.limits.settled(a)

    def kept(self, a: Number) -> Number:
        narrow = self.limits.unit > self.limits.added
        return self.settled(a) if narrow and is_record(a) else a

    def partial(self, a: Number) -> Number:
        if not is_record(a):
            return a if is_integer(a) and not isinstance(a, int) else self.partial(exact(a))
        if (a["terms"] > 0).all():
            return a
        found = np.array(a)
        found["size"] = np.where(found["terms"] > 0, found["size"], _finite(np.abs(found["value"])))
        found["terms"] = np.maximum(found["terms"], 1.0)
        return found

    def add(self, a: Number, b: Number) -> Number:
        if not (is_record(a) or is_record(b)):
            return self._plain(WIDE.add, a, b)
        if _is(a, 0) or _is(b, 0):
            return self._plus_zero(a if _is(b, 0) else b, float(b if _is(b, 0) else a))
        if (is_record(a) and np.any(a["terms"])) or (is_record(b) and np.any(b["terms"])):
            return self._joined(self.partial(a), self.partial(b))
        first, second = self.settled(a), self.settled(b)
        with np.errstate(all="ignore"):
            value = np.add(first["value"], second["value"])
            low, high = first["low"] + second["low"], first["high"] + second["high"]
            variance = first["variance"] + second["variance"]
            found = self.limits.rounded(value, low, high, variance)
            whole = self._whole(first) & self._whole(second)
        return np.where(whole, made(value, low, high, variance), found) if np.any(whole) else found

    def _whole(self, a: Array) -> Array:
        """The numbers that are integers on every device, and so few that their sums are exact."""
        most = 0.5 / self.limits.unit
        ends = [(np.abs(a[end]) <= most) & (a[end] == np.rint(a[end])) for end in ("low", "value", "high")]
        return np.asarray(np.logical_and.reduce(ends))

    def _plus_zero(self, a: Array, zero: float) -> Array:
        """No error, but +0 in place of -0."""
        value, low, high = (a[name] + zero for name in ("value", "low", "high"))
        return made(value, low, high, a["variance"], a["size"], a["terms"])

    def _joined(self, a: Array, b: Array) -> Array:
        """Two parts of a sum."""
        with np.errstate(all="ignore"):
            columns = [a[name] + b[name] for name in RECORD.names or ()]
        value, low, high = columns[:3]
        lost = (np.isnan(low) | np.isnan(high)) & ~np.isnan(value)
        return made(value, np.where(lost, -np.inf, low), np.where(lost, np.inf, high), *columns[3:])

    def subtract(self, a: Number, b: Number) -> Number:
        if not (is_record(a) or is_record(b)):
            return self._plain(WIDE.subtract, a, b)
        if _is(b, 0):
            return self._plus_zero(a, -float(b))
        return self.add(self.settled(a), self.negate(self.settled(b)))

    def _plain(self, operation: Operation, a: Number, b: Number) -> Number:
        """An operation of integers, or of attributes that are floats."""
        if is_integer(a) and is_integer(b):
            return operation(a, b)
        with np.errstate(all="ignore"):
            value = np.asarray(operation(a, b), np.float64)
            return self.limits.rounded(value, value, value, 0.0)

    def multiply(self, a: Number, b: Number) -> Number:
        if not (is_record(a) or is_record(b)):
            return self._plain(WIDE.multiply, a, b)
        if is_record(b) and not is_record(a):
            a, b = b, a
        if _is(b, 1):
            return a
        if not is_record(b) and np.any(a["terms"]):
            return self._scaled(WIDE.multiply, np.asarray(a), np.asarray(b, np.float64))
        first, second = self.settled(a), self.settled(b)
        with np.errstate(all="ignore"):
            value = np.multiply(first["value"], second["value"])
            low, high = ends.of(ends.product, first, second)
            low, high = ends.unknown(ends.may_vanish(first) & ends.may_overflow(second), low, high)
            low, high = ends.unknown(ends.may_overflow(first) & ends.may_vanish(second), low, high)
            variance = _finite(np.square(first["value"]) * second["variance"])
            variance = variance + _finite(np.square(second["value"]) * first["variance"])
            return self.limits.rounded(value, low, high, variance)

    def _scaled(self, operation: Operation, a: Array, b: Array) -> Array:
        """A sum times a number, or divided by it: perhaps each of its terms is."""
        with np.errstate(all="ignore"):
            lost = self.limits.vanished(a)
            wide = a["low"] - lost, a["high"] + lost
            both = [ends.filled(operation(end, b), end, b) for end in wide]
            variance = _finite(operation(operation(a["variance"] + np.square(lost), b), b))
            size = ends.filled(operation(a["size"], np.abs(b)), a["size"], b)
            low, high = self.limits.summed(a["value"], np.minimum(*both), np.maximum(*both), a["size"])
            return made(operation(a["value"], b), low, high, variance, size, a["terms"] + 1.0)

    def divide(self, a: Number, b: Number) -> Number:
        if isinstance(b, int | float) and b and not is_record(b) and is_record(a) and np.any(a["terms"]):
            return self._scaled(WIDE.divide, np.asarray(a), np.asarray(b, np.float64))
        first, second = self.settled(a), self.settled(b)
        with np.errstate(all="ignore"):
            value = np.true_divide(first["value"], second["value"])
            low, high = ends.of(ends.quotient, first, second)
            through = (second["low"] <= 0) & (second["high"] >= 0) & (second["low"] < second["high"])
            undefined = (ends.may_vanish(first) & ends.may_vanish(second)) | (
                ends.may_overflow(first) & ends.may_overflow(second)
            )
            low, high = ends.unknown(through | undefined, low, high)
            variance = _finite((first["variance"] + np.square(value) * second["variance"]) / np.square(second["value"]))
            return self.limits.rounded(value, low, high, variance)

    def floor_divide(self, a: Number, b: Number) -> Number:
        return WIDE.floor_divide(a, b)

    def div_trunc(self, a: Number, b: Number) -> Number:
        return WIDE.div_trunc(a, b)

    def mod_floor(self, a: Number, b: Number) -> Number:
        return self._rest(a, b, WIDE.mod_floor, np.floor)

    def mod_trunc(self, a: Number, b: Number) -> Number:
        return self._rest(a, b, WIDE.mod_trunc, np.trunc)

    def _rest(self, a: Number, b: Number, operation: Operation, whole: Operation) -> Number:
        """A remainder: ``a - b * whole(a / b)``, in which the quotient may be the next whole number."""
        if not (is_record(a) or is_record(b)):
            return self._plain(operation, a, b)
        first, second = self.settled(a), self.settled(b)
        with np.errstate(all="ignore"):
            value = operation(first["value"], second["value"])
            quotient = np.abs(first["value"] / second["value"])
            slack = 2 * self.limits.unit * quotient
            near = whole(quotient - slack) != whole(quotient + slack)
            size = np.abs(second["value"])
            error = self.limits.unit * np.abs(first["value"]) + radius(first) + quotient * radius(second)
            error = np.where(near, np.fmin(error + size, 2 * size), error)
            error = np.where(np.isfinite(first["value"]) & np.isfinite(second["value"]), error, 0.0)
            return self.limits.rounded(value, value - error, value + error, np.square(error))

    def negate(self, a: Number) -> Number:
        if not is_record(a):
            return WIDE.negate(a)
        return made(-a["value"], -a["high"], -a["low"], a["variance"], a["size"], a["terms"])

    def absolute(self, a: Number) -> Number:
        if not is_record(a):
            return WIDE.absolute(a)
        a = self.settled(a)
        sizes = np.abs(a["low"]), np.abs(a["high"])
        low = np.where(is_unknown(a["low"], a["high"]), -np.inf, np.where(ends.may_vanish(a), 0.0, np.minimum(*sizes)))
        return made(np.abs(a["value"]), low, np.maximum(*sizes), a["variance"])

    def minimum(self, a: Number, b: Number) -> Number:
        return self._extreme(WIDE.minimum, np.fmin, a, b)

    def maximum(self, a: Number, b: Number) -> Number:
        return self._extreme(WIDE.maximum, np.fmax, a, b)

    def _extreme(self, operation: Operation, of_ends: Operation, a: Number, b: Number) -> Number:
        if not (is_record(a) or is_record(b)):
            return operation(a, b)
        first, second = self.settled(a), self.settled(b)
        low, high = (of_ends(first[end], second[end]) for end in ("low", "high"))
        value = operation(first["value"], second["value"])
        variance = np.where(value == first["value"], first["variance"], second["variance"])
        return made(value, low, high, variance)

    def less(self, a: Number, b: Number) -> Number:
        return self._compared(np.less, a, b)

    def less_equal(self, a: Number, b: Number) -> Number:
        return self._compared(np.less_equal, a, b)

    def equal(self, a: Number, b: Number) -> Number:
        if not (is_record(a) or is_record(b)):
            return np.equal(a, b)
        first, second = self.settled(a), self.settled(b)
        meet = (first["low"] <= second["high"]) & (second["low"] <= first["high"])
        sure = (first["low"] == first["high"]) & (second["low"] == second["high"])
        return test(first["value"] == second["value"], meet & ~sure)

    def _compared(self, operation: Operation, a: Number, b: Number) -> Number:
        if not (is_record(a) or is_record(b)):
            return operation(a, b)
        first, second = self.settled(a), self.settled(b)
        unsure = operation(first["low"], second["high"]) != operation(first["high"], second["low"])
        return test(operation(first["value"], second["value"]), unsure)

    def isnan(self, a: Number) -> Number:
        return np.isnan(a["value"]) if is_record(a) else WIDE.isnan(a)

    def isfinite(self, a: Number) -> Number:
        return np.isfinite(a["value"]) if is_record(a) else WIDE.isfinite(a)

    def negative(self, a: Number) -> Number:
        if not is_record(a):
            return WIDE.negative(a)
        a = self.settled(a)
        return test(WIDE.negative(a["value"]), (a["low"] < 0) & (a["high"] > 0))

    def single(self, a: Number) -> Number:
        if not is_record(a):
            return exact(WIDE.single(a))
        a = self.settled(a)
        with np.errstate(all="ignore"):
            value = WIDE.single(a["value"])
        if self.limits.unit < _UNITS[4]:
            return self.narrowed(made(value, a["low"], a["high"], a["variance"]), np.dtype(np.float32))
        low, high = np.fmin(a["low"], value), np.fmax(a["high"], value)
        return made(value, low, high, a["variance"])

    def single_sum(self, a: Number, b: Number) -> Number:
        found = self.settled(self.add(a, b))
        with np.errstate(all="ignore"):
            value = WIDE.single_sum(self.settled(a)["value"], self.settled(b)["value"])
        return made(value, np.fmin(found["low"], value), np.fmax(found["high"], value), found["variance"])

    def double(self, a: Number) -> Number:
        return a if is_record(a) else exact(WIDE.double(a))

    def shortened(self, a: Number) -> Number:
        """The state of a recurrence: errors of its many numbers do not add up with the worst signs at each step.

        A range that would, from step to step, grows to all numbers. The range is cut to CHAINED typical deviations.
        """
        found = self.settled(a)
        with np.errstate(all="ignore"):
            most = CHAINED * np.sqrt(found["variance"])
            most = np.where(ends.may_overflow(found), np.inf, most)
            low, high = np.fmax(found["low"], found["value"] - most), np.fmin(found["high"], found["value"] + most)
        return made(found["value"], low, high, found["variance"])

    def saturate(self, a: Number, dtype: DType) -> Number:
        if not is_record(a):
            return WIDE.saturate(a, dtype)
        a = self.settled(a)
        value, low, high = (np.asarray(WIDE.saturate(a[end], dtype)) for end in ("value", "low", "high"))
        return made(value, low, high, a["variance"])

    def function(self, name: str, *values: Number) -> Number:
        return approximated.function(self, self.limits, self.precision, name, *values)

    def sum(self, a: Array, axes: int | tuple[int, ...]) -> Number:
        if not is_record(a):
            return WIDE.sum(a, axes)
        parts = self.partial(a)
        with np.errstate(all="ignore"):
            return _joined_along(lambda one: np.sum(one, axes, keepdims=True) + 0.0, parts)

    def product(self, a: Array, axes: int | tuple[int, ...]) -> Number:
        if not is_record(a):
            return WIDE.product(a, axes)
        several = axes if isinstance(axes, tuple) else (axes,)
        found = a = self.settled(a)
        for axis in several:
            while found.shape[axis] > 1:
                half = found.shape[axis] // 2
                ahead, behind, rest = np.split(found, [half, 2 * half], axis)
                found = np.concatenate([self.multiply(ahead, behind), rest], axis)
        with np.errstate(all="ignore"):
            value = WIDE.product(np.ascontiguousarray(a["value"]), axes)
        lines = np.moveaxis(a, several, range(-len(several), 0)).reshape(*value.squeeze(several).shape, -1)
        return self._multiplied(value, found, *(one[..., -1].reshape(value.shape) for one in self._stretches(lines)))

    def least(self, a: Array, axes: int | tuple[int, ...]) -> Number:
        return self._along(WIDE.least, np.fmin, a, axes)

    def greatest(self, a: Array, axes: int | tuple[int, ...]) -> Number:
        return self._along(WIDE.greatest, np.fmax, a, axes)

    def _along(self, operation: Operation, of_ends: np.ufunc, a: Array, axes: int | tuple[int, ...]) -> Number:
        if not is_record(a):
            return operation(a, axes)
        a = self.settled(a)
        low, high = (of_ends.reduce(a[end], axes, keepdims=True) for end in ("low", "high"))
        return made(operation(a["value"], axes), low, high, np.max(a["variance"], axes, keepdims=True))

    def sums(self, a: Array, axis: int) -> Number:
        if not is_record(a):
            return WIDE.sums(a, axis)
        with np.errstate(all="ignore"):
            return _joined_along(lambda one: np.cumsum(one, axis), self.partial(a))

    def products(self, a: Array, axis: int) -> Number:
        if not is_record(a):
            return WIDE.products(a, axis)
        a = self.settled(a)
        found, far = np.moveaxis(a, axis, 0), 1
        while far < len(found):  # of 2, 4, 8 numbers and so on, each multiplied once
            found = np.concatenate([found[:far], self.multiply(found[far:], found[:-far])])
            far *= 2
        with np.errstate(all="ignore"):
            value = WIDE.products(np.ascontiguousarray(a["value"]), axis)
        marks = (np.moveaxis(one, -1, axis) for one in self._stretches(np.moveaxis(a, axis, -1)))
        return self._multiplied(value, np.moveaxis(found, 0, axis), *marks)

    def _stretches(self, lines: Array) -> tuple[Number, Number]:
        with np.errstate(all="ignore"):
            return ends.stretches(lines, self.limits.top, self.limits.least)

    def _multiplied(self, value: Number, found: Array, grown: Number, small: Number) -> Array:
        """Products, of which ``found`` are those of one order; in another, parts may be infinite (grown) or 0."""
        nothing = np.where(small, 0.0, value)
        low, high = (
            np.minimum(found["low"], np.minimum(nothing, value)),
            np.maximum(found["high"], np.maximum(nothing, value)),
        )
        lost = np.isnan(low) | np.isnan(high) | (grown & (small | (np.abs(value) <= self.limits.most)))
        low, high = ends.unknown(lost & ~np.isnan(value), low, high)
        low, high = (np.where(np.isnan(value), value, one) for one in (low, high))
        with np.errstate(over="ignore"):
            variance = found["variance"] + np.where(small, _finite(np.square(value)), 0.0)
        return made(value, low, high, variance)

    def matmul(self, a: Array, b: Array) -> Number:
        if not (is_record(a) or is_record(b)):
            return WIDE.matmul(a, b)
        first, second = self.settled(a), self.settled(b)
        with np.errstate(all="ignore"):
            return _matmul(first, second)

    def where(self, test: Number, then: Number, other: Number) -> Number:
        unsure = unsure_of(test)
        if not (is_record(then) or is_record(other)) and not np.any(unsure):
            return (
                WIDE.where(np.asarray(test), then, other) if isinstance(test, np.ndarray) else then if test else other
            )
        if not np.any(unsure):
            first, second = (one if is_record(one) else exact(one) for one in (then, other))
            return np.where(np.asarray(test), first, second)
        first, second = self.settled(then), self.settled(other)
        with np.errstate(all="ignore"):
            found = np.where(np.asarray(test), first, second)
            apart = np.square(first["value"] - second["value"])
        low, high = np.fmin(first["low"], second["low"]), np.fmax(first["high"], second["high"])
        variance = np.fmax(first["variance"], second["variance"]) + _finite(apart)
        return made(found["value"], np.where(unsure, low, found["low"]), np.where(unsure, high, found["high"]),
                    np.where(unsure, variance, found["variance"]))  # fmt: skip

    def also(self, found: Number, other: Callable[[], Number]) -> Number:
        """The number in the range of both computations."""
        first, second = self.settled(found), self.settled(other())
        low, high = np.fmin(first["low"], second["low"]), np.fmax(first["high"], second["high"])
        return made(first["value"], low, high, np.fmax(first["variance"], second["variance"]))

    def both(self, a: Number, b: Number) -> Number:
        first, second = np.asarray(a), np.asarray(b)
        unsure = (unsure_of(a) & (second | unsure_of(b))) | (unsure_of(b) & (first | unsure_of(a)))
        return test(np.logical_and(first, second), unsure)

    def either(self, a: Number, b: Number) -> Number:
        return self.negation(self.both(self.negation(a), self.negation(b)))

    def negation(self, a: Number) -> Number:
        return test(np.logical_not(np.asarray(a)), unsure_of(a))

    def weighed(self, weights: Callable[[Arithmetic], Number], place: Array, slope: float) -> Number:
        return self._between(np.asarray(weights(WIDE), np.float64), slope * np.abs(place), self.limits.unit)

    def placed(self, rest: Array, place: Array) -> Number:
        return self._between(rest, np.abs(place), self.limits.added)

    def _between(self, weight: Array, place: Array, unit: float) -> Number:
        """Weights that are off as much as the places for which they are."""
        error = ROUNDINGS * unit * (place + 1)
        return made(weight, np.maximum(weight - error, 0), np.minimum(weight + error, 1), np.square(error))


def _is(a: object, number: int) -> bool:
    """Whether this is that number itself, and no record or array."""
    return isinstance(a, int | float) and not isinstance(a, bool) and a == number


def _finite(a: Number) -> Number:
    known = np.isfinite(a)
    return a if known.all() else np.where(known, a, 0.0)


def _joined_along(reduce: Operation, parts: Array) -> Array:
    """The sums of all columns of records."""
    value, low, high, *others = (reduce(parts[name]) for name in RECORD.names or ())
    lost = (np.isnan(low) | np.isnan(high)) & ~np.isnan(value)
    return made(value, np.where(lost, -np.inf, low), np.where(lost, np.inf, high), *others)


def _matmul(a: Array, b: Array) -> Array:
    """Products of matrices, as sums that are not rounded yet."""
    x, y = (np.ascontiguousarray(one["value"]) for one in (a, b))
    value = np.matmul(x, y) + 0.0
    sizes = [np.abs(one) if np.isfinite(one).all() else np.where(np.isfinite(one), np.abs(one), 0.0) for one in (x, y)]
    total = np.matmul(*sizes)
    p, q = (None if (one["low"] == one["high"]).all() else radius(one) for one in (a, b))
    error: Number = 0.0
    variance: Number = 0.0
    if p is not None:
        error = ends.errors_of(p, sizes[1] if q is None else sizes[1] + q)
        variance = np.matmul(a["variance"], np.square(sizes[1]))
    if q is not None:
        error = error + ends.errors_of(sizes[0], q)
        variance = variance + np.matmul(np.square(sizes[0]), b["variance"])
    known = np.isfinite(value)
    low, high = (np.where(known, value + sign * error, value) for sign in (-1, 1))
    return made(value, low, high, variance, total, float(x.shape[-1]))
