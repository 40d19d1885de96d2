"""A number of the data type that another field holds."""

from ..expr.types import Kind, Symbol
from ..model import Facts, Field
from .base import Binding, FieldType, Taken


class ScalarUnion(FieldType):
    """DML_SCALAR_UNION."""

    bound = "scalar"
    directml = "DML_SCALAR_UNION"
    dumped = "scalar"
    of_elements = True
    toml = (int, float)
    errors = (*FieldType.errors, "value")
    number = float
    typed = True
    summary = "number"
    held = given = "int | float"
    argument = "_Number"

    def symbol(self, field: Field, facts: Facts) -> Symbol | None:
        return Symbol(Kind.SCALAR, "field")

    def taken(self, field: Field, binding: Binding) -> Taken:
        name, dtype = field.python, binding.dtype(field)
        return Taken(
            (f"unsigned char {name}[8]",),
            f"take_scalar(<object>keywords.{name}, {dtype}, a.{name})",
            f"element_of({dtype}, a.{name})",
        )

    def said(self, field: Field, binding: Binding) -> tuple[str, str]:
        return self.summary, f"A value of the data type of ``{binding.first_tensor()}``."


TYPE = ScalarUnion()
