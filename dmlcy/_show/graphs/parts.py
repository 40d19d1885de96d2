"""The parts that every view of a graph shows: its nodes with their violations, and its edges."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from dmlcy._desc.memory import strides_of
from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._errors import Violation
from dmlcy._field_types.tensor_desc import TensorDesc
from dmlcy._frontends.graphs.profiles import Timing
from dmlcy._graph.model import Constant, Edge, Node, Port, Structure, Tensors, dtype_name
from dmlcy._graph.violations import GraphViolation
from dmlcy._graph.wiring import Wiring, wiring_of
from dmlcy._words.values import quote, show

NO_TIMINGS: Final[Mapping[int, Timing]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Box:
    """An input, a node or an output of the graph.

    ``key``: i0, n3, o1; ``wrong``: the ids of its errors; ``origin``: of a node, in words; ``fused``: the activations
    that it applies, in words; ``timing``: of a node of a profile.
    """

    key: str
    kind: str  # input, constant, node, output
    title: str
    name: str
    wrong: tuple[str, ...]
    origin: str = ""
    fused: str = ""
    timing: Timing | None = None


@dataclass(frozen=True, slots=True)
class Line:
    """An edge between two boxes.

    ``sizes`` and ``dtype``: those of the tensor that reads. ``target``: the input where the edge ends, if its node has
    several. ``source``: the output where the edge begins, if its node has several. ``was``: the value, where the reader
    sees another tensor. ``wrong``: the ids of the errors of the edge.
    """

    begin: str
    end: str
    sizes: str
    wrong: tuple[str, ...]
    dtype: str = ""
    target: str = ""
    source: str = ""
    was: str = ""


def boxes(graph: Structure, violations: Sequence[Violation], timings: Mapping[int, Timing] = NO_TIMINGS) -> list[Box]:
    """The inputs, the nodes, the outputs."""
    wrong = _wrong(graph, violations)
    found = [
        Box(f"i{index}", "input", "input", end.name, wrong.get(("inputs", index), ()))
        for index, end in enumerate(graph.inputs)
    ]
    for number, node in enumerate(graph.nodes):
        kind = "constant" if node.kind == "CONSTANT" else "node"
        origin = "" if node.origin is None else f"from {node.origin}"
        ids = wrong.get(("nodes", number), ())
        box = Box(
            f"n{number}", kind, f"{number} {node.kind}", node.name, ids, origin, _fused(node), timings.get(number)
        )
        found.append(box)
    found += [
        Box(f"o{index}", "output", "output", end.name, wrong.get(("outputs", index), ()))
        for index, end in enumerate(graph.outputs)
    ]
    return found


def lines(graph: Structure, violations: Sequence[Violation]) -> Iterator[Line]:
    """The edges whose two ends exist."""
    wiring, wrong = wiring_of(graph), _wrong(graph, violations)
    for place in wiring.good:
        edge = graph.edges[place]
        assert edge.source is not None
        value = wiring.desc_of(edge.source)
        desc = wiring.desc_of_target(edge.target) or value
        yield Line(
            _key(edge.source, "i"), _key(edge.target, "o"), sizes_of(desc), wrong.get(("edges", place), ()),
            "" if desc is None else dtype_name(desc) or "unknown",
            _of_several(wiring.inputs, edge.target), _of_several(wiring.outputs, edge.source), _was(value, desc),
        )  # fmt: skip


def _key(port: Port, end: str) -> str:
    return f"{end}{port.place}" if port.node is None else f"n{port.node}"


def _fused(node: Node | Constant) -> str:
    """The activations that a node applies to its results, or that its units have."""
    if isinstance(node, Constant):
        return ""
    held = [getattr(node.desc, field.python, None) for field in node.desc.operator.fields if field.among]
    each = [one for value in held for one in (value if isinstance(value, tuple | list) else (value,))]
    return ", ".join(one.operator.name.removeprefix("ACTIVATION_") for one in each if isinstance(one, OperatorDesc))


def _of_several(tensors: Sequence[Tensors], port: Port) -> str:
    """The name of a tensor of a node that has several of its kind."""
    if port.node is None:
        return ""
    there = [path for path, desc in tensors[port.node] if desc is not None]
    return tensors[port.node][port.place][0] if len(there) > 1 else ""


def _was(value: TensorDesc | None, desc: TensorDesc | None) -> str:
    """The tensor that was written, where the one that is read is another one."""
    if value is None or desc is None or value is desc:
        return ""
    dtypes, sizes = [dtype_name(one) for one in (value, desc)], [sizes_of(one) for one in (value, desc)]
    if dtypes[0] != dtypes[1]:
        return f"{dtypes[0]} {sizes[0]}"
    if sizes[0] != sizes[1]:
        return sizes[0]
    try:
        return "" if strides_of(value) == strides_of(desc) else "in other strides"
    except (TypeError, ValueError):  # sizes or strides that are no numbers
        return ""


def sizes_of(desc: TensorDesc | None) -> str:
    """The sizes of a tensor: 1x3x224x224."""
    if desc is None:
        return ""
    sizes: object = desc.sizes
    known = type(sizes) is tuple and all(type(size) is int for size in sizes)
    return "x".join(map(str, desc.sizes)) if known else show(sizes)


def _wrong(graph: Structure, violations: Sequence[Violation]) -> dict[tuple[str, int], tuple[str, ...]]:
    """The ids of errors by the part that they are about; those of an edge are those of its node too.

    An edge that leads astray is not shown: its ids are those of the end that it has.
    """
    found: dict[tuple[str, int], tuple[str, ...]] = {}
    for one in violations:
        if not isinstance(one, GraphViolation) or one.severity != "error" or one.entry is None:
            continue
        keys = {(str(one.part), one.entry)} | ({("nodes", one.node)} if one.node is not None else set())
        if one.part == "edges":
            keys |= _ends(wiring_of(graph), graph.edges[one.entry])
        for key in keys:
            found[key] = tuple(dict.fromkeys((*found.get(key, ()), one.id)))
    return found


def _ends(wiring: Wiring, edge: Edge) -> set[tuple[str, int]]:
    """The parts at the ends of an edge of which one does not exist."""
    ends = [(edge.source, "inputs", wiring.is_source), (edge.target, "outputs", wiring.is_target)]
    known = [(port, part) for port, part, exists in ends if port is not None and exists(port)]
    if len(known) == len(ends):
        return set()
    return {(part, port.place) if port.node is None else ("nodes", port.node) for port, part in known}


def printable(text: str, most: int) -> str:
    """Text that XML and a terminal can take, cut to so many letters."""
    safe = "".join(one if one.isprintable() else "?" for one in text)
    return safe if len(safe) <= most else f"{safe[: most - 1]}…"


def titled(name: str) -> str:
    """A name in a view, in quotation marks; nothing for none."""
    return quote(name) if name else ""
