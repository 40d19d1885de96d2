"""A MatMul and the Add of a bias become a Gemm."""

from __future__ import annotations

from math import prod

import numpy as np

from dmlcy._frontends.onnx.fusing.editing import Editing, made
from dmlcy._frontends.onnx.model import Node

TYPES = ("FLOAT", "FLOAT16", "BFLOAT16")
NAME = "MatMul and Add"


def join(graph: Editing) -> None:
    """More than two axes become two, by a Reshape before the Gemm and one behind it."""
    for node in graph.each("MatMul"):
        add = graph.reader(node, "Add")
        if add is None or graph.element(node.inputs[0]) not in TYPES:
            continue
        bias = graph.other(add, node.outputs[0])
        a, b, c = (graph.shape(name) for name in (*node.inputs, bias))
        if a is None or b is None or c is None or len(b) != 2:
            continue
        if not (_is_row(c, b[1]) or (len(a) == 2 and _is_matrix(c, a[0], b[1]))):
            continue
        if len(a) == 2:
            graph.join((node, add), made(node, "Gemm", (*node.inputs, bias), add.outputs), NAME)
            continue
        whole = tuple(one for one in a if isinstance(one, int))
        inner = tuple(one for one in b if isinstance(one, int))
        if len(whole) == len(a) and len(inner) == 2 and not _is_attention(graph, node, add):
            _reshaped(graph, node, add, bias, (whole, inner))


def _is_row(c: tuple[object, ...], columns: object) -> bool:
    return columns is not None and c == (columns,)


def _is_matrix(c: tuple[object, ...], rows: object, columns: object) -> bool:
    """Whether a bias has a row, a column, or an element for each."""
    return columns is not None and (c == (1, columns) or (rows is not None and c in ((rows, 1), (rows, columns))))


def _reshaped(graph: Editing, node: Node, add: Node, bias: str, sizes: tuple[tuple[int, ...], tuple[int, ...]]) -> None:
    a, b = sizes
    rows, element = prod(a[:-1]), graph.element(node.inputs[0])
    before, after = ((rows, b[0]), (rows, b[1]))
    flat, product = (graph.new_value(f"{node.outputs[0]}_{end}", element, one) for end, one in (
        ("rows", before), ("product", after)
    ))  # fmt: skip
    wanted = [graph.new_constant(np.array(one, np.int64), f"{name}_sizes") for name, one in (
        (flat, before), (product, (*a[:-1], b[1]))
    )]  # fmt: skip
    gemm = made(node, "Gemm", (flat, node.inputs[1], bias), (product,))
    first = made(node, "Reshape", (node.inputs[0], wanted[0]), (flat,))
    last = made(add, "Reshape", (product, wanted[1]), add.outputs)
    graph.join((node, add), gemm, NAME, first, last)


def _is_attention(graph: Editing, node: Node, add: Node) -> bool:
    """Whether another pass looks for the nodes as they are: three products of a LayerNormalization, or what follows."""
    above = graph.source(node.inputs[0])
    normal = _normalization(graph, above) if above is not None else None
    if normal is not None:
        return True
    for reader in graph.readers(add.outputs[0]):
        if reader.operator == "Add":
            other = graph.source(graph.other(reader, add.outputs[0]), "LayerNormalization")
            if other is not None and _normalization(graph, other) is not None:
                return True
    return False


def _normalization(graph: Editing, node: Node) -> Node | None:
    """A LayerNormalization that three MatMul and one Add read, and beside them only Shape."""
    if node.operator != "LayerNormalization":
        return None
    kinds = sorted(one.operator for one in graph.readers(node.outputs[0]) if one.operator != "Shape")
    return node if kinds == ["Add", "MatMul", "MatMul", "MatMul"] else None
