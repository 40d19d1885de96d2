"""GELU, written with Erf, becomes a Gelu."""

from __future__ import annotations

from collections.abc import Iterator
from math import sqrt

from dmlcy._frontends.onnx.fusing.editing import Editing, made
from dmlcy._frontends.onnx.model import ONNX, Node

ERF = "Gelu"


def join(graph: Editing, kind: str) -> None:
    """x / sqrt(2) -> Erf -> + 1 -> times x and 0.5, in either order; ``kind``: the operator with its domain."""
    for divide in graph.each("Div"):
        nodes = [*_pattern(graph, divide)]
        if nodes:
            graph.join(nodes, made(divide, kind, divide.inputs[:1], nodes[-1].outputs), ERF)


def is_onnx(graph: Editing) -> bool:
    """Whether ONNX has the operator: then the level "basic" makes it, of which DirectML has no kernel."""
    return graph.model.opsets.get(ONNX, 1) >= 20


def _pattern(graph: Editing, divide: Node) -> Iterator[Node]:
    """The nodes of the pattern; none where something differs."""
    x = divide.inputs[0]
    erf = graph.reader(divide, "Erf") if graph.is_number(divide.inputs[1], sqrt(2)) else None
    add = graph.reader(erf, "Add") if erf is not None else None
    if erf is None or add is None or not graph.is_number(graph.other(add, erf.outputs[0]), 1):
        return
    times = graph.reader(add, "Mul")
    if times is None:
        return
    other = graph.other(times, add.outputs[0])
    half = graph.giver(other, "Mul")
    if half is not None and x in half.inputs and graph.is_number(graph.other(half, x), 0.5):
        yield from (divide, erf, add, half, times)
    elif other == x:
        last = graph.reader(times, "Mul")
        if last is not None and graph.is_number(graph.other(last, times.outputs[0]), 0.5):
            yield from (divide, erf, add, times, last)
