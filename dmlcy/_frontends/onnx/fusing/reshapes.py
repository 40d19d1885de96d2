"""Of Reshape nodes behind each other, the last one is enough."""

from __future__ import annotations

import numpy as np

from dmlcy._frontends.onnx.fusing.editing import Editing, made


def join(graph: Editing) -> None:
    """The sizes behind them must be known, and have no 0."""
    for node in graph.each("Reshape"):
        before = graph.giver(node.inputs[0], "Reshape")
        sizes = graph.sizes(node.outputs[0])
        if before is None or not sizes or 0 in sizes or graph.attribute(node, "allowzero"):
            continue
        wanted = graph.new_constant(np.array(sizes, np.int64), f"{node.outputs[0]}_sizes")
        joined = made(node, "Reshape", (before.inputs[0], wanted), node.outputs)
        graph.join((node, before), joined, "contiguous Reshape")
