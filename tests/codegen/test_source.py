"""Tests of codegen.source and codegen.diagnostics."""

from __future__ import annotations

import json
import math
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from codegen.diagnostics import Diagnostic, Diagnostics, Span, SpecError, did_you_mean, render
from codegen.source import Document, KeyPath, Table, load, scan

SPECS = Path(__file__).parents[2] / "specs"


def read(tmp_path: Path, text: str | bytes) -> tuple[Document | None, Diagnostics]:
    root = tmp_path / "specs"
    root.mkdir(exist_ok=True)
    path = root / "x.toml"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    diagnostics = Diagnostics()
    return load(path, root, diagnostics), diagnostics


def open_table(tmp_path: Path, text: str) -> tuple[Table, Diagnostics]:
    document, diagnostics = read(tmp_path, text)
    assert document is not None
    return document.table(), diagnostics


def shown(diagnostics: Diagnostics) -> list[str]:
    """Each problem as "line:column message | hint"."""
    lines = []
    for error in diagnostics.errors:
        assert error.span is not None
        hint = "" if error.hint is None else f" | {error.hint}"
        lines.append(f"{error.span.line}:{error.span.column} {error.message}{hint}")
    return lines


def at(span: Span) -> tuple[int, int, str]:
    return span.line, span.column, span.text[span.column - 1 :][: span.length]


def paths(value: Any, path: KeyPath = ()) -> set[KeyPath]:
    """The paths of everything inside a value of tomllib's."""
    found: set[KeyPath] = set()
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, inner in entries:
        found |= {(*path, step)} | paths(inner, (*path, step))
    return found


def at_path(data: Any, path: KeyPath) -> Any:
    for step in path:
        data = data[step]
    return data


def check_positions(text: str) -> None:
    """Scan a valid text: every path has its positions, and the text there is the key or the value."""
    text = text.replace("\r\n", "\n")
    data = tomllib.loads(text)
    found = scan(text)
    assert found.duplicate is None
    everything = paths(data)
    assert set(found.values) == everything
    assert set(found.keys) == {path for path in everything if isinstance(path[-1], str)}
    for path, (start, end) in found.keys.items():
        assert list(tomllib.loads(f"{text[start:end]} = 0")) == [path[-1]]
    for path, (start, end) in found.values.items():
        value, written = at_path(data, path), text[start:end]
        if isinstance(value, dict) and not written.startswith("{"):  # a header, or the key that implies the table
            header = tomllib.loads(written if written.startswith("[") else f"[{written}]")
            names = [step for step in path if isinstance(step, str)]
            assert list(header) == names[:1] or list(header) == names[-1:]
        elif not written.startswith("[["):
            assert repr(tomllib.loads(f"v = {written}")["v"]) == repr(value)


# Random documents: nested data, written in every style that TOML has.

KEYS = st.one_of(
    st.sampled_from(["a", "b", "name", "sizes"]),
    st.text("abz019_-", min_size=1, max_size=3),
    st.text(st.sampled_from("a.=#[]{}\"'\\ \té\n\x7f😀"), max_size=4),
)
STRINGS = st.text(st.sampled_from("ab#=[]{},\"'\\ \n\té😀"), max_size=8)
SCALARS = st.one_of(
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False),
    STRINGS,
    st.datetimes(),
    st.dates(),
    st.times(),
)
VALUES: st.SearchStrategy[Any] = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(KEYS, inner, max_size=3),
        st.lists(st.dictionaries(KEYS, inner, max_size=3), min_size=1, max_size=3),
    ),
    max_leaves=12,
)
BLANKS = st.sampled_from(["", "", "", " ", "\t", "\n", '# a = "1" [b]\n', "\n  \n", "\r\n"])
SPACES = st.sampled_from(["", " ", "  ", "\t"])


class Style:
    """Writes data as TOML, each choice drawn."""

    def __init__(self, data: st.DataObject) -> None:
        self.draw = data.draw

    def pick(self, *options: str) -> str:
        return self.draw(st.sampled_from(options))

    def key(self, key: str) -> str:
        options = [self.basic(key)]
        if key and all(c.isascii() and (c.isalnum() or c in "_-") for c in key):
            options += [key, key]
        if not set("'\n\x7f") & set(key):
            options.append(f"'{key}'")
        return self.pick(*options)

    def dotted(self, path: tuple[str, ...]) -> str:
        space = self.draw(SPACES)
        return f"{space}.{space}".join(self.key(part) for part in path)

    def basic(self, text: str) -> str:
        only_basic_plane = max(text, default="") < "\U00010000"  # TOML has no surrogate pairs
        written = json.dumps(text, ensure_ascii=only_basic_plane and self.draw(st.booleans()))
        return written.replace("\x7f", "\\u007f")

    def string(self, text: str) -> str:
        basic = self.basic(text)
        escaped = text.replace("\\", "\\\\").replace('"""', '""\\"')
        options = [basic]
        if not escaped.endswith('"""'):
            options.append(f'"""\n{escaped}"""')
            options.append(f'"""\\\n   {escaped}"""' if not escaped[:1].isspace() else basic)
        if "'''" not in text:
            options.append(f"'''\n{text}'''")
        if "'" not in text and "\n" not in text:
            options.append(f"'{text}'")
        return self.pick(*options)

    def value(self, value: Any) -> str:
        if isinstance(value, str):
            return self.string(value)
        if isinstance(value, bool):
            return str(value).lower()
        if isinstance(value, int):
            return self.pick(str(value), hex(value) if value >= 0 else str(value))
        if isinstance(value, float):
            return repr(value) if math.isfinite(value) else str(value)
        if isinstance(value, list):
            parts = [self.draw(BLANKS) + self.value(element) + self.draw(BLANKS) for element in value]
            comma = self.pick("", ",") if parts else ""
            return f"[{','.join(parts)}{comma}{self.draw(BLANKS)}]"
        if isinstance(value, dict):
            space = self.draw(SPACES)
            return f"{{{space}{', '.join(self.pair(k, v) for k, v in value.items())}{space}}}"
        return self.pick(value.isoformat(), value.isoformat().replace("T", " "))

    def pair(self, key: str, value: Any) -> str:
        path: tuple[str, ...] = (key,)
        while isinstance(value, dict) and len(value) == 1 and self.draw(st.booleans()):
            ((inner, value),) = value.items()
            path = (*path, inner)
        space = self.draw(SPACES)
        return f"{self.dotted(path)}{space}={space}{self.value(value)}"

    def table(self, data: dict[str, Any], path: tuple[str, ...] = ()) -> str:
        text, below = "", ""
        for key, value in data.items():
            inner = (*path, key)
            array = isinstance(value, list) and value and all(isinstance(element, dict) for element in value)
            if isinstance(value, dict) and self.draw(st.booleans()):
                # A table whose content is in tables only may go without a header of its own.
                only_tables = value and all(isinstance(element, dict) and element for element in value.values())
                if only_tables and self.draw(st.booleans()):
                    below += "".join(
                        self.header(f"[{self.dotted((*inner, k))}]", v, (*inner, k)) for k, v in value.items()
                    )
                else:
                    below += self.header(f"[{self.dotted(inner)}]", value, inner)
            elif array and self.draw(st.booleans()):
                below += "".join(self.header(f"[[{self.dotted(inner)}]]", element, inner) for element in value)
            else:
                text += f"{self.draw(BLANKS)}{self.pair(key, value)}{self.draw(SPACES)}{self.pick('', '# = x')}\n"
        return text + below

    def header(self, header: str, data: dict[str, Any], path: tuple[str, ...]) -> str:
        return f"{self.draw(BLANKS)}{header}{self.draw(SPACES)}{self.pick('', '# [x]')}\n{self.table(data, path)}"


@settings(max_examples=50, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.dictionaries(KEYS, VALUES, max_size=4), st.data())
def test_positions_of_random_documents(data: dict[str, Any], draw: st.DataObject) -> None:
    text = Style(draw).table(data)
    assert tomllib.loads(text) == data
    check_positions(text)


@settings(max_examples=200, deadline=None)
@given(st.text(st.sampled_from("ab.=[]{},\"'#\\ \n12"), max_size=20))
@example('a = """x" = 1\nb = 1\nb = 2')
def test_any_text_is_read_or_refused_at_a_place(text: str) -> None:
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        scan(text)
    else:
        check_positions(text)


@pytest.mark.parametrize("path", sorted(SPECS.rglob("*.toml")), ids=lambda path: path.stem)
def test_positions_of_the_specs(path: Path) -> None:
    check_positions(path.read_text(encoding="utf-8"))


DOCUMENT = '''\
# [no] = "table"
top = 1  # comment
"quoted key" . 'x.y' = """one "" two
[not.a.table]
\\""""

[[field]]
name = "A"   # "
[[field]]
name  = 'B\\'
range = { min = 1, from = [
  "p", # ]
  { q = 1979-05-27 07:32:00 },
] }
[field.sub . deep]
x.y = 0x1F

[[field.item]]
v = \'\'\'
\'\'\'
[[field.item]]
v = ""
'''


@pytest.mark.parametrize(
    ("path", "key", "value"),
    [
        (("top",), (2, 1, "top"), (2, 7, "1")),
        (("quoted key",), (3, 1, '"quoted key"'), (3, 1, '"quoted key"')),
        (("quoted key", "x.y"), (3, 16, "'x.y'"), (3, 24, '"""one "" two')),
        (("field",), (7, 3, "field"), (7, 1, "[[field]]")),
        (("field", 0), (7, 1, "[[field]]"), (7, 1, "[[field]]")),
        (("field", 0, "name"), (8, 1, "name"), (8, 8, '"A"')),
        (("field", 1), (9, 1, "[[field]]"), (9, 1, "[[field]]")),
        (("field", 1, "name"), (10, 1, "name"), (10, 9, "'B\\'")),
        (("field", 1, "range"), (11, 1, "range"), (11, 9, "{ min = 1, from = [")),
        (("field", 1, "range", "min"), (11, 11, "min"), (11, 17, "1")),
        (("field", 1, "range", "from"), (11, 20, "from"), (11, 27, "[")),
        (("field", 1, "range", "from", 0), (12, 3, '"p"'), (12, 3, '"p"')),
        (("field", 1, "range", "from", 1, "q"), (13, 5, "q"), (13, 9, "1979-05-27 07:32:00")),
        (("field", 1, "sub"), (15, 8, "sub"), (15, 8, "sub")),
        (("field", 1, "sub", "deep"), (15, 14, "deep"), (15, 1, "[field.sub . deep]")),
        (("field", 1, "sub", "deep", "x"), (16, 1, "x"), (16, 1, "x")),
        (("field", 1, "sub", "deep", "x", "y"), (16, 3, "y"), (16, 7, "0x1F")),
        (("field", 1, "item", 0, "v"), (19, 1, "v"), (19, 5, "'''")),
        (("field", 1, "item", 1), (21, 1, "[[field.item]]"), (21, 1, "[[field.item]]")),
        (("field", 1, "item", 1, "v"), (22, 1, "v"), (22, 5, '""')),
        # What is not there: the nearest that encloses it.
        (("field", 1, "range", "no", 3, "no"), (11, 9, "{ min = 1, from = ["), (11, 9, "{ min = 1, from = [")),
        (("field", 7), (7, 1, "[[field]]"), (7, 1, "[[field]]")),
        (("no",), (1, 1, "#"), (1, 1, "#")),
        ((), (1, 1, "#"), (1, 1, "#")),
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_spans(tmp_path: Path, path: KeyPath, key: object, value: object, end: str) -> None:
    document, diagnostics = read(tmp_path, DOCUMENT.replace("\n", end))
    assert document is not None and diagnostics.ok
    assert document.file == "specs/x.toml"
    assert at(document.key_span(path)) == key
    assert at(document.value_span(path)) == value


def test_file_is_relative_to_the_parent_of_the_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read(tmp_path, "a = 1")
    monkeypatch.chdir(tmp_path)
    for path, root in (("specs/x.toml", "specs"), ("specs/../specs/x.toml", "./specs")):
        document = load(Path(path), Path(root), Diagnostics())
        assert document is not None and document.file == "specs/x.toml"
    monkeypatch.chdir(tmp_path / "specs")
    document = load(Path("x.toml"), Path("."), Diagnostics())
    assert document is not None and document.file == "specs/x.toml"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a = 1\nb = @\n", "2:5 invalid value"),
        ("a = 1 2\n", "1:7 expected newline or end of document after a statement"),
        ("a = 1\nb\n", "2:2 expected '=' after a key in a key/value pair"),
        ("a = [1,\n  2\n\n\n", "2:4 unclosed array"),
        ("a = 1\nb = 2\na = [\n 1,\n]\n", "3:1 duplicate key 'a' | it is already set in line 1"),
        ("[t]\na = 1\nb.c = 1\nb.c = 2\n", "4:3 duplicate key 'c' | it is already set in line 3"),
        ("[t]\nb = 1\nb.c = 2\n", "3:1 duplicate key 'b' | it is already set in line 2"),
        ("a = {x = 1, y = {}, 'x' = 2}\n", "1:21 duplicate key 'x' | it is already set in line 1"),
        ("[a]\n[b]\n[ a ]\n", "3:3 duplicate key 'a' | it is already set in line 1"),
        ("[[a]]\n[a.b]\n[[a]]\n[a.b]\n[a.b]\n", "5:4 duplicate key 'b' | it is already set in line 4"),
        ("[[a]]\n\n[a]\n", "3:2 duplicate key 'a' | it is already set in line 1"),
        ("[a]\n[[a]]\n", "2:3 duplicate key 'a' | it is already set in line 1"),
        ("a = [1]\n[[a]]\n", "2:3 duplicate key 'a' | it is already set in line 1"),
        ("a = {}\n[a.b]\n", "2:2 duplicate key 'a' | it is already set in line 1"),
        (b'a = 1\r\nb = "\xc3\xa9 \xff"\r\n', "2:8 not UTF-8"),
        ("\ufeffa = 1\n", "1:1 invalid statement"),
        ("a = " + "9" * 9999, "1:1 Exceeds the limit (4300 digits)"),
        (".".join("a" * 50_000) + " = 1", "1:65 keys and values are nested more than 32 deep"),
        ("[" + ".".join("a" * 50_000) + "]", "1:66 keys and values are nested more than 32 deep"),
        ("a = " + "{a = " * 9999, "1:161 keys and values are nested more than 32 deep"),
        ("[a]\n" + ".".join("a" * 32) + " = 1", "2:63 keys and values are nested more than 32 deep"),
        ("a = " + "[" * 9999, "1:37 keys and values are nested more than 32 deep"),
    ],
)
def test_refused_text(tmp_path: Path, text: str | bytes, expected: str) -> None:
    document, diagnostics = read(tmp_path, text)
    assert document is None
    (error,) = shown(diagnostics)
    assert error.startswith(expected)
    assert "(at " not in error


def test_missing_file(tmp_path: Path) -> None:
    diagnostics = Diagnostics()
    assert load(tmp_path / "specs" / "no.toml", tmp_path / "specs", diagnostics) is None
    assert diagnostics.errors == (Diagnostic("cannot read specs/no.toml: No such file or directory"),)


GOOD = """
s = "x"
i = 3
f = 0.5
b = true
l = ["p", "q"]
d = 1979-05-27
t = { k = 1 }
[u.v]
[[w]]
n = 1
[[w]]
[w.x]
"""


def test_values(tmp_path: Path) -> None:
    table, diagnostics = open_table(tmp_path, GOOD)
    assert table.keys() == ("s", "i", "f", "b", "l", "d", "t", "u", "w")
    assert table.str("s") == "x"
    assert table.int("i") == 3
    assert (table.number("f"), table.number("i")) == (0.5, 3)
    assert table.bool("b") is True
    assert table.strings("l") == ("p", "q")
    assert table.any("d").isoformat() == "1979-05-27"
    assert table.choice("s", ("y", "x")) == "x"
    assert table.has("s") and not table.has("no")
    inner = table.table("t")
    outer = table.table("u")
    assert inner is not None and outer is not None
    assert (inner.what, outer.what, inner.int("k")) == ("t", "u", 1)
    header = outer.table("v")
    assert header is not None and header.what == "[u.v]"
    first, second = table.tables("w")
    assert (first.what, first.int("n"), second.int("n", 7)) == ("[[w]]", 1, 7)
    below = second.table("x")
    assert below is not None and (below.what, below.path) == ("[w.x]", ("w", 1, "x"))
    table.finish()
    assert diagnostics.ok
    diagnostics.raise_if_any()


def test_defaults(tmp_path: Path) -> None:
    table, diagnostics = open_table(tmp_path, "")
    assert (table.str("k", "d"), table.str("k", None)) == ("d", None)
    assert (table.int("k", 1), table.int("k", None)) == (1, None)
    assert (table.bool("k", True), table.bool("k", None)) == (True, None)
    assert (table.number("k", 0.5), table.number("k", None)) == (0.5, None)
    assert (table.strings("k", ["d"]), table.strings("k", ()), table.strings("k", None)) == (("d",), (), None)
    assert (table.choice("k", ["d"], "other"), table.choice("k", ["d"], None)) == ("other", None)
    assert (table.any("k", 5), table.table("k"), table.tables("k")) == (5, None, ())
    assert diagnostics.ok


def test_missing_keys_are_reported_at_the_header(tmp_path: Path) -> None:
    table, diagnostics = open_table(tmp_path, "\n[[f]]\n[[f]]\n")
    element = table.tables("f")[1]
    assert (element.str("a"), element.int("b"), element.bool("c"), element.number("d")) == ("", 0, False, 0)
    assert (element.strings("e"), element.any("f"), element.choice("g", ("y", "x"))) == ((), None, "x")
    assert element.table("h", required=True) is None
    assert shown(diagnostics) == [f"3:1 missing key '{key}' in [[f]]" for key in "abcdefgh"]


def test_wrong_types(tmp_path: Path) -> None:
    table, diagnostics = open_table(
        tmp_path,
        '\n[t]\na = 1\nb = true\nc = 1.0\nd = "1"\ne = ["x", 2, [3]]\ng = {}\nh = [{}, 1]\ni = 07:32:00\n[t.j]\n',
    )
    t = table.table("t")
    assert t is not None
    assert (t.str("a"), t.str("a", "d"), t.str("a", None)) == ("", "d", None)
    assert (t.int("b"), t.int("c", 9), t.number("d")) == (0, 9, 0)
    assert (t.bool("a"), t.strings("a"), t.strings("e"), t.strings("a", None)) == (False, (), ("x",), None)
    assert (t.table("a"), t.tables("g"), t.tables("j"), len(t.tables("h"))) == (None, (), (), 1)
    assert (t.choice("b", ("x",)), t.int("i")) == ("x", 0)
    t.finish()
    hint = " | the header of an element of an array of tables is [[t."
    assert shown(diagnostics) == [
        "3:5 'a' in [t]: expected a string, found an integer",
        "4:5 'b' in [t]: expected an integer, found a boolean",
        "5:5 'c' in [t]: expected an integer, found a float",
        "6:5 'd' in [t]: expected an integer or a float, found a string",
        "3:5 'a' in [t]: expected a boolean, found an integer",
        "3:5 'a' in [t]: expected an array, found an integer",
        "7:11 'e'[1] in [t]: expected a string, found an integer",
        "7:14 'e'[2] in [t]: expected a string, found an array",
        "3:5 'a' in [t]: expected a table, found an integer",
        f"8:5 'g' in [t]: expected an array of tables, found a table{hint}g]]",
        f"11:1 'j' in [t]: expected an array of tables, found a table{hint}j]]",
        "9:10 'h'[1] in [t]: expected a table, found an integer",
        "4:5 'b' in [t]: expected a string, found a boolean",
        "10:5 'i' in [t]: expected an integer, found a time",
    ]


def test_choice(tmp_path: Path) -> None:
    table, diagnostics = open_table(tmp_path, 'a = "edge"\nb = "wild"\n')
    modes = {"EDGE": 0, "CONSTANT": 1}
    assert table.choice("a", modes) == "CONSTANT"
    assert table.choice("b", modes, "EDGE") == "EDGE"
    assert table.choice("b", modes, None) is None
    assert shown(diagnostics) == [
        "1:5 unknown a 'edge' in this file | did you mean 'EDGE'?",
        "2:5 unknown b 'wild' in this file | one of CONSTANT, EDGE",
    ]


def test_unknown_keys(tmp_path: Path) -> None:
    table, diagnostics = open_table(tmp_path, '[[field]]\ndefualt = 0\nname = "x"\nzzz.y = 1\n[feild]\n')
    (element,) = table.tables("field")
    element.str("name")
    element.any("default", None)
    element.finish()
    table.finish()
    Table(element.document, ("feild",), "[feild]").finish()
    assert shown(diagnostics) == [
        "2:1 unknown key 'defualt' in [[field]] | did you mean 'default'?",
        "4:1 unknown key 'zzz' in [[field]] | known keys: default, name",
        "5:2 unknown key 'feild' in this file | did you mean 'field'?",
    ]


def test_own_errors_and_spans(tmp_path: Path) -> None:
    table, diagnostics = open_table(tmp_path, '[t]\nx = ["a", "b"]\n')
    t = table.table("t")
    assert t is not None
    t.error("x", "bad value", "try y")
    t.error("no", "bad")
    t.error(None, "bad")
    assert shown(diagnostics) == ["2:5 bad value | try y", "1:1 bad"]
    assert (at(t.span()), at(t.span("x", 1)), at(t.key_span("x"))) == ((1, 1, "[t]"), (2, 11, '"b"'), (2, 1, "x"))


def test_ten_errors_in_one_run(tmp_path: Path) -> None:
    lines = ["[t]", "a = 1", 'b = "x"', "c = 1", "d = 1", "e = [1, 2]", 'f = "X"', "g = 1", "hh = 1"]
    table, diagnostics = open_table(tmp_path, "\n".join(lines))
    t = table.table("t")
    assert t is not None
    t.str("a")
    t.int("b")
    t.bool("c")
    t.table("d")
    t.strings("e")
    t.choice("f", ("Y", "Z"))
    t.tables("g")
    t.str("h")
    t.finish()
    with pytest.raises(SpecError) as caught:
        diagnostics.raise_if_any()
    assert len(diagnostics.errors) == 10
    assert caught.value.errors == diagnostics.errors
    text = str(caught.value)
    assert text.endswith("\n10 errors")
    starts = [line.split(": ")[0] for line in text.splitlines() if line.startswith("specs/")]
    numbers = [1, 2, 3, 4, 5, 6, 6, 7, 8, 9]
    assert [start.split(":")[:2] for start in starts] == [["specs/x.toml", str(number)] for number in numbers]


SPAN = Span("specs/operators/pad/padding1.toml", 12, 1, 7, "defualt = 0")


def test_render() -> None:
    diagnostic = Diagnostic("unknown key 'defualt' in [[field]]", SPAN, "did you mean 'default'?")
    assert render(diagnostic) == (
        "specs/operators/pad/padding1.toml:12:1: unknown key 'defualt' in [[field]]\n"
        "   12 | defualt = 0\n"
        "      | ^^^^^^^\n"
        "   hint: did you mean 'default'?"
    )
    assert render(Diagnostic("no span", None, "h")) == "no span\n   hint: h"
    assert render(Diagnostic("empty", Span("f", 3, 1, 5, ""))) == "f:3:1: empty\n    3 |\n      | ^"
    assert render(Diagnostic("long", Span("f", 3, 3, 99, "abcd"))).endswith("\n    3 | abcd\n      |   ^^")


def test_render_replaces_control_characters() -> None:
    text = render(Diagnostic("m\x1b[2J\n", Span("f\x07", 1, 3, 1, "\ta\x1b]0;x\x9b\u202e\xa0é"), "h\r"))
    assert text == "f�:1:3: m�[2J�\n    1 |  a�]0;x���é\n      |   ^\n   hint: h�"


def test_the_same_error_is_kept_once_and_the_text_is_ordered() -> None:
    diagnostics = Diagnostics()
    for _ in range(2):
        for line, message in ((2, "second"), (1, "first")):
            diagnostics.error(Span("f", line, 1, 1, "x"), message)
        diagnostics.error(None, "nowhere")
    assert [error.message for error in diagnostics.errors] == ["second", "first", "nowhere"]
    assert [line for line in diagnostics.render().splitlines() if "|" not in line] == [
        "nowhere",
        "f:1:1: first",
        "f:2:1: second",
        "3 errors",
    ]


@pytest.mark.parametrize(
    ("word", "candidates", "expected"),
    [
        ("defualt", ["default", "doc"], "did you mean 'default'?"),
        ("edge", {"EDGE", "WRAP"}, "did you mean 'EDGE'?"),
        ("zzz", ["default"], None),
        ("name", ["name"], None),
        ("x", [], None),
    ],
)
def test_did_you_mean(word: str, candidates: list[str], expected: str | None) -> None:
    assert did_you_mean(word, candidates) == expected
