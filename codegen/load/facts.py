"""The facts that are true of all operators: levels, data types, enums, the catalogue, errors, terms, libraries."""

from __future__ import annotations

import re
from collections.abc import Mapping

from .. import names
from ..diagnostics import did_you_mean
from ..field_types import COUNT, is_array, names_of_types, type_of
from ..model import (
    DTYPE_ENUM,
    LANGUAGES,
    CatalogueField,
    CatalogueOperator,
    Dtype,
    Enum,
    EnumMember,
    ErrorText,
    Facts,
    Fused,
    Level,
    Library,
    Returned,
    Term,
)
from ..source import Table
from .bindings import bindings
from .reading import LOWER, Files, finished, named, python_text, source_of

# The names in files of facts: generated code has them in quotes, and bare.
LEVEL = re.compile(r"\d+_\d+")
VERSION = re.compile(r"\d+(\.\d+)+")
CAPITALS = re.compile(r"[A-Z][A-Z0-9_]*")
MEMBER = re.compile(r"[A-Z0-9][A-Z0-9_]*")
CLASS = re.compile(r"[A-Z][A-Za-z0-9]*")
SLUG = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
MODEL_ID = re.compile(r"DML-(MODEL|GRAPH|ONNX)-[a-z0-9]+(-[a-z0-9]+)*")
LIBRARY = re.compile(r"[A-Za-z][A-Za-z0-9 ._+-]*")
PAGE = re.compile(r"docs/[a-z0-9/-]+\.md(#[a-z0-9_-]+)?")
FUNCTION = re.compile(r"[A-Z]\w*\([A-Z]\w*(\.[A-Z]\w*)?(, [A-Z]\w*(\.[A-Z]\w*)?)*\)")
OF_OUTPUTS = ("DataType", "Sizes")
"""The requests of functions of DirectMLX for an output."""
MODULE = re.compile(r"[A-Za-z][A-Za-z0-9_.-]*")


def facts(files: Files) -> Facts:
    levels_table, dtypes_table = files.table("specs/levels.toml"), files.table("specs/dtypes.toml")
    enums_table, catalogue_table = files.table("specs/enums.toml"), files.table("specs/catalogue.toml")
    errors_table, model_table = files.table("specs/errors.toml"), files.table("specs/model_errors.toml")
    graph_table, onnx_table = files.table("specs/graph_errors.toml"), files.table("specs/onnx/errors.toml")
    levels = tuple(finished(row, _level) for row in rows_of(levels_table, "level"))
    level_names = tuple(level.name for level in levels)
    dtypes = tuple(finished(row, lambda r: _dtype(r, level_names)) for row in rows_of(dtypes_table, "dtype"))
    no_dtype = None if dtypes_table is None else dtypes_table.table("no_dtype")
    enums = [finished(row, lambda r: _enum(r, level_names)) for row in rows_of(enums_table, "enum")]
    enum_names = (*(enum.name for enum in enums), DTYPE_ENUM)
    catalogue = [
        finished(row, lambda r: _catalogue(r, level_names, enum_names)) for row in rows_of(catalogue_table, "operator")
    ]
    _classes(catalogue, enums, rows_of(enums_table, "enum"))
    implicit = tuple(finished(row, lambda r: _error(r, "slug")) for row in rows_of(errors_table, "implicit"))
    model_rows = (
        *rows_of(errors_table, "model"),
        *rows_of(model_table, "model"),
        *rows_of(graph_table, "graph"),
        *rows_of(onnx_table, "onnx"),
    )
    model_errors = tuple(finished(row, lambda r: _error(r, "id")) for row in model_rows)
    slugs = tuple(error.id for error in implicit)
    terms_table = files.table("specs/terms.toml")
    terms = tuple(finished(row, lambda r: _term(r, slugs)) for row in rows_of(terms_table, "term"))
    libraries_table = files.table("specs/libraries.toml")
    libraries = tuple(finished(row, _library) for row in rows_of(libraries_table, "library"))
    fused_table = files.table("specs/fused.toml")
    entries = {entry.name: entry for entry in catalogue}
    fused = tuple(finished(row, lambda r: _fused(r, entries, level_names)) for row in rows_of(fused_table, "fused"))
    for table in (
        levels_table, dtypes_table, enums_table, catalogue_table, errors_table, model_table, graph_table,
        onnx_table, terms_table, libraries_table, fused_table,
    ):  # fmt: skip
        if table is not None:
            table.finish()
    return Facts(
        levels,
        dtypes,
        {enum.name: enum for enum in enums},
        entries,
        implicit,
        model_errors,
        terms,
        libraries,
        tuple(row for row in fused if row.operator in entries),
        bindings(files, entries, {enum.name: enum for enum in enums}, dtypes),
        None if no_dtype is None else finished(no_dtype, lambda r: _enum_member(r, level_names)),
    )


def rows_of(table: Table | None, key: str) -> tuple[Table, ...]:
    return () if table is None else table.tables(key)


def _level(row: Table) -> Level:
    return Level(
        named(row, "name", LEVEL),
        row.int("value"),
        named(row, "directml", VERSION),
        row.int("max_rank"),
        row.str("windows", None),
        row.str("note", None),
        row.bool("dxdispatch", True),
    )


def _dtype(row: Table, levels: tuple[str, ...]) -> Dtype:
    since = row.choice("since", levels)
    numpy = named(row, "numpy", LOWER) if row.has("numpy") else None
    return Dtype(named(row, "name", CAPITALS), row.int("value"), row.int("bits"), since, numpy)


def _enum(row: Table, levels: tuple[str, ...]) -> Enum:
    members: list[EnumMember] = []
    for member in row.tables("members"):
        found = finished(member, lambda r: _enum_member(r, levels))
        if found.name in {known.name for known in members}:
            member.error("name", f"{found.name!r} is the name of another member")
        members.append(found)
    python = named(row, "python", CLASS)
    why = names.refused(python)
    if why is not None:
        row.error("python", f"{python!r} {why}")
    return Enum(
        named(row, "name", CAPITALS),
        named(row, "prefix", CAPITALS),
        python,
        row.bool("flags", False),
        row.choice("since", levels),
        row.str("source", None),
        row.str("note", None),
        tuple(members),
        row.bool("tensors", False),
    )


def _enum_member(row: Table, levels: tuple[str, ...]) -> EnumMember:
    since = row.choice("since", levels)
    name, value, doc = named(row, "name", MEMBER), row.int("value"), row.str("doc", "")
    return EnumMember(name, value, since, doc, row.strings("also", ()))


def _classes(catalogue: list[CatalogueOperator], enums: list[Enum], rows: tuple[Table, ...]) -> None:
    """No class of an enum is one of another enum or of an operator."""
    taken = {name: operator.name for operator in catalogue for name in names.classes(operator.name)}
    for enum, row in zip(enums, rows, strict=True):
        if enum.python in taken:
            row.error("python", f"{enum.python!r} is also a class of {taken[enum.python]}")
        taken[enum.python] = enum.name


def _catalogue(row: Table, levels: tuple[str, ...], enums: tuple[str, ...]) -> CatalogueOperator:
    rows = row.tables("fields")
    types = names_of_types(enums)
    fields = [_member(field, types) for field in rows]
    counts = [field.name for field in fields if field.type == COUNT]
    for field, table in zip(fields, rows, strict=True):
        if field.count is not None and field.count not in counts:
            table.error("count", f"{field.count!r} is no {COUNT}", did_you_mean(field.count, counts))
        table.finish()
    in_place, inputs = row.strings("in_place"), [field.name for field in fields if field.kind == "input"]
    for name in in_place:
        if name not in inputs:
            row.error("in_place", f"{name!r} is no input: in_place has inputs that an output may share memory with")
    return CatalogueOperator(
        named(row, "name", CAPITALS),
        row.int("value"),
        row.choice("since", levels),
        named(row, "struct", CAPITALS),
        named(row, "kind", LOWER),
        in_place,
        source_of(row),
        tuple(fields),
        _function(row, [field.name for field in fields]),
    )


def _function(row: Table, members: list[str]) -> str | None:
    """A function of DirectMLX, whose parameters are members of the struct."""
    text = named(row, "directmlx", FUNCTION) if row.has("directmlx") else None
    for name in re.findall(r"\w+(?=[.,)])", text or ""):
        if name not in (*members, *OF_OUTPUTS):
            row.error("directmlx", f"{name!r} is no member of the struct", did_you_mean(name, members))
    return text


def _member(row: Table, types: tuple[str, ...]) -> CatalogueField:
    """A member of a struct; an array must have another member that counts it, and nothing else has one."""
    kind, type_ = row.choice("kind", ("input", "output", "attribute")), row.choice("type", types)
    name, optional = named(row, "name", CLASS), row.bool("optional", False)
    count = named(row, "count", CLASS) if row.has("count") else None
    field = CatalogueField(name, kind, type_, optional, count)
    if row.data.get("type") == type_ and is_array(field) != (count is not None):
        row.error("type", f"{type_} needs a count" if count is None else f"{type_} has no count")
    return field


def _error(row: Table, key: str) -> ErrorText:
    implicit = key == "slug"
    breaks = row.any("breaks", {}) if not implicit else {}
    if not isinstance(breaks, dict):
        row.error("breaks", "breaks is a table: { path = value }")
    error = row.str("error")
    errors = tuple(name for name in names.public() if name.endswith("Error"))
    if row.has("error") and error not in errors:
        row.error("error", f"{error!r} is no error of dmlcy", did_you_mean(error, errors) or ", ".join(errors))
    return ErrorText(
        named(row, key, SLUG if implicit else MODEL_ID),
        error,
        row.str("message"),
        row.str("about"),
        row.strings("applies") if implicit else (),
        row.choice("when", ("later", "tied", "unowned")) if implicit and row.has("when") else None,
        breaks if isinstance(breaks, dict) else {},
    )


def _term(row: Table, slugs: tuple[str, ...]) -> Term:
    errors = row.strings("errors") if row.has("errors") else ()
    for slug in errors:
        if slug not in slugs:
            row.error("errors", f"{slug!r} is no slug of errors.toml", did_you_mean(slug, slugs))
    also = row.strings("also") if row.has("also") else ()
    page = named(row, "page", PAGE) if row.has("page") else None
    source = source_of(row) if row.has("source") or page is None else ""
    value = row.int("value") if row.has("value") else None
    if value is not None and not 2**31 <= value < 2**32:
        row.error("value", "the value of an error code is from 0x80000000 to 0xFFFFFFFF")
    returned = tuple(finished(one, _returned) for one in row.tables("returned"))
    command = row.str("command", None)
    return Term(row.str("name"), also, row.str("is"), row.str("doc"), source, page, errors, value, returned, command)


def _returned(row: Table) -> Returned:
    return Returned(row.str("call"), row.str("when"), source_of(row))


def _fused(row: Table, catalogue: Mapping[str, CatalogueOperator], levels: tuple[str, ...]) -> Fused:
    name = row.str("operator")
    if name not in catalogue:
        row.error("operator", f"{name!r} is not in DirectML's catalogue", did_you_mean(name, catalogue))
    hosts = row.strings("hosts") if row.has("hosts") else None
    for host in hosts or ():
        if host not in catalogue:
            row.error("hosts", f"{host!r} is not in DirectML's catalogue", did_you_mean(host, catalogue))
        elif not any(type_of(field).chosen_among for field in catalogue[host].fields):
            row.error("hosts", f"{host} has no field that holds an operator")
    since = row.choice("since", levels) if row.has("since") else None
    if since is not None and name in catalogue and levels.index(since) < levels.index(catalogue[name].since):
        row.error("since", f"{since} is before {catalogue[name].since}, which brought {name}")
    return Fused(name, hosts, since, source_of(row))


def _library(row: Table) -> Library:
    language = row.choice("language", LANGUAGES)
    python = language == "python"
    needs = row.strings("needs") if python else ()
    for name in needs:
        if not MODULE.fullmatch(name):
            row.error("needs", f"the module {name!r} is not of the form {MODULE.pattern}")
    return Library(
        named(row, "name", LIBRARY),
        language,
        needs,
        row.str("tested") if python else None,
        python_text(row, "prelude") if python else "",
    )
