"""The tables of a serialized graph, in the terms of FlatBuffers: the reader and the writer follow these declarations.

The order of the fields is that of their ids. A union takes two ids: a byte that says which member it is, then the
member.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, TypeAlias


@dataclass(frozen=True)
class Scalar:
    """A number: its name, its code in ``struct``, and what it can be in words."""

    name: str
    code: str
    takes: str

    @cached_property
    def size(self) -> int:
        """Bytes, and alignment."""
        return struct.calcsize(f"<{self.code}")


@dataclass(frozen=True)
class Text:
    """UTF-8 that ends with a zero byte."""


@dataclass(frozen=True)
class Struct:
    """Scalars of one kind in a row, without a table around them; ``count`` of them."""

    name: str
    of: Scalar
    count: int = 1

    @cached_property
    def packed(self) -> struct.Struct:
        """The form of its bytes."""
        return struct.Struct(f"<{self.count}{self.of.code}")


@dataclass(frozen=True)
class Vector:
    """A count, then the entries: numbers, or offsets to texts or to the tables of a name."""

    of: Scalar | Text | str


@dataclass(frozen=True)
class Union:
    """One of several structs and tables, numbered from 1; ``absent``: the structs and tables that may be left out."""

    name: str
    members: tuple[Struct | str, ...]
    absent: frozenset[str] = frozenset()

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the members, from 1; the first is none."""
        return ("NONE", *(one if isinstance(one, str) else one.name for one in self.members))

    @cached_property
    def number(self) -> dict[str, int]:
        """The number of each member by its name."""
        return {name: number for number, name in enumerate(self.names) if number}


Type: TypeAlias = Scalar | Text | Vector | Union


@dataclass(frozen=True)
class Field:
    """A field of a table. A scalar that is not in a table is 0."""

    name: str
    type: Type
    required: bool = True


@dataclass(frozen=True)
class Table:
    """A table. ``written``: the fields of which parts are written before the table, in the order of writing."""

    name: str
    fields: tuple[Field, ...]
    written: tuple[str, ...] = field(default=())

    @cached_property
    def slots(self) -> tuple[tuple[str, int], ...]:
        """The name and the size of what each id stands for."""
        found: list[tuple[str, int]] = []
        for one in self.fields:
            if isinstance(one.type, Union):
                found.append((f"{one.name}_type", U8.size))
            found.append((one.name, one.type.size if isinstance(one.type, Scalar) else U32.size))
        return tuple(found)

    @cached_property
    def ids(self) -> tuple[int, ...]:
        """The id of each field; of a union that of its member, the byte before it is one less."""
        names = [name for name, _ in self.slots]
        return tuple(names.index(one.name) for one in self.fields)

    @cached_property
    def in_order(self) -> tuple[int, ...]:
        """The indices of the fields in the order of ``written``."""
        names = [one.name for one in self.fields]
        return tuple(names.index(name) for name in self.written)


def _integer(name: str, code: str) -> Scalar:
    bits = 8 * struct.calcsize(f"<{code}")
    least, most = (0, (1 << bits) - 1) if code.isupper() else (-(1 << bits - 1), (1 << bits - 1) - 1)
    return Scalar(name, code, f"an integer from {least} to {most}")


U8: Final = _integer("UInt8", "B")
U16: Final = _integer("UInt16", "H")
U32: Final = _integer("UInt32", "I")
U64: Final = _integer("UInt64", "Q")
I8: Final = _integer("Int8", "b")
I16: Final = _integer("Int16", "h")
I32: Final = _integer("Int32", "i")
I64: Final = _integer("Int64", "q")
F32: Final = Scalar("Float32", "f", "a number of FLOAT32")
F64: Final = Scalar("Float64", "d", "a number of FLOAT64")
BOOL: Final = Scalar("Bool", "?", "True or False")
TEXT: Final = Text()

SCALAR: Final = Union(
    "ScalarVariant",
    (Struct("ByteArray", U8, 8), *(Struct(one.name, one) for one in (I8, U8, I16, U16, I32, U32, I64, U64, F32, F64))),
)
CONSTANT: Final = Union("ConstantNodeDescDetail", ("ConstantName", "ConstantRawData"))
NODE: Final = Union("NodeDesc", ("OperatorNodeDesc", "ConstantNodeDesc"))
ATTRIBUTE: Final = Union(
    "AttributeFieldVariant",
    (
        "Activation", "ActivationArray", Struct("UInt32", U32), Struct("UInt64", U64), Struct("Int32", I32),
        Struct("Float32", F32), "UIntArray", "IntArray", "FloatArray", Struct("ScaleBias", F32, 2),
        Struct("Size2D", U32, 2), "ScalarUnionData", Struct("Bool", BOOL),
    ),
    absent=frozenset({"Activation", "ActivationArray", "ScaleBias"}),
)  # fmt: skip

ROOT: Final = "DmlGraphDesc"
_NAMES: Final = Vector(TEXT)
TABLES: Final = {
    table.name: table
    for table in (
        Table(
            ROOT,
            (Field("nodes", Vector("DmlGraphNode")), Field("graphInputNames", _NAMES),
             Field("graphOutputNames", _NAMES)),
            ("nodes", "graphInputNames", "graphOutputNames"),
        ),
        Table(
            "DmlGraphNode",
            (Field("desc", NODE), Field("name", TEXT), Field("inputNames", _NAMES), Field("outputNames", _NAMES)),
            ("outputNames", "inputNames", "name", "desc"),
        ),
        Table(
            "OperatorNodeDesc",
            (Field("type", TEXT), Field("inputs", Vector("DmlBufferTensorDesc")),
             Field("outputs", Vector("DmlBufferTensorDesc")), Field("attributes", Vector("AttributeDesc"))),
            ("attributes", "outputs", "inputs", "type"),
        ),
        Table(
            "DmlBufferTensorDesc",
            (Field("dataType", TEXT), Field("sizes", Vector(U32)), Field("strides", Vector(U32), required=False),
             Field("totalTensorSizeInBytes", U64)),
            ("dataType", "sizes", "strides"),
        ),
        Table("AttributeDesc", (Field("name", TEXT, required=False), Field("val", ATTRIBUTE)), ("val", "name")),
        Table(
            "Activation", (Field("type", TEXT), Field("attributes", Vector("AttributeDesc"))), ("type", "attributes")
        ),
        Table("ActivationArray", (Field("data", Vector("Activation")),), ("data",)),
        Table("UIntArray", (Field("data", Vector(U32)),), ("data",)),
        Table("IntArray", (Field("data", Vector(I32)),), ("data",)),
        Table("FloatArray", (Field("data", Vector(F32)),), ("data",)),
        Table("ScalarUnionData", (Field("data", SCALAR),), ("data",)),
        Table("ConstantNodeDesc", (Field("data", CONSTANT),), ("data",)),
        Table("ConstantName", (Field("name", TEXT),), ("name",)),
        Table("ConstantRawData", (Field("data", Vector(U8)),), ("data",)),
    )
}  # fmt: skip

LARGEST: Final = (1 << 31) - 1
"""Bytes of a file: offsets back to a vtable have a sign."""
SMALLEST: Final = 8
DEEPEST: Final = 64
"""Tables inside each other, as in FlatBuffers' own verifier."""
