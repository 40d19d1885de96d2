"""Exact numbers: Python's integers, fractions, and floats for infinities, NaN and -0. Tests compare with these numbers.

Functions have 40 digits. Arrays have objects; an operation takes some microseconds for each element.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Final

import numpy as np

from dmlcy._arithmetic import digits
from dmlcy._arithmetic.base import Arithmetic, limits
from dmlcy._arithmetic.rounding import nearest
from dmlcy._runtime import four_bits
from dmlcy._types import Array, DType, Number, Operation

LONGEST: Final = 4000
"""Bits of a power of a fraction that is computed in full."""
KEPT: Final = 240
"""Bits of a number that is shortened: more than 70 digits."""
SMALLEST: Final = -1400
"""The exponent of the last bit that a number can have which is shortened."""
LARGEST: Final = 2**1024
"""The end of the range of float64."""
ZERO: Final = Fraction(0)


def number(value: Number) -> Number:
    """A number of Python as an exact one: a fraction if it is a float that is finite, and not -0."""
    if type(value) is Fraction or isinstance(value, int):
        return value
    found = float(value) * 1.0  # no NaN is a signalling one: of these, pow(x, 0) is NaN
    return Fraction(found) if math.isfinite(found) and (found or math.copysign(1, found) > 0) else found


def _stand_in(value: Number) -> float:
    """A float that has the sign of a number, and is 0, infinite or NaN if the number is."""
    return value if type(value) is float else 1.0 if value > 0 else -1.0 if value else 0.0


def _sign(value: Number) -> float:
    return math.copysign(1.0, _stand_in(value))


def _add(a: Number, b: Number) -> Number:
    if type(a) is not float and type(b) is not float:
        return a + b
    if type(a) is float and a == 0:
        return b if b != 0 or type(b) is float else ZERO
    if type(b) is float and b == 0:
        return a if a != 0 or type(a) is float else ZERO
    return number(_stand_in(a) + _stand_in(b))


def _multiply(a: Number, b: Number) -> Number:
    if type(a) is int and type(b) is int:
        return a * b
    if type(a) is not float and type(b) is not float:
        return a * b if a and b else number(_stand_in(a) * _stand_in(b))
    return number(_stand_in(a) * _stand_in(b))


def _divide(a: Number, b: Number) -> Number:
    if type(a) is not float and type(b) is not float and b:
        return Fraction(a) / b if a else number(_stand_in(a) * _stand_in(b))
    with np.errstate(all="ignore"):
        return number(np.true_divide(_stand_in(a), _stand_in(b)))


def _negate(a: Number) -> Number:
    return -a if a or type(a) is int else number(-_stand_in(a))


def _mod(a: Number, b: Number, floored: bool) -> Number:
    if type(a) is int and type(b) is int:
        if b == 0:
            return 0
        return a % b if floored else (abs(a) % abs(b)) * (1 if a >= 0 else -1)
    if (type(a) is float and a != 0) or (type(b) is float and math.isnan(b)) or b == 0:
        return math.nan
    if type(b) is float:  # an infinity
        rest = a
    else:
        rest = abs(number(abs(a))) % abs(b) * int(_sign(a)) if a else a
        rest = rest or number(math.copysign(0.0, _sign(a)))
    if not floored:
        return rest
    if not rest:
        return number(math.copysign(0.0, _sign(b)))
    return rest if _sign(rest) == _sign(b) else _add(rest, b)


def _quotient(a: int, b: int) -> int:
    if b == 0:
        return 0
    size = abs(a) // abs(b)
    return -size if (a < 0) != (b < 0) else size


def _key(a: Number) -> tuple[Number, float]:
    return a, _sign(a)


def _minimum(a: Number, b: Number) -> Number:
    if a != a or b != b:
        return b if a != a else a
    return min(a, b, key=_key)


def _maximum(a: Number, b: Number) -> Number:
    if a != a or b != b:
        return b if a != a else a
    return max(a, b, key=_key)


def _shortened(a: Number) -> Number:
    """A fraction with few bits, or an infinity."""
    if type(a) is not Fraction or not a:
        return a
    if abs(a) >= LARGEST:
        return math.inf if a > 0 else -math.inf
    last = max(a.numerator.bit_length() - a.denominator.bit_length() - KEPT, SMALLEST)
    return round(a / Fraction(2) ** last) * Fraction(2) ** last


def _absolute(a: Number) -> Number:
    return number(abs(a))


def _whole(function: Callable[[Number], int]) -> Callable[[Number], Number]:
    """A rounding to whole numbers, which keeps the sign of what becomes 0."""

    def rounded(a: Number) -> Number:
        if type(a) is float:
            return a
        found = function(a)
        return Fraction(found) if found or a >= 0 else -0.0

    return rounded


def _round(a: Number) -> int:
    if type(a) is float and not math.isfinite(a):
        return 0 if math.isnan(a) else 2**31 - 1 if a > 0 else -(2**31)
    half = Fraction(1, 2)
    found = math.floor(abs(Fraction(a)) + half) * (1 if a >= 0 else -1)
    return min(max(found, -(2**31)), 2**31 - 1)


UNDEFINED: Final[dict[str, Callable[[Number], bool]]] = {
    "sqrt": lambda x: x <= 0, "log": lambda x: x <= 0, "log1p": lambda x: x <= -1, "asin": lambda x: abs(x) > 1,
    "acos": lambda x: abs(x) > 1, "acosh": lambda x: x < 1, "atanh": lambda x: abs(x) >= 1,
    "exp": lambda x: abs(x) > digits.LARGE, "expm1": lambda x: abs(x) > digits.LARGE,
    "sinh": lambda x: abs(x) > digits.LARGE, "cosh": lambda x: abs(x) > digits.LARGE,
}  # fmt: skip
"""Where a function is infinite, NaN, 0 or the like: what IEEE 754 says is asked for there."""
OF_FLOATS: Final[dict[str, Callable[..., Number]]] = {
    "sqrt": np.sqrt, "exp": np.exp, "expm1": np.expm1, "log": np.log, "log1p": np.log1p, "sin": np.sin, "cos": np.cos,
    "tan": np.tan, "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "sinh": np.sinh, "cosh": np.cosh,
    "tanh": np.tanh, "asinh": np.arcsinh, "acosh": np.arccosh, "atanh": np.arctanh, "erf": math.erf, "erfc": math.erfc,
    "atan2": np.arctan2, "pow": np.float_power,  # np.power takes roots for 0.5: of -infinity, NaN
}  # fmt: skip


def as_float(a: Number) -> float:
    """The nearest float64; infinite beyond its range."""
    try:
        return float(a)
    except OverflowError:
        return math.inf if a > 0 else -math.inf


def _of_floats(name: str, *values: Number) -> Number:
    with np.errstate(all="ignore"):
        return number(OF_FLOATS[name](*map(as_float, values)))


def _function(name: str, a: Number) -> Number:
    if type(a) is float or a == 0 or (name in UNDEFINED and UNDEFINED[name](a)):
        return _of_floats(name, a)
    return digits.value(name, Fraction(a))


def _atan2(y: Number, x: Number) -> Number:
    if type(y) is float or type(x) is float or (not x and not y):
        finite = all(type(one) is not float or one == 0 for one in (y, x))
        if finite and x and x > 0:
            return y
        return _of_floats("atan2", _stand_in(y), _stand_in(x))
    return digits.value("atan2", Fraction(y), Fraction(x))


def _pow(base: Number, exponent: Number) -> Number:
    whole = type(exponent) is not float and Fraction(exponent).denominator == 1
    if type(base) is float or type(exponent) is float or base == 0 or exponent == 0 or (base < 0 and not whole):
        return _of_floats("pow", base, exponent)
    n = int(exponent) if whole else 0
    size = abs(Fraction(base))
    if whole and abs(n) * max(size.numerator.bit_length(), size.denominator.bit_length()) <= LONGEST:
        return Fraction(base) ** n
    found = digits.power(size, Fraction(exponent))
    return -found if base < 0 and n % 2 else found


def _power(base: int, exponent: int) -> int:
    if exponent >= 0:
        return int(pow(base, exponent, 2**64))
    return 0 if base not in (1, -1) else base if exponent % 2 else 1


INTEGERS: Final[dict[str, Callable[..., int]]] = {
    "int_pow": _power,
    "bit_and": lambda a, b: a & b, "bit_or": lambda a, b: a | b, "bit_xor": lambda a, b: a ^ b,
    "shift_left": lambda a, n: a << min(n, 64), "shift_right": lambda a, n: a >> min(n, 64),
    "bit_count": int.bit_count,
}  # fmt: skip
ROUNDINGS: Final[dict[str, Callable[..., Number]]] = {
    "floor": _whole(math.floor), "ceil": _whole(math.ceil), "trunc": _whole(math.trunc), "round_even": _whole(round),
    "round": _round,
}  # fmt: skip


def _lifted(function: Operation, *values: Number) -> Number:
    """A function of exact numbers, of each element of arrays."""
    if not any(isinstance(value, np.ndarray) for value in values):
        return function(*(number(value) for value in values))
    with np.errstate(all="ignore"):
        return np.frompyfunc(lambda *one: function(*map(number, one)), len(values), 1)(*values)


def _told(function: Callable[..., bool], *values: Number) -> Number:
    """A condition on exact numbers, of each element of arrays."""
    found = _lifted(function, *values)
    return found.astype(bool) if isinstance(found, np.ndarray) else found


def _reduced(function: Operation, a: Array, axes: int | tuple[int, ...], empty: Number) -> Number:
    """A function of two numbers over all numbers along some axes."""
    result: Number = a
    for axis in axes if isinstance(axes, tuple) else (axes,):
        count = result.shape[axis]
        if not count:
            shape = [*result.shape]
            shape[axis] = 1
            result = np.full(shape, empty, object)
            continue
        slices = np.moveaxis(result, axis, 0)
        total = slices[0]
        for k in range(1, count):
            total = function(total, slices[k])
        result = np.expand_dims(total, axis)
    return result


class Exact(Arithmetic):
    """Exact numbers, one by one."""

    def of(self, array: Array) -> Array:
        result = np.empty(array.size, object)
        result[:] = [number(value.item()) for value in array.ravel()]
        return result.reshape(array.shape)

    def stored(self, values: Number, dtype: DType, sizes: Sequence[int]) -> Array:
        wide = np.broadcast_to(np.asarray(values, object), sizes)
        if dtype.kind != "f":
            whole = [v if isinstance(v, int) else self.saturate(v, dtype) for v in wide.ravel().tolist()]
            low = [int(value) % 2 ** (8 * dtype.itemsize) for value in whole]
            name = four_bits.name_of(dtype)
            if name is not None:
                return four_bits.marked(np.array(low), name).reshape(wide.shape)
            return np.array(low, f"u{dtype.itemsize}").view(dtype).reshape(wide.shape)
        found = [nearest(value, dtype) for value in wide.ravel().tolist()]
        return np.array(found, dtype).reshape(wide.shape)

    def add(self, a: Number, b: Number) -> Number:
        return _lifted(_add, a, b)

    def subtract(self, a: Number, b: Number) -> Number:
        return self.add(a, self.negate(b))

    def multiply(self, a: Number, b: Number) -> Number:
        return _lifted(_multiply, a, b)

    def divide(self, a: Number, b: Number) -> Number:
        return _lifted(_divide, a, b)

    def floor_divide(self, a: Number, b: Number) -> Number:
        return _lifted(lambda x, y: x // y if y else 0, a, b)

    def div_trunc(self, a: Number, b: Number) -> Number:
        return _lifted(_quotient, a, b)

    def mod_floor(self, a: Number, b: Number) -> Number:
        return _lifted(lambda x, y: _mod(x, y, True), a, b)

    def mod_trunc(self, a: Number, b: Number) -> Number:
        return _lifted(lambda x, y: _mod(x, y, False), a, b)

    def negate(self, a: Number) -> Number:
        return _lifted(_negate, a)

    def absolute(self, a: Number) -> Number:
        return _lifted(_absolute, a)

    def minimum(self, a: Number, b: Number) -> Number:
        return _lifted(_minimum, a, b)

    def maximum(self, a: Number, b: Number) -> Number:
        return _lifted(_maximum, a, b)

    def less(self, a: Number, b: Number) -> Number:
        return _told(lambda x, y: x < y, a, b)

    def less_equal(self, a: Number, b: Number) -> Number:
        return _told(lambda x, y: x <= y, a, b)

    def equal(self, a: Number, b: Number) -> Number:
        return _told(lambda x, y: x == y, a, b)

    def isnan(self, a: Number) -> Number:
        return _told(lambda x: x != x, a)

    def isfinite(self, a: Number) -> Number:
        return _told(lambda x: type(x) is not float or math.isfinite(x), a)

    def negative(self, a: Number) -> Number:
        return _told(lambda x: x == x and _sign(x) < 0, a)

    def single(self, a: Number) -> Number:
        return _lifted(lambda x: number(nearest(x, np.dtype(np.float32))), a)

    def double(self, a: Number) -> Number:
        return _lifted(lambda x: number(nearest(x, np.dtype(np.float64))), a)

    def shortened(self, a: Number) -> Number:
        return _lifted(_shortened, a)

    def saturate(self, a: Number, dtype: DType) -> Number:
        low, high = limits(dtype)

        def cut(x: Number) -> int:
            if type(x) is float and not math.isfinite(x):
                return 0 if math.isnan(x) else high if x > 0 else low
            return min(max(int(x), low), high)

        return _lifted(cut, a)

    def function(self, name: str, *values: Number) -> Number:
        if name in INTEGERS or name in ROUNDINGS:
            return _lifted((INTEGERS | ROUNDINGS)[name], *values)
        if name in ("pow", "atan2"):
            return _lifted(_pow if name == "pow" else _atan2, *values)
        return _lifted(lambda x: _function(name, x), *values)

    def sum(self, a: Array, axes: int | tuple[int, ...]) -> Number:
        return self.add(_reduced(self.add, a, axes, 0), 0)

    def product(self, a: Array, axes: int | tuple[int, ...]) -> Number:
        return _reduced(self.multiply, a, axes, 1)

    def least(self, a: Array, axes: int | tuple[int, ...]) -> Number:
        return _reduced(self.minimum, a, axes, None)

    def greatest(self, a: Array, axes: int | tuple[int, ...]) -> Number:
        return _reduced(self.maximum, a, axes, None)

    def sums(self, a: Array, axis: int) -> Number:
        with np.errstate(all="ignore"):
            return np.frompyfunc(self.add, 2, 1).accumulate(a, axis)

    def products(self, a: Array, axis: int) -> Number:
        with np.errstate(all="ignore"):
            return np.frompyfunc(self.multiply, 2, 1).accumulate(a, axis)

    def matmul(self, a: Array, b: Array) -> Number:
        return self.sum(self.multiply(a[..., :, :, None], b[..., None, :, :]), -2)[..., 0, :]


class Single(Exact):
    """Exact numbers whose sums, products and quotients are rounded to FLOAT32; integers stay exact."""

    def _rounded(self, a: Number) -> Number:
        return _lifted(lambda x: x if isinstance(x, int) else number(nearest(x, np.dtype(np.float32))), a)

    def add(self, a: Number, b: Number) -> Number:
        return self._rounded(super().add(a, b))

    def multiply(self, a: Number, b: Number) -> Number:
        return self._rounded(super().multiply(a, b))

    def divide(self, a: Number, b: Number) -> Number:
        return self._rounded(super().divide(a, b))


EXACT: Final = Exact()
SINGLE: Final = Single()
