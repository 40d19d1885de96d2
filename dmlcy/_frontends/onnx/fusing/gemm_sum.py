"""A Gemm without a third matrix takes the one that a Sum adds."""

from __future__ import annotations

from dataclasses import replace

from dmlcy._frontends.onnx.fusing.editing import Editing
from dmlcy._frontends.onnx.model import Attribute


def join(graph: Editing) -> None:
    """The addend must be a matrix of the sizes of the product, or be broadcast to these."""
    for node in graph.each("Gemm"):
        total = graph.reader(node, "Sum")
        if total is None or len(total.inputs) != 2 or any(node.inputs[2:]):
            continue
        other, whole = graph.other(total, node.outputs[0]), graph.shape(total.outputs[0])
        sizes = graph.shape(other)
        if sizes is None or whole is None or len(whole) != 2 or len(sizes) > 2 or graph.shape(node.outputs[0]) != whole:
            continue
        beta = {**node.attributes, "beta": Attribute("beta", "FLOAT", 1.0)}
        inputs = (*node.inputs[:2], other)
        joined = replace(node, inputs=inputs, outputs=total.outputs, attributes=beta)
        graph.join((node, total), joined, "Gemm and Sum")
