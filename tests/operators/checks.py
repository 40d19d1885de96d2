"""What holds for every operator, and runs of other libraries."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections.abc import Callable
from enum import Enum
from typing import Any

import numpy as np
import pytest
import reference
from hypothesis import strategies as st
from strategies import Array, Placed, layouts

import dmlcy as dml
from dmlcy._check.checker import Check
from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._facts.levels import NEWEST
from dmlcy._facts.tables import OPERATORS

PYTHON_NAMES = {operator.python: operator for operator in OPERATORS.values()}


def assert_same_bits(actual: Any, expected: Array | tuple[Array, ...]) -> None:
    """The same data type, sizes and bytes: NaN payloads and signs of zeros count. Of several outputs, all of them."""
    if isinstance(expected, tuple):
        for one, wanted in zip(actual, expected, strict=True):
            assert_same_bits(one, wanted)
        return
    assert (actual.dtype, actual.shape) == (expected.dtype, expected.shape)
    bits = f"u{expected.itemsize}"
    if not np.array_equal(actual.view(bits), expected.view(bits)):
        np.testing.assert_array_equal(actual, expected)
        np.testing.assert_array_equal(actual.view(bits), expected.view(bits))


def assert_same_values(actual: Any, expected: Array | tuple[Array, ...]) -> None:
    """The same data type, sizes and bytes, but for those of NaN."""
    if isinstance(expected, tuple):
        for one, wanted in zip(actual, expected, strict=True):
            assert_same_values(one, wanted)
        return
    nan = np.isnan(expected)
    np.testing.assert_array_equal(np.isnan(actual), nan)
    zero = expected.dtype.type(0)
    assert_same_bits(np.where(nan, zero, actual), np.where(nan, zero, expected))


def last_place(scale: Array, dtype: Any) -> Array:
    """A unit in the last place of numbers of this size, in float64."""
    limits = np.finfo(dtype)
    return np.ldexp(1.0, np.frexp(np.maximum(scale, float(limits.smallest_normal)))[1] - 1 - limits.nmant)


def assert_within(actual: Array, average: reference.Average, bound: float) -> None:
    """Every result is within so many units in the last place of the sum of magnitudes by the divisor."""
    exact = average.mean()
    assert actual.shape == exact.shape
    np.testing.assert_array_equal(np.isnan(actual[np.isnan(exact)]), True)
    # A float32 sum whose parts may overflow says nothing.
    safe = average.magnitude <= 0.999 * float(np.finfo("f4").max)
    assert actual.dtype == np.float32 or safe.all()
    infinite, checked = safe & np.isinf(exact), safe & np.isfinite(exact)
    np.testing.assert_array_equal(actual[infinite], exact[infinite])
    scale = average.magnitude[checked] / np.maximum(average.divisor[checked], 1)
    error = np.abs(actual[checked].astype(np.float64) - exact[checked]) / last_place(scale, actual.dtype)
    assert error.size == 0 or error.max() <= bound, f"{error.max()} ulp, the bound is {bound}"


def assert_norm(actual: Array, expected: reference.Norm, bound: float) -> None:
    """Every result is within so many units in its last place, where its power is a normal number of float64."""
    norm, power = expected
    assert actual.shape == norm.shape
    np.testing.assert_array_equal(np.isnan(actual), np.isnan(norm))
    with np.errstate(over="ignore"):
        exact = np.isinf(norm) | (norm == 0)
        beyond = np.isinf(norm.astype(actual.dtype)) & (np.isinf(actual) | exact)
    np.testing.assert_array_equal(actual[exact], norm[exact].astype(actual.dtype))
    checked = np.isfinite(norm) & ~exact & ~beyond & (power > 1e-290) & (power < 1e300)
    error = np.abs(actual[checked].astype(np.float64) - norm[checked]) / last_place(norm[checked], actual.dtype)
    assert error.size == 0 or error.max() <= bound, f"{error.max()} ulp, the bound is {bound}"


def attributes(desc: OperatorDesc) -> dict[str, Any]:
    """What a call of its operator takes besides tensors."""
    return own_attributes(desc) | requests(desc)


def own_attributes(desc: OperatorDesc) -> dict[str, Any]:
    """The same for the first output alone."""
    return desc.operator.arguments(desc)


def requests(desc: OperatorDesc) -> dict[str, str]:
    """What a call says to get the optional outputs of a desc."""
    fields = [field for field in desc.operator.fields if field.kind == "output" and field.optional]
    given = {field.python: getattr(desc, field.python) for field in fields}
    return {name: tensor.dtype.name for name, tensor in given.items() if tensor is not None}


def assert_defined(actual: Any, desc: OperatorDesc, arrays: dict[str, Array]) -> None:
    """What the definition gives: the same bits, or within the accuracy that the spec states."""
    given = {name: value.name if isinstance(value, Enum) else value for name, value in attributes(desc).items()}
    with np.errstate(all="ignore"):
        expected = getattr(reference, desc.operator.python)(*arrays.values(), **given)
    if isinstance(expected, reference.Average):
        values = Check(desc.operator, desc.values(), NEWEST, call=False).rules
        assert_within(actual, expected, desc.operator.accuracy[str(actual.dtype).upper()].ulp.function(values))
    elif isinstance(expected, reference.Norm):
        values = Check(desc.operator, desc.values(), NEWEST, call=False).rules
        assert_norm(actual, expected, desc.operator.accuracy[str(actual.dtype).upper()].ulp.function(values))
    else:
        assert_same_values(actual, expected)


def assert_same_output_on_any_processor(program: str) -> None:
    """What a program prints does not depend on the instruction set."""
    command = [sys.executable, "-P", "-c", textwrap.dedent(program)]
    results = [
        subprocess.run(command, timeout=60, check=True, capture_output=True, env={**os.environ, **isa}).stdout
        for isa in ({}, {"DMLCY_ISA": "baseline"})
    ]
    assert results[0] == results[1] != b""


def compiled(name: str, inputs: list[Array], attributes: dict[str, Any]) -> Any:
    """The operator, checked once for tensors like `inputs`."""
    operator, given = PYTHON_NAMES[name], dict(attributes)
    fields = [field.python for field in operator.fields if field.kind == "input"]
    tensors = {field: dml.TensorDesc(x.dtype, x.shape) for field, x in zip(fields, inputs, strict=True)}
    chosen = {field.python for field in operator.chosen}
    if chosen:
        resolved = Check(operator, {**tensors, **attributes}, NEWEST, call=True).resolved
        tensors |= {field.python: resolved[field.python] for field in operator.fields if operator.is_open(field)}
    optional = [field.python for field in operator.fields if field.optional]
    asked = {name: given.pop(name) for name in optional if name in given}
    given = {key: value for key, value in given.items() if key not in chosen}
    desc = getattr(dml.desc, operator.desc)(**tensors, **given)
    outputs = {field: dml.TensorDesc(dtype, desc.output.sizes) for field, dtype in asked.items() if dtype}
    return dml.compile(getattr(dml.desc, operator.desc)(**tensors, **outputs, **given))


def check_everywhere(
    data: st.DataObject,
    name: str,
    values: list[Array],
    attributes: dict[str, Any],
    assert_same: Callable[[Any, Any], None] = assert_same_bits,
) -> None:
    """Any layout of inputs and output, called and compiled: what contiguous arrays give."""
    function = getattr(dml, name)
    inputs = [data.draw(layouts(x.ndim, repeats=True)).hold(x) for x in values]
    views = [placed.view for placed in inputs]
    plain = [np.array(view, order="C") for view in views]
    expected: Array | tuple[Array, ...] = function(*plain, **attributes)
    several = isinstance(expected, tuple)
    for one in expected if several else (expected,):
        assert one.flags.c_contiguous and one.flags.owndata and one.flags.writeable

    def check(result: Any) -> None:
        for one in result if several else (result,):
            assert type(one) is np.ndarray and one.flags.c_contiguous
        assert_same(result, expected)

    def check_out(run: Any) -> None:
        outs: list[Placed] = [
            data.draw(layouts(one.ndim, repeats=False)).place(one.shape, one.dtype)
            for one in (expected if several else (expected,))
        ]
        out = tuple(placed.view for placed in outs) if several else outs[0].view
        assert run(out=out) is out
        assert_same(out, expected)
        for placed in outs:
            placed.assert_unchanged_outside()

    operator = compiled(name, plain, attributes)
    check(function(*views, **attributes))
    check_out(lambda out: function(*views, **attributes, out=out))
    check(operator(*views))
    check_out(lambda out: operator(*views, out=out))
    for placed in inputs:
        placed.assert_unchanged()


def onnx_run(op_type: str, opset: int, inputs: list[Array], outputs: int = 1, **attributes: Any) -> Any:
    """Run one operator of ONNX in ONNX Runtime; several outputs are a tuple."""
    onnx = pytest.importorskip("onnx", reason="onnx is not installed")
    runtime = pytest.importorskip("onnxruntime", reason="ONNX Runtime is not installed")
    helper = onnx.helper
    feeds = {f"input{number}": x for number, x in enumerate(inputs)}
    types = {name: helper.np_dtype_to_tensor_dtype(x.dtype) for name, x in feeds.items()}
    results = {f"output{number}": onnx.TensorProto.INT64 if number else types["input0"] for number in range(outputs)}
    node = helper.make_node(op_type, list(feeds), list(results), **attributes)
    graph = helper.make_graph(
        [node],
        "graph",
        [helper.make_tensor_value_info(name, types[name], x.shape) for name, x in feeds.items()],
        [helper.make_tensor_value_info(name, type_, None) for name, type_ in results.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    session = runtime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    results = tuple(np.asarray(result) for result in session.run(None, feeds))
    return results if outputs > 1 else results[0]
