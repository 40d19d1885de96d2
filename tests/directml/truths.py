"""The functions of PyDirectML, computed by NumPy and PyTorch: a call, its tensors, and the truth.

A truth gets the elements as FLOAT64, or as INT64 where the tensors have integers; it gives one array, or several.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np

from dmlcy import directml as d

Array = np.ndarray[Any, Any]
S = (1, 2, 3, 4)


@dataclass(frozen=True)
class Tensor:
    """An input: sizes, data type ("" for the one that is tried), and its values."""

    sizes: tuple[int, ...] = S
    dtype: str = ""
    low: float = -3
    high: float = 3
    values: Any = None


@dataclass(frozen=True)
class Case:
    """A call of a function."""

    function: str
    tensors: Mapping[str, Tensor]
    call: Callable[[SimpleNamespace], Any]
    truth: Callable[[SimpleNamespace], Any]
    operator: str = ""  # where the function has several
    of: str = ""  # the tensor whose data types are tried; by default the first one
    near: float = 1  # how many times the bound of the data type a result may differ
    without: tuple[str, ...] = ()  # data types that the function does not take, which the operator does otherwise


def one(function: str, truth: Callable[[Array], Any], low: float = -3, high: float = 3, /, **named: Any) -> Case:
    """A function of one tensor."""
    f = getattr(d, function)
    return Case(function, {"x": Tensor(low=low, high=high)}, lambda t: f(t.x, **named), lambda t: truth(t.x))


def two(function: str, truth: Callable[[Array, Array], Any], low: float = -3, high: float = 3, **named: Any) -> Case:
    """A function of two tensors."""
    f, tensor = getattr(d, function), Tensor(low=low, high=high)
    return Case(function, {"a": tensor, "b": tensor}, lambda t: f(t.a, t.b, **named), lambda t: truth(t.a, t.b))


def by_torch(truth: Callable[[SimpleNamespace, Any], Any]) -> Callable[[SimpleNamespace], Any]:
    """A truth that PyTorch computes."""

    def computed(t: SimpleNamespace) -> Any:
        import torch

        given = SimpleNamespace(**{name: torch.from_numpy(np.array(array)) for name, array in vars(t).items()})
        found = truth(given, torch)
        several = found if isinstance(found, tuple) else (found,)
        arrays = tuple(part.numpy(force=True) for part in several)
        return arrays if isinstance(found, tuple) else arrays[0]

    return computed


erf = np.vectorize(math.erf, otypes=[np.float64])


def ties_away(x: Array) -> Array:
    return np.sign(x) * np.floor(np.abs(x) + 0.5)


def softmax(x: Array, axes: tuple[int, ...]) -> Array:
    e = np.exp(x - x.max(axes, keepdims=True))
    found: Array = e / e.sum(axes, keepdims=True)
    return found


def bits(x: Array, dtype: str) -> Array:
    width = np.dtype(dtype).itemsize
    unsigned = np.ascontiguousarray(x.astype(dtype)).view(f"u{width}")
    return np.array([bin(int(value)).count("1") for value in unsigned.ravel()]).reshape(x.shape)


# Functions of the bits of the elements look at these: the truth gets the arrays themselves.
OF_BITS = ("bit_not", "bit_count", "bit_and", "bit_or", "bit_xor", "bit_shift_left", "bit_shift_right")


def in_bits(operation: Callable[..., Any]) -> Callable[..., Any]:
    def computed(*arrays: Array) -> Array:
        unsigned = [np.ascontiguousarray(array).view(f"u{array.itemsize}") for array in arrays]
        found: Array = operation(*unsigned).astype(unsigned[0].dtype).view(arrays[0].dtype)
        return found

    return computed


def counted(x: Array) -> Array:
    return bits(x, x.dtype.str)


UNARY: dict[str, tuple[Callable[[Array], Any], float, float]] = {
    "identity": (lambda x: x, -3, 3), "abs": (np.abs, -3, 3), "acos": (np.arccos, -0.9, 0.9),
    "asin": (np.arcsin, -0.9, 0.9), "atan": (np.arctan, -3, 3), "ceil": (np.ceil, -3, 3), "cos": (np.cos, -3, 3),
    "exp": (np.exp, -3, 3), "floor": (np.floor, -3, 3), "log": (np.log, 0.1, 3), "recip": (np.reciprocal, 0.25, 3),
    "sin": (np.sin, -3, 3), "sqrt": (np.sqrt, 0, 3), "tan": (np.tan, -1, 1), "erf": (erf, -3, 3),
    "sinh": (np.sinh, -3, 3), "cosh": (np.cosh, -3, 3), "tanh": (np.tanh, -3, 3), "asinh": (np.arcsinh, -3, 3),
    "acosh": (np.arccosh, 1.1, 3), "atanh": (np.arctanh, -0.9, 0.9), "sign": (np.sign, -3, 3),
    "negate": (np.negative, -3, 3), "logical_not": (lambda x: x == 0, 0, 3), "bit_not": (in_bits(np.invert), -3, 3),
    "bit_count": (counted, -3, 3), "round": (np.round, -3, 3), "is_nan": (np.isnan, -3, 3),
    "is_infinity": (np.isinf, -3, 3), "activation_relu": (lambda x: np.maximum(x, 0), -3, 3),
    "activation_sigmoid": (lambda x: 1 / (1 + np.exp(-x)), -3, 3), "activation_identity": (lambda x: x, -3, 3),
    "activation_tanh": (np.tanh, -3, 3), "activation_gelu": (lambda x: x * (1 + erf(x / math.sqrt(2))) / 2, -3, 3),
    "activation_softsign": (lambda x: x / (1 + np.abs(x)), -3, 3),
    "activation_elu": (lambda x: np.where(x < 0, np.expm1(x), x), -3, 3),
    "activation_celu": (lambda x: np.where(x < 0, np.expm1(x), x), -3, 3),
    "activation_hard_sigmoid": (lambda x: np.clip(0.2 * x + 0.5, 0, 1), -4, 4),
    "activation_leaky_relu": (lambda x: np.where(x < 0, 0.01 * x, x), -3, 3),
    "activation_scaled_elu": (
        lambda x: 1.0507010 * np.where(x < 0, 1.6732632 * np.expm1(x), x), -3, 3
    ),
    "activation_scaled_tanh": (lambda x: np.tanh(0.5 * x), -3, 3),
    "activation_softplus": (lambda x: np.log1p(np.exp(x)), -3, 3),
    "activation_thresholded_relu": (lambda x: np.where(x > 1, x, 0), -3, 3),
}  # fmt: skip
BINARY: dict[str, tuple[Callable[[Array, Array], Any], float, float]] = {
    "add": (np.add, -3, 3), "subtract": (np.subtract, -3, 3), "multiply": (np.multiply, -3, 3),
    "divide": (lambda a, b: a / b if a.dtype.kind == "f" else np.trunc(a / b), 1, 6), "max": (np.maximum, -3, 3),
    "min": (np.minimum, -3, 3), "mean": (lambda a, b: (a + b) / 2, 0, 4), "atan_yx": (np.arctan2, -3, 3),
    "difference_square": (lambda a, b: (a - b) ** 2, -3, 3), "logical_and": (lambda a, b: (a != 0) & (b != 0), 0, 2),
    "logical_or": (lambda a, b: (a != 0) | (b != 0), 0, 2), "logical_xor": (lambda a, b: (a != 0) ^ (b != 0), 0, 2),
    "bit_and": (in_bits(np.bitwise_and), -3, 3), "bit_or": (in_bits(np.bitwise_or), -3, 3),
    "bit_xor": (in_bits(np.bitwise_xor), -3, 3), "bit_shift_left": (in_bits(np.left_shift), 0, 4),
    "bit_shift_right": (in_bits(np.right_shift), 0, 4), "modulus_truncate": (np.fmod, 1, 6),
    "modulus_floor": (np.mod, 1, 6), "equals": (np.equal, -1, 2), "greater_than": (np.greater, -1, 2),
    "greater_than_or_equal": (np.greater_equal, -1, 2), "less_than": (np.less, -1, 2),
    "less_than_or_equal": (np.less_equal, -1, 2), "pow": (np.power, 1, 3),
}  # fmt: skip


def of_x(function: Callable[[Any], Any], t: Any) -> Any:
    return function(t.x)


def elementwise() -> list[Case]:
    found = [one(name, truth, low, high) for name, (truth, low, high) in UNARY.items()]
    found += [two(name, truth, low, high) for name, (truth, low, high) in BINARY.items()]
    signed = {"a": Tensor(values=[-7.5, 7.5, -6, 6]), "b": Tensor(values=[2, -2, 4, -4])}
    found += [
        Case("modulus_truncate", signed, lambda t: d.modulus_truncate(t.a, t.b), lambda t: np.fmod(t.a, t.b)),
        Case("modulus_floor", signed, lambda t: t.a % t.b, lambda t: np.mod(t.a, t.b)),
        one("identity", lambda x: 2 * x + 1, scale_bias=(2, 1)),
        one("abs", lambda x: np.abs(3 - x), scale_bias=(-1, 3)),
        one("clip", lambda x: np.clip(x, -1, 2), min=-1, max=2), one("threshold", lambda x: np.maximum(x, 1), min=1),
        one("round", np.trunc, rounding_mode=d.RoundingMode.TOWARD_ZERO),
        one("round", ties_away, rounding_mode=d.RoundingMode.TOWARD_INFINITY),
        one("is_nan", np.isnan, output_dtype="uint32"), one("bit_count", counted, output_dtype=np.uint32),
        Case("is_infinity", {"x": Tensor(values=[np.inf, -np.inf, np.nan, 1])},
             lambda t: d.is_infinity(t.x, infinity_mode=d.IsInfinityMode.NEGATIVE), lambda t: np.isneginf(t.x)),
        two("equals", np.equal, -1, 2, output_dtype=np.uint32),
        two("add", lambda a, b: np.maximum(a + b, 0), fused_activation=d.FusedActivation.relu()),
        Case("pow", {"x": Tensor(low=0.1)}, lambda t: d.pow(t.x, 1.5), lambda t: t.x**1.5, "ELEMENT_WISE_CONSTANT_POW"),
        Case("where", {"c": Tensor(dtype="uint8", low=0, high=2), "a": Tensor(), "b": Tensor()},
             lambda t: d.where(t.c, t.a, t.b), lambda t: np.where(t.c != 0, t.a, t.b), of="a"),
        Case("clip_grad", {"x": Tensor(high=6), "g": Tensor()}, lambda t: d.clip_grad(t.x, t.g, min=1, max=4),
             lambda t: np.where((t.x <= 1) | (t.x >= 4), 0, t.g)),
        one("activation_linear", lambda x: 2 * x + 1, alpha=2, beta=1),
        one("activation_parametric_softplus", lambda x: 2 * np.log1p(np.exp(0.5 * x)), alpha=2, beta=0.5),
        one("activation_shrink", lambda x: np.where(x > 1, x - 1, np.where(x < -1, x + 1, 0)), bias=1, threshold=1),
        one("activation_elu", lambda x: np.where(x < 0, 2 * np.expm1(x), x), alpha=2),
        one("activation_celu", lambda x: np.where(x < 0, 2 * np.expm1(x / 2), x), alpha=2),
        Case("activation_parameterized_relu", {"x": Tensor(), "s": Tensor(low=1)},
             lambda t: d.activation_parameterized_relu(t.x, t.s), lambda t: np.where(t.x < 0, t.s * t.x, t.x)),
    ]  # fmt: skip
    flat = {"x": Tensor((1, 1, 3, 4))}
    for name, truth in (
        ("softmax", lambda x: softmax(x, (3,))), ("log_softmax", lambda x: np.log(softmax(x, (3,)))),
        ("hardmax", lambda x: np.eye(4)[x.argmax(3)]),
    ):  # fmt: skip
        f = getattr(d, f"activation_{name}")
        operator = f"ACTIVATION_{name.upper()}"
        found.append(Case(f"activation_{name}", flat, partial(of_x, f), partial(of_x, truth), operator))
    found.append(one("activation_softmax", lambda x: softmax(x, (1, 3)), axes=[1, 3]))
    return found


def cast() -> list[Case]:
    kinds = ("float32", "float16", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
    return [one("cast", np.trunc if "int" in kind else lambda x: x, 0, 9, dtype=kind) for kind in kinds]
