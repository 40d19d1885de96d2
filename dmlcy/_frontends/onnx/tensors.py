"""Tensors of a file: checked against their sizes when the file is read, and read when their elements are asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import prod
from pathlib import Path
from typing import Final, NoReturn

import numpy as np

from dmlcy._frontends.onnx import external, messages
from dmlcy._frontends.onnx.external import External
from dmlcy._frontends.onnx.model import ELEMENTS, Element, Tensor
from dmlcy._frontends.onnx.unpack import as_elements, packed_numbers
from dmlcy._frontends.onnx.wire import Contents, Damage, Span, Wire
from dmlcy._types import Array
from dmlcy._words.values import quote

_LARGEST: Final = 2**63 - 1
_RANK: Final = 64  # the most axes of an array of NumPy
_FIELDS: Final[Mapping[str, str]] = {
    "FLOAT": "float_data", "COMPLEX64": "float_data", "DOUBLE": "double_data", "COMPLEX128": "double_data",
    "INT64": "int64_data", "UINT32": "uint64_data", "UINT64": "uint64_data", "STRING": "string_data",
}  # fmt: skip
"""The field of TensorProto that has the elements of a data type, where it is not int32_data."""
_STORES: Final = (
    "raw_data", "float_data", "int32_data", "string_data", "int64_data", "double_data", "uint64_data",
)  # fmt: skip
_BY_NUMBER: Final = {element.number: element for element in ELEMENTS.values()}


def element_of(wire: Wire, number: int, byte: int, what: str) -> Element:
    """The data type of this number."""
    if number not in _BY_NUMBER:
        wire.refuse("dtype", byte, what=what, number=number)
    return _BY_NUMBER[number]


@dataclass(frozen=True, slots=True)
class _Read:
    """The fields of a tensor. ``what``: the tensor in words."""

    wire: Wire
    what: str
    byte: int
    element: Element
    sizes: tuple[int, ...]

    def wrong_elements(self, field: str, unit: str, actual: object, expected: int) -> NoReturn:
        """Refuse a tensor with more or fewer elements than its sizes say."""
        words = {"element": self.element.name, "sizes": _shown(self.sizes), "field": field, "unit": unit}
        self.wire.refuse("elements", self.byte, what=self.what, actual=actual, expected=expected, **words)

    @property
    def count(self) -> int:
        return prod(self.sizes)

    @property
    def bytes(self) -> int:
        """Bytes of the elements in raw_data, and in a file of their own."""
        return -(-self.count * self.element.bits // 8)


def tensor(wire: Wire, spans: Sequence[Span], folder: Path | None) -> Tensor:
    """The tensor in these bytes. Files of elements are in ``folder``."""
    found, byte = wire.message(messages.TENSOR, spans), spans[0][0]
    name = found.get("name", "")
    what = f"The tensor {quote(name)}" if name else "The tensor"
    element = element_of(wire, found.get("data_type", 0), byte, what)
    sizes = tuple(found.get("dims", ()))
    check_sizes(wire, what, byte, sizes, element)
    if "segment" in found:
        wire.refuse("segment", byte, what=what)
    one = _Read(wire, what, byte, element, sizes)
    if found.get("data_location") == 1:
        elsewhere = external.entries(wire, found.get("external_data", ()), what, byte)
        return Tensor(name, element.name, sizes, partial(_external, one, elsewhere, folder), external=True)
    return Tensor(name, element.name, sizes, _inside(one, found))


def check_sizes(wire: Wire, what: str, byte: int, sizes: tuple[int, ...], element: Element) -> None:
    """Refuse sizes that no array has."""
    why = ""
    if len(sizes) > _RANK:
        why = f"there are {len(sizes)} of them, and an array of NumPy has at most {_RANK}"
    elif any(size < 0 for size in sizes):
        why = "a size is negative"
    elif prod(size for size in sizes if size) * max(element.bits, 64) // 8 > _LARGEST:
        why = "no file has as many elements"
    if why:
        wire.refuse("sizes", byte, what=what, sizes=_shown(sizes), why=why)


def _shown(sizes: tuple[int, ...]) -> str:
    return f"({', '.join(map(str, sizes[:8]))}{', ...' if len(sizes) > 8 else ',' if len(sizes) == 1 else ''})"


def _inside(one: _Read, found: Contents) -> Callable[[], Array]:
    """A function that reads the elements in the file itself, once their number is right as far as the bytes need not be
    read.
    """
    own = _FIELDS.get(one.element.name, "int32_data")
    stores = [name for name in _STORES if found.get(name)]
    allowed = (own,) if own == "string_data" else ("raw_data", own)
    if "raw_data" in found and found["raw_data"][0] == found["raw_data"][1] and len(stores) > 1:
        stores.remove("raw_data")
    if len(stores) > 1 or not {*stores} <= {*allowed}:
        words = {"element": one.element.name, "actual": " and ".join(stores), "expected": " or ".join(allowed)}
        one.wire.refuse("storage", one.byte, what=one.what, **words)
    if stores == ["raw_data"]:
        start, stop = found["raw_data"]
        if stop - start != one.bytes:
            one.wrong_elements("raw_data", "bytes", stop - start, one.bytes)
        return partial(_raw, one, (start, stop))
    return {"string_data": _strings, "float_data": _fixed, "double_data": _fixed}.get(own, _numbers)(
        one, own, found.get(own, ())
    )


def _strings(one: _Read, field: str, values: Sequence[Span]) -> Callable[[], Array]:
    if len(values) != one.count:
        one.wrong_elements(field, "elements", len(values), one.count)

    def read() -> Array:
        array = np.empty(len(values), object)
        array[:] = [text_or_bytes(bytes(one.wire.data[start:stop])) for start, stop in values]
        return _finished(array.reshape(one.sizes))

    return read


def text_or_bytes(raw: bytes) -> str | bytes:
    """A text, or bytes where they are no UTF-8."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw


def _fixed(one: _Read, field: str, values: Sequence[Span]) -> Callable[[], Array]:
    """A function that reads the numbers of float_data or double_data: their bytes are those of raw_data."""
    actual = sum(stop - start for start, stop in values)
    if actual != one.bytes:
        one.wrong_elements(field, "bytes", actual, one.bytes)
    if len(values) == 1:
        return partial(_raw, one, values[0])
    return lambda: as_elements(b"".join(one.wire.data[start:stop] for start, stop in values), one.element, one.sizes)


def _numbers(one: _Read, field: str, values: Sequence[int | Span]) -> Callable[[], Array]:
    """A function that reads the numbers of int32_data, int64_data or uint64_data, each of 1 to 10 bytes.

    A number of int32_data has the elements that fit into a byte, where they have 4 or 2 bits.
    """
    each = 8 // one.element.bits if one.element.bits in (2, 4) else 1
    count = -(-one.count // each)
    lengths = [1 if isinstance(value, int) else value[1] - value[0] for value in values]
    if not -(-sum(lengths) // 10) <= count <= sum(lengths):
        most = sum(lengths)
        one.wrong_elements(field, "numbers", f"at most {most}" if count > most else f"at least {-(-most // 10)}", count)

    def read() -> Array:
        try:
            numbers = packed_numbers(one.wire.data, values)
        except Damage as damage:
            span = next(value for value in values if not isinstance(value, int))
            one.wire.refuse(str(damage), span[0], message=messages.TENSOR.name, end=span[1])
        if len(numbers) != count:
            one.wrong_elements(field, "numbers", len(numbers), count)
        if one.element.bits <= 6:
            packed = numbers.astype(np.uint8)
            if one.element.bits == 6:
                return _finished((packed & 63).reshape(one.sizes))
            return as_elements(packed, one.element, one.sizes)
        size = one.element.bits // 8
        return as_elements(numbers.astype(f"<u{size}"), one.element, one.sizes)

    return read


def _raw(one: _Read, span: Span) -> Array:
    data = np.frombuffer(one.wire.data, np.uint8, span[1] - span[0], span[0]) if span[1] > span[0] else b""
    return as_elements(data, one.element, one.sizes)


def _external(one: _Read, elsewhere: External, folder: Path | None) -> Array:
    if one.element.numpy == "object":
        words = {"element": one.element.name, "actual": "external_data", "expected": "string_data"}
        one.wire.refuse("storage", one.byte, what=one.what, **words)
    if elsewhere.length is not None and elsewhere.length != one.bytes:
        one.wrong_elements(external.FIELD, "bytes", elsewhere.length, one.bytes)
    data = external.elements(one.wire, elsewhere, one.bytes, folder, one.what, one.byte)
    return as_elements(data, one.element, one.sizes)


def _finished(array: Array) -> Array:
    array.flags.writeable = False
    return array
