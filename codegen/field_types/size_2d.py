"""A height and a width."""

from types import SimpleNamespace
from typing import Any

from ..expr.types import Kind, Symbol
from ..model import Facts, Field
from .base import Binding, FieldType, Taken, interval


class Size2d(FieldType):
    """DML_SIZE_2D. Expressions read ``.height`` and ``.width``; one integer gives both."""

    bound = "area"
    directml = "DML_SIZE_2D"
    dumped = "size"
    toml = (int,)
    errors = (*FieldType.errors, "range")
    ranged = True
    number = int
    summary = "(height, width), or an int for both"
    held = "Size2D"
    given = "int | tuple[int, int]"
    argument = "_Int | tuple[_Int, _Int]"

    def symbol(self, field: Field, facts: Facts) -> Symbol | None:
        return Symbol(Kind.SIZE_2D, "field", interval(field))

    def taken(self, field: Field, binding: Binding) -> Taken:
        name, low, high = field.python, field.minimum, field.maximum
        return Taken(
            (f"int64_t {name}_height", f"int64_t {name}_width"),
            f"take_size_2d(<object>keywords.{name}, {low}, {high}, &a.{name}_height, &a.{name}_width)",
            f"(a.{name}_height, a.{name}_width)",
        )

    def evaluated(self, value: Any) -> Any:
        height, width = value if isinstance(value, list) else (value, value)
        return SimpleNamespace(height=height, width=width)


TYPE = Size2d()
