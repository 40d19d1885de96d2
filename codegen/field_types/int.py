"""A signed integer."""

from ..expr.types import Kind, Symbol
from ..model import Facts, Field
from .base import FieldType, interval


class Int(FieldType):
    """INT."""

    directml = "INT"
    toml = (int,)
    number = int

    def symbol(self, field: Field, facts: Facts) -> Symbol | None:
        return Symbol(Kind.INT, "field", interval(field))


TYPE = Int()
