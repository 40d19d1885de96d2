"""Arrays of bool are UINT8, and arrays without dimensions have the size 1: in calls, compiled operators and graphs."""

from __future__ import annotations

import numpy as np
import pytest

import dmlcy as dml

YES = np.array([[[[True, False, True]]]])
NO = np.array([[[[True, True, False]]]])


def test_calls_take_arrays_of_bool() -> None:
    found = dml.element_wise_logical_and(YES, NO)
    assert found.dtype == np.uint8 and found.tolist() == (YES & NO).view(np.uint8).tolist()
    moved = dml.space_to_depth(np.array([[[[True, False], [False, True]]]]), block_size=2)  # a compiled call
    assert moved.dtype == np.uint8 and moved.ravel().tolist() == [1, 0, 0, 1]
    joined = dml.join((YES, NO), axis=3)  # an array of tensors
    assert joined.dtype == np.uint8 and joined.ravel().tolist() == [1, 0, 1, 1, 1, 0]
    chosen = dml.element_wise_if(YES, np.array([[[[1, 2, 3]]]], np.float32), np.array([[[[4, 5, 6]]]], np.float32))
    assert chosen.tolist() == [[[[1, 5, 3]]]]


@pytest.mark.parametrize("name", ["depth_to_space1", "element_wise_bit_not"])
def test_compiled_operators_take_arrays_of_bool(name: str) -> None:
    x = np.zeros((1, 4, 1, 1), bool)
    x[0, 1] = True
    desc = dml.TensorDesc("UINT8", x.shape)
    op = dml.compile(
        dml.desc.DepthToSpace1(input=desc, block_size=2)
        if name == "depth_to_space1"
        else dml.desc.ElementWiseBitNot(input=desc)
    )
    assert op(x).tolist() == op(x.view(np.uint8)).tolist()


def test_arrays_without_dimensions_have_the_size_1() -> None:
    assert dml.activation_relu(np.array(-2, np.float32)).tolist() == [0]
    number = np.array(5, np.float32)
    assert dml.compile(dml.desc.ActivationRelu(input=dml.TensorDesc("FLOAT32", (1,))))(number).tolist() == [5]
    g = dml.Graph()
    x = g.input(dml.TensorDesc("FLOAT32", ()), name="x")
    assert x.desc.sizes == (1,)
    k = g.constant(np.array(3, np.float32))
    wide = g.input(dml.TensorDesc("FLOAT32", (1, 1, 1, 1)), name="wide")
    graph = g.build(g.element_wise_add(x, k), g.activation_relu(wide))
    assert [one.tolist() for one in dml.compile(graph)(x=number, wide=number)] == [[8], [[[[5]]]]]


def test_constants_and_inputs_of_graphs_take_arrays_of_bool() -> None:
    g = dml.Graph()
    x, k = g.input(dml.TensorDesc.from_array(YES), name="x"), g.constant(NO)
    assert x.desc.dtype.name == k.desc.dtype.name == "UINT8"
    op = dml.compile(g.build(g.element_wise_logical_and(x, k)))
    assert op(YES).tolist() == (YES & NO).view(np.uint8).tolist()


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(dml.InvalidDataTypeError, match="DML-ACTIVATION_ELU-input-dtype"):
        dml.activation_elu(YES)
    with pytest.raises(dml.InvalidDescError, match="DML-AVERAGE_POOLING-input-rank"):
        dml.average_pooling(np.array(1, np.float32), window_size=1)
    with pytest.raises(dml.InvalidDataTypeError):
        dml.element_wise_logical_not(YES, out=np.zeros(YES.shape, bool))  # what is written may be no bool
    with pytest.raises(dml.InvalidDataTypeError):
        dml.activation_relu(np.float32(1))  # a number is no array
    g = dml.Graph()
    two = g.input(dml.TensorDesc("FLOAT32", (2,)), name="two")
    with pytest.raises(dml.InvalidDescError, match="DML-GRAPH-array-sizes"):
        dml.compile(g.build(g.activation_relu(two)))(np.array(1, np.float32))


def test_dask_takes_arrays_of_bool() -> None:
    da = pytest.importorskip("dask.array")
    import dmlcy.dask as lazy

    found = lazy.element_wise_logical_and(da.from_array(YES, chunks=2), NO)
    assert found.dtype == np.uint8 and found.compute().tolist() == (YES & NO).view(np.uint8).tolist()
    assert lazy.activation_relu(da.from_array(np.array(2, np.float32))).compute().tolist() == [2]
