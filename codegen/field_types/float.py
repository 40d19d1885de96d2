"""A number of single precision."""

from ..expr.types import Kind, Symbol
from ..model import Facts, Field
from .base import Binding, FieldType, Taken


class Float(FieldType):
    """FLOAT: finite, unless the spec says that it may be infinite or no number."""

    bound = "real"
    directml = "FLOAT"
    dumped = "number"
    toml = (int, float)
    errors = (*FieldType.errors, "finite")
    number = float
    real = True
    summary = held = given = "float"
    argument = "_Number"
    variable = "float"

    def symbol(self, field: Field, facts: Facts) -> Symbol | None:
        return Symbol(Kind.FLOAT, "field")

    def taken(self, field: Field, binding: Binding) -> Taken:
        name = field.python
        take = f"take_float(<object>keywords.{name}, {field.infinite}, &a.{name})"
        return Taken((f"float {name}",), take, f"a.{name}")


TYPE = Float()
