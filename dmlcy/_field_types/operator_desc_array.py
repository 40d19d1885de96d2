"""The descs of several operators: activations."""

from __future__ import annotations

from dmlcy._field_types.base import FieldType


class OperatorDescArray(FieldType):
    """const DML_OPERATOR_DESC*, with a count beside it."""

    directml = "operator descs"
    array = True


TYPE = OperatorDescArray
