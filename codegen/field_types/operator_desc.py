"""The desc of another operator: a fused activation."""

from .base import FieldType


class OperatorDesc(FieldType):
    """const DML_OPERATOR_DESC*."""

    directml = "DML_OPERATOR_DESC"


TYPE = OperatorDesc()
