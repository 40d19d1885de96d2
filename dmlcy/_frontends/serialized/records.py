"""A serialized graph as records: what the file says, without a judgement on what it means.

Each record knows the byte in the file where it begins (``at``; -1 for one that no file has); records are compared
without it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias


class ScaleBias(NamedTuple):
    """DML_SCALE_BIAS."""

    scale: float
    bias: float


class Size2D(NamedTuple):
    """DML_SIZE_2D."""

    width: int
    height: int


class Scalar(NamedTuple):
    """DML_SCALAR_UNION: its eight bytes (the kind is ByteArray, as in all files of ONNX Runtime), or a number."""

    kind: str
    value: bytes | int | float


@dataclass(frozen=True, slots=True)
class Tensor:
    """A tensor of a node: ``data_type`` as in DML_TENSOR_DATA_TYPE_FLOAT32; ``strides`` None: it is packed."""

    data_type: str
    sizes: tuple[int, ...]
    strides: tuple[int, ...] | None
    total_size_in_bytes: int
    at: int = field(default=-1, compare=False)


@dataclass(frozen=True, slots=True)
class Activation:
    """A fused activation: an operator without tensors."""

    type: str
    attributes: tuple[Attribute, ...]
    at: int = field(default=-1, compare=False)


Value: TypeAlias = (
    Activation
    | tuple[Activation, ...]
    | int
    | float
    | tuple[int, ...]
    | tuple[float, ...]
    | ScaleBias
    | Size2D
    | Scalar
    | bool
    | None
)


@dataclass(frozen=True, slots=True)
class Attribute:
    """An attribute of a node: ``kind`` is the member of the union AttributeFieldVariant, and ``value`` is that of it.

    Activation has an Activation, and ActivationArray a tuple of them. UInt32, UInt64 and Int32 have an int, Float32 a
    float, Bool a bool, and UIntArray, IntArray and FloatArray a tuple. ScaleBias, Size2D and ScalarUnionData (a Scalar)
    have one of the classes here. An Activation, ActivationArray or ScaleBias that is left out has the value None, and
    no name.
    """

    name: str | None
    kind: str
    value: Value
    at: int = field(default=-1, compare=False)


@dataclass(frozen=True, slots=True)
class OperatorNode:
    """A node that is an operator: ``type`` as in DML_OPERATOR_GEMM.

    ``input_names`` and ``output_names`` have an entry for each tensor of the operator, an empty one for a tensor that
    is left out; ``inputs`` and ``outputs`` have only the tensors that are there.
    """

    name: str
    type: str
    input_names: tuple[str, ...]
    output_names: tuple[str, ...]
    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]
    attributes: tuple[Attribute, ...]
    at: int = field(default=-1, compare=False)


@dataclass(frozen=True, slots=True)
class ConstantNode:
    """A node that is a constant: ``data`` is its bytes, or the name of the file that has them, without ``.bin``."""

    name: str
    input_names: tuple[str, ...]
    output_names: tuple[str, ...]
    data: str | bytes
    at: int = field(default=-1, compare=False)


@dataclass(frozen=True, slots=True)
class GraphRecord:
    """A graph: its nodes, and the names of its inputs and outputs. Names are what joins nodes."""

    nodes: tuple[OperatorNode | ConstantNode, ...]
    input_names: tuple[str, ...]
    output_names: tuple[str, ...]
    at: int = field(default=-1, compare=False)
