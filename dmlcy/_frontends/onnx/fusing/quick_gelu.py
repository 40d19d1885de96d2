"""The product of a value with a sigmoid of a multiple of it becomes a QuickGelu."""

from __future__ import annotations

from dmlcy._frontends.onnx.fusing.editing import Editing, made

TYPES = ("FLOAT", "FLOAT16")


def join(graph: Editing) -> None:
    """The factor is a constant of one element; without any it is 1."""
    for sigmoid in graph.each("Sigmoid"):
        times = graph.reader(sigmoid, "Mul")
        if times is None or graph.element(sigmoid.inputs[0]) not in TYPES:
            continue
        x = graph.other(times, sigmoid.outputs[0])
        nodes, alpha = [sigmoid, times], 1.0
        if sigmoid.inputs[0] != x:
            scaled = graph.giver(sigmoid.inputs[0], "Mul")
            number = graph.constant(graph.other(scaled, x)) if scaled is not None and x in scaled.inputs else None
            if scaled is None or number is None or number.size != 1:
                continue
            nodes, alpha = [scaled, sigmoid, times], float(number.reshape(-1)[0])
        joined = made(nodes[0], "com.microsoft.QuickGelu", (x,), times.outputs, alpha=alpha)
        graph.join(nodes, joined, "QuickGelu")
