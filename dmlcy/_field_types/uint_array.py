"""An array of unsigned integers."""

from __future__ import annotations

from dmlcy._field_types.integers import IntegerArray


class UintArray(IntegerArray):
    """const UINT*."""

    directml = "UINT"
    serialized = "UIntArray"
    element = "uint32_t"


TYPE = UintArray
