"""A graph as every form of it is read: nodes, constants, and edges between tensors, by indices as in DML_GRAPH_DESC.

The model holds wrong graphs too: ``check`` says what is wrong with them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._errors import Violation
from dmlcy._facts.rows import Operator
from dmlcy._facts.tables import LEVEL_INDEX, TensorDataType
from dmlcy._field_types import type_of
from dmlcy._field_types.tensor_desc import TensorDesc
from dmlcy._graph.limits import MOST
from dmlcy._runtime import four_bits
from dmlcy._types import Array
from dmlcy._words.notebook import Shown
from dmlcy._words.values import quote

Tensors: TypeAlias = tuple[tuple[str, TensorDesc | None], ...]
"""The tensors of a node in the order of its struct, each with its path (inputs[1]); None: it is left out."""


class Port(NamedTuple):
    """One end of an edge: a tensor of a node, or without a node an input or an output of the graph.

    ``place`` counts the tensors of the node in the order of its struct, also tensors that are left out, and each tensor
    of an array by itself. Without a node, ``place`` counts the inputs or outputs of the graph.
    """

    node: int | None
    place: int


@dataclass(frozen=True, slots=True)
class Edge:
    """A value on its way: from an output of a node, a constant or a graph input to a node or a graph output.

    The reader takes the bytes of the value under the desc of its own tensor. ``source`` is None where the edge is a
    ``name`` that nothing has.
    """

    source: Port | None
    target: Port
    name: str = ""


@dataclass(frozen=True, slots=True)
class Origin:
    """The node of a foreign file for which a node of the graph was made. Several nodes may have one origin.

    Attributes
    ----------
    file, name, operator
        The file, and the name and the operator of the node in it; each may be empty.
    """

    file: str = ""
    name: str = ""
    operator: str = ""

    def __str__(self) -> str:
        parts = (
            quote(self.operator)[1:-1],
            quote(self.name) if self.name else "",
            f"in {quote(self.file)}" if self.file else "",
        )
        return " ".join(part for part in parts if part)

    def to_json(self) -> dict[str, str]:
        """The members as json.dumps takes them."""
        return {"file": self.file, "name": self.name, "operator": self.operator}


@dataclass(frozen=True, slots=True)
class Node:
    """A use of an operator.

    ``refused``: what is wrong with the arguments from which a graph that collects violations made the desc.
    """

    desc: OperatorDesc
    name: str = ""
    origin: Origin | None = None
    refused: tuple[Violation, ...] = ()

    @property
    def kind(self) -> str:
        """The name of the operator."""
        return self.desc.operator.name

    def refused_at(self, level: int) -> tuple[Violation, ...]:
        """The violations of the arguments at the level of that position too."""
        return tuple(one for one in self.refused if one.level is None or LEVEL_INDEX[one.level] > level)


@dataclass(frozen=True, slots=True, eq=False)
class Constant:
    """Bytes that are part of the graph; None: they could not be read.

    ``desc``: the tensor that they are; None: that of the first reader, with its axes in
    the order of memory.
    """

    data: npt.NDArray[np.uint8] | None
    name: str = ""
    desc: TensorDesc | None = None
    origin: Origin | None = None

    kind = "CONSTANT"

    @classmethod
    def of(cls, array: Array, name: str = "", origin: Origin | None = None) -> Constant:
        """The elements of an array in row-major order; they are copied."""
        data = np.frombuffer(four_bits.in_bytes(array).tobytes(), np.uint8)  # read-only
        return cls(data, name, TensorDesc(array.dtype, array.shape), origin)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Constant):
            return NotImplemented
        if (self.name, self.desc, self.size, self.origin) != (other.name, other.desc, other.size, other.origin):
            return False
        return self.data is None or other.data is None or np.array_equal(self.data, other.data)

    def __hash__(self) -> int:
        return hash((self.name, self.desc, self.size))

    @property
    def size(self) -> int | None:
        """The number of bytes."""
        return None if self.data is None else self.data.size


@dataclass(frozen=True, slots=True)
class End:
    """An input or an output of a graph. ``desc``: ``None`` is the desc of the tensor that the end leads to."""

    name: str
    desc: TensorDesc | None = None


@dataclass(frozen=True)
class Structure(Shown):
    """The nodes and edges of a graph. ``names``: of values, each with the port of its source; a value needs none.

    ``limit``: the most nodes that a check looks at.
    """

    nodes: tuple[Node | Constant, ...]
    inputs: tuple[End, ...]
    outputs: tuple[End, ...]
    edges: tuple[Edge, ...]
    names: tuple[tuple[Port, str], ...] = ()
    limit: int = MOST

    def __getstate__(self) -> dict[str, object]:
        """The graph itself, without the stored facts about it."""
        return {one.name: getattr(self, one.name) for one in fields(self)}

    def label(self, index: int) -> str:
        """A node in a sentence."""
        return label_of(self.nodes[index], index)

    def source_label(self, port: Port) -> str:
        """The source of an edge in a sentence."""
        if port.node is None:
            return f"graph input {port.place}{_quoted(self.inputs, port.place)}"
        node = self.nodes[port.node] if 0 <= port.node < len(self.nodes) else None
        if node is None:
            return f"node {port.node}"
        if isinstance(node, Constant):
            return self.label(port.node)
        tensors = outputs_of(node)
        which = tensors[port.place][0] if 0 <= port.place < len(tensors) else f"output {port.place}"
        return f"{which} of {self.label(port.node)}"

    def target_label(self, port: Port) -> str:
        """The target of an edge in a sentence."""
        if port.node is None:
            return f"graph output {port.place}{_quoted(self.outputs, port.place)}"
        node = self.nodes[port.node] if 0 <= port.node < len(self.nodes) else None
        if not isinstance(node, Node):
            return f"node {port.node}"
        tensors = inputs_of(node)
        which = tensors[port.place][0] if 0 <= port.place < len(tensors) else f"input {port.place}"
        return f"{which} of {self.label(port.node)}"

    def __repr__(self) -> str:
        counts = (
            f"{len(self.nodes)} nodes",
            f"inputs ({', '.join(repr(one.name) for one in self.inputs[:8])})",
            f"outputs ({', '.join(repr(one.name) for one in self.outputs[:8])})",
        )
        return f"<{type(self).__name__}: {', '.join(counts)}>"


def _quoted(ends: tuple[End, ...], index: int) -> str:
    name = ends[index].name if 0 <= index < len(ends) else ""
    return f" {quote(name)}" if name else ""


def label_of(node: Node | Constant, index: int) -> str:
    """A node in a sentence: node 3 "relu" (ACTIVATION_RELU, from Relu "/act" in "model.onnx")."""
    name = f" {quote(node.name)}" if node.name else ""
    more = [node.kind] if isinstance(node, Node) else []
    more += [f"from {node.origin}"] if node.origin is not None else []
    said = f" ({', '.join(more)})" if more else ""
    return f"{'constant' if isinstance(node, Constant) else 'node'} {index}{name}{said}"


_FIELDS: dict[tuple[str, str], tuple[tuple[str, bool], ...]] = {}


def _fields(operator: Operator, kind: str) -> tuple[tuple[str, bool], ...]:
    """The tensors of an operator, and whether each is an array of tensors."""
    key = operator.name, kind
    if key not in _FIELDS:
        _FIELDS[key] = tuple((f.python, type_of(f.type).tensors) for f in operator.fields if f.kind == kind)
    return _FIELDS[key]


def _tensors(desc: OperatorDesc, kind: str) -> Tensors:
    found: list[tuple[str, TensorDesc | None]] = []
    for name, several in _fields(desc.operator, kind):
        value: object = getattr(desc, name)
        if several:
            entries: Iterable[object] = value if type(value) is tuple else ()
            found += [(f"{name}[{place}]", _tensor(one)) for place, one in enumerate(entries)]
        else:
            found.append((name, _tensor(value)))
    return tuple(found)


def _tensor(value: object) -> TensorDesc | None:
    return value if type(value) is TensorDesc else None


def inputs_of(node: Node | Constant) -> Tensors:
    """The input tensors of a node; of a constant none."""
    return _tensors(node.desc, "input") if isinstance(node, Node) else ()


def outputs_of(node: Node | Constant) -> Tensors:
    """The output tensors of a node; of a constant the only one."""
    return _tensors(node.desc, "output") if isinstance(node, Node) else (("data", node.desc),)


def in_bytes(desc: TensorDesc | None) -> int | None:
    """The size of a tensor in its buffer; None where it is not known."""
    total = None if desc is None else desc.total_tensor_size_in_bytes
    return total if type(total) is int else None


def dtype_name(desc: TensorDesc | None) -> str | None:
    """The data type of a tensor; None where it is not known."""
    return desc.dtype.name if desc is not None and type(desc.dtype) is TensorDataType else None
