"""Models as the package ``onnx`` reads them, in the classes of ``dmlcy._frontends.onnx.model``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from onnx import AttributeProto, TensorProto, helper, numpy_helper

from dmlcy._frontends.onnx.model import ELEMENTS, ONNX, Attribute, Graph, Info, Model, Node, Tensor

BY_NUMBER = {one.number: one.name for one in ELEMENTS.values()}


def model_of(proto: Any) -> Model:
    """A model without functions, whose nodes hold no graphs."""
    graph = proto.graph
    nodes = tuple(_node(number, one) for number, one in enumerate(graph.node))
    initializers = {one.name: _tensor(one) for one in graph.initializer}
    inputs, outputs = (tuple(map(_info, several)) for several in (graph.input, graph.output))
    infos = {one.name: _info(one) for one in graph.value_info}
    opsets = {one.domain or ONNX: one.version for one in proto.opset_import}
    whole = Graph(graph.name, nodes, initializers, inputs, outputs, infos)
    return Model("model.onnx", proto.ir_version, opsets, proto.producer_name, whole, {})


def _node(number: int, proto: Any) -> Node:
    attributes = {one.name: _attribute(one) for one in proto.attribute}
    domain = proto.domain or ONNX
    inputs, outputs = tuple(proto.input), tuple(proto.output)
    return Node(number, proto.name, proto.op_type, domain, inputs, outputs, attributes, proto.overload)


def _info(proto: Any) -> Info:
    kind = proto.type.WhichOneof("value") or ""
    if kind != "tensor_type":
        return Info(proto.name, None, None, _KINDS.get(kind, ""))
    tensor = proto.type.tensor_type
    sizes = [one.dim_value if one.HasField("dim_value") else one.dim_param or None for one in tensor.shape.dim]
    return Info(proto.name, BY_NUMBER[tensor.elem_type], tuple(sizes) if tensor.HasField("shape") else None)


def array_of(tensor: Any) -> Any:
    """The elements of a tensor, whether onnx has it as an array or as a message; another value itself."""
    return numpy_helper.to_array(tensor) if isinstance(tensor, TensorProto) else tensor


def _attribute(proto: Any) -> Attribute:
    kind = AttributeProto.AttributeType.Name(proto.type)
    value = helper.get_attribute_value(proto)
    read = _READ.get(kind.removesuffix("S"), lambda one: one)
    return Attribute(proto.name, kind, tuple(map(read, value)) if kind.endswith("S") else read(value))


def _tensor(proto: Any) -> Tensor:
    element = BY_NUMBER[proto.data_type]
    return Tensor(proto.name, element, tuple(proto.dims), lambda: numpy_helper.to_array(proto))


_KINDS = {"sequence_type": "sequence", "optional_type": "optional", "map_type": "map"}
_READ: dict[str, Callable[[Any], Any]] = {"STRING": bytes.decode, "TENSOR": _tensor}
