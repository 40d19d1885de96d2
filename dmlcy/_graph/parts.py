"""The part of a graph that some of its values need, with the bytes of inputs as constants."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from dmlcy._facts.dtypes import Bytes
from dmlcy._graph.graph_desc import GraphDesc
from dmlcy._graph.model import Constant, Edge, End, Node, Port
from dmlcy._graph.wiring import wiring_of


def part_of(
    graph: GraphDesc, constants: Mapping[int, Callable[[], Bytes]], names: Mapping[Port, str]
) -> tuple[GraphDesc, dict[int, int]]:
    """The nodes and inputs that the outputs of a graph need, and the number of each node that is left.

    Parameters
    ----------
    graph
        The graph, whose nodes come after the nodes that they read.
    constants
        Functions that give the bytes of inputs, by their places. Each needed input becomes a constant.
    names
        Names of values of the graph.
    """
    sources: dict[int, list[Port]] = {}
    for edge in graph.edges:
        if edge.source is not None and edge.target.node is not None:
            sources.setdefault(edge.target.node, []).append(edge.source)
    needed = {edge.source for edge in graph.edges if edge.source is not None and edge.target.node is None}
    kept = {port.node for port in needed}
    for number in range(len(graph.nodes) - 1, -1, -1):
        if number in kept:
            needed.update(sources.get(number, ()))
            kept.update(port.node for port in sources.get(number, ()))
    places = [place for place in range(len(graph.inputs)) if Port(None, place) in needed]
    made = [place for place in places if place in constants]
    inputs = {place: index for index, place in enumerate(one for one in places if one not in constants)}
    numbers = {number: index for index, number in enumerate(sorted(one for one in kept if one is not None), len(made))}
    moved = {Port(None, place): Port(index, 0) for index, place in enumerate(made)}
    moved |= {Port(None, place): Port(None, index) for place, index in inputs.items()}

    def port_of(port: Port) -> Port:
        return moved[port] if port.node is None else Port(numbers[port.node], port.place)

    edges = tuple(
        Edge(port_of(edge.source), edge.target if edge.target.node is None else port_of(edge.target), edge.name)
        for edge in graph.edges
        if edge.source is not None and (edge.target.node is None or edge.target.node in numbers)
    )
    nodes: list[Node | Constant] = []
    for place in made:
        end = graph.inputs[place]
        nodes.append(Constant(constants[place](), end.name, end.desc))
    nodes += [graph.nodes[number] for number in numbers]
    left = _distinct([(port_of(port), name) for port, name in names.items() if port.node in numbers or port in moved])
    ends = tuple(graph.inputs[place] for place in inputs)
    return GraphDesc(tuple(nodes), ends, graph.outputs, edges, left, graph.limit), numbers


def _distinct(names: Sequence[tuple[Port, str]]) -> tuple[tuple[Port, str], ...]:
    """The names, each of them once."""
    found: dict[str, Port] = {}
    for port, name in names:
        found.setdefault(name, port)
    return tuple((port, name) for name, port in found.items())


def within(graph: GraphDesc, numbers: Collection[int], names: Mapping[Port, str]) -> GraphDesc:
    """The graph of some nodes, and of the constants that they read.

    Values that they read of other nodes are its inputs. Values that other nodes read, and outputs of the graph, are its
    outputs. ``names``: of the values.
    """
    read = {edge.source for edge in graph.edges if edge.target.node in numbers and edge.source is not None}
    constants = {port.node for port in read if port.node is not None and isinstance(graph.nodes[port.node], Constant)}
    kept = sorted({*numbers, *(one for one in constants if one is not None)})
    places = {number: place for place, number in enumerate(kept)}
    given = sorted((port for port in read if port.node not in places), key=lambda port: (port.node or -1, port.place))
    wanted = dict.fromkeys(
        edge.source
        for edge in graph.edges
        if edge.source is not None and edge.source.node in numbers and edge.target.node not in numbers
    )
    inputs = {port: Port(None, place) for place, port in enumerate(given)}

    def port_of(port: Port) -> Port:
        return inputs[port] if port in inputs else Port(places[port.node or 0], port.place)

    edges = [
        Edge(port_of(edge.source), port_of(edge.target), edge.name)
        for edge in graph.edges
        if edge.source is not None and edge.target.node in numbers
    ]
    edges += [Edge(port_of(port), Port(None, place)) for place, port in enumerate(wanted)]
    wiring = wiring_of(graph)
    return GraphDesc(
        tuple(graph.nodes[number] for number in kept),
        tuple(End(names[port], wiring.desc_of(port)) for port in given),
        tuple(End(names[port], wiring.desc_of(port)) for port in wanted),
        tuple(edges),
        tuple((port_of(port), name) for port, name in names.items() if port.node in places),
        graph.limit,
    )
