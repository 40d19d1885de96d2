"""Small graphs."""

from __future__ import annotations

from typing import Any

import numpy as np

import dmlcy as dml

SIZES = (3,)
TENSOR = {"DataType": "FLOAT32", "Sizes": [3]}


def valid() -> dict[str, Any]:
    """A graph of two inputs, two operators in a row and a constant with a reader, whose names are free, in JSON.

    y = relu(x) + b, z = y * constant: the nodes 0, 1, 3, and the constant 2.
    """
    return {
        "InputCount": 2,
        "Inputs": [{"Name": "x"}, {"Name": "b"}],
        "OutputCount": 2,
        "Outputs": [{"Name": "y"}, {"Name": "w"}],
        "NodeCount": 4,
        "Nodes": [
            operator("relu", "ACTIVATION_RELU", InputTensor=TENSOR, OutputTensor=TENSOR),
            operator("add", "ELEMENT_WISE_ADD", ATensor=TENSOR, BTensor=TENSOR, OutputTensor=TENSOR),
            {
                "Type": "DML_GRAPH_NODE_TYPE_CONSTANT",
                "Desc": {
                    "Name": "weights",
                    "Data": {"initialValuesDataType": "FLOAT32", "initialValues": [1, 2, 3]},
                },
            },
            operator("scale", "ACTIVATION_IDENTITY", InputTensor=TENSOR, OutputTensor=TENSOR),
        ],
        "InputEdges": [
            {"GraphInputIndex": 0, "ToNodeIndex": 0, "ToNodeInputIndex": 0},
            {"GraphInputIndex": 1, "ToNodeIndex": 1, "ToNodeInputIndex": 1},
        ],
        "IntermediateEdges": [
            {"FromNodeIndex": 0, "FromNodeOutputIndex": 0, "ToNodeIndex": 1, "ToNodeInputIndex": 0},
            {"FromNodeIndex": 2, "FromNodeOutputIndex": 0, "ToNodeIndex": 3, "ToNodeInputIndex": 0},
        ],
        "OutputEdges": [
            {"FromNodeIndex": 1, "FromNodeOutputIndex": 0, "GraphOutputIndex": 0},
            {"FromNodeIndex": 3, "FromNodeOutputIndex": 0, "GraphOutputIndex": 1},
        ],
    }


def operator(name: str, kind: str, **members: Any) -> dict[str, Any]:
    """An operator node; its tensors are its own."""
    desc = {member: dict(value) if isinstance(value, dict) else value for member, value in members.items()}
    inner = {"type": f"DML_OPERATOR_{kind}", "desc": desc}
    return {"Type": "DML_GRAPH_NODE_TYPE_OPERATOR", "Desc": {"Name": name, "Operator": inner}}


def tensor(*sizes: int, dtype: str = "FLOAT32", **members: Any) -> dml.TensorDesc:
    return dml.TensorDesc(dtype, sizes, **members)


def chain(count: int) -> dml.graph.GraphDesc:
    """As many operators in a row, two kinds in turn, each with the graph input beside it."""
    g = dml.Graph()
    x = y = g.input(tensor(1, 1, 2, 2), name="x")
    for number in range(count):
        y = g.element_wise_add(y, x) if number % 2 else g.activation_relu(y)
    return g.build(y=y)


def network() -> tuple[dml.graph.GraphDesc, np.ndarray[Any, np.dtype[np.float32]]]:
    """Convolution, pooling, a matrix product and softmax, with constants, and an input."""
    random = np.random.default_rng(3)

    def weights(*sizes: int) -> Any:
        return random.normal(size=sizes).astype(np.float32)

    g = dml.Graph()
    x = g.input(tensor(1, 3, 64, 64), name="x")
    y = g.convolution(
        x, g.constant(weights(16, 3, 3, 3), name="kernel"), start_padding=1, end_padding=1, name="convolution",
        fused_activation=dml.desc.ActivationRelu(),
    )  # fmt: skip
    y = g.max_pooling(y, window_size=2, strides=2, name="pool")
    y = g.element_wise_add(y, y, name="double")
    y = g.activation_elu(y, name="elu")
    flat = g.reinterpret(y, tensor(1, 1, 1, 16 * 32 * 32))
    y = g.gemm(flat, g.constant(weights(1, 1, 16 * 32 * 32, 10), name="matrix"), name="product")
    return g.build(probabilities=g.activation_softmax(y, name="softmax")), weights(1, 3, 64, 64)
