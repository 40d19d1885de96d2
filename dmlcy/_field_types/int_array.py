"""An array of signed integers."""

from __future__ import annotations

from dmlcy._field_types.base import FieldType


class IntArray(FieldType):
    """const INT*."""

    directml = "INT"
    array = True


TYPE = IntArray
