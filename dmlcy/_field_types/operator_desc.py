"""The desc of another operator: a fused activation."""

from __future__ import annotations

from dmlcy._field_types.base import FieldType


class OperatorDesc(FieldType):
    """const DML_OPERATOR_DESC*."""

    directml = "operator desc"


TYPE = OperatorDesc
