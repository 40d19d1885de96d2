"""A tensor: an input or an output."""

from ..expr.types import Kind
from .base import Tensors


class Tensor(Tensors):
    """DML_TENSOR_DESC."""

    kind = Kind.TENSOR
    held = given = argument = "TensorDesc"


TYPE = Tensor()
