"""Which values of a graph are in the arena of a run, where, and from which step to which."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from dmlcy._graph.actions import actions
from dmlcy._graph.model import Node, Port, Structure
from dmlcy._graph.places import ARENA, Place, places_of
from dmlcy._graph.wiring import wiring_of

NOWHERE: Final[Place] = (0, 0)
"""Of a value that is never in memory as a whole."""


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

    A step is a node that is not folded. A value that an output of the graph is copied from stays to the end.
    """
    wiring, places = wiring_of(graph), places_of(graph)
    steps = [action for action in actions(graph) if not action.folded]
    last: dict[Port, int] = {}
    for step, action in enumerate(steps):
        last |= {one.port: step for one in action.read()}
    for index in range(len(graph.outputs)):
        port = wiring.source_of(Port(None, index))
        if port is not None:
            last[port] = len(steps) - 1
    found = []
    for step, action in enumerate(steps):
        node = graph.nodes[action.node]
        assert isinstance(node, Node)
        for one in action.outputs:
            base, offset = places.of.get(one.port, NOWHERE)
            if base == ARENA:
                name = wiring.value_names[one.port]
                found.append(Resident(name, one.port, node.kind, step, last.get(one.port, step), offset, one.size))
    return found
