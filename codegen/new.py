"""The skeleton of an operator's spec, from the catalogue. ``required`` and ``lint`` name the parts that it
leaves open."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import source
from .field_types import type_of
from .model import DTYPE_ENUM, CatalogueField, CatalogueOperator, Enum, Facts, Operator, Specs
from .show import table, value


@dataclass(frozen=True, slots=True)
class Groups:
    """Groups to include, and what they already say."""

    names: tuple[str, ...] = ()
    fields: frozenset[str] = frozenset()
    tables: frozenset[str] = frozenset()


def sibling(specs: Specs, name: str) -> Operator | None:
    """An operator that is another version of this one: the same name except for digits at the end."""
    stem = name.rstrip("0123456789")
    return next((known for known in specs.operators.values() if known.name.rstrip("0123456789") == stem), None)


def groups_of(operator: Operator | None, entry: CatalogueOperator, root: Path) -> Groups:
    """The groups of a sibling, when the new operator has all fields that they describe."""
    if operator is None:
        return Groups()
    data: list[dict[str, Any]] = []
    for name in operator.include:
        data.append(tomllib.loads(source.read(root / "specs" / "shared" / f"{name}.toml").decode()))
    fields = frozenset(row["name"] for group in data for row in group.get("field", ()))
    if not fields <= {field.name for field in entry.fields}:
        return Groups()
    return Groups(operator.include, fields, frozenset(name for group in data for name in group))


def skeleton(entry: CatalogueOperator, family: str, facts: Facts, groups: Groups, *, runs: bool) -> str:
    """The text of the file; an operator that does not run is described only."""
    return "\n".join(_parts(entry, family, facts, groups, runs))


def _parts(entry: CatalogueOperator, family: str, facts: Facts, groups: Groups, runs: bool) -> Iterator[str]:
    head = {
        "name": entry.name,
        "family": family,
        "include": list(groups.names) or None,
        "summary": "",
    }
    yield "#:schema ../../schema.json\n" + table("[operator]", head)
    for key, variable in (("types", "T"), ("ranks", "R")):
        if key not in groups.tables:
            yield f"[{key}]    # rows from level {entry.since} on\n{variable} = []\n"
    for field in entry.fields:
        if field.name not in groups.fields:
            yield _field(field, entry.fields, facts)
    if runs and "kernel" not in groups.tables:
        yield f"[kernel]    # what family {family} asks for\n"


def _field(field: CatalogueField, fields: Sequence[CatalogueField], facts: Facts) -> str:
    lines = ["[[field]]", f"name  = {value(field.name)}    # {_comment(field, facts)}"]
    if field.kind != "attribute":
        lines += ['dtype = "T"', 'rank  = "R"']
    typed = f"{field.name}DataType"
    if type_of(field).typed and typed in {other.name for other in fields}:
        lines.append(f"dtype = {value(typed)}")
    return "\n".join([*lines, 'doc   = ""\n'])


def _comment(field: CatalogueField, facts: Facts) -> str:
    type_, _, name = field.type.partition(":")
    said = f"{field.kind}, {name or type_}{', optional' if field.optional else ''}"
    enum: Enum | None = facts.enums.get(name)
    if enum is None or enum.name == DTYPE_ENUM:
        return said
    return f"{said}: {', '.join(member.name for member in enum.members)}"
