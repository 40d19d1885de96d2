"""Several tensors."""

from __future__ import annotations

from dmlcy._field_types.base import FieldType


class TensorArray(FieldType):
    """const DML_TENSOR_DESC*, with a count beside it."""

    directml = "tensors"

    def words(self, role: str, length: str | None) -> str:
        return f"array of {role} {self.directml}"


TYPE = TensorArray
