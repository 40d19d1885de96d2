"""What a run of a graph does for each node, in order: what it reads and writes, and which values end then."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from dmlcy._desc.memory import extent, is_packed, strides_of
from dmlcy._desc.whole import Switches
from dmlcy._field_types.tensor_desc import TensorDesc
from dmlcy._graph.model import Constant, Node, Port, Structure
from dmlcy._graph.sharing import Sharing, Spot
from dmlcy._graph.strided import View, Views, views_of
from dmlcy._graph.wiring import Wiring, wiring_of

NONE: Final[Switches] = frozenset()
"""No optimization is left out."""
FEW_BYTES: Final = 65536
"""Values of constants that take no more are computed when a graph is compiled."""


@dataclass(frozen=True, slots=True)
class Tensor:
    """A value as a node reads or writes it. ``size``: the bytes of its buffer."""

    port: Port
    desc: TensorDesc
    size: int


@dataclass(frozen=True, slots=True)
class Action:
    """What a run does for a node: its inputs by field, its outputs, and what it frees then.

    ``inputs``: for each input field a tensor, a tuple of them, or None; ``over``: the port of the value that the output
    is written over; ``folded``: it reads constants only, and its outputs are known before a run; ``spots``: the
    memory of the outputs; ``views``: the outputs, where they are views, and it has nothing to do.
    """

    node: int
    inputs: tuple[Any, ...]
    outputs: tuple[Tensor, ...]
    over: Port | None
    frees: tuple[Port, ...]
    spots: tuple[Spot, ...] = ()
    folded: bool = False
    views: dict[Port, View] = field(default_factory=dict)

    def read(self) -> Iterator[Tensor]:
        """The tensors that the node reads."""
        for one in self.inputs:
            if one is not None:
                yield from one if isinstance(one, tuple) else (one,)


def actions(graph: Structure, without: Switches = NONE) -> list[Action]:
    """What a run of a valid graph does, in order; found once for the optimizations that are left out."""
    known: dict[Switches, list[Action]] = graph.__dict__.setdefault("_actions", {})
    if without not in known:
        known[without] = _actions(graph, without)
    return known[without]


def _actions(graph: Structure, without: Switches) -> list[Action]:
    wiring = wiring_of(graph)
    order = [number for number in wiring.order if isinstance(graph.nodes[number], Node)]
    kept = {graph.edges[place].source for place in wiring.good if graph.edges[place].target.node is None}
    views = {} if "views" in without else views_of(graph, wiring, kept)
    folded = set() if "folded" in without else _folded(graph, wiring, views)
    last = _last(wiring, order, kept)
    sharing = Sharing(views, last, wiring.sizes)
    ends: dict[int, list[Port]] = {}
    for port in last:
        if is_computed(graph, port) and port.node not in folded and port not in views and port not in kept:
            ends.setdefault(sharing.until(port), []).append(port)
    found = []
    for step, number in enumerate(order):
        outputs = tuple(
            Tensor(port := Port(number, index), desc, wiring.sizes[port])
            for index, (_, desc) in enumerate(wiring.outputs[number])
            if desc is not None
        )
        given = _grouped(graph, wiring, number)
        if number in folded:
            found.append(Action(number, given, outputs, None, (), folded=True))
            continue
        seen = {one.port: views[one.port] for one in outputs if one.port in views}
        over = None if seen or "in_place" in without else _over(graph, wiring, step, number, outputs, sharing)
        spots = () if seen else tuple(sharing.computed(one.port, over, step) for one in outputs)
        gone = tuple(port for port in ends.get(step, ()) if port != over)
        found.append(Action(number, given, outputs, over, gone, spots, views=seen))
    return found


def _last(wiring: Wiring, order: list[int], kept: set[Port | None]) -> dict[Port, int]:
    """The last step that reads each value, or computes it; one behind all steps, for an output of the graph."""
    found: dict[Port, int] = {}
    for step, number in enumerate(order):
        found |= {Port(number, index): step for index, (_, desc) in enumerate(wiring.outputs[number]) if desc}
        found |= {port: step for port in wiring.read[number] if port is not None}
    return found | {port: len(order) for port in kept if port is not None}


def _folded(graph: Structure, wiring: Wiring, views: Views) -> set[int]:
    """The nodes that read constants only, and whose outputs take no more memory than these, or little.

    All outputs together take no more than all constants, or little.
    """
    found: set[int] = set()
    left = max(sum(node.size or 0 for node in graph.nodes if isinstance(node, Constant)), FEW_BYTES)
    for number in wiring.order:
        node = graph.nodes[number]
        if isinstance(node, Constant) or any(Port(number, k) in views for k in range(len(wiring.outputs[number]))):
            continue
        there = [port for (_, desc), port in zip(wiring.inputs[number], wiring.read[number], strict=True) if desc]
        if all(_is_known(graph, port, found, views) for port in there):
            taken = sum(wiring.sizes[port] for port in there if port is not None)
            made = sum(wiring.sizes[Port(number, k)] for k, (_, desc) in enumerate(wiring.outputs[number]) if desc)
            if made <= min(max(taken, FEW_BYTES), left):
                left -= made
                found.add(number)
    return found


def _is_known(graph: Structure, port: Port | None, folded: set[int], views: Views) -> bool:
    """Whether a value is there before the first run."""
    if port is not None and port in views:
        port = views[port].root
    if port is None or port.node is None:
        return False
    node = graph.nodes[port.node]
    return port.node in folded if isinstance(node, Node) else node.data is not None


def is_computed(graph: Structure, port: Port) -> bool:
    """Whether a node computes the value."""
    return port.node is not None and not isinstance(graph.nodes[port.node], Constant)


def _grouped(graph: Structure, wiring: Wiring, number: int) -> tuple[Any, ...]:
    """The tensors that a node reads, by its input fields."""
    node = graph.nodes[number]
    assert isinstance(node, Node)
    found: dict[str, Any] = {f.python: None for f in node.desc.operator.fields if f.kind == "input"}
    for (path, desc), port in zip(wiring.inputs[number], wiring.read[number], strict=True):
        if desc is None or port is None:
            continue
        name, entry, _ = path.partition("[")
        tensor = Tensor(port, desc, wiring.sizes[port])
        found[name] = (*(found[name] or ()), tensor) if entry else tensor
    return tuple(found.values())


def _over(
    graph: Structure, wiring: Wiring, step: int, number: int, outputs: tuple[Tensor, ...], sharing: Sharing
) -> Port | None:
    """The value over which the output of a node is written: an input that nothing reads again, laid out like it.

    The output covers all bytes that a reader can see of it: what is between its elements would be that of the input.
    """
    node = graph.nodes[number]
    assert isinstance(node, Node)
    if len(outputs) != 1:
        return None
    (output,) = outputs
    if not is_plain(output.desc, output.size):
        return None
    ports = wiring.read[number]
    for (path, desc), port in zip(wiring.inputs[number], ports, strict=True):
        if port is None or desc is None or path not in node.desc.operator.in_place or ports.count(port) > 1:
            continue
        if _alike(desc, output.desc) and sharing.may_write(port, desc, step, output.size):
            return port
    return None


def _alike(desc: TensorDesc, other: TensorDesc) -> bool:
    if desc is other:
        return True
    if desc.strides is None is other.strides:
        return bool(desc.dtype == other.dtype and desc.sizes == other.sizes)
    return (desc.dtype, desc.sizes, strides_of(desc)) == (other.dtype, other.sizes, strides_of(other))


def is_plain(desc: TensorDesc, size: int) -> bool:
    """Whether the elements are the buffer of so many bytes: packed, with nothing behind them."""
    return is_packed(desc) and size == extent(desc)
