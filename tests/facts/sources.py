"""Reads the TOML files beside it: the statements of DirectML's documentation, taken by hand, never from the specs.

Each file has the operators of a family. An operator has these keys:

page         the page that its rows and constraints come from, where they do not name another source
since        the level that brought it, by the header
support      rows of a support table: the level from which on it holds, the tensors ("*" for all), their numbers of
             dimensions, their data types (FLOAT16..32 is FLOAT16 and FLOAT32; "?" where the page leaves them empty),
             and the members of an enum for which alone it holds
constraints  what a desc must keep. ``same`` says what the given tensors of ``of`` have in common;
             ``says`` has all else. ``rules`` are the ids that refuse the rest, without DML and the operator;
             ``none`` says why there is no rule. ``until`` is the first level at which it no longer holds. ``taken`` are
             those of ``rules`` that only warn, since DirectML was observed to accept what the page rules out.
differs      rows of data types that the spec has against the table of the page, with the reason
"""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dmlcy._facts.rows import Field, Operator
from dmlcy._facts.tables import DTYPES, LEVEL_INDEX, OPERATORS

FOLDER = Path(__file__).parent
FUSED, TENSORS, STRUCTS, BINDINGS = "fused_activations", "tensor_descs", "structs", "directml"
"""Files without operators."""
WIDTHS = {"FLOAT": (16, 32, 64), "INT": (4, 8, 16, 32, 64), "UINT": (4, 8, 16, 32, 64)}
NAMES = [*DTYPES]
RANKS = range(1, 10)

Cell = tuple[str, str, int]
"""The Python name of a tensor, a data type, a number of dimensions."""


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a support table."""

    level: int
    fields: tuple[Field, ...]
    ranks: range
    dtypes: tuple[str, ...]
    members: tuple[str, ...] = ()
    """Of the enum ``when``, those for which it holds."""
    when: str | None = None

    def cells(self) -> Iterator[Cell]:
        """The claims of the row."""
        return ((field.python, dtype, rank) for field in self.fields for dtype in self.dtypes for rank in self.ranks)


@functools.cache
def facts() -> Mapping[str, dict[str, Any]]:
    """The facts of each operator, with the family whose file has them."""
    found: dict[str, dict[str, Any]] = {}
    for path in sorted(FOLDER.glob("*.toml")):
        if path.stem not in (FUSED, TENSORS, STRUCTS, BINDINGS):
            for name, one in tomllib.loads(path.read_text(encoding="utf-8")).items():
                assert name not in found
                found[name] = one | {"family": path.stem}
    return found


def beside(stem: str) -> dict[str, Any]:
    """A file without operators: the activations that can be fused, what holds for every tensor."""
    return tomllib.loads((FOLDER / f"{stem}.toml").read_text(encoding="utf-8"))


def tensors(operator: Operator) -> tuple[Field, ...]:
    """The tensors of an operator."""
    return tuple(field for field in operator.fields if field.kind in ("input", "output"))


def of(operator: Operator, names: str) -> tuple[Field, ...]:
    """The tensors that a fact names, in the words of the struct."""
    known = {field.name: field for field in tensors(operator)}
    return tuple(known.values()) if names == "*" else tuple(known[name] for name in names.split())


def span(text: str) -> range:
    """``1..8`` or ``4``."""
    first, _, last = text.partition("..")
    return range(int(first), int(last or first) + 1)


def data_types(text: str) -> tuple[str, ...]:
    """``FLOAT16..32 UINT8`` as the names of data types; none where the page leaves them empty."""
    found: list[str] = []
    for part in text.split() if text != "?" else ():
        kind, widths = re.fullmatch(r"([A-Z]+)(\d+(?:\.\.\d+)?)", part, re.ASCII).groups()  # type: ignore[union-attr]
        found += [f"{kind}{width}" for width in WIDTHS[kind] if width in span(widths)]
    assert found or text == "?"
    return tuple(found)


def row(operator: Operator, since: str, names: str, ranks: str, types: str, when: str | None = None) -> Row:
    """A row; what the header has later than the page counts from there on."""
    level = max(LEVEL_INDEX[since], LEVEL_INDEX[facts()[operator.name]["since"]])
    name, *members = when.split() if when else ("",)
    fields = of(operator, names)
    return Row(level, fields, span(ranks), data_types(types), tuple(members), name or None)


@functools.cache
def rows(name: str) -> tuple[Row, ...]:
    """The rows of a page."""
    operator = OPERATORS[name]
    return tuple(row(operator, *line) for line in facts()[name]["support"])


def first_levels(found: tuple[Row, ...]) -> dict[Cell, int]:
    """The first level of each cell of some rows."""
    levels: dict[Cell, int] = {}
    for one in found:
        for cell in one.cells():
            levels[cell] = min(one.level, levels.get(cell, one.level))
    return levels


def differing(name: str) -> dict[Cell, int]:
    """The cells in which the spec differs from the page, and their levels in the spec."""
    operator = OPERATORS[name]
    lines = facts()[name].get("differs", ())
    return first_levels(tuple(row(operator, x["since"], x["of"], x["ranks"], x["types"]) for x in lines))


@functools.cache
def claims(name: str) -> dict[Cell, int]:
    """The first level of each cell of an operator: that of the page, except where the spec differs."""
    return first_levels(rows(name)) | differing(name)
