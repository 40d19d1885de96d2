"""An array of unsigned integers."""

from ..expr.types import Kind, Symbol
from ..model import Facts, Field
from .base import Binding, FieldType, Taken, entries, interval


class UintArray(FieldType):
    """const UINT*, with a length that the spec states."""

    directml = "UINT"
    toml = (int,)
    errors = (*FieldType.errors, "range", "length")
    array = ranged = True
    number = int
    held = "tuple[int, ...]"
    given = "int | Sequence[int]"
    argument = "_Int | _Ints"

    def symbol(self, field: Field, facts: Facts) -> Symbol | None:
        count = None if field.length is None else field.length.node
        return Symbol(Kind.VECTOR, "field", interval(field), count=count)

    def taken(self, field: Field, binding: Binding) -> Taken:
        return entries(self, field, binding)


TYPE = UintArray()
