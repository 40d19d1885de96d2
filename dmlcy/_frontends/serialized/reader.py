"""The bytes of a serialized graph as records."""

from __future__ import annotations

from typing import Final, NamedTuple

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
    Value,
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
    graph = Reader(data, _MAKE).root()
    assert isinstance(graph, GraphRecord)
    return graph


def _graph(
    at: int, nodes: tuple[OperatorNode | ConstantNode, ...], inputs: tuple[str, ...], outputs: tuple[str, ...]
) -> GraphRecord:
    return GraphRecord(nodes, inputs, outputs, at)


def _tensor(at: int, data_type: str, sizes: tuple[int, ...], strides: tuple[int, ...] | None, total: int) -> Tensor:
    return Tensor(data_type, sizes, strides, total, at)


def _activation(at: int, kind: str, attributes: tuple[Attribute, ...]) -> Activation:
    return Activation(kind, attributes, at)


def _node(
    at: int, desc: tuple[str, _Operator | str | bytes], name: str, inputs: tuple[str, ...], outputs: tuple[str, ...]
) -> OperatorNode | ConstantNode:
    _, body = desc
    if isinstance(body, _Operator):
        return OperatorNode(name, body.type, inputs, outputs, body.inputs, body.outputs, body.attributes, at)
    return ConstantNode(name, inputs, outputs, body, at)


def _attribute(at: int, name: str | None, variant: tuple[str, Value]) -> Attribute:
    kind, value = variant
    if kind in _PAIRS and isinstance(value, tuple):
        value = _PAIRS[kind]._make(value)
    return Attribute(name, kind, value, at)


def _scalar(at: int, variant: tuple[str, tuple[int, ...] | int | float]) -> Scalar:
    kind, value = variant
    return Scalar(kind, bytes(value) if isinstance(value, tuple) else value)


def _only(at: int, value: object) -> object:
    return value


_PAIRS: Final[dict[str, type[ScaleBias] | type[Size2D]]] = {"ScaleBias": ScaleBias, "Size2D": Size2D}
_MAKE: Final[dict[str, Make]] = {
    ROOT: _graph,
    "DmlGraphNode": _node,
    "OperatorNodeDesc": lambda at, *fields: _Operator(*fields),
    "DmlBufferTensorDesc": _tensor,
    "AttributeDesc": _attribute,
    "Activation": _activation,
    "ScalarUnionData": _scalar,
    "ConstantNodeDesc": lambda at, detail: detail[1],
    **dict.fromkeys(
        ("ActivationArray", "UIntArray", "IntArray", "FloatArray", "ConstantName", "ConstantRawData"), _only
    ),
}
