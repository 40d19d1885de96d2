"""An array of numbers of single precision."""

from .base import FieldType


class FloatArray(FieldType):
    """const FLOAT*, with a length that the spec states."""

    directml = "FLOAT"
    toml = (int, float)
    array = True
    number = float


TYPE = FloatArray()
