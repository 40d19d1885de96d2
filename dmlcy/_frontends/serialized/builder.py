"""FlatBuffers written as the C++ FlatBufferBuilder writes them: from the end of the file to its beginning.

Each written part has a position: its distance from the end of the file. A part is written after all that it leads to; a
table directly after its vtable, unless an earlier vtable has the same bytes.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final, NamedTuple, NoReturn, TypeAlias

from dmlcy._frontends.serialized.problems import refuse
from dmlcy._frontends.serialized.schema import (
    DEEPEST,
    LARGEST,
    TABLES,
    U32,
    Scalar,
    Struct,
    Table,
    Text,
    Union,
    Vector,
)
from dmlcy._words.values import show

Parts: TypeAlias = Callable[[Any], Sequence[object]]
"""The values of the fields of a table, in the order of the schema, of what the caller wants written."""

_WORD: Final = U32.size
_UINT: Final = struct.Struct("<I").pack
_PACKED: Final = (struct.error, OverflowError, TypeError, ValueError)


class Placed(tuple[int, ...]):
    """The entries of a vector, which are written already: their positions."""

    __slots__ = ()


class _Layout(NamedTuple):
    """How the fields of a table lie: the code of its bytes, the vtable, and in their order what they are."""

    code: struct.Struct
    vtable: bytes
    slots: tuple[tuple[int, int], ...]  # the id, and for an offset how far its bytes are from the end of the table
    alignment: int


class _Step(NamedTuple):
    """How the part of a field is written: of a union both of its ids."""

    field: int
    slot: int  # of its id
    required: bool
    write: Callable[[object], int] | None
    union: Callable[[object], tuple[int, int]] | None


class _Plan(NamedTuple):
    """How a table is written: the tables in its vectors, then what it leads to, then its numbers."""

    name: str
    parts: Parts
    tables: tuple[tuple[int, str, str], ...]  # the index of the field, what it is, the name of the tables
    steps: tuple[_Step, ...]
    numbers: tuple[tuple[int, int, str, Scalar], ...]  # the index of the field, of its id, what it is
    empty: tuple[int, ...]
    layouts: dict[int, _Layout]


class Builder:
    """Writes tables, and gives their positions."""

    def __init__(self, parts: Mapping[str, Parts]) -> None:
        self._chunks: list[bytes] = []
        self._size = 0
        self._alignment = _WORD
        self._depth = 0
        self._vtables: dict[bytes, int] = {}
        self._texts: dict[tuple[str, int], bytes] = {}
        self._plans = {table.name: self._plan(table, parts[table.name]) for table in TABLES.values()}

    def finish(self, root: int) -> bytes:
        """The file whose root is at this position."""
        padding = -(self._size + _WORD) % self._alignment
        self._add(struct.pack(f"<I{padding}x", self._size + padding + _WORD - root))
        return b"".join(reversed(self._chunks))

    def text(self, what: str, value: object) -> int:
        """A text."""
        if not isinstance(value, str):
            _wrong(what, value, "a text")
        key = value, self._size & 3
        chunk = self._texts.get(key)
        if chunk is None:
            try:
                raw = value.encode()
            except UnicodeEncodeError:
                _wrong(what, value, "a text that UTF-8 can hold")
            padding = -(self._size + len(raw) + 1) % _WORD
            chunk = self._texts[key] = b"".join((_UINT(len(raw)), raw, bytes(1 + padding)))
        return self._add(chunk)

    def table(self, name: str, value: object) -> int:
        """A table, after all its parts."""
        plan = self._plans[name]
        self._depth += 1
        if self._depth > DEEPEST:
            _wrong(name, value, f"nested at most {DEEPEST} tables deep")
        values = list(plan.parts(value))
        for index, what, inner in plan.tables:
            if type(values[index]) is not Placed:
                values[index] = Placed([self.table(inner, one) for one in _entries(what, values[index])])
        slots = list(plan.empty)
        for index, slot, required, write, union in plan.steps:
            part = values[index]
            if union is not None:
                slots[slot - 1], slots[slot] = union(part)
            elif write is not None and (required or part is not None):
                slots[slot] = write(part)
        for index, slot, what, of in plan.numbers:
            number = values[index]
            if type(number) is int and 0 <= number < 1 << 8 * of.size:
                slots[slot] = number
            else:
                slots[slot] = int.from_bytes(_packed(what, of, of.code, (number,)), "little")
        self._depth -= 1
        return self._laid_out(plan, slots)

    def _plan(self, table: Table, parts: Parts) -> _Plan:
        tables: list[tuple[int, str, str]] = []
        steps: list[_Step] = []
        numbers: list[tuple[int, int, str, Scalar]] = []
        for index, field in enumerate(table.fields):
            what = f"{field.name} of {table.name}"
            if isinstance(field.type, Vector) and isinstance(field.type.of, str):
                tables.append((index, what, field.type.of))
            elif isinstance(field.type, Scalar):
                numbers.append((index, table.ids[index], what, field.type))
        for index in table.in_order:
            field = table.fields[index]
            what = f"{field.name} of {table.name}"
            write: Callable[[object], int] | None = None
            union: Callable[[object], tuple[int, int]] | None = None
            if isinstance(field.type, Union):
                union = partial(self._union, what, field.type)
            elif isinstance(field.type, Text):
                write = partial(self.text, what)
            elif isinstance(field.type, Vector):
                of = field.type.of
                write = partial(self._vector, what, of) if isinstance(of, Scalar) else self._offsets
            steps.append(_Step(index, table.ids[index], field.required, write, union))
        empty = (0,) * len(table.slots)
        return _Plan(table.name, parts, tuple(tables), tuple(steps), tuple(numbers), empty, {})

    def _vector(self, what: str, of: Scalar, value: object) -> int:
        if of.size == 1:
            if not isinstance(value, bytes):
                _wrong(what, value, "bytes")
            return self._add(b"".join((_UINT(len(value)), value, bytes(-(self._size + len(value)) % _WORD))))
        entries = _entries(what, value)
        return self._add(_packed(what, of, f"{len(entries)}{of.code}{-self._size % _WORD}x", entries, count=True))

    def _offsets(self, targets: object) -> int:
        assert isinstance(targets, Placed)
        padding = -self._size % _WORD
        first = self._size + padding + _WORD * len(targets)
        offsets = [first - _WORD * entry - target for entry, target in enumerate(targets)]
        return self._add(struct.pack(f"<I{len(targets)}I{padding}x", len(targets), *offsets))

    def _union(self, what: str, union: Union, value: object) -> tuple[int, int]:
        """The number of the member, and its position; 0 where it is left out."""
        assert isinstance(value, tuple)
        name, content = value
        number = union.number.get(name) if isinstance(name, str) else None
        if number is None:
            _wrong(what, name, f"one of {', '.join(union.names[1:])}")
        if content is None and name in union.absent:
            return number, 0
        member = union.members[number - 1]
        if isinstance(member, str):
            return number, self.table(member, content)
        return number, self._struct(what, member, content)

    def _struct(self, what: str, member: Struct, value: object) -> int:
        self._alignment = max(self._alignment, member.of.size)
        padding = -self._size % member.of.size
        entries: Sequence[object] = (value,)
        if member.count > 1:
            if not isinstance(value, tuple | list | bytes) or len(value) != member.count:
                _wrong(what, value, f"{member.count} entries, each {member.of.takes}")
            entries = value
        return self._add(_packed(what, member.of, f"{member.count}{member.of.code}{padding}x", entries))

    def _laid_out(self, plan: _Plan, slots: list[int]) -> int:
        """The numbers and offsets of a table; 0 where an id is not in the table."""
        there = self._size & 7
        for value in slots:
            there = there << 1 | (value != 0)
        layout = plan.layouts.get(there)
        if layout is None:
            layout = plan.layouts[there] = _layout(TABLES[plan.name], slots, self._size & 7)
            self._alignment = max(self._alignment, layout.alignment)
        size = self._size
        position = size + layout.code.size
        known = self._vtables.get(layout.vtable)
        back = len(layout.vtable) if known is None else known - position
        raw = layout.code.pack(
            back, *[slots[slot] if not far else size + far - slots[slot] for slot, far in layout.slots]
        )
        self._add(raw)
        if known is None:
            self._vtables[layout.vtable] = self._add(layout.vtable)
        return position

    def _add(self, chunk: bytes) -> int:
        size = self._size + len(chunk)
        if size > LARGEST:
            refuse("size", None, found=size, expected=f"at most {LARGEST}")
        self._chunks.append(chunk)
        self._size = size
        return size


def _entries(what: str, value: object) -> Sequence[object]:
    if not isinstance(value, tuple | list):
        _wrong(what, value, "a tuple")
    return value


def _packed(what: str, of: Scalar, code: str, values: Sequence[object], *, count: bool = False) -> bytes:
    """The bytes of numbers, after how many they are if they are a vector."""
    try:
        if count:
            return struct.pack(f"<I{code}", len(values), *values)
        if of.code != "?" or isinstance(values[0], bool):
            return struct.pack(f"<{code}", *values)
    except _PACKED:
        pass
    for value in values:
        if not _fits(of, value):
            _wrong(what, value, of.takes)
    raise AssertionError(what)


def _fits(of: Scalar, value: object) -> bool:
    try:
        struct.pack(f"<{of.code}", value)
    except _PACKED:
        return False
    return of.code != "?" or isinstance(value, bool)


def _wrong(what: str, value: object, expected: str) -> NoReturn:
    refuse("value", None, what=what, found=show(value), expected=expected)


def _layout(table: Table, slots: Sequence[int], size: int) -> _Layout:
    """Large fields are written first, and of one size those with a high id; then the offset to the vtable."""
    fields = sorted(((width, slot) for slot, (_, width) in enumerate(table.slots) if slots[slot]), reverse=True)
    start, ends = size, []
    for width, slot in fields:
        size += -size % width + width
        ends.append((size, width, slot))
    size += -size % _WORD + _WORD
    code, below = "<i", size - _WORD
    scalars = {slot for field, slot in zip(table.fields, table.ids, strict=True) if isinstance(field.type, Scalar)}
    order = []
    for end, width, slot in reversed(ends):
        code += f"{below - end}x{ {1: 'B', 4: 'I', 8: 'Q'}[width] }"
        below = end - width
        order.append((slot, 0 if width == 1 or slot in scalars else end - start))
    code += f"{below - start}x"
    highest = max((slot for _, slot in fields), default=-1)
    places = {slot: size - end for end, _, slot in ends}
    entries = [places.get(slot, 0) for slot in range(highest + 1)]
    vtable = struct.pack(f"<HH{len(entries)}H", _WORD + 2 * len(entries), size - start, *entries)
    alignment = max((width for width, _ in fields), default=_WORD)
    return _Layout(struct.Struct(code), vtable, tuple(order), max(alignment, _WORD))
