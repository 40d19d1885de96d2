"""The data type of truth values that a call or a graph does not choose: UINT8, at the levels that have it."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import dmlcy as dml
from dmlcy._compile import function
from dmlcy._facts.tables import OPERATORS

KINDS = ("EQUALS", "GREATER_THAN", "GREATER_THAN_OR_EQUAL", "LESS_THAN", "LESS_THAN_OR_EQUAL")
COMPARISONS = [f"ELEMENT_WISE_LOGICAL_{kind}" for kind in KINDS]
TESTS = ["ELEMENT_WISE_IS_NAN", "ELEMENT_WISE_IS_INFINITY"]
X = np.array([[[[1, np.nan, np.inf]]]], np.float32)


@pytest.mark.parametrize("name", [*COMPARISONS, *TESTS])
def test_truth_values_are_uint8(name: str) -> None:
    call, python = function(name), OPERATORS[name].python
    arrays = [X] * (2 if name in COMPARISONS else 1)
    assert call(*arrays).dtype == np.uint8
    g = dml.Graph()
    x = g.input(dml.TensorDesc.from_array(X), name="x")
    value = getattr(g, python)(*[x] * len(arrays))
    assert value.desc.dtype.name == "UINT8"
    assert dml.compile(g.build(value))(X).dtype == np.uint8
    if "output_dtype" in inspect.signature(call).parameters and name != TESTS[1]:
        assert call(*arrays, output_dtype="UINT32").dtype == np.uint32
        assert call(*arrays, out=np.zeros(X.shape, np.uint32)).dtype == np.uint32
        assert "None: UINT8" in (call.__doc__ or "")


@pytest.mark.parametrize("name", ["ELEMENT_WISE_LOGICAL_EQUALS", "ELEMENT_WISE_LOGICAL_LESS_THAN"])
def test_before_the_level_of_uint8_they_are_uint32(name: str) -> None:
    with dml.feature_level("1_0"):
        assert function(name)(X, X).dtype == np.uint32
    with dml.feature_level("2_0"):
        assert function(name)(X, X).dtype == np.uint8


def test_truth_values_of_different_operators_go_together() -> None:
    """A chain as a front end builds it: no data type is named, and bool arrays go in."""
    g = dml.Graph()
    x = g.input(dml.TensorDesc.from_array(X), name="x")
    mask = g.input(dml.TensorDesc("UINT8", X.shape), name="mask")
    odd = g.element_wise_logical_or(g.element_wise_is_nan(x), g.element_wise_is_infinity(x))
    small = g.element_wise_logical_and(g.element_wise_logical_less_than(x, x), mask)
    both = g.element_wise_logical_xor(odd, g.element_wise_logical_not(small))
    graph = g.build(g.element_wise_if(both, x, g.constant(np.zeros(X.shape, np.float32))))
    assert dml.check(graph) == []
    assert dml.compile(graph)(X, np.ones(X.shape, bool)).tolist() == [[[[1, 0, 0]]]]


def test_dask_gives_uint8() -> None:
    da = pytest.importorskip("dask.array")
    import dmlcy.dask as lazy

    found = lazy.element_wise_logical_equals(da.from_array(X, chunks=2), X)
    assert found.dtype == np.uint8 and found.compute().dtype == np.uint8
    assert lazy.element_wise_is_nan(da.from_array(X, chunks=2)).dtype == np.uint8


def test_counts_of_bits_are_uint32_as_before() -> None:
    assert dml.element_wise_bit_count(np.ones(3, np.uint8)).dtype == np.uint32
