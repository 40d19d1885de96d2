"""Buffers of a model: what their description says, and the bytes that it leads to."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final, TypeAlias

import numpy as np

from dmlcy._facts.dtypes import (
    Bytes,
    bounds,
    has_four_bits,
    in_files,
    is_float,
    numpy_dtype,
    of_numbers,
    size_in_bytes,
)
from dmlcy._facts.rows import Dtype
from dmlcy._frontends.dxdispatch import files, images, npy
from dmlcy._frontends.dxdispatch.json import Node
from dmlcy._frontends.dxdispatch.numbers import Scalar, array, scalar
from dmlcy._frontends.dxdispatch.reader import UINT32, UINT64, Reader
from dmlcy._runtime import four_bits
from dmlcy._runtime.memory import require
from dmlcy._types import Array
from dmlcy._words.records import record
from dmlcy._words.values import show

_MEMBERS: Final = frozenset(
    {
        "initialValues",
        "initialValuesDataType",
        "initialValuesOffsetInBytes",
        "sizeInBytes",
        "resampleSize",
        "resampleMode",
    }
)


@record(frozen=True, slots=True, eq=False)
class Constant:
    """One value, repeated."""

    dtype: Dtype
    count: int
    value: Scalar


@record(frozen=True, slots=True, eq=False)
class Sequence:
    """Values that grow by ``delta``, added up in the buffer's own data type."""

    dtype: Dtype
    count: int
    start: Scalar
    delta: Scalar


@record(frozen=True, slots=True, eq=False)
class Values:
    """Values written out in the model."""

    data: Bytes


@record(frozen=True, slots=True, eq=False)
class SourceFile:
    """Values in a file: ``.npy``, an image of these sizes, or raw. ``length`` in bytes; None where the file says it."""

    path: str
    node: Node
    sizes: tuple[int, ...] | None = None
    length: int | None = None


Initial: TypeAlias = Constant | Sequence | Values | SourceFile


@record(frozen=True, slots=True, eq=False)
class Buffer:
    """A buffer as the model describes it. ``dtype`` is None for a list, and for a ``.npy`` that brings its own."""

    name: str
    node: Node
    dtype: Dtype | None
    initial: Initial
    offset: int
    size: int | None


@dataclass(slots=True, eq=False)
class Storage:
    """The bytes of a buffer, a multiple of 4; ``size`` is before rounding, start to stop are the initial values."""

    data: Bytes
    dtype: Dtype | None
    start: int
    stop: int
    size: int


def parse(reader: Reader, name: str, node: Node) -> Buffer | None:
    """The buffer that a resource describes; None, with problems, where it cannot be understood."""
    reader.ignore_others(node, _MEMBERS)
    kind = reader.optional(node, "initialValuesDataType", "string")
    if kind is None and node.get("initialValuesDataType") is not None:
        return None
    dtype = None
    if kind is not None and kind.value.removeprefix("DML_TENSOR_DATA_TYPE_") != "UNKNOWN":
        dtype = reader.dtype(kind)
        if dtype is None:
            return None
    values = reader.required(node, "initialValues", "array", "object", "string")
    initial = None if values is None else _initial(reader, node, values, dtype)
    sizes = _integer(reader, node, "initialValuesOffsetInBytes"), _integer(reader, node, "sizeInBytes")
    if initial is None:
        return None
    buffer = Buffer(name, node, dtype, initial, sizes[0] or 0, sizes[1])
    known = initial.length if isinstance(initial, SourceFile) else _length(initial)
    if known is not None:
        _size(reader, buffer, known)
    return buffer


def fill_all(reader: Reader, buffers: Mapping[str, Buffer], folder: Path) -> dict[str, Storage]:
    """The bytes of all buffers by name; problems where a file is missing, or the memory for all of them together."""
    held = 0
    for buffer in buffers.values():  # before any of them is filled
        held += size_of(buffer) or 0
        try:
            require(held)
        except MemoryError:
            reader.report("DML-MODEL-memory", buffer.node, name=buffer.name)
            return {}
    found = {}
    for name, buffer in buffers.items():
        storage = fill(reader, buffer, folder, 0 if size_of(buffer) is not None else held)
        if storage is not None:
            found[name] = storage
            held += 0 if size_of(buffer) is not None else storage.size
    return found


def fill(reader: Reader, buffer: Buffer, folder: Path, held: int = 0) -> Storage | None:
    """The bytes of a buffer; None, with a problem, where a file or the memory is missing, of which others hold some."""
    try:
        initial, dtype = buffer.initial, buffer.dtype
        if isinstance(initial, SourceFile):
            loaded = _load(reader, buffer, initial, folder)
            if loaded is None:
                return None
            initial, dtype = loaded
        length = _length(initial)
        size = _size(reader, buffer, length)
        if size is None:
            return None
        require(held + size)
        data = _zeros(size)
        stop = buffer.offset + length
        _write(initial, data[buffer.offset : stop])
    except MemoryError:
        reader.report("DML-MODEL-memory", buffer.node, name=buffer.name)
        return None
    return Storage(data, dtype, buffer.offset, stop, size)


def _initial(reader: Reader, node: Node, values: Node, dtype: Dtype | None) -> Initial | None:
    if values.kind == "string":
        identifier = "DML-MODEL-deferred" if values.value == "deferred" else "DML-MODEL-initial-values"
        reader.report(identifier, values)
        return None
    if values.kind == "array":
        return _list(reader, values) if dtype is None else _array(reader, values, dtype)
    forms: dict[str, Callable[[Reader, Node, Node, Dtype | None], Initial | None]] = {
        "value": _constant,
        "valueStart": _sequence,
        "sourcePath": _source,
    }
    chosen = [form for name, form in forms.items() if values.get(name) is not None]
    if len(chosen) != 1:
        reader.report("DML-MODEL-initial-values", values)
        return None
    return chosen[0](reader, node, values, dtype)


def _array(reader: Reader, values: Node, dtype: Dtype) -> Values | None:
    if not values.value:
        reader.report("DML-MODEL-empty", values)
        return None
    found = array(reader, values.value, dtype)
    return None if found is None else Values(_bytes(found))


def _list(reader: Reader, values: Node) -> Values | None:
    if not values.value:
        reader.report("DML-MODEL-empty", values)
        return None
    parts = []
    for item in values.value:
        if item.kind == "number":
            reader.report("DML-MODEL-missing", values.parent or values, name="initialValuesDataType")
            return None
        if not reader.expect(item, "object"):
            continue
        reader.ignore_others(item, ("name", "type", "value"))
        kind = reader.required(item, "type", "string")
        dtype = None if kind is None else reader.dtype(kind, packed=False)
        value = reader.required(item, "value", "number", "string")
        found = None if dtype is None else scalar(reader, value, dtype)
        if found is not None:
            parts.append(found.tobytes())
    if len(parts) < len(values.value):
        return None
    return Values(np.frombuffer(b"".join(parts), np.uint8))


def _constant(reader: Reader, node: Node, values: Node, dtype: Dtype | None) -> Constant | None:
    reader.ignore_others(values, ("valueCount", "value"))
    count = reader.integer(reader.required(values, "valueCount", "number"), 1, UINT32)
    if dtype is None:
        reader.report("DML-MODEL-missing", node, name="initialValuesDataType")
        return None
    value = scalar(reader, values.get("value"), dtype)
    return None if count is None or value is None else Constant(dtype, count, value)


def _sequence(reader: Reader, node: Node, values: Node, dtype: Dtype | None) -> Sequence | None:
    reader.ignore_others(values, ("valueCount", "valueStart", "valueDelta"))
    count = reader.integer(reader.required(values, "valueCount", "number"), 1, UINT32)
    delta = reader.required(values, "valueDelta", "number", "string")
    if dtype is None:
        reader.report("DML-MODEL-missing", node, name="initialValuesDataType")
        return None
    sequence = count, scalar(reader, values.get("valueStart"), dtype), scalar(reader, delta, dtype)
    if sequence[0] is None or sequence[1] is None or sequence[2] is None:
        return None
    if not is_float(dtype):
        low, high = bounds(dtype)
        last = int(sequence[1]) + int(sequence[2]) * (sequence[0] - 1)
        if not low <= last <= high:
            reader.report("DML-MODEL-sequence", values, last=last, dtype=dtype.name)
            return None
    return Sequence(dtype, sequence[0], sequence[1], sequence[2])


def _source(reader: Reader, node: Node, values: Node, dtype: Dtype | None) -> SourceFile | None:
    reader.ignore_others(values, ("sourcePath",))
    path = reader.optional(values, "sourcePath", "string")
    if path is None:
        return None
    if images.refused(reader, path):
        return None
    if dtype is None and images.suffix(path.value) != ".npy":
        reader.report("DML-MODEL-missing", node, name="initialValuesDataType")
        return None
    if dtype is not None and images.is_image(path.value):
        return _image_of(reader, node, path, dtype)
    return SourceFile(path.value, path)


def _image_of(reader: Reader, node: Node, path: Node, dtype: Dtype) -> SourceFile | None:
    """An image, and the sizes that it is scaled to; an empty list of them is the same as none."""
    mode = reader.optional(node, "resampleMode", "string")
    if mode is not None and mode.value != "scale":
        reader.report("DML-MODEL-choice", mode, value=mode.value, known="scale")
        return None
    size = reader.optional(node, "resampleSize", "array")
    if not images.has_type(reader, node.get("initialValuesDataType") or node, dtype):
        return None
    if size is None or not size.value:
        return SourceFile(path.value, path) if size is node.get("resampleSize") else None
    sizes = images.sizes(reader, size, (3, 4))
    if sizes is None:
        return None
    return SourceFile(path.value, path, sizes, size_in_bytes(dtype, math.prod(sizes)))


def _integer(reader: Reader, node: Node, name: str) -> int | None:
    return reader.integer(reader.optional(node, name, "number"), 0, UINT64)


def _size(reader: Reader, buffer: Buffer, length: int) -> int | None:
    """The size of a buffer with this many bytes of values, before it is rounded up."""
    size = buffer.offset + length if buffer.size is None else buffer.size
    if size < buffer.offset + length:
        reader.report(
            "DML-MODEL-size",
            buffer.node.get("sizeInBytes") or buffer.node,
            size=size,
            length=length,
            offset=buffer.offset,
        )
        return None
    return size


def size_of(buffer: Buffer) -> int | None:
    """Bytes of a buffer before they are rounded up; None where a file decides it."""
    if buffer.size is not None:
        return buffer.size
    known = buffer.initial.length if isinstance(buffer.initial, SourceFile) else _length(buffer.initial)
    return None if known is None else buffer.offset + known


def _bytes(values: Array) -> Bytes:
    return four_bits.in_bytes(values)


def _zeros(size: int) -> Bytes:
    """Zeros, a multiple of 4."""
    rounded = -(-size // 4) * 4
    require(rounded)
    return np.zeros(rounded, np.uint8)


def _length(initial: Constant | Sequence | Values) -> int:
    """Bytes that the values take."""
    if isinstance(initial, Values):
        return initial.data.size
    return size_in_bytes(initial.dtype, initial.count)


def _write(initial: Constant | Sequence | Values, target: Bytes) -> None:
    if isinstance(initial, Values):
        target[:] = initial.data
    elif has_four_bits(initial.dtype):
        target[:] = _bytes(of_numbers(_numbers(initial), initial.dtype))
    elif isinstance(initial, Constant):
        target.reshape(initial.count, -1)[:] = _bytes(np.asarray(initial.value))
    else:
        target[:] = _bytes(_numbers(initial))


def _numbers(initial: Constant | Sequence) -> Array:
    """The values as numbers."""
    if isinstance(initial, Constant):
        return np.full(initial.count, initial.value)
    values = np.full(initial.count, initial.delta)
    values[0] = initial.start
    with np.errstate(all="ignore"):
        found: Array = np.add.accumulate(values, dtype=values.dtype)
    return found


def _load(reader: Reader, buffer: Buffer, source: SourceFile, folder: Path) -> tuple[Values, Dtype] | None:
    try:
        with files.open_regular(files.find(folder, source.path)) as stream:
            if images.suffix(source.path) == ".npy":
                return _npy(reader, buffer, source, stream)
            assert buffer.dtype is not None
            if images.is_image(source.path):
                return _image(reader, buffer.dtype, source, stream)
            return _raw(reader, buffer.dtype, source, stream)
    except OSError as error:
        reader.report("DML-MODEL-source", source.node, path=source.path, why=error.strerror or str(error))
    except ValueError as error:  # a NUL in the path
        reader.report("DML-MODEL-source", source.node, path=source.path, why=str(error))
    return None


def _raw(reader: Reader, dtype: Dtype, source: SourceFile, stream: BinaryIO) -> tuple[Values, Dtype] | None:
    data = np.fromfile(stream, np.uint8)
    itemsize = size_in_bytes(dtype, 1)
    if data.size == 0:
        reader.report("DML-MODEL-empty", source.node)
        return None
    if data.size % itemsize:
        reader.report("DML-MODEL-source-size", source.node, size=data.size, dtype=dtype.name, itemsize=itemsize)
        return None
    return Values(data), dtype


def _image(reader: Reader, dtype: Dtype, source: SourceFile, stream: BinaryIO) -> tuple[Values, Dtype] | None:
    if not images.installed(reader, source.node):
        return None
    try:
        return Values(_bytes(images.read(stream, source.sizes, dtype, require))), dtype
    except images.ImageError as error:
        reader.report("DML-MODEL-image-file", source.node, path=source.path, why=str(error))
        return None


def _npy(reader: Reader, buffer: Buffer, source: SourceFile, stream: BinaryIO) -> tuple[Values, Dtype] | None:
    """The elements in row-major order."""
    try:
        header = npy.read_header(stream)
        dtype = header.dtype
        wanted_dtype = None if buffer.dtype is None else in_files(buffer.dtype)
        if dtype is None or wanted_dtype not in (None, dtype):
            wanted = "a tensor data type" if dtype is None or wanted_dtype is None else wanted_dtype.name
            reader.report("DML-MODEL-npy-type", source.node, path=source.path, found=show(header.kind), wanted=wanted)
            return None
        values = npy.read_elements(stream, header)
    except npy.NpyError as error:
        reader.report("DML-MODEL-npy", source.node, path=source.path, why=str(error))
        return None
    if values.size == 0:
        reader.report("DML-MODEL-empty", source.node)
        return None
    return Values(_bytes(values.astype(numpy_dtype(dtype), copy=False))), buffer.dtype or dtype
