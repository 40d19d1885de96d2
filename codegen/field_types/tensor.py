"""A tensor: an input or an output."""

from collections.abc import Callable

from ..expr.types import Kind, Symbol
from ..model import Enum, Facts, Field
from .base import FieldType


class Tensor(FieldType):
    """DML_TENSOR_DESC. How a call takes tensors is the plan of the operator, not that of a field."""

    directml = "DML_TENSOR_DESC"
    given = argument = "TensorDesc"

    def symbol(self, field: Field, facts: Facts) -> Symbol | None:
        return Symbol(Kind.TENSOR, "field")

    def annotation(self, field: Field, enum: Callable[[str], Enum]) -> str:
        return "TensorDesc | None" if field.optional else "TensorDesc"


TYPE = Tensor()
