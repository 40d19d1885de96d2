"""The messages of ONNX that are read: numbers, names and kinds of their fields."""

from __future__ import annotations

from typing import Final

from dmlcy._frontends.onnx.wire import Message

MODEL: Final = Message(
    "ModelProto",
    {
        1: ("ir_version", "int"), 2: ("producer_name", "text"), 3: ("producer_version", "text"), 7: ("graph", "spans"),
        8: ("opset_import", "spans"), 25: ("functions", "spans"),
    },
)  # fmt: skip
OPSET: Final = Message("OperatorSetIdProto", {1: ("domain", "text"), 2: ("version", "int")})
GRAPH: Final = Message(
    "GraphProto",
    {
        1: ("node", "spans"), 2: ("name", "text"), 5: ("initializer", "spans"), 11: ("input", "spans"),
        12: ("output", "spans"), 13: ("value_info", "spans"), 15: ("sparse_initializer", "spans"),
    },
)  # fmt: skip
NODE: Final = Message(
    "NodeProto",
    {
        1: ("input", "texts"), 2: ("output", "texts"), 3: ("name", "text"), 4: ("op_type", "text"),
        5: ("attribute", "spans"), 7: ("domain", "text"), 8: ("overload", "text"),
    },
)  # fmt: skip
ATTRIBUTE: Final = Message(
    "AttributeProto",
    {
        1: ("name", "text"), 2: ("f", "float"), 3: ("i", "int"), 4: ("s", "bytes"), 5: ("t", "spans"),
        6: ("g", "spans"), 7: ("floats", "floats"), 8: ("ints", "ints"), 9: ("strings", "spans"),
        10: ("tensors", "spans"), 11: ("graphs", "spans"), 14: ("tp", "spans"), 15: ("type_protos", "spans"),
        20: ("type", "int"), 21: ("ref_attr_name", "text"), 22: ("sparse_tensor", "spans"),
        23: ("sparse_tensors", "spans"),
    },
)  # fmt: skip
FUNCTION: Final = Message(
    "FunctionProto",
    {
        1: ("name", "text"), 4: ("input", "texts"), 5: ("output", "texts"), 6: ("attribute", "texts"),
        7: ("node", "spans"), 9: ("opset_import", "spans"), 10: ("domain", "text"), 11: ("attribute_proto", "spans"),
        13: ("overload", "text"),
    },
)  # fmt: skip
TENSOR: Final = Message(
    "TensorProto",
    {
        1: ("dims", "ints"), 2: ("data_type", "int"), 3: ("segment", "spans"), 4: ("float_data", "fours"),
        5: ("int32_data", "numbers"), 6: ("string_data", "spans"), 7: ("int64_data", "numbers"), 8: ("name", "text"),
        9: ("raw_data", "bytes"), 10: ("double_data", "eights"), 11: ("uint64_data", "numbers"),
        13: ("external_data", "spans"), 14: ("data_location", "int"),
    },
)  # fmt: skip
SPARSE: Final = Message("SparseTensorProto", {1: ("values", "spans"), 2: ("indices", "spans"), 3: ("dims", "ints")})
ENTRY: Final = Message("StringStringEntryProto", {1: ("key", "text"), 2: ("value", "text")})
INFO: Final = Message("ValueInfoProto", {1: ("name", "text"), 2: ("type", "spans")})
_TYPES: Final = {1: "tensor", 4: "sequence", 5: "map", 7: "opaque", 8: "sparse", 9: "optional"}
TYPE: Final = Message("TypeProto", {number: (name, "spans") for number, name in _TYPES.items()}, (*_TYPES.values(),))
TENSOR_TYPE: Final = Message("TypeProto.Tensor", {1: ("elem_type", "int"), 2: ("shape", "spans")})
SHAPE: Final = Message("TensorShapeProto", {1: ("dim", "spans")})
DIMENSION: Final = Message(
    "TensorShapeProto.Dimension", {1: ("dim_value", "int"), 2: ("dim_param", "text")}, ("dim_value", "dim_param")
)
