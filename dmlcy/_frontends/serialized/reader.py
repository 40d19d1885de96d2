"""The bytes of a serialized graph as records."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from dmlcy._frontends.serialized.flat import Make, Reader
from dmlcy._frontends.serialized.records import (
    Activation,
    Attribute,
    ConstantNode,
    GraphRecord,
    OperatorNode,
    Scalar,
    ScaleBias,
    Size2D,
    Tensor,
)
from dmlcy._frontends.serialized.schema import ROOT


class _Operator(NamedTuple):
    """OperatorNodeDesc."""

    type: str
    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]
    attributes: tuple[Attribute, ...]


def read(data: bytes) -> GraphRecord:
    """The graph in the bytes of a file; ModelError with an id DML-GRAPH-file-… where they are not one."""
    graph: GraphRecord = Reader(data, _MAKE).root()
    return graph


def _graph(at: int, fields: list[Any]) -> GraphRecord:
    nodes, inputs, outputs = fields
    return GraphRecord(nodes, inputs, outputs, at)


def _tensor(at: int, fields: list[Any]) -> Tensor:
    data_type, sizes, strides, total = fields
    return Tensor(data_type, sizes, strides, total, at)


def _activation(at: int, fields: list[Any]) -> Activation:
    kind, attributes = fields
    return Activation(kind, attributes, at)


def _node(at: int, fields: list[Any]) -> OperatorNode | ConstantNode:
    (_, desc), name, inputs, outputs = fields
    if isinstance(desc, _Operator):
        return OperatorNode(name, desc.type, inputs, outputs, desc.inputs, desc.outputs, desc.attributes, at)
    return ConstantNode(name, inputs, outputs, desc, at)


def _attribute(at: int, fields: list[Any]) -> Attribute:
    name, (kind, value) = fields
    if kind in _VALUES and value is not None:
        value = _VALUES[kind](value)
    return Attribute(name, kind, value, at)


def _scalar(at: int, fields: list[Any]) -> Scalar:
    ((kind, value),) = fields
    return Scalar(kind, bytes(value) if kind == "ByteArray" else value)


def _only(at: int, fields: list[Any]) -> Any:
    return fields[0]


_VALUES: Final[dict[str, Any]] = {"ScaleBias": ScaleBias._make, "Size2D": Size2D._make}
_MAKE: Final[dict[str, Make]] = {
    ROOT: _graph,
    "DmlGraphNode": _node,
    "OperatorNodeDesc": lambda at, fields: _Operator(*fields),
    "DmlBufferTensorDesc": _tensor,
    "AttributeDesc": _attribute,
    "Activation": _activation,
    "ScalarUnionData": _scalar,
    "ConstantNodeDesc": lambda at, fields: fields[0][1],
    **dict.fromkeys(
        ("ActivationArray", "UIntArray", "IntArray", "FloatArray", "ConstantName", "ConstantRawData"), _only
    ),
}
