"""The wire format of protocol buffers, with bounds at every offset: a message as a dictionary of its fields."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from mmap import mmap
from typing import Any, Final, Literal, NamedTuple, NoReturn, TypeAlias

from dmlcy._frontends.dxdispatch.problems import at_byte, make, refuse

Data: TypeAlias = bytes | memoryview | mmap
Span: TypeAlias = tuple[int, int]
"""The first byte of a value, and the byte behind it."""
Contents: TypeAlias = dict[str, Any]
"""The contents of the fields of a message, each of the kind that the message says."""
Take: TypeAlias = Callable[["Wire", Any], object]
"""Makes what is kept of the value of a field, a number or a span."""
Mode: TypeAlias = Literal["one", "each", "all"]
"""The role of a value in its field: the value, of which the last counts; an entry; or entries, packed into one value.
"""

MOST: Final = 1_200_000
"""Entries and pieces of text of a file: what is kept of them stays below 256 MB."""
_WIRES: Final = {0: "0 (a number)", 1: "1 (8 bytes)", 2: "2 (a length and bytes)", 5: "5 (4 bytes)"}
_BYTES: Final = {1: 8, 5: 4}
_PIECE: Final = 64  # bytes of a text that count as an entry


class Damage(Exception):
    """A mistake in a number: the end of an id."""


def varint(data: Data, at: int, end: int) -> tuple[int, int]:
    """The number that begins at a byte, and the byte behind it; Damage where it is not whole before ``end``."""
    value = 0
    for shift in range(0, 70, 7):
        if at >= end:
            raise Damage("end")
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value & 0xFFFF_FFFF_FFFF_FFFF, at
    raise Damage("number")


def signed(value: int) -> int:
    """A number of 64 bits with its sign."""
    return value - (1 << 64) if value >> 63 else value


class _Field(NamedTuple):
    name: str
    take: Take | None  # makes a value of a number or of a span; None: it stays what it is
    mode: Mode
    others: tuple[str, ...]  # the other members of its oneof


class Message:
    """A message of the format. ``fields``: their numbers, names and kinds; ``oneof``: names of which one is set."""

    def __init__(self, name: str, fields: Mapping[int, tuple[str, str]], oneof: Sequence[str] = ()) -> None:
        self.name = name
        self.names = {number: field for number, (field, _) in fields.items()}
        self.tags: dict[int, _Field] = {}
        for number, (field, kind) in fields.items():
            others = tuple(other for other in oneof if other != field and field in oneof)
            for wire, (take, mode) in _KINDS[kind].items():
                self.tags[number << 3 | wire] = _Field(field, take, mode, others)

    def expected(self, number: int) -> str:
        """The wire types that a field may have, in words."""
        return " or ".join(text for wire, text in _WIRES.items() if number << 3 | wire in self.tags)


class Wire:
    """Reads messages from the bytes of a file.

    Parameters
    ----------
    file
        The name of the file, for messages.
    data
        Its bytes.
    most
        Entries that are read before the file is refused.
    """

    def __init__(self, file: str, data: Data, most: int = MOST) -> None:
        self.file = file
        self.data = data
        self.most = self.left = most
        self.texts: dict[bytes, str] = {}  # each text is kept once
        self.mapped: dict[str, mmap] = {}  # files with elements of tensors: each is opened once

    def message(self, message: Message, spans: Sequence[Span]) -> Contents:
        """The contents of the fields of a message; several spans are merged, as protocol buffers are."""
        found: Contents = {}
        data, tags, begin, end = self.data, message.tags, 0, 0
        try:
            for at, end in spans:
                while at < end:
                    begin = at
                    tag = data[at]
                    at += 1
                    if tag > 127:
                        tag, at = varint(data, begin, end)
                    wire = tag & 7
                    value: int | Span
                    if wire == 2:
                        size, at = varint(data, at, end) if at >= end or data[at] > 127 else (data[at], at + 1)
                        value = at, at + size
                        at += size
                    elif wire == 0:
                        value, at = varint(data, at, end)
                    elif wire in _BYTES:
                        value = at, at + _BYTES[wire]
                        at = value[1]
                    if at > end and isinstance(value, tuple):
                        self._beyond(message, tag, begin, value, end)
                    field = tags.get(tag)
                    if field is None:
                        self._other(message, tag, begin)
                        continue
                    name, take, mode, others = field
                    taken = value if take is None else take(self, value)
                    if mode == "one":
                        found[name] = taken
                        for other in others:
                            found.pop(other, None)
                    elif mode == "each":
                        self.left -= 1
                        if name in found:
                            found[name].append(taken)
                        else:
                            found[name] = [taken]
                    else:
                        found.setdefault(name, []).extend(taken)
                    if self.left < 0:
                        self.too_many(begin)
        except Damage as damage:
            self.refuse(str(damage), begin, message=message.name, end=end)
        except UnicodeDecodeError:
            self.refuse("text", begin, message=message.name, field=field.name if field else "")
        return found

    def text(self, span: Span) -> str:
        """A text; UnicodeDecodeError where it is none."""
        pieces = 1 + (span[1] - span[0]) // _PIECE
        if pieces > self.left:
            self.too_many(span[0])
        raw = bytes(self.data[span[0] : span[1]])
        found = self.texts.get(raw)
        if found is None:
            self.left -= pieces
            found = self.texts[raw] = raw.decode("utf-8")
        return found

    def raw(self, span: Span) -> bytes:
        """The bytes of a span."""
        self.spend(1 + (span[1] - span[0]) // _PIECE, span[0])
        return bytes(self.data[span[0] : span[1]])

    def numbers(self, span: Span) -> list[int]:
        """Packed numbers, with their signs."""
        at, end = span
        found = []
        while at < end:
            value, at = varint(self.data, at, end)
            found.append(signed(value))
            self.spend(1, at)
        return found

    def floats(self, span: Span) -> tuple[float, ...]:
        """Packed numbers of 4 bytes."""
        count, more = divmod(span[1] - span[0], 4)
        if more:
            raise Damage("end")
        self.spend(count, span[0])
        return struct.unpack(f"<{count}f", self.data[span[0] : span[1]])

    def float(self, span: Span) -> float:
        """A number of 4 bytes."""
        return float(struct.unpack("<f", self.data[span[0] : span[1]])[0])

    def spend(self, count: int, byte: int) -> None:
        """Count entries that are kept."""
        self.left -= count
        if self.left < 0:
            self.too_many(byte)

    def too_many(self, byte: int) -> NoReturn:
        """Refuse a file with too many entries."""
        self.refuse("limit", byte, limit=self.most, what="names, values of attributes and other entries")

    def refuse(self, slug: str, byte: int, *, hint: str = "", **words: object) -> NoReturn:
        """Raise DML-ONNX-file-<slug> about a byte."""
        refuse([make(f"DML-ONNX-file-{slug}", at_byte(self.file, byte), {"byte": byte, **words}, hint=hint)])

    def _beyond(self, message: Message, tag: int, begin: int, value: Span, end: int) -> NoReturn:
        """Refuse a value that is longer than what is left of its message."""
        start, stop = value
        name = message.names.get(tag >> 3, tag >> 3)
        left = max(end - start, 0)
        self.refuse("length", begin, field=name, message=message.name, length=stop - start, left=left)

    def _other(self, message: Message, tag: int, byte: int) -> None:
        """Pass over a field that is not read; refuse one that no version of ONNX can have."""
        number, wire = tag >> 3, tag & 7
        if wire not in _WIRES or not 0 < number < 1 << 29:
            self.refuse("tag", byte, message=message.name, field=number, wire=wire)
        if number in message.names:
            expected = message.expected(number)
            words = {"message": message.name, "field": message.names[number]}
            self.refuse("field", byte, wire=_WIRES[wire], expected=expected, **words)


_KINDS: Final[Mapping[str, Mapping[int, tuple[Take | None, Mode]]]] = {
    "int": {0: (lambda _, value: signed(value), "one")},
    "ints": {0: (lambda _, value: signed(value), "each"), 2: (Wire.numbers, "all")},
    "float": {5: (Wire.float, "one")},
    "floats": {5: (Wire.float, "each"), 2: (Wire.floats, "all")},
    "text": {2: (Wire.text, "one")},
    "texts": {2: (Wire.text, "each")},
    "bytes": {2: (None, "one")},
    "spans": {2: (None, "each")},  # messages, which are read later, or texts that may be no UTF-8
    "numbers": {0: (None, "each"), 2: (None, "each")},  # elements, which are read later: numbers, spans of packed ones
    "fours": {5: (None, "each"), 2: (None, "each")},
    "eights": {1: (None, "each"), 2: (None, "each")},
}
"""The kinds of fields: for each wire type, what makes a value of it."""
