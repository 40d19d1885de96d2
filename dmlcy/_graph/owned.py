"""Constants as graph inputs with the flag OWNED_BY_DML, which every level has, and such inputs as constants."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Final, TypeVar

from dmlcy._desc.memory import dtype_of, extent, is_packed, resized, stored, view
from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._errors import raise_violations
from dmlcy._facts.dtypes import Bytes
from dmlcy._facts.rows import Operator
from dmlcy._facts.tables import TensorFlags
from dmlcy._field_types import type_of
from dmlcy._field_types.tensor_desc import TensorDesc
from dmlcy._graph.arrays import Taker, label_of
from dmlcy._graph.check import is_owned
from dmlcy._graph.model import Constant, Edge, End, Node, Port, Structure, inputs_of
from dmlcy._graph.wiring import Wiring, wiring_of
from dmlcy._runtime import four_bits

LEAST: Final = 8
"""Bytes of the least constant that ONNX Runtime's DirectML provider makes a graph input."""

Graph = TypeVar("Graph", bound=Structure)


def arrays_of(graph: Structure, numbers: Collection[int]) -> dict[str, object]:
    """The elements of constants of a valid graph, by the names of the values."""
    wiring = wiring_of(graph)
    found: dict[str, object] = {}
    for number in numbers:
        data, port = data_of(graph, number), Port(number, 0)
        found[wiring.value_names[port]] = four_bits.given_back(view(data, _whole(wiring, port), 0))
    return found


def data_of(graph: Structure, number: int) -> Bytes:
    """The bytes of a constant of a valid graph."""
    node = graph.nodes[number]
    assert isinstance(node, Constant) and node.data is not None
    return node.data


def _whole(wiring: Wiring, port: Port) -> TensorDesc:
    """A desc of all bytes of a constant, without strides where their number is known."""
    assert port.node is not None
    node = wiring.graph.nodes[port.node]
    size = node.size if isinstance(node, Constant) else None
    readers = (wiring.desc_of_target(target) for target in wiring.readers[port])
    descs = [one for one in (wiring.desc_of(port), *readers) if one is not None]
    found = [one for one in map(stored, descs) if is_packed(one) and size in (None, extent(one))]
    if found or size is None:
        return (found or descs)[0]
    first, bits = descs[0], dtype_of(descs[0]).bits
    if 8 * size % bits == 0:
        return resized(first, (8 * size // bits,), None)
    return TensorDesc("UINT8", (size,), total_tensor_size_in_bytes=first.total_tensor_size_in_bytes)


def owned_inputs(graph: Structure) -> set[int]:
    """The inputs that are bound when the graph is initialised: the tensors that read them have the flag."""
    wiring = wiring_of(graph)
    return {
        source.place
        for source, targets in wiring.readers.items()
        if source.node is None and any(is_owned(wiring.desc_of_target(target)) for target in targets)
    }


def large_constants(graph: Structure, least: int) -> list[int]:
    """The constants of so many bytes that only tensors of nodes read which may have the flag."""
    wiring = wiring_of(graph)
    large = [n for n, node in enumerate(graph.nodes) if isinstance(node, Constant) and (node.size or 0) >= least]
    return [number for number in large if wiring.readers.get(Port(number, 0)) and _may_be_owned(wiring, number)]


def _may_be_owned(wiring: Wiring, number: int) -> bool:
    """Whether all that reads a constant are tensors of nodes that may have the flag: those of LSTM may not."""
    for port in wiring.readers.get(Port(number, 0), ()):
        node = None if port.node is None else wiring.graph.nodes[port.node]
        if not isinstance(node, Node):
            return False
        name = inputs_of(node)[port.place][0].partition("[")[0]
        if not node.desc.operator.field(name).owned:
            return False
    return True


def as_inputs(graph: Graph, numbers: Collection[int]) -> Graph:
    """The graph with these constants as inputs, behind the others; DirectML owns the inputs that may have the flag."""
    wiring = wiring_of(graph)
    ends, ports, owned = [*graph.inputs], {}, []
    for number in numbers:
        port, flag = Port(number, 0), _may_be_owned(wiring, number)
        ports[port] = Port(None, len(ends))
        owned += [port] if flag else []
        ends.append(End(wiring.value_names[port], _flagged(_whole(wiring, port), flag)))
    return _moved(_with_flags(graph, wiring, owned, True), ports, tuple(ends), ())


def as_constants(graph: Graph, arrays: Mapping[str, object]) -> Graph:
    """The graph with the inputs of these names as constants, in front of the other nodes."""
    wiring = wiring_of(graph)
    places = {wiring.value_names[Port(None, index)]: index for index in range(len(graph.inputs))}
    unknown = [name for name in arrays if name not in places]
    if unknown:
        raise ValueError(f"inputs_as_constants() was given {unknown[0]!r}, and the graph has the inputs {[*places]}.")
    taker, ports = Taker(graph), {}
    constants: list[Constant] = []
    for name, array in arrays.items():
        index = places[name]
        port = Port(None, index)
        desc = wiring.desc_of(port)
        if desc is None:
            raise ValueError(f"inputs_as_constants(): no node has a tensor desc for the graph input {name!r}.")
        label = label_of("input", graph.inputs[index].name, index)
        found = taker.input(index, label, array, desc)
        if found is not None:
            data = taker.buffer(index, label, found, desc, wiring.sizes[port], copy=True)
            data.flags.writeable = False
            ports[port] = Port(len(constants), 0)
            constants.append(Constant(data, graph.inputs[index].name, _flagged(desc, False)))
    if taker.wrong:
        raise_violations(taker.wrong, "inputs_as_constants")
    kept = tuple(end for index, end in enumerate(graph.inputs) if Port(None, index) not in ports)
    return _moved(_with_flags(graph, wiring, ports, False), ports, kept, tuple(constants))


def _moved(graph: Graph, ports: Mapping[Port, Port], ends: tuple[End, ...], constants: tuple[Constant, ...]) -> Graph:
    """The graph whose values at ``ports`` come from other ports, without the nodes and the inputs that they were."""
    left = [number for number in range(len(graph.nodes)) if Port(number, 0) not in ports]
    numbers = {number: place + len(constants) for place, number in enumerate(left)}
    inputs = [index for index in range(len(graph.inputs)) if Port(None, index) not in ports]
    places = {index: place for place, index in enumerate(inputs)}

    def source(port: Port) -> Port:
        if port in ports:
            return ports[port]
        return Port(None, places.get(port.place, port.place)) if port.node is None else target(port)

    def target(port: Port) -> Port:
        return port if port.node is None else Port(numbers.get(port.node, port.node), port.place)

    edges = (
        Edge(None if one.source is None else source(one.source), target(one.target), one.name) for one in graph.edges
    )
    names = tuple((source(port), name) for port, name in graph.names)
    nodes = (*constants, *(graph.nodes[number] for number in left))
    return replace(graph, nodes=nodes, inputs=ends, edges=tuple(edges), names=names)


def _with_flags(graph: Graph, wiring: Wiring, ports: Collection[Port], owned: bool) -> Graph:
    """The graph whose nodes read these values with or without the flag OWNED_BY_DML."""
    nodes = [*graph.nodes]
    read: dict[int, set[int]] = {}
    for port in ports:
        for reader in wiring.readers.get(port, ()):
            if reader.node is not None:
                read.setdefault(reader.node, set()).add(reader.place)
    known: dict[tuple[OperatorDesc, tuple[int, ...]], OperatorDesc] = {}  # many nodes share a desc
    for number, indices in read.items():
        node = nodes[number]
        assert isinstance(node, Node)
        key = node.desc, tuple(sorted(indices))
        if key not in known:
            paths = {inputs_of(node)[index][0] for index in indices}
            known[key] = _desc_with_flags(node.desc, paths, owned)
        nodes[number] = replace(node, desc=known[key])
    return replace(graph, nodes=tuple(nodes))


def _desc_with_flags(desc: OperatorDesc, paths: Collection[str], owned: bool) -> OperatorDesc:
    """The desc whose tensors at these paths have the flag, or do not."""
    operator: Operator = desc.operator
    values = {field.python: getattr(desc, field.python) for field in operator.fields if field.value is None}
    for field in operator.fields:
        value, name = getattr(desc, field.python), field.python
        if field.kind != "input":
            continue
        if type_of(field.type).tensors:
            values[name] = tuple(
                _flagged(one, owned) if f"{name}[{place}]" in paths else one for place, one in enumerate(value)
            )
        elif name in paths:
            values[name] = _flagged(value, owned)
    return type(desc)(**values)


def _flagged(desc: TensorDesc | None, owned: bool) -> TensorDesc | None:
    if desc is None or is_owned(desc) == owned:
        return desc
    flags = TensorFlags.OWNED_BY_DML if owned else TensorFlags.NONE
    return TensorDesc(
        desc.dtype, desc.sizes, desc.strides, flags, desc.total_tensor_size_in_bytes,
        desc.guaranteed_base_offset_alignment,
    )  # fmt: skip
