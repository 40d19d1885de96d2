"""Reading specs: the positions of keys and values, and refusals."""

from __future__ import annotations

from pathlib import Path

import pytest

from codegen.diagnostics import Diagnostic, Diagnostics, Span, SpecError
from codegen.source import Document, KeyPath, Table, load


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
        # A key that is missing: the position of the nearest table around it.
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
