"""The desc of another operator: a fused activation."""

from ..expr.types import Kind
from .base import Descs


class OperatorDesc(Descs):
    """const DML_OPERATOR_DESC*."""

    kind = Kind.OPERATOR
    summary = "desc of an activation"
    held = "OperatorDesc"
    given = "OperatorDesc"
    argument = "_Activation"


TYPE = OperatorDesc()
