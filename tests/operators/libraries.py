"""Element-wise operators in other libraries and in Python: a table from operators to functions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np


def _nowhere(*arrays: Any) -> Any:
    return np.zeros(arrays[0].shape, bool)


@dataclass(frozen=True)
class Peer:
    """A function of PyTorch, given the library, over tensors of float64; ``differs``: where another choice was made."""

    function: Callable[[Any], Callable[..., Any]]
    arguments: dict[str, Any] = field(default_factory=dict)
    tensors: int = 1
    differs: Callable[..., Any] = _nowhere


def _named(name: str, **more: Any) -> Peer:
    return Peer(lambda torch: getattr(torch, name), **more)


def _nan(*arrays: Any) -> Any:
    return np.isnan(arrays).any(axis=0)


def _nan_or_infinity(x: Any) -> Any:
    return ~np.isfinite(x)


ONE = {
    "abs": "abs", "acos": "acos", "acosh": "acosh", "asin": "asin", "asinh": "asinh", "atan": "atan", "atanh": "atanh",
    "ceil": "ceil", "cos": "cos", "cosh": "cosh", "erf": "erf", "exp": "exp", "floor": "floor", "log": "log",
    "negate": "neg", "recip": "reciprocal", "sin": "sin", "sinh": "sinh", "sqrt": "sqrt", "tan": "tan", "tanh": "tanh",
    "identity": "clone", "is_nan": "isnan", "round": "round", "sign": "sgn",
}  # fmt: skip
TWO = {
    "add": "add", "subtract": "subtract", "multiply": "multiply", "divide": "divide", "atan_yx": "atan2",
    "pow": "pow", "modulus_floor": "remainder", "modulus_truncate": "fmod", "max": "fmax", "min": "fmin",
    "logical_equals": "eq", "logical_greater_than": "gt", "logical_less_than": "lt",
    "logical_greater_than_or_equal": "ge", "logical_less_than_or_equal": "le",
}  # fmt: skip
TORCH = {f"element_wise_{name}": _named(other) for name, other in ONE.items()}
TORCH |= {f"element_wise_{name}": _named(other, tensors=2) for name, other in TWO.items()}
TORCH["element_wise_sign"] = _named("sgn", differs=_nan)
TORCH["element_wise_modulus_floor"] = Peer(
    lambda torch: torch.remainder, tensors=2, differs=lambda a, b: np.isinf(b) | np.isinf(a) | _nan(a, b)
)
TORCH |= {
    "element_wise_round": Peer(lambda torch: torch.round, {"rounding_mode": "HALVES_TO_NEAREST_EVEN"}),
    "element_wise_clip": Peer(lambda torch: lambda x: x.clamp(-0.75, 1.25), {"min": -0.75, "max": 1.25}),
    "element_wise_threshold": Peer(lambda torch: lambda x: x.clamp(min=0.25), {"min": 0.25}),
    "element_wise_difference_square": Peer(lambda torch: lambda a, b: (a - b) ** 2, tensors=2),
    "element_wise_constant_pow": Peer(lambda torch: lambda x: x**3, {"exponent": 3}),
    "activation_celu": Peer(lambda torch: lambda x: torch.celu(x, 1.5), {"alpha": 1.5}),
    "activation_elu": Peer(lambda torch: lambda x: torch.nn.functional.elu(x, 1.5), {"alpha": 1.5}),
    "activation_gelu": Peer(lambda torch: torch.nn.functional.gelu, differs=lambda x: np.isinf(x) | (x < -5)),
    "activation_identity": _named("clone"),
    "activation_leaky_relu": Peer(lambda torch: lambda x: torch.nn.functional.leaky_relu(x, 0.25), {"alpha": 0.25}),
    "activation_relu": _named("relu"),
    "activation_sigmoid": _named("sigmoid"),
    "activation_softsign": Peer(lambda torch: torch.nn.functional.softsign),
    "activation_softplus": Peer(lambda torch: lambda x: torch.nn.functional.softplus(x, 2, 1e3), {"steepness": 2}),
    "activation_swish": Peer(lambda torch: torch.nn.functional.silu, {"sigmoid_input_scale": 1}, differs=np.isinf),
    "activation_tanh": _named("tanh"),
    "activation_shrink": Peer(
        lambda torch: lambda x: torch.nn.functional.softshrink(x, 0.5), {"bias": 0.5, "threshold": 0.5}, differs=_nan
    ),
    "activation_thresholded_relu": Peer(
        lambda torch: lambda x: torch.nn.functional.threshold(x, 0.5, 0), {"alpha": 0.5}, differs=_nan
    ),
}
"""By the names of functions of dmlcy."""


def _quotient(a: int, b: int) -> int:
    return -1 if b == 0 else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def _power(a: int, b: int) -> int:
    if b < 0:
        return a ** (-b % 2) if a in (1, -1) else 0
    return pow(a, b, 2**64)


INTEGERS: dict[str, Callable[[int, int], int]] = {
    "element_wise_add": lambda a, b: a + b,
    "element_wise_subtract": lambda a, b: a - b,
    "element_wise_multiply": lambda a, b: a * b,
    "element_wise_divide": _quotient,
    "element_wise_difference_square": lambda a, b: (a - b) ** 2,
    "element_wise_max": max,
    "element_wise_min": min,
    "element_wise_mean": lambda a, b: abs(a + b) // 2 * (1 if a + b >= 0 else -1),
    "element_wise_modulus_floor": lambda a, b: -1 if b == 0 else a % b,
    "element_wise_modulus_truncate": lambda a, b: -1 if b == 0 else a - b * _quotient(a, b),
    "element_wise_bit_and": lambda a, b: a & b,
    "element_wise_bit_or": lambda a, b: a | b,
    "element_wise_bit_xor": lambda a, b: a ^ b,
    "element_wise_bit_shift_left": lambda a, b: a << min(b, 64),
    "element_wise_bit_shift_right": lambda a, b: a >> min(b, 64),
}
"""Results before they are reduced to the data type."""
