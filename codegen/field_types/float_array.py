"""An array of numbers of single precision."""

from ..expr.types import Kind, Symbol
from ..model import Facts, Field
from .base import Binding, FieldType, Taken


class FloatArray(FieldType):
    """const FLOAT*, with a length that the spec states; all entries are finite, and one number fills the array."""

    bound = "reals"
    directml = "FLOAT"
    dumped = "numbers"
    of_elements = True
    toml = (int, float)
    errors = (*FieldType.errors, "finite", "length")
    array = long = True
    number = float
    summary = "float or sequence of floats"
    held = "tuple[float, ...]"
    given = "float | Sequence[float]"
    argument = "_Number | _Numbers"

    def symbol(self, field: Field, facts: Facts) -> Symbol | None:
        return Symbol(Kind.FLOATS, "field", count=None if field.length is None else field.length.node)

    def taken(self, field: Field, binding: Binding) -> Taken:
        name, count = field.python, binding.count(field)
        return Taken(
            (f"float {name}[MAX_RANK]",),
            f"take_floats(<object>keywords.{name}, {count}, a.{name})",
            f"numbers_of({count}, a.{name})",
        )


TYPE = FloatArray()
