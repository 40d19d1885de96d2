"""An array of signed integers."""

from .base import IntegerArray


class IntArray(IntegerArray):
    """const INT*."""

    directml = "INT"
    limits = (-(2**31), 2**31 - 1)


TYPE = IntArray()
