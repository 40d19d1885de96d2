"""Writes ONNX models: a model with more outputs, and a part of a model with the bytes of its nodes and weights."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from mmap import ACCESS_READ, mmap
from os import fstat

import numpy as np

from dmlcy._frontends.dxdispatch.files import open_regular
from dmlcy._frontends.onnx import messages
from dmlcy._frontends.onnx.external import entries
from dmlcy._frontends.onnx.model import ELEMENTS, Model, Sizes
from dmlcy._frontends.onnx.structure import reads
from dmlcy._frontends.onnx.wire import Data, Message, Span, Wire, varint
from dmlcy._types import Array


@dataclass(frozen=True, slots=True)
class Described:
    """A value as a model says of its inputs and outputs: the name, and what is known of data type and sizes."""

    name: str
    element: str | None = None
    sizes: Sizes | None = None


class Source:
    """The bytes of a model, and where its graph has what."""

    def __init__(self, name: str, data: Data) -> None:
        self.data = data
        self.wire = Wire(name, data)
        self.graph = self.wire.message(messages.GRAPH, self.wire.message(messages.MODEL, [(0, len(data))])["graph"])

    def raw(self, span: Span) -> bytes:
        """The bytes of a span."""
        return bytes(self.data[span[0] : span[1]])

    def around(self) -> bytes:
        """The parts of the model besides its graph."""
        found, at, graph = [], 0, _number(messages.MODEL, "graph")
        while at < len(self.data):
            start = at
            tag, at = varint(self.data, at, len(self.data))
            size, at = varint(self.data, at, len(self.data)) if tag & 7 in (0, 2) else (8 if tag & 7 == 1 else 4, at)
            at += 0 if tag & 7 == 0 else size
            if tag >> 3 != graph:
                found.append(bytes(self.data[start:at]))
        return b"".join(found)

    def locations(self) -> list[str]:
        """The files with elements of initializers, relative to the folder of the model."""
        found: dict[str, None] = {}
        for span in self.graph.get("initializer", ()):
            tensor = self.wire.message(messages.TENSOR, (span,))
            if tensor.get("data_location") == 1:
                found[entries(self.wire, tensor.get("external_data", ()), "a tensor", span[0]).location] = None
        return [*found]


def source_of(path: str) -> Source:
    """The bytes of the model in a file that was read before."""
    with open_regular(path) as stream:
        size = fstat(stream.fileno()).st_size
        return Source(path, mmap(stream.fileno(), 0, access=ACCESS_READ) if size else b"")


def with_outputs(source: Source, outputs: Iterable[Described]) -> Iterator[bytes]:
    """The pieces of the model with further outputs, in a second message of the graph: readers merge the two."""
    yield bytes(source.data)
    more = b"".join(block(_number(messages.GRAPH, "output"), info(one)) for one in outputs)
    yield block(_number(messages.MODEL, "graph"), more)


def part(
    source: Source,
    model: Model,
    numbers: Collection[int],
    *,
    inputs: Sequence[Described],
    outputs: Sequence[Described],
    constants: Mapping[str, tuple[Array, str]],
) -> bytes:
    """A model of some nodes, by their numbers, in the order of the file.

    ``constants``: elements and data types of values that are initializers of the part; ``inputs``: the values that it
    is given. Initializers of the model that none of these names stay as they are.
    """
    given = {one.name for one in inputs} | {*constants}
    graph = source.graph
    read = {name for number in numbers for name in names_read(model, number)} | {one.name for one in outputs}
    found = [text(messages.GRAPH, "name", model.graph.name or "part")]
    spans = graph.get("node", ())
    found += [block(_number(messages.GRAPH, "node"), source.raw(spans[number])) for number in sorted(numbers)]
    for span in graph.get("initializer", ()):
        name = source.wire.message(messages.TENSOR, (span,)).get("name", "")
        tensor = model.graph.initializers[name]
        if name in read and name not in given:
            data = tensor_of(name, tensor.array(), tensor.element) if tensor.external else source.raw(span)
            found.append(block(_number(messages.GRAPH, "initializer"), data))
    for span in graph.get("sparse_initializer", ()):
        found.append(block(_number(messages.GRAPH, "sparse_initializer"), source.raw(span)))
    for name, (array, element) in constants.items():
        found.append(block(_number(messages.GRAPH, "initializer"), tensor_of(name, array, element)))
    for field, several in (("input", inputs), ("output", outputs)):
        found += [block(_number(messages.GRAPH, field), info(one)) for one in several]
    return source.around() + block(_number(messages.MODEL, "graph"), b"".join(found))


def names_read(model: Model, number: int) -> set[str]:
    """The names that a node of the model reads, those in its graphs included."""
    return {name for name in reads(model.graph.nodes[number]) if name}


# Messages ------------------------------------------------------------------------------------------------------------


def info(one: Described) -> bytes:
    """The message of a value."""
    found = text(messages.INFO, "name", one.name)
    if one.element is None:
        return found
    tensor = integer(messages.TENSOR_TYPE, "elem_type", ELEMENTS[one.element].number)
    if one.sizes is not None:
        sizes = b"".join(block(_number(messages.SHAPE, "dim"), _dimension(size)) for size in one.sizes)
        tensor += block(_number(messages.TENSOR_TYPE, "shape"), sizes)
    kind = block(_number(messages.TYPE, "tensor"), tensor)
    return found + block(_number(messages.INFO, "type"), kind)


def _dimension(size: int | str | None) -> bytes:
    if size is None:
        return b""
    if isinstance(size, str):
        return text(messages.DIMENSION, "dim_param", size)
    return integer(messages.DIMENSION, "dim_value", size)


def tensor_of(name: str, array: Array, element: str) -> bytes:
    """The message of a tensor, whose elements are as ``Tensor.array`` gives them."""
    kind = ELEMENTS[element]
    found = b"".join(integer(messages.TENSOR, "dims", size) for size in array.shape)
    found += integer(messages.TENSOR, "data_type", kind.number) + text(messages.TENSOR, "name", name)
    if kind.name == "STRING":
        field = _number(messages.TENSOR, "string_data")
        return found + b"".join(
            block(field, one if isinstance(one, bytes) else str(one).encode()) for one in array.flat
        )
    return found + block(_number(messages.TENSOR, "raw_data"), _packed(array, kind.bits))


def _packed(array: Array, bits: int) -> bytes:
    """The bytes of elements, of which several may share a byte, as raw_data has them."""
    flat = np.ascontiguousarray(array).reshape(-1)
    if bits >= 8:
        return flat.astype(flat.dtype.newbyteorder("<"), copy=False).tobytes()
    places = np.arange(bits, dtype=np.uint8)
    ones = (flat.view(np.uint8)[:, np.newaxis] >> places & 1).reshape(-1)
    return np.packbits(ones, bitorder="little").tobytes()


def _number(message: Message, field: str) -> int:
    """The number of a field."""
    return next(number for number, name in message.names.items() if name == field)


def text(message: Message, field: str, value: str) -> bytes:
    """A field with a text."""
    return block(_number(message, field), value.encode())


def integer(message: Message, field: str, value: int) -> bytes:
    """A field with a number."""
    return _varint(_number(message, field) << 3) + _varint(value)


def block(number: int, payload: bytes) -> bytes:
    """A field with bytes: a text, or a message."""
    return _varint(number << 3 | 2) + _varint(len(payload)) + payload


def _varint(value: int) -> bytes:
    found, value = bytearray(), value & 0xFFFF_FFFF_FFFF_FFFF
    while value > 127:
        found.append(value & 127 | 128)
        value >>= 7
    return bytes([*found, value])
