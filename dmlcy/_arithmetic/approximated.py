"""Functions as devices compute them: how far from the exact result, and by which formulas.

No page of DirectML says how precise its functions are. The bounds come from what others state of the same hardware.
Sources are the precision appendix of Vulkan, the rules of Direct3D for ``sin`` and ``cos``, and the tolerances of
WebNN's tests, which ran on DirectML. The widest of them counts.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from dmlcy._arithmetic.base import Arithmetic
from dmlcy._arithmetic.ends import may_overflow, may_vanish, unknown
from dmlcy._arithmetic.ranges import Limits, is_unknown, made, radius
from dmlcy._arithmetic.wide import WIDE
from dmlcy._types import Array, Number

Column = Number


@dataclass(frozen=True, slots=True)
class Precision:
    """Largest errors of functions: in units of the operations, or absolute.

    ``exp`` errs by ``exp[0] + exp[1] * abs(x)`` units, since a product with ``x`` is its first step. ``log`` errs by so
    many units, and by ``near_one`` between 0.5 and 2. ``bounded`` is the absolute error of functions whose results are
    bounded. ``turned`` is the relative error of ``atan``. ``tanh`` errs by ``tanh[0]`` units and by ``tanh[1]``.
    """

    exp: tuple[float, float]
    log: float
    near_one: float
    sqrt: float
    bounded: float
    turned: float
    tanh: tuple[float, float]


SINGLE: Final = Precision((3, 2), 3, 2.0**-21, 4, 2.0**-10, 2.0**-11, (16, 2.0**-20))
HALF: Final = Precision((1, 1), 3, 2.0**-10, 4, 2.0**-9, 2.0**-9, (1, 2.0**-9))
LARGEST: Final = float(np.finfo(np.float64).max)
POLES: Final = (-1.0, 0.0, 1.0)
"""Where a function of a number may be infinite, as its limit is."""
REDUCED: Final = 100 * math.pi
"""Direct3D bounds the errors of ``sin`` and ``cos`` up to this angle."""
EXACT: Final = frozenset({"floor", "ceil", "trunc", "round_even", "round"})
"""Functions that every device computes exactly; they increase."""
INTEGER: Final = frozenset(
    {"int_pow", "bit_and", "bit_or", "bit_xor", "bit_not", "shift_left", "shift_right", "bit_count"}
)
"""Functions of integers."""


def function(m: Arithmetic, limits: Limits, precision: Precision, name: str, *values: Number) -> Number:
    """A function of numbers with ranges."""
    if name in INTEGER:
        return WIDE.function(name, *values)
    settled = [limits.settled(one) for one in values]
    with np.errstate(all="ignore"):
        return _Functions(m, limits, precision).found(name, *settled)


class _Functions:
    def __init__(self, m: Arithmetic, limits: Limits, precision: Precision) -> None:
        self.m, self.limits, self.precision = m, limits, precision

    def found(self, name: str, *values: Array) -> Array:
        """The result; of numbers that may be NaN any number."""
        found = self.known(name, *values)
        lost = [is_unknown(one["low"], one["high"]) for one in values]
        low, high = unknown(np.any(np.broadcast_arrays(*lost), 0), found["low"], found["high"])
        return made(found["value"], low, high, found["variance"])

    def known(self, name: str, *values: Array) -> Array:
        """The result, in the range that the formula of a device gives."""
        formula = FORMULAS.get(name)
        nominal = np.asarray(WIDE.function(name, *(one["value"] for one in values)), np.float64)
        if formula is None:
            return self.increasing(name, values[0], nominal)
        composed = formula(self, *values)
        given = values[0]
        pole = np.isinf(given["value"]) | np.isin(given["value"], POLES)
        number = np.isnan(nominal) & ~(np.isnan(composed["value"]) & ~is_unknown(composed["low"], composed["high"]))
        known = np.isnan(nominal) | (np.isinf(nominal) & (given["low"] == given["high"]) & pole)
        low = np.where(known, nominal, np.fmin(composed["low"], nominal))
        high = np.where(known, nominal, np.fmax(composed["high"], nominal))
        return made(nominal, *unknown(number, low, high), composed["variance"])

    def increasing(self, name: str, a: Array, nominal: Array) -> Array:
        """A function that increases, of the ends of the range."""
        low, high = (np.asarray(WIDE.function(name, a[end]), np.float64) for end in ("low", "high"))
        lost = np.isnan(nominal)
        number = lost & ~np.isnan(a["value"]) & ~(np.isnan(low) & np.isnan(high))  # outside the domain, by a rounding
        if name == "exp":  # beyond FLOAT64, and not infinite: a device that truncates has its largest number
            low = np.where(np.isfinite(a["low"]), np.minimum(low, LARGEST), low)
        low = np.where(np.isnan(low) & ~lost, LEAST.get(name, -np.inf), low)
        high = np.where(np.isnan(high) & ~lost, MOST.get(name, np.inf), high)
        if name == "acos":  # decreases
            low, high = high, low
        variance = a["variance"] * _steepness(a, low, high)
        if name in EXACT:  # the whole step is typical
            return made(nominal, low, high, _finite(np.square(np.where(high > low, high - low, 0.0))))
        below, above, error = (
            _finite(self.error(name, x, np.abs(size)))
            for x, size in ((a["low"], low), (a["high"], high), (a["value"], nominal))
        )
        ends = self.limits.widened(nominal, low, high, below, above)
        low, high = (np.clip(end, LEAST.get(name, -np.inf), MOST.get(name, np.inf)) for end in ends)
        return made(nominal, *unknown(number, low, high), variance + np.square(error))

    def error(self, name: str, x: Column, size: Column) -> Column:
        """The largest error of a result of about this size."""
        p, unit = self.precision, self.limits.unit
        if name == "exp":
            return (p.exp[0] + p.exp[1] * np.abs(x)) * unit * size
        if name == "log":
            return p.log * unit * size + np.where((x > 0.5) & (x < 2), p.near_one, 0.0)
        if name == "sqrt":
            return p.sqrt * unit * size
        if name == "tanh":
            return p.tanh[0] * unit * size + p.tanh[1]
        if name == "atan":
            return p.turned * size
        return p.bounded * np.ones_like(size)  # erf, asin, acos

    def bounded(self, name: str, a: Array) -> Array:
        """``sin`` and ``cos``: they change by no more than the angle does."""
        value = np.asarray(WIDE.function(name, a["value"]))
        beyond = ~(np.abs(a["value"]) <= REDUCED)
        error = np.where(beyond, 2.0, np.minimum(radius(a), 2.0) + self.precision.bounded)
        low, high = np.maximum(value - error, -1.0), np.minimum(value + error, 1.0)
        return made(value, low, high, a["variance"] + np.square(np.where(beyond, 2.0, self.precision.bounded)))

    def atan2(self, y: Array, x: Array) -> Array:
        """The angle of two numbers; of numbers with ranges it may be any."""
        value = np.arctan2(y["value"], x["value"])
        known = (radius(y) == 0) & (radius(x) == 0)
        error = np.where(known, self.precision.turned * np.abs(value), 2 * math.pi)
        undefined = (may_vanish(y) & may_vanish(x)) | (may_overflow(y) & may_overflow(x))  # of the quotient y / x
        return made(value, *unknown(undefined & ~np.isnan(value), value - error, value + error), np.square(error))

    def power(self, a: Array, b: Array) -> Array:
        """``exp(b * log(abs(a)))`` with the sign of the power."""
        m = self.m
        value = np.asarray(WIDE.function("pow", a["value"], b["value"]))
        found = m.function("exp", m.multiply(b, m.function("log", m.absolute(a))))
        least, most = (found[end] / found["value"] for end in ("low", "high"))
        ends = [np.where(np.isnan(one), value, value * one) for one in (least, most)]
        variance = found["variance"] * np.square(np.nan_to_num(value / found["value"], posinf=0.0, neginf=0.0))
        beyond = (found["high"] == np.inf) & np.isfinite(value)
        ends = [np.where(np.isinf(value) & (found[end] > 0), np.sign(value) * found[end], one)
                for end, one in zip(("low", "high"), ends, strict=True)]  # fmt: skip
        low, high = np.minimum(*ends), np.maximum(*ends)
        high = np.where(beyond & (value > 0), np.inf, high)
        low = np.where(beyond & (value < 0), -np.inf, low)
        fraction = (a["low"] < 0) & (b["value"] != np.rint(b["value"]))  # NaN, though the power of -infinity is not
        return made(value, *unknown(fraction & ~np.isnan(value), low, high), variance)

    def hyperbolic(self, a: Array, sign: float) -> Array:
        """Half of ``exp(a)`` plus or minus ``exp(-a)``."""
        m = self.m
        grows, falls = m.function("exp", a), m.function("exp", m.negate(a))
        return self.limits.settled(m.multiply(m.add(grows, m.multiply(falls, sign)), 0.5))

    def asinh(self, a: Array) -> Array:
        """``log(b + sqrt(b * b + 1))`` with ``b = abs(a)``, and the sign of ``a``."""
        m = self.m
        size = m.absolute(a)
        root = m.function("sqrt", m.add(m.multiply(size, size), 1.0))
        found = self.limits.settled(m.function("log", m.add(size, root)))
        low = np.where(a["low"] >= 0, found["low"], -found["high"])
        high = np.where(a["high"] <= 0, -found["low"], found["high"])
        return made(found["value"], low, high, found["variance"])

    def acosh(self, a: Array) -> Array:
        """``log(a + sqrt(a * a - 1))``."""
        m = self.m
        root = m.function("sqrt", m.subtract(m.multiply(a, a), 1.0))
        return self.limits.settled(m.function("log", m.add(a, root)))

    def atanh(self, a: Array) -> Array:
        """Half of the logarithm of ``(1 + a) / (1 - a)``."""
        m = self.m
        return self.limits.settled(m.multiply(m.function("log", m.divide(m.add(1.0, a), m.subtract(1.0, a))), 0.5))


def _finite(a: Column) -> Column:
    return np.where(np.isfinite(a), a, 0.0)


def _steepness(a: Array, low: Column, high: Column) -> Column:
    """The square of how much a result changes with the number."""
    wide = a["high"] > a["low"]
    found = np.square((high - low) / np.where(wide, a["high"] - a["low"], 1.0))
    return np.where(wide & np.isfinite(found), found, 0.0)


LEAST: Final = {"exp": 0.0, "sqrt": 0.0, "tanh": -1.0, "erf": -1.0, "asin": -2.0, "acos": -0.01}
MOST: Final = {"tanh": 1.0, "erf": 1.0, "asin": 2.0, "acos": 3.2}
FORMULAS: Final[dict[str, Callable[..., Array]]] = {
    "expm1": lambda own, a: own.limits.settled(own.m.subtract(own.m.function("exp", a), 1.0)),
    "log1p": lambda own, a: own.limits.settled(own.m.function("log", own.m.add(1.0, a))),
    "erfc": lambda own, a: own.limits.settled(own.m.subtract(1.0, own.m.function("erf", a))),
    "sin": lambda own, a: own.bounded("sin", a),
    "cos": lambda own, a: own.bounded("cos", a),
    "tan": lambda own, a: own.limits.settled(own.m.divide(own.bounded("sin", a), own.bounded("cos", a))),
    "sinh": lambda own, a: own.hyperbolic(a, -1.0),
    "cosh": lambda own, a: own.hyperbolic(a, 1.0),
    "asinh": lambda own, a: own.asinh(a),
    "acosh": lambda own, a: own.acosh(a),
    "atanh": lambda own, a: own.atanh(a),
    "atan2": lambda own, y, x: own.atan2(y, x),
    "pow": lambda own, a, b: own.power(a, b),
}
