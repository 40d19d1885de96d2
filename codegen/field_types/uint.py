"""An unsigned integer."""

from ..expr.types import Kind, Symbol
from ..model import Facts, Field
from .base import Binding, FieldType, Taken, interval, limits


class Uint(FieldType):
    """UINT."""

    directml = "UINT"
    toml = (int,)
    errors = (*FieldType.errors, "range")
    ranged = True
    number = int
    held = given = "int"
    argument = "_Int"
    variable = "int64_t"

    def symbol(self, field: Field, facts: Facts) -> Symbol | None:
        return Symbol(Kind.INT, "field", interval(field))

    def taken(self, field: Field, binding: Binding) -> Taken:
        name = field.python
        take = f"take_uint({name}, {field.minimum}, {field.maximum}, &a.{name})"
        return Taken((f"int64_t {name}",), take, f"a.{name}", "int", limits(self, field))


TYPE = Uint()
