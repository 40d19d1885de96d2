"""Serialized graphs written and read again, by dmlcy and by the ``flatbuffers`` package."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from serialized_graphs import SCALARS, VALUES, WHOLE, dxdispatch_models, graph, graphs, many, plain

from dmlcy._errors import ModelError
from dmlcy._frontends.serialized.reader import read
from dmlcy._frontends.serialized.records import (
    Attribute,
    ConstantNode,
    GraphRecord,
    OperatorNode,
    Scalar,
    ScaleBias,
    Size2D,
    Tensor,
)
from dmlcy._frontends.serialized.schema import ATTRIBUTE, SCALAR
from dmlcy._frontends.serialized.writer import write


def places(record: Any) -> list[int]:
    """The bytes at which the records begin."""
    if isinstance(record, tuple):
        return [place for one in record for place in places(one)]
    if is_dataclass(record):
        inner = [place for one in fields(record) if one.compare for place in places(getattr(record, one.name))]
        return [record.at, *inner]  # type: ignore[union-attr]
    return []


@given(graphs)
@many
def test_what_is_written_is_read(record: GraphRecord) -> None:
    data = write(record)
    found = read(data)
    assert plain(found) == plain(record)
    assert write(found) == data
    assert len(data) % 4 == 0
    bytes_ = places(found)
    assert len({*bytes_}) == len(bytes_) and all(0 < one < len(data) and one % 4 == 0 for one in bytes_)


@given(graphs)
@many
def test_the_flatbuffers_package_writes_the_same_bytes_and_reads_the_same(record: GraphRecord) -> None:
    pytest.importorskip("flatbuffers", reason="flatbuffers is not installed")
    from flatbuffers_peer import Walk, as_walked, build

    data = write(record)
    assert data == build(record)
    assert repr(Walk(data).graph()) == repr(as_walked(record))


def test_every_member_of_the_unions_is_drawn() -> None:
    assert [*VALUES] == [*ATTRIBUTE.number] and [*SCALARS] == [*SCALAR.number]


@pytest.mark.parametrize("kind", VALUES)
def test_each_kind_of_attribute(kind: str) -> None:
    record = graph((Attribute("Name", kind, VALUES[kind]),))
    found = read(write(record))
    assert found == record
    assert type(found.nodes[2].attributes[0].value) is type(VALUES[kind])  # type: ignore[union-attr]


@pytest.mark.parametrize("kind", SCALARS)
def test_each_kind_of_scalar(kind: str) -> None:
    record = graph((Attribute("Value", "ScalarUnionData", Scalar(kind, SCALARS[kind])),))
    assert read(write(record)) == record


def test_a_graph_without_anything() -> None:
    record = GraphRecord((), (), ())
    assert read(write(record)) == record


def test_the_example_of_dxdispatch_is_read_and_written_byte_for_byte() -> None:
    data = (dxdispatch_models() / "matmul_add" / "Partition_0.bin").read_bytes()
    found = read(data)
    assert write(found) == data and len(data) == 1152
    assert [type(node) for node in found.nodes] == [ConstantNode, ConstantNode, OperatorNode]
    gemm = found.nodes[2]
    assert isinstance(gemm, OperatorNode) and gemm.type == "DML_OPERATOR_GEMM" and gemm.at == 80
    assert [one.sizes for one in gemm.inputs] == [(1, 1, 1, 5), (1, 1, 5, 5), (1, 1, 1, 5)]
    assert [one.name for one in gemm.attributes] == ["TransA", "TransB", "Alpha", "Beta", None]
    assert (found.input_names, found.output_names) == (("model_input",), ("model_output",))


def test_records_are_frozen_and_compared_without_their_place() -> None:
    found = read(write(WHOLE))
    assert found == WHOLE and hash(found) == hash(WHOLE) and found.at != WHOLE.at == -1
    with pytest.raises(AttributeError):
        found.nodes[0].name = "other"  # type: ignore[misc]


def changed(record: Any, **values: object) -> Any:
    """The record with values that need not have the right types."""
    return replace(record, **values)


BAD: list[tuple[Any, str]] = [
    ("graph", "the graph is"),
    (changed(WHOLE, nodes=None), "nodes of the graph is None"),
    (changed(WHOLE, nodes=(1,)), "a node of the graph is 1"),
    (changed(WHOLE, input_names="x"), 'input_names of the graph is "x"'),
    (changed(WHOLE, output_names=(1,)), "a name is 1"),
    (replace(WHOLE, output_names=("\ud800",)), "a text that UTF-8 can hold"),
]
OPERATORS: list[tuple[dict[str, Any], str]] = [
    ({"name": None}, "name of DmlGraphNode is None"),
    ({"type": 3}, "type of OperatorNodeDesc is 3"),
    ({"input_names": None}, "input_names of a node is None"),
    ({"output_names": (3,)}, "a name is 3"),
    ({"inputs": None}, "inputs of OperatorNodeDesc is None"),
    ({"inputs": (None,)}, "a part of a node is None"),
    ({"attributes": (None,)}, "an attribute is None"),
]
TENSORS: list[tuple[dict[str, Any], str]] = [
    ({"data_type": None}, "dataType of DmlBufferTensorDesc is None"),
    ({"sizes": None}, "sizes of DmlBufferTensorDesc is None"),
    ({"sizes": (1, 2**32)}, "sizes of DmlBufferTensorDesc is 4294967296, and must be an integer from 0 to 4294967295"),
    ({"sizes": (1.5,)}, "is 1.5, and must be an integer"),
    ({"strides": (-1,)}, "strides of DmlBufferTensorDesc is -1"),
    ({"total_size_in_bytes": -1}, "totalTensorSizeInBytes of DmlBufferTensorDesc is -1"),
    ({"total_size_in_bytes": 2**64}, "totalTensorSizeInBytes of DmlBufferTensorDesc is 18446744073709551616"),
    ({"total_size_in_bytes": None}, "totalTensorSizeInBytes of DmlBufferTensorDesc is None"),
]
ATTRIBUTES: list[tuple[Any, Any, str]] = [
    ("UInt8", 1, 'val of AttributeDesc is "UInt8", and must be one of Activation, '),
    (None, 1, "val of AttributeDesc is None"),
    ("UInt32", None, "val of AttributeDesc is None"),
    ("UInt32", -1, "an integer from 0 to 4294967295"),
    ("Int32", 2**31, "an integer from -2147483648 to 2147483647"),
    ("Float32", 1e39, "a number of FLOAT32"),
    ("Float32", "1", "a number of FLOAT32"),
    ("Bool", 1, "True or False"),
    ("Size2D", (1,), "2 entries"),
    ("Size2D", Size2D(1, -1), "is -1"),
    ("ScaleBias", ScaleBias(1.0, None), "is None, and must be a number of FLOAT32"),  # type: ignore[arg-type]
    ("UIntArray", 3, "is 3, and must be a tuple"),
    ("IntArray", (0, "a"), 'is "a"'),
    ("ScalarUnionData", 1.0, "a scalar union is 1.0"),
    ("ScalarUnionData", Scalar("Half", 1.0), "data of ScalarUnionData is"),
    ("ScalarUnionData", Scalar("ByteArray", b"1234567"), "8 entries"),
    ("Activation", 1, "a part of a node is 1, and must be Activation"),
    ("ActivationArray", (None,), "a part of a node is None"),
]


def refused(record: Any, message: str) -> None:
    with pytest.raises(ModelError) as caught:
        write(record)
    assert caught.value.id == "DML-GRAPH-file-value" and message in str(caught.value)


@pytest.mark.parametrize("record, message", BAD)
def test_a_graph_that_cannot_be_written(record: Any, message: str) -> None:
    refused(record, message)


@pytest.mark.parametrize("changes, message", OPERATORS)
def test_a_node_that_cannot_be_written(changes: dict[str, Any], message: str) -> None:
    refused(replace(WHOLE, nodes=(replace(WHOLE.nodes[2], **changes),)), message)


@pytest.mark.parametrize("changes, message", TENSORS)
def test_a_tensor_that_cannot_be_written(changes: dict[str, Any], message: str) -> None:
    tensor = replace(Tensor("DML_TENSOR_DATA_TYPE_INT8", (1,), (1,), 4), **changes)
    refused(replace(WHOLE, nodes=(changed(WHOLE.nodes[2], outputs=(tensor,)),)), message)


@pytest.mark.parametrize("kind, value, message", ATTRIBUTES)
def test_an_attribute_that_cannot_be_written(kind: Any, value: Any, message: str) -> None:
    refused(graph((Attribute("Name", kind, value),)), message)


@pytest.mark.parametrize("data", [None, 3, bytearray(b"123")])
def test_a_constant_that_cannot_be_written(data: Any) -> None:
    refused(GraphRecord((ConstantNode("c", (), (), data),), (), ()), "data of ConstantRawData is")


def test_a_file_that_is_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dmlcy._frontends.serialized.builder.LARGEST", 500)
    monkeypatch.setattr("dmlcy._frontends.serialized.flat.LARGEST", 500)
    small = GraphRecord((ConstantNode("c", (), (), bytes(300)),), (), ())
    assert read(write(small)) == small
    with pytest.raises(ModelError, match="at most 500") as caught:
        write(WHOLE)
    assert caught.value.id == "DML-GRAPH-file-size"
    with pytest.raises(ModelError, match="from 8 to 500") as caught:
        read(bytes(501))
    assert caught.value.id == "DML-GRAPH-file-size"


@pytest.mark.parametrize("kind", ["Activation", "ActivationArray", "ScaleBias"])
def test_what_is_left_out_is_not_the_same_as_empty(kind: str) -> None:
    record = graph((Attribute(None, kind, None), Attribute("B", "ActivationArray", ())))
    found = read(write(record)).nodes[2]
    assert isinstance(found, OperatorNode)
    assert [(one.name, one.value) for one in found.attributes] == [(None, None), ("B", ())]


def test_numbers_of_numpy_are_written() -> None:
    sizes = tuple(np.array([1, 2, 3], np.uint32))
    tensor = Tensor("DML_TENSOR_DATA_TYPE_FLOAT32", sizes, None, np.int64(24))  # type: ignore[arg-type]
    record = GraphRecord((OperatorNode("n", "T", (), (), (tensor,), (), ()),), (), ())
    found = read(write(record))
    assert found == record and type(found.nodes[0].inputs[0].total_size_in_bytes) is int  # type: ignore[union-attr]
