"""Nodes after a Conv that scale or move its channels by constants become a part of the weights and the bias."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from dmlcy._frontends.onnx.fusing.editing import Editing
from dmlcy._frontends.onnx.model import Node
from dmlcy._types import Array


class Scaled(NamedTuple):
    """A factor and a summand for each channel; of ``summand`` a part is multiplied by the factor already."""

    factor: Array
    summand: Array


def join(graph: Editing) -> None:
    """Compute new weights and a new bias."""
    for conv in graph.each("Conv"):
        reader = graph.reader(conv, "BatchNormalization", "Mul", "Add")
        weights = graph.constant(conv.inputs[1])
        has_bias = len(conv.inputs) > 2 and conv.inputs[2] != ""
        bias = graph.constant(conv.inputs[2]) if has_bias else None
        if reader is None or reader.inputs[0] != conv.outputs[0]:
            continue
        if weights is None or weights.ndim < 2 or (has_bias and bias is None):
            continue
        scaled = _scaled(graph, reader, weights)
        if scaled is None:
            continue
        one = scaled.factor.reshape(-1, *[1] * (weights.ndim - 1)) if scaled.factor.size > 1 else scaled.factor
        moved = scaled.summand if bias is None else bias * scaled.factor + scaled.summand
        inputs = [conv.inputs[0], conv.inputs[1], *([conv.inputs[2]] if has_bias else [])]
        if reader.operator != "Add":
            inputs[1] = graph.new_constant((weights * one).astype(weights.dtype), f"{conv.inputs[1]}_scaled")
        if reader.operator != "Mul" or has_bias:
            base = f"{conv.inputs[2] if has_bias else conv.inputs[1]}_moved"
            inputs[2:] = [graph.new_constant(np.broadcast_to(moved, weights.shape[:1]).astype(weights.dtype), base)]
        joined = replace(conv, inputs=tuple(inputs), outputs=reader.outputs[:1])
        graph.join((conv, reader), joined, f"Conv and {reader.operator}")


def _scaled(graph: Editing, reader: Node, weights: Array) -> Scaled | None:
    """The scale and the bias of a node for each channel; None where the node depends on more."""
    zero, one = np.zeros(1, weights.dtype), np.ones(1, weights.dtype)
    if reader.operator == "BatchNormalization":
        return _normalized(graph, reader, weights)
    found = graph.constant(reader.inputs[1])
    if found is None or found.dtype != weights.dtype:
        return None
    sizes = found.shape
    if sizes[:1] == (1,) and len(sizes) == weights.ndim:
        sizes = sizes[1:]
    channels = sizes == (len(weights), *[1] * (weights.ndim - 2))
    if reader.operator == "Mul" and (channels or sizes == ()):
        return Scaled(found.reshape(-1), zero)
    return Scaled(one, found.reshape(-1)) if reader.operator == "Add" and channels else None


def _normalized(graph: Editing, reader: Node, weights: Array) -> Scaled | None:
    """The scale is divided by the deviation, as ONNX Runtime does in the data type of the weights."""
    if graph.attribute(reader, "training_mode") or graph.since(reader) < 7 or any(reader.outputs[1:]):
        return None
    vectors = [graph.constant(name) for name in reader.inputs[1:5]]
    if len(vectors) < 4 or any(one is None or one.shape != weights.shape[:1] for one in vectors):
        return None
    scale, bias, mean, variance = (np.asarray(one, np.float32) for one in vectors)
    with np.errstate(all="ignore"):
        factor = scale / np.sqrt(variance + np.float32(graph.attribute(reader, "epsilon")))
        return Scaled(factor, bias - mean * factor)
