"""A normalization, written with ReduceMean, becomes a LayerNormalization."""

from __future__ import annotations

from dmlcy._frontends.onnx.fusing.editing import Editing, made
from dmlcy._frontends.onnx.model import ONNX, Node

EPSILON = 1e-5
"""The number that ONNX Runtime takes where the constant is not known."""


def is_onnx(graph: Editing) -> bool:
    """Whether ONNX has the operator: then the level "basic" makes it."""
    return graph.model.opsets.get(ONNX, 1) >= 17


def join(graph: Editing) -> None:
    """x - mean, divided by the root of the mean of its squares and epsilon, times a scale, plus a bias."""
    for mean in graph.each("ReduceMean"):
        nodes = _pattern(graph, mean)
        if nodes is None:
            continue
        *_, root, divide, times, last = nodes
        rank = len(graph.shape(mean.inputs[0]) or ())
        axes = _axes(graph, mean, rank)
        scale = graph.other(times, divide.outputs[0])
        bias = graph.other(last, times.outputs[0])
        add = graph.source(root.inputs[0], "Add")
        if add is None or axes != [rank - 1] or not _is_vector(graph, scale, bias):
            continue
        number = next((one for one in map(graph.constant, add.inputs) if one is not None and one.size == 1), None)
        epsilon = EPSILON if number is None else float(number.reshape(-1)[0])
        inputs = (mean.inputs[0], scale, bias)
        joined = made(
            mean, "LayerNormalization", inputs, last.outputs, epsilon=epsilon, axis=-1, stash_type=1
        )  # fmt: skip
        graph.join(nodes, joined, "LayerNormalization")


def _is_vector(graph: Editing, scale: str, bias: str) -> bool:
    sizes = graph.shape(scale)
    return sizes is not None and len(sizes) == 1 and sizes == graph.shape(bias)


def _axes(graph: Editing, node: Node, rank: int) -> list[int] | None:
    """The axes of a mean, in their order, counted from the first one; None where they are not known."""
    if not graph.attribute(node, "keepdims") or not rank:
        return None
    given = graph.attribute(node, "axes")
    if given is None and len(node.inputs) > 1:
        found = graph.constant(node.inputs[1])
        given = None if found is None else [int(one) for one in found.reshape(-1)]
    return None if not given else sorted(one % rank for one in given)


def _pattern(graph: Editing, mean: Node) -> list[Node] | None:
    """The nodes of the pattern; the last four are Sqrt, Div, Mul and Add."""
    x, name = mean.inputs[0], mean.outputs[0]
    away = [one for one in graph.readers(name) if graph.is_kind(one, "Sub") and one.inputs == (x, name)]
    if len(away) not in (1, 2) or len(away) != len(graph.readers(name)) or name in graph.outputs:
        return None
    powers = [
        (one, power)
        for one in away
        for power in graph.readers(one.outputs[0])
        if graph.is_kind(power, "Pow") and power.inputs[0] == one.outputs[0] and graph.is_number(power.inputs[1], 2)
    ]
    if len(powers) != 1:
        return None
    nodes = [mean, *away, powers[0][1]]
    for kind in ("ReduceMean", "Add", "Sqrt", "Div", "Mul", "Add"):
        following = graph.reader(nodes[-1], kind)
        if following is None:
            return None
        nodes.append(following)
    divide = nodes[-3]
    divided = graph.source(divide.inputs[0], "Sub")
    readers = sum(len(graph.readers(one.outputs[0])) for one in away)
    is_whole = readers == 2 and not any(one.outputs[0] in graph.outputs for one in away)
    second, rank = nodes[-6], len(graph.shape(x) or ())
    if divided not in away or not is_whole or _axes(graph, mean, rank) != _axes(graph, second, rank):
        return None
    return nodes
