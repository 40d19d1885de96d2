"""A stand-in for <DirectML.h>: the structs in the order of the specs, with their layout as the facts have it.

A struct whose members have another order, or other types, does not compile: ``static_assert`` holds each size,
each offset and each value of an enum to tests/facts/structs.toml.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from planned import planned
from structs import enums, layouts, structs

from codegen.field_types import type_of
from codegen.model import CatalogueField, CatalogueOperator

FOLDER = Path(__file__).parent
PREFIXES = {"DML_TENSOR_FLAGS": "DML_TENSOR_FLAG_", "DML_OPERATOR_TYPE": "DML_OPERATOR_"}
VERSION = "0x6400"
"""DML_TARGET_VERSION, where the program does not say it."""


def directml_h() -> str:
    """The text of the header."""
    catalogue = sorted(planned().facts.catalogue.values(), key=lambda entry: entry.value)
    levels = {level.name: level.value for level in planned().facts.levels}
    parts = [
        (FOLDER / "standin_begin.h").read_text(encoding="utf-8").replace("@VERSION@", VERSION),
        "\n".join(_enums()),
        (FOLDER / "standin_structs.h").read_text(encoding="utf-8"),
        *(
            f"#if DML_TARGET_VERSION >= {levels[entry.since]:#x}\n{_struct(entry)}#endif\n"
            for entry in catalogue
        ),
        "\n".join(_asserts(levels, {entry.struct: entry.since for entry in catalogue})),
        "\n".join(_interfaces()),
        (FOLDER / "standin_interfaces.h").read_text(encoding="utf-8"),
    ]  # fmt: skip
    return "\n".join(parts)


def prefix(enum: str) -> str:
    """The prefix of the names of the members of an enum."""
    return PREFIXES.get(enum, f"{enum}_")


def _enums() -> Iterator[str]:
    for enum, members in enums().items():
        rows = "".join(f"    {prefix(enum)}{name} = {value},\n" for name, value in members.items())
        yield f"enum {enum} {{\n{rows}}};\n"


def _struct(entry: CatalogueOperator) -> str:
    rows = "".join(f"    {declared(field)} {field.name};\n" for field in entry.fields)
    return f"struct {entry.struct} {{\n{rows}}};\n"


def declared(field: CatalogueField) -> str:
    """The type of a member in C."""
    return field.type.partition(":")[2] or type_of(field).declared(field)


def _asserts(levels: dict[str, int], since: dict[str, str]) -> Iterator[str]:
    for name, (size, members) in layouts().items():
        yield f"#if DML_TARGET_VERSION >= {levels[since.get(name, '1_0')]:#x}"
        yield f'static_assert(sizeof({name}) == {size}, "the size of {name}");'
        for member, offset in members.items():
            yield f'static_assert(offsetof({name}, {member}) == {offset}, "{name}::{member}");'
        yield "#endif"


def _interfaces() -> Iterator[str]:
    """The identifiers of the interfaces, as GUIDs."""
    for name, text in structs()["interfaces"].items():
        first, second, third, fourth, fifth = text.split("-")
        rest = ", ".join(f"0x{fourth[at : at + 2]}" for at in (0, 2)) + ", "
        rest += ", ".join(f"0x{fifth[at : at + 2]}" for at in range(0, 12, 2))
        yield f"static const GUID FACT_IID_{name} = {{0x{first}, 0x{second}, 0x{third}, {{{rest}}}}};"
