"""Functions of exact numbers, to 40 digits and more of their results, without a library."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import MAX_EMAX, MIN_EMIN, ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from functools import cache
from typing import Final

DIGITS: Final = 60
GIVEN: Final = 800
"""Digits of an argument: those of the smallest numbers of FLOAT64, which are sums of powers of two."""
LARGE: Final = 2000
"""The exponential of more is beyond every data type."""

FAR: Final = 40
"""The error function of more is 1, to more digits than these."""

ONE: Final = Decimal(1)


def context(digits: int = DIGITS) -> Context:
    """Arithmetic with so many digits, and exponents of any size."""
    return Context(digits, ROUND_HALF_EVEN, MIN_EMIN, MAX_EMAX, traps=[])


PLAIN: Final = context()


def decimal(x: Fraction) -> Decimal:
    """The number, in full where it is a float."""
    return context(GIVEN).divide(Decimal(x.numerator), Decimal(x.denominator))


def _lost(x: Decimal) -> int:
    """The digits that a sum with 1 loses of a small number."""
    return max(0, -x.adjusted())


def _exp(x: Decimal, digits: int = DIGITS) -> Decimal:
    return context(digits).exp(x)


def _expm1(x: Decimal) -> Decimal:
    if not x:
        return x
    c = context(DIGITS + 2 * _lost(x))
    return PLAIN.plus(c.subtract(c.exp(x), ONE))


def _log1p(x: Decimal) -> Decimal:
    if not x:
        return x
    c = context(DIGITS + 2 * _lost(x))
    return PLAIN.plus(c.ln(c.add(ONE, x)))


def _sinh(x: Decimal) -> Decimal:
    part = _expm1(x.copy_abs())
    size = PLAIN.divide(PLAIN.add(part, PLAIN.divide(part, PLAIN.add(part, ONE))), 2)
    return size.copy_sign(x)


def _cosh(x: Decimal) -> Decimal:
    power = _exp(x)
    return PLAIN.divide(PLAIN.add(power, PLAIN.divide(ONE, power)), 2)


def _tanh(x: Decimal) -> Decimal:
    if x.copy_abs() > 100:
        return ONE.copy_sign(x)
    part = _expm1(context(GIVEN).add(x, x))
    return PLAIN.divide(part, PLAIN.add(part, Decimal(2)))


def _asinh(x: Decimal) -> Decimal:
    size = x.copy_abs()
    c = context(DIGITS + 2 * _lost(size) + max(0, size.adjusted()))
    square = c.multiply(size, size)
    rest = c.divide(square, c.add(ONE, c.sqrt(c.add(ONE, square))))
    return _log1p(c.add(size, rest)).copy_sign(x)


def _acosh(x: Decimal) -> Decimal:
    c = context(GIVEN)
    above = c.subtract(x, ONE)
    return _log1p(c.add(above, c.sqrt(c.multiply(above, c.add(above, Decimal(2))))))


def _atanh(x: Decimal) -> Decimal:
    c = context(GIVEN)
    return PLAIN.divide(_log1p(c.divide(c.add(x, x), c.subtract(ONE, x))), 2)


@cache
def pi(digits: int) -> Decimal:
    """The circle's number (Machin)."""
    unit: int = 10 ** (digits + 10)

    def arctangent(n: int) -> int:
        total: int = unit // n
        power = total
        k, sign = 3, -1
        while power:
            power //= n * n
            total += sign * (power // k)
            k, sign = k + 2, -sign
        return total

    return context(digits).divide(Decimal(4 * (4 * arctangent(5) - arctangent(239))), Decimal(unit))


def _turned(x: Decimal) -> tuple[Decimal, int]:
    """The angle without its quarter turns, from -pi/4 to pi/4, and how many quarter turns there were, modulo 4."""
    digits = 2 * DIGITS + abs(x.adjusted())
    c = context(digits)
    quarter = c.divide(pi(digits), 2)
    turns = c.to_integral_value(c.divide(x, quarter))
    return c.subtract(x, c.multiply(turns, quarter)), int(turns) % 4


def _taylor(x: Decimal, term: Decimal, k: int) -> Decimal:
    """The sum of a sine or a cosine from ``term`` on, which is that of x**k."""
    c = context(DIGITS + 10)
    square, total = c.multiply(x, x), term
    while term and term.adjusted() > total.adjusted() - DIGITS - 10:
        term = c.divide(c.multiply(term.copy_negate(), square), (k + 1) * (k + 2))
        total, k = c.add(total, term), k + 2
    return total


def _wave(x: Decimal, moved: int) -> Decimal:
    rest, turns = _turned(x)
    turns = (turns + moved) % 4
    found = _taylor(rest, ONE, 0) if turns % 2 else _taylor(rest, rest, 1)
    return found.copy_negate() if turns > 1 else found


def _sin(x: Decimal) -> Decimal:
    return _wave(x, 0) if x else x


def _cos(x: Decimal) -> Decimal:
    return _wave(x, 1)


def _tan(x: Decimal) -> Decimal:
    return PLAIN.divide(_sin(x), _cos(x))


def _atan(x: Decimal) -> Decimal:
    size = x.copy_abs()
    c = context(DIGITS + 20)
    if size > 1:
        return c.subtract(c.divide(pi(DIGITS + 20), 2), _atan(c.divide(ONE, size))).copy_sign(x)
    for _ in range(4):
        size = c.divide(size, c.add(ONE, c.sqrt(c.add(ONE, c.multiply(size, size)))))
    square = c.multiply(size, size)
    term = total = size
    k = 1
    while term and term.adjusted() > total.adjusted() - DIGITS - 10:
        k, term = k + 2, c.multiply(term.copy_negate(), square)
        total = c.add(total, c.divide(term, k))
    return PLAIN.multiply(total, 16).copy_sign(x)


def _asin(x: Decimal) -> Decimal:
    c = context(GIVEN)
    rest = c.sqrt(c.multiply(c.subtract(ONE, x), c.add(ONE, x)))
    return PLAIN.divide(pi(DIGITS + 20), 2).copy_sign(x) if not rest else _atan(c.divide(x, rest))


def _acos(x: Decimal) -> Decimal:
    c = context(GIVEN)
    return _angle(c.sqrt(c.multiply(c.subtract(ONE, x), c.add(ONE, x))), x)


def _angle(y: Decimal, x: Decimal) -> Decimal:
    """The angle of a point; not of the origin."""
    c = context(GIVEN)
    whole = pi(DIGITS + 20)
    if not x:
        return PLAIN.divide(whole, 2).copy_sign(y)
    found = _atan(c.divide(y, x))
    if x > 0:
        return found
    return PLAIN.add(found, whole.copy_sign(y))


def _erf(x: Decimal, digits: int = DIGITS) -> Decimal:
    if x.copy_abs() > FAR:
        return ONE.copy_sign(x)
    lost = int(x * x * Decimal("0.87")) + 10  # digits of the largest term
    c = context(digits + lost)
    square = c.multiply(x, x)
    term = total = x
    k = 0
    while term and term.adjusted() > total.adjusted() - digits - 10:
        k, term = k + 1, c.divide(c.multiply(term.copy_negate(), square), k + 1)
        total = c.add(total, c.divide(term, 2 * k + 1))
    return c.divide(c.add(total, total), c.sqrt(pi(digits + lost)))


def _erfc(x: Decimal) -> Decimal:
    if x > FAR:  # below every data type
        return Decimal(0)
    digits = DIGITS + int(x * x * Decimal("0.44")) + 10 if x > 0 else DIGITS
    return PLAIN.plus(context(digits).subtract(ONE, _erf(x, digits)))


FUNCTIONS: Final[dict[str, Callable[..., Decimal]]] = {
    "sqrt": PLAIN.sqrt, "exp": _exp, "expm1": _expm1, "log": PLAIN.ln, "log1p": _log1p, "sin": _sin, "cos": _cos,
    "tan": _tan, "asin": _asin, "acos": _acos, "atan": _atan, "sinh": _sinh, "cosh": _cosh, "tanh": _tanh,
    "asinh": _asinh, "acosh": _acosh, "atanh": _atanh, "erf": _erf, "erfc": _erfc, "atan2": _angle,
}  # fmt: skip


def value(name: str, *arguments: Fraction) -> Fraction:
    """A function of numbers at which it has a finite value."""
    return Fraction(FUNCTIONS[name](*map(decimal, arguments)))


def power(base: Fraction, exponent: Fraction) -> Fraction | float:
    """A power of a positive number; infinite beyond every data type."""
    size = PLAIN.multiply(PLAIN.ln(decimal(base)), decimal(exponent))
    if abs(size) > LARGE:
        return math.inf if size > 0 else Fraction(0)
    c = context(DIGITS + max(0, size.adjusted()) + 5)
    return Fraction(c.exp(c.multiply(c.ln(decimal(base)), decimal(exponent))))
