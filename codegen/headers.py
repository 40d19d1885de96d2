"""The header of C++ that writes the structs of all operators as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

import jinja2

from .field_types import type_of
from .model import DTYPE_ENUM, CatalogueOperator
from .plan import Plan


@dataclass(frozen=True, slots=True)
class Named:
    """An enum: the function that names its members, and their values."""

    name: str
    function: str
    members: tuple[tuple[int, str], ...]


@dataclass(frozen=True, slots=True)
class Struct:
    """The struct of an operator, and the call that writes each of its members."""

    entry: CatalogueOperator
    calls: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Group:
    """Structs that the header of DirectML has from a target version on."""

    version: str
    structs: tuple[Struct, ...]


def dump_header(env: jinja2.Environment, plan: Plan) -> str:
    """The text of dmlcy_dump.h."""
    entries = sorted(plan.facts.catalogue.values(), key=lambda entry: entry.value)
    structs = [Struct(entry, tuple(_calls(entry, plan))) for entry in entries]
    versions = {level.name: f"0x{level.value:04X}" for level in plan.facts.levels}
    groups = tuple(
        Group(versions[since], tuple(some)) for since, some in groupby(structs, key=lambda one: one.entry.since)
    )
    return env.get_template("dump.h.j2").render(groups=groups, enums=tuple(_enums(plan)))


def function_of(enum: str) -> str:
    """The function that names the members of an enum: name_of_padding_mode."""
    return f"name_of_{enum.removeprefix('DML_').lower()}"


def _enums(plan: Plan) -> Iterator[Named]:
    entries = sorted(plan.facts.catalogue.values(), key=lambda entry: entry.value)
    operators = tuple((entry.value, f"DML_OPERATOR_{entry.name}") for entry in entries)
    yield Named("DML_OPERATOR_TYPE", function_of("DML_OPERATOR_TYPE"), operators)
    dtypes = (plan.facts.no_dtype, *plan.facts.dtypes)
    members = tuple((dtype.value, f"{DTYPE_ENUM}_{dtype.name}") for dtype in dtypes if dtype is not None)
    yield Named(DTYPE_ENUM, function_of(DTYPE_ENUM), members)
    used = {field.type.partition(":")[2] for entry in entries for field in entry.fields}
    for enum in (enum for enum in plan.facts.enums.values() if enum.tensors or enum.name in used):
        members = tuple((member.value, f"{enum.prefix}{member.name}") for member in enum.members)
        yield Named(enum.name, function_of(enum.name), members)


def _calls(entry: CatalogueOperator, plan: Plan) -> Iterator[str]:
    """For each member of a struct, the call that writes it."""
    types = _types_of_scalars(entry, plan)
    for field in entry.fields:
        arguments = [f'"{field.name}"', f"d.{field.name}"]
        enum = field.type.partition(":")[2]
        if enum:
            arguments[1:] = [function_of(enum), f"number_of(d.{field.name})"]
        if field.count is not None:
            arguments.append(f"d.{field.count}")
        if field.name in types:
            arguments.append(f"number_of(d.{types[field.name]})")
        yield f"{type_of(field).dumped}({', '.join(arguments)})"


def _types_of_scalars(entry: CatalogueOperator, plan: Plan) -> dict[str, str]:
    """The members of the type DML_SCALAR_UNION, each with the member that holds its data type."""
    operator = next((one.operator for one in plan.operators if one.name == entry.name), None)
    if operator is None:
        return {}
    fields: dict[str, str] = {field.python: field.name for field in operator.fields}
    typed = [field for field in operator.fields if type_of(field).typed and field.types is not None]
    return {field.name: fields.get(field.types, field.types) for field in typed if field.types is not None}
