"""Models as the package ``onnx`` reads them, in the classes of ``dmlcy._frontends.onnx.model``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from onnx import AttributeProto, helper, numpy_helper

from dmlcy._frontends.onnx.model import ELEMENTS, ONNX, Attribute, Node, Tensor

BY_NUMBER = {one.number: one.name for one in ELEMENTS.values()}


def node_of(number: int, proto: Any) -> Node:
    """A node whose attributes hold no graphs."""
    attributes = {one.name: _attribute(one) for one in proto.attribute}
    domain = proto.domain or ONNX
    inputs, outputs = tuple(proto.input), tuple(proto.output)
    return Node(number, proto.name, proto.op_type, domain, inputs, outputs, attributes, proto.overload)


def array_of(tensor: Any) -> Any:
    """The elements of a tensor, whether onnx has it as an array or as a message."""
    return tensor if isinstance(tensor, np.ndarray | np.generic) else numpy_helper.to_array(tensor)


def _attribute(proto: Any) -> Attribute:
    kind = AttributeProto.AttributeType.Name(proto.type)
    value = helper.get_attribute_value(proto)
    several = kind.endswith("S")
    read = _READ.get(kind.removesuffix("S"), lambda one: one)
    return Attribute(proto.name, kind, tuple(map(read, value)) if several else read(value))


def _tensor(proto: Any) -> Tensor:
    element = BY_NUMBER[proto.data_type]
    return Tensor(proto.name, element, tuple(proto.dims), lambda: numpy_helper.to_array(proto))


_READ: dict[str, Callable[[Any], Any]] = {"STRING": bytes.decode, "TENSOR": _tensor}
