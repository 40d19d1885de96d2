"""How messages name a node of a model."""

from __future__ import annotations

from collections.abc import Sequence

from dmlcy._frontends.dxdispatch.problems import Place
from dmlcy._frontends.onnx.model import Node
from dmlcy._words.values import quote


def label(node: Node) -> str:
    """Such as ``node 17 "/conv1/Conv" (Conv)``."""
    name = f" {quote(node.name)}" if node.name else ""
    return f"node {node.number}{name} ({quote(node.operator)[1:-1]})"


def node_path(node: Node, path: Sequence[tuple[Node, str]] = ()) -> str:
    """The label behind those of the nodes that the node is inside of: ``node 3 (If), then_branch, node 1 (Add)``."""
    return ", ".join([*(f"{label(outer)}, {quote(name)[1:-1]}" for outer, name in path), label(node)])


def place_of(file: str, node: Node, path: Sequence[tuple[Node, str]] = ()) -> Place:
    """The place of a node."""
    return Place(file, node_path(node, path), 0, 0, byte=max(node.byte, 0))
