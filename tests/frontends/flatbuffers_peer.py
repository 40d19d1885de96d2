"""The format a second time, with the ``flatbuffers`` package: ids as in DirectML's headers, nothing from dmlcy.

``build`` writes a record with the calls, in the order, of ONNX Runtime's writer. ``walk`` gives what a file says, after
the checks of FlatBuffers' verifier.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import Any

import flatbuffers
from flatbuffers import number_types as types
from flatbuffers.table import Table

STRUCTS = {  # by the number of the member in its union: kind, alignment, code
    3: ("UInt32", 4, "I"), 4: ("UInt64", 8, "Q"), 5: ("Int32", 4, "i"), 6: ("Float32", 4, "f"),
    10: ("ScaleBias", 4, "2f"), 11: ("Size2D", 4, "2I"), 13: ("Bool", 1, "?"),
}  # fmt: skip
TABLES = {1: "Activation", 2: "ActivationArray", 7: "UIntArray", 8: "IntArray", 9: "FloatArray", 12: "ScalarUnionData"}
KINDS = {kind: number for number, (kind, *_) in STRUCTS.items()} | {kind: number for number, kind in TABLES.items()}
SCALARS = ["ByteArray", "Int8", "UInt8", "Int16", "UInt16", "Int32", "UInt32", "Int64", "UInt64", "Float32", "Float64"]
SCALAR_CODES = ["8s", "b", "B", "h", "H", "i", "I", "q", "Q", "f", "d"]
ARRAYS = {"UIntArray": ("I", "PrependUint32"), "IntArray": ("i", "PrependInt32"), "FloatArray": ("f", "PrependFloat32")}


class Writer(flatbuffers.Builder):
    """The builder of the package, with a call for each kind of part."""

    head: int

    def offsets(self, positions: Sequence[int]) -> int:
        self.StartVector(4, len(positions), 4)
        for position in reversed(positions):
            self.PrependUOffsetTRelative(position)
        found: int = self.EndVector()
        return found

    def numbers(self, values: Sequence[Any], prepend: str) -> int:
        self.StartVector(4, len(values), 4)
        for value in reversed(values):
            getattr(self, prepend)(value)
        found: int = self.EndVector()
        return found

    def put(self, alignment: int, code: str, *values: Any) -> int:
        """A struct outside of a table."""
        raw = struct.pack(f"<{code}", *values)
        self.Prep(alignment, 0)
        self.head = self.head - len(raw)
        self.Bytes[self.head : self.head + len(raw)] = raw
        found: int = self.Offset()
        return found

    def made(self, count: int, *slots: tuple[str, int, Any]) -> int:
        """A table: how each id, in the order of writing, is put in."""
        self.StartObject(count)
        for how, slot, value in slots:
            if value is not None:
                getattr(self, f"Prepend{how}Slot")(slot, value, 0)
        found: int = self.EndObject()
        return found

    def text(self, value: str | None) -> int | None:
        return None if value is None else self.CreateString(value)

    def tensor(self, tensor: Any) -> int:
        name = self.text(tensor.data_type)
        sizes = self.numbers(tensor.sizes, "PrependUint32")
        strides = None if tensor.strides is None else self.numbers(tensor.strides, "PrependUint32")
        return self.made(4, ("Uint64", 3, tensor.total_size_in_bytes), ("UOffsetTRelative", 2, strides),
                         ("UOffsetTRelative", 1, sizes), ("UOffsetTRelative", 0, name))  # fmt: skip

    def activation(self, activation: Any) -> int:
        return self.activation_of(activation.type, [self.attribute(one) for one in activation.attributes])

    def activation_of(self, kind: str, attributes: Sequence[int]) -> int:
        name, vector = self.text(kind), self.offsets(attributes)
        return self.made(2, ("UOffsetTRelative", 1, vector), ("UOffsetTRelative", 0, name))

    def attribute(self, attribute: Any) -> int:
        number = KINDS[attribute.kind]
        value = None if attribute.value is None else self.value(attribute.kind, number, attribute.value)
        return self.attribute_of(attribute.name, number, value)

    def attribute_of(self, name: str | None, number: int, value: int | None) -> int:
        text = self.text(name)
        return self.made(3, ("UOffsetTRelative", 2, value), ("UOffsetTRelative", 0, text), ("Uint8", 1, number))

    def value(self, kind: str, number: int, value: Any) -> int:
        if number in STRUCTS:
            _, alignment, code = STRUCTS[number]
            return self.put(alignment, code, *(value if isinstance(value, tuple) else (value,)))
        if kind == "Activation":
            return self.activation(value)
        if kind == "ScalarUnionData":
            code = SCALAR_CODES[SCALARS.index(value.kind)]
            data = self.put(1 if code == "8s" else struct.calcsize(f"<{code}"), code, value.value)
            return self.made(2, ("UOffsetTRelative", 1, data), ("Uint8", 0, SCALARS.index(value.kind) + 1))
        if kind == "ActivationArray":
            data = self.offsets([self.activation(one) for one in value])
        else:
            data = self.numbers(value, ARRAYS[kind][1])
        return self.made(1, ("UOffsetTRelative", 0, data))

    def operator(self, node: Any) -> int:
        inputs = [self.tensor(one) for one in node.inputs]
        outputs = [self.tensor(one) for one in node.outputs]
        attributes = self.offsets([self.attribute(one) for one in node.attributes])
        outputs_at, inputs_at = self.offsets(outputs), self.offsets(inputs)
        kind = self.text(node.type)
        return self.made(4, ("UOffsetTRelative", 3, attributes), ("UOffsetTRelative", 2, outputs_at),
                         ("UOffsetTRelative", 1, inputs_at), ("UOffsetTRelative", 0, kind))  # fmt: skip

    def constant(self, data: str | bytes) -> int:
        at = self.text(data) if isinstance(data, str) else self.CreateByteVector(data)
        inner = self.made(1, ("UOffsetTRelative", 0, at))
        return self.made(2, ("UOffsetTRelative", 1, inner), ("Uint8", 0, 1 if isinstance(data, str) else 2))

    def node(self, node: Any, inputs: Sequence[int], outputs: Sequence[int]) -> int:
        outputs_at, inputs_at, name = self.offsets(outputs), self.offsets(inputs), self.text(node.name)
        number = 1 if hasattr(node, "type") else 2
        desc = self.operator(node) if number == 1 else self.constant(node.data)
        offsets = [("UOffsetTRelative", 4 - place, at) for place, at in enumerate((outputs_at, inputs_at, name, desc))]
        return self.made(5, *offsets, ("Uint8", 0, number))

    def root(self, nodes: Sequence[int], inputs: Sequence[int], outputs: Sequence[int]) -> bytes:
        nodes_at, inputs_at, outputs_at = self.offsets(nodes), self.offsets(inputs), self.offsets(outputs)
        self.Finish(self.made(3, ("UOffsetTRelative", 2, outputs_at), ("UOffsetTRelative", 1, inputs_at),
                              ("UOffsetTRelative", 0, nodes_at)))  # fmt: skip
        return bytes(self.Output())


def build(graph: Any) -> bytes:
    """The file of a record."""
    writer = Writer(1 << 20)  # the package misplaces a vtable now and then where its buffer grows
    known: dict[str, int] = {}

    def place(names: Sequence[str], empty: int) -> list[int]:
        return [known[name] if name else empty for name in names]

    def add(names: Sequence[str]) -> None:
        for name in names:
            if name and name not in known:
                known[name] = writer.CreateString(name)

    read = [name for node in graph.nodes for name in node.input_names]
    add([name for name in read if name in graph.input_names])
    add(graph.input_names)
    add(graph.output_names)
    empty = [(writer.CreateString(""), writer.CreateString("")) for _ in graph.nodes]
    add(read)
    add([name for node in graph.nodes for name in node.output_names])
    nodes = [
        writer.node(node, place(node.input_names, one), place(node.output_names, other))
        for node, (one, other) in zip(graph.nodes, empty, strict=True)
    ]
    one, other = writer.CreateString(""), writer.CreateString("")
    return writer.root(nodes, place(graph.input_names, one), place(graph.output_names, other))


class Refused(Exception):
    """The verifier does not accept the file."""


class Walk:
    """The content of a file, as plain tuples. Places are checked as FlatBuffers' verifier checks them."""

    def __init__(self, data: bytes) -> None:
        self.data = bytearray(data)

    def need(self, at: int, size: int, alignment: int = 1) -> int:
        if not (at >= 0 and at + size <= len(self.data) and at % alignment == 0):
            raise Refused(f"{size} bytes at {at}")
        return at

    def to(self, at: int) -> int:
        self.need(at, 4, 4)
        offset: int = struct.unpack_from("<I", self.data, at)[0]
        if not 0 < offset < 1 << 31:
            raise Refused(f"offset {offset} at {at}")
        return self.need(at + offset, 1)

    def table(self, at: int) -> Table:
        self.need(at, 4, 4)
        vtable = at - struct.unpack_from("<i", self.data, at)[0]
        self.need(vtable, 2, 2)
        size = struct.unpack_from("<H", self.data, vtable)[0]
        self.need(vtable, size)
        if size % 2:
            raise Refused(f"vtable of {size} bytes")
        return Table(self.data, at)

    def vector(self, at: int, size: int) -> int:
        self.need(at, 4, 4)
        count: int = struct.unpack_from("<I", self.data, at)[0]
        self.need(at, 4 + size * count)
        return count

    def string(self, at: int) -> str:
        count = self.vector(at, 1)
        if self.data[self.need(at + 4 + count, 1)]:
            raise Refused("no zero byte")
        return self.data[at + 4 : at + 4 + count].decode()

    def field(self, table: Table, slot: int, follow: Callable[[int], Any]) -> Any:
        place = table.Offset(4 + 2 * slot)
        return follow(self.to(table.Pos + place)) if place else None

    def number(self, table: Table, slot: int, kind: Any) -> int:
        place = table.Offset(4 + 2 * slot)
        if place:
            self.need(table.Pos + place, kind.bytewidth, kind.bytewidth)
        return int(table.Get(kind, table.Pos + place)) if place else 0

    def each(self, follow: Callable[[int], Any]) -> Callable[[int], tuple[Any, ...]]:
        def all_of(at: int) -> tuple[Any, ...]:
            return tuple(follow(self.to(at + 4 + 4 * entry)) for entry in range(self.vector(at, 4)))

        return all_of

    def numbers(self, code: str) -> Callable[[int], tuple[Any, ...]]:
        size = struct.calcsize(f"<{code}")
        return lambda at: struct.unpack_from(f"<{self.vector(at, size)}{code}", self.data, at + 4)

    def put(self, at: int, alignment: int, code: str) -> tuple[Any, ...]:
        self.need(at, struct.calcsize(f"<{code}"), alignment)
        return struct.unpack_from(f"<{code}", self.data, at)

    def tensor(self, at: int) -> tuple[Any, ...]:
        table = self.table(at)
        return (self.field(table, 0, self.string), self.field(table, 1, self.numbers("I")),
                self.field(table, 2, self.numbers("I")), self.number(table, 3, types.Uint64Flags))  # fmt: skip

    def activation(self, at: int) -> tuple[Any, ...]:
        table = self.table(at)
        return self.field(table, 0, self.string), self.field(table, 1, self.each(self.attribute))

    def attribute(self, at: int) -> tuple[Any, ...]:
        table = self.table(at)
        number = self.number(table, 1, types.Uint8Flags)
        kind = TABLES.get(number) or STRUCTS[number][0]

        def value(at: int) -> Any:
            if number in STRUCTS:
                return self.put(at, *STRUCTS[number][1:])
            if kind == "Activation":
                return self.activation(at)
            inner = self.table(at)
            if kind == "ActivationArray":
                return self.field(inner, 0, self.each(self.activation))
            if kind == "ScalarUnionData":
                which = self.number(inner, 0, types.Uint8Flags)
                code = SCALAR_CODES[which - 1]
                alignment = 1 if which == 1 else struct.calcsize(code)
                return which, self.field(inner, 1, lambda at: self.put(at, alignment, code))
            return self.field(inner, 0, self.numbers(ARRAYS[kind][0]))

        return self.field(table, 0, self.string), kind, self.field(table, 2, value)

    def node(self, at: int) -> tuple[Any, ...]:
        table = self.table(at)
        names = self.each(self.string)
        head = tuple(self.field(table, slot, follow) for slot, follow in ((2, self.string), (3, names), (4, names)))
        operator = self.number(table, 0, types.Uint8Flags) == 1
        found: tuple[Any, ...] = head + self.field(table, 1, self.operator if operator else self.constant)
        return found

    def operator(self, at: int) -> tuple[Any, ...]:
        table = self.table(at)
        tensors = self.each(self.tensor)
        follows = (self.string, tensors, tensors, self.each(self.attribute))
        return tuple(self.field(table, slot, follow) for slot, follow in enumerate(follows))

    def constant(self, at: int) -> tuple[Any, ...]:
        table = self.table(at)
        named = self.number(table, 0, types.Uint8Flags) == 1
        inner: Table = self.field(table, 1, self.table)
        return (self.field(inner, 0, self.string if named else lambda at: bytes(self.numbers("B")(at))),)

    def graph(self) -> tuple[Any, ...]:
        table = self.table(self.to(0))
        names = self.each(self.string)
        return tuple(
            self.field(table, slot, follow) for slot, follow in enumerate((self.each(self.node), names, names))
        )


def as_walked(record: Any) -> tuple[Any, ...]:
    """A record as the walk finds it."""

    def value(kind: str, content: Any) -> Any:
        if content is None:
            return None
        if kind == "Activation":
            return activation(content)
        if kind == "ActivationArray":
            return tuple(map(activation, content))
        if kind == "ScalarUnionData":
            return SCALARS.index(content.kind) + 1, (content.value,)
        return tuple(content) if isinstance(content, tuple) else (content,)

    def attributes(entries: Any) -> tuple[Any, ...]:
        return tuple((one.name, one.kind, value(one.kind, one.value)) for one in entries)

    def activation(one: Any) -> tuple[Any, ...]:
        return one.type, attributes(one.attributes)

    def tensors(entries: Any) -> tuple[Any, ...]:
        return tuple((one.data_type, one.sizes, one.strides, one.total_size_in_bytes) for one in entries)

    def node(one: Any) -> tuple[Any, ...]:
        rest: tuple[Any, ...]
        if hasattr(one, "type"):
            rest = one.type, tensors(one.inputs), tensors(one.outputs), attributes(one.attributes)
        else:
            rest = (one.data,)
        return one.name, one.input_names, one.output_names, *rest

    return tuple(map(node, record.nodes)), record.input_names, record.output_names
