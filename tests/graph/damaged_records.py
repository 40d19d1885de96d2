"""Serialized graphs with one value changed, and what is said of it, for test_as_bytes and test_ids_lock."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from graphs import tensor

import dmlcy as dml
from dmlcy._frontends.graphs.to_records import to_records
from dmlcy._frontends.serialized.records import Activation, Attribute, GraphRecord, OperatorNode


def lazy() -> dml.graph.GraphDesc:
    """A graph with constants, optional tensors, an array of tensors, a fused activation, and an output read again."""
    g = dml.Graph()
    x = g.input(tensor(1, 1, 2, 2), name="x")
    c = g.constant(np.array([[[[1, 2], [3, 4]]]], np.float32), name="weights")
    product = g.gemm(x, c, alpha=0.1, fused_activation=dml.desc.ActivationLeakyRelu(alpha=0.3), name="product")
    joined = g.join([product, x], axis=3, name="join")
    return g.build(product=product, joined=joined)


def gemm(record: GraphRecord, **changes: Any) -> GraphRecord:
    """The record with other members of the second node."""
    nodes = [*record.nodes]
    nodes[1] = replace(nodes[1], **changes)
    return replace(record, nodes=tuple(nodes))


def attribute(record: GraphRecord, place: int, **changes: Any) -> GraphRecord:
    """The record with another attribute of the second node."""
    node = record.nodes[1]
    assert isinstance(node, OperatorNode)
    found = [*node.attributes]
    found[place] = replace(found[place], **changes)
    return gemm(record, attributes=tuple(found))


def damaged() -> Iterator[tuple[str, str, GraphRecord]]:
    """Records with one value changed: the id, a part of the message, the record."""
    whole = to_records(lazy())
    node = whole.nodes[1]
    assert isinstance(node, OperatorNode)
    a, b = node.inputs
    unknown = "DML-MODEL-operator-unknown"
    yield unknown, "GEMMM", gemm(whole, type="DML_OPERATOR_GEMMM")
    yield unknown, '"GEMM"', gemm(whole, type="GEMM")
    yield unknown, '"DML_OPERATOR_RELU"', attribute(whole, 4, value=Activation("DML_OPERATOR_RELU", ()))
    yield "DML-GRAPH-file-names", "has 2 names, and must have 3", gemm(
        whole, input_names=node.input_names[:2]
    )  # fmt: skip
    yield "DML-GRAPH-file-names", "has 4 names, 2 of them empty, and must have", gemm(
        whole, input_names=(*node.input_names, "")
    )  # fmt: skip
    yield "DML-GRAPH-file-names", "has no names, and must have 1", gemm(whole, output_names=())
    yield "DML-GRAPH-file-tensors", "has 1 tensor for its inputs, and must have 2", gemm(whole, inputs=(a,))
    yield "DML-GRAPH-file-tensors", "has 3 tensors for its inputs", gemm(whole, inputs=(a, b, b))
    yield "DML-GRAPH-file-tensors", "has no tensors for its outputs, and must have 1", gemm(whole, outputs=())
    yield "DML-GRAPH-file-attributes", "has 4 attributes, and must have 5: TransA, TransB, Alpha", gemm(
        whole, attributes=node.attributes[:4]
    )  # fmt: skip
    yield "DML-GRAPH-file-attribute-name", 'Attribute 0 of node 1 "product" (GEMM) is "TransB"', gemm(
        whole, attributes=(node.attributes[1], node.attributes[0], *node.attributes[2:])
    )  # fmt: skip
    yield "DML-GRAPH-file-attribute-name", "is without a name", attribute(whole, 2, name=None)
    yield "DML-GRAPH-file-attribute-kind", "Alpha of node 1", attribute(whole, 2, kind="UInt32", value=1)
    yield "DML-GRAPH-file-attribute-kind", "of the kind Activation", attribute(whole, 4, kind="ScaleBias", value=None)
    yield "DML-GRAPH-file-attributes", "has no attributes of FusedActivation, and must have 1: Alpha", attribute(
        whole, 4, value=Activation("DML_OPERATOR_ACTIVATION_LEAKY_RELU", ())
    )  # fmt: skip
    yield "DML-GRAPH-file-attribute-kind", "Alpha of FusedActivation of node 1", attribute(
        whole, 4, value=Activation("DML_OPERATOR_ACTIVATION_LEAKY_RELU", (Attribute("Alpha", "Bool", True),))
    )  # fmt: skip
    yield "DML-GRAPH-file-unnamed", "node 1 (GEMM) has no name", gemm(whole, name="")
    yield "DML-GRAPH-file-order", 'reads "product", which node 2 "product" (GEMM) gives later', replace(
        whole, nodes=(whole.nodes[0], whole.nodes[2], whole.nodes[1])
    )  # fmt: skip
    constant = replace(whole.nodes[0], output_names=())
    yield "DML-GRAPH-file-names", "has no names, and must have 1", replace(
        whole, nodes=(constant, *whole.nodes[1:])
    )  # fmt: skip
    join = replace(whole.nodes[2], input_names=("product", ""))
    yield "DML-GRAPH-file-names", "and must have no empty name for InputTensors", replace(
        whole, nodes=(*whole.nodes[:2], join)
    )  # fmt: skip
