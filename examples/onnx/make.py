"""Writes the models of this folder: ``python examples/onnx/make.py``. The program needs the package onnx."""

from pathlib import Path

import numpy as np
from onnx import ModelProto, TensorProto, helper, numpy_helper, save

FOLDER = Path(__file__).parent


def weights(name: str, *sizes: int) -> TensorProto:
    """Multiples of 1/8 from -1 to 1."""
    numbers = np.arange(np.prod(sizes)) * 7 % 17 - 8
    return numpy_helper.from_array((numbers / 8).astype(np.float32).reshape(sizes), name)


def integers(name: str, values: int | list[int]) -> TensorProto:
    """A constant of INT64."""
    return numpy_helper.from_array(np.array(values, np.int64), name)


def digits(opset: int) -> ModelProto:
    """A small network for images of any number, flattened as torch.onnx writes ``x.view(x.size(0), -1)``."""
    nodes = [
        helper.make_node("Conv", ["image", "conv.weight", "conv.bias"], ["conv"], "/conv/Conv", pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["conv"], ["relu"], "/relu/Relu"),
        helper.make_node("MaxPool", ["relu"], ["pool"], "/pool/MaxPool", kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("Shape", ["pool"], ["shape"], "/Shape"),
        helper.make_node("Gather", ["shape", "first"], ["size"], "/Gather"),
        helper.make_node("Unsqueeze", ["size", "axes"], ["sizes"], "/Unsqueeze"),
        helper.make_node("Concat", ["sizes", "rest"], ["wanted"], "/Concat", axis=0),
        helper.make_node("Reshape", ["pool", "wanted"], ["flat"], "/Reshape"),
        helper.make_node("Gemm", ["flat", "dense.weight", "dense.bias"], ["dense"], "/dense/Gemm", transB=1),
        helper.make_node("Softmax", ["dense"], ["shares"], "/Softmax", axis=1),
    ]
    graph = helper.make_graph(
        nodes,
        "digits",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, ["batch", 1, 8, 8])],
        [helper.make_tensor_value_info("shares", TensorProto.FLOAT, ["batch", 10])],
        [
            weights("conv.weight", 4, 1, 3, 3),
            weights("conv.bias", 4),
            weights("dense.weight", 10, 64),
            weights("dense.bias", 10),
            integers("first", 0),
            integers("axes", [0]),
            integers("rest", [-1]),
        ],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)


def attention() -> ModelProto:
    """Attention in windows: a product of matrices with five axes, which ONNX allows."""
    nodes = [
        helper.make_node("MatMul", ["query", "keys"], ["scores"], "/attention/MatMul"),
        helper.make_node("Softmax", ["scores"], ["shares"], "/attention/Softmax", axis=-1),
    ]
    graph = helper.make_graph(
        nodes,
        "attention",
        [
            helper.make_tensor_value_info("query", TensorProto.FLOAT, ["batch", 4, 2, 16, 8]),
            helper.make_tensor_value_info("keys", TensorProto.FLOAT, ["batch", 4, 2, 8, 16]),
        ],
        [helper.make_tensor_value_info("shares", TensorProto.FLOAT, ["batch", 4, 2, 16, 16])],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def models() -> dict[str, ModelProto]:
    """The models by the names of their files."""
    return {"digits.onnx": digits(21), "digits22.onnx": digits(22), "attention.onnx": attention()}


if __name__ == "__main__":
    for name, model in models().items():
        save(model, FOLDER / name)
