"""The types of fields: a file for each, found by its name, with everything that codegen knows of the type."""

from importlib import import_module
from pkgutil import iter_modules
from typing import Final

from ..model import CatalogueField, Field
from .base import Binding, FieldType, Taken

__all__ = ["FIELD_TYPES", "PLAIN", "Binding", "FieldType", "Taken", "type_of"]

FIELD_TYPES: Final[dict[str, FieldType]] = {
    module.name: import_module(f".{module.name}", __name__).TYPE
    for module in iter_modules(__path__)
    if module.name != "base"
}
"""The types by their names in specs/catalogue.toml; ``enum`` is the type of every ``enum:NAME``."""

PLAIN: Final = tuple(name for name in FIELD_TYPES if name != "enum")
"""The names in specs/catalogue.toml that are whole."""


def type_of(field: Field | CatalogueField) -> FieldType:
    """The type of a field."""
    return FIELD_TYPES[field.type.partition(":")[0]]
