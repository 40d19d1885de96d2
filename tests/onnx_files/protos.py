"""Models of the package ``onnx``, read by dmlcy's own reader."""

from __future__ import annotations

from typing import Any

from onnx import TensorProto, helper, numpy_helper

from dmlcy._frontends.onnx.elements import BY_NUMBER
from dmlcy._frontends.onnx.model import Model, Node
from dmlcy._frontends.onnx.reader import decode

__all__ = ["BY_NUMBER", "array_of", "model_of", "node_of"]


def model_of(proto: Any, name: str = "model.onnx") -> Model:
    """The model that the bytes of a message are."""
    return decode(name, proto.SerializeToString(), None)


def node_of(proto: Any) -> Node:
    """A node, as a model has it."""
    inputs = [helper.make_empty_tensor_value_info(name) for name in dict.fromkeys(proto.input) if name]
    opset = helper.make_opsetid(proto.domain, 1)
    (node,) = model_of(helper.make_model(helper.make_graph([proto], "", inputs, []), opset_imports=[opset])).graph.nodes
    return node


def array_of(tensor: Any) -> Any:
    """The elements of a tensor, whether onnx has it as an array or as a message; another value itself."""
    return numpy_helper.to_array(tensor) if isinstance(tensor, TensorProto) else tensor
