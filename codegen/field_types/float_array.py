"""An array of numbers of single precision."""

from ..expr.types import Kind, Symbol
from ..model import Facts, Field
from .base import Binding, FieldType, Taken


class FloatArray(FieldType):
    """const FLOAT*, with a length that the spec states; all entries are finite. A number fills it, or is one entry."""

    bound = "reals"
    directml = "FLOAT"
    dumped = "numbers"
    of_elements = True
    toml = (int, float)
    errors = (*FieldType.errors, "finite", "length")
    array = long = reals = True
    number = float
    summary = "float or sequence of floats"
    held = "tuple[float, ...]"
    given = "float | Sequence[float]"
    argument = "_Number | _Numbers"

    def symbol(self, field: Field, facts: Facts) -> Symbol | None:
        return Symbol(Kind.FLOATS, "field", count=None if field.length is None else field.length.node)

    def taken(self, field: Field, binding: Binding) -> Taken:
        name, count = field.python, binding.count(field)
        take = "take_floats" if field.fills else "take_each_float"
        return Taken(
            (f"float {name}[MAX_RANK]",),
            f"{take}(<object>keywords.{name}, {count}, a.{name})",
            f"numbers_of({count}, a.{name})",
        )


TYPE = FloatArray()
