"""The parts that sums of products share: operands, less their zero points, and tensors of parts of the output."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Final

from dmlcy._families.blocks import At
from dmlcy._families.given import Given
from dmlcy._field_types.float import single
from dmlcy._types import Array, Number

LIMIT: Final = 1 << 20
"""Numbers of a part of a tensor: 8 MB."""
SIDE: Final = 1024
"""Rows and columns of a part of a matrix, if the matrix has as many."""


class Sums(ABC):
    """The sums of a use, over axes of the output that may be split or in another order.

    ``absolute``: of the absolute values of the products.
    """

    def __init__(self, given: Given, output: str, absolute: bool = False) -> None:
        self.given = given
        self.m = given.arithmetic
        self.absolute = absolute
        self.output_sizes = tuple(given.values[output].sizes)

    @property
    @abstractmethod
    def sizes(self) -> tuple[int, ...]:
        """The sizes of the axes."""

    @property
    @abstractmethod
    def products(self) -> int:
        """How many products are added in all; those with padding count."""

    @abstractmethod
    def parts(self, part: At | None = None) -> Iterator[At]:
        """Ats of the output, or of a part of it, that are computed one after another."""

    @abstractmethod
    def viewed(self, result: Array) -> Array:
        """An array with the sizes of the output, as a view over these axes."""

    @abstractmethod
    def output(self, values: Array) -> Array:
        """Numbers over these axes, over those of the output."""

    @abstractmethod
    def of(self, at: At) -> Array:
        """The sums of a part of the output."""

    @abstractmethod
    def entries(self, role: str, at: At) -> Number:
        """The elements of a tensor that go with a part of the output, as numbers; None without the tensor."""

    def array(self, role: str) -> Array | None:
        """The tensor that plays a role."""
        name = self.given.told.roles.get(role)
        return None if name is None else self.given.arrays.get(name)

    def is_whole(self, role: str) -> bool:
        """Whether the elements of the tensor that plays a role are integers."""
        array = self.array(role)
        return array is not None and array.dtype.kind != "f"

    def operand(self, array: Array, zero: Number) -> Number:
        """Elements as numbers, less their zero point."""
        found = self.m.of(array)
        if zero is not None:
            found = self.m.subtract(found, zero)
        return self.m.absolute(found) if self.absolute else found

    def number(self, role: str) -> float | None:
        """The attribute that plays a role, rounded to FLOAT32; None without it."""
        return single(self.given.field(role)) if role in self.given.told.roles else None
