"""Compares the reader of files with the onnx package."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
from onnx import AttributeProto, TensorProto, helper, numpy_helper

from dmlcy._frontends.onnx.model import ELEMENTS, ONNX, Attribute, Function, Graph, Info, Model, Node, Tensor

_KINDS = {number: name for name, number in AttributeProto.AttributeType.items()}
_TYPES = {
    "tensor_type": "tensor", "sparse_tensor_type": "sparse", "sequence_type": "sequence", "map_type": "map",
    "optional_type": "optional", "opaque_type": "opaque",
}  # fmt: skip


def agree(model: Model, proto: onnx.ModelProto, folder: str | None = "") -> None:
    """Assert that all that is read is as the package has it; without a folder, all but the elements of tensors."""
    assert model.ir_version == proto.ir_version
    assert model.opsets == (_opsets(proto) or {ONNX: 1})
    assert model.producer == " ".join(filter(None, (proto.producer_name, proto.producer_version)))
    _graph(model.graph, proto.graph, folder)
    assert len(model.functions) == len(proto.functions)
    for function in proto.functions:
        key = function.domain or ONNX, function.name, function.overload
        _function(model.functions[key], function)


def _opsets(proto: Any) -> dict[str, int]:
    versions = sorted((one.version, one.domain or ONNX) for one in proto.opset_import)
    return {domain: version for version, domain in versions}


def _function(function: Function, proto: onnx.FunctionProto) -> None:
    found = function.inputs, function.outputs, function.attributes
    assert found == (tuple(proto.input), tuple(proto.output), tuple(proto.attribute))
    assert function.opsets == _opsets(proto) or not proto.opset_import
    _attributes([*function.defaults.values()], proto.attribute_proto)
    _nodes(function.nodes, proto.node)


def _graph(graph: Graph, proto: onnx.GraphProto, folder: str | None) -> None:
    assert graph.name == proto.name
    _nodes(graph.nodes, proto.node, folder)
    for infos, others in (
        (graph.inputs, proto.input), (graph.outputs, proto.output),
        (tuple(graph.infos.values()), {one.name: one for one in proto.value_info}.values()),
    ):  # fmt: skip
        assert len(infos) == len(others)
        for info, other in zip(infos, others, strict=True):
            assert info == _info(other)
    assert len(graph.initializers) == len(proto.initializer) + len(proto.sparse_initializer)
    for tensor in proto.initializer:
        same_tensor(graph.initializers[tensor.name], tensor, folder)
    for sparse in proto.sparse_initializer:
        found = graph.initializers[sparse.values.name]
        assert found.sizes == tuple(sparse.dims)


def _nodes(nodes: tuple[Node, ...], protos: Any, folder: str | None = "") -> None:
    assert len(nodes) == len(protos)
    for number, (node, proto) in enumerate(zip(nodes, protos, strict=True)):
        assert (node.number, node.name, node.operator) == (number, proto.name, proto.op_type)
        assert (node.domain, node.overload) == (proto.domain or ONNX, proto.overload)
        assert (node.inputs, node.outputs) == (tuple(proto.input), tuple(proto.output))
        _attributes([*node.attributes.values()], proto.attribute, folder)


def _attributes(attributes: list[Attribute], protos: Any, folder: str | None = "") -> None:
    assert len(attributes) == len(protos)
    for attribute, proto in zip(attributes, protos, strict=True):
        assert attribute.name == proto.name
        if not proto.type:
            continue  # the kind follows from the value, which the package does not do
        assert attribute.kind == _KINDS[proto.type]
        assert attribute.reference == proto.ref_attr_name
        if attribute.reference or attribute.kind in ("SPARSE_TENSOR", "SPARSE_TENSORS", "TYPE_PROTO", "TYPE_PROTOS"):
            assert attribute.value is None
            continue
        several = attribute.kind.endswith("S")
        values, others = attribute.value, helper.get_attribute_value(proto)
        assert type(values) is tuple or not several
        pairs = zip(values, others, strict=True) if several else [(values, others)]
        for value, other in pairs:
            _value(value, other, folder)


def _value(value: Any, other: Any, folder: str | None) -> None:
    if isinstance(value, Tensor):
        same_tensor(value, other, folder)
    elif isinstance(value, Graph):
        _graph(value, other, folder)
    elif isinstance(value, str):
        assert value == other.decode()
    else:
        assert type(value) is type(other) and (value == other or value != value)


def same_tensor(tensor: Tensor, proto: TensorProto, folder: str | None = "") -> None:
    """Assert that a tensor has the elements that the package reads; without a folder, that it is the same otherwise."""
    element = ELEMENTS[tensor.element]
    assert (tensor.name, tensor.sizes) == (proto.name, tuple(proto.dims))
    assert element.number == proto.data_type
    assert tensor.external == (proto.data_location == TensorProto.EXTERNAL)
    if folder is None:
        return
    array, other = tensor.array(), numpy_helper.to_array(proto, folder)
    assert array.dtype == element.numpy and array.shape == other.shape and not array.flags.writeable
    if array.dtype == object:
        assert array.tolist() == other.tolist()
    else:
        if array.dtype != other.dtype:  # which NumPy does not have
            other = other.astype(array.dtype) if "int" in other.dtype.name else other.view(array.dtype)
        assert array.tobytes() == np.ascontiguousarray(other).tobytes()


def _info(proto: onnx.ValueInfoProto) -> Info:
    which = proto.type.WhichOneof("value")
    kind: Any = _TYPES.get(which or "", "")
    if kind not in ("tensor", "sparse"):
        return Info(proto.name, None, None, kind)
    type_ = getattr(proto.type, which)
    by_number = {one.number: one.name for one in ELEMENTS.values()}
    sizes = None
    if type_.HasField("shape"):
        sizes = tuple(
            one.dim_value if one.HasField("dim_value") and one.dim_value >= 0 else one.dim_param or None
            for one in type_.shape.dim
        )
    return Info(proto.name, by_number.get(type_.elem_type), sizes, kind)
