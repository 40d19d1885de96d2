"""A JSON reader that keeps positions and accepts what DxDispatch accepts.

Comments, trailing commas and text after the root are accepted and recorded as warnings. The reader is iterative and
takes linear time. Runs of numbers, the bulk of a large file, are read by the standard library. The place of a number is
found when it is asked for.
"""

from __future__ import annotations

import json
import re
import struct
from array import array
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import islice
from math import inf
from typing import Any, Final, Literal, NoReturn, TypeAlias, overload

from dmlcy._frontends.dxdispatch.problems import Place, Problem, make, refuse, whole
from dmlcy._words.values import quote

Kind: TypeAlias = Literal["object", "array", "string", "number", "true", "false", "null"]

MAX_DEPTH: Final = 200
MAX_DIGITS: Final = 600
"""Of a whole number; the least that int() can be limited to is 640."""
MAX_VALUES: Final = 1_000_000
"""Values of a document, without numbers in arrays, and without words for numbers that JSON does not have."""
MAX_WARNINGS: Final = 1000
_BLOCK: Final = 1 << 16
"""Characters whose lines are counted at a time."""

_TEXT: Final = re.compile(rb"\0*[\xef\xfe\xff{\[\"/ \t\r\n]")
"""How a document begins, also in an encoding of two or four bytes."""
_GRAPH: Final = "It may be a serialized DirectML graph, a FlatBuffers file, which dmlcy.graph.load reads."

_SPACE: Final = re.compile(r"(?:[ \t\r\n]++|//[^\n]*+|/\*(?s:.*?)\*/)*+")
_BLANK: Final = frozenset((" ", "\t", "\r", "\n", "/"))
_KEY: Final = re.compile(r'"([^"\\\x00-\x1f]*+)"[ \t\r\n]*+:[ \t\r\n]*+(?!/)')
_COMMA: Final = re.compile(r'[ \t\r\n]*+,[ \t\r\n]*+(?=")')
_STRING: Final = re.compile(r'"((?:[^"\\\x00-\x1f]++|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*+)"')
_DIGITS: Final = r"(?P<whole>-?(?:0|[1-9][0-9]*+))(?P<fraction>\.[0-9]++)?(?P<exponent>[eE][+-]?[0-9]++)?"
_NUMBER: Final = re.compile(_DIGITS + r"(?![0-9A-Za-z_.+-])")
_NAMED: Final = r'"(?P<word>-?(?i:nan|inf))"'
_ITEM: Final = re.compile(rf"(?:{_DIGITS}|{_NAMED})[ \t\r\n]*+(?P<comma>,)[ \t\r\n]*+")
_RUN: Final = re.compile(rf"(?:[-+0-9.eE, \t\r\n]++|{_NAMED})*+")
_SHORT: Final = re.compile(rf"(?:[0-9]{{0,{MAX_DIGITS}}}+[^0-9]++)*+[0-9]{{0,{MAX_DIGITS}}}+")
_START: Final = re.compile(r"[^ \t\r\n,]++")
_CLOSE: Final = re.compile(rf"{_SPACE.pattern},?{_SPACE.pattern}\]")
_WORD: Final = re.compile(r"(true|false|null)(?![0-9A-Za-z_])")
_ESCAPE: Final = re.compile(r"\\(u[0-9a-fA-F]{4}|.)")
_ESCAPED: Final = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_PLAIN_NAME: Final = re.compile(r"[A-Za-z_$][A-Za-z0-9_]{,59}")
_WORDS: Final[dict[str, tuple[Kind, bool | None]]] = {
    "true": ("true", True),
    "false": ("false", False),
    "null": ("null", None),
}


class Node:
    """A value: ``value`` is a dict of nodes, Items, str, int, float, bool or None."""

    __slots__ = ("at", "key", "key_at", "kind", "parent", "value")

    def __init__(
        self, kind: Kind, value: Any, at: int, parent: Node | None, key: str | int | None, key_at: int
    ) -> None:
        self.kind: Kind = kind
        self.value = value
        self.at = at
        self.parent = parent
        self.key = key
        self.key_at = key_at  # -1 outside an object

    def get(self, name: str) -> Node | None:
        """The member of an object; None where there is none, or where this is no object."""
        member = self.value.get(name) if self.kind == "object" else None
        return member if isinstance(member, Node) else None

    def path(self) -> str:
        """The JSON path: ``$.resources.x.initialValues[3]``."""
        steps = []
        node = self
        while node.parent is not None:
            steps.append(_step(node.key))
            node = node.parent
        return "$" + "".join(reversed(steps))

    def plain(self) -> Any:
        """The value without positions, as ``json.loads`` would give it."""
        if self.kind == "object":
            return {name: member.plain() for name, member in self.value.items()}
        if self.kind == "array":
            return self.value.plain()
        return self.value


class Items(Sequence[Node]):
    """The values in an array. Numbers, and words for numbers, have nodes only once these are asked for."""

    __slots__ = ("_found", "_owner", "_runs", "_starts", "_text")

    def __init__(self, text: str) -> None:
        self._text = text
        self._owner: Node | None = None
        self._found: list[Node | float | str] = []
        self._runs: list[tuple[int, int]] = []  # the index of the first value of each run, and its place
        self._starts: dict[int, array[int]] = {}  # the places of all values of a run, by that index

    def own(self, owner: Node) -> None:
        """Say which array these are the values of."""
        self._owner = owner

    def append(self, node: Node) -> None:
        self._found.append(node)

    def extend(self, values: list[float | str], at: int) -> None:
        """Add a run of values; the first one is at ``at``."""
        self._runs.append((len(self._found), at))
        self._found += values

    def plain(self) -> list[object]:
        """The values without positions."""
        return [item.plain() if isinstance(item, Node) else item for item in self._found]

    def __len__(self) -> int:
        return len(self._found)

    @overload
    def __getitem__(self, index: int) -> Node: ...
    @overload
    def __getitem__(self, index: slice) -> list[Node]: ...
    def __getitem__(self, index: int | slice) -> Node | list[Node]:
        if isinstance(index, slice):
            return [self[i] for i in range(len(self))[index]]
        item = self._found[index]
        if isinstance(item, Node):
            return item
        index = range(len(self))[index]
        return Node("string" if isinstance(item, str) else "number", item, self._at(index), self._owner, index, -1)

    def _at(self, index: int) -> int:
        """The place of a value without a node."""
        number = bisect_right(self._runs, index, key=lambda run: run[0]) - 1
        first, at = self._runs[number]
        if first not in self._starts:
            count = (self._runs[number + 1][0] if number + 1 < len(self._runs) else len(self)) - first
            starts = (match.start() for match in _START.finditer(self._text, at))
            self._starts[first] = array("Q", islice(starts, count))
        return self._starts[first][index - first]


class Document:
    """A model file: its text, its root, and what was accepted although it is not JSON.

    ``understood``: the results of readers by pieces of the text, for later reads.
    """

    def __init__(self, name: str, text: str, most: int = 0) -> None:
        self.name = name
        self.text = text
        self.most = most  # values that it may have, where that is more than MAX_VALUES
        self.warnings: list[Problem] = []
        self.understood: dict[str, object] = {}
        self._blocks: list[tuple[int, int]] = []
        self.root = _Reader(self).read()

    def position(self, at: int) -> tuple[int, int]:
        """Line and column, from 1."""
        if not self._blocks:
            self._blocks = list(_blocks(self.text))
        line, last = self._blocks[at // _BLOCK]
        start = at - at % _BLOCK
        return line + self.text.count("\n", start, at), at - max(self.text.rfind("\n", start, at), last)

    def place(self, node: Node, *, key: bool = False) -> Place:
        """The place of the value, or of its key."""
        return self.place_at(node.key_at if key and node.key_at >= 0 else node.at, node.path())

    def place_at(self, at: int, path: str) -> Place:
        return Place(self.name, path, *self.position(at), at)


def _blocks(text: str) -> Iterator[tuple[int, int]]:
    """The line in which each block begins, and where the line break before it is."""
    line, last = 1, -1
    for start in range(0, len(text) + 1, _BLOCK):
        yield line, last
        line += text.count("\n", start, start + _BLOCK)
        last = max(text.rfind("\n", start, start + _BLOCK), last)


def end_of(text: str, node: Node) -> int:
    """Where a value of a document ends that is no object."""
    if node.kind == "array":
        last = end_of(text, node.value[-1]) if len(node.value) else node.at + 1
        found = _CLOSE.match(text, last)
    else:
        found = {"string": _STRING, "number": _NUMBER}.get(node.kind, _WORD).match(text, node.at)
    assert found is not None, "the document has this value"
    return found.end()


def decode(name: str, data: bytes, most: int = 0) -> Document:
    """The document in these bytes (UTF-8, with or without a byte order mark), of MAX_VALUES or more values."""
    if is_binary(data):
        what = "the file is binary"
        hint = _GRAPH if is_flatbuffer(data) else "It does not begin as a serialized graph does, either."
        refuse([make("DML-MODEL-json", whole(name), {"what": what}, hint=hint)])
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8-sig")
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
        refuse([make("DML-MODEL-json", Place(name, "$", line, column, len(before)), {"what": "the text is not UTF-8"})])
    return Document(name, text, most)


def is_binary(data: bytes) -> bool:
    """Whether these bytes are no text, whatever its encoding."""
    start = data[:4096]
    return len(start) >= 4 and b"\0" in start and not _TEXT.match(start)


def is_flatbuffer(data: bytes) -> bool:
    """Whether these bytes begin as a FlatBuffers file does: the place of a table, which has that of its members."""
    if len(data) < 12 or not is_binary(data):
        return False
    (root,) = struct.unpack_from("<I", data)
    if root % 4 or not 4 <= root <= len(data) - 4:
        return False
    table = root - struct.unpack_from("<i", data, root)[0]
    if table % 2 or not 4 <= table <= len(data) - 4:
        return False
    members, inline = struct.unpack_from("<HH", data, table)
    return bool(members % 2 == 0 and 4 <= members <= len(data) - table and 4 <= inline <= len(data) - root)


class _Reader:
    """Reads one document: a loop over values with the open containers in ``self.open``."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.text = document.text
        self.at = 0
        self.open: list[Node] = []
        self.count = 0
        self.most = max(MAX_VALUES, document.most)
        self.seen: set[str] = set()

    def read(self) -> Node:
        self.skip()
        root: Node | None = None
        key: str | int | None = None
        key_at = -1
        while True:
            parent = self.open[-1] if self.open else None
            node = self.value(parent, key, key_at)
            self.count += 1
            if self.count > self.most:
                self.fail(f"there are more than {self.most} values, not counting numbers in arrays", at=node.at)
            root = root or node
            if parent is not None:
                if parent.kind == "array":
                    parent.value.append(node)
                else:
                    parent.value[key] = node
            if node.kind in ("object", "array"):
                if len(self.open) == MAX_DEPTH:
                    self.fail(f"values are nested more than {MAX_DEPTH} deep", at=node.at, path="$")
                self.open.append(node)
                self.skip()
                more = not self.closes()
            else:
                more = self.separator()
            while self.open and not more:  # the innermost container is complete
                self.open.pop()
                more = self.separator()
            if not self.open:
                break
            if self.open[-1].kind == "array":
                key = len(self.open[-1].value)
                key_at = -1
            else:
                key, key_at = self.key()
        self.skip()
        if self.at < len(self.text):
            self.note("DML-MODEL-after-root", self.at)
        return root

    def value(self, parent: Node | None, key: str | int | None, key_at: int) -> Node:
        at = self.at
        first = self.text[at : at + 1]
        if first == '"':
            return Node("string", self.string(), at, parent, key, key_at)
        if first == "{":
            self.at += 1
            return Node("object", {}, at, parent, key, key_at)
        if first == "[":
            self.at += 1
            items = Items(self.text)
            items.own(node := Node("array", items, at, parent, key, key_at))
            return node
        if match := _NUMBER.match(self.text, at):
            self.at = match.end()
            return Node("number", self.number(match), at, parent, key, key_at)
        if match := _WORD.match(self.text, at):
            self.at = match.end()
            kind, value = _WORDS[match[1]]
            return Node(kind, value, at, parent, key, key_at)
        self.unexpected("a value")

    def key(self) -> tuple[str, int]:
        at = self.at
        plain = _KEY.match(self.text, at)
        if plain is not None:
            key, self.at = plain[1], plain.end()
        else:
            key = self.long_key()
        if key in self.open[-1].value and len(self.document.warnings) < MAX_WARNINGS:
            self.note("DML-MODEL-duplicate", at, path=self.open[-1].path() + _step(key), name=key)
        return key, at

    def long_key(self) -> str:
        """A name with escapes, or with a comment beside it; refuses what is none."""
        if self.text[self.at : self.at + 1] != '"':
            self.unexpected("a member name in quotes")
        key = self.string()
        self.skip()
        if self.text[self.at : self.at + 1] != ":":
            self.unexpected("':'")
        self.at += 1
        self.skip()
        return key

    def separator(self) -> bool:
        """After a value: True before another one, False when its container has been closed."""
        if not self.open:
            return False
        if self.open[-1].kind == "object" and (plain := _COMMA.match(self.text, self.at)) is not None:
            self.at = plain.end()
            return True
        self.skip()
        if self.text[self.at : self.at + 1] == ",":
            comma = self.at
            self.at += 1
            self.skip()
            if self.open[-1].kind == "array":
                comma = self.numbers(self.open[-1].value, comma)
            if not self.closes():
                return True
            self.once("DML-MODEL-trailing-comma", comma)
            return False
        if self.closes():
            return False
        self.unexpected("',' or '}'" if self.open[-1].kind == "object" else "',' or ']'")

    def numbers(self, items: Items, comma: int) -> int:
        """Take a run of numbers with a comma after each; the place of the last comma."""
        start = self.at
        match = _RUN.match(self.text, start)
        last = self.text.rfind(",", start, match.end()) if match else -1
        if last < 0:
            return comma
        values: list[float | str] = []
        if _SHORT.fullmatch(self.text, start, last):
            with suppress(ValueError):
                values = json.loads(f"[{self.text[start:last]}]")
        if values and inf not in values and -inf not in values:
            comma, self.at = last, last + 1
        else:  # one of them will be refused: go there
            values = []
            while match := _ITEM.match(self.text, self.at):
                values.append(match["word"] or self.number(match))
                comma, self.at = match.start("comma"), match.end()
        items.extend(values, start)
        self.skip()
        return comma

    def closes(self) -> bool:
        if self.text[self.at : self.at + 1] == ("}" if self.open[-1].kind == "object" else "]"):
            self.at += 1
            return True
        return False

    def skip(self) -> None:
        if self.text[self.at : self.at + 1] not in _BLANK:
            return
        match = _SPACE.match(self.text, self.at)
        assert match is not None
        if match.end() > self.at:
            comment = self.text.find("/", self.at, match.end())
            if comment >= 0:
                self.once("DML-MODEL-comment", comment)
            self.at = match.end()

    def string(self) -> str:
        match = _STRING.match(self.text, self.at)
        if match is None:
            self.fail("a string that does not end, or that has a control character or an unknown escape")
        text = match[1]
        if "\\" in text:
            text = _ESCAPE.sub(_unescape, text)
            try:
                text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le")
            except UnicodeDecodeError:
                self.fail("a string with half of a surrogate pair")
        self.at = match.end()
        return text

    def number(self, match: re.Match[str]) -> int | float:
        whole, fraction, exponent = match.group("whole", "fraction", "exponent")
        if fraction is None and exponent is None:
            if len(whole.lstrip("-")) > MAX_DIGITS:
                self.fail(f"a whole number of more than {MAX_DIGITS} digits", at=match.start())
            return int(whole)
        value = float(whole + (fraction or "") + (exponent or ""))
        if value in (inf, -inf):
            self.fail("a number beyond the range of a double", at=match.start())
        return value

    def unexpected(self, wanted: str) -> NoReturn:
        if self.at >= len(self.text):
            self.fail(f"the file ends where {wanted} should be")
        if self.text.startswith("/*", self.at):
            self.fail("a comment that does not end")
        self.fail(f"{quote(self.text[self.at : self.at + 12])} is where {wanted} should be")

    def fail(self, what: str, at: int | None = None, path: str = "") -> NoReturn:
        path = path or (self.open[-1].path() if self.open else "$")
        refuse([make("DML-MODEL-json", self.document.place_at(self.at if at is None else at, path), {"what": what})])

    def note(self, identifier: str, at: int, path: str = "$", **values: object) -> None:
        if len(self.document.warnings) < MAX_WARNINGS:
            self.document.warnings.append(make(identifier, self.document.place_at(at, path), values, warning=True))

    def once(self, identifier: str, at: int) -> None:
        if identifier not in self.seen:
            self.seen.add(identifier)
            self.note(identifier, at)


def _unescape(match: re.Match[str]) -> str:
    escape = match[1]
    return chr(int(escape[1:], 16)) if len(escape) > 1 else _ESCAPED.get(escape, escape)


def _step(key: str | int | None) -> str:
    if isinstance(key, str):
        return f".{key}" if _PLAIN_NAME.fullmatch(key) else f"[{quote(key)}]"
    return f"[{key}]"
