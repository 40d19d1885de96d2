"""Every key and every value of a TOML text gets its right position, in every style of the text."""

from __future__ import annotations

import json
import math
import tomllib
from pathlib import Path
from typing import Any

from depth import examples
from each import each_of
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from codegen.source import KeyPath, scan

SPECS = Path(__file__).parents[2] / "specs"


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


@settings(max_examples=examples(200), deadline=None)
@given(st.text(st.sampled_from("ab.=[]{},\"'#\\ \n12"), max_size=20))
@example('a = """x" = 1\nb = 1\nb = 2')
def test_any_text_is_read_or_refused_at_a_place(text: str) -> None:
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        scan(text)
    else:
        check_positions(text)


@each_of("path", sorted(SPECS.rglob("*.toml")))
def test_positions_of_the_specs(path: Path) -> None:
    check_positions(path.read_text(encoding="utf-8"))
