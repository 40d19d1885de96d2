"""The operators of ONNX: a file for each group."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from ..model import (
    ATTRIBUTES,
    ONNX,
    PLACES,
    Facts,
    Onnx,
    OnnxAttribute,
    OnnxOperator,
    OnnxParameter,
    OnnxRuntime,
    OnnxVersion,
)
from ..source import Table
from .facts import VERSION, rows_of
from .reading import LOWER, Files, finished, named, source_of

FOLDER = "specs/onnx"
RUNTIME = f"{FOLDER}/runtime.toml"
ERRORS = f"{FOLDER}/errors.toml"
NAME = re.compile(r"[A-Z][A-Za-z0-9]*")
DOMAIN = re.compile(r"[a-z]+(\.[a-z]+)*")
PARAMETER = re.compile(r"(?P<name>\w+)(?P<mark>[?*+]?): (?P<type>\w+)")
ATTRIBUTE = re.compile(r"(?P<name>\w+)(?P<required>!?): (?P<kind>[A-Z_]+)( = (?P<default>.+))?")
Types = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class _Shared:
    """The sets that rows of operators name: data types, activations, conditions, domains."""

    facts: Facts
    types: Types
    activations: Types
    queries: Mapping[str, str]
    domains: Mapping[str, str]  # the source of an operator, in which {name} is the name of the operator


def onnx_files(root: Path) -> list[str]:
    """The files in specs/onnx but the errors, which are facts, relative to the root, sorted."""
    paths = sorted((root / FOLDER).glob("*.toml"))
    return [name for path in paths if (name := path.relative_to(root).as_posix()) != ERRORS]


def onnx(files: Files, facts: Facts) -> Onnx:
    """Everything in specs/onnx."""
    names = onnx_files(files.root)
    table = files.table(RUNTIME) if RUNTIME in names else None
    levels = tuple(level.name for level in facts.levels)
    runtimes = tuple(finished(row, partial(_runtime, levels)) for row in rows_of(table, "onnx_runtime"))
    shared = _Shared(
        facts,
        dict(finished(row, partial(_set, "elements")) for row in rows_of(table, "onnx_types")),
        dict(finished(row, partial(_set, "operators")) for row in rows_of(table, "onnx_activations")),
        dict(finished(row, _query) for row in rows_of(table, "onnx_query")),
        dict(finished(row, _domain) for row in rows_of(table, "onnx_domain")),
    )
    if table is not None:
        table.finish()
    operators: dict[tuple[str, str], OnnxOperator] = {}
    for file in (name for name in names if name != RUNTIME):
        group, found = file.removeprefix(f"{FOLDER}/").removesuffix(".toml"), files.table(file)
        for row in rows_of(found, "onnx_operator"):
            one = finished(row, partial(_operator, shared, group))
            if (one.domain, one.name) in operators:
                row.error("name", f"{one.domain} {one.name} is described twice")
            operators[one.domain, one.name] = one
        if found is not None:
            found.finish()
    return Onnx(runtimes, shared.queries, tuple(operators[key] for key in sorted(operators)))


def _runtime(levels: tuple[str, ...], row: Table) -> OnnxRuntime:
    minimum = row.choice("minimum", levels)
    return OnnxRuntime(named(row, "version", VERSION), row.int("opset"), minimum, source_of(row))


def _set(key: str, row: Table) -> tuple[str, tuple[str, ...]]:
    return named(row, "name", LOWER), row.strings(key)


def _query(row: Table) -> tuple[str, str]:
    return named(row, "name", LOWER), row.str("says")


def _domain(row: Table) -> tuple[str, str]:
    return named(row, "name", DOMAIN), source_of(row)


def _operator(shared: _Shared, group: str, row: Table) -> OnnxOperator:
    versions: list[OnnxVersion] = []
    for table in row.tables("version"):
        versions.append(finished(table, partial(_version, versions[-1] if versions else None)))
    kernels = _ints(row, "kernels")
    types = {name: _expanded(entries, shared.types) for name, entries in _lists(row, "types").items()}
    name = named(row, "name", NAME)
    domain = row.choice("domain", shared.domains) if row.has("domain") else ONNX
    return OnnxOperator(
        name,
        domain,
        group,
        kernels,
        _becomes(row, shared.facts),
        row.strings("sometimes", ()),
        row.choice("place", PLACES) if row.has("place") else "",
        row.choice("graph", ("never", "two inputs")) if row.has("graph") else "",
        _ints(row, "constants"),
        _by_parameter(types, [one for one in versions if one.since in kernels]),
        row.choice("query", shared.queries) if row.has("query") else "",
        _expanded(row.strings("fused", ()), shared.activations),
        row.str("about", ""),
        row.str("conversion", ""),
        row.str("fold", ""),
        row.str("element", ""),
        row.str("otherwise", ""),
        row.choice("sizes", ("first",)) if row.has("sizes") else "",
        row.str("inlined", ""),
        source_of(row) if row.has("source") else shared.domains.get(domain, "").replace("{name}", name),
        tuple(versions),
    )


def _ints(row: Table, key: str) -> tuple[int, ...]:
    values = row.any(key, [])
    if type(values) is list and all(type(one) is int for one in values):
        return tuple(values)
    row.error(key, f"{key} is an array of integers")
    return ()


def _lists(row: Table, key: str) -> Types:
    values = row.any(key, {})
    if type(values) is dict and all(type(one) is list for one in values.values()):
        return {name: tuple(map(str, one)) for name, one in values.items()}
    row.error(key, f"{key} is a table of arrays")
    return {}


def _becomes(row: Table, facts: Facts) -> tuple[tuple[str, ...], ...]:
    values = row.any("becomes", [])
    if type(values) is not list or not all(type(one) is list for one in values):
        row.error("becomes", "becomes is an array of arrays of operators")
        return ()
    for name in (*(one for way in values for one in way), *row.strings("sometimes", ())):
        if name not in facts.catalogue:
            row.error("becomes", f"{name!r} is not in DirectML's catalogue")
    return tuple(tuple(map(str, way)) for way in values)


def _expanded(entries: tuple[str, ...], sets: Types) -> tuple[str, ...]:
    return tuple(element for entry in entries for element in sets.get(entry, (entry,)))


def _by_parameter(types: Types, versions: list[OnnxVersion]) -> Types:
    """The data types of each input and output of the newest version that has a kernel, from those of its variables."""
    found: dict[str, tuple[str, ...]] = {}
    for version in versions[-1:]:
        for one in (*version.inputs, *version.outputs):
            if one.type in types:
                found[one.name] = types[one.type]
    return found


def _version(before: OnnxVersion | None, row: Table) -> OnnxVersion:
    """A version, which has the parameters of the one before it where it does not say others."""

    def parameters(key: str) -> tuple[OnnxParameter, ...]:
        if row.has(key) or before is None:
            return tuple(_parameter(row, key, text) for text in row.strings(key, ()))
        known: tuple[OnnxParameter, ...] = getattr(before, key)
        return known

    attributes = tuple(_attribute(row, text) for text in row.strings("attributes", ()))
    return OnnxVersion(
        row.int("since"),
        parameters("inputs"),
        parameters("outputs"),
        attributes if row.has("attributes") or before is None else before.attributes,
        row.bool("deprecated", False),
        row.bool("function", False),
    )


def _parameter(row: Table, key: str, text: str) -> OnnxParameter:
    found = PARAMETER.fullmatch(text)
    if found is None:
        row.error(key, f"{text!r} is no parameter: NAME: TYPE, NAME?: TYPE, NAME*: TYPE or NAME+: TYPE")
        return OnnxParameter("", "", "")
    return OnnxParameter(found["name"], found["type"], found["mark"])


def _attribute(row: Table, text: str) -> OnnxAttribute:
    found = ATTRIBUTE.fullmatch(text)
    if found is None or found["kind"] not in ATTRIBUTES:
        row.error("attributes", f"{text!r} is no attribute: NAME: KIND, NAME!: KIND or NAME: KIND = DEFAULT")
        return OnnxAttribute("", "", False, None)
    default: Any = None
    try:
        default = json.loads(found["default"] or "null")
    except ValueError:
        row.error("attributes", f"the default of {text!r} is not JSON")
    return OnnxAttribute(
        found["name"],
        found["kind"],
        bool(found["required"]),
        tuple(default) if type(default) is list else default,
    )
