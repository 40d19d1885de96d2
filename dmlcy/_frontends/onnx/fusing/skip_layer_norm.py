"""A LayerNormalization takes the sum of two tensors before it, and a bias that one of them has."""

from __future__ import annotations

from dmlcy._frontends.onnx.fusing.editing import Editing, made
from dmlcy._frontends.onnx.model import Node, Sizes

NAME = "SkipLayerNormalization"


def join(graph: Editing) -> None:
    """Both tensors have three axes and the same sizes, and nothing else reads the sum."""
    for node in graph.each("LayerNormalization"):
        add = graph.giver(node.inputs[0], "Add")
        if add is None or any(node.outputs[1:]):
            continue
        sizes = graph.shape(add.inputs[0])
        if not _is_whole(sizes) or graph.shape(add.inputs[1]) != sizes or graph.attribute(node, "axis") not in (-1, 2):
            continue
        if graph.shape(node.inputs[1]) != (sizes or ())[-1:]:
            continue
        tensors, bias = _biased(graph, add, sizes)
        inputs = [*tensors, *node.inputs[1:3]]
        if bias is not None:
            inputs += ["", bias.inputs[1]] if len(inputs) == 3 else [bias.inputs[1]]
        epsilon = float(graph.attribute(node, "epsilon"))
        joined = made(node, f"com.microsoft.{NAME}", inputs, node.outputs[:1], epsilon=epsilon)
        graph.join((node, add, *([bias] if bias is not None else [])), joined, NAME)


def _is_whole(sizes: Sizes | None) -> bool:
    return sizes is not None and len(sizes) == 3 and None not in sizes


def _biased(graph: Editing, add: Node, sizes: Sizes | None) -> tuple[tuple[str, str], Node | None]:
    """The two tensors; and if one of them is a sum whose second summand is a vector, this sum."""
    for place in (0, 1):
        inner = graph.giver(add.inputs[place], "Add")
        if inner is None or sizes is None:
            continue
        if graph.shape(inner.inputs[0]) == sizes and graph.shape(inner.inputs[1]) == sizes[-1:]:
            other = add.inputs[1 - place]
            return ((inner.inputs[0], other) if place == 0 else (other, inner.inputs[0])), inner
    return (add.inputs[0], add.inputs[1]), None
