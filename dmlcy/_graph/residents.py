"""Which values of a graph are in the arena of a run, where, and from which step to which."""

from __future__ import annotations

from dataclasses import dataclass

from dmlcy._graph.actions import actions
from dmlcy._graph.model import Node, Port, Structure
from dmlcy._graph.places import ARENA, places_of
from dmlcy._graph.wiring import wiring_of


@dataclass(frozen=True, slots=True)
class Resident:
    """A value with a place in the arena. ``first`` and ``last``: the steps that write it and read it last."""

    name: str
    port: Port
    operator: str
    first: int
    last: int
    offset: int
    bytes: int


def residents(graph: Structure) -> list[Resident]:
    """The values of a valid graph that have a place in the arena, by the steps that write them.

    A step is a node that is not folded; nodes of a chain run at a time. A value that an output of the graph is copied
    from stays to the end. A view is no value of its own.
    """
    wiring, places = wiring_of(graph), places_of(graph)
    steps = [action for action in actions(graph) if not action.folded]
    at = {action.node: step for step, action in enumerate(steps)}
    last: dict[Port, int] = {}
    for step, action in enumerate(steps):
        end = step if action.chain is None else at[action.chain.nodes[-1]]
        for one in action.read():
            whole = places.views[one.port].root if one.port in places.views else one.port
            last[whole] = max(last.get(whole, 0), end)
    for index in range(len(graph.outputs)):
        port = wiring.source_of(Port(None, index))
        if port is not None:
            last[port] = len(steps) - 1
    found = []
    for step, action in enumerate(steps):
        node = graph.nodes[action.node]
        assert isinstance(node, Node)
        start = step if action.chain is None else at[action.chain.nodes[0]]
        for one in action.outputs:
            base, offset = places.of.get(one.port, (None, 0))
            if base == ARENA and one.port not in places.views:
                name = wiring.value_names[one.port]
                found.append(Resident(name, one.port, node.kind, start, last.get(one.port, step), offset, one.size))
    return found
