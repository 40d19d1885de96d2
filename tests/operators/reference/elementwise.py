"""Elements of elements at the same place: in NumPy's float64 and rounded once, or in the integers of the data type."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .windows import Array


def of_floats(function: Callable[..., Any]) -> Callable[..., Array]:
    """The function of float64, with the first input scaled, rounded to the data type; that of integers as it is."""

    def compute(x: Array, *others: Array, scale_bias: Any = None, **given: float) -> Array:
        with np.errstate(all="ignore"):
            numbers = {name: np.float64(np.float32(value)) for name, value in given.items()}
            if x.dtype.kind != "f":
                return function(x, *others, **numbers).astype(x.dtype)  # type: ignore[no-any-return]
            first = x.astype(np.float64)
            if scale_bias is not None:
                scale, bias = map(np.longdouble, map(np.float32, scale_bias))
                first = (x.astype(np.longdouble) * scale + bias).astype(np.float32).astype(np.float64)
            found = function(first, *(one.astype(np.float64) for one in others), **numbers)
            return np.asarray(found).astype(x.dtype)

    return compute


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


activation_hard_sigmoid = of_floats(hard)
activation_hard_swish = of_floats(lambda x, alpha, beta: x * hard(x, alpha, beta))
activation_identity = of_floats(lambda x: x)
activation_leaky_relu = of_floats(lambda x, alpha: np.where(x < 0, alpha * x, x))
activation_linear = of_floats(lambda x, alpha, beta: alpha * x + beta)
activation_parameterized_relu = of_floats(lambda x, slope: np.where(x < 0, slope * x, x))
activation_relu = of_floats(lambda x: np.where(np.less_equal(x, 0), 0, x))
activation_relu_grad = of_floats(lambda x, gradient: np.where(x > 0, gradient, 0))
activation_softsign = of_floats(lambda x: ratio(x, 1 + np.abs(x)))
activation_thresholded_relu = of_floats(lambda x, alpha: np.where(x > alpha, x, 0))
element_wise_add = of_floats(np.add)
element_wise_ceil = of_floats(np.ceil)
element_wise_difference_square = of_floats(lambda a, b: np.square(a - b))
element_wise_floor = of_floats(np.floor)
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
element_wise_sqrt = of_floats(np.sqrt)
element_wise_subtract = of_floats(np.subtract)
