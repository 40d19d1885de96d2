"""Graphs as the records of a serialized graph."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from dmlcy._desc.memory import is_packed, strides_of
from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._errors import raise_violations
from dmlcy._facts.levels import NEWEST
from dmlcy._facts.names import PREFIX
from dmlcy._facts.rows import Field
from dmlcy._field_types import type_of
from dmlcy._field_types.enum import is_unsaid
from dmlcy._field_types.operators import Descs
from dmlcy._field_types.tensor_desc import TensorDesc
from dmlcy._frontends.dxdispatch.files import distinct
from dmlcy._frontends.graphs.serialized import attributes_of, kind_of, scalar_dtype
from dmlcy._frontends.serialized.problems import refuse
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
from dmlcy._graph.graph_desc import GraphDesc
from dmlcy._graph.model import Constant, Port, Tensors
from dmlcy._graph.owned import owned_inputs
from dmlcy._graph.wiring import Wiring, wiring_of
from dmlcy._words.values import quote, show

PARTITION: Final = "Partition_0"
"""The name of the file of a graph, as ONNX Runtime writes it, without its suffix."""
_DTYPE: Final = "DML_TENSOR_DATA_TYPE_"
_FORMS: Final[dict[str, Callable[..., Value]]] = {
    "ScaleBias": lambda value: ScaleBias(*value),
    "Size2D": lambda value: Size2D(*value),
    "ScalarUnionData": lambda value: Scalar("ByteArray", value),
    "Bool": bool,
}
"""The value of an attribute of this kind in a record."""


def to_records(graph: GraphDesc) -> GraphRecord:
    """The records of a valid graph, each node after its sources; ModelError for values that the format cannot have.

    The format has no descs of graph inputs, graph outputs and constants: they are those of the tensors that they are
    joined to. The format has no flags of tensors: an input that DirectML owns is a constant whose bytes are in a file.
    Each node and each value needs a name.
    """
    wrong = graph._violations(NEWEST)
    if wrong:
        raise_violations(wrong, "to_bytes")
    wiring = wiring_of(graph)
    for index, end in enumerate(graph.inputs):
        if end.desc is not None:
            _refuse_layout(graph, index, end.desc)
    names = _names(graph, wiring)
    files = constant_files(graph)
    constants = tuple(ConstantNode(names[port], (), (names[port],), file) for port, file in files.items())
    nodes = constants + tuple(_node(graph, wiring, names, number) for number in wiring.order)
    ports = [Port(None, index) for index in range(len(graph.inputs))]
    inputs = tuple(names[port] for port in ports if port not in files)
    outputs = tuple(names[_source(wiring, Port(None, index))] for index in range(len(graph.outputs)))
    return GraphRecord(nodes, inputs, outputs)


def _refuse_layout(graph: GraphDesc, index: int, desc: TensorDesc) -> None:
    """Refuses the strides of a graph input that the tensors which read the input do not say."""
    read = wiring_of(graph).desc_as_read(Port(None, index))
    if read is not None and not is_packed(desc) and strides_of(desc) != strides_of(read):
        what = f"strides of {graph.source_label(Port(None, index))}"
        refuse("value", None, what=what, found=show(desc.strides), expected="packed, as the format says none")


def constant_files(graph: GraphDesc) -> dict[Port, str]:
    """The names of the files of the inputs that DirectML owns, without their suffix."""
    names, taken = wiring_of(graph).value_names, {PARTITION.lower()}
    return {Port(None, index): distinct(names[Port(None, index)], taken) for index in sorted(owned_inputs(graph))}


def _names(graph: GraphDesc, wiring: Wiring) -> dict[Port, str]:
    """The name of each value: that of the graph output that it is, or its own. No two have the same name."""
    found: dict[Port, str] = {}
    taken: dict[str, Port] = {}

    def give(port: Port, name: str) -> None:
        if taken.setdefault(name, port) == port:
            found[port] = name

    for index, end in enumerate(graph.inputs):
        give(Port(None, index), end.name or wiring.value_names[Port(None, index)])
    outputs: set[Port] = set()
    for index, end in enumerate(graph.outputs):
        port = _source(wiring, Port(None, index))
        if port in outputs:
            words = {"found": graph.source_label(port), "expected": "a value that is no other output of the graph"}
            refuse("value", None, what=_output(graph, index), **words)
        outputs.add(port)
        if end.name in taken:
            refuse("value", None, what=f"the name of {_output(graph, index)}", found=quote(end.name),
                   expected="no name of a graph input")  # fmt: skip
        if end.name:
            give(port, end.name)
    for port in wiring.sources:
        name, number = wiring.value_names[port], 1
        while port not in found:
            give(port, name if number == 1 else f"{name}-{number}")
            number += 1
    return found


def _output(graph: GraphDesc, index: int) -> str:
    return graph.target_label(Port(None, index))


def _source(wiring: Wiring, target: Port) -> Port:
    found = wiring.source_of(target)
    assert found is not None
    return found


def _node(graph: GraphDesc, wiring: Wiring, names: dict[Port, str], number: int) -> OperatorNode | ConstantNode:
    node = graph.nodes[number]
    label = node.name or f"{node.kind.lower()}{number}"
    if isinstance(node, Constant):
        assert node.data is not None
        return ConstantNode(label, (), (names[Port(number, 0)],), node.data.tobytes())
    inputs, outputs = wiring.inputs[number], wiring.outputs[number]
    read = [
        "" if desc is None else names[_source(wiring, Port(number, index))] for index, (_, desc) in enumerate(inputs)
    ]
    given = ["" if desc is None else names[Port(number, index)] for index, (_, desc) in enumerate(outputs)]
    return OperatorNode(
        label,
        f"{PREFIX}{node.kind}",
        tuple(read),
        tuple(given),
        _tensors(graph, number, inputs),
        _tensors(graph, number, outputs),
        _attributes(node.desc),
    )


def _tensors(graph: GraphDesc, number: int, tensors: Tensors) -> tuple[Tensor, ...]:
    """The tensors that are there."""
    found = []
    for path, desc in tensors:
        if desc is None:
            continue
        of = f"{path} of {graph.label(number)}"
        if desc.guaranteed_base_offset_alignment:
            shown = desc.guaranteed_base_offset_alignment
            refuse("value", None, what=f"guaranteed_base_offset_alignment of {of}", found=shown, expected="0")
        found.append(_tensor(desc))
    return tuple(found)


def _tensor(desc: TensorDesc) -> Tensor:
    return Tensor(f"{_DTYPE}{desc.dtype.name}", desc.sizes, desc.strides, desc.total_tensor_size_in_bytes)


def _attributes(desc: OperatorDesc) -> tuple[Attribute, ...]:
    return tuple(_attribute(desc, field) for field in attributes_of(desc.operator))


def _attribute(desc: OperatorDesc, field: Field) -> Attribute:
    kind, value = kind_of(desc.operator, field), getattr(desc, field.python)
    if value is None:
        return Attribute(None, kind, None)
    if isinstance(type_of(field.type), Descs):
        several = isinstance(value, tuple)
        return Attribute(field.name, kind, _activations(value) if several else _activation(value))
    other = scalar_dtype(desc.operator, field)
    dtype = None if other is None else _dtype_of(desc, other)
    plain = type_of(field.type).to_serialized(value, dtype)
    return Attribute(field.name, kind, _FORMS[kind](plain) if kind in _FORMS else plain)


def _dtype_of(desc: OperatorDesc, field: Field) -> str:
    """The data type that a field holds, or, where it says none, the one that follows from the others."""
    value = getattr(desc, field.python)
    found = desc._check(desc._values(), NEWEST).value_of(field.python) if is_unsaid(value) else value
    return str(found.name)


def _activations(descs: Iterable[OperatorDesc]) -> tuple[Activation, ...]:
    return tuple(map(_activation, descs))


def _activation(desc: OperatorDesc) -> Activation:
    return Activation(f"{PREFIX}{desc.operator.name}", _attributes(desc))
