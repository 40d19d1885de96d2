"""A Clip takes the work of the Relu before it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dmlcy._frontends.onnx.fusing.editing import Editing
from dmlcy._frontends.onnx.model import Attribute


def join(graph: Editing) -> None:
    """The least value is 0 then, unless it is more."""
    for relu in graph.each("Relu"):
        clip = graph.reader(relu, "Clip")
        if clip is None or graph.since(clip) < 6:
            continue
        if graph.since(clip) < 11:
            least = max(float(graph.attribute(clip, "min")), 0.0)
            inputs, attributes = relu.inputs, {**clip.attributes, "min": Attribute("min", "FLOAT", least)}
        else:
            name = clip.inputs[1] if len(clip.inputs) > 1 else ""
            given = graph.constant(name) if name else np.array(0, np.float32)
            element = graph.element(relu.inputs[0])
            if given is None or given.size != 1 or element not in ("FLOAT", "FLOAT16"):
                continue
            kind = np.float32 if element == "FLOAT" else np.float16
            if not name or given.reshape(-1)[0] < 0:
                name = graph.new_constant(np.array(0, kind), f"{clip.outputs[0]}_min")
            inputs, attributes = (relu.inputs[0], name, *clip.inputs[2:]), {**clip.attributes}
        graph.join((clip, relu), replace(clip, inputs=inputs, attributes=attributes), "Relu and Clip")
