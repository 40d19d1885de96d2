"""Recurrent networks: ONNX has their tensors without a leading axis, and the sequence first."""

from __future__ import annotations

from typing import Any

import numpy as np

import dmlcy.desc as desc
from onnx_mapping.node import Array, Node, NotExpressible, converts, dml

DEFAULTS = {"RNN": ["Tanh"], "GRU": ["Sigmoid", "Tanh"], "LSTM": ["Sigmoid", "Tanh", "Tanh"]}
DIRECTIONS = {b"forward": "FORWARD", b"reverse": "BACKWARD", b"bidirectional": "BIDIRECTIONAL"}
ACTIVATIONS = {
    "Tanh": desc.ActivationTanh, "Sigmoid": desc.ActivationSigmoid, "Relu": desc.ActivationRelu,
}  # fmt: skip


@converts(*DEFAULTS)
def recurrent(node: Node) -> Any:
    """Outputs: all of the sequence, its last one, and for LSTM the last cell."""
    batchwise = bool(node.attribute("layout", 0))
    if node.attribute("clip") is not None and node.kind != "LSTM":
        raise NotExpressible("only LSTM has a threshold to clip at")
    x = node[0].swapaxes(0, 1) if batchwise else node[0]
    length, batch, _ = x.shape
    direction = DIRECTIONS[node.attribute("direction", b"forward")]
    directions = 2 if direction == "BIDIRECTIONAL" else 1
    names = [name.decode() for name in node.attribute("activations", [])] or DEFAULTS[node.kind] * directions
    hidden = node.get(5)
    tensors = [x[np.newaxis], node[1][np.newaxis], node[2][np.newaxis], _bias(node.get(3))]
    tensors.append(_state(hidden, batchwise))
    more: dict[str, Any] = {"output_sequence": True, "output_single": True}
    lengths = node.get(4)
    counts = None if lengths is None else lengths.astype(np.uint32).reshape(1, 1, 1, batch)
    if node.kind == "LSTM":
        peephole = node.get(7)
        weights = None if peephole is None else peephole[np.newaxis, np.newaxis]
        tensors += [_state(node.get(6), batchwise), counts, weights]
        more |= {"output_cell_single": True, "couple_input_forget": bool(node.attribute("input_forget", 0))}
    else:
        tensors.append(counts)
    if node.kind == "GRU":
        more["linear_before_reset"] = bool(node.attribute("linear_before_reset", 0))
    function = getattr(dml, node.kind.lower())
    found = function(*tensors, activation_descs=[ACTIVATIONS[name]() for name in names], direction=direction, **more)
    whole, *last = found
    ends = [one[0].swapaxes(0, 1) if batchwise else one[0] for one in last]
    if batchwise:
        whole = whole.transpose(2, 0, 1, 3)
    return _asked(node, [whole, *ends], length)


def _asked(node: Node, found: list[Array], length: int) -> Any:
    """The outputs that the node has: the first may be left out."""
    return found[1 : node.outputs + 1] if node.attributes["skips_first_output"] else found[: node.outputs]


def _bias(bias: Array | None) -> Array | None:
    return None if bias is None else bias[np.newaxis, np.newaxis]


def _state(state: Array | None, batchwise: bool) -> Array | None:
    return None if state is None else (state.swapaxes(0, 1) if batchwise else state)[np.newaxis]
