"""A tensor: an input or an output."""

from ..expr.types import Kind
from .base import Tensors


class Tensor(Tensors):
    """DML_TENSOR_DESC."""

    bound = "expression"
    kind = Kind.TENSOR
    dumped = "tensor"
    may_be_nothing = True
    held = given = argument = "TensorDesc"


TYPE = Tensor()
