"""When each value of a graph is in memory: the steps of a run, and the most bytes that it takes."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate

from dmlcy._desc.memory import extent, is_plain
from dmlcy._desc.whole import Switches
from dmlcy._families import family_of
from dmlcy._graph.actions import NONE, Action, actions
from dmlcy._graph.model import Constant, Node, Origin, Structure
from dmlcy._graph.places import Places, places_of
from dmlcy._graph.wiring import wiring_of
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
        Bytes of the new buffers of its outputs; 0 where it writes over an input, or where there are none.
    workspace
        Bytes that it takes at most beside its tensors, while it runs; an estimate.
    over
        The input that its output is written over; None: it has a buffer of its own.
    frees
        Names of the values that nothing reads after it.
    folded
        Whether it reads constants only, and is computed when the graph is compiled.
    adjacent
        Whether it has nothing to do: its inputs are computed where its output is.
    pieces
        Whether its output is made piece by piece, as its only reader needs it.
    view
        Whether it has nothing to do: its outputs are elements of its input, and read there.
    live
        Bytes of the memory of values that is in use while it runs, its outputs among them, without the workspace.
    origin
        For which node of a foreign file the node was made.
    chain
        The first node of those with which it runs, block by block; None: it runs alone.
    chained
        Whether only these nodes read its outputs, which are never in memory as a whole.
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
    folded: bool = False
    adjacent: bool = False
    view: bool = False
    chain: int | None = None
    chained: bool = False
    pieces: bool = False

    @property
    def written(self) -> str:
        """Its outputs in words: the bytes of new buffers, what they are written over, or why there are none."""
        if self.over:
            return f"over {quote(self.over)}"
        for name in ("folded", "adjacent", "view", "chained", "pieces"):
            if getattr(self, name):
                return name
        return str(self.outputs)


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
        Bytes of the constants, which the graph holds, and of what a compiled graph computes of constants only.
    arena
        Bytes of the one piece of memory in which the values have their places; a place serves one value after another.
    results
        Bytes of the outputs of the graph that are arrays of their own from the start.
    """

    steps: tuple[Step, ...]
    copies: int
    constants: int
    arena: int
    results: int

    @property
    def peak(self) -> int:
        """The bytes that a run asks for, with the largest workspace of a node."""
        workspace = max((step.workspace for step in self.steps), default=0)
        return self.copies + self.arena + self.results + workspace

    def __str__(self) -> str:
        head = ("node", "operator", "outputs", "workspace", "live", "frees")
        rows: list[tuple[str, ...]] = [(*head, "from") if any(step.origin for step in self.steps) else head]
        for step in self.steps:
            name = f"{step.node} {quote(step.name)}" if step.name else str(step.node)
            frees = ", ".join(map(quote, step.frees))
            row = (name, step.operator, step.written, str(step.workspace), str(step.live), frees)
            rows.append((*row, str(step.origin or "")) if len(rows[0]) > len(row) else row)
        widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
        return "\n".join([*lines, f"peak {self.peak} bytes"])


def peak_of(graph: Structure, by_reference: bool, without: Switches = NONE) -> int:
    """The peak of the plan of a valid graph."""
    places = places_of(graph, without)
    workspace = max((_workspace(graph, action, by_reference, places) for action in actions(graph, without)), default=0)
    return _copies(graph) + places.arena + _result_bytes(places) + workspace


def _workspace(graph: Structure, action: Action, by_reference: bool, places: Places) -> int:
    """Bytes that a node takes beside its tensors."""
    node = graph.nodes[action.node]
    assert isinstance(node, Node)
    if action.folded or action.views or action.is_in_pieces or action.node in places.adjacent:
        return 0
    if action.pieces is not None:
        return action.pieces.workspace
    if node.desc.operator.state == "fast" and not by_reference:
        return 0
    # The reference gives new arrays, which are copied.
    return family_of(node.desc.operator).workspace(node.desc) + sum(one.size for one in action.outputs)


def _copies(graph: Structure) -> int:
    """Bytes of the graph inputs that are copied."""
    wiring = wiring_of(graph)
    sizes, readers = wiring.sizes, ((port, wiring.desc_of(port)) for port in wiring.sources if port.node is None)
    return sum(sizes[port] for port, desc in readers if desc is not None and not is_plain(desc, sizes[port]))


def _result_bytes(places: Places) -> int:
    return sum(extent(desc) for _, desc in places.results.values())


def plan_of(graph: Structure, by_reference: bool, without: Switches = NONE) -> Plan:
    """The plan of a valid graph; ``by_reference``: the reference computes every node."""
    wiring, places = wiring_of(graph), places_of(graph, without)
    names = wiring.value_names
    copies = _copies(graph)
    constants = sum(node.size or 0 for node in graph.nodes if isinstance(node, Constant))
    found = actions(graph, without)
    steps = []
    for action, live in zip(found, _live(places, len(found)), strict=True):
        node = graph.nodes[action.node]
        assert isinstance(node, Node)
        inner = () if action.chain is None else action.chain.inner
        total = sum(one.size for one in action.outputs if one.port not in inner)
        constants += total if action.folded else 0
        workspace = _workspace(graph, action, by_reference, places)
        adjacent, is_view = action.node in places.adjacent, bool(action.views)
        new = 0 if action.over is not None or adjacent or is_view or action.folded or action.is_in_pieces else total
        over = None if action.over is None else names[action.over]
        frees = tuple(names[port] for port in action.frees)
        first = None if action.chain is None else action.chain.nodes[0]
        said = node.origin, action.folded, adjacent, is_view, first, bool(inner) and not total, action.is_in_pieces
        steps.append(Step(action.node, node.name, node.kind, new, workspace, over, frees, copies + live, *said))
    return Plan(tuple(steps), copies, constants, places.arena, _result_bytes(places))


def _live(places: Places, count: int) -> list[int]:
    """For each of so many steps, the bytes of the memory that is in use."""
    changes = [0] * (count + 2)
    for life in places.lives:
        changes[life.first] += life.size
        changes[min(life.last, count) + 1] -= life.size
    return [*accumulate(changes[:count])]
