"""An array of signed integers."""

from ..expr.types import Kind, Symbol
from ..model import Facts, Field
from .base import FieldType, interval


class IntArray(FieldType):
    """const INT*, with a length that the spec states."""

    directml = "INT"
    toml = (int,)
    array = True
    number = int

    def symbol(self, field: Field, facts: Facts) -> Symbol | None:
        count = None if field.length is None else field.length.node
        return Symbol(Kind.VECTOR, "field", interval(field), count=count)


TYPE = IntArray()
