"""Nodes that do nothing: Identity, Dropout, and a Cast to the data type that the input has."""

from __future__ import annotations

from dmlcy._frontends.onnx.elements import BY_NUMBER
from dmlcy._frontends.onnx.fusing.editing import Editing
from dmlcy._frontends.onnx.model import Node


def remove(graph: Editing) -> None:
    """Let the readers of such a node read its input."""
    for node in graph.each("Identity", "Dropout", "Cast"):
        if _does_nothing(graph, node):
            graph.remove(node, "no operation")


def _does_nothing(graph: Editing, node: Node) -> bool:
    if not node.inputs or not node.inputs[0] or not node.outputs or not node.outputs[0]:
        return False
    if node.operator == "Identity":
        return True
    if node.operator == "Cast":
        to = graph.attribute(node, "to")
        given = graph.element(node.inputs[0])
        return given is not None and given == (BY_NUMBER.get(to) if isinstance(to, int) else to)
    if len(node.inputs) > 2 and node.inputs[2]:
        return False  # whether the model is being trained may be said when it runs
    masks = [name for name in node.outputs[1:] if name]
    return not any(graph.readers(name) or name in graph.outputs for name in masks)
