"""A Gemm takes the Transpose of a matrix before it, or of its product."""

from __future__ import annotations

from dmlcy._frontends.onnx.fusing.editing import Editing, made
from dmlcy._frontends.onnx.model import Node

TURNS = ("transA", "transB")
NAME = "Gemm and Transpose"


def join(graph: Editing) -> None:
    """The product of turned matrices in the other order is the turned product, if nothing is added to it."""
    for node in graph.each("Gemm"):
        turns = {name: int(graph.attribute(node, name)) for name in TURNS}
        inputs, outputs, around = [*node.inputs], node.outputs, list[Node]()
        for place, name in enumerate(node.inputs[:2]):
            before = graph.source(name, "Transpose")
            if before is not None and _is_turn(graph, before):
                inputs[place] = before.inputs[0]
                turns[TURNS[place]] ^= 1
                if graph.is_inner(name):
                    around.append(before)
        behind = graph.reader(node, "Transpose")
        if behind is not None and _is_turn(graph, behind) and not any(node.inputs[2:]):
            inputs[:2], outputs = inputs[1::-1], behind.outputs
            turns = {"transA": turns["transB"] ^ 1, "transB": turns["transA"] ^ 1}
            around.append(behind)
        if inputs != [*node.inputs] or outputs != node.outputs:
            numbers = {name: float(graph.attribute(node, name)) for name in ("alpha", "beta")}
            graph.join((node, *around), made(node, "Gemm", inputs, outputs, **turns, **numbers), NAME)


def _is_turn(graph: Editing, node: Node) -> bool:
    order = graph.attribute(node, "perm")
    return tuple(order or ()) == (1, 0) or (order is None and len(graph.shape(node.inputs[0]) or ()) == 2)
