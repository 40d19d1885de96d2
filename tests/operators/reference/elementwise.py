"""Elements of elements at the same place: in NumPy's float64 and rounded once, or in the integers of the data type."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from .windows import Array


class Near(NamedTuple):
    """Results in float64, and how far those of a data type may be off, in units in the last place of ``terms``."""

    exact: Array
    ulp: float
    terms: Array


def in_float64(function: Callable[..., Any], x: Array, *others: Array, scale_bias: Any = None, **given: float) -> Array:
    """The function of float64, with the first input scaled."""
    numbers = {
        name: np.float64(value if isinstance(value, int) else np.float32(value)) for name, value in given.items()
    }
    first = wide(x) if scale_bias is None else scaled(x, *map(np.float32, scale_bias))
    return np.asarray(function(first, *map(wide, others), **numbers))


def wide(x: Array) -> Array:
    """The numbers in float64. A signalling NaN becomes a quiet one: NumPy's functions take some of them for numbers."""
    return x.astype(np.float64) * 1.0


def of_floats(function: Callable[..., Any]) -> Callable[..., Array]:
    """The function of float64 rounded to the data type; that of integers as it is."""

    def compute(x: Array, *others: Array, scale_bias: Any = None, **given: Any) -> Array:
        with np.errstate(all="ignore"):
            if x.dtype.kind != "f" and scale_bias is None:
                numbers = {name: np.float64(np.float32(value)) for name, value in given.items()}
                found = np.asarray(function(x, *others, **numbers))
            else:
                found = in_float64(function, x, *others, scale_bias=scale_bias, **given)
            return cut(found, x.dtype) if found.dtype.kind == "f" != x.dtype.kind else found.astype(x.dtype)

    compute.function = function  # type: ignore[attr-defined]
    return compute


def near(function: Callable[..., Any], ulp: float = 2, least: float = 0) -> Callable[..., Near | Array]:
    """The function of float64; a result of FLOAT32 may be off by so much. The function of integers stays exact.

    ``least``: where a factor of the input loses digits.
    """

    def compute(x: Array, *others: Array, **given: Any) -> Near | Array:
        if x.dtype.kind != "f":
            return of_floats(function)(x, *others, **given)
        with np.errstate(all="ignore"):
            exact = in_float64(function, x, *others, **given)
            size = np.maximum(np.abs(exact), np.abs(x.astype(np.float64)) * least)
            return Near(exact, ulp if x.dtype == np.float32 else 1, size)

    compute.function = function  # type: ignore[attr-defined]
    return compute


def by_float32(function: Callable[..., Any]) -> Callable[..., Near | Array]:
    """The function of float64, rounded once; FLOAT16 is rounded to FLOAT32 before, and may be off by one unit."""

    def compute(x: Array, *others: Array, **given: Any) -> Near | Array:
        compute_one = near(function, 1) if x.dtype == np.float16 else of_floats(function)
        return compute_one(x, *others, **given)

    compute.function = function  # type: ignore[attr-defined]
    return compute


def near_or_cut(function: Callable[..., Any], ulp: float) -> Callable[..., Near | Array]:
    """The function of float64, of integers too: what it gives for these is clamped to the range of their data type."""

    def compute(x: Array, **given: Any) -> Near | Array:
        if x.dtype.kind == "f":
            return near(function, ulp)(x, **given)
        return cut(in_float64(function, x, **given), x.dtype)

    compute.function = function  # type: ignore[attr-defined]
    return compute


def activated(terms: Callable[..., tuple[Any, Any]], ulp: float) -> Callable[..., Near]:
    """A number in float64 and the size of its terms, and the activation of the number.

    A step of the terms changes the result by as much as the activation is steep there; an activation is 3 units off.
    """

    def compute(*inputs: Array, fused_activation: Any = None, **given: Any) -> Near:
        dtype = inputs[0].dtype
        with np.errstate(all="ignore"):
            x, size = terms(*(one.astype(np.float64) for one in inputs), **given)
            if fused_activation is None:
                return Near(x, ulp if dtype == np.float32 else 1, np.maximum(size, np.abs(x)))
            operator = fused_activation.operator
            said = operator.arguments(fused_activation)
            scales = said.pop("scale_bias", None)
            values = {name: np.float64(np.float32(value)) for name, value in said.items()}
            own = partial(globals()[operator.python].function, **values)

            def function(x: Any) -> Any:
                return own(x if scales is None else x * np.float64(scales[0]) + np.float64(scales[1]))

            step = size * 2.0 ** -np.finfo(dtype).nmant
            exact = function(x)
            changes = np.maximum(*(np.abs(function(one) - exact) for one in (x + step, x - step)))
            terms_of_result = np.maximum(np.abs(exact), changes * 2.0 ** (np.finfo(dtype).nmant + 1))
            return Near(exact, ulp + 3 if dtype == np.float32 else 1, terms_of_result)

    return compute


def normalized(x: Any, mean: Any, variance: Any, scale: Any, bias: Any, epsilon: float, spatial: bool) -> Any:
    result = (x - mean) * (scale / np.sqrt(variance + np.float64(np.float32(epsilon)))) + bias
    return result, np.abs(result)


erf, erfc = np.vectorize(math.erf, "d"), np.vectorize(math.erfc, "d")


def softplus(x: Any) -> Any:
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


def scaled(x: Array, scale: Any, bias: Any) -> Array:
    """FLOAT32 and FLOAT16 rounded to FLOAT32 once, others to FLOAT64 at each step."""
    if x.dtype in (np.float16, np.float32):
        wide = x.astype(np.longdouble) * np.longdouble(scale) + np.longdouble(bias)
        return wide.astype(np.float32).astype(np.float64)
    found: Array = x.astype(np.float64) * np.float64(scale) + np.float64(bias)
    return found


def cut(x: Array, dtype: Any) -> Array:
    """The integers that are nearest to numbers without their fractions."""
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    whole = np.trunc(np.where(np.isnan(x), 0, x))
    found = np.array([min(max(int(one), low), high) for one in np.clip(whole, -1e30, 1e30).ravel().tolist()], dtype)
    return found.reshape(x.shape)


def of_both(floats: Callable[..., Any], integers: Callable[..., Any]) -> Callable[..., Array]:
    """The function of floats; that of exact integers, of which the lowest bits stay, where no scale is given."""

    def compute(x: Array, *others: Array, scale_bias: Any = None, **given: Any) -> Array:
        if x.dtype.kind == "f" or scale_bias is not None:
            return of_floats(floats)(x, *others, scale_bias=scale_bias, **given)
        for name, value in given.items():
            given[name] = cut(np.array([value]), x.dtype).item() if isinstance(value, float) else value
        found = integers(x.astype(object), *(one.astype(object) for one in others), **given)
        return lowest(found, x.dtype)

    compute.function = floats  # type: ignore[attr-defined]
    return compute


def lowest(x: Any, dtype: Any) -> Array:
    """The lowest bits of exact integers."""
    bits = (np.asarray(x) & (2 ** (8 * np.dtype(dtype).itemsize) - 1)).astype(np.uint64)
    found: Array = bits.astype(f"u{np.dtype(dtype).itemsize}").view(dtype)
    return found


def cast(x: Array, output_dtype: str) -> Array:
    """Between floats as NumPy rounds; from integers by exact ones, which Python rounds once."""
    dtype = np.dtype(output_dtype.lower())
    with np.errstate(all="ignore"):
        if x.dtype.kind == "f":
            return x.astype(dtype) if dtype.kind == "f" else cut(x.astype(np.float64), dtype)
        if dtype.kind != "f":
            return lowest(x.astype(object), dtype)
        return x.astype(np.float64 if dtype == np.float16 else dtype).astype(dtype)


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


least = extreme(np.fmin, np.logical_or)
most = extreme(np.fmax, np.logical_and)


def clipped(x: Any, min: Any = -math.inf, max: Any = math.inf) -> Any:
    return np.where(np.isnan(x), x, most(least(x, max), min))


def clipped_integers(x: Any, min: Any = -math.inf, max: Any = math.inf) -> Any:
    return np.maximum(np.minimum(x, max), min)


def passed(x: Any, gradient: Any, min: Any, max: Any) -> Any:
    return np.where((x <= min) | (x >= max), 0, gradient)


def divided(a: Any, b: Any) -> Any:
    """Integers: towards 0; by 0 all bits are 1."""
    size = np.abs(a) // np.where(b == 0, 1, np.abs(b))
    return np.where(b == 0, -1, np.where((a < 0) != (b < 0), -size, size))


def rest_of(quotient: Callable[..., Any]) -> Callable[..., Any]:
    """The remainder of integers, by 0 all bits are 1."""
    return lambda a, b: np.where(b == 0, -1, a - quotient(a, np.where(b == 0, 1, b)) * b)


def shrunk(x: Any, bias: float = 0.0, threshold: float = 0.5) -> Any:
    return np.where(x > threshold, x - bias, np.where(x < -threshold, x + bias, 0))


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
    tests: dict[str, Any] = {"EITHER": np.isinf, "POSITIVE": np.isposinf, "NEGATIVE": np.isneginf}
    return tests[infinity_mode](x)


def rounded(x: Any, rounding_mode: str) -> Any:
    with np.errstate(invalid="ignore"):  # of a signalling NaN
        half_up = np.copysign(np.floor(np.abs(x.astype(np.float64)) + 0.5), x)
        by: dict[str, Any] = {
            "HALVES_TO_NEAREST_EVEN": np.rint, "TOWARD_ZERO": np.trunc, "TOWARD_INFINITY": lambda x: half_up,
        }  # fmt: skip
        return by[rounding_mode](x).astype(x.dtype)


activation_celu = near(lambda x, alpha: np.where(x < 0, alpha * np.expm1(x / alpha), x), 3)
activation_elu = near(lambda x, alpha: np.where(x < 0, alpha * np.expm1(x), x))
activation_gelu = near(lambda x: x * erfc(-x / math.sqrt(2)) / 2)
activation_hard_sigmoid = near(hard, 1)  # a sum of FLOAT64 may be rounded to a tie
activation_hard_swish = near(lambda x, alpha, beta: x * hard(x, alpha, beta), least=2.0**-126)
activation_identity = of_floats(lambda x: x)
activation_leaky_relu = by_float32(lambda x, alpha: np.where(x < 0, alpha * x, x))
activation_linear = near(lambda x, alpha, beta: alpha * x + beta, 1)
activation_parameterized_relu = of_floats(lambda x, slope: np.where(x < 0, slope * x, x))
activation_parametric_softplus = near(lambda x, alpha, beta: alpha * softplus(beta * x), 3)
activation_relu = of_floats(lambda x: np.where(np.less_equal(x, 0), 0, x))
activation_relu_grad = of_floats(lambda x, gradient: np.where(x > 0, gradient, 0))
activation_scaled_elu = near(lambda x, alpha, gamma: gamma * np.where(x > 0, x, alpha * np.expm1(x)))
activation_scaled_tanh = near(lambda x, alpha, beta: alpha * np.tanh(beta * x), 3)
activation_shrink = near_or_cut(shrunk, 1)
activation_sigmoid = near(lambda x: 1 / (1 + np.exp(-x)))
activation_softplus = near(lambda x, steepness: softplus(steepness * x) / steepness, 3)
activation_softsign = near(lambda x: ratio(x, 1 + np.abs(x)))
activation_swish = near(lambda x, sigmoid_input_scale: x / (1 + np.exp(-sigmoid_input_scale * x)), 3)
activation_tanh = near(np.tanh)
activation_thresholded_relu = of_floats(lambda x, alpha: np.where(x > alpha, x, 0))
batch_normalization = activated(normalized, 1)
element_wise_abs = of_both(np.abs, np.abs)
element_wise_acos = near(np.arccos)
element_wise_acosh = near(np.arccosh)
element_wise_add = of_floats(np.add)
element_wise_add1 = activated(lambda a, b: (a + b, np.abs(a + b)), 1)
element_wise_asin = near(np.arcsin)
element_wise_asinh = near(np.arcsinh)
element_wise_atan = near(np.arctan)
element_wise_atan_yx = near(np.arctan2)
element_wise_atanh = near(np.arctanh)
element_wise_ceil = of_floats(np.ceil)
element_wise_clip = of_both(clipped, clipped_integers)
element_wise_clip_grad = of_both(passed, passed)
element_wise_constant_pow = near(lambda x, exponent: np.float_power(x, exponent))
element_wise_cos = near(np.cos)
element_wise_cosh = near(np.cosh)
element_wise_difference_square = near(lambda a, b: np.square(a - b))
element_wise_divide = of_both(np.true_divide, divided)
element_wise_erf = near(lambda x: erf(x))
element_wise_exp = near(np.exp)
element_wise_floor = of_floats(np.floor)
element_wise_identity = of_both(lambda x: x, lambda x: x)
element_wise_log = near(np.log)
element_wise_logical_and = of_floats(np.logical_and)
element_wise_logical_not = of_floats(np.logical_not)
element_wise_logical_or = of_floats(np.logical_or)
element_wise_logical_xor = of_floats(np.logical_xor)
element_wise_max = of_floats(most)
element_wise_mean = of_both(lambda a, b: (a + b) / 2, lambda a, b: divided(a + b, np.full_like(a, 2)))
element_wise_min = of_floats(least)
element_wise_modulus_floor = of_both(np.mod, rest_of(np.floor_divide))
element_wise_modulus_truncate = of_both(np.fmod, rest_of(divided))
element_wise_multiply = of_floats(np.multiply)
element_wise_negate = of_floats(np.negative)
element_wise_recip = by_float32(np.reciprocal)
element_wise_sign = of_floats(lambda x: np.where(x > 0, 1, np.where(x < 0, -1, 0)))
element_wise_sin = near(np.sin)
element_wise_sinh = near(np.sinh)
element_wise_sqrt = of_floats(np.sqrt)
element_wise_subtract = of_floats(np.subtract)
element_wise_tan = near(np.tan)
element_wise_tanh = near(np.tanh)
element_wise_threshold = of_both(clipped, clipped_integers)
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


def quantized(x: Any, dtype: Any) -> Array:
    return cut(np.rint(x[0].astype(np.float32).astype(np.float64)) + x[1], dtype)


def element_wise_quantize_linear(x: Array, scale: Array, zero: Array | None = None, output_dtype: Any = None) -> Array:
    with np.errstate(all="ignore"):
        ratios = x.astype(np.float64) / scale.astype(np.float64)
        return quantized((ratios, 0 if zero is None else zero), output_dtype.lower() if zero is None else zero.dtype)


def element_wise_dequantize_linear(x: Array, scale: Array, zero: Array | None = None) -> Array:
    with np.errstate(all="ignore"):
        moved = x.astype(np.float64) - (0 if zero is None else zero.astype(np.float64))
        return (moved * scale.astype(np.float64)).astype(scale.dtype)


def spread(x: Array, sizes: tuple[int, ...]) -> Array:
    """Each element for its block of elements of a tensor of these sizes."""
    for axis, (own, size) in enumerate(zip(x.shape, sizes, strict=True)):
        x = x.repeat(size // own, axis)
    return x


def with_middle(tensors: list[Array], dtype: Any) -> list[Array]:
    """A scale and its zero point: the middle of the range of unsigned integers if there is none."""
    own = np.dtype(dtype)
    half = np.iinfo(own).max // 2 + 1
    return tensors if len(tensors) == 2 else [*tensors, np.full_like(tensors[0], half * (own.kind == "u"), own)]


def quantize(x: Array, tensors: tuple[Array, ...], quantization_type: str, output_dtype: str) -> Array:
    scale, zero = with_middle([spread(one, x.shape) for one in tensors], output_dtype.lower())
    return element_wise_quantize_linear(x, scale, zero)


def dequantize(x: Array, tensors: tuple[Array, ...], quantization_type: str, output_dtype: str) -> Array:
    assert tensors[0].dtype == output_dtype.lower()
    scale, zero = with_middle([spread(one, x.shape) for one in tensors], x.dtype)
    return element_wise_dequantize_linear(x, scale, zero)


def element_wise_quantized_linear_add(
    a: Array, a_scale: Array, a_zero: Any, b: Array, b_scale: Array, b_zero: Any, scale: Array, zero: Any = None,
    output_dtype: Any = None,
) -> Array:  # fmt: skip
    with np.errstate(all="ignore"):
        left, right, by = (one.astype(np.float64) for one in (a_scale, b_scale, scale))
        parts = [x.astype(np.float64) - (0 if one is None else one) for x, one in ((a, a_zero), (b, b_zero))]
        ratios = (parts[0] * left + parts[1] * right) / by
        return quantized((ratios, 0 if zero is None else zero), output_dtype.lower() if zero is None else zero.dtype)


def power_of_integers(a: int, n: int) -> int:
    """A negative power is 0, but of 1 and -1."""
    return pow(a, n, 1 << 64) if n >= 0 else a ** (n % 2) if abs(a) == 1 else 0


def element_wise_pow(x: Array, exponent: Array, scale_bias: Any = None) -> Near | Array:
    if x.dtype.kind == "f":
        return near(lambda a, b: np.float_power(a * 1.0, b * 1.0))(
            x, exponent, scale_bias=scale_bias
        )  # no signalling NaN
    if exponent.dtype.kind != "f" and scale_bias is None:
        return lowest(np.frompyfunc(power_of_integers, 2, 1)(x.astype(object), exponent.astype(object)), x.dtype)
    with np.errstate(all="ignore"):
        powers = in_float64(np.float_power, x, exponent, scale_bias=scale_bias)
        return cut(powers.astype(np.float32).astype(np.float64), x.dtype)


def value_scale_2d(x: Array, scale: float, bias: list[float]) -> Near:
    added = np.array(bias, np.float32).astype(np.float64)[:, None, None]
    with np.errstate(all="ignore"):
        exact = x.astype(np.float64) * np.float64(np.float32(scale)) + added
        return Near(exact, 1, np.abs(exact))


def without_power(base: Any, exponent: Any) -> Any:
    """1 less a power, near 1 too."""
    return np.float64(-np.expm1(exponent * np.log(base)) if base > 0 else 1 - base**exponent)


def adam_optimizer(
    x: Array, m: Array, v: Array, g: Array, step: Array, learning_rate: float, beta1: float = 0.9, beta2: float = 0.999,
    epsilon: float = 1e-8,
) -> tuple[Near, ...]:  # fmt: skip
    """As printed, with powers in more digits than FLOAT64 has."""
    rate, first, second, small = (np.float64(np.float32(one)) for one in (learning_rate, beta1, beta2, epsilon))
    with np.errstate(all="ignore"):
        wide = [one.astype(np.float64) for one in (x, m, v, g)]
        moment = first * wide[1] + (1 - first) * wide[3]
        square = second * wide[2] + (1 - second) * wide[3] * wide[3]
        left = [without_power(np.longdouble(beta), np.longdouble(step.item())) for beta in (first, second)]
        update = rate * np.sqrt(left[1]) / left[0] * moment / (np.sqrt(square) + small)
        sizes = [np.abs(wide[0]) + np.abs(update), np.abs(first * wide[1]) + np.abs((1 - first) * wide[3])]
        sizes.append(np.abs(second * wide[2]) + (1 - second) * wide[3] * wide[3])
        found = zip((wide[0] - update, moment, square), sizes, strict=True)
        return tuple(Near(one, 1, size) for one, size in found)
