"""Violations of a graph, each with its node, its tensor and its place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, TypeAlias

from dmlcy._errors import Violation
from dmlcy._facts.tables import ERRORS
from dmlcy._graph.model import Constant, Node, Origin, Structure, label_of
from dmlcy._words.values import plain

Part: TypeAlias = Literal["graph", "nodes", "edges", "inputs", "outputs"]


@dataclass(frozen=True, slots=True)
class GraphViolation(Violation):
    """One broken condition of a graph, or of the desc of a node.

    Attributes
    ----------
    node, node_name
        The number of the node, and its name; None where the graph itself is meant. ``operator`` is that of the node,
        ``field`` its tensor or attribute.
    origin
        For which node of a foreign file the node was made; None where that is not known.
    part, entry
        Where it is in the graph: ``"nodes"``, ``"edges"``, ``"inputs"`` or ``"outputs"``, and which of them.
    """

    node: int | None = None
    node_name: str | None = None
    part: Part = "graph"
    entry: int | None = None
    origin: Origin | None = None

    def __hash__(self) -> int:
        return Violation.__hash__(self)

    def to_json(self) -> dict[str, Any]:
        """All attributes, as json.dumps takes them."""
        return {**Violation.to_json(self), "origin": None if self.origin is None else self.origin.to_json()}


def made(
    graph: Structure,
    slug: str,
    part: Part,
    entry: int | None,
    values: Mapping[str, object],
    *,
    node: int | None = None,
    field: str | None = None,
    hint: str = "",
    level: str | None = None,
    warning: bool = False,
) -> GraphViolation:
    """The violation DML-GRAPH-<slug>; ``values`` go into its message."""
    text = ERRORS[f"DML-GRAPH-{slug}"]
    known = None if node is None or not 0 <= node < len(graph.nodes) else graph.nodes[node]
    return GraphViolation(
        id=text.id,
        operator="GRAPH" if known is None else known.kind,
        field=field,
        member=None,
        index=None,
        message=text.message.format(**values),
        rule=None,
        values={key: plain(one) for key, one in values.items()},
        hint=hint,
        fix=None,
        level=level,
        provenance="documented",
        error=text.error,
        severity="warning" if warning else "error",
        node=None if known is None else node,
        node_name=None if known is None else known.name or None,
        part=part,
        entry=entry,
        origin=None if known is None else known.origin,
    )


def of_node(found: Violation, node: Node | Constant, number: int) -> GraphViolation:
    """A violation of the desc of a node: it says which node."""
    values: dict[str, Any] = {one.name: getattr(found, one.name) for one in fields(Violation)}
    values["message"] = f"{label_of(node, number)}: {found.message}"
    return GraphViolation(
        **values, node=number, node_name=node.name or None, part="nodes", entry=number, origin=node.origin
    )


def without_label(graph: Structure, one: GraphViolation) -> GraphViolation:
    """The violation, whose message names the operator in place of the node, for a place that says which node it is."""
    if one.node is None:
        return one
    node = graph.nodes[one.node]
    message = one.message.replace(label_of(node, one.node), node.kind)
    is_of_operator = message.startswith(f"{node.kind}: {node.kind} ")
    return replace(one, message=message.removeprefix(f"{node.kind}: ") if is_of_operator else message)
