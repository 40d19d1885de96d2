"""The descs of several operators: activations."""

from .base import FieldType


class OperatorDescArray(FieldType):
    """const DML_OPERATOR_DESC*, with a count beside it."""

    directml = "DML_OPERATOR_DESC"


TYPE = OperatorDescArray()
