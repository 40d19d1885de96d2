"""Nodes that compute the same as another one."""

from __future__ import annotations

from dmlcy._frontends.onnx.fusing.editing import Editing
from dmlcy._frontends.onnx.model import Node

DRAWN = (
    "RandomNormal",
    "RandomNormalLike",
    "RandomUniform",
    "RandomUniformLike",
    "Multinomial",
    "Bernoulli",
    "Dropout",
)
"""The operators that need not give the same twice."""


def join(graph: Editing) -> None:
    """The readers of the second node read the outputs of the first one. Nodes that give outputs of the model stay."""
    known: dict[object, Node] = {}
    for node in [*graph.each()]:
        key = None if any(name in graph.outputs for name in node.outputs) else _key(node)
        first = known.setdefault(key, node) if key is not None else node
        if first is not node:
            graph.replace(node, first, "common nodes")


def _key(node: Node) -> object | None:
    """A key that is equal for two nodes that compute the same; None for a node that may compute anything else."""
    attributes = node.attributes.values()
    plain = all(one.kind in ("INT", "INTS", "FLOAT", "FLOATS", "STRING", "STRINGS") for one in attributes)
    if not plain or node.operator in DRAWN or not node.inputs:
        return None
    said = tuple(sorted((name, repr(one.value)) for name, one in node.attributes.items()))
    return node.domain, node.operator, node.overload, node.inputs, len(node.outputs), said
