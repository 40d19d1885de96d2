"""A Gelu takes the bias that is added before it."""

from __future__ import annotations

from dmlcy._frontends.onnx.fusing.editing import Editing, made


def join(graph: Editing) -> None:
    """The bias is a vector for the last axis."""
    for gelu in graph.each("com.microsoft.Gelu"):
        add = graph.giver(gelu.inputs[0], "Add")
        sizes = [None, None] if add is None else [graph.shape(name) for name in add.inputs]
        if add is None or None in sizes:
            continue
        place = next((p for p in (1, 0) if len(sizes[p] or ()) == 1 and (sizes[1 - p] or ())[-1:] == sizes[p]), None)
        if place is not None:
            inputs = add.inputs[1 - place], add.inputs[place]
            graph.join((gelu, add), made(gelu, "com.microsoft.BiasGelu", inputs, gelu.outputs), "BiasGelu")
