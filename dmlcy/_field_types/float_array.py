"""An array of numbers of single precision."""

from __future__ import annotations

from dmlcy._field_types.base import FieldType


class FloatArray(FieldType):
    """const FLOAT*."""

    directml = "FLOAT"
    array = True


TYPE = FloatArray
