"""FlatBuffers read: every offset, length and alignment is checked before a byte is taken.

Offsets lead forward, except those to vtables, which lead to numbers only, so that nothing can be inside itself. Tables
may be used several times; the bytes of all uses together are at most ``TIMES`` the bytes of the file, and tables are
nested at most ``DEEPEST`` deep. So time and memory grow in proportion to the file, whatever is in it. A text is read
once, however often it is used.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final, NamedTuple, TypeAlias

from dmlcy._frontends.serialized.problems import refuse
from dmlcy._frontends.serialized.schema import (
    DEEPEST,
    LARGEST,
    ROOT,
    SMALLEST,
    TABLES,
    Field,
    Scalar,
    Struct,
    Table,
    Text,
    Union,
)

Make: TypeAlias = Callable[..., object]
"""Makes the result of a table: its arguments are the byte and the values of the fields, in the order of the schema."""
_Follow: TypeAlias = Callable[[int, int], object]
"""Finds the target of an offset, from the byte of the offset, and the offset."""

TIMES: Final = 8
_UINT: Final = struct.Struct("<I").unpack_from
_INT: Final = struct.Struct("<i").unpack_from
_HEAD: Final = struct.Struct("<HH").unpack_from
_WORD: Final = 4


class _Union(NamedTuple):
    """The union of a table: its field, and where its two ids are among the values; -1 for one that is not there."""

    field: int
    kind: int
    value: int
    at: int
    type: Union


class _Shape(NamedTuple):
    """The layout of a table by its vtable: its bytes, and for each field that is there how to read it."""

    size: int
    unpack: Callable[[bytes, int], tuple[int, ...]]
    empty: tuple[int | None, ...]
    plain: tuple[tuple[int, int], ...]  # index of the field, index among the values
    follow: tuple[tuple[int, int, int, _Follow], ...]  # the same, the place of the offset in the table, and how
    union: _Union | None


class Reader:
    """Reads tables out of a buffer."""

    def __init__(self, data: bytes, make: Mapping[str, Make]) -> None:
        self._data = data
        self._end = len(data)
        self._left = TIMES * len(data)
        self._depth = 0
        self._texts: dict[int, str] = {}
        self._decoded: dict[bytes, str] = {}
        self._make = make
        self._shapes: dict[str, dict[int, _Shape]] = {name: {} for name in TABLES}
        self._follow = {name: [self._way(table, one) for one in table.fields] for name, table in TABLES.items()}

    def root(self) -> object:
        """The table that the file begins with."""
        if not SMALLEST <= self._end <= LARGEST:
            refuse("size", None, found=self._end, expected=f"from {SMALLEST} to {LARGEST}")
        (offset,) = _UINT(self._data, 0)
        return self._table("the graph", TABLES[ROOT], self._make[ROOT], self._shapes[ROOT], 0, offset)

    def _way(self, table: Table, field: Field) -> _Follow | None:
        """How the offset of a field is followed; None for a number, and for a union."""
        what = f"{field.name} of {table.name}"
        if isinstance(field.type, Scalar | Union):
            return None
        if isinstance(field.type, Text):
            return partial(self._text, what)
        of = field.type.of
        if isinstance(of, Text):
            return partial(self._vector_of_texts, what)
        if isinstance(of, Scalar):
            return partial(self._vector, what, of)
        return partial(self._vector_of_tables, what, TABLES[of], self._make[of], self._shapes[of])

    def _start(self, what: str, where: int, offset: int, size: int, alignment: int) -> int:
        """The byte that an offset leads to: ``size`` bytes from there are in the file."""
        at = where + offset
        if not offset or at >= self._end:
            refuse("offset", where, what=what, found=offset, expected=f"from 1 to {self._end - where - 1}")
        if at % alignment:
            refuse("alignment", at, what=what, alignment=alignment)
        if at + size > self._end:
            refuse("end", at, what=what, found=size, expected=self._end - at)
        return at

    def _spend(self, what: str, at: int, size: int) -> None:
        self._left -= size
        if self._left < 0:
            refuse("overlap", at, what=what, expected=TIMES * self._end, times=TIMES)

    def _count(self, what: str, where: int, offset: int, size: int) -> tuple[int, int]:
        """Where the entries of a vector begin, and how many."""
        at = where + offset
        if not offset or at & 3 or at + _WORD > self._end:
            self._start(what, where, offset, _WORD, _WORD)
        (count,) = _UINT(self._data, at)
        whole = _WORD + count * size
        if at + whole > self._end:
            refuse("length", at, what=what, found=count, expected=(self._end - at - _WORD) // size)
        self._left -= whole
        if self._left < 0:
            self._spend(what, at, 0)
        return at + _WORD, count

    def _text(self, what: str, where: int, offset: int) -> str:
        at = where + offset
        found = self._texts.get(at)
        if found is not None and offset:
            return found
        if not offset or at & 3 or at + _WORD > self._end:
            self._start(what, where, offset, _WORD, _WORD)
        begin = at + _WORD
        (count,) = _UINT(self._data, at)
        stop = begin + count
        if stop >= self._end:
            refuse("length", at, what=what, found=count, expected=max(self._end - begin - 1, 0))
        self._left -= stop - at
        if self._left < 0:
            self._spend(what, at, 0)
        if self._data[stop]:
            refuse("text", stop, what=what, found=f"has {self._data[stop]} at its end")
        raw = self._data[begin:stop]
        text = self._decoded.get(raw)
        if text is None:
            try:
                text = self._decoded[raw] = raw.decode()
            except UnicodeDecodeError as error:
                refuse("text", begin + error.start, what=what, found=f"is not UTF-8: {error.reason}")
        self._texts[at] = text
        return text

    def _vector(self, what: str, of: Scalar, where: int, offset: int) -> bytes | tuple[object, ...]:
        at, count = self._count(what, where, offset, of.size)
        if of.size == 1:
            return self._data[at : at + count]
        return struct.unpack_from(f"<{count}{of.code}", self._data, at)

    def _vector_of_texts(self, what: str, where: int, offset: int) -> tuple[str, ...]:
        at, count = self._count(what, where, offset, _WORD)
        offsets = struct.unpack_from(f"<{count}I", self._data, at)
        return tuple([self._text(what, at + _WORD * entry, one) for entry, one in enumerate(offsets)])

    def _vector_of_tables(
        self, what: str, table: Table, make: Make, shapes: dict[int, _Shape], where: int, offset: int
    ) -> tuple[object, ...]:
        at, count = self._count(what, where, offset, _WORD)
        offsets = struct.unpack_from(f"<{count}I", self._data, at)
        read = partial(self._table, what, table, make, shapes)
        return tuple([read(at + _WORD * entry, one) for entry, one in enumerate(offsets)])

    def _table(self, what: str, table: Table, make: Make, shapes: dict[int, _Shape], where: int, offset: int) -> object:
        at = where + offset
        if not offset or at & 3 or at + _WORD > self._end:
            self._start(what, where, offset, _WORD, _WORD)
        (back,) = _INT(self._data, at)
        key = (at - back) << 3 | at & 7  # the alignment of the fields follows from that of the table
        shape = shapes.get(key)
        if shape is None:
            shape = shapes[key] = self._shape(table, at, at - back)
        size = shape.size
        if at + size > self._end:
            refuse("end", at, what=table.name, found=size, expected=self._end - at)
        self._left -= size
        if self._left < 0:
            self._spend(table.name, at, 0)
        self._depth += 1
        if self._depth > DEEPEST:
            refuse("nesting", at, what=table.name, expected=DEEPEST)
        values = shape.unpack(self._data, at)
        fields: list[object] = [*shape.empty]
        for index, place in shape.plain:
            fields[index] = values[place]
        for index, place, distance, follow in shape.follow:
            fields[index] = follow(at + distance, values[place])
        if shape.union is not None:
            fields[shape.union.field] = self._union(table, shape.union, at, values)
        self._depth -= 1
        return make(at, *fields)

    def _union(self, table: Table, union: _Union, at: int, values: Sequence[int]) -> tuple[str, object]:
        kind = 0 if union.kind < 0 else values[union.kind]
        names = union.type.names
        what = table.fields[union.field].name
        if not 0 < kind < len(names):
            expected = ", ".join(f"{number} ({name})" for number, name in enumerate(names) if number)
            refuse("kind", at, what=f"{what} of {table.name}", found=kind, expected=expected)
        name, member = names[kind], union.type.members[kind - 1]
        if union.value < 0:
            if name not in union.type.absent:
                refuse("missing", at, what=table.name, field=f"{what}, which must be {name}")
            return name, None
        where, offset = at + union.at, values[union.value]
        if isinstance(member, str):
            return name, self._table(name, TABLES[member], self._make[member], self._shapes[member], where, offset)
        return name, self._struct(member, where, offset)

    def _struct(self, member: Struct, where: int, offset: int) -> object:
        at = self._start(member.name, where, offset, member.packed.size, member.of.size)
        self._spend(member.name, at, member.packed.size)
        values = member.packed.unpack_from(self._data, at)
        return values if member.count > 1 else values[0]

    def _vtable(self, table: Table, at: int, vtable: int) -> tuple[int, list[int]]:
        """The size of a table, and the place of what each id stands for; 0 where it is not in the table."""

        def wrong(found: str, expected: str) -> None:
            refuse("vtable", at, what=table.name, found=found, expected=expected)

        if not 0 <= vtable <= self._end - _WORD or vtable % 2:
            wrong(f"is at byte {vtable}", f"an even byte from 0 to {self._end - _WORD}")
        own, size = _HEAD(self._data, vtable)
        if own < _WORD or own % 2 or own > self._end - vtable:
            wrong(f"has {own} bytes", f"an even number from {_WORD} to {self._end - vtable}")
        if size < _WORD:
            wrong(f"gives the table {size} bytes", f"at least {_WORD}")
        self._spend(table.name, vtable, own)
        known = min((own - _WORD) // 2, len(table.slots))
        places = [*struct.unpack_from(f"<{known}H", self._data, vtable + _WORD)]
        for (name, width), place in zip(table.slots, places, strict=False):
            if place and not _WORD <= place <= size - width:
                wrong(f"has {name} at byte {place} of the table", f"from {_WORD} to {size - width}")
        return size, places + [0] * (len(table.slots) - known)

    def _shape(self, table: Table, at: int, vtable: int) -> _Shape:
        """The layout by a vtable, checked; the same for all tables that share it and have the same alignment."""
        size, places = self._vtable(table, at, vtable)
        if at + size > self._end:
            refuse("end", at, what=table.name, found=size, expected=self._end - at)
        there = sorted((place, slot) for slot, place in enumerate(places) if place)
        code, end, among = "<", 0, [-1] * len(places)
        for number, (place, slot) in enumerate(there):
            name, width = table.slots[slot]
            if place < end:
                refuse("vtable", at, what=table.name, found=f"has {name} at byte {place} of the table",
                       expected=f"from {end} on, where the field before it ends")  # fmt: skip
            if (at + place) % width:
                refuse("alignment", at + place, what=f"{name} of {table.name}", alignment=width)
            among[slot] = number
            code, end = f"{code}{place - end}x{ {1: 'B', 4: 'I', 8: 'Q'}[width] }", place + width
        plain, follow, union = [], [], None
        for index, (field, slot) in enumerate(zip(table.fields, table.ids, strict=True)):
            place, way = among[slot], self._follow[table.name][index]
            if isinstance(field.type, Union):
                union = _Union(index, among[slot - 1], place, places[slot], field.type)
            elif place < 0:
                if field.required and way is not None:
                    refuse("missing", at, what=table.name, field=field.name)
            elif way is None:
                plain.append((index, place))
            else:
                follow.append((index, place, places[slot], way))
        empty = tuple(0 if isinstance(field.type, Scalar) else None for field in table.fields)
        return _Shape(size, struct.Struct(code).unpack_from, empty, tuple(plain), tuple(follow), union)
