"""``dmlcy.testing.assert_result``: what a correct device may give passes, what dmlcy promises of itself by request."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from strategies import Array

import dmlcy as dml
from dmlcy import testing
from dmlcy._judge.passes import judged

TESTS = Path(__file__).parents[1]
BOUNDS = ("device", "own")
ROW = np.ones((1, 1, 1, 4), np.float32)
SINGLE = dml.TensorDesc("FLOAT32", (1, 1, 1, 1024))


def calls(path: Path) -> list[ast.Call]:
    """The calls of ``assert_result`` in a file."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return [one for one in found if getattr(one.func, "attr", getattr(one.func, "id", "")) == "assert_result"]


def test_our_own_tests_hold_results_against_our_own_bound() -> None:
    """The error that a device may have is too large for the loops of dmlcy. Only this file tests both bounds."""
    found = {path: calls(path) for path in TESTS.rglob("*.py") if path != Path(__file__)}
    assert sum(map(len, found.values())) > 8
    for path, several in found.items():
        for one in several:
            said = {keyword.arg: getattr(keyword.value, "value", None) for keyword in one.keywords}
            assert said.get("bound") == "own", f"{path}:{one.lineno}"


def product(a: Array, b: Array) -> tuple[dml.desc.Gemm, dict[str, Array]]:
    """The desc of the product of a row and a column, and its arrays."""
    a_, b_ = (dml.TensorDesc.from_array(one) for one in (a, b))
    output = dml.TensorDesc(a_.dtype, (1, 1, 1, 1))
    return dml.desc.Gemm(a=a_, b=b_, output=output, trans_b="TRANSPOSE", alpha=1.0, beta=0.0), {"a": a, "b": b}


def test_sums_in_float32_pass_as_those_of_a_device() -> None:
    """By default; dmlcy promises more of itself. A fault of a thousandth passes neither."""
    x = np.random.default_rng(3).random(SINGLE.sizes, np.float32)
    output = dml.TensorDesc("FLOAT32", (1, 1, 1, 1))
    desc, arrays = dml.desc.Reduce(function="SUM", input=SINGLE, output=output, axes=[3]), {"input": x}
    total = np.float32(0)
    for one in x.ravel():
        total += one
    result = np.full(output.sizes, total)
    testing.assert_result(desc, arrays, result)
    testing.assert_result(desc, arrays, result, bound="device")
    with pytest.raises(AssertionError, match=r"reduce: 1 of 1 elements are wrong, the worst at \(0, 0, 0, 0\): "):
        testing.assert_result(desc, arrays, result, bound="own")
    for bound in BOUNDS:
        testing.assert_result(desc, arrays, dml.compile(desc)(x), bound=bound)  # type: ignore[arg-type]
        with pytest.raises(AssertionError, match=" pass"):
            testing.assert_result(desc, arrays, result * np.float32(1.001), bound=bound)  # type: ignore[arg-type]


def test_the_last_number_that_passes_and_the_next_one() -> None:
    a, b = np.full(SINGLE.sizes, 3, np.float32), np.full(SINGLE.sizes, 0.1, np.float32)
    desc, arrays = product(a, b)
    values, passes = judged(desc, arrays, "output")
    assert passes.allowed is not None
    last = np.asarray(values + passes.allowed).astype(np.float32)
    while abs(float(last.item()) - float(values.item())) > passes.allowed.item():
        last = np.nextafter(last, np.float32(0))
    while abs(float(np.nextafter(last, np.float32(np.inf)).item()) - float(values.item())) <= passes.allowed.item():
        last = np.nextafter(last, np.float32(np.inf))
    testing.assert_result(desc, arrays, last)
    with pytest.raises(AssertionError) as caught:
        testing.assert_result(desc, arrays, np.nextafter(last, np.float32(np.inf)))
    assert f" off, and {passes.allowed.item():.3g} pass. " in str(caught.value)


@pytest.mark.parametrize("bound", BOUNDS)
def test_what_only_moves_is_exact(bound: Any) -> None:
    x = np.array([[1, -0.0, np.nan], [np.inf, 1e-45, 2]], np.float32)
    desc = dml.desc.Padding1(input=dml.TensorDesc.from_array(x), start_padding=1, end_padding=0)
    result = np.array(dml.compile(desc)(x))
    testing.assert_result(desc, {"input": x}, result, bound=bound)
    for at in ((1, 1), (2, 2)):
        wrong = result.copy()
        wrong[at] = np.nextafter(wrong[at], np.float32(9))
        with pytest.raises(AssertionError, match=f"padding1: 1 of 12 elements are wrong, the worst at \\({at[0]}, "):
            testing.assert_result(desc, {"input": x}, wrong, bound=bound)


def test_elements_that_nobody_promises_pass_for_a_device() -> None:
    three = dml.TensorDesc("INT32", (3,))
    desc = dml.desc.ElementWiseDivide(a=three, b=three)
    arrays = {"a": np.array([6, 1, 5], np.int32), "b": np.array([2, 0, 5], np.int32)}
    testing.assert_result(desc, arrays, np.array([3, 99, 1], np.int32))
    for result, bound in (([4, 99, 1], "device"), ([3, 99, 1], "own")):
        with pytest.raises(AssertionError, match="1 of 3 elements are wrong"):
            testing.assert_result(desc, arrays, np.array(result, np.int32), bound=bound)  # type: ignore[arg-type]


def test_a_device_may_flush_subnormal_operands() -> None:
    two = dml.TensorDesc("FLOAT32", (2,))
    desc = dml.desc.ElementWiseMultiply(a=two, b=two)
    arrays = {"a": np.array([1e-40, 2], np.float32), "b": np.array([1e30, 3], np.float32)}
    exact = dml.compile(desc)(*arrays.values())
    for result in (exact, np.array([0, 6], np.float32)):
        testing.assert_result(desc, arrays, result)
    with pytest.raises(AssertionError):
        testing.assert_result(desc, arrays, np.array([exact[0] / 2, 6], np.float32))
    with pytest.raises(AssertionError):
        testing.assert_result(desc, arrays, np.array([0, 6], np.float32), bound="own")


@pytest.mark.parametrize("bound", BOUNDS)
def test_each_of_several_outputs_is_looked_at(bound: Any) -> None:
    x = np.arange(6, dtype=np.float32).reshape(1, 1, 2, 3)
    desc = dml.desc.MaxPooling1(
        input=dml.TensorDesc.from_array(x), window_size=2, output_indices=dml.TensorDesc("UINT32", (1, 1, 1, 2))
    )
    values, indices = dml.compile(desc)(x)
    testing.assert_result(desc, {"input": x}, (values, indices), bound=bound)
    with pytest.raises(AssertionError, match="1 of 2 elements are wrong"):
        testing.assert_result(desc, {"input": x}, (values, indices + np.array([0, 1], np.uint32)), bound=bound)
    with pytest.raises(AssertionError, match="the result has 1 array, and must have 2: output, output_indices"):
        testing.assert_result(desc, {"input": x}, values, bound=bound)


@pytest.mark.parametrize("bound", BOUNDS)
def test_results_of_other_sizes_or_types_are_refused(bound: Any) -> None:
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    desc = dml.desc.Padding1(input=dml.TensorDesc.from_array(x), start_padding=1, end_padding=0)
    result = dml.compile(desc)(x)
    testing.assert_result(desc, {"input": x}, result, bound=bound)
    testing.assert_result(desc, {"input": x}, result.reshape(1, 3, 4), bound=bound)
    for wrong in (result[:2], result.astype("f8"), result.ravel()):
        with pytest.raises(AssertionError, match=r"the result is .* and must be float32 \(3, 4\)"):
            testing.assert_result(desc, {"input": x}, wrong, bound=bound)


@pytest.mark.parametrize("bound", BOUNDS)
def test_an_input_that_is_left_out_may_be_none(bound: Any) -> None:
    desc, arrays = product(ROW, ROW)
    testing.assert_result(desc, arrays | {"c": None}, dml.compile(desc)(ROW, ROW), bound=bound)
    assert testing.expected(desc, arrays | {"c": None}).values.shape == (1, 1, 1, 1)  # type: ignore[arg-type]


@pytest.mark.parametrize("bound", ["", "gpu", None])
def test_another_bound_is_refused(bound: Any) -> None:
    x = np.ones(3, np.float32)
    desc = dml.desc.Padding1(input=dml.TensorDesc.from_array(x), start_padding=0, end_padding=0)
    with pytest.raises(ValueError, match=r"bound must be 'device' or 'own', not .*"):
        testing.assert_result(desc, {"input": x}, x, bound=bound)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "the input a of gemm is missing"),
        ({"a": ROW, "b": ROW, "c": ROW}, "the input c of gemm is not in the desc"),
        ({"a": ROW, "b": ROW, "x": ROW}, "gemm has no input 'x': its inputs are a, b, c"),
        ({"a": ROW, "b": ROW[..., :2]}, r"the input b of gemm is float32 \(1, 1, 1, 2\), and must be float32"),
        ({"a": ROW, "b": ROW.astype("f8")}, "the input b of gemm is float64"),
    ],
)
def test_inputs_that_are_not_those_of_the_desc(given: dict[str, Any], message: str) -> None:
    desc, _ = product(ROW, ROW)
    for bound in ("device", "own"):
        with pytest.raises(ValueError, match=message):
            testing.assert_result(desc, given, np.zeros((1, 1, 1, 1), np.float32), bound=bound)
