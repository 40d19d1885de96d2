"""The facts that the harness needs of an operator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.calls import Absent, Peer
from benchmarks.cells import Array, Cell, Variant, dtype_of, placed, whole_numbers
from benchmarks.peers import as_array, missing

Inputs = list[Array]
Library = Callable[[Cell, Inputs, Any], Peer]  # from the cell, its inputs and a tensor for the result, or several


def one_tensor(cell: Cell) -> Inputs:
    """The input of most operators: whole numbers in the cell's layout."""
    return [placed(whole_numbers(cell.sizes, dtype_of(cell)), cell.layout)]


def whole(cell: Cell, result: Any) -> Array:
    """The part of a result that is compared: all of it."""
    return as_array(result)


@dataclass(frozen=True, slots=True)
class Operator:
    """An operator: its cells, its inputs, its peers, and in how many units in the last place results may differ.

    ``compared``: what is compared of a result of any library.
    """

    name: str
    variants: Sequence[Variant]
    numpy: Library
    torch: Library
    onnxruntime: Library
    inputs: Callable[[Cell], Inputs] = one_tensor
    ulp: int = 0
    compared: Callable[[Cell, Any], Array] = whole

    @property
    def cells(self) -> list[Cell]:
        return [cell for variant in self.variants for cell in variant.cells(self.name)]

    def peer(self, name: str, cell: Cell, inputs: Inputs, out: Any) -> Peer:
        """How this library does the cell's work, or why it does not."""
        reason = missing(name)
        library: Library = getattr(self, name)
        return Absent(reason) if reason else library(cell, inputs, out)

    def same(self, actual: Array, expected: Array) -> bool:
        """Whether two results are of one type and size, and as near as they must be."""
        if (actual.dtype, actual.shape) != (expected.dtype, expected.shape):
            return False
        if self.ulp == 0:
            return np.array_equal(actual, expected)
        return bool(np.all(np.abs(actual - expected) <= self.ulp * np.spacing(np.abs(expected))))
