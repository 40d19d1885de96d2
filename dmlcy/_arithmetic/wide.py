"""Arrays of float64 and of integers: what users get.

Integers are int64 as long as the numbers that occur fit, and Python's integers where they do not, which are slow.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from dmlcy._arithmetic import scaled
from dmlcy._arithmetic.base import Arithmetic, limits
from dmlcy._runtime import four_bits
from dmlcy._types import Array, DType, Number, Operation

LEAST: Final = -(2**63)
MOST: Final = 2**63 - 1
BITS: Final = 64
HALF: Final = 32
NEAR: Final = 1000
"""Exponents of float64 below are those of normal numbers."""
EXACT_FLOAT: Final = 2**53
"""Integers below are exact in float64."""


def is_integer(a: Number) -> bool:
    """Whether this is an integer, or an array of them."""
    return isinstance(a, int) or (isinstance(a, np.ndarray | np.generic) and a.dtype.kind in "iuO")


def _bounds(a: Number) -> tuple[int, int]:
    """The least and the greatest of some integers."""
    return (a, a) if isinstance(a, int) else (int(a.min()), int(a.max()))


def _long(a: Number) -> Number:
    """The same integers as Python's."""
    return a.astype(object) if isinstance(a, np.ndarray) else int(a)


def _combined(function: Operation, a: Number, b: Number, ends: list[int]) -> Number:
    """A function of integers, whose results are between some of ``ends``."""
    if min(ends) >= LEAST and max(ends) <= MOST and not _is_long(a) and not _is_long(b):
        return function(a, b)
    return function(_long(a), _long(b))


def _alike(a: Number, b: Number) -> tuple[Number, Number]:
    """Integers as Python's both if one of them is; NumPy has no int64 for a Python int beyond it."""
    if is_integer(a) and is_integer(b) and (_is_long(a) or _is_long(b)):
        return np.asarray(_long(a), object), np.asarray(_long(b), object)
    return a, b


def _quiet(a: Number) -> Number:
    """The same number; of an attribute that is a signalling NaN a quiet one, to which extremes prefer numbers."""
    return a * 1.0 if isinstance(a, float) else a


def _is_long(a: Number) -> bool:
    return not LEAST <= a <= MOST if isinstance(a, int) else bool(a.dtype == object)


def _each(function: Callable[[float], float]) -> Callable[[Number], Number]:
    """A function of a float as one of arrays."""

    def of(a: Number) -> Number:
        values = np.asarray(a, np.float64)
        return np.fromiter(map(function, values.ravel().tolist()), np.float64, values.size).reshape(values.shape)

    return of


def _round(a: Number) -> Number:
    """The nearest integers, halves away from zero, saturated to 32 bits."""
    whole = np.trunc(np.clip(a, -(2.0**31), 2.0**31 - 1))
    return (whole + np.trunc(2 * (a - whole))).clip(-(2.0**31), 2.0**31 - 1).astype(np.int64)


def _power(a: Number, b: Number) -> Number:
    """Integers to the power of integers, modulo 2**64, which is all that a tensor can hold of it.

    A negative power keeps what is a whole number: of 1 and -1.
    """
    base, left = np.asarray(a), np.asarray(b)
    lost = np.less(left, 0) & np.not_equal(np.abs(base), 1)
    base, left = _low(base), _low(np.where(np.less(left, 0), left & 1, left))
    result = np.ones(lost.shape, np.uint64)
    while left.any():
        result = np.where(left & 1 == 1, result * base, result)
        base, left = base * base, left >> 1
    return np.where(lost, 0, result.view(np.int64))


def _short(a: Array) -> Array:
    """Python's integers as int64, if they fit."""
    low, high = _bounds(a)
    return a.astype(np.int64) if low >= LEAST and high <= MOST else a


def _shift_left(a: Number, n: Number) -> Number:
    return np.left_shift(_long(np.asarray(a)), _long(np.minimum(n, BITS)))


def _shift_right(a: Number, n: Number) -> Number:
    if _is_long(a):
        return np.right_shift(a, _long(np.minimum(n, BITS)))
    return np.right_shift(a, np.minimum(n, BITS - 1).astype(np.int64))


def _bit_count(a: Number) -> Number:
    return np.bitwise_count(a) if not _is_long(a) else np.frompyfunc(int.bit_count, 1, 1)(a)


def _count(a: Array, axes: int | tuple[int, ...]) -> int:
    """How many elements along some axes there are."""
    return math.prod(a.shape[axis] for axis in (axes if isinstance(axes, tuple) else (axes,)))


def _fits(a: Array, count: int) -> bool:
    """Whether no sum of so many of some integers overflows."""
    if not a.size or _is_long(a):
        return True
    low, high = _bounds(a)
    return count * low >= LEAST and count * high <= MOST


def _sum(a: Array, axes: int | tuple[int, ...]) -> Number:
    """The sum of integers, by halves of 32 bits where one of int64 could overflow."""
    if _fits(a, _count(a, axes)):
        return np.sum(a, axes, keepdims=True)
    high, low = (np.sum(half, axes, keepdims=True) for half in (a >> HALF, a & (2**HALF - 1)))
    return _short(_long(high) * 2**HALF + _long(low))


def _is_small(a: Array, count: int) -> bool:
    """Whether no product of so many of some integers overflows."""
    size = max(map(abs, _bounds(a))) if a.size else 0
    return size <= 1 or (not _is_long(a) and count * size.bit_length() < BITS)


def _low(a: Array) -> Array:
    """The lowest 64 bits of integers: products of them are those of the integers, modulo 2**64."""
    return (a & (2**BITS - 1) if _is_long(a) else a).astype(np.uint64)


def _is_near(a: Array, count: int) -> bool:
    """Whether all products of so many of some floats are in the range of float64."""
    return count == 1 or count * int(np.abs(np.frexp(a)[1]).max(initial=0)) < NEAR


FUNCTIONS: Final[dict[str, Callable[..., Number]]] = {
    "floor": np.floor, "ceil": np.ceil, "trunc": np.trunc, "round_even": np.rint, "round": _round,
    "sqrt": np.sqrt, "exp": np.exp, "expm1": np.expm1, "log": np.log, "log1p": np.log1p,
    "sin": np.sin, "cos": np.cos, "tan": np.tan, "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan,
    "atan2": np.arctan2, "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh, "asinh": np.arcsinh, "acosh": np.arccosh,
    "atanh": np.arctanh, "erf": _each(math.erf), "erfc": _each(math.erfc),
    "pow": lambda a, b: np.float_power(np.asarray(a, np.float64), np.asarray(b, np.float64)), "int_pow": _power,
    "bit_and": np.bitwise_and, "bit_or": np.bitwise_or, "bit_xor": np.bitwise_xor,
    "shift_left": _shift_left, "shift_right": _shift_right,
    "bit_count": _bit_count,
}  # fmt: skip


class Wide(Arithmetic):
    """Arrays of NumPy. The results say what a warning of NumPy would say."""

    def of(self, array: Array) -> Array:
        if array.dtype.kind == "f":
            found = array.astype(np.float64)
            if array.itemsize != np.dtype(np.float32).itemsize:
                found *= 1.0  # no NaN is a signalling one: extremes prefer numbers to quiet ones only
            return found
        if array.dtype == np.uint64 and array.max() > MOST:
            return array.astype(object)
        return array.astype(np.int64)

    def stored(self, values: Number, dtype: DType, sizes: Sequence[int]) -> Array:
        found = np.asarray(values)
        if dtype.kind != "f":
            if found.dtype.kind == "f":
                found = np.asarray(self.saturate(found, dtype))
            if found.dtype == object:
                cut = np.asarray(found & (2**BITS - 1), object)  # of an array without axes, NumPy gives an int
                found = cut.astype(np.uint64)
        elif found.dtype == object:
            low, high = _bounds(found)
            wide = np.uint64 if low >= 0 and high < 2**BITS else np.int64 if low >= LEAST and high <= MOST else float
            found = found.astype(wide)
        name = four_bits.name_of(dtype)
        found = found.astype(dtype, copy=False) if name is None else four_bits.marked(found, name)
        return found if found.shape == tuple(sizes) else np.broadcast_to(found, sizes)

    def add(self, a: Number, b: Number) -> Number:
        if not (is_integer(a) and is_integer(b)):
            return np.add(a, b)
        (least, most), (low, high) = _bounds(a), _bounds(b)
        return _combined(np.add, a, b, [least + low, most + high])

    def subtract(self, a: Number, b: Number) -> Number:
        if not (is_integer(a) and is_integer(b)):
            return np.subtract(a, b)
        (least, most), (low, high) = _bounds(a), _bounds(b)
        return _combined(np.subtract, a, b, [least - high, most - low])

    def multiply(self, a: Number, b: Number) -> Number:
        if not (is_integer(a) and is_integer(b)):
            return np.multiply(a, b)
        return _combined(np.multiply, a, b, [x * y for x in _bounds(a) for y in _bounds(b)])

    def divide(self, a: Number, b: Number) -> Number:
        return np.true_divide(a, b)

    def floor_divide(self, a: Number, b: Number) -> Number:
        divisor = np.where(np.equal(b, 0), 1, b)
        least, most = _bounds(a)
        return self.where(np.equal(b, 0), 0, _combined(np.floor_divide, a, divisor, [least, most, -least]))

    def div_trunc(self, a: Number, b: Number) -> Number:
        size = self.floor_divide(self.absolute(a), self.absolute(b))
        return self.where(np.less(a, 0) != np.less(b, 0), self.negate(size), size)

    def mod_floor(self, a: Number, b: Number) -> Number:
        if is_integer(a) and is_integer(b):
            return self.where(np.equal(b, 0), 0, self.subtract(a, self.multiply(self.floor_divide(a, b), b)))
        rest = np.fmod(a, b)  # exact, with the sign of the dividend
        moved = np.where((rest != 0) & (np.signbit(rest) != np.signbit(b)), rest + b, rest)
        return np.where(rest == 0, np.copysign(rest, b), moved)

    def mod_trunc(self, a: Number, b: Number) -> Number:
        if is_integer(a) and is_integer(b):
            return self.where(np.equal(b, 0), 0, self.subtract(a, self.multiply(self.div_trunc(a, b), b)))
        return np.fmod(a, b)

    def negate(self, a: Number) -> Number:
        return self.subtract(0, a) if is_integer(a) else np.negative(a)

    def absolute(self, a: Number) -> Number:
        if not is_integer(a):
            return np.abs(a)
        return np.abs(a) if _bounds(a)[0] > LEAST else np.abs(_long(a))

    def minimum(self, a: Number, b: Number) -> Number:
        if is_integer(a) and is_integer(b):
            return np.minimum(*_alike(a, b))
        a, b = _quiet(a), _quiet(b)
        return np.where(np.equal(a, 0) & np.equal(b, 0), -(-1.0 * np.asarray(a) - b), np.fmin(a, b))

    def maximum(self, a: Number, b: Number) -> Number:
        if is_integer(a) and is_integer(b):
            return np.maximum(*_alike(a, b))
        a, b = _quiet(a), _quiet(b)
        return np.where(np.equal(a, 0) & np.equal(b, 0), np.add(a, b), np.fmax(a, b))

    def less(self, a: Number, b: Number) -> Number:
        return np.less(a, b)

    def less_equal(self, a: Number, b: Number) -> Number:
        return np.less_equal(a, b)

    def equal(self, a: Number, b: Number) -> Number:
        return np.equal(a, b)

    def isnan(self, a: Number) -> Number:
        return False if is_integer(a) else np.isnan(a)

    def isfinite(self, a: Number) -> Number:
        return True if is_integer(a) else np.isfinite(a)

    def negative(self, a: Number) -> Number:
        return np.less(a, 0) if is_integer(a) else np.signbit(a) & ~np.isnan(a)

    def where(self, test: Number, then: Number, other: Number) -> Number:
        return super().where(test, *_alike(then, other))

    def single(self, a: Number) -> Number:
        return np.asarray(a).astype(np.float32).astype(np.float64)

    def single_sum(self, a: Number, b: Number) -> Number:
        """Rounded once: what FLOAT64 loses of the sum can decide between two numbers of FLOAT32."""
        total = np.asarray(np.add(a, b), np.float64)
        with np.errstate(invalid="ignore"):
            part = total - a
            lost = (a - (total - part)) + (b - part)
            odd = total.view(np.int64) & 1 == 1
            lost = np.where(odd | ~np.isfinite(lost), 0, lost)
        return self.single(np.where(lost == 0, total, np.nextafter(total, np.copysign(np.inf, lost))))

    def double(self, a: Number) -> Number:
        return np.asarray(a).astype(np.float64)

    def shortened(self, a: Number) -> Number:
        return a

    def saturate(self, a: Number, dtype: DType) -> Number:
        low, high = limits(dtype)
        if is_integer(a):
            return np.clip(a, low, high) if isinstance(a, np.ndarray) else min(max(a, low), high)
        values = np.trunc(np.nan_to_num(a, nan=0.0, posinf=math.inf, neginf=-math.inf))
        if high < 2**53:
            return np.clip(values, low, high).astype(np.int64)
        inside = np.where((values >= low) & (values < high), values, 0.0)  # 2**63 - 1 and 2**64 - 1 are no float64
        found = inside.astype(dtype)
        found = np.where(values < low, dtype.type(low), np.where(values >= high, dtype.type(high), found))
        return self.of(found)

    def function(self, name: str, *values: Number) -> Number:
        return FUNCTIONS[name](*values)

    def sum(self, a: Array, axes: int | tuple[int, ...]) -> Number:
        return _sum(a, axes) if is_integer(a) else np.sum(a, axes, keepdims=True) + 0.0  # +0 in place of -0

    def product(self, a: Array, axes: int | tuple[int, ...]) -> Number:
        count = _count(a, axes)
        if is_integer(a):
            short = _is_small(a, count)
            return np.prod(a, axes, keepdims=True) if short else np.prod(_low(a), axes, keepdims=True).view(np.int64)
        if _is_near(a, count):
            return np.prod(a, axes, keepdims=True)
        found = scaled.parts(a)
        for axis in axes if isinstance(axes, tuple) else (axes,):
            found = scaled.product(found, axis)
        return scaled.number(found)

    def least(self, a: Array, axes: int | tuple[int, ...]) -> Number:
        if is_integer(a):
            return np.min(a, axes, keepdims=True)
        found = np.fmin.reduce(a, axes, keepdims=True)
        below = ((a == 0) & np.signbit(a)).any(axes, keepdims=True)
        return np.where(found == 0, np.where(below, -0.0, 0.0), found)

    def greatest(self, a: Array, axes: int | tuple[int, ...]) -> Number:
        if is_integer(a):
            return np.max(a, axes, keepdims=True)
        found = np.fmax.reduce(a, axes, keepdims=True)
        above = ((a == 0) & ~np.signbit(a)).any(axes, keepdims=True)
        return np.where(found == 0, np.where(above, 0.0, -0.0), found)

    def sums(self, a: Array, axis: int) -> Number:
        return np.cumsum(_long(a) if is_integer(a) and not _fits(a, a.shape[axis]) else a, axis)

    def products(self, a: Array, axis: int) -> Number:
        if is_integer(a):
            short = _is_small(a, a.shape[axis])
            return np.cumprod(a, axis) if short else np.cumprod(_low(a), axis).view(np.int64)
        if _is_near(a, a.shape[axis]):
            return np.cumprod(a, axis)
        return scaled.number(scaled.products(scaled.parts(a), axis))

    def matmul(self, a: Array, b: Array) -> Number:
        if not (is_integer(a) and is_integer(b)):
            return np.matmul(a, b) + 0.0
        if _is_long(a) or _is_long(b) or not a.size * b.size:
            return np.matmul(_long(a), _long(b))
        sizes = [max(map(abs, _bounds(one))) for one in (a, b)]
        if a.shape[-1] * sizes[0] * sizes[1] < EXACT_FLOAT:
            return np.matmul(a.astype(np.float64), b.astype(np.float64)).astype(np.int64)
        # Products of the upper and of the lower bits of the larger factors, until each sum is exact in float64.
        digits = max(sizes).bit_length() // 2
        if sizes[0] >= sizes[1]:
            high, low = self.matmul(a >> digits, b), self.matmul(a & (2**digits - 1), b)
        else:
            high, low = self.matmul(a, b >> digits), self.matmul(a, b & (2**digits - 1))
        return self.add(self.multiply(high, 2**digits), low)


WIDE: Final = Wide()
