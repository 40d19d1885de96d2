"""Several tensors: inputs or outputs."""

from ..expr.types import Kind
from .base import Tensors


class TensorArray(Tensors):
    """const DML_TENSOR_DESC*, with a count beside it. Expressions read ``count(t)``, and each of them as ``t[k]``."""

    bound = "expressions"
    kind = Kind.TENSORS
    dumped = "tensors"
    several = True
    held = "tuple[TensorDesc, ...]"
    given = "Sequence[TensorDesc]"
    argument = "_Tensors"


TYPE = TensorArray()
