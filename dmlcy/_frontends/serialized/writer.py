"""Records as the bytes of a serialized graph."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Final, NamedTuple, NoReturn

from dmlcy._frontends.serialized.builder import Builder, Parts, Placed
from dmlcy._frontends.serialized.problems import refuse
from dmlcy._frontends.serialized.records import (
    Activation,
    Attribute,
    ConstantNode,
    GraphRecord,
    OperatorNode,
    Scalar,
    Tensor,
)
from dmlcy._frontends.serialized.schema import ROOT
from dmlcy._words.values import show

_NAME: Final = "a name"


def write(record: GraphRecord) -> bytes:
    """The bytes of a file, laid out as ONNX Runtime lays them out; ModelError where the format cannot hold a value.

    Names that join nodes are written once, before the nodes. First are the names of the inputs of the graph in the
    order in which the nodes read them. Then come the names of its outputs, then the others in the order in which the
    nodes read them. Each node has two empty texts, for its inputs and for its outputs that are left out, even where
    none is.
    """
    _expect("the graph", record, GraphRecord)
    for node in _listed("nodes of the graph", record.nodes):
        _expect("a node of the graph", node, OperatorNode, ConstantNode)
    builder, at = Builder(_PARTS), dict[object, int]()
    nodes = Placed([builder.table("DmlGraphNode", node) for node in _named(builder, record, at)])
    no_input, no_output = builder.text(_NAME, ""), builder.text(_NAME, "")
    ends = _placed(at, record.input_names, no_input), _placed(at, record.output_names, no_output)
    return builder.finish(builder.table(ROOT, (nodes, *ends)))


class _Named(NamedTuple):
    """A node whose names are written."""

    node: OperatorNode | ConstantNode
    inputs: Placed
    outputs: Placed


def _named(builder: Builder, record: GraphRecord, at: dict[object, int]) -> list[_Named]:
    """The nodes, after the names that join them are written; ``at`` gets the positions of the names."""
    graph = [_listed(f"{what} of the graph", getattr(record, what)) for what in ("input_names", "output_names")]
    taken, given = (
        [_listed(f"{what} of a node", getattr(node, what)) for node in record.nodes]
        for what in ("input_names", "output_names")
    )
    read = [name for names in taken for name in names]

    def write_all(names: Iterable[object]) -> None:
        for name in names:
            if not isinstance(name, str):
                builder.text(_NAME, name)
            elif name and name not in at:
                at[name] = builder.text(_NAME, name)

    ends = {name for name in graph[0] if isinstance(name, str)}
    write_all(name for name in read if isinstance(name, str) and name in ends)
    write_all(graph[0])
    write_all(graph[1])
    empty = [(builder.text(_NAME, ""), builder.text(_NAME, "")) for _ in record.nodes]
    write_all(read)
    write_all(name for names in given for name in names)
    return [
        _Named(node, _placed(at, inputs, empty_input), _placed(at, outputs, empty_output))
        for node, inputs, outputs, (empty_input, empty_output) in zip(record.nodes, taken, given, empty, strict=True)
    ]


def _placed(at: Mapping[object, int], names: Iterable[object], empty: int) -> Placed:
    """The positions of names."""
    return Placed([at[name] if name else empty for name in names])


def _listed(what: str, value: object) -> Sequence[object]:
    if not isinstance(value, tuple | list):
        _wrong(what, value, tuple, list)
    return value


def _expect(what: str, value: object, *kinds: type) -> None:
    if not isinstance(value, kinds):
        _wrong(what, value, *kinds)


def _wrong(what: str, value: object, *kinds: type) -> NoReturn:
    expected = " or ".join(one.__name__ for one in kinds)
    refuse("value", None, what=what, found=show(value), expected=expected)


def _whole(kind: type, *fields: str) -> Parts:
    """The values of these attributes of a record."""

    get = attrgetter(*fields)

    def parts(record: object) -> Sequence[object]:
        _expect("a part of a node", record, kind)
        values: Sequence[object] = get(record)
        return values

    return parts


def _node(named: _Named) -> Sequence[object]:
    node = named.node
    kind = "OperatorNodeDesc" if isinstance(node, OperatorNode) else "ConstantNodeDesc"
    return (kind, node), node.name, named.inputs, named.outputs


def _attribute(record: Attribute) -> Sequence[object]:
    _expect("an attribute", record, Attribute)
    return record.name, (record.kind, record.value)


def _constant(node: ConstantNode) -> Sequence[object]:
    return [("ConstantName" if isinstance(node.data, str) else "ConstantRawData", node.data)]


def _scalar(value: Scalar) -> Sequence[object]:
    _expect("a scalar union", value, Scalar)
    return [(value.kind, value.value)]


def _only(value: object) -> Sequence[object]:
    return [value]


_PARTS: Final[dict[str, Parts]] = {
    ROOT: lambda parts: parts,
    "DmlGraphNode": _node,
    "OperatorNodeDesc": _whole(OperatorNode, "type", "inputs", "outputs", "attributes"),
    "DmlBufferTensorDesc": _whole(Tensor, "data_type", "sizes", "strides", "total_size_in_bytes"),
    "AttributeDesc": _attribute,
    "Activation": _whole(Activation, "type", "attributes"),
    "ScalarUnionData": _scalar,
    "ConstantNodeDesc": _constant,
    **dict.fromkeys(
        ("ActivationArray", "UIntArray", "IntArray", "FloatArray", "ConstantName", "ConstantRawData"), _only
    ),
}
