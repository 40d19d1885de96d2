"""An array of unsigned integers."""

from .base import IntegerArray


class UintArray(IntegerArray):
    """const UINT*."""

    directml = "UINT"


TYPE = UintArray()
