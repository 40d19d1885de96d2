"""An ONNX model as it is in its file: graphs, nodes, tensors. Of DirectML it knows the names of data types only."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from dmlcy._types import Array

ONNX: Final = "ai.onnx"
"""The domain of ONNX's own operators, which files may write as the empty text."""


class Element(NamedTuple):
    """A data type of ONNX: its name and number in TensorProto.DataType, and bits of an element."""

    name: str
    number: int
    bits: int  # 0: strings, which have no fixed size
    numpy: str | None  # the data type of the array that ``Tensor.array`` gives; None: the bytes are not understood
    directml: str | None  # the data type of a tensor desc


ELEMENTS: Final = {
    one.name: one
    for one in (
        Element("FLOAT", 1, 32, "float32", "FLOAT32"),
        Element("UINT8", 2, 8, "uint8", "UINT8"),
        Element("INT8", 3, 8, "int8", "INT8"),
        Element("UINT16", 4, 16, "uint16", "UINT16"),
        Element("INT16", 5, 16, "int16", "INT16"),
        Element("INT32", 6, 32, "int32", "INT32"),
        Element("INT64", 7, 64, "int64", "INT64"),
        Element("STRING", 8, 0, "object", None),
        Element("BOOL", 9, 8, "bool", "UINT8"),
        Element("FLOAT16", 10, 16, "float16", "FLOAT16"),
        Element("DOUBLE", 11, 64, "float64", "FLOAT64"),
        Element("UINT32", 12, 32, "uint32", "UINT32"),
        Element("UINT64", 13, 64, "uint64", "UINT64"),
        Element("COMPLEX64", 14, 64, "complex64", None),
        Element("COMPLEX128", 15, 128, "complex128", None),
        Element("BFLOAT16", 16, 16, "uint16", None),  # its bits
        Element("FLOAT8E4M3FN", 17, 8, "uint8", None),  # its bits, as below
        Element("FLOAT8E4M3FNUZ", 18, 8, "uint8", None),
        Element("FLOAT8E5M2", 19, 8, "uint8", None),
        Element("FLOAT8E5M2FNUZ", 20, 8, "uint8", None),
        Element("UINT4", 21, 4, "uint8", "UINT4"),  # an element of the array for each number, as below
        Element("INT4", 22, 4, "int8", "INT4"),
        Element("FLOAT4E2M1", 23, 4, "uint8", None),
        Element("FLOAT8E8M0", 24, 8, "uint8", None),
        Element("UINT2", 25, 2, "uint8", None),
        Element("INT2", 26, 2, "int8", None),
        Element("FLOAT6E2M3", 27, 6, "uint8", None),
        Element("FLOAT6E3M2", 28, 6, "uint8", None),
    )
}
"""The data types of ONNX by name."""

Sizes: TypeAlias = tuple["int | str | None", ...]
"""Sizes of a value: a number, the name of a free dimension, or None for a dimension of which nothing is said."""


@dataclass(frozen=True, slots=True, eq=False)
class Tensor:
    """Elements in a file, of an initializer or the value of an attribute. A call of ``array`` reads the elements."""

    name: str
    element: str  # such as FLOAT
    sizes: tuple[int, ...]
    read: Callable[[], Array] = field(repr=False)  # raises a Refusal where the bytes are not there
    external: bool = False  # the elements are in a file of their own

    def array(self) -> Array:
        """The elements, which may lie in a mapped file; the array is read-only."""
        return self.read()


@dataclass(frozen=True, slots=True)
class Info:
    """The facts that a model states of a value."""

    name: str
    element: str | None  # ``None`` where the value is no tensor, or nothing is said
    sizes: Sizes | None  # None: not even the rank is said
    kind: Literal["tensor", "sparse", "sequence", "map", "optional", "opaque", ""] = "tensor"


AttributeKind: TypeAlias = Literal[
    "FLOAT", "INT", "STRING", "TENSOR", "GRAPH", "SPARSE_TENSOR", "TYPE_PROTO",
    "FLOATS", "INTS", "STRINGS", "TENSORS", "GRAPHS", "SPARSE_TENSORS", "TYPE_PROTOS",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Attribute:
    """An attribute of a node.

    ``value``: float, int, str (bytes where it is no UTF-8), Tensor, Graph, or a tuple of these; None for the kinds
    that are not read (SPARSE_TENSOR, TYPE_PROTO). ``reference``: in a function, the attribute of the call.
    """

    name: str
    kind: AttributeKind
    value: Any
    reference: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """A node. ``number``: its place in the list of its graph. ``byte``: where it begins in the file."""

    number: int
    name: str
    operator: str  # op_type
    domain: str  # "ai.onnx" where the file has the empty text
    inputs: tuple[str, ...]  # "" for one that is left out
    outputs: tuple[str, ...]
    attributes: Mapping[str, Attribute]
    overload: str = ""
    byte: int = -1


@dataclass(frozen=True, slots=True, eq=False)
class Graph:
    """A graph: that of the model, or that of an attribute (the branches of If, the body of Loop)."""

    name: str
    nodes: tuple[Node, ...]
    initializers: Mapping[str, Tensor]
    inputs: tuple[Info, ...]
    outputs: tuple[Info, ...]
    infos: Mapping[str, Info]  # value_info


@dataclass(frozen=True, slots=True, eq=False)
class Function:
    """A function of the model, whose nodes take the place of each node that calls it."""

    name: str
    domain: str
    overload: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: tuple[str, ...]  # those without a default
    defaults: Mapping[str, Attribute]
    nodes: tuple[Node, ...]
    opsets: Mapping[str, int]


@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """A whole file. ``opsets``: the version of each domain that its nodes are of."""

    file: str
    ir_version: int
    opsets: Mapping[str, int]
    producer: str  # name and version, as far as they are there
    graph: Graph
    functions: Mapping[tuple[str, str, str], Function]  # by domain, name and overload
