"""The functions of PyDirectML, and the types of what they take and give."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from ..diagnostics import did_you_mean
from ..field_types import MEMBER_OF, type_of
from ..model import (
    DTYPE_ENUM,
    KINDS,
    Bindings,
    BoundActivation,
    BoundEnum,
    BoundFunction,
    BoundOutputs,
    BoundParameter,
    CatalogueOperator,
    Dtype,
    Enum,
    snake,
)
from ..source import Table
from .reading import LOWER, WORD, Files, finished, named, python_text

FILE = "specs/directml.toml"
PARAMETER = re.compile(
    r"(?P<name>[a-z]\w*)(: (?P<kind>\w+))?( -> (?P<argument>\w+|\(\)))?( = (?P<default>.+))?", re.ASCII
)
FIELD = re.compile(r"(?P<name>[a-z]\w*)(?P<optional>\??)")


@dataclass(frozen=True, slots=True)
class _Shared:
    """The objects that the rows name."""

    catalogue: Mapping[str, CatalogueOperator]
    enums: Mapping[str, Enum]
    dtypes: tuple[Dtype, ...]
    outputs: Mapping[str, BoundOutputs]


def bindings(
    files: Files, catalogue: Mapping[str, CatalogueOperator], enums: Mapping[str, Enum], dtypes: tuple[Dtype, ...]
) -> Bindings:
    """Everything in specs/directml.toml; nothing where there is no such file."""
    table = files.table(FILE) if (files.root / FILE).exists() else None
    if table is None:
        return Bindings()
    outputs = tuple(finished(row, _outputs) for row in table.tables("directml_outputs"))
    shared = _Shared(catalogue, enums, dtypes, {one.name: one for one in outputs})
    found = Bindings(
        tuple(finished(row, partial(_function, shared)) for row in table.tables("directml_function")),
        outputs,
        tuple(finished(row, partial(_activation, shared)) for row in table.tables("directml_activation")),
        tuple(finished(row, partial(_enum, shared)) for row in table.tables("directml_enum")),
    )
    table.finish()
    return found


def _operator(shared: _Shared, row: Table, key: str = "operator") -> str:
    name = row.str(key)
    if name not in shared.catalogue:
        row.error(key, f"{name!r} is not in DirectML's catalogue", did_you_mean(name, shared.catalogue))
    return name


def _function(shared: _Shared, row: Table) -> BoundFunction:
    operator = _operator(shared, row)
    entry = shared.catalogue.get(operator)
    keyword, parameters = False, []
    for text in row.strings("parameters"):
        if text == "*":
            keyword = True
        else:
            parameters.append(_parameter(shared, row, entry, keyword, text))
    known = {one.name for one in parameters}
    for key in ("alike", "same_sizes"):
        for name in row.strings(key, ()):
            if name not in known:
                row.error(key, f"{name!r} is no parameter", did_you_mean(name, known))
    outputs = row.choice("outputs", shared.outputs) if row.has("outputs") else ""
    return BoundFunction(
        named(row, "name", LOWER),
        operator,
        tuple(parameters),
        outputs,
        _asked(entry, parameters),
        _texts(row, "values"),
        named(row, "result", WORD) if row.has("result") else "",
        row.strings("alike", ()),
        row.strings("same_sizes", ()),
        _pair(shared, row, "instead", "operator", "when"),
        row.bool("older", False),
        _texts(row, "also"),
        _pair(shared, row, "lacks", "parameter", "fits"),
        _texts(row, "takes"),
    )


def _asked(entry: CatalogueOperator | None, parameters: list[BoundParameter]) -> tuple[tuple[str, str], ...]:
    """Each output of an operator, and the parameter that asks for it; "" for one that is always there."""
    if entry is None:
        return ()
    asking = {one.argument: one.name for one in parameters}
    every = next((one.name for one in parameters if one.kind == "options"), "")
    return tuple(
        (snake(field.name), (every or asking.get(snake(field.name), "")) if field.optional else "")
        for field in entry.fields
        if field.kind == "output"
    )


def _parameter(
    shared: _Shared, row: Table, entry: CatalogueOperator | None, keyword: bool, text: str
) -> BoundParameter:
    found = PARAMETER.fullmatch(text)
    if found is None:
        row.error("parameters", f"{text!r} is no parameter: NAME[: KIND][ -> ARGUMENT][ = DEFAULT]")
        return BoundParameter("", "", "expression", None, keyword, False, "")
    argument = "" if found["argument"] == "()" else found["argument"] or found["name"]
    fields = {snake(field.name): field for field in entry.fields} if entry is not None else {}
    field = fields.get(argument)
    kind, enum = found["kind"] or "", ""
    if field is not None and not kind:
        kind, of = type_of(field).bound, field.type.removeprefix(MEMBER_OF)
        enum = shared.enums[of].python if of in shared.enums else ""
    if kind not in KINDS:
        row.error("parameters", f"{text!r} has no known kind: {', '.join(KINDS)}", did_you_mean(argument, fields))
    optional = kind == "expression" and found["default"] == "None"
    return BoundParameter(found["name"], argument, kind, found["default"], keyword, optional, enum)


def _texts(row: Table, key: str) -> Mapping[str, str]:
    values = row.any(key, {})
    if type(values) is dict and all(type(one) is str for one in values.values()):
        return dict(values)
    row.error(key, f"{key} is a table of texts")
    return {}


def _pair(shared: _Shared, row: Table, key: str, first: str, second: str) -> tuple[str, str] | None:
    inner = row.table(key) if row.has(key) else None
    if inner is None:
        return None
    name = _operator(shared, inner) if first == "operator" else named(inner, first, WORD)
    found = name, python_text(inner, second, "eval")
    inner.finish()
    return found


def _outputs(row: Table) -> BoundOutputs:
    fields = [FIELD.fullmatch(text) for text in row.strings("fields")]
    if not all(fields):
        row.error("fields", "a field is a name, with ? where it may be None")
    known = tuple((one["name"], bool(one["optional"])) for one in fields if one is not None)
    return BoundOutputs(named(row, "name", WORD), known, row.str("doc"))


def _activation(shared: _Shared, row: Table) -> BoundActivation:
    operator = _operator(shared, row) if row.has("operator") else ""
    parameters = []
    for text in row.strings("parameters", ()):
        name, _, default = text.partition(" = ")
        parameters.append((name, default or None))
    return BoundActivation(named(row, "name", LOWER), operator, tuple(parameters))


def _enum(shared: _Shared, row: Table) -> BoundEnum:
    name, of = named(row, "name", WORD), row.str("enum", None)
    members: dict[str, int] = {}
    for key in ("more", "members"):
        values = row.any(key, {})
        if type(values) is not dict or not all(type(one) is int for one in values.values()):
            row.error(key, f"{key} is a table of integers")
        else:
            members |= values
    if of == DTYPE_ENUM:
        members |= {one.name: one.value for one in shared.dtypes}
    elif of is not None and of in shared.enums:
        members |= {one.name: one.value for one in shared.enums[of].members}
    elif of is not None:
        row.error("enum", f"{of!r} is no enum", did_you_mean(of, shared.enums))
    if row.bool("operators", False):
        members |= {one.name: one.value for one in shared.catalogue.values()}
    for one in row.strings("without", ()):
        if members.pop(one, None) is None:
            row.error("without", f"{one!r} is no member", did_you_mean(one, members))
    also = named(row, "also", WORD) if row.has("also") else ""
    doc = row.str("doc", "") or f"The members of {of}."
    return BoundEnum(name, tuple(members.items()), row.bool("flags", False), doc, also)
