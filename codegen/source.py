"""Spec files: the values, from tomllib, and the place of each key and value, from a scanner of our own.

The scanner only finds positions, and nesting that is too deep for tomllib. The scanner need not know what is valid: on
refused text, it runs up to the place where tomllib stopped, to find the key that is given twice.
"""

from __future__ import annotations

import os
import re
import stat
import tomllib
from bisect import bisect_right
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date, datetime, time
from enum import Enum
from pathlib import Path
from typing import Any, Final, TypeAlias, overload

from codegen.diagnostics import Diagnostics, Span, did_you_mean

LARGEST: Final = 2**24
"""Bytes of a file that is read."""
DEEPEST: Final = 32
"""Steps of a path to a value; tomllib takes time and memory by their square."""

KeyPath: TypeAlias = tuple[str | int, ...]
Range: TypeAlias = tuple[int, int]

# Table has methods of these names, which hide the types in its annotations.
Str: TypeAlias = str
Int: TypeAlias = int
Float: TypeAlias = float
Bool: TypeAlias = bool


class _Required(Enum):
    REQUIRED = "required"


REQUIRED: Final = _Required.REQUIRED

_TYPES: Final[dict[type, str]] = {
    str: "a string",
    int: "an integer",
    float: "a float",
    bool: "a boolean",
    list: "an array",
    dict: "a table",
    datetime: "a date-time",
    date: "a date",
    time: "a time",
}

_INDENT: Final = re.compile(r"[ \t]*")
_BLANK: Final = re.compile(r"(?:[ \t\n]|#[^\n]*)*")
_KEY: Final = re.compile(r"""[A-Za-z0-9_-]+|"(?:\\.|[^"\\\n])*"|'[^'\n]*'""")
_SCALAR: Final = re.compile(
    r'''"""(?:\\.|[^\\])*?""""{0,2}'''
    r"""|'''.*?''''{0,2}"""
    r"""|"(?:\\.|[^"\\\n])*"(?!")|'[^'\n]*'(?!')"""
    r"""|\d{4}-\d\d-\d\d[ ]\d\d:[^\s,\]}#]*"""  # a date-time may hold a space
    r"""|[^\s,\]}#"']+""",
    re.DOTALL,
)
_TOML_ERROR: Final = re.compile(r"(.*) \(at (?:line (\d+), column (\d+)|end of document)\)", re.DOTALL)


@dataclass(slots=True)
class Positions:
    """The places of keys and values of a text, as ranges of offsets; the value of a ``[table]`` is its header."""

    keys: dict[KeyPath, Range] = field(default_factory=dict)
    values: dict[KeyPath, Range] = field(default_factory=dict)
    duplicate: tuple[KeyPath, Range] | None = None
    too_deep: Range | None = None


def scan(text: str) -> Positions:
    """The positions of a TOML text with ``\\n`` line ends, up to its end or to what the scanner cannot read."""
    scanner = _Scanner(text)
    with suppress(_Stop):
        scanner.document()
    return scanner.found


class _Stop(Exception):
    """The scanner cannot go on."""


class _Scanner:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.found = Positions()
        self.assigned: set[KeyPath] = set()  # paths given by key = value
        self.headers: set[KeyPath] = set()  # paths given by [table]
        self.counts: dict[KeyPath, int] = {}  # elements so far of each [[array of tables]]

    def document(self) -> None:
        table: KeyPath = ()
        self.take(_BLANK)
        while self.at < len(self.text):
            if self.next_is("["):
                table = self.header()
            else:
                self.pair(table)
            self.take(_BLANK)

    def header(self) -> KeyPath:
        start = self.at
        array = self.next_is("[[")
        self.at += 2 if array else 1
        *parents, (key, place) = self.dotted_key()
        path: KeyPath = ()
        for parent, parent_place in parents:
            path = self.enter((*path, parent), parent_place)
            if path in self.counts:
                path = (*path, self.counts[path] - 1)
        path = self.deeper((*path, key), place)
        known = path in self.found.keys and path not in self.counts
        if path in self.assigned or path in self.headers or (known if array else path in self.counts):
            self.refuse(path, place)
        self.expect("]]" if array else "]")
        whole = (start, self.at)
        if array:
            self.found.keys.setdefault(path, place)
            self.found.values.setdefault(path, whole)
            self.counts[path] = self.counts.get(path, 0) + 1
            path = (*path, self.counts[path] - 1)
        else:
            self.headers.add(path)
            self.found.keys[path] = place
        self.found.values[path] = whole
        return path

    def pair(self, table: KeyPath) -> None:
        *parents, (key, place) = self.dotted_key()
        path = table
        for parent, parent_place in parents:
            path = self.enter((*path, parent), parent_place)
        path = self.deeper((*path, key), place)
        if path in self.found.keys:
            self.refuse(path, place)
        self.found.keys[path] = place
        self.assigned.add(path)
        self.expect("=")
        self.take(_INDENT)
        self.value(path)

    def enter(self, path: KeyPath, place: Range) -> KeyPath:
        """Note a table that a dotted key or header names on its way."""
        if path in self.assigned:
            self.refuse(path, place)
        self.found.keys.setdefault(self.deeper(path, place), place)
        self.found.values.setdefault(path, place)
        return path

    def deeper(self, path: KeyPath, place: Range) -> KeyPath:
        if len(path) > DEEPEST:
            self.found.too_deep = place
            raise _Stop
        return path

    def refuse(self, path: KeyPath, place: Range) -> None:
        self.found.duplicate = (path, place)
        raise _Stop

    def dotted_key(self) -> list[tuple[str, Range]]:
        parts = []
        while True:
            self.take(_INDENT)
            start = self.at
            word = self.take(_KEY)
            if word[0] in "\"'":
                try:
                    (word,) = tomllib.loads(f"{word} = 0")
                except ValueError:
                    raise _Stop from None
            parts.append((word, (start, self.at)))
            self.take(_INDENT)
            if not self.next_is("."):
                return parts
            self.at += 1

    def value(self, path: KeyPath) -> None:
        start = self.at
        if self.next_is("["):
            self.at += 1
            index = 0
            while not self.closes("]"):
                self.value(self.deeper((*path, index), (self.at, self.at + 1)))
                index += 1
                self.separate("]")
        elif self.next_is("{"):
            self.at += 1
            while not self.closes("}"):
                self.pair(path)
                self.separate("}")
        else:
            self.take(_SCALAR)
        self.found.values[path] = (start, self.at)

    def closes(self, bracket: str) -> bool:
        self.take(_BLANK)
        closing = self.next_is(bracket)
        self.at += closing
        return closing

    def separate(self, bracket: str) -> None:
        self.take(_BLANK)
        if not self.next_is(bracket):
            self.expect(",")

    def next_is(self, word: str) -> bool:
        return self.text.startswith(word, self.at)

    def expect(self, word: str) -> None:
        if not self.next_is(word):
            raise _Stop
        self.at += len(word)

    def take(self, pattern: re.Pattern[str]) -> str:
        match = pattern.match(self.text, self.at)
        if match is None:
            raise _Stop
        self.at = match.end()
        return match[0]


class _Lines:
    """A text that turns offsets into spans."""

    def __init__(self, file: str, text: str) -> None:
        self.file = file
        self.text = text
        self.lines = text.split("\n")
        self.starts = [0]
        for line in self.lines[:-1]:
            self.starts.append(self.starts[-1] + len(line) + 1)

    def span(self, place: Range) -> Span:
        """The part of the range on its first line."""
        start, end = place
        line = bisect_right(self.starts, start) - 1
        text = self.lines[line]
        column = start - self.starts[line]
        return Span(self.file, line + 1, column + 1, max(1, min(end - start, len(text) - column)), text)

    def offset(self, line: int, column: int) -> int:
        return self.starts[line - 1] + column - 1


class Document:
    """One spec file: its data, and the spans of its keys and values."""

    def __init__(self, lines: _Lines, positions: Positions, data: dict[str, Any], diagnostics: Diagnostics) -> None:
        self.file = lines.file
        self.data = data
        self.diagnostics = diagnostics
        self._lines = lines
        self._positions = positions

    def key_span(self, path: KeyPath) -> Span:
        """The place of the last key of the path; else as value_span."""
        place = self._positions.keys.get(path)
        return self.value_span(path) if place is None else self._lines.span(place)

    def value_span(self, path: KeyPath) -> Span:
        """The place of the value (of a table, its header), else of the table around it, else the start of the file."""
        while path not in self._positions.values and path:
            path = path[:-1]
        return self._lines.span(self._positions.values.get(path, (0, 0)))

    def table(self) -> Table:
        """A cursor over the whole file."""
        return Table(self, (), "this file")


def read(path: Path) -> bytes:
    """The content of a file; OSError, and no waiting, for one that is no regular file or too large to be a text."""
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    with os.fdopen(descriptor, "rb") as stream:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError("it is not a regular file")
        content = stream.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise OSError(f"it is larger than {LARGEST} bytes")
    return content


def load(path: Path, root: Path, diagnostics: Diagnostics) -> Document | None:
    """Read a spec file below the specs root; None, and a problem reported, when it is no TOML."""
    file = Path(os.path.relpath(path, Path(os.path.abspath(root)).parent)).as_posix()
    try:
        content = read(path)
    except OSError as error:
        diagnostics.error(None, f"cannot read {file}: {error.strerror or error}")
        return None
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        lines = _Lines(file, _unix(content.decode(errors="replace")))
        start = len(_unix(content[: error.start].decode()))
        diagnostics.error(lines.span((start, start + 1)), "not UTF-8")
        return None
    lines = _Lines(file, _unix(text))
    positions = scan(lines.text)
    if positions.too_deep is not None:  # tomllib would take gigabytes, or call itself too often
        diagnostics.error(lines.span(positions.too_deep), f"keys and values are nested more than {DEEPEST} deep")
        return None
    try:
        return Document(lines, positions, tomllib.loads(text), diagnostics)
    except ValueError as error:  # TOMLDecodeError, or an integer of too many digits
        _report(lines, str(error), diagnostics)
    return None


def _unix(text: str) -> str:
    return text.replace("\r\n", "\n")


def _report(lines: _Lines, complaint: str, diagnostics: Diagnostics) -> None:
    """Report what tomllib says; of a key given twice the place of the key, where tomllib names the end of its value."""
    match = _TOML_ERROR.fullmatch(complaint)
    if match is None:
        diagnostics.error(lines.span((0, 0)), complaint)
        return
    message, line, column = match.groups()
    stop = len(lines.text.rstrip()) if line is None else lines.offset(int(line), int(column))
    found = scan(lines.text[:stop])
    if found.duplicate is None:
        diagnostics.error(lines.span((stop, stop + 1)), message[0].lower() + message[1:])
        return
    path, place = found.duplicate
    first = lines.span(found.keys[path])
    diagnostics.error(lines.span(place), f"duplicate key {path[-1]!r}", f"it is already set in line {first.line}")


class Table:
    """A cursor over one table: its methods take the value of a key, check its type and report problems.

    After a problem they return the default, or else the zero of the type, so that loading goes on.
    """

    def __init__(self, document: Document, path: KeyPath, what: Str) -> None:
        self.document = document
        self.path = path
        self.what = what
        data: Any = document.data
        for step in path:
            data = data[step]
        self.data: dict[Str, Any] = data
        self._asked: set[Str] = set()
        self._taken: set[Str] = set()

    @overload
    def str(self, key: Str, default: Str | _Required = REQUIRED) -> Str: ...
    @overload
    def str(self, key: Str, default: None) -> Str | None: ...
    def str(self, key: Str, default: Str | _Required | None = REQUIRED) -> Str | None:
        """Take a string."""
        value: Str | None = self._take(key, default, "", str)
        return value

    @overload
    def int(self, key: Str, default: Int | _Required = REQUIRED) -> Int: ...
    @overload
    def int(self, key: Str, default: None) -> Int | None: ...
    def int(self, key: Str, default: Int | _Required | None = REQUIRED) -> Int | None:
        """Take an integer."""
        value: Int | None = self._take(key, default, 0, int)
        return value

    @overload
    def bool(self, key: Str, default: Bool | _Required = REQUIRED) -> Bool: ...
    @overload
    def bool(self, key: Str, default: None) -> Bool | None: ...
    def bool(self, key: Str, default: Bool | _Required | None = REQUIRED) -> Bool | None:
        """Take a boolean."""
        value: Bool | None = self._take(key, default, False, bool)
        return value

    @overload
    def number(self, key: Str, default: Int | Float | _Required = REQUIRED) -> Int | Float: ...
    @overload
    def number(self, key: Str, default: None) -> Int | Float | None: ...
    def number(self, key: Str, default: Int | Float | _Required | None = REQUIRED) -> Int | Float | None:
        """Take an integer or a float."""
        value: Int | Float | None = self._take(key, default, 0, int, float)
        return value

    def any(self, key: Str, default: Any = REQUIRED) -> Any:
        """Take a value of any type; its zero is None."""
        return self._take(key, default, None, *_TYPES)

    @overload
    def strings(self, key: Str, default: Sequence[Str] | _Required = REQUIRED) -> tuple[Str, ...]: ...
    @overload
    def strings(self, key: Str, default: None) -> tuple[Str, ...] | None: ...
    def strings(self, key: Str, default: Sequence[Str] | _Required | None = REQUIRED) -> tuple[Str, ...] | None:
        """Take an array of strings, without the elements that are none."""
        values = self._take(key, default, (), list)
        if key not in self.data or type(self.data[key]) is not list:
            return None if values is None else tuple(values)
        return tuple(value for i, value in enumerate(values) if self._is(value, (str,), key, i))

    @overload
    def choice(self, key: Str, choices: Collection[Str], default: Str | _Required = REQUIRED) -> Str: ...
    @overload
    def choice(self, key: Str, choices: Collection[Str], default: None) -> Str | None: ...
    def choice(self, key: Str, choices: Collection[Str], default: Str | _Required | None = REQUIRED) -> Str | None:
        """Take a string that is one of the choices; after a problem the default, or else the least choice."""
        zero = min(choices, default="")
        value: Str | None = self._take(key, default, zero, str)
        if key not in self.data or type(self.data[key]) is not str or value in choices:
            return value
        known = f"one of {', '.join(sorted(choices))}"
        self.error(key, f"unknown {key} {value!r} in {self.what}", did_you_mean(self.data[key], choices) or known)
        return zero if default is REQUIRED else default

    def table(self, key: Str, required: Bool = False) -> Table | None:
        """Take a table; None when it is absent or no table."""
        value = self._take(key, REQUIRED if required else None, None, dict)
        return None if value is None else self._inner(key)

    def tables(self, key: Str) -> tuple[Table, ...]:
        """Take an array of tables, without the elements that are none; empty when it is absent."""
        self._asked.add(key)
        if isinstance(self.data.get(key), dict):
            self._taken.add(key)
            message = f"{key!r} in {self.what}: expected an array of tables, found a table"
            self.error(key, message, f"the header of an element of an array of tables is [[{self._name(key)}]]")
            return ()
        values = self._take(key, (), (), list)
        return tuple(self._inner(key, i) for i, value in enumerate(values) if self._is(value, (dict,), key, i))

    def has(self, key: Str) -> Bool:
        """Whether the key is there; it counts as known, not as taken."""
        self._asked.add(key)
        return key in self.data

    def keys(self) -> tuple[Str, ...]:
        """The keys that are there, in their order in the file."""
        return tuple(self.data)

    def span(self, key: Str | None = None, *inner: Str | Int) -> Span:
        """The place of the table, of the value of a key, or of a part of that value."""
        return self.document.value_span(self.path if key is None else (*self.path, key, *inner))

    def key_span(self, key: Str) -> Span:
        """The place of a key."""
        return self.document.key_span((*self.path, key))

    def error(self, key: Str | None, message: Str, hint: Str | None = None) -> None:
        """Report a problem with the value of a key, or with the table (key None, or a key that is not there)."""
        self.document.diagnostics.error(self.span(key), message, hint)

    def finish(self) -> None:
        """Report every key that was not taken."""
        known = f"known keys: {', '.join(sorted(self._asked))}" if self._asked else None
        for key in self.data:
            if key not in self._taken:
                hint = did_you_mean(key, self._asked) or known
                self.document.diagnostics.error(self.key_span(key), f"unknown key {key!r} in {self.what}", hint)

    def _take(self, key: Str, default: Any, zero: Any, *types: type) -> Any:
        self._asked.add(key)
        if key in self.data:
            self._taken.add(key)
            if self._is(self.data[key], types, key):
                return self.data[key]
        elif default is REQUIRED:
            self.error(None, f"missing key {key!r} in {self.what}")
        return zero if default is REQUIRED else default

    def _is(self, value: object, types: tuple[type, ...], key: Str, *inner: Int) -> Bool:
        """Whether the value is of one of the types, exactly: a bool is no int. Reports when it is not."""
        if type(value) in types:
            return True
        expected = " or ".join(_TYPES[kind] for kind in types)
        subject = "".join([repr(key), *(f"[{i}]" for i in inner)])
        message = f"{subject} in {self.what}: expected {expected}, found {_TYPES[type(value)]}"
        self.document.diagnostics.error(self.span(key, *inner), message)
        return False

    def _inner(self, key: Str, *index: Int) -> Table:
        path = (*self.path, key, *index)
        name = self._name(key)
        span = self.document.value_span(path)
        header = span.text.startswith("[", span.column - 1)
        return Table(self.document, path, name if not header else f"[[{name}]]" if index else f"[{name}]")

    def _name(self, key: Str) -> Str:
        return ".".join([*(step for step in self.path if isinstance(step, str)), key])
