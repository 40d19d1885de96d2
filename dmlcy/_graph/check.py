"""Every violation of a graph: those of its nodes' descs, then those of its edges."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from dmlcy._desc.memory import extent, rounded
from dmlcy._errors import Violation
from dmlcy._facts.tables import LEVEL_INDEX, LEVELS, TensorFlags
from dmlcy._field_types.tensor_desc import TensorDesc, minimum_size
from dmlcy._graph.loose import is_unknown, own
from dmlcy._graph.model import Constant, Edge, Node, Port, Structure, dtype_name, in_bytes
from dmlcy._graph.violations import GraphViolation, Part, made, of_node
from dmlcy._graph.wiring import wiring_of
from dmlcy._words.values import quote

CONSTANTS: Final = LEVEL_INDEX["6_2"]
"""The level that brought constant nodes."""
MAX_RANK: Final = LEVELS[-1].max_rank
SHOWN: Final = 12
"""Nodes of a cycle that a message names."""


def violations(graph: Structure, level: int) -> list[GraphViolation]:
    """Errors and warnings, at the level of that position."""
    if len(graph.nodes) > graph.limit:
        return [made(graph, "limit", "graph", None, {"nodes": len(graph.nodes), "limit": graph.limit})]
    return [*_Checker(graph, level).found()]


def counted(number: int, noun: str) -> str:
    """3 nodes, 1 node, no nodes."""
    return f"{number or 'no'} {noun}{'' if number == 1 else 's'}"


class _Checker:
    def __init__(self, graph: Structure, level: int) -> None:
        self.graph = graph
        self.level = level
        self.wiring = wiring_of(graph)

    def found(self) -> Iterator[GraphViolation]:
        """All of them: names, nodes, edges, then what no edge leads to or from."""
        for what, entries in (("nodes", self.graph.nodes), ("outputs", self.graph.outputs)):
            if not entries:
                yield made(self.graph, "empty", "graph", None, {"what": what})
        yield from self.names()
        yield from self.texts()
        yield from self.nodes()
        yield from self.described()
        for place, edge in enumerate(self.graph.edges):
            yield from self.ends(place, edge)
        for place in self.wiring.good:
            yield from self.edge(place, self.graph.edges[place])
        yield from self.fed()
        yield from self.owned()
        yield from self.cycle()
        yield from self.read()

    def names(self) -> Iterator[GraphViolation]:
        """Names that say two things."""
        graph = self.graph
        parts: tuple[tuple[Part, str], ...] = (("inputs", "graph input"), ("outputs", "graph output"))
        for part, noun in parts:
            seen: dict[str, int] = {}
            for index, end in enumerate(graph.inputs if part == "inputs" else graph.outputs):
                if end.name and seen.setdefault(end.name, index) != index:
                    words = {"first": f"{noun} {seen[end.name]}", "second": f"{noun} {index}"}
                    yield made(graph, "name-twice", part, index, {"name": quote(end.name), **words})
        first: dict[str, Port] = {}
        for index, end in enumerate(graph.inputs):
            first.setdefault(end.name, Port(None, index))
        for port, name in graph.names:
            other = first.setdefault(name, port)
            if name and other != port and self.wiring.is_source(port):
                words = {"first": graph.source_label(other), "second": graph.source_label(port)}
                part = "inputs" if port.node is None else "nodes"
                entry = port.place if port.node is None else port.node
                yield made(graph, "name-twice", part, entry, {"name": quote(name), **words}, node=port.node)

    def texts(self) -> Iterator[GraphViolation]:
        """Names that no file can hold."""
        graph = self.graph
        for part, index, name in _names_of(graph):
            if not _is_text(name):
                node = index if part == "nodes" else None
                of = graph.label(index) if part == "nodes" else f"graph {part.removesuffix('s')} {index}"
                yield made(graph, "name-text", part, index, {"of": of, "name": quote(name)}, node=node)

    def nodes(self) -> Iterator[GraphViolation]:
        """The violations of descs and constants by themselves."""
        for number, node in enumerate(self.graph.nodes):
            if not isinstance(node, Constant):
                for one in self.of_desc(number, node):
                    yield of_node(one, node, number)
                continue
            if node.data is None:
                words = {"source": self.graph.label(number)}
                yield made(self.graph, "constant-missing", "nodes", number, words, node=number)
            if self.level < CONSTANTS:
                needed = LEVELS[CONSTANTS]
                words = {"source": self.graph.label(number), "needed": needed.name, "directml": needed.directml}
                words["level"] = LEVELS[self.level].name
                yield made(
                    self.graph, "constant-level", "nodes", number, words, node=number, level=needed.name,
                    hint="Make it a graph input.",
                )  # fmt: skip

    def of_desc(self, number: int, node: Node) -> list[Violation]:
        """The violations of a node by itself, without violations that follow from values of which nothing is known."""
        refused = [*node.refused_at(self.level)]
        found = refused or [*node.desc._violations(self.level), *node.desc._warnings(self.level)]
        if refused or not found:
            return found
        inputs, outputs = self.wiring.inputs[number], self.wiring.outputs[number]
        sources = [self.wiring.source_of(Port(number, index)) for index in range(len(inputs))]
        unread = {path for (path, _), source in zip(inputs, sources, strict=True) if self.is_unknown(source)}
        return own(found, unread, {path for path, one in outputs if is_unknown(one)})

    def is_unknown(self, source: Port | None) -> bool:
        """Whether a node gives a value of which nothing is known."""
        return source is not None and source.node is not None and is_unknown(self.wiring.desc_of(source))

    def described(self) -> Iterator[GraphViolation]:
        """Descs of graph inputs, graph outputs and constants that are no tensors."""
        graph = self.graph
        parts: tuple[tuple[Part, str], ...] = (("inputs", "graph input"), ("outputs", "graph output"))
        for part, noun in parts:
            for index, end in enumerate(graph.inputs if part == "inputs" else graph.outputs):
                why = "" if end.desc is None else unlike_a_tensor(end.desc)
                if why:
                    yield made(graph, "desc", part, index, {"of": f"{noun} {_named(end.name, index)}", "why": why})
        for number, node in enumerate(graph.nodes):
            if isinstance(node, Constant) and node.desc is not None:
                why, label = unlike_a_tensor(node.desc), graph.label(number)
                if why:
                    yield made(graph, "desc", "nodes", number, {"of": label, "why": why}, node=number)
                elif is_short(node):
                    words = {"source": label, "actual": node.size, "target": "its own tensor desc"}
                    words["expected"] = extent(node.desc)
                    yield made(graph, "constant-size", "nodes", number, words, node=number)

    def ends(self, place: int, edge: Edge) -> Iterator[GraphViolation]:
        """An edge whose ends do not exist."""
        graph, wiring = self.graph, self.wiring
        target, source = edge.target, edge.source
        if source is None:
            node = target.node if wiring.is_target(target) else None
            yield made(graph, "name-unbound", "edges", place, {"name": quote(edge.name)}, node=node)
        elif not wiring.is_source(source):
            yield self.missing(place, edge, source, "output")
        if not wiring.is_target(target):
            yield self.missing(place, edge, target, "input")

    def missing(self, place: int, edge: Edge, port: Port, kind: str) -> GraphViolation:
        """The violation of one end; ``kind``: what it would be of a node."""
        graph = self.graph
        shown = shown_edge(edge)
        if port.node is None:
            ends, what = (graph.inputs, "input") if kind == "output" else (graph.outputs, "output")
            words = {"edge": shown, "number": port.place, f"{what}s": counted(len(ends), what)}
            return made(graph, f"{what}-missing", "edges", place, words)
        if not 0 <= port.node < len(graph.nodes):
            words = {"edge": shown, "number": port.node, "nodes": counted(len(graph.nodes), "node")}
            return made(graph, "node-missing", "edges", place, words)
        tensors = (self.wiring.outputs if kind == "output" else self.wiring.inputs)[port.node]
        field = None
        if 0 <= port.place < len(tensors):
            field = tensors[port.place][0]
            why = f"which is {field}, and the desc leaves {field} out"
        else:
            why = f"which has {counted(len(tensors), kind)}"
        words = {"edge": shown, "kind": kind, "number": port.place, "node": graph.label(port.node), "why": why}
        return made(graph, "tensor-missing", "edges", place, words, node=port.node, field=field)

    def edge(self, place: int, edge: Edge) -> Iterator[GraphViolation]:
        """Two tensors that are not the same bytes."""
        graph, source, target = self.graph, edge.source, edge.target
        assert source is not None
        if source.node is None and target.node is None:
            words: dict[str, object] = {"output": _named(graph.outputs[target.place].name, target.place)}
            words["input"] = _named(graph.inputs[source.place].name, source.place)
            yield made(graph, "passed-through", "edges", place, words)
        given, needed = self.wiring.desc_of(source), self.wiring.desc_of_target(target)
        if given is None or needed is None or self.is_unknown(source):
            return
        types, sizes = (dtype_name(needed), dtype_name(given)), (in_bytes(needed), in_bytes(given))
        differ = None not in types and types[0] != types[1]
        hint = f"Their data types differ, {types[0]} and {types[1]}: CAST converts elements." if differ else ""
        node = None if source.node is None else graph.nodes[source.node]
        if isinstance(node, Constant):
            if is_short(node) or node.size is None or minimum_size(needed) is None:
                return
            slug = "" if fits(node.size, needed) else "constant-size"
            found = {"actual": node.size, "expected": in_bytes(needed)}
        else:
            slug = "edge-size" if None not in sizes and sizes[0] != sizes[1] else ""
            found = {"actual": sizes[0], "expected": sizes[1]}
        if not slug and not differ:
            return
        words = {"target": graph.target_label(target), "source": graph.source_label(source)}
        field = None if target.node is None else self.wiring.inputs[target.node][target.place][0]
        if slug:
            yield made(graph, slug, "edges", place, words | found, node=target.node, field=field, hint=hint)
        else:
            words |= {"actual": types[0], "expected": types[1]}
            yield made(graph, "edge-reinterprets", "edges", place, words, node=target.node, field=field, warning=True)

    def fed(self) -> Iterator[GraphViolation]:
        """Tensors and outputs that no edge leads to, or two. An edge that leads astray may have been meant for them."""
        graph, wiring = self.graph, self.wiring
        astray = {edge.target.node for edge in graph.edges if not wiring.is_target(edge.target)}
        nowhere = any(one is not None and not 0 <= one < len(graph.nodes) for one in astray)
        for target, places in wiring.feeds.items():
            if len(places) > 1:
                astray.add(target.node)
                sources = [graph.edges[place].source for place in places[:2]]
                first, second = (graph.source_label(one) for one in sources if one is not None)
                words = {"target": graph.target_label(target), "first": first, "second": second}
                field = None if target.node is None else wiring.inputs[target.node][target.place][0]
                yield made(graph, "two-edges", "edges", places[1], words, node=target.node, field=field)
        meant = {edge.target for edge in graph.edges}  # edges from nowhere are already reported
        for number, tensors in enumerate(wiring.inputs):
            for index, (field, desc) in enumerate(tensors):
                known = desc is None or nowhere or number in astray
                if not known and Port(number, index) not in meant:
                    words = {"target": graph.target_label(Port(number, index))}
                    yield made(graph, "tensor-unbound", "nodes", number, words, node=number, field=field)
        for index, end in enumerate(graph.outputs):
            if None not in astray and Port(None, index) not in meant:
                yield made(graph, "output-unbound", "outputs", index, {"output": _named(end.name, index)})

    def owned(self) -> Iterator[GraphViolation]:
        """Tensors with the flag OWNED_BY_DML that cannot be bound when a graph is initialised; flags without effect."""
        graph, wiring = self.graph, self.wiring
        for source, targets in wiring.readers.items():
            flagged = {target: is_owned(wiring.desc_of_target(target)) for target in targets if target.node is not None}
            owned = [target for target, flag in flagged.items() if flag]
            if source.node is not None:
                for target in owned:
                    assert target.node is not None
                    words = {"target": graph.target_label(target), "source": graph.source_label(source)}
                    field = wiring.inputs[target.node][target.place][0]
                    yield made(graph, "owned", "nodes", target.node, words, node=target.node, field=field)
            elif owned and len(owned) < len(flagged):
                other = next(target for target, flag in flagged.items() if not flag)
                name = _named(graph.inputs[source.place].name, source.place)
                words = {"owned": graph.target_label(owned[0]), "other": graph.target_label(other), "input": name}
                yield made(graph, "owned-mixed", "inputs", source.place, words)
            elif not owned and flagged and is_owned(graph.inputs[source.place].desc):
                words = {"input": _named(graph.inputs[source.place].name, source.place)}
                yield made(graph, "owned-lost", "inputs", source.place, words, warning=True)

    def cycle(self) -> Iterator[GraphViolation]:
        """A cycle of nodes."""
        found = self.wiring.cycle()
        if found:
            names = [self.graph.label(number) for number in (found if len(found) <= SHOWN else found[: SHOWN - 1])]
            names += [f"... {len(found)} nodes in all"] if len(found) > SHOWN else []
            shown = " -> ".join([*names, names[0]])
            yield made(self.graph, "cycle", "nodes", found[0], {"cycle": shown}, node=found[0])

    def read(self) -> Iterator[GraphViolation]:
        """Warnings of values that nothing reads, and that no edge which leads astray was meant to be of."""
        graph, wiring = self.graph, self.wiring
        begun = {edge.source for edge in graph.edges}
        for port in wiring.sources:
            if port in begun:
                continue
            if port.node is None:
                name = _named(graph.inputs[port.place].name, port.place)
                yield made(graph, "unused", "inputs", port.place, {"input": name}, warning=True)
            else:
                field = wiring.outputs[port.node][port.place][0]
                words = {"source": graph.source_label(port)}
                yield made(graph, "unread", "nodes", port.node, words, node=port.node, field=field, warning=True)


def shown_edge(edge: Edge) -> str:
    """The edge by its indices: from node 2, output 0 to graph output 1."""

    def of(port: Port, kind: str) -> str:
        if port.node is None:
            return f"graph {'input' if kind == 'output' else 'output'} {port.place}"
        return f"node {port.node}, {kind} {port.place}"

    source = quote(edge.name) if edge.source is None else of(edge.source, "output")
    return f"from {source} to {of(edge.target, 'input')}"


def unlike_a_tensor(desc: TensorDesc) -> str:
    """Why no buffer can hold a tensor of this desc; nothing where one can."""
    least, total = minimum_size(desc), in_bytes(desc)
    if least is None or total is None or not desc.sizes:
        return "its data type, sizes, strides or total size are not valid"
    if len(desc.sizes) > MAX_RANK:
        return f"it has {len(desc.sizes)} dimensions, more than {MAX_RANK}"
    return f"its elements take {least} bytes, and its total size is {total}" if total < least else ""


def is_owned(desc: TensorDesc | None) -> bool:
    """Whether a tensor is bound when the graph is initialised."""
    return desc is not None and desc.flags is TensorFlags.OWNED_BY_DML


def is_short(node: Constant) -> bool:
    """Whether a constant does not have all the elements of its own desc."""
    if node.desc is None or node.size is None or unlike_a_tensor(node.desc):
        return False
    return extent(node.desc) > node.size


def fits(size: int, desc: TensorDesc) -> bool:
    """Whether so many bytes are the tensor: all of its elements, and nothing behind them but padding to 4 bytes."""
    total = in_bytes(desc)
    return size == total or (extent(desc) <= size and rounded(size) == total)


def _names_of(graph: Structure) -> Iterator[tuple[Part, int, str]]:
    """The names in a graph, with the part that has each."""
    yield from (("inputs", index, end.name) for index, end in enumerate(graph.inputs))
    yield from (("outputs", index, end.name) for index, end in enumerate(graph.outputs))
    for number, node in enumerate(graph.nodes):
        yield "nodes", number, node.name
        if node.origin is not None:
            yield from (("nodes", number, name) for name in node.origin.to_json().values())
    for port, name in graph.names:
        owners, entry = (graph.inputs, port.place) if port.node is None else (graph.nodes, port.node)
        if 0 <= entry < len(owners) and name != owners[entry].name:
            yield "inputs" if port.node is None else "nodes", entry, name


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _named(name: str, index: int) -> str:
    return f"{index} {quote(name)}" if name else f"{index}"
