"""The types of fields: a file for each, found by its name, with everything that the package knows of the type."""

from functools import cache
from importlib import import_module

from dmlcy._field_types.base import FieldType

__all__ = ["FieldType", "type_of"]


@cache
def type_of(name: str) -> FieldType:
    """The type of this name in specs/catalogue.toml, where a colon parts the type from the enum of the field."""
    file, _, enum = name.partition(":")
    kind: type[FieldType] = import_module(f"{__name__}.{file}").TYPE
    return kind(enum)
