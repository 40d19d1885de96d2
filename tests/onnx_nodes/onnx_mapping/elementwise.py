"""Operators of ONNX that work element by element, and activations."""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np

from onnx_mapping.node import CONVERSIONS, Array, Node, NotExpressible, alike, along, as_bool, converts, dml, scalar

ONE = {
    "Abs": "element_wise_abs", "Acos": "element_wise_acos", "Acosh": "element_wise_acosh", "Asin": "element_wise_asin",
    "Asinh": "element_wise_asinh", "Atan": "element_wise_atan", "Atanh": "element_wise_atanh",
    "BitwiseNot": "element_wise_bit_not", "Ceil": "element_wise_ceil", "Cos": "element_wise_cos",
    "Cosh": "element_wise_cosh", "Erf": "element_wise_erf", "Exp": "element_wise_exp", "Floor": "element_wise_floor",
    "HardSwish": "activation_hard_swish", "Identity": "element_wise_identity", "Log": "element_wise_log",
    "Neg": "element_wise_negate", "Reciprocal": "element_wise_recip", "Relu": "activation_relu",
    "Round": "element_wise_round", "Sigmoid": "activation_sigmoid", "Sign": "element_wise_sign",
    "Sin": "element_wise_sin", "Sinh": "element_wise_sinh", "Softplus": "activation_softplus",
    "Softsign": "activation_softsign", "Sqrt": "element_wise_sqrt", "Tan": "element_wise_tan",
    "Tanh": "element_wise_tanh",
}  # fmt: skip
TWO = {
    "Add": "element_wise_add", "BitwiseAnd": "element_wise_bit_and", "BitwiseOr": "element_wise_bit_or",
    "BitwiseXor": "element_wise_bit_xor", "Div": "element_wise_divide", "Mul": "element_wise_multiply",
    "PRelu": "activation_parameterized_relu", "Pow": "element_wise_pow", "Sub": "element_wise_subtract",
}  # fmt: skip
LOGIC = {
    "And": "element_wise_logical_and", "Or": "element_wise_logical_or", "Xor": "element_wise_logical_xor",
    "Not": "element_wise_logical_not",
}  # fmt: skip
TRUTH = {
    "Equal": "element_wise_logical_equals",
    "Greater": "element_wise_logical_greater_than", "Less": "element_wise_logical_less_than",
    "GreaterOrEqual": "element_wise_logical_greater_than_or_equal",
    "LessOrEqual": "element_wise_logical_less_than_or_equal", "IsNaN": "element_wise_is_nan",
}  # fmt: skip
WITH = {
    "Celu": ("activation_celu", {"alpha": 1.0}),
    "Elu": ("activation_elu", {"alpha": 1.0}),
    "HardSigmoid": ("activation_hard_sigmoid", {"alpha": 0.2, "beta": 0.5}),
    "LeakyRelu": ("activation_leaky_relu", {"alpha": 0.01}),
    "Selu": ("activation_scaled_elu", {"alpha": 1.67326319217681884765625, "gamma": 1.05070102214813232421875}),
    "ThresholdedRelu": ("activation_thresholded_relu", {"alpha": 1.0}),
}
"""Operators with attributes of the same names, and their defaults in ONNX."""


@converts(*ONE)
def one(node: Node) -> Array:
    return getattr(dml, ONE[node.kind])(node[0])


@converts(*TWO)
def two(node: Node) -> Array:
    return getattr(dml, TWO[node.kind])(*alike(node[0], node[1]))


@converts(*LOGIC)
def logic(node: Node) -> Array:
    return as_bool(getattr(dml, LOGIC[node.kind])(*alike(*node.inputs)))


@converts(*TRUTH)
def truth(node: Node) -> Array:
    return as_bool(getattr(dml, TRUTH[node.kind])(*alike(*node.inputs), output_dtype=np.uint8))


@converts(*WITH)
def with_attributes(node: Node) -> Array:
    name, defaults = WITH[node.kind]
    return getattr(dml, name)(node[0], **{key: node.attribute(key, value) for key, value in defaults.items()})


@converts("Shrink")
def shrink(node: Node) -> Array:
    return dml.activation_shrink(node[0], bias=node.attribute("bias", 0.0), threshold=node.attribute("lambd", 0.5))


@converts("Gelu")
def gelu(node: Node) -> Array:
    if node.attribute("approximate", b"none") != b"none":
        raise NotExpressible("the approximation with tanh has no operator")
    return dml.activation_gelu(node[0])


@converts("Swish")
def swish(node: Node) -> Array:
    return dml.activation_swish(node[0], sigmoid_input_scale=node.attribute("alpha", 1.0))


@converts("Mish")
def mish(node: Node) -> Array:
    return dml.element_wise_multiply(node[0], dml.element_wise_tanh(dml.activation_softplus(node[0])))


@converts("Max", "Min", "Sum")
def several(node: Node) -> Array:
    names = {"Max": "element_wise_max", "Min": "element_wise_min", "Sum": "element_wise_add"}
    first, *others = alike(*node.inputs)
    return reduce(getattr(dml, names[node.kind]), others, first) if others else dml.element_wise_identity(first)


@converts("Mean")
def mean(node: Node) -> Array:
    first, *others = alike(*node.inputs)
    total = reduce(dml.element_wise_add, others, first)
    return dml.element_wise_identity(total, scale_bias=(1 / len(node.inputs), 0))


@converts("Clip")
def clip(node: Node) -> Array:
    dtype = node[0].dtype
    kind: Any = np.finfo(dtype) if dtype.kind == "f" else np.iinfo(dtype)
    low, high = (node.get(place) for place in (1, 2))
    bounds = {
        "min": node.attribute("min", kind.min) if low is None else scalar(low),
        "max": node.attribute("max", kind.max) if high is None else scalar(high),
    }
    if bounds["min"] > bounds["max"]:
        raise NotExpressible("where Min is above Max, ONNX gives Max and DirectML Min")
    return dml.element_wise_clip1(node[0], **bounds)


@converts("Mod")
def mod(node: Node) -> Array:
    name = "element_wise_modulus_truncate" if node.attribute("fmod", 0) else "element_wise_modulus_floor"
    return getattr(dml, name)(*alike(node[0], node[1]))


@converts("BitShift")
def bit_shift(node: Node) -> Array:
    name = f"element_wise_bit_shift_{node.attribute('direction').decode().lower()}"
    return getattr(dml, name)(*alike(node[0], node[1]))


@converts("Where")
def where(node: Node) -> Array:
    return dml.element_wise_if(*alike(node[0], node[1], node[2]))


@converts("IsInf")
def is_inf(node: Node) -> Array:
    sides = node.attribute("detect_negative", 1), node.attribute("detect_positive", 1)
    mode = {(1, 1): "EITHER", (0, 1): "POSITIVE", (1, 0): "NEGATIVE"}[sides]
    return as_bool(dml.element_wise_is_infinity(node[0], infinity_mode=mode))


@converts("Dropout")
def dropout(node: Node) -> Any:
    training = node.get(2)
    if training is not None and bool(training):
        raise NotExpressible("which elements are dropped is random")
    ones = np.ones(node[0].shape, bool)
    kept = dml.activation_identity(node[0])
    return kept if node.outputs == 1 else (kept, as_bool(dml.element_wise_identity(ones)))


@converts("BatchNormalization")
def batch_normalization(node: Node) -> Any:
    if node.attribute("training_mode", 0):
        raise NotExpressible("training gives running means, which BATCH_NORMALIZATION_TRAINING does not")
    x, scale, bias, mean, variance = (node[place] for place in range(5))
    shaped = [along(one, 1, x.ndim) for one in (mean, variance, scale, bias)]
    return dml.batch_normalization(x, *shaped, spatial=True, epsilon=node.attribute("epsilon", 1e-5))


CASTS = ("Cast", "CastLike")


@converts(*CASTS)
def cast(node: Node) -> Array:
    x, target = node[0], node.attributes["numpy_to"]
    if target is None:
        raise NotExpressible("DirectML has no such data type")
    if target.kind == "b":
        raise NotExpressible("truth of a number is a comparison, which CAST does not make")
    if not node.attribute("saturate", 1):
        raise NotExpressible("only floats of 8 bits saturate")
    return dml.cast(x, output_dtype=target)


@converts("BitCast")
def bit_cast(node: Node) -> Array:
    target = node.attributes["numpy_to"]
    if target is None or "b" in (target.kind, node[0].dtype.kind):
        raise NotExpressible("DirectML has no such data type")
    return dml.element_wise_identity(node[0].view(target))


@converts("QuantizeLinear", "DequantizeLinear")
def quantize(node: Node) -> Array:
    x, scale, zero = node[0], node[1], node.get(2)
    if node.attribute("block_size", 0):
        raise NotExpressible("a block of elements shares a scale: the sizes of the tensors differ")
    if node.kind == "QuantizeLinear" and zero is None and node.attribute("output_dtype", 0):
        raise NotExpressible("the data type of the output comes from the zero point")
    axis = node.axis(1)
    scale = along(scale, axis, x.ndim) if scale.ndim == 1 and scale.size > 1 else scale.reshape((1,) * x.ndim)
    parts = [x, scale] if zero is None else [x, scale, zero.reshape(scale.shape)]
    name = "element_wise_quantize_linear" if node.kind == "QuantizeLinear" else "element_wise_dequantize_linear"
    return getattr(dml, name)(*alike(*parts))


assert {*ONE, *TWO, *LOGIC, *TRUTH, *WITH} <= {*CONVERSIONS}
