"""The descs of several operators: activations."""

from ..expr.types import Kind
from .base import Descs


class OperatorDescArray(Descs):
    """const DML_OPERATOR_DESC*, with a length that the spec states. Expressions read ``len``."""

    kind = Kind.OPERATORS
    array = True
    errors = (*Descs.errors, "length")
    summary = "sequence of descs of activations"
    held = "tuple[OperatorDesc, ...]"
    given = "Sequence[OperatorDesc]"
    argument = "_Activations"


TYPE = OperatorDescArray()
