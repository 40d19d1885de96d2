"""A Conv takes the zeros that a Pad puts around its input."""

from __future__ import annotations

from dataclasses import replace

from dmlcy._frontends.onnx.fusing.editing import Editing
from dmlcy._frontends.onnx.model import Attribute, Node


def join(graph: Editing) -> None:
    """The paddings are added to those of the Conv."""
    for pad in graph.each("Pad"):
        conv = graph.reader(pad, "Conv")
        pads = None if conv is None or conv.inputs[0] != pad.outputs[0] else _zeros(graph, pad)
        if conv is None or pads is None or graph.attribute(conv, "auto_pad") not in (None, "NOTSET"):
            continue
        half = len(pads) // 2
        outside = [pads[at + side] for side in (0, half) for at in (0, 1)]
        inside = [*pads[2:half], *pads[half + 2 :]]
        own = graph.attribute(conv, "pads") or (0,) * len(inside)
        if any(outside) or min(inside, default=-1) < 0 or len(own) != len(inside):
            continue
        both = tuple(int(one) + more for one, more in zip(own, inside, strict=True))
        attributes = {**conv.attributes, "pads": Attribute("pads", "INTS", both)}
        joined = replace(conv, inputs=(pad.inputs[0], *conv.inputs[1:]), attributes=attributes)
        graph.join((conv, pad), joined, "Pad and Conv")


def _zeros(graph: Editing, pad: Node) -> list[int] | None:
    """How many zeros there are before and behind each axis; None where there may be anything else."""
    if graph.attribute(pad, "mode") != "constant" or any(pad.inputs[3:]):
        return None
    if graph.since(pad) < 11:
        given, value = graph.attribute(pad, "pads"), graph.attribute(pad, "value")
        return [int(one) for one in given] if given is not None and not value else None
    found = graph.constant(pad.inputs[1])
    if found is None or found.size < 6 or found.size % 2:
        return None
    value = graph.constant(pad.inputs[2]) if len(pad.inputs) > 2 and pad.inputs[2] else None
    is_zero = not any(pad.inputs[2:]) or (value is not None and not value.any())
    return [int(one) for one in found.reshape(-1)] if is_zero else None
