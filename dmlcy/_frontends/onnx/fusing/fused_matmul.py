"""A MatMul takes numbers that its matrices or its product are multiplied by, a Transpose before, a Softmax behind."""

from __future__ import annotations

from dmlcy._frontends.onnx.fusing.editing import Editing, made
from dmlcy._frontends.onnx.model import Node

PRODUCTS = ("MatMul", "com.microsoft.FusedMatMul")
TURNS = ("transA", "transB")
TYPES = ("FLOAT", "FLOAT16")


def scale(graph: Editing) -> None:
    """Mul by a constant of one element, or Div by it: before the product, or behind it."""
    for node in graph.each(*PRODUCTS):
        if graph.element(node.inputs[0]) not in TYPES:
            continue
        factor, around = 1.0, list[Node]()
        inputs, outputs = [*node.inputs], node.outputs
        for place, name in enumerate(node.inputs):
            before = graph.giver(name, "Mul", "Div")
            number = _factor(graph, before, "") if before is not None else None
            if before is not None and number is not None:
                inputs[place] = before.inputs[0 if graph.constant(before.inputs[1]) is not None else 1]
                factor *= number
                around.append(before)
        behind = graph.reader(node, "Mul", "Div")
        number = _factor(graph, behind, node.outputs[0]) if behind is not None else None
        if behind is not None and number is not None:
            outputs = behind.outputs
            factor *= number
            around.append(behind)
        if around:
            joined = _made(graph, node, inputs, outputs, alpha=factor * _alpha(graph, node))
            graph.join((node, *around), joined, "FusedMatMul")


def turn(graph: Editing) -> None:
    """A Transpose of the last two axes, whoever else reads it."""
    for node in graph.each(*PRODUCTS):
        inputs, turns = [*node.inputs], dict[str, int]()
        around = []
        for place, name in enumerate(node.inputs):
            before = graph.source(name, "Transpose")
            if before is None or graph.element(name) not in TYPES or not _is_turn(graph, before):
                continue
            inputs[place] = before.inputs[0]
            turns[TURNS[place]] = 1 - int(graph.attribute(node, TURNS[place]) or 0)
            if graph.giver(name) is not None and before not in around:
                around.append(before)
        if turns and not _is_batched(graph, node):
            joined = _made(graph, node, inputs, node.outputs, alpha=_alpha(graph, node), **turns)
            graph.join((node, *around), joined, "FusedMatMul")


def activate(graph: Editing) -> None:
    """A Softmax of one axis, behind a product that took something before: for DirectML only."""
    for node in graph.each("com.microsoft.FusedMatMul"):
        softmax = graph.reader(node, "Softmax")
        if softmax is None:
            continue
        axis, rank = int(graph.attribute(softmax, "axis")), len(graph.shape(softmax.outputs[0]) or ())
        if graph.since(softmax) < 13 and axis not in (-1, rank - 1):  # all axes from this one on are one
            continue
        joined = made(
            node, "com.microsoft.FusedMatMulActivation", node.inputs, softmax.outputs, activation="Softmax",
            activation_axis=axis, **dict(node.attributes),
        )  # fmt: skip
        graph.join((node, softmax), joined, "FusedMatMulActivation")


def _made(graph: Editing, node: Node, inputs: list[str], outputs: tuple[str, ...], alpha: float, **turns: int) -> Node:
    kept = {name: int(graph.attribute(node, name) or 0) for name in (*TURNS, "transBatchA", "transBatchB")}
    return made(node, "com.microsoft.FusedMatMul", inputs, outputs, **{**kept, **turns, "alpha": alpha})


def _alpha(graph: Editing, node: Node) -> float:
    found = graph.attribute(node, "alpha")
    return 1.0 if found is None else float(found)


def _is_batched(graph: Editing, node: Node) -> bool:
    return any(graph.attribute(node, name) for name in ("transBatchA", "transBatchB"))


def _is_turn(graph: Editing, node: Node) -> bool:
    order = graph.attribute(node, "perm")
    rank = len(order or ())
    return rank > 1 and tuple(order) == (*range(rank - 2), rank - 1, rank - 2)


def _factor(graph: Editing, node: Node, product: str) -> float | None:
    """The factor of the other one of a node's inputs; ``product``: that input, if it is known."""
    for place in (1, 0):
        found = graph.constant(node.inputs[place])
        if found is None or found.size != 1 or found.dtype.kind != "f" or node.inputs[place] == product:
            continue
        number = float(found.reshape(-1)[0])
        if node.operator == "Mul":
            return number
        return 1 / number if place == 1 and number else None
    return None
