"""Products of matrices: the last two axes. Tensors of rows or columns lie along one of these axes."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from dmlcy._families.blocks import At, cut, ranges, steps_of, whole
from dmlcy._families.contract.sums import LIMIT, SIDE, Sums
from dmlcy._families.given import Given
from dmlcy._types import Array, Number


class Matrices(Sums):
    """Rows of the left matrix times columns of the right one."""

    def __init__(self, given: Given, output: str, absolute: bool = False) -> None:
        super().__init__(given, output, absolute)
        self.left, self.right = self._matrix("left"), self._matrix("right")
        rows, columns = self.output_sizes[-2:]
        self.depth = min(self.left.shape[-1], 2 * SIDE)
        wide = min(columns, max(SIDE, LIMIT // max(self.depth, min(rows, SIDE))))
        high = min(rows, max(SIDE, LIMIT // max(self.depth, wide)))
        matrices = LIMIT // max(high * self.depth, self.depth * wide, high * wide)
        self.steps = (*steps_of(self.output_sizes[:-2], max(1, matrices)), high, wide)

    def _matrix(self, role: str) -> Array:
        found = self.array(role)
        assert found is not None
        turned = self.given.is_member(f"{role}_transposed", "TRANSPOSE")
        return np.swapaxes(found, -1, -2) if turned else found

    @property
    def sizes(self) -> tuple[int, ...]:
        """The sizes of the output."""
        return self.output_sizes

    @property
    def products(self) -> int:
        """For each element of the output a row times a column."""
        return int(math.prod(self.output_sizes) * self.left.shape[-1])

    def parts(self, part: At | None = None) -> Iterator[At]:
        """Rows and columns, or some whole matrices."""
        return cut(whole(self.sizes) if part is None else part, self.steps)

    def viewed(self, result: Array) -> Array:
        """The array itself."""
        return result

    def output(self, values: Array) -> Array:
        """The numbers themselves."""
        return values

    def of(self, at: At) -> Array:
        """The products, for some columns of the left matrix after others."""
        *batch, rows, columns = at
        zeros = self.entries("left_zero", at), self.entries("right_zero", at)
        total: Number = None
        for some in ranges(slice(0, self.left.shape[-1]), self.depth):
            left = self.operand(self.left[(*batch, rows, some)], zeros[0])
            right = self.operand(self.right[(*batch, some, columns)], zeros[1])
            product = self.m.matmul(left, right)
            total = product if total is None else self.m.add(total, product)
        return np.asarray(total)

    def entries(self, role: str, at: At) -> Number:
        """All elements, those of some rows (of the right matrix: columns), or the only one."""
        array = self.array(role)
        if array is None:
            return None
        if role == "added":
            return self.m.of(array[at])
        if math.prod(array.shape) == 1:
            return self.m.of(array.reshape(1, 1))
        if role.startswith("right"):
            return self.m.of(array.reshape(1, -1)[:, at[-1]])
        return self.m.of(array.reshape(-1, 1)[at[-2]])
