"""The lowest feature level of each node of a graph, also of a graph with violations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from dmlcy._desc.minimum import LevelReason, MinimumLevel, minimum_feature_level
from dmlcy._errors import DmlError
from dmlcy._facts.levels import NEWEST
from dmlcy._facts.tables import LEVEL_INDEX, LEVELS, FeatureLevelName
from dmlcy._graph.check import CONSTANTS, counted
from dmlcy._graph.model import Constant, Node, Origin, Structure
from dmlcy._words.notebook import Shown
from dmlcy._words.values import quote

HEAD: Final = ("node", "operator", "level", "for", "from")


@dataclass(frozen=True, slots=True)
class NodeLevel:
    """A node, and the feature level that it needs.

    Attributes
    ----------
    node, name, operator, origin
        The number of the node, its name, its operator, and for which node of a foreign file the node was made.
    level
        The lowest level at which the desc of the node is valid; None where there is none.
    forced_by
        The reasons why the level before it refuses the graph; empty at the first level.
    """

    node: int
    name: str
    operator: str
    origin: Origin | None
    level: FeatureLevelName | None
    forced_by: tuple[LevelReason, ...]


@dataclass(frozen=True, slots=True)
class LevelTable(Shown):
    """The levels of the nodes of a graph, constants apart.

    Attributes
    ----------
    nodes
        The operators in the order of the graph.
    constants
        The number of constant nodes.
    """

    nodes: tuple[NodeLevel, ...]
    constants: int

    @property
    def level(self) -> FeatureLevelName | None:
        """The lowest level at which all operators are valid; None where one is valid at no level."""
        found = [LEVEL_INDEX[one.level] for one in self.nodes if one.level is not None]
        return LEVELS[max(found, default=0)].name if len(found) == len(self.nodes) else None

    @property
    def level_of_constants(self) -> FeatureLevelName | None:
        """The level that constant nodes need; None where the graph has none."""
        return LEVELS[CONSTANTS].name if self.constants else None

    def rows(self) -> list[tuple[str, ...]]:
        """The cells of the table, without its head."""
        found: list[tuple[str, ...]] = []
        for one in self.nodes:
            name = f"{one.node} {quote(one.name)}" if one.name else str(one.node)
            subjects = ", ".join(reason.subject for reason in one.forced_by)
            found.append((name, one.operator, one.level or "none", subjects, str(one.origin or "")))
        return found

    def summary(self) -> list[str]:
        """The level of the operators, and that of the constants where there are any."""
        constants = f"{counted(self.constants, 'constant')} {self.level_of_constants}"
        return [f"operators {self.level or 'none'}", *([constants] if self.constants else [])]

    def __str__(self) -> str:
        rows = [HEAD, *self.rows()]
        widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
        return "\n".join([*lines, *self.summary()])


def levels_of(graph: Structure) -> LevelTable:
    """The table of a graph."""
    known: dict[int, MinimumLevel | None] = {}  # many nodes share a desc
    rows = []
    for number, node in enumerate(graph.nodes):
        if isinstance(node, Node):
            if id(node.desc) not in known:
                known[id(node.desc)] = None if node.refused_at(NEWEST) else _minimum(node)
            found = known[id(node.desc)]
            level, reasons = (None, ()) if found is None else (found.level, found.forced_by)
            rows.append(NodeLevel(number, node.name, node.kind, node.origin, level, reasons))
    return LevelTable(tuple(rows), sum(isinstance(node, Constant) for node in graph.nodes))


def _minimum(node: Node) -> MinimumLevel | None:
    try:
        return minimum_feature_level(node.desc)
    except DmlError:
        return None
