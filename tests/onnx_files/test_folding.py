"""Old versions of operators, folded and converted, give what onnxruntime gives, and folding has bounds.

The newest versions are in ``test_node_tests.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from each import each_of

pytest.importorskip("onnx", reason="needs onnx, which makes the models")
pytest.importorskip("onnxruntime", reason="needs onnxruntime, which runs the models")

import onnxruntime as ort
from onnx import TensorProto, ValueInfoProto, helper, numpy_helper

import dmlcy
from dmlcy._frontends.onnx import folding
from dmlcy._frontends.onnx.inlining import FUNCTIONS
from dmlcy._frontends.onnx.model import ONNX
from dmlcy._frontends.onnx.reader import decode
from dmlcy._frontends.onnx.tables import operator
from dmlcy._frontends.onnx.use import Unconverted
from dmlcy._frontends.onnx.values import LARGEST
from dmlcy._frontends.onnx.walk import Walk, _conversion
from dmlcy._generated.onnx import OPERATORS

DRAWN = np.random.default_rng(41)
X = DRAWN.normal(size=(2, 3, 4)).astype(np.float32)
WHOLE = np.array([[7, -7, 5], [-(2**31), 3, 0]], np.int32)
DIVISORS = np.array([2, -2, -3], np.int32)
BYTES = DRAWN.integers(0, 255, (3, 4)).astype(np.uint8)
FLAGS = np.array([True, False, True])


def i64(*values: int) -> Any:
    return np.array(values, np.int64)


CASES: list[tuple[str, int, tuple[Any, ...], dict[str, Any]]] = [
    ("ArgMax", 7, (X,), {"axis": 1}),
    ("ArgMin", 12, (np.array([[1, 0, 0]], np.float32),), {"axis": 1, "keepdims": 0, "select_last_index": 1}),
    ("Cast", 9, (np.array([-1.7, 0.2, 3.9], np.float32),), {"to": TensorProto.INT64}),
    ("Clip", 7, (X,), {"min": -0.5, "max": 0.25}),
    ("Concat", 7, (X, X + 1), {"axis": 2}),
    ("CumSum", 11, (X, np.array(1, np.int32)), {"exclusive": 1, "reverse": 1}),
    ("DequantizeLinear", 10, (BYTES, np.float32(0.5), np.uint8(9)), {}),
    ("DequantizeLinear", 13, (BYTES, np.array([0.5, 2, 4, 8], np.float32)), {}),
    ("Div", 7, (WHOLE, DIVISORS), {}),
    ("Equal", 11, (WHOLE, WHOLE * 1), {}),
    ("Expand", 8, (X[:, :1], i64(5, 1, 3, 1)), {}),
    ("EyeLike", 9, (X[0],), {"k": 1, "dtype": TensorProto.INT32}),
    ("Flatten", 9, (X,), {"axis": 2}),
    ("Gather", 11, (X, np.array([[0, -1], [2, 1]], np.int64)), {"axis": 1}),
    ("GatherElements", 11, (X, np.array([[[0, -1, 1, 0]]], np.int64)), {"axis": 1}),
    ("GatherND", 11, (X, np.array([[0, 1], [-1, 2]], np.int64)), {}),
    ("GatherND", 12, (X, np.array([[0], [2]], np.int64)), {"batch_dims": 1}),
    ("Max", 12, (WHOLE, DIVISORS, np.array(1, np.int32)), {}),
    ("Min", 8, (X, X[:, :1]), {}),
    ("Mod", 10, (WHOLE, DIVISORS), {}),
    ("Mod", 13, (X, X[:, :1]), {"fmod": 1}),
    ("Neg", 13, (WHOLE,), {}),
    ("OneHot", 11, (np.array([1, -1, 7]), np.array(3), np.array([0, 5])), {"axis": 0}),
    ("Pad", 13, (X, i64(0, 1, 0, 0, 2, 1)), {"mode": "reflect"}),
    ("QuantizeLinear", 10, (X * 99, np.float32(0.3), np.int8(3)), {}),
    ("QuantizeLinear", 13, (X * 99, np.array([0.3, 0.4, 0.6], np.float32), np.array([3, 4, 5], np.uint8)), {}),
    ("ReduceMax", 12, (X,), {"axes": [-1]}),
    ("ReduceMin", 13, (WHOLE,), {"keepdims": 0}),
    ("ReduceProd", 11, (WHOLE[:1],), {"axes": [1]}),
    ("ReduceSum", 11, (X,), {"axes": [0, 2], "keepdims": 0}),
    ("ReduceSum", 13, (X, i64()), {"noop_with_empty_axes": 1}),
    ("Reshape", 7, (X, i64(0, -1)), {}),
    ("Scatter", 9, (X, np.array([[[1, 0, 2, 1]]], np.int64), X[:1, 1:2]), {"axis": 1}),
    ("ScatterND", 11, (X, i64(1, -1).reshape(2, 1), X[::-1]), {}),
    ("Shape", 7, (X,), {}),
    ("Shape", 15, (X,), {"start": -2, "end": 9}),
    ("Slice", 7, (X,), {"starts": [1, -3], "ends": [2**40, -1], "axes": [1, 2]}),
    ("Slice", 10, (X, i64(-1, 3), i64(-9, 0), i64(1, 2), i64(-1, -2)), {}),
    ("Slice", 10, (X, i64(-9), i64(-(2**63)), i64(1), i64(-1)), {}),
    ("Split", 7, (X,), {"axis": 2, "split": [1, 3]}),
    ("Split", 18, (X,), {"axis": 1, "num_outputs": 2}),
    ("Squeeze", 11, (X[:, :1],), {"axes": [-2]}),
    ("Squeeze", 13, (X[:, :1],), {}),
    ("Sub", 13, (WHOLE, np.array(1, np.int32)), {}),
    ("Tile", 7, (X, i64(2, 1, 3)), {}),
    ("Transpose", 7, (X,), {}),
    ("Trilu", 14, (X, np.array(-1)), {"upper": 0}),
    ("Unsqueeze", 11, (X,), {"axes": [0, -1]}),
    ("Where", 9, (FLAGS, WHOLE, DIVISORS), {}),
]
FOLDED: list[tuple[str, int, tuple[Any, ...], dict[str, Any]]] = [
    ("Cast", 13, (X,), {"to": TensorProto.BOOL}),
    ("ConstantOfShape", 9, (i64(2, 0),), {"value": helper.make_tensor("v", TensorProto.INT32, [1], [7])}),
    ("ConstantOfShape", 9, (i64(2, 3),), {}),
    ("NonZero", 13, (np.array(3, np.int64),), {}),
    ("NonZero", 9, (np.array([[0, 1], [2, 0]], np.float32),), {}),
    ("Pad", 7, (X,), {"pads": [0, 1, -1, 0, 0, 2], "value": 1.5}),
    ("Pow", 13, (np.array([2, -3], np.int32), np.array([3, 2], np.int64)), {}),
    ("Pow", 13, (np.array([2.0, 9.0], np.float32), np.array([-1, 0], np.int64)), {}),
    ("Range", 11, (np.array(5), np.array(-2), np.array(-3)), {}),
    ("Range", 11, (np.float32(1), np.float32(2), np.float32(0.3)), {}),
    ("ScatterElements", 16, (X, np.array([[[1, 0, 1, 1]]], np.int64), X[:1, 1:2]), {"axis": 0, "reduction": "add"}),
]
"""Nodes that DirectML does not compute, or not as onnxruntime does on the CPU."""


@each_of("case", CASES + FOLDED)
def test_old_versions_give_what_onnxruntime_gives(case: tuple[str, int, tuple[Any, ...], dict[str, Any]]) -> None:
    name, opset, arrays, attributes = case
    outputs = ["y", "z"] if name == "Split" else ["y"]
    proto = _model(name, opset, arrays, attributes, outputs)
    wanted = ort.InferenceSession(proto.SerializeToString()).run(None, {})
    walk = Walk(decode("model.onnx", proto.SerializeToString(), None))
    assert [one.fate for one in walk.visits] == ["folded"], [one.problems for one in walk.visits]
    for output, expected in zip(outputs, wanted, strict=True):
        value = walk.scope[output].value
        assert value is not None and value.read is not None
        found = value.read()
        assert found.dtype == expected.dtype and found.shape == expected.shape, name
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6, err_msg=name)


@each_of("case", CASES)
def test_old_versions_are_converted(case: tuple[str, int, tuple[Any, ...], dict[str, Any]]) -> None:
    name, opset, arrays, attributes = case
    row = operator(ONNX, name)
    assert row is not None
    if not row.conversion:
        return
    outputs = ["y", "z"] if name == "Split" else ["y"]
    given = {f"x{at}": np.asarray(one) for at, one in enumerate(arrays) if at not in row.constants}
    proto = _model(name, opset, arrays, attributes, outputs, [*given])
    wanted = ort.InferenceSession(proto.SerializeToString()).run(None, given)
    walk = Walk(decode("model.onnx", proto.SerializeToString(), None))
    values = [walk.scope[output].value for output in outputs]
    made = [one.value for one in values if one is not None and one.value is not None]
    assert made and not walk.builder.violations, (name, [one.problems for one in walk.visits])
    inputs = [given[one.name] if one.read is None else one.read() for one in walk.inputs]
    found = dmlcy.compile(walk.builder.build(*made))(*(_plain(one) for one in inputs))
    for result, value, expected in zip(found if len(made) > 1 else [found], values, wanted, strict=True):
        assert value is not None and value.sizes == expected.shape, name
        array = result.view(expected.dtype).reshape(value.sizes)
        np.testing.assert_allclose(array, expected, rtol=1e-6, atol=1e-6, err_msg=name)


def _plain(array: Any) -> Any:
    return (array.view(np.uint8) if array.dtype == bool else array).reshape(array.shape or (1,))


def _model(
    name: str,
    opset: int,
    arrays: tuple[Any, ...],
    attributes: dict[str, Any],
    outputs: list[str],
    inputs: Sequence[str] = (),
) -> Any:
    """A model of one node, whose inputs are initializers, except the named inputs."""
    given = {f"x{at}": np.asarray(one) for at, one in enumerate(arrays)}
    node = helper.make_node(name, [*given], outputs, **attributes)
    constants = [numpy_helper.from_array(one, name) for name, one in given.items() if name not in inputs]
    known = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(given[name].dtype), given[name].shape)
        for name in inputs
    ]
    graph = helper.make_graph([node], "g", known, [ValueInfoProto(name=one) for one in outputs], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


REFUSED: list[tuple[str, tuple[Any, ...], dict[str, Any], str]] = [
    ("Div", (WHOLE, np.array(0, np.int32)), {}, "DML-ONNX-division-zero"),
    ("Gather", (X, i64(4)), {"axis": 1}, "DML-ONNX-index"),
    ("GatherND", (X, i64(0, -4)), {}, "DML-ONNX-index"),
    ("ScatterElements", (X[0, 0], i64(4), X[0, 0, :1]), {}, "DML-ONNX-index"),
    ("Expand", (np.ones((0, 1), np.int8), i64(0, 2**62)), {}, "DML-ONNX-fold-large"),
    ("Reshape", (X, i64(-1, -1)), {}, "DML-ONNX-reshape"),
    ("Squeeze", (X,), {}, ""),
    ("Transpose", (X,), {"perm": [0, 1, 1]}, "DML-ONNX-attribute-value"),
    ("Unsqueeze", (X, np.zeros(65, np.int64)), {}, "DML-ONNX-rank"),
]


@each_of("case", REFUSED)
def test_what_is_not_folded_has_an_id(case: tuple[str, tuple[Any, ...], dict[str, Any], str]) -> None:
    name, arrays, attributes, identifier = case
    walk = Walk(decode("model.onnx", _model(name, 18, arrays, attributes, ["y"]).SerializeToString(), None))
    (visit,) = walk.visits
    assert [one.identifier for one in visit.problems] == ([identifier] if identifier else []), name
    assert (visit.fate == "folded") == (not identifier)


LARGE: list[tuple[str, tuple[Any, ...]]] = [
    ("ConstantOfShape", (i64(LARGEST, 2),)),
    ("Expand", (np.ones(2, np.int8), i64(2**40, 2))),
    ("Range", (np.array(0), np.array(2**62), np.array(1))),
    ("Tile", (np.ones(2, np.int8), i64(2**62))),
]


@each_of("case", LARGE)
def test_large_constants_are_not_computed(case: tuple[str, tuple[Any, ...]]) -> None:
    """Their sizes are known."""
    name, arrays = case
    walk = Walk(decode("model.onnx", _model(name, 18, arrays, {}, ["y"]).SerializeToString(), None))
    value = walk.scope["y"].value
    assert value is not None and np.prod(value.sizes, dtype=object) > LARGEST
    if value.read is not None:
        with pytest.raises(Unconverted, match="DML-ONNX-fold-large"):
            value.read()


def test_the_tables_name_functions_that_exist() -> None:
    for key in OPERATORS:
        row = operator(*key)
        assert row is not None
        assert not row.fold or callable(folding.function(row.fold)), row.name
        assert not row.conversion or callable(_conversion(row.group, row.conversion)), row.name
        assert not row.inlined or callable(FUNCTIONS[row.inlined]), row.name
