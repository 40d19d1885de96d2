"""A member of one of DirectML's enums: the type ``enum:NAME``."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from .. import model
from ..expr.text import alternatives
from ..expr.types import Kind, Symbol
from ..model import DTYPE_ENUM, Facts, Field
from .base import Binding, FieldType, Taken


class Enum(FieldType):
    """An enum. DML_TENSOR_DATA_TYPE is one too, whose members expressions know as data types."""

    bound = "member"
    directml = "enum"
    dumped = "named"
    toml = (str,)
    errors = (*FieldType.errors, "level", "member", "same-dtype")

    def symbol(self, field: Field, facts: Facts) -> Symbol | None:
        if field.enum is None or field.enum == DTYPE_ENUM:
            return Symbol(Kind.DTYPE, "field")
        return Symbol(Kind.ENUM, "field", members=tuple(member.name for member in facts.enums[field.enum].members))

    def taken(self, field: Field, binding: Binding) -> Taken:
        name, enum = field.python, binding.enum(field.enum or "")
        return Taken(
            (f"int64_t {name}",),
            f"take_enum(<object>keywords.{name}, {enum.python}, {enum.python}_NAMES, &a.{name})",
            f"{enum.python}(a.{name})",
            binding.members(enum),
        )

    def said(self, field: Field, binding: Binding) -> tuple[str, str]:
        enum = binding.enum(field.enum or "")
        return f"{enum.python} or its name", f"One of {alternatives([member.name for member in enum.members])}."

    def annotation(self, field: Field, enum: Callable[[str], model.Enum]) -> str:
        return enum(field.enum or "").python

    def accepted(self, field: Field, enum: Callable[[str], model.Enum]) -> str:
        return f"{self.annotation(field, enum)} | str"

    def argument_type(self, field: Field, enum: Callable[[str], model.Enum]) -> str:
        return f"_{self.annotation(field, enum)}"

    def evaluated(self, value: Any) -> Any:
        return SimpleNamespace(name=value)


TYPE = Enum()
