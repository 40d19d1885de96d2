"""Where in an ONNX model: a node, in the graphs around it."""

from __future__ import annotations

from dmlcy._frontends.dxdispatch.problems import Place, printable, whole
from dmlcy._frontends.onnx.model import Node
from dmlcy._words.values import quote


def in_words(node: Node) -> str:
    """A node in a message: its number, its name and its operator."""
    return f"node {node.number}{f' {quote(node.name)}' if node.name else ''} ({printable(node.operator)})"


def place_of(file: str, *steps: Node | str) -> Place:
    """The place of a node. ``steps``: the way to it, such as a node, the attribute with the graph, a node inside."""
    if not steps:
        return whole(file)
    path = ", ".join(printable(step) if isinstance(step, str) else in_words(step) for step in steps)
    nodes = [step for step in steps if isinstance(step, Node)]
    return Place(file, path, 0, 0, byte=nodes[-1].byte if nodes else 0)
