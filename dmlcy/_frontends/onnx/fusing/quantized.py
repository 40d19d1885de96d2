"""A node between DequantizeLinear and QuantizeLinear becomes one of quantized integers."""

from __future__ import annotations

from dataclasses import replace
from typing import Final, NamedTuple

import numpy as np

from dmlcy._frontends.onnx.fusing.editing import Editing, made
from dmlcy._frontends.onnx.model import ELEMENTS, Node

BYTES: Final = ("UINT8", "INT8")
MOVES: Final = ("MaxPool", "Reshape", "Gather", "Transpose")
"""The operators that move elements only, whatever these stand for."""
NAME: Final = "quantized integers"
POOLING: Final = ("auto_pad", "ceil_mode", "count_include_pad", "kernel_shape", "pads", "strides")


class Quantized(NamedTuple):
    """A tensor of quantized integers, its scale and its zero point, and the node that says so."""

    node: Node
    tensor: str
    scale: str
    zero: str
    element: str | None

    @property
    def names(self) -> tuple[str, str, str]:
        return self.tensor, self.scale, self.zero

    @property
    def factors(self) -> tuple[str, str]:
        return self.scale, self.zero


def join(graph: Editing) -> None:
    """All scales and zero points are constants; those of activations have one element."""
    for node in graph.each("Conv", "MatMul", "Add", "AveragePool", "Sigmoid", "Concat", *MOVES):
        joined = _moved(graph, node) if node.operator in MOVES else _computed(graph, node)
        if joined is not None:
            one, around = joined
            graph.join((node, *around), one, NAME)
            for before in {graph.source(name, "DequantizeLinear"): None for name in node.inputs if name}:
                if before is not None and not graph.readers(before.outputs[0]):
                    graph.absorb(before, one, NAME)


def _computed(graph: Editing, node: Node) -> tuple[Node, tuple[Node, ...]] | None:
    """The node in place of one, and the QuantizeLinear behind it."""
    given = [_before(graph, name, weights=node.operator == "Conv" and place == 1)
             for place, name in enumerate(node.inputs[: 2 if node.operator == "Conv" else None])]  # fmt: skip
    inputs = [one for one in given if one is not None and one.element in BYTES]
    if not inputs or len(inputs) < len(given):
        return None
    last = graph.reader(node, "QuantizeLinear")
    if last is None:
        return _to_float(graph, node, inputs) if node.operator == "MatMul" else None
    output = _of(graph, last, inputs[0].element, weights=False)
    if output is None or output.element != inputs[0].element:
        return None
    one = _one(graph, node, inputs, output)
    return None if one is None else (one, (last,))


def _one(graph: Editing, node: Node, inputs: list[Quantized], output: Quantized) -> Node | None:
    """The node of quantized integers."""
    several = [name for one in inputs for name in one.names]
    names, kind = [*several, *output.factors], f"com.microsoft.QLinear{node.operator}"
    kept = dict(node.attributes)
    if node.operator == "Conv":
        bias = node.inputs[2] if len(node.inputs) > 2 else ""
        found = graph.source(bias, "DequantizeLinear") if bias else None
        if bias and (found is None or not _is_bias(graph, found, inputs)):
            return None
        names += [found.inputs[0]] if found is not None else []
    elif node.operator == "AveragePool":
        if any(size != 1 for size in graph.attribute(node, "dilations") or ()):
            return None
        kept = {name: one for name, one in kept.items() if name in POOLING}
    elif node.operator == "Concat":
        names = [*output.factors, *several]
    elif node.operator in ("Add", "MatMul") and len(inputs) != 2:
        return None
    if node.operator in ("Conv", "MatMul"):
        kind = f"ai.onnx.QLinear{node.operator}"
        if inputs[0].element == "INT8" and inputs[1].element != "INT8":
            return None
    elif any(one.element != output.element for one in inputs):
        return None
    return replace(made(node, kind, names, output.node.outputs), attributes=kept)


def _is_bias(graph: Editing, node: Node, inputs: list[Quantized]) -> bool:
    """Whether the integers of a bias have the product of both scales as their scale, and no zero point but 0."""
    scale, zero = (graph.constant(name) for name in (*node.inputs[1:3], "")[:2])
    factors = [graph.constant(one.scale) for one in inputs]
    if scale is None or graph.element(node.inputs[0]) != "INT32" or (zero is not None and zero.any()):
        return False
    x, w = factors
    return x is not None and w is not None and np.allclose(scale, x.reshape(-1) * w, rtol=1e-3, atol=0)


def _to_float(graph: Editing, node: Node, inputs: list[Quantized]) -> tuple[Node, tuple[Node, ...]] | None:
    """A product that is not quantized; DirectML multiplies integers of one data type."""
    a, b = inputs
    if a.element != b.element or graph.element(node.outputs[0]) not in ("FLOAT", "FLOAT16"):
        return None
    names = (a.tensor, b.tensor, a.scale, b.scale, a.zero, b.zero)
    return made(node, "com.microsoft.MatMulIntegerToFloat", names, node.outputs), ()


def _moved(graph: Editing, node: Node) -> tuple[Node, tuple[Node, ...]] | None:
    """The node itself, which reads the integers, if the output has the scale and the zero point of the input."""
    given, last = _before(graph, node.inputs[0], weights=False), graph.reader(node, "QuantizeLinear")
    if given is None or last is None or given.element not in BYTES or len([name for name in node.outputs if name]) > 1:
        return None
    output = _of(graph, last, given.element, weights=False)
    pairs = zip(given.factors, output.factors if output is not None else ("", ""), strict=True)
    if output is None or not all(_is_same(graph, one, other) for one, other in pairs):
        return None
    return replace(node, inputs=(given.tensor, *node.inputs[1:]), outputs=last.outputs), (last,)


def _is_same(graph: Editing, name: str, other: str) -> bool:
    one, two = graph.constant(name), graph.constant(other)
    return one is not None and two is not None and one.dtype == two.dtype and bool((one == two).all())


def _before(graph: Editing, name: str, *, weights: bool) -> Quantized | None:
    """The tensor of integers that a DequantizeLinear makes a value of."""
    node = graph.source(name, "DequantizeLinear")
    return None if node is None else _of(graph, node, graph.element(node.inputs[0]), weights=weights)


def _of(graph: Editing, node: Node, element: str | None, *, weights: bool) -> Quantized | None:
    """The scale and the zero point of a node; a missing zero point is 0. ``weights``: each channel may have a scale."""
    scale, zero = graph.constant(node.inputs[1]), node.inputs[2] if len(node.inputs) > 2 else ""
    if scale is None or element not in BYTES or graph.attribute(node, "block_size"):
        return None
    if scale.size != 1 and not (weights and graph.attribute(node, "axis") == 0):
        return None
    if zero and graph.constant(zero) is None:
        return None
    if not zero:
        zero = graph.new_constant(np.zeros(scale.shape, ELEMENTS[element].numpy), f"{node.inputs[1]}_zero")
    return Quantized(node, node.inputs[0], node.inputs[1], zero, graph.element(zero))
