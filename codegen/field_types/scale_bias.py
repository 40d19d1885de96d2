"""A scale and a bias, applied to each element of an input."""

from ..model import Field
from .base import Binding, FieldType, Taken


class ScaleBias(FieldType):
    """DML_SCALE_BIAS: two finite numbers, or nothing where the field is optional. No expression reads them."""

    bound = "scaling"
    directml = "DML_SCALE_BIAS"
    dumped = "scale_bias"
    pointed = True
    toml = (int, float)
    scales = True
    may_be_nothing = True
    errors = (*FieldType.errors, "finite")
    summary = "(scale, bias)"
    held = "ScaleBias"
    given = "ScaleBias | tuple[float, float]"
    argument = "tuple[_Number, _Number]"

    def taken(self, field: Field, binding: Binding) -> Taken:
        name = field.python
        return Taken(
            (f"float {name}[2]", f"bint {name}_given"),
            f"take_scale_bias(<object>keywords.{name}, {field.optional}, a.{name}, &a.{name}_given)",
            f"(number_of(a.{name}[0]), number_of(a.{name}[1])) if a.{name}_given else None",
        )


TYPE = ScaleBias()
