"""window_gather: each position of a window becomes a column."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final

import numpy as np

from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._facts.rows import Operator
from dmlcy._families.base import Family, Result
from dmlcy._families.given import Given
from dmlcy._families.pieces import Cut, Cutting
from dmlcy._families.windows import WindowRoles, cut_columns, roles_of, slide
from dmlcy._types import Array


class WindowGather(Family):
    """The family."""

    def computes(self, desc: OperatorDesc) -> bool:
        """No: elements move."""
        return False

    def evaluate(self, given: Given, output: str) -> Result:
        """The elements under each position of a window, as a column; padding is 0."""
        source = given.input
        window = slide(given, source.shape)
        assert window.blocks is not None
        lead = source.shape[: -len(window.sizes)]
        result: Array = np.zeros((*lead, math.prod(window.sizes), math.prod(window.blocks)), source.dtype)
        columns = result.reshape(*lead, math.prod(window.sizes), *window.blocks)
        bits = f"u{source.itemsize}"
        for row, positions, places in window.taps(window.blocks):
            columns[..., row, *positions].view(bits)[...] = source[..., *places].view(bits)
        return Result(result.reshape(given.output_sizes), moved=True)

    def window(self, operator: Operator) -> WindowRoles:
        """The output has one column for each position."""
        return roles_of(operator)

    def cuts(self, use: Cutting) -> Iterator[Cut]:
        """The first spatial axis."""
        yield from cut_columns(use)


FAMILY: Final = WindowGather()
