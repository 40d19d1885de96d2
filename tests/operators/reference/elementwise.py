"""Elements of elements at the same place: in NumPy's float64 and rounded once, or in the integers of the data type."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .windows import Array


class Near(NamedTuple):
    """Results in float64, and how far those of a data type may be off, in units in the last place."""

    exact: Array
    ulp: float


def in_float64(function: Callable[..., Any], x: Array, *others: Array, scale_bias: Any = None, **given: float) -> Array:
    """The function of float64, with the first input scaled."""
    numbers = {name: np.float64(np.float32(value)) for name, value in given.items()}
    first = x.astype(np.float64)
    if scale_bias is not None:
        scale, bias = map(np.longdouble, map(np.float32, scale_bias))
        first = (x.astype(np.longdouble) * scale + bias).astype(np.float32).astype(np.float64)
    return np.asarray(function(first, *(one.astype(np.float64) for one in others), **numbers))


def of_floats(function: Callable[..., Any]) -> Callable[..., Array]:
    """The function of float64 rounded to the data type; that of integers as it is."""

    def compute(x: Array, *others: Array, **given: Any) -> Array:
        with np.errstate(all="ignore"):
            if x.dtype.kind != "f":
                return function(x, *others).astype(x.dtype)  # type: ignore[no-any-return]
            return in_float64(function, x, *others, **given).astype(x.dtype)

    return compute


def near(function: Callable[..., Any], ulp: float = 2) -> Callable[..., Near]:
    """The function of float64; a result of FLOAT32 may be off by so much."""

    def compute(x: Array, *others: Array, **given: Any) -> Near:
        with np.errstate(all="ignore"):
            return Near(in_float64(function, x, *others, **given), ulp if x.dtype == np.float32 else 1)

    return compute


erf, erfc = np.vectorize(math.erf, "d"), np.vectorize(math.erfc, "d")


def softplus(x: Any) -> Any:
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


def hard(x: Any, alpha: Any, beta: Any) -> Any:
    line = alpha * x + beta
    return np.where(line < 0, 0, np.where(line > 1, 1, line))


def extreme(choose: Callable[..., Any], zero: Callable[..., Any]) -> Callable[..., Any]:
    """A number rather than a NaN; of two zeros the one that ``zero`` says by whether each is negative."""

    def of(a: Any, b: Any) -> Any:
        if a.dtype.kind != "f":
            return choose(a, b)
        below = zero(np.signbit(a), np.signbit(b))
        return np.where((a == 0) & (b == 0), np.where(below, -0.0, 0.0), choose(a, b))

    return of


def ratio(a: Any, b: Any) -> Any:
    return np.true_divide(a, b)


def of_numbers(function: Callable[..., Any], dtype: Any = np.uint8) -> Callable[..., Array]:
    """The function of elements as they are, in a data type of its own."""

    def compute(*inputs: Array, output_dtype: str | None = None, **given: Any) -> Array:
        found: Array = np.asarray(function(*inputs, **given)).astype(output_dtype.lower() if output_dtype else dtype)
        return found

    return compute


def of_bits(function: Callable[..., Any]) -> Callable[..., Array]:
    """The function of the elements as unsigned integers, given back as what they were."""

    def compute(*inputs: Array) -> Array:
        found: Array = np.asarray(function(*(x.view(f"u{x.itemsize}") for x in map(np.ascontiguousarray, inputs))))
        return found.view(inputs[0].dtype)

    return compute


def shifted(shift: Callable[..., Any]) -> Callable[..., Any]:
    """Beyond the width of the elements no bit is left."""

    def of(a: Any, n: Any) -> Any:
        bits = 8 * a.itemsize
        return np.where(n < bits, shift(a, np.minimum(n, bits - 1)), 0).astype(a.dtype)

    return of


def infinite(x: Any, infinity_mode: str = "EITHER") -> Any:
    return {"EITHER": np.isinf, "POSITIVE": np.isposinf, "NEGATIVE": np.isneginf}[infinity_mode](x)


def rounded(x: Any, rounding_mode: str) -> Any:
    half_up = np.copysign(np.floor(np.abs(x.astype(np.float64)) + 0.5), x)
    by = {"HALVES_TO_NEAREST_EVEN": np.rint, "TOWARD_ZERO": np.trunc, "TOWARD_INFINITY": lambda x: half_up}
    return by[rounding_mode](x).astype(x.dtype)


activation_celu = near(lambda x, alpha: np.where(x < 0, alpha * np.expm1(x / alpha), x), 3)
activation_elu = near(lambda x, alpha: np.where(x < 0, alpha * np.expm1(x), x), 3)
activation_gelu = near(lambda x: x * erfc(-x / math.sqrt(2)) / 2)
activation_hard_sigmoid = of_floats(hard)
activation_hard_swish = of_floats(lambda x, alpha, beta: x * hard(x, alpha, beta))
activation_identity = of_floats(lambda x: x)
activation_leaky_relu = of_floats(lambda x, alpha: np.where(x < 0, alpha * x, x))
activation_linear = of_floats(lambda x, alpha, beta: alpha * x + beta)
activation_parameterized_relu = of_floats(lambda x, slope: np.where(x < 0, slope * x, x))
activation_parametric_softplus = near(lambda x, alpha, beta: alpha * softplus(beta * x), 3)
activation_relu = of_floats(lambda x: np.where(np.less_equal(x, 0), 0, x))
activation_relu_grad = of_floats(lambda x, gradient: np.where(x > 0, gradient, 0))
activation_scaled_elu = near(lambda x, alpha, gamma: gamma * np.where(x > 0, x, alpha * np.expm1(x)), 3)
activation_scaled_tanh = near(lambda x, alpha, beta: alpha * np.tanh(beta * x), 3)
activation_sigmoid = near(lambda x: 1 / (1 + np.exp(-x)))
activation_softplus = near(lambda x, steepness: softplus(steepness * x) / steepness, 3)
activation_softsign = of_floats(lambda x: ratio(x, 1 + np.abs(x)))
activation_swish = near(lambda x, sigmoid_input_scale: x / (1 + np.exp(-sigmoid_input_scale * x)), 3)
activation_tanh = near(np.tanh)
activation_thresholded_relu = of_floats(lambda x, alpha: np.where(x > alpha, x, 0))
element_wise_acos = near(np.arccos)
element_wise_acosh = near(np.arccosh)
element_wise_add = of_floats(np.add)
element_wise_asin = near(np.arcsin)
element_wise_asinh = near(np.arcsinh)
element_wise_atan = near(np.arctan)
element_wise_atan_yx = near(np.arctan2)
element_wise_atanh = near(np.arctanh)
element_wise_ceil = of_floats(np.ceil)
element_wise_constant_pow = near(lambda x, exponent: np.float_power(x, exponent))
element_wise_cos = near(np.cos)
element_wise_cosh = near(np.cosh)
element_wise_difference_square = of_floats(lambda a, b: np.square(a - b))
element_wise_erf = near(lambda x: erf(x))
element_wise_exp = near(np.exp)
element_wise_floor = of_floats(np.floor)
element_wise_log = near(np.log)
element_wise_logical_and = of_floats(np.logical_and)
element_wise_logical_not = of_floats(np.logical_not)
element_wise_logical_or = of_floats(np.logical_or)
element_wise_logical_xor = of_floats(np.logical_xor)
element_wise_max = of_floats(extreme(np.fmax, np.logical_and))
element_wise_min = of_floats(extreme(np.fmin, np.logical_or))
element_wise_multiply = of_floats(np.multiply)
element_wise_negate = of_floats(np.negative)
element_wise_recip = of_floats(np.reciprocal)
element_wise_sign = of_floats(lambda x: np.where(x > 0, 1, np.where(x < 0, -1, 0)))
element_wise_sin = near(np.sin)
element_wise_sinh = near(np.sinh)
element_wise_sqrt = of_floats(np.sqrt)
element_wise_subtract = of_floats(np.subtract)
element_wise_tan = near(np.tan)
element_wise_tanh = near(np.tanh)
element_wise_bit_and = of_bits(np.bitwise_and)
element_wise_bit_count = of_numbers(
    lambda x: np.bitwise_count(np.ascontiguousarray(x).view(f"u{x.itemsize}")), np.uint32
)
element_wise_bit_not = of_bits(np.bitwise_not)
element_wise_bit_or = of_bits(np.bitwise_or)
element_wise_bit_shift_left = of_bits(shifted(np.left_shift))
element_wise_bit_shift_right = of_bits(shifted(np.right_shift))
element_wise_bit_xor = of_bits(np.bitwise_xor)
element_wise_is_infinity = of_numbers(infinite)
element_wise_is_nan = of_numbers(np.isnan)
element_wise_logical_equals = of_numbers(np.equal)
element_wise_logical_greater_than = of_numbers(np.greater)
element_wise_logical_greater_than_or_equal = of_numbers(np.greater_equal)
element_wise_logical_less_than = of_numbers(np.less)
element_wise_logical_less_than_or_equal = of_numbers(np.less_equal)


def element_wise_if(condition: Array, a: Array, b: Array) -> Array:
    return np.where(condition != 0, a, b)


def element_wise_round(x: Array, rounding_mode: str = "HALVES_TO_NEAREST_EVEN") -> Array:
    return rounded(x, rounding_mode)  # type: ignore[no-any-return]
