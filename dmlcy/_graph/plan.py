"""When each value of a graph is in memory: the steps of a run, and the most bytes that it takes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from dmlcy._desc.memory import extent, is_packed, strides_of
from dmlcy._families import family_of
from dmlcy._field_types.tensor_desc import TensorDesc
from dmlcy._graph.model import Constant, Node, Origin, Port, Structure
from dmlcy._graph.wiring import Wiring, wiring_of
from dmlcy._words.notebook import Shown
from dmlcy._words.values import quote


@dataclass(frozen=True, slots=True)
class Step:
    """A node as it runs.

    Attributes
    ----------
    node, name, operator
        The number of the node, its name, and its operator.
    outputs
        Bytes of the new buffers of its outputs; 0 where it writes over an input.
    workspace
        Bytes that it takes at most beside its tensors, while it runs; an estimate.
    over
        The input that its output is written over; None: it has a buffer of its own.
    frees
        Names of the values that nothing reads after it.
    live
        Bytes of the buffers that there are while it runs, its outputs among them, without the workspace.
    origin
        For which node of a foreign file the node was made.
    """

    node: int
    name: str
    operator: str
    outputs: int
    workspace: int
    over: str | None
    frees: tuple[str, ...]
    live: int
    origin: Origin | None = None


@dataclass(frozen=True, slots=True)
class Plan(Shown):
    """The memory of a run. The arrays that a call is given, and the constants of the graph, are not counted.

    Attributes
    ----------
    steps
        The nodes in their order.
    copies
        Bytes of graph inputs that are copied, because their descs have strides.
    constants
        Bytes of the constants, which the graph holds.
    """

    steps: tuple[Step, ...]
    copies: int
    constants: int

    @property
    def peak(self) -> int:
        """The most bytes at a time, with the workspace of the node that runs then."""
        return max((step.live + step.workspace for step in self.steps), default=0)

    def __str__(self) -> str:
        head = ("node", "operator", "outputs", "workspace", "live", "frees")
        rows: list[tuple[str, ...]] = [(*head, "from") if any(step.origin for step in self.steps) else head]
        for step in self.steps:
            name = f"{step.node} {quote(step.name)}" if step.name else str(step.node)
            outputs = f"over {quote(step.over)}" if step.over else str(step.outputs)
            frees = ", ".join(map(quote, step.frees))
            row = (name, step.operator, outputs, str(step.workspace), str(step.live), frees)
            rows.append((*row, str(step.origin or "")) if len(rows[0]) > len(row) else row)
        widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
        return "\n".join([*lines, f"peak {self.peak} bytes"])


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
    is written over.
    """

    node: int
    inputs: tuple[Any, ...]
    outputs: tuple[Tensor, ...]
    over: Port | None
    frees: tuple[Port, ...]

    def read(self) -> Iterator[Tensor]:
        """The tensors that the node reads."""
        for one in self.inputs:
            if one is not None:
                yield from one if isinstance(one, tuple) else (one,)


def actions(graph: Structure) -> list[Action]:
    """What a run of a valid graph does, in order."""
    wiring = wiring_of(graph)
    order = [number for number in wiring.order if isinstance(graph.nodes[number], Node)]
    kept = {graph.edges[place].source for place in wiring.good if graph.edges[place].target.node is None}
    last: dict[Port, int] = {}
    for step, number in enumerate(order):
        for port in (wiring.source_of(Port(number, index)) for index in range(len(wiring.inputs[number]))):
            if port is not None:
                last[port] = step
    ends: dict[int, list[Port]] = {}
    for port, step in last.items():
        if port not in kept and is_computed(graph, port):
            ends.setdefault(step, []).append(port)
    found = []
    for step, number in enumerate(order):
        frees = ends.get(step, [])
        outputs = tuple(
            Tensor(port := Port(number, index), desc, wiring.sizes[port])
            for index, (_, desc) in enumerate(wiring.outputs[number])
            if desc is not None
        )
        over = _over(graph, wiring, number, outputs, frees)
        unread = [one.port for one in outputs if one.port not in last and one.port not in kept]
        gone = tuple(port for port in frees if port != over) + tuple(unread)
        found.append(Action(number, _grouped(graph, wiring, number), outputs, over, gone))
    return found


def is_computed(graph: Structure, port: Port) -> bool:
    """Whether a node computes the value."""
    return port.node is not None and not isinstance(graph.nodes[port.node], Constant)


def _grouped(graph: Structure, wiring: Wiring, number: int) -> tuple[Any, ...]:
    """The tensors that a node reads, by its input fields."""
    node = graph.nodes[number]
    assert isinstance(node, Node)
    found: dict[str, Any] = {f.python: None for f in node.desc.operator.fields if f.kind == "input"}
    for index, (path, desc) in enumerate(wiring.inputs[number]):
        port = wiring.source_of(Port(number, index))
        if desc is None or port is None:
            continue
        name, entry, _ = path.partition("[")
        tensor = Tensor(port, desc, wiring.sizes[port])
        found[name] = (*(found[name] or ()), tensor) if entry else tensor
    return tuple(found.values())


def _over(graph: Structure, wiring: Wiring, number: int, outputs: tuple[Tensor, ...], frees: list[Port]) -> Port | None:
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
    ports = [wiring.source_of(Port(number, index)) for index in range(len(wiring.inputs[number]))]
    for index, (path, desc) in enumerate(wiring.inputs[number]):
        port = ports[index]
        if port in frees and port is not None and ports.count(port) == 1 and desc is not None:
            allowed = path in node.desc.operator.in_place
            if allowed and _alike(desc, output.desc) and output.size <= wiring.sizes[port]:
                return port
    return None


def _alike(desc: TensorDesc, other: TensorDesc) -> bool:
    return (desc.dtype, desc.sizes, strides_of(desc)) == (other.dtype, other.sizes, strides_of(other))


def is_plain(desc: TensorDesc, size: int) -> bool:
    """Whether the elements are the buffer of so many bytes: packed, with nothing behind them."""
    return is_packed(desc) and size == extent(desc)


def plan_of(graph: Structure, by_reference: bool) -> Plan:
    """The plan of a valid graph; ``by_reference``: the reference computes every node."""
    wiring = wiring_of(graph)
    names = wiring.value_names
    readers = [(port, wiring.desc_of(port)) for port in wiring.sources if port.node is None]
    buffers = wiring.sizes
    copies = sum(buffers[port] for port, desc in readers if desc is not None and not is_plain(desc, buffers[port]))
    live, steps = copies, []
    sizes: dict[Port, int] = {}
    for action in actions(graph):
        node = graph.nodes[action.node]
        assert isinstance(node, Node)
        total = sum(one.size for one in action.outputs)
        sizes |= {one.port: sizes[action.over] if action.over else one.size for one in action.outputs}
        fast = node.desc.operator.state == "fast" and not by_reference
        workspace = 0 if fast else family_of(node.desc.operator).workspace(node.desc)
        if not fast and (action.over is not None or not all(is_plain(one.desc, one.size) for one in action.outputs)):
            workspace += total  # the reference gives a new array, which is copied
        new = 0 if action.over is not None else total
        live += new
        over = None if action.over is None else names[action.over]
        frees = tuple(names[port] for port in action.frees)
        steps.append(Step(action.node, node.name, node.kind, new, workspace, over, frees, live, node.origin))
        live -= sum(sizes[port] for port in action.frees)
    constants = sum(node.size or 0 for node in graph.nodes if isinstance(node, Constant))
    return Plan(tuple(steps), copies, constants)
