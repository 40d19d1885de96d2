"""The times of the nodes of a graph, from the JSON of a profile."""

from __future__ import annotations

from dataclasses import dataclass

from dmlcy._frontends.dxdispatch.json import Document, Node
from dmlcy._frontends.dxdispatch.reader import UINT64, Reader
from dmlcy._graph.model import Structure
from dmlcy._graph.profile import VERSION


@dataclass(frozen=True, slots=True)
class Timing:
    """The times of a node in a profile.

    Attributes
    ----------
    share, seconds, operations
        The numbers of the step that computes it. ``operations``: ``None`` where they are not known.
    beside
        The other nodes of this step.
    why
        Of a node that no step computes, why; else nothing.
    """

    share: float = 0
    seconds: float = 0
    operations: int | None = None
    beside: tuple[int, ...] = ()
    why: str = ""


def read(document: Document, graph: Structure) -> dict[int, Timing]:
    """The times by the numbers of the nodes; ModelError for a file that is no profile of this graph."""
    reader = _Reader(document)
    found: dict[int, Timing] = {}
    if reader.expect(document.root, "object"):
        if not reader.version(document.root):
            reader.finish()
        steps = reader.required(document.root, "steps", "array")
        for step in steps.value if steps is not None else ():
            found |= reader.step(step, graph)
        left = reader.optional(document.root, "left_out", "array")
        for one in left.value if left is not None else ():
            found |= reader.left_out(one, graph)
    reader.finish()
    return found


class _Reader(Reader):
    """Takes the members that a picture shows; others are not read."""

    def version(self, root: Node) -> bool:
        """Whether the profile is of this version; a problem where it is not."""
        node = self.required(root, "version", "number")
        found = None if node is None else self.integer(node, 0, UINT64)
        if node is not None and found not in (None, VERSION):
            again = "Write the profile again: dmlcy run GRAPH --profile --format json."
            self.report("DML-MODEL-version", node, hint=again, version=found, known=str(VERSION))
        return found == VERSION

    def step(self, node: Node, graph: Structure) -> dict[int, Timing]:
        """The times of the nodes of a step."""
        if not self.expect(node, "object"):
            return {}
        nodes, operators = (self.required(node, name, "array") for name in ("nodes", "operators"))
        share, seconds = (self.figure(self.required(node, name, "number")) for name in ("share", "seconds"))
        operations = self.figure(self.optional(node, "operations", "number", "null"))
        numbers = [self.number(one, graph) for one in (nodes.value if nodes is not None else ())]
        for number, name in zip(numbers, operators.value if operators is not None else (), strict=False):
            self.same(name, number, graph)
        known = [number for number in numbers if number is not None]
        whole = None if operations is None else int(operations)
        return {
            number: Timing(share or 0, seconds or 0, whole, tuple(one for one in known if one != number))
            for number in known
        }

    def left_out(self, node: Node, graph: Structure) -> dict[int, Timing]:
        """A node that no step computes."""
        if not self.expect(node, "object"):
            return {}
        place, why, name = (
            self.required(node, *member) for member in (("node", "number"), ("why", "string"), ("operator", "string"))
        )
        number = None if place is None else self.number(place, graph)
        if name is not None:
            self.same(name, number, graph)
        return {} if number is None or why is None else {number: Timing(why=why.value)}

    def number(self, node: Node, graph: Structure) -> int | None:
        """The number of a node that the graph has."""
        return self.integer(node, 0, max(len(graph.nodes) - 1, 0))

    def same(self, name: Node, number: int | None, graph: Structure) -> None:
        """Whether the node of the graph is of the operator of the profile; a problem where it is not."""
        if number is None or not self.expect(name, "string") or graph.nodes[number].kind == name.value:
            return
        known = f"the operator of node {number}, {graph.nodes[number].kind}"
        hint = "Take a profile of this graph: dmlcy run GRAPH --profile --format json."
        self.report("DML-MODEL-choice", name, value=name.value, known=known, hint=hint)

    def figure(self, node: Node | None) -> float | None:
        """A number, 0 or more; None where there is none, and a problem where it is negative."""
        if node is None or node.kind == "null":
            return None
        value: float = node.value
        if not 0 <= value < float("inf"):
            self.report("DML-MODEL-range", node, value=value, minimum=0, maximum="any number")
            return None
        return value
