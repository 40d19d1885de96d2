"""The types of fields: a file for each, found by its name, with everything that codegen knows of the type."""

from collections.abc import Iterable
from importlib import import_module
from pkgutil import iter_modules
from typing import Final

from ..model import CatalogueField, ErrorText, Field
from .base import Binding, FieldType, Taken

__all__ = [
    "CHOSEN", "COUNT", "FIELD_TYPES", "MEMBER_OF", "PLAIN", "Binding", "FieldType", "Taken", "can_have", "is_array",
    "names_of_types", "type_of",
]  # fmt: skip

CHOSEN: Final = "uint_array"
"""The type of sizes that a caller chooses."""
COUNT: Final = "uint"
"""The type of a member that counts the entries of an array."""
MEMBER_OF: Final = "enum:"
"""Before the name of an enum: the type of its members."""

FIELD_TYPES: Final[dict[str, FieldType]] = {
    module.name: import_module(f".{module.name}", __name__).TYPE
    for module in iter_modules(__path__)
    if module.name != "base"
}
"""The types by their names in specs/catalogue.toml; ``enum`` is the type of every ``enum:NAME``."""

PLAIN: Final = tuple(name for name in FIELD_TYPES if name != "enum")
"""The names in specs/catalogue.toml that are whole."""


def names_of_types(enums: Iterable[str]) -> tuple[str, ...]:
    """The names in specs/catalogue.toml, where there are these enums."""
    return (*PLAIN, *(f"{MEMBER_OF}{name}" for name in enums))


def can_have(field: Field, error: ErrorText) -> bool:
    """Whether a field of this type can have an implicit error."""
    shape = field.shape
    if field.is_tensor:
        return shape in error.applies or "tensor" in error.applies
    if field.may_be_none and error.id == "required":
        return False
    return shape in error.applies if shape not in FIELD_TYPES else error.id in type_of(field).errors


def type_of(field: Field | CatalogueField) -> FieldType:
    """The type of a field."""
    return FIELD_TYPES[field.type.partition(":")[0]]


def is_array(field: Field | CatalogueField) -> bool:
    """Whether the struct has a pointer to several values, and another member that counts them."""
    kind = type_of(field)
    return kind.array or kind.several
