"""The connections of a graph: the readers of a value, the source of a tensor, and the order in which nodes can run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from functools import cached_property

from dmlcy._desc.memory import extent, needed, stored
from dmlcy._field_types.tensor_desc import TensorDesc
from dmlcy._graph.model import Constant, Edge, Port, Structure, Tensors, inputs_of, outputs_of
from dmlcy._graph.names import Names
from dmlcy._graph.order import cycle_of, in_order


class Wiring:
    """The edges of a graph, by their ends.

    ``good``: positions of the edges whose two ends exist; ``feeds``: by the target the edges that lead to it,
    ``readers``: by the source the targets, in order. ``roots``: of values that lie in other ones, these: the tensors
    that read them have the strides of their elements there.
    """

    def __init__(self, graph: Structure) -> None:
        self.graph = graph
        self.inputs: list[Tensors] = [inputs_of(node) for node in graph.nodes]
        self.outputs: list[Tensors] = [outputs_of(node) for node in graph.nodes]
        self.good = [place for place, edge in enumerate(graph.edges) if self._joins(edge)]
        self.feeds: dict[Port, list[int]] = defaultdict(list)
        self.readers: dict[Port, list[Port]] = defaultdict(list)
        for place in self.good:
            edge = graph.edges[place]
            assert edge.source is not None
            self.feeds[edge.target].append(place)
            self.readers[edge.source].append(edge.target)
        self.sources = self._sources()
        self.roots: Mapping[Port, Port] = {}

    def _sources(self) -> list[Port]:
        """The values of the graph: its inputs, then those of its nodes."""
        found = [Port(None, index) for index in range(len(self.graph.inputs))]
        for number, (node, tensors) in enumerate(zip(self.graph.nodes, self.outputs, strict=True)):
            for index, (_, desc) in enumerate(tensors):
                if desc is not None or isinstance(node, Constant):
                    found.append(Port(number, index))
        return found

    def _joins(self, edge: Edge) -> bool:
        return edge.source is not None and self.is_source(edge.source) and self.is_target(edge.target)

    def is_source(self, port: Port) -> bool:
        """Whether there is such a value."""
        if port.node is None:
            return 0 <= port.place < len(self.graph.inputs)
        if not 0 <= port.node < len(self.graph.nodes):
            return False
        tensors = self.outputs[port.node]
        known = 0 <= port.place < len(tensors)
        return known and (tensors[port.place][1] is not None or isinstance(self.graph.nodes[port.node], Constant))

    def is_target(self, port: Port) -> bool:
        """Whether there is such a tensor, or output of the graph."""
        if port.node is None:
            return 0 <= port.place < len(self.graph.outputs)
        if not 0 <= port.node < len(self.graph.nodes):
            return False
        tensors = self.inputs[port.node]
        return 0 <= port.place < len(tensors) and tensors[port.place][1] is not None

    def source_of(self, target: Port) -> Port | None:
        """The source of a tensor; None where it has none."""
        places = self.feeds.get(target)
        return self.graph.edges[places[0]].source if places else None

    @cached_property
    def read(self) -> list[list[Port | None]]:
        """For each node, what feeds each tensor that it may read; None where nothing does."""
        edges, feeds = self.graph.edges, self.feeds
        return [
            [
                edges[feeds[port][0]].source if (port := Port(number, index)) in feeds else None
                for index in range(len(one))
            ]
            for number, one in enumerate(self.inputs)
        ]

    def desc_of_target(self, port: Port) -> TensorDesc | None:
        """The desc under which a value is read."""
        if port.node is None:
            return self.graph.outputs[port.place].desc
        return self.inputs[port.node][port.place][1]

    def desc_of(self, port: Port) -> TensorDesc | None:
        """The desc of a value: its own; without one, as the first reader that has a desc says."""
        own = self.graph.inputs[port.place].desc if port.node is None else self.outputs[port.node][port.place][1]
        return self.desc_as_read(port) if own is None else own

    def desc_as_read(self, port: Port) -> TensorDesc | None:
        """The bytes of a value in their order, under the desc of the first reader that has one."""
        readers = (self.desc_of_target(target) for target in self.readers.get(port, ()))
        return next((stored(desc) for desc in readers if desc is not None), None)

    @cached_property
    def sizes(self) -> dict[Port, int]:
        """The bytes of each value of a valid graph in memory: a reader may reach into the padding behind the tensor."""
        found: dict[Port, int] = {}
        for port in self.sources:
            desc = self.desc_of(port)
            if desc is not None:
                readers = (self.desc_of_target(target) for target in self.readers.get(port, ()))
                found[port] = max(needed(desc), *(extent(one) for one in readers if one is not None), 0)
        return found

    @cached_property
    def value_names(self) -> dict[Port, str]:
        """A name for each value, each name once."""
        given: dict[Port, str] = {}
        for port, name in self.graph.names:
            given.setdefault(port, name)
        names = Names()
        return {port: names.distinct(given.get(port) or self._made_name(port)) for port in self.sources}

    def _made_name(self, port: Port) -> str:
        if port.node is None:
            return self.graph.inputs[port.place].name or f"input{port.place}"
        node = self.graph.nodes[port.node]
        stem = node.name or f"{node.kind.lower()}{port.node}"
        there = [path for path, desc in self.outputs[port.node] if desc is not None]
        return stem if len(there) < 2 else f"{stem}.{self.outputs[port.node][port.place][0]}"

    @cached_property
    def before(self) -> list[list[int]]:
        """For each node, the nodes that it reads, each once."""
        found: list[dict[int, None]] = [{} for _ in self.graph.nodes]
        for place in self.good:
            edge = self.graph.edges[place]
            if edge.source is not None and edge.source.node is not None and edge.target.node is not None:
                found[edge.target.node][edge.source.node] = None
        return [[*one] for one in found]

    @cached_property
    def order(self) -> list[int]:
        """The nodes, each after the nodes that it reads, else as they are numbered; those on or behind a cycle lack."""
        return in_order(self.before)

    def cycle(self) -> list[int]:
        """The nodes of a cycle, in the order in which values go; none where there is no cycle."""
        found = cycle_of(self.before, self.order)[::-1]
        if not found:
            return []
        first = found.index(min(found))
        return found[first:] + found[:first]


def wiring_of(graph: Structure) -> Wiring:
    """The connections of a graph; found once."""
    found = graph.__dict__.get("_wiring")
    if not isinstance(found, Wiring):
        found = graph.__dict__["_wiring"] = Wiring(graph)
    return found
