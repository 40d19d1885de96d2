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
    """What needs a feature level in a graph.

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
    needed = 0
    for node in graph.nodes:
        if isinstance(node, Constant):
            needed = max(needed, CONSTANTS)
        elif needed < NEWEST and node.desc._violations(needed):
            needed = LEVEL_INDEX[minimum_feature_level(node.desc).level]
    level = LEVELS[needed]
    return MinimumLevel(level.name, level.directml, tuple(_reasons(graph, needed)) if needed else ())


def _reasons(graph: Structure, needed: int) -> list[NodeReason]:
    """What the level before it refuses."""
    found = []
    for number, node in enumerate(graph.nodes):
        if isinstance(node, Constant):
            if needed == CONSTANTS:
                found.append(NodeReason(None, graph.label(number), number))
        elif node.desc._violations(needed - 1):
            for reason in minimum_feature_level(node.desc).forced_by:
                of = graph.label(number)
                subject = of if reason.field is None else f"{reason.subject} of {of}"
                found.append(NodeReason(reason.field, subject, number))
    return found
