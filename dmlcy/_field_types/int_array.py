"""An array of signed integers."""

from __future__ import annotations

from dmlcy._field_types.integers import IntegerArray


class IntArray(IntegerArray):
    """const INT*."""

    directml = "INT"
    serialized = "IntArray"
    element = "int32_t"
    limits = (-(2**31), 2**31 - 1)


TYPE = IntArray
