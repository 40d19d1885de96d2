"""Each function of dmlcy.directml gives what NumPy or PyTorch gives, for each data type that it takes."""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import truths
import truths_of_tensors
from each import each_of
from test_signatures import FUNCTIONS
from truths import OF_BITS, Array, Case, Tensor

from dmlcy import directml as d
from dmlcy import specs

CASES = {
    f"{case.function} {number}": case
    for number, case in enumerate([
        *truths.elementwise(), *truths.cast(), *truths_of_tensors.moved(), *truths_of_tensors.folded(),
        *truths_of_tensors.quantized(), *truths_of_tensors.trained(),
    ])
}  # fmt: skip
APART = {  # by tests of their own
    "broadcast", "reinterpret", "fill_value_constant", "fill_value_sequence", "gru", "random_generator", "roi_align",
    "roi_align_grad",
}  # fmt: skip
FOUR_BITS = {"INT4", "UINT4"}


def dtypes_of(case: Case) -> list[str]:
    """The data types that the operator takes for the tested tensor at any level."""
    name = case.of or next(iter(case.tensors))
    if case.tensors[name].dtype:
        return [case.tensors[name].dtype]
    operator = specs.operator(case.operator or FUNCTIONS[case.function]["operators"][-1])
    tensors = [one for one in operator["field"] if "Tensor" in one["name"] and "Output" not in one["name"]]
    place = 1 if case.of else 0
    rows = operator["types"][tensors[place]["dtype"]]
    found = {dtype.lower() for row in rows for dtype in row["any"] if dtype not in FOUR_BITS}
    return sorted(found - {*case.without})


def array_of(tensor: Tensor, dtype: str, random: np.random.Generator) -> Array:
    kind = np.dtype(tensor.dtype or dtype)
    if tensor.values is not None:
        found = np.asarray(tensor.values, np.float64)
        return np.abs(found).astype(kind) if kind.kind == "u" else found.astype(kind)
    low = max(tensor.low, 0) if kind.kind == "u" else tensor.low
    if kind.kind == "f":
        return np.asarray(random.uniform(low, tensor.high, tensor.sizes)).astype(kind)
    return random.integers(int(low), int(tensor.high) + 1, tensor.sizes).astype(kind)


def wide(array: Array, case: Case) -> Array:
    """The elements as a truth takes them."""
    if case.function in OF_BITS:
        return array
    return array.astype(np.float64 if array.dtype.kind == "f" else np.int64)


def compare(found: Array, expected: Any, near: float) -> None:
    expected = np.asarray(expected)
    assert found.shape == expected.shape
    if expected.dtype == found.dtype and found.dtype.itemsize < 8:
        assert found.tobytes() == expected.tobytes()
    elif found.dtype.kind != "f":
        exact = expected if expected.dtype == found.dtype else np.trunc(expected.astype(np.float64)).astype(np.int64)
        np.testing.assert_array_equal(found, exact.astype(found.dtype))
    else:
        bound = near * {2: 4e-3, 4: 2e-6, 8: 1e-15}[found.itemsize]
        np.testing.assert_allclose(found.astype(np.float64), expected, rtol=bound, atol=bound)


def run(case: Case, dtype: str) -> None:
    random = np.random.default_rng(7)
    arrays = {name: array_of(tensor, dtype, random) for name, tensor in case.tensors.items()}
    graph = d.Graph(d.Device())
    tensors = {name: graph.input(array.shape, array.dtype) for name, array in arrays.items()}
    asked = case.call(SimpleNamespace(**tensors))
    outputs = list(asked) if isinstance(asked, tuple) else [asked]
    assert all(isinstance(one, d.Expression) for one in outputs)
    found = graph.compile(outputs)({tensors[name]: array for name, array in arrays.items()})
    with np.errstate(all="ignore"):
        truth = case.truth(SimpleNamespace(**{name: wide(array, case) for name, array in arrays.items()}))
    for result, expected, expression in zip(
        found, truth if isinstance(truth, tuple) else (truth,), outputs, strict=True
    ):
        assert result.shape == expression.shape and result.dtype == expression.dtype
        compare(result, expected, case.near)


def test_every_function_has_a_case() -> None:
    assert {case.function for case in CASES.values()} | APART == {*FUNCTIONS}


@each_of("name", CASES)
def test_a_function_gives_the_truth(name: str) -> None:
    case = CASES[name]
    truth = case.truth
    while isinstance(truth, partial):
        truth = truth.args[0]
    if getattr(truth, "__qualname__", "").startswith("by_torch"):
        pytest.importorskip("torch")
    for dtype in dtypes_of(case):
        run(case, dtype)
