"""Nodes of which onnx has no tests: ONNX Runtime's own operators, old versions, and activations that it fused.

The values are those of ONNX Runtime on the CPU where it has the operator there, else those of a formula.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

pytest.importorskip("onnx", reason="needs onnx, which writes the models")
pytest.importorskip("onnxruntime", reason="needs onnxruntime, whose values are compared")

import onnxruntime
from node_tests import Case, judge
from onnx import ValueInfoProto, helper

Array = Any
MS, DML = "com.microsoft", "com.microsoft.dml"
DRAW = np.random.default_rng(41)


def numbers(*sizes: int, dtype: Any = np.float32) -> Array:
    """Numbers of a few halves, or small integers."""
    whole = DRAW.integers(-9, 9, sizes)
    return (whole / 4).astype(dtype) if np.dtype(dtype).kind == "f" else (whole + 9).astype(dtype)


X = numbers(2, 3, 4, 4)
ROWS = numbers(2, 3, 8)
EIGHT = [numbers(8) for _ in range(4)]
THREE = [numbers(3) for _ in range(3)] + [np.abs(numbers(3)) + 1]
SCALES = [np.array(one, np.float32) for one in (0.25, 0.5, 0.0078125)]
ZEROS = [np.array(one, np.uint8) for one in (9, 3, 128)]
BYTES = [numbers(2, 3, 4, dtype=np.uint8) for _ in range(2)]
IDS = np.array([[0, 2, 1], [3, 3, 0]], np.int32)
KINDS = np.array([[0, 0, 1], [1, 0, 1]], np.int32)
TABLES = [numbers(4, 8), numbers(5, 8), numbers(2, 8)]
MASK = np.array([[1, 1, 0], [1, 1, 1]], np.int32)

BY_ONNX_RUNTIME: list[tuple[str, str, int, list[Array], dict[str, Any], list[str]]] = [
    ("Gelu", MS, 1, [X], {}, ["y"]),
    ("BiasGelu", MS, 1, [ROWS, EIGHT[0]], {}, ["y"]),
    ("QuickGelu", MS, 1, [X], {}, ["y"]),
    ("QuickGelu", MS, 1, [X], {"alpha": 1.0}, ["y"]),
    ("Gelu", "", 20, [X], {}, ["y"]),
    ("Gelu", "", 20, [X], {"approximate": "tanh"}, ["y"]),
    ("SkipLayerNormalization", MS, 1, [ROWS, numbers(2, 3, 8), *EIGHT[:3]], {"epsilon": 1e-5}, ["y", "", "", "sum"]),
    ("SkipLayerNormalization", MS, 1, [ROWS, numbers(3, 8), EIGHT[0]], {}, ["y"]),
    ("SkipSimplifiedLayerNormalization", MS, 1, [ROWS, numbers(2, 3, 8), *EIGHT[:2]], {}, ["y", "", "", "sum"]),
    ("SkipSimplifiedLayerNormalization", MS, 1, [ROWS, numbers(2, 3, 8), EIGHT[0]], {}, ["y"]),
    ("SimplifiedLayerNormalization", "", 17, [ROWS, EIGHT[0]], {"axis": 2}, ["y"]),
    ("LayerNormalization", "", 16, [ROWS, numbers(3, 8), numbers(3, 8)], {"axis": 1}, ["y"]),
    ("EmbedLayerNormalization", MS, 1, [IDS, KINDS, *TABLES, *EIGHT[:2], MASK], {}, ["y", "mask", "sum"]),
    ("EmbedLayerNormalization", MS, 1, [IDS, None, *TABLES[:2], None, *EIGHT[:2]], {}, ["y", "mask"]),
    ("EmbedLayerNormalization", MS, 1, [IDS, KINDS, *TABLES, *EIGHT[:2], None, IDS], {}, ["y", "mask"]),
    ("QLinearAdd", MS, 1,
     [BYTES[0], SCALES[0], ZEROS[0], BYTES[1], SCALES[1], ZEROS[1], SCALES[0], ZEROS[1]], {}, ["y"]),
    ("QLinearAdd", MS, 1, [BYTES[0], SCALES[0], ZEROS[0], BYTES[1][0, 0], SCALES[1], ZEROS[1], SCALES[0]], {}, ["y"]),
    ("QLinearSigmoid", MS, 1, [BYTES[0], SCALES[0], ZEROS[0], SCALES[2], ZEROS[1]], {}, ["y"]),
    ("QLinearConcat", MS, 1, [SCALES[0], ZEROS[0], BYTES[0], SCALES[0], ZEROS[1], BYTES[1], SCALES[1], ZEROS[0]],
     {"axis": -2}, ["y"]),
    ("QuantizeLinear", MS, 1, [X, SCALES[0], ZEROS[2]], {}, ["y"]),
    ("QuantizeLinear", MS, 1, [X, THREE[3], np.array([1, 2, 3], np.int8)], {"axis": 1}, ["y"]),
    ("DequantizeLinear", MS, 1, [BYTES[0], THREE[3], np.array([1, 2, 3], np.uint8)], {"axis": 1}, ["y"]),
    ("DequantizeLinear", MS, 1, [BYTES[0], SCALES[0]], {}, ["y"]),
    ("QuantizeLinear", "", 21, [X, SCALES[0]], {}, ["y"]),
    ("DequantizeLinear", "", 21, [BYTES[0], SCALES[0]], {}, ["y"]),
    ("DequantizeLinear", "", 21, [BYTES[0], THREE[3]], {"axis": 1}, ["y"]),
    ("ScaledTanh", "", 9, [X], {"alpha": 2.0, "beta": 0.5}, ["y"]),
    ("ParametricSoftplus", "", 9, [X], {"alpha": 2.0, "beta": 0.5}, ["y"]),
    ("Affine", "", 9, [X], {"alpha": 2.0, "beta": -0.5}, ["y"]),
    ("Clip", "", 6, [X], {"min": -1.0}, ["y"]),
    ("Softmax", "", 11, [X], {"axis": 2}, ["y"]),
    ("LogSoftmax", "", 7, [X], {}, ["y"]),
    ("Hardmax", "", 11, [X], {"axis": -2}, ["y"]),
    ("MeanVarianceNormalization", "", 8, [X], {}, ["y"]),
    ("MeanVarianceNormalization", "", 8, [X], {"across_channels": 1, "normalize_variance": 0}, ["y"]),
    ("BatchNormalization", "", 7, [X, *(np.abs(numbers(3, 4, 4)) + 1 for _ in range(4))], {"spatial": 0}, ["y"]),
    ("InstanceNormalization", "", 6, [ROWS, *THREE[:2]], {}, ["y"]),
    ("TopK", "", 9, [X], {"k": 2, "axis": 1}, ["values", "indices"]),
    ("TopK", "", 10, [ROWS, np.array([3])], {}, ["values", "indices"]),
    ("ReduceMean", "", 11, [X], {"axes": [-1, 1], "keepdims": 0}, ["y"]),
    ("Crop", "", 9, [X], {"border": [1, 2, 0, 1]}, ["y"]),
    ("Crop", "", 9, [X], {"border": [1, 1, 0, 0], "scale": [2, 3]}, ["y"]),
    ("Cast", "", 9, [np.array([0, 1, 2.5], np.float32)], {"to": 9}, ["y"]),
]  # fmt: skip


def gelu(x: Array) -> Array:
    return x / 2 * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))


def normalized(x: Array, axes: tuple[int, ...], epsilon: float = 1e-5) -> Array:
    wide = x.astype(np.float64)
    return (wide - wide.mean(axes, keepdims=True)) / np.sqrt(wide.var(axes, keepdims=True) + epsilon)


def along(vector: Array) -> Array:
    return vector[:, np.newaxis, np.newaxis]


def groups(x: Array, gamma: Array, beta: Array) -> Array:
    """Two groups of channels, which come last."""
    parts = normalized(x.reshape(*x.shape[:3], 2, -1), (1, 2, 4)).reshape(x.shape)
    return parts * gamma + beta


def relu(x: Array) -> Array:
    return np.maximum(x, 0)


NHWC = numbers(2, 3, 4, 8)
BY_FORMULA: list[tuple[str, str, int, list[Array], dict[str, Any], Callable[..., Array]]] = [
    ("FastGelu", MS, 1, [ROWS, EIGHT[0]], {}, lambda x, bias: gelu(x + bias)),
    ("FastGelu", MS, 1, [ROWS], {}, gelu),
    ("BiasAdd", MS, 1, [ROWS, EIGHT[0], numbers(2, 3, 8)], {}, lambda x, bias, skip: x + bias + skip),
    ("BiasSplitGelu", MS, 1, [ROWS, EIGHT[0]], {},
     lambda x, bias: (x + bias)[..., :4] * gelu((x + bias)[..., 4:])),
    ("GroupNorm", MS, 1, [NHWC, *EIGHT[:2]], {"groups": 2, "activation": 0}, groups),
    ("GroupNorm", MS, 1, [NHWC, *EIGHT[:2]], {"groups": 2, "activation": 1},
     lambda *all: groups(*all) / (1 + np.exp(-groups(*all)))),
    ("GroupNorm", MS, 1, [NHWC.transpose(0, 3, 1, 2), *EIGHT[:2]], {"groups": 2, "activation": 0, "channels_last": 0},
     lambda x, *all: groups(x.transpose(0, 2, 3, 1), *all).transpose(0, 3, 1, 2)),
    ("ImageScaler", "", 9, [X], {"scale": 0.5, "bias": [1.0, 2.0, 3.0]},
     lambda x: x / 2 + along(np.array([1, 2, 3], np.float32))),
    ("Cast", "", 1, [X], {"to": "INT32"}, lambda x: x.astype(np.int32)),
    ("Add", "", 6, [X, THREE[0]], {"axis": 1, "broadcast": 1}, lambda x, y: x + along(y)),
    ("Add", "", 6, [X, X[0, 0]], {"broadcast": 1}, lambda x, y: x + y),
    ("Mul", "", 1, [X, X[0, :, :, 0]], {"axis": -3, "broadcast": 1}, lambda x, y: x * y[..., np.newaxis]),
    ("PRelu", "", 6, [X, THREE[0]], {}, lambda x, y: np.where(x < 0, x * along(y), x)),
    ("PRelu", "", 6, [X, THREE[0][:1]], {}, lambda x, y: np.where(x < 0, x * y, x)),
    ("Dropout", "", 7, [X], {"ratio": 0.25}, lambda x: x),
    ("LayerNormalization", "", 16, [ROWS.astype(np.float16), EIGHT[0]], {}, lambda x, y: normalized(x, (2,)) * y),
    ("DmlFusedAdd", DML, 1, [X, THREE[0][:, np.newaxis, np.newaxis]], {"fused_activation": "Relu"},
     lambda x, y: relu(x + y)),
    ("DmlFusedSum", DML, 1, [X, X[0], X[1]], {"fused_activation": "LeakyRelu", "fused_alpha": 0.5},
     lambda x, y, z: np.where(x + y + z < 0, (x + y + z) / 2, x + y + z)),
    ("DmlFusedInstanceNormalization", DML, 1, [X, *THREE[:2]], {"fused_activation": "Relu"},
     lambda x, y, z: relu(normalized(x, (2, 3)) * along(y) + along(z))),
    ("DmlFusedBatchNormalization", DML, 1, [X, *THREE], {"fused_activation": "Sigmoid"},
     lambda x, a, b, mean, v: 1 / (1 + np.exp(-((x - along(mean)) / np.sqrt(along(v) + 1e-5) * along(a) + along(b))))),
    ("DmlFusedMeanVarianceNormalization", DML, 1, [X], {"fused_activation": "Relu"},
     lambda x: relu(normalized(x, (0, 2, 3), 1e-9))),
]  # fmt: skip

REFUSED: list[tuple[str, str, int, list[Array | None], dict[str, Any], str]] = [
    ("IsInf", "", 20, [X], {"detect_negative": 0, "detect_positive": 0}, "DML-ONNX-unsupported"),
    ("Clip", "", 13, [X > 0], {}, "DML-ONNX-type"),
    ("GroupNorm", MS, 1, [NHWC, *EIGHT[:2]], {"groups": 3, "activation": 0}, "DML-ONNX-attribute-value"),
    ("EmbedLayerNormalization", MS, 1, [IDS, None, TABLES[0], numbers(5, 4), None, *EIGHT[:2]], {},
     "DML-ONNX-broadcast"),
    ("EmbedLayerNormalization", MS, 1, [IDS, None, TABLES[0], EIGHT[2], None, *EIGHT[:2]], {}, "DML-ONNX-rank"),
    ("QLinearConcat", MS, 1, [SCALES[0], ZEROS[0], BYTES[0], SCALES[0], ZEROS[1], BYTES[1][0], SCALES[1], ZEROS[0]],
     {"axis": 1}, "DML-ONNX-rank"),
    ("QuantizeLinear", "", 21, [X, numbers(2, 3, 4, 3)], {"block_size": 3, "axis": 3}, "DML-ONNX-unsupported"),
    ("SkipLayerNormalization", MS, 1, [ROWS, ROWS[0, 0, :3], EIGHT[0]], {}, "DML-ONNX-broadcast"),
    ("BiasSplitGelu", MS, 1, [X[..., :3], THREE[0]], {}, "DML-ONNX-unsupported"),
    ("Crop", "", 9, [X], {"border": [3, 0, 2, 0]}, "DML-ONNX-attribute-value"),
    ("Crop", "", 9, [X], {"border": [1, 1, 0, 0], "scale": [4, 3]}, "DML-ONNX-attribute-value"),
    ("Gelu", "", 20, [X], {"approximate": "x"}, "DML-ONNX-attribute-value"),
]  # fmt: skip
"""Nodes that have no descs, and the ids of the reasons."""


def model_of(
    operator: str, domain: str, opset: int, inputs: Sequence[Array | None], attributes: Any, outputs: list[str]
) -> Any:
    """A model of one node."""
    if domain == DML:
        attributes = {"fused_activation_domain": "", "fused_activation_since_version": 6, **attributes}
    names = ["" if one is None else f"i{place}" for place, one in enumerate(inputs)]
    node = helper.make_node(operator, names, outputs, domain=domain, **attributes)
    infos = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(one.dtype), one.shape)
        for name, one in zip(names, inputs, strict=True)
        if one is not None
    ]
    named = [ValueInfoProto(name=name) for name in outputs if name]
    opsets = [helper.make_opsetid(domain, opset)] + ([helper.make_opsetid("", 17)] if domain else [])
    return helper.make_model(helper.make_graph([node], "g", infos, named), opset_imports=opsets, ir_version=8)


def computed(model: Any, inputs: Sequence[Array]) -> list[Array]:
    """The outputs in ONNX Runtime."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    found: list[Array] = session.run(None, dict(zip((one.name for one in model.graph.input), inputs, strict=True)))
    return found


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: f"{case[0]}-{case[5]}")
def test_a_node_without_descs_is_refused(case: Any) -> None:
    operator, domain, opset, inputs, attributes, identifier = case
    model = model_of(operator, domain, opset, inputs, attributes, ["y"])
    given = tuple(one for one in inputs if one is not None)
    assert judge(Case(operator, operator, model, given, ())).why == identifier


def test_a_constant_of_nine_axes_is_read_under_the_sizes_that_its_reader_needs() -> None:
    scale = SCALES[0].reshape((1,) * 9)
    model = model_of("DequantizeLinear", MS, 1, [BYTES[0], scale], {}, ["y"])
    case = Case("nine", "DequantizeLinear", model, (BYTES[0], scale), (BYTES[0] * SCALES[0],))
    assert judge(case, [1]).verdict == judge(case, [0, 1]).verdict == "passed"


def look(operator: str, model: Any, inputs: Sequence[Array], expected: Sequence[Array]) -> None:
    outcome = judge(Case(operator, operator, model, tuple(inputs), tuple(expected)))
    assert outcome.verdict == "passed", outcome


@pytest.mark.parametrize("case", BY_ONNX_RUNTIME, ids=lambda case: f"{case[0]}-{case[2]}")
def test_the_values_are_those_of_onnx_runtime(case: Any) -> None:
    operator, domain, opset, inputs, attributes, outputs = case
    model = model_of(operator, domain, opset, inputs, attributes, outputs)
    given = [one for one in inputs if one is not None]
    look(operator, model, given, computed(model, given))


@pytest.mark.parametrize("case", BY_FORMULA, ids=lambda case: f"{case[0]}-{case[2]}")
def test_the_values_are_those_of_a_formula(case: Any) -> None:
    operator, domain, opset, inputs, attributes, formula = case
    model = model_of(operator, domain, opset, inputs, attributes, ["y"])
    expected = formula(*inputs)
    look(operator, model, inputs, [expected.astype(np.float32) if expected.dtype == np.float64 else expected])
