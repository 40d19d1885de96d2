"""Functions of FLOAT32 as devices compute them: the functions of a library, and the instructions of a compiled shader.

A shader has instructions for powers of two and their logarithms, sines, roots and reciprocals. Everything else is made
of them: for inverse trigonometric functions, the polynomials of Microsoft's shader compiler.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np

Array = Any
Function = Callable[..., Array]

SINGLE: Final = np.float32
LOG2_E: Final = SINGLE(1.4426950408889634)
LN_2: Final = SINGLE(0.6931471805599453)
PI: Final = SINGLE(math.pi)
HALF_PI: Final = SINGLE(math.pi / 2)
BITS: Final = SINGLE(2**11)


def _erf(x: Array) -> Array:
    """Rounded once from float64."""
    found = np.fromiter(map(math.erf, np.ravel(x).tolist()), np.float64, np.size(x))
    return found.reshape(np.shape(x)).astype(SINGLE)


def _erfc(x: Array) -> Array:
    return SINGLE(1) - _erf(x)


LIBRARY: Final[dict[str, Function]] = {
    "sqrt": np.sqrt, "exp": np.exp, "expm1": np.expm1, "log": np.log, "log1p": np.log1p, "sin": np.sin, "cos": np.cos,
    "tan": np.tan, "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "atan2": np.arctan2, "sinh": np.sinh,
    "cosh": np.cosh, "tanh": np.tanh, "asinh": np.arcsinh, "acosh": np.arccosh, "atanh": np.arctanh, "erf": _erf,
    "erfc": _erfc, "pow": np.power,
}  # fmt: skip
"""NumPy's functions of FLOAT32."""


def _polynomial(x: Array, *coefficients: float) -> Array:
    """With the coefficient of the highest power first."""
    found = np.full_like(x, coefficients[0])
    for one in coefficients[1:]:
        found = found * x + SINGLE(one)
    return found


def exp(x: Array) -> Array:
    """A power of two, whose exponent is rounded."""
    return np.exp2(x * LOG2_E)


def exp_of_halves(x: Array) -> Array:
    """The same, whose exponent has the 11 bits of FLOAT16."""
    exponent = np.asarray(x * LOG2_E, SINGLE)
    return np.exp2((exponent.view(np.int32) & -(1 << 13)).view(SINGLE))


def log(x: Array) -> Array:
    """A logarithm to the base 2."""
    return np.log2(x) * LN_2


def power(base: Array, exponent: Array) -> Array:
    """The size by logarithms; a negative base has a sign if the exponent is odd, and NaN if it is not whole."""
    base, exponent = np.broadcast_arrays(base, exponent)
    size = np.exp2(exponent * np.log2(np.abs(base)))
    whole, odd = np.rint(exponent) == exponent, np.fmod(exponent, SINGLE(2)) != 0
    signed = np.where(whole, np.where(odd, -size, size), np.nan)
    found = np.where(np.signbit(base), signed, size)
    return np.where(exponent == 0, SINGLE(1), found).astype(SINGLE)


def sine(x: Array) -> Array:
    """In fixed point, with 11 bits behind the point, cut there: off by 2**-11, which Vulkan allows."""
    return np.trunc(np.sin(x) * BITS) / BITS


def cosine(x: Array) -> Array:
    """In the same fixed point."""
    return np.trunc(np.cos(x) * BITS) / BITS


def arc_cosine(x: Array) -> Array:
    """Formula 4.4.45 of Abramowitz and Stegun."""
    size = np.abs(x)
    found = np.sqrt(SINGLE(1) - size) * _polynomial(size, -0.0187293, 0.0742610, -0.2121144, 1.5707288)
    return np.where(x < 0, PI - found, found)


def arc_sine(x: Array) -> Array:
    """The rest of a right angle."""
    return HALF_PI - arc_cosine(x)


def arc_tangent(x: Array) -> Array:
    """Formula 4.4.49, after a reciprocal of what is beyond 1."""
    size = np.abs(x)
    short = np.where(size > 1, SINGLE(1) / size, size)
    square = short * short
    found = short * _polynomial(square, 0.0208351, -0.0851330, 0.1801410, -0.3302995, 0.9998660)
    found = np.where(size > 1, HALF_PI - found, found)
    return np.copysign(found, x)


def arc_tangent2(y: Array, x: Array) -> Array:
    """The same of a quotient, moved to its quadrant."""
    found = arc_tangent(y / x)
    return np.where(x < 0, found + np.copysign(PI, y), found)


def error(x: Array) -> Array:
    """Formula 7.1.27, which takes no function."""
    size = np.abs(x)
    root = _polynomial(size, 0.078108, 0.000972, 0.230389, 0.278393, 1.0)
    square = root * root
    return np.copysign(SINGLE(1) - SINGLE(1) / (square * square), x)


def tangent(x: Array) -> Array:
    """A quotient."""
    return sine(x) / cosine(x)


def hyperbolic_sine(x: Array) -> Array:
    """Half of a difference."""
    return (exp(x) - exp(-x)) * SINGLE(0.5)


def hyperbolic_cosine(x: Array) -> Array:
    """Half of a sum."""
    return (exp(x) + exp(-x)) * SINGLE(0.5)


def hyperbolic_tangent(x: Array) -> Array:
    """A quotient, from 1."""
    return SINGLE(1) - SINGLE(2) / (exp(x * SINGLE(2)) + SINGLE(1))


def area_sine(x: Array) -> Array:
    """A logarithm, of the absolute value."""
    size = np.abs(x)
    return np.copysign(log(size + np.sqrt(size * size + SINGLE(1))), x)


def area_cosine(x: Array) -> Array:
    """A logarithm."""
    return log(x + np.sqrt(x * x - SINGLE(1)))


def area_tangent(x: Array) -> Array:
    """Half of a logarithm."""
    return log((SINGLE(1) + x) / (SINGLE(1) - x)) * SINGLE(0.5)


SHADER: Final[dict[str, Function]] = {
    "sqrt": lambda x: SINGLE(1) / (SINGLE(1) / np.sqrt(x)), "exp": exp, "expm1": lambda x: exp(x) - SINGLE(1),
    "log": log, "log1p": lambda x: log(SINGLE(1) + x), "sin": sine, "cos": cosine, "tan": tangent, "asin": arc_sine,
    "acos": arc_cosine, "atan": arc_tangent, "atan2": arc_tangent2, "sinh": hyperbolic_sine,
    "cosh": hyperbolic_cosine, "tanh": hyperbolic_tangent, "asinh": area_sine, "acosh": area_cosine,
    "atanh": area_tangent, "erf": error, "erfc": lambda x: SINGLE(1) - error(x), "pow": power,
}  # fmt: skip
"""What a shader is compiled to."""
SHADER_OF_HALVES: Final[dict[str, Function]] = SHADER | {"exp": exp_of_halves}
"""The same of FLOAT16."""
