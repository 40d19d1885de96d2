"""Matrices of quantized integers that become FLOAT32 as loops need them."""

from collections.abc import Sequence
from typing import final

@final
class Owner:
    """A prologue, and the matrix that it makes."""

@final
class QuantizedMatrix:
    """Makes the prologue of a matrix for the addresses of its tensors.

    ``dtype``, ``step``: the number of its data type, and the elements from a row to the next. ``scale``, ``zero``: of
    the factors the data type, rows and columns that share one, and the elements from a row and a column to the next. A
    zero point that is the same for all may be an integer.
    """

    def __init__(self, dtype: int, step: int, scale: Sequence[int], zero: Sequence[int] | int) -> None: ...
    def __call__(self, addresses: Sequence[int]) -> tuple[object, int]:
        """The owner of a prologue, and its address, for the elements at these addresses."""
