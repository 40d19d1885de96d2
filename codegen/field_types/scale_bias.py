"""A scale and a bias, applied to each element of an input."""

from .base import FieldType


class ScaleBias(FieldType):
    """DML_SCALE_BIAS: two finite numbers, or nothing where the field is optional. No expression reads them."""

    directml = "DML_SCALE_BIAS"
    toml = (int, float)
    scales = True
    errors = (*FieldType.errors, "finite")
    summary = "(scale, bias)"
    held = "ScaleBias"
    given = "ScaleBias | tuple[float, float]"
    argument = "tuple[_Number, _Number]"


TYPE = ScaleBias()
