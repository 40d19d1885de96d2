"""A graph for a device: every edge as an output, a DxDispatch model of the whole graph, and a model of each node."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import replace
from typing import Final, TypeAlias

from dmlcy._desc.memory import dtype_of, extent, is_packed, view
from dmlcy._facts.dtypes import has_four_bits
from dmlcy._field_types import type_of
from dmlcy._field_types.tensor_desc import TensorDesc
from dmlcy._frontends.dxdispatch.files import Contents
from dmlcy._frontends.dxdispatch.npy import writer
from dmlcy._frontends.dxdispatch.write import Use, brief, layout, model, sized, zeros
from dmlcy._frontends.graphs.value_files import laid_out, names_of
from dmlcy._graph.check import is_owned
from dmlcy._graph.graph_desc import GraphDesc
from dmlcy._graph.model import Constant, Edge, End, Node, Port
from dmlcy._graph.names import Names
from dmlcy._graph.wiring import wiring_of
from dmlcy._types import Array

MODEL: Final = "model.json"
_Bound: TypeAlias = dict[str, str | list[str]]
"""The names of resources, by the fields that they are bound to."""


def exposed(graph: GraphDesc) -> GraphDesc:
    """The graph with each value of a node that is not an output as an output more."""
    wiring = wiring_of(graph)
    there = {wiring.source_of(Port(None, index)) for index in range(len(graph.outputs))}
    names = Names(end.name for end in graph.outputs)
    ends, edges = [*graph.outputs], [*graph.edges]
    for port in wiring.sources:
        if port.node is None or port in there or isinstance(graph.nodes[port.node], Constant):
            continue
        name = names.distinct(wiring.value_names[port])
        edges.append(Edge(port, Port(None, len(ends))))
        ends.append(End(name, wiring.desc_of(port)))
    return replace(graph, outputs=tuple(ends), edges=tuple(edges))


def text(first: str, content: dict[str, object], *rest: str) -> Contents:
    """A file of a model."""
    data = (layout(content) + "\n").encode()
    return {(first, *rest): lambda stream: stream.write(data)}


def model_of(graph: GraphDesc, values: Mapping[Port, Array]) -> Contents:
    """A model of a graph that writes its outputs; ``values``: those of its inputs and constants."""
    wiring, named = wiring_of(graph), names_of(graph)
    outputs = {wiring.source_of(Port(None, index)) for index in range(len(graph.outputs))}
    found: Contents = {(named[port],): writer(laid_out(graph, port, value)) for port, value in values.items()}
    return found | text(MODEL, chain(graph, named, {port for port in outputs if port is not None}))


def chain(graph: GraphDesc, named: Mapping[Port, str], written: Set[Port] | None = None) -> dict[str, object]:
    """A model that runs the nodes in turn, and writes values, or all, to the files that a dump has them in."""
    wiring = wiring_of(graph)
    resources: dict[str, object] = {}
    for port in wiring.sources:
        desc = wiring.desc_of(port)
        if desc is not None:
            computed = port.node is not None and not isinstance(graph.nodes[port.node], Constant)
            resources[wiring.value_names[port]] = zeros(desc) if computed else _from_file(named[port], desc)
    dispatchables: dict[str, object] = {}
    commands: list[dict[str, object]] = []
    names = Names()
    for number in wiring.order:
        node = graph.nodes[number]
        if not isinstance(node, Node):
            continue
        name = names.distinct(node.name or f"{node.kind.lower()}{number}")
        described, initial, bound = _dispatchable(graph, number, node)
        dispatchables[name] = described | ({"bindings": initial} if initial else {})
        commands.append({"type": "dispatch", "dispatchable": name, "bindings": bound})
        for index, (_, desc) in enumerate(wiring.outputs[number]):
            port = Port(number, index)
            if desc is not None and (written is None or port in written):
                commands.append(_write_file(wiring.value_names[port], named[port], desc))
    return {"resources": resources, "dispatchables": dispatchables, "commands": commands}


def _dispatchable(graph: GraphDesc, number: int, node: Node) -> tuple[dict[str, object], _Bound, _Bound]:
    """A node as a dispatchable, what is bound when it is initialised, and what is bound when it runs."""
    wiring = wiring_of(graph)
    described = node.desc.to_dict()
    members = described["desc"]
    initial: _Bound = {}
    bound: _Bound = {}
    for kind, tensors in (("input", wiring.inputs[number]), ("output", wiring.outputs[number])):
        for index, (path, desc) in enumerate(tensors):
            field = node.desc.operator.field(path)
            several = type_of(field.type).tensors
            if desc is None:
                continue
            port = wiring.source_of(Port(number, index)) if kind == "input" else Port(number, index)
            assert port is not None
            into, name = initial if is_owned(desc) else bound, wiring.value_names[port]
            into[field.name] = [*into.get(field.name, ()), name] if several else name
            place = int(path.partition("[")[2].removesuffix("]") or 0)
            if several:
                members[field.name][place] = brief(desc)
            else:
                members[field.name] = brief(desc)
    described["desc"] = {name: member for name, member in members.items() if member is not None}
    return described, initial, bound


def alone(graph: GraphDesc, number: int, node: Node, named: Mapping[Port, str]) -> dict[str, object]:
    """A model of one node, whose inputs are the values of the dump in the folder above."""
    wiring = wiring_of(graph)
    inputs = {}
    for index, (path, desc) in enumerate(wiring.inputs[number]):
        port = wiring.source_of(Port(number, index))
        if desc is not None and port is not None:
            inputs[path] = _from_file(f"../{named[port]}", desc)
    use = Use(node.name or node.kind.lower(), node.desc, inputs)
    files_ = {use.resource(path): named[Port(number, at)] for at, (path, desc) in enumerate(wiring.outputs[number])
              if desc is not None}  # fmt: skip
    return model([use], lambda name, desc: _write_file(name, files_[name], desc))


def _from_file(file: str, desc: TensorDesc) -> dict[str, object]:
    return sized(desc, {"initialValues": {"sourcePath": file}}, extent(desc))


def _write_file(resource: str, file: str, desc: TensorDesc) -> dict[str, object]:
    """The command that writes a value: in its sizes, or as it lies in the buffer."""
    in_its_sizes = is_packed(desc) and not has_four_bits(dtype_of(desc))
    dimensions = {"dimensions": list(desc.sizes)} if in_its_sizes else {}
    return {"type": "writeFile", "resource": resource, "targetPath": file, **dimensions}


def given(graph: GraphDesc, inputs: Mapping[str, Array]) -> dict[Port, Array]:
    """The graph inputs and constants alone, of a graph that does not run."""
    wiring = wiring_of(graph)
    found: dict[Port, Array] = {}
    for port in wiring.sources:
        desc = wiring.desc_of(port)
        if desc is None:
            continue
        if port.node is None:
            found[port] = inputs[wiring.value_names[port]]
        else:
            node = graph.nodes[port.node]
            if isinstance(node, Constant) and node.data is not None:
                found[port] = view(node.data, desc, 0)
    return found
