"""For each id of serialized graphs a file that is refused with it, and the byte: one change of a valid file."""

from __future__ import annotations

import struct
from collections.abc import Callable

from serialized_graphs import WHOLE

from dmlcy._frontends.serialized.builder import Builder, Placed
from dmlcy._frontends.serialized.reader import read
from dmlcy._frontends.serialized.schema import TABLES
from dmlcy._frontends.serialized.writer import write

DATA = write(WHOLE)


def _put(at: int, code: str, *values: int, data: bytes = DATA) -> bytes:
    raw = struct.pack(f"<{code}", *values)
    return data[:at] + raw + data[at + len(raw) :]


def _get(at: int, code: str = "I") -> int:
    found: int = struct.unpack_from(f"<{code}", DATA, at)[0]
    return found


ROOT = _get(0)
VTABLE = ROOT - _get(ROOT, "i")
NODES = ROOT + 4 + _get(ROOT + 4)  # the first field of the root in the file is its first id
FIRST = NODES + 4 + _get(NODES + 4)
assert read(DATA).at == ROOT and read(DATA).nodes[0].at == FIRST


def offset() -> tuple[bytes, int]:
    return _put(NODES + 4, "I", 0), NODES + 4


def end() -> tuple[bytes, int]:
    """The vtable gives the root more bytes than the file has."""
    return _put(VTABLE + 2, "H", 0xFFFC), ROOT


def alignment() -> tuple[bytes, int]:
    return _put(NODES + 4, "I", _get(NODES + 4) + 2), FIRST + 2


def vtable() -> tuple[bytes, int]:
    return _put(ROOT, "i", 4 * len(DATA)), ROOT


def length() -> tuple[bytes, int]:
    return _put(NODES, "I", 2**32 - 1), NODES


def text() -> tuple[bytes, int]:
    at = DATA.index(b"weights")
    return _put(at + 2, "B", 0xFF), at + 2


def missing() -> tuple[bytes, int]:
    """The vtable of the root ends before its last field."""
    return _put(VTABLE, "H", 8), ROOT


def kind() -> tuple[bytes, int]:
    at = FIRST
    vtable = at - _get(at, "i")
    return _put(at + _get(vtable + 4, "H"), "B", 7), at


def nesting() -> tuple[bytes, int]:
    """The graph, a node, its operator, then attributes and activations: table 65 is activation 31."""
    data, attributes = nested(31)
    at = attributes[0]
    vtable = at - struct.unpack_from("<i", data, at)[0]
    where = at + struct.unpack_from("<H", data, vtable + 8)[0]
    return data, where + struct.unpack_from("<I", data, where)[0]


def overlap() -> tuple[bytes, int]:
    """The bytes of the constant are what is too much."""
    data = same_constant(1 << 12)
    return data, data.rindex(struct.pack("<I", 1 << 11))


BROKEN: dict[str, Callable[[], tuple[bytes, int | None]]] = {
    "size": lambda: (b"", None),
    "offset": offset,
    "end": end,
    "alignment": alignment,
    "vtable": vtable,
    "length": length,
    "text": text,
    "missing": missing,
    "kind": kind,
    "nesting": nesting,
    "overlap": overlap,
}


def nested(depth: int, uses: int = 1) -> tuple[bytes, list[int]]:
    """Activations inside each other, each with its inner one ``uses`` times; and the bytes of the attributes."""
    builder = Builder(dict.fromkeys(TABLES, tuple))
    positions = [builder.table("AttributeDesc", (None, ("Activation", None)))]
    for _ in range(depth):
        activation = "DML_OPERATOR_ACTIVATION_RELU", Placed([positions[-1]] * uses)
        positions.append(builder.table("AttributeDesc", ("A", ("Activation", activation))))
    operator = "DML_OPERATOR_GEMM", (), (), Placed(positions[-1:])
    node = builder.table("DmlGraphNode", (("OperatorNodeDesc", operator), "n", Placed(), Placed()))
    data = builder.finish(builder.table("DmlGraphDesc", (Placed([node]), Placed(), Placed())))
    return data, [len(data) - position for position in positions[1:]]


def shared(size: int) -> bytes:
    """Activations each of which has its inner one twice, 27 deep; then ``size`` bytes."""
    return nested(27, 2)[0] + bytes(size)


_HEAD = struct.pack("<IHHHHHxxiIII", 16, 10, 16, 4, 8, 12, 12, 12, 12, 4)
"""The root and its vtable. Behind them is an empty vector, of nodes and of outputs, then the names of the inputs."""


def overlapping_texts(size: int) -> bytes:
    """A graph with inputs whose names lie over each other: each is a quarter of the file."""
    count = size // 16
    names = struct.pack(f"<I{count}I", count, *[4 * count] * count)
    texts = struct.pack("<I", size // 4) * (size // 16)
    return _evil(names, texts + bytes(size // 2))


def same_text(size: int) -> bytes:
    """A graph with inputs that all have the same long name: that is what a file may have."""
    count = size // 16
    names = struct.pack(f"<I{count}I", count, *[4 * (count - entry) for entry in range(count)])
    return _evil(names, struct.pack("<I", size // 2) + b"x" * (size // 2) + bytes(4))


def same_constant(size: int) -> bytes:
    """Nodes that are all one node, which has a constant of half the file."""
    builder = Builder(dict.fromkeys(TABLES, tuple))
    constant = "ConstantNodeDesc", [("ConstantRawData", [bytes(size // 2)])]
    node = builder.table("DmlGraphNode", (constant, "n", Placed(), Placed()))
    nodes = Placed([node] * (size // 8))
    return builder.finish(builder.table("DmlGraphDesc", (nodes, Placed(), Placed())))


def _evil(names: bytes, rest: bytes) -> bytes:
    """A graph without nodes and outputs, with these names of its inputs."""
    return _HEAD + bytes(4) + names + rest
