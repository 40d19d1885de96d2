"""The lowest feature level of a graph, and the nodes that need it."""

from __future__ import annotations

from dataclasses import dataclass

from dmlcy._desc.minimum import LevelReason, MinimumLevel, minimum_feature_level
from dmlcy._errors import raise_violations
from dmlcy._facts.levels import NEWEST
from dmlcy._facts.tables import LEVEL_INDEX, LEVELS
from dmlcy._graph.check import CONSTANTS, violations
from dmlcy._graph.model import Constant, Structure


@dataclass(frozen=True, slots=True)
class NodeReason(LevelReason):
    """A part of a graph that needs a feature level.

    Attributes
    ----------
    node
        The number of the node.
    """

    node: int


def minimum_level(graph: Structure) -> MinimumLevel:
    """The lowest level at which a graph is valid; raises its violations where there is none."""
    found = [one for one in violations(graph, NEWEST) if one.severity == "error"]
    if found:
        raise_violations(found, "minimum_feature_level")
    return lowest(graph)


def lowest(graph: Structure) -> MinimumLevel:
    """The lowest level of a graph in which nothing but descs can be wrong."""
    needed = 0
    seen: set[int] = set()  # many nodes share a desc
    for node in graph.nodes:
        if isinstance(node, Constant):
            needed = max(needed, CONSTANTS)
        elif needed < NEWEST and id(node.desc) not in seen:
            seen.add(id(node.desc))
            if node.desc._violations(needed):
                needed = LEVEL_INDEX[minimum_feature_level(node.desc).level]
    level = LEVELS[needed]
    return MinimumLevel(level.name, level.directml, tuple(_reasons(graph, needed)) if needed else ())


def _reasons(graph: Structure, needed: int) -> list[NodeReason]:
    """The parts that the level before it refuses."""
    found = []
    known: dict[int, tuple[LevelReason, ...]] = {}
    for number, node in enumerate(graph.nodes):
        if isinstance(node, Constant):
            if needed == CONSTANTS:
                found.append(NodeReason(None, graph.label(number), number))
        else:
            if id(node.desc) not in known:
                low = not node.desc._violations(needed - 1)
                known[id(node.desc)] = () if low else minimum_feature_level(node.desc).forced_by
            for reason in known[id(node.desc)]:
                of = graph.label(number)
                subject = of if reason.field is None else f"{reason.subject} of {of}"
                found.append(NodeReason(reason.field, subject, number))
    return found
