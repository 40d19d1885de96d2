"""Operators that work element by element."""

from __future__ import annotations

from typing import Any

import numpy as np

import dmlcy
from onnx_graphs.graph import Graph, converts, refuse

ONE = {
    "ELEMENT_WISE_ABS": "Abs", "ELEMENT_WISE_ACOS": "Acos", "ELEMENT_WISE_ACOSH": "Acosh",
    "ELEMENT_WISE_ASIN": "Asin", "ELEMENT_WISE_ASINH": "Asinh", "ELEMENT_WISE_ATAN": "Atan",
    "ELEMENT_WISE_ATANH": "Atanh", "ELEMENT_WISE_BIT_NOT": "BitwiseNot", "ELEMENT_WISE_CEIL": "Ceil",
    "ELEMENT_WISE_COS": "Cos", "ELEMENT_WISE_COSH": "Cosh", "ELEMENT_WISE_ERF": "Erf", "ELEMENT_WISE_EXP": "Exp",
    "ELEMENT_WISE_FLOOR": "Floor", "ACTIVATION_HARD_SWISH": "HardSwish", "ELEMENT_WISE_LOG": "Log",
    "ELEMENT_WISE_NEGATE": "Neg", "ELEMENT_WISE_RECIP": "Reciprocal", "ACTIVATION_RELU": "Relu",
    "ELEMENT_WISE_ROUND": "Round", "ACTIVATION_SIGMOID": "Sigmoid", "ELEMENT_WISE_SIGN": "Sign",
    "ELEMENT_WISE_SIN": "Sin", "ELEMENT_WISE_SINH": "Sinh", "ACTIVATION_SOFTPLUS": "Softplus",
    "ACTIVATION_SOFTSIGN": "Softsign", "ELEMENT_WISE_SQRT": "Sqrt", "ELEMENT_WISE_TAN": "Tan",
    "ELEMENT_WISE_TANH": "Tanh",
}  # fmt: skip
TWO = {
    "ELEMENT_WISE_ADD": "Add", "ELEMENT_WISE_BIT_AND": "BitwiseAnd", "ELEMENT_WISE_BIT_OR": "BitwiseOr",
    "ELEMENT_WISE_BIT_XOR": "BitwiseXor", "ELEMENT_WISE_DIVIDE": "Div", "ELEMENT_WISE_MULTIPLY": "Mul",
    "ACTIVATION_PARAMETERIZED_RELU": "PRelu", "ELEMENT_WISE_POW": "Pow", "ELEMENT_WISE_SUBTRACT": "Sub",
    "ELEMENT_WISE_ADD1": "Add", "ELEMENT_WISE_BIT_SHIFT_LEFT": "BitShift", "ELEMENT_WISE_BIT_SHIFT_RIGHT": "BitShift",
    "ELEMENT_WISE_MAX": "Max", "ELEMENT_WISE_MIN": "Min", "ELEMENT_WISE_MODULUS_FLOOR": "Mod",
    "ELEMENT_WISE_MODULUS_TRUNCATE": "Mod",
}  # fmt: skip
LOGIC = {
    "ELEMENT_WISE_LOGICAL_AND": "And", "ELEMENT_WISE_LOGICAL_OR": "Or", "ELEMENT_WISE_LOGICAL_XOR": "Xor",
    "ELEMENT_WISE_LOGICAL_NOT": "Not",
}  # fmt: skip
TRUTH = {
    "ELEMENT_WISE_LOGICAL_EQUALS": "Equal", "ELEMENT_WISE_LOGICAL_GREATER_THAN": "Greater",
    "ELEMENT_WISE_LOGICAL_LESS_THAN": "Less", "ELEMENT_WISE_LOGICAL_GREATER_THAN_OR_EQUAL": "GreaterOrEqual",
    "ELEMENT_WISE_LOGICAL_LESS_THAN_OR_EQUAL": "LessOrEqual", "ELEMENT_WISE_IS_NAN": "IsNaN",
}  # fmt: skip
WITH: dict[str, tuple[str, dict[str, float]]] = {
    "ACTIVATION_CELU": ("Celu", {"alpha": 1.0}),
    "ACTIVATION_ELU": ("Elu", {"alpha": 1.0}),
    "ACTIVATION_HARD_SIGMOID": ("HardSigmoid", {"alpha": 0.2, "beta": 0.5}),
    "ACTIVATION_LEAKY_RELU": ("LeakyRelu", {"alpha": 0.01}),
    "ACTIVATION_SCALED_ELU": ("Selu", {"alpha": 1.6732631921768188, "gamma": 1.0507010221481323}),
    "ACTIVATION_THRESHOLDED_RELU": ("ThresholdedRelu", {"alpha": 1.0}),
}
ATTRIBUTES: dict[str, dict[str, Any]] = {
    "ELEMENT_WISE_BIT_SHIFT_LEFT": {"direction": "LEFT"},
    "ELEMENT_WISE_BIT_SHIFT_RIGHT": {"direction": "RIGHT"},
    "ELEMENT_WISE_MODULUS_TRUNCATE": {"fmod": 1},
}
FIXED: dict[str, dict[str, Any]] = {
    "ACTIVATION_HARD_SWISH": {"alpha": float(np.float32(1 / 6)), "beta": 0.5},
    "ACTIVATION_SOFTPLUS": {"steepness": 1.0},
    "ELEMENT_WISE_ROUND": {"rounding_mode": dmlcy.RoundingMode.HALVES_TO_NEAREST_EVEN},
}
"""Attributes that the node of ONNX does not have."""


def tensors(graph: Graph) -> list[str]:
    return list(graph.arrays)


@converts(*ONE)
def one(graph: Graph, desc: Any) -> str:
    fixed = FIXED.get(desc.operator.name, {})
    refuse(any(getattr(desc, name) != value for name, value in fixed.items()), "ONNX has this attribute of one value")
    return str(graph.add(ONE[desc.operator.name], "input"))


@converts(*TWO)
def two(graph: Graph, desc: Any) -> str:
    name = desc.operator.name
    kind = graph.arrays[tensors(graph)[0]].dtype.kind
    refuse(name == "ELEMENT_WISE_MODULUS_FLOOR" and kind == "f", "Mod of ONNX truncates floats")
    return str(graph.add(TWO[name], *tensors(graph), **ATTRIBUTES.get(name, {})))


@converts(*LOGIC)
def logic(graph: Graph, desc: Any) -> str:
    inputs = [graph.cast(name, np.bool_) for name in tensors(graph)]
    return graph.cast(graph.add(LOGIC[desc.operator.name], *inputs), desc.output.dtype.name.lower())


@converts(*TRUTH)
def truth(graph: Graph, desc: Any) -> str:
    return graph.cast(graph.add(TRUTH[desc.operator.name], *tensors(graph)), desc.output.dtype.name.lower())


@converts("ELEMENT_WISE_IS_INFINITY")
def is_infinity(graph: Graph, desc: Any) -> str:
    mode = desc.infinity_mode.name
    found = graph.add(
        "IsInf", "input", detect_negative=int(mode != "POSITIVE"), detect_positive=int(mode != "NEGATIVE")
    )
    return graph.cast(found, desc.output.dtype.name.lower())


@converts(*WITH)
def with_attributes(graph: Graph, desc: Any) -> str:
    kind, attributes = WITH[desc.operator.name]
    given: dict[str, Any] = {name: float(getattr(desc, name)) for name in attributes}
    return str(graph.add(kind, "input", **given))


@converts("ACTIVATION_SHRINK")
def shrink(graph: Graph, desc: Any) -> str:
    return str(graph.add("Shrink", "input", bias=desc.bias, lambd=desc.threshold))


@converts("ACTIVATION_GELU")
def gelu(graph: Graph, desc: Any) -> str:
    return str(graph.add("Gelu", "input"))


@converts("ACTIVATION_IDENTITY", "ELEMENT_WISE_IDENTITY")
def identity(graph: Graph, desc: Any) -> str:
    return str(graph.add("Identity", "input"))


@converts("ELEMENT_WISE_CLIP", "ELEMENT_WISE_CLIP1")
def clip(graph: Graph, desc: Any) -> str:
    dtype = graph.arrays["input"].dtype
    refuse(not desc.min <= desc.max, "where Min is above Max, ONNX gives Max and DirectML Min")
    limits: Any = np.finfo(dtype) if dtype.kind == "f" else np.iinfo(dtype)
    ends = [desc.min, desc.max]
    if desc.operator.name == "ELEMENT_WISE_CLIP":
        refuse(dtype.kind != "f" and any(end != int(end) for end in ends), "the ends are no numbers of the data type")
        refuse(any(not limits.min <= end <= limits.max for end in ends), "the ends are no numbers of the data type")
    return str(graph.add("Clip", "input", *(graph.constant(np.array(end, dtype)) for end in ends)))


@converts("ELEMENT_WISE_IF")
def where(graph: Graph, desc: Any) -> str:
    return str(graph.add("Where", graph.cast("condition", np.bool_), "a", "b"))


@converts("CAST")
def cast(graph: Graph, desc: Any) -> str:
    return graph.cast("input", desc.output.dtype.name.lower())


@converts("ELEMENT_WISE_MEAN")
def mean(graph: Graph, desc: Any) -> str:
    return str(graph.add("Mean", "a", "b"))
