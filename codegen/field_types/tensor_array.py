"""Several tensors."""

from .base import FieldType


class TensorArray(FieldType):
    """const DML_TENSOR_DESC*, with a count beside it."""

    directml = "DML_TENSOR_DESC"


TYPE = TensorArray()
