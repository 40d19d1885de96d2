"""A truth value."""

from ..expr.types import Kind, Symbol
from ..model import Facts, Field
from .base import Binding, FieldType, Taken


class Bool(FieldType):
    """BOOL."""

    bound = "flag"
    directml = "BOOL"
    dumped = "boolean"
    toml = (bool,)
    summary = held = given = "bool"
    argument = "_Bool"
    variable = "bint"

    def symbol(self, field: Field, facts: Facts) -> Symbol | None:
        return Symbol(Kind.BOOL, "field")

    def taken(self, field: Field, binding: Binding) -> Taken:
        name = field.python
        return Taken((f"bint {name}",), f"take_bool(<object>keywords.{name}, &a.{name})", f"a.{name}")


TYPE = Bool()
