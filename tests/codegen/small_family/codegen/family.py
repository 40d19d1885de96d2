"""line: each element of a line becomes one element; ``value`` gives it, as an expression of the element ``x``.

The loops take elements of 32 bits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...diagnostics import Diagnostics
from ...expr.types import Kind
from ...model import Facts, Operator
from ..base import Definition, KernelTable, Looped, Picture, Use, local

X = {"x": local(Kind.INT, -(2**31), 2**31 - 1)}


@dataclass(frozen=True, slots=True)
class LineKernel:
    """The view of both templates."""

    name: str
    value: str
    definition: Definition


class Line(Looped):
    """The family."""

    name = "line"

    def plan(self, operator: Operator, facts: Facts, diagnostics: Diagnostics) -> LineKernel:
        """Reads the expression."""
        kernel = KernelTable(operator, facts, diagnostics)
        value = "0" if kernel.table is None else kernel.expression(kernel.table, "value", X, Kind.INT)[1]
        kernel.finish()
        return LineKernel(f"{operator.python}_line", value, kernel.definition)

    def covers(self, operator: Operator, kernel: LineKernel) -> str | None:
        """The first data type that is not one of 32 bits."""
        dtypes = [dtype for rows in operator.types.values() for row in rows for dtype in row.dtypes]
        others = [dtype for dtype in dtypes if not dtype.endswith("32")]
        return f"family line has none for {others[0]}" if others else super().covers(operator, kernel)

    def needs(self, kernel: LineKernel) -> Sequence[str]:
        """No let."""
        return ()

    def pieces(self, kernel: LineKernel) -> None:
        """No axis."""

    def module(self, kernels: Sequence[LineKernel]) -> Mapping[str, Any]:
        """A kernel per operator."""
        return {"kernels": kernels}

    def picture(self, kernel: LineKernel, use: Use) -> Picture | None:
        """Each element by itself."""
        return None


FAMILY = Line()
