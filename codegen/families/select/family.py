"""select: some elements of the input, and where they are: ``choose`` says which."""

from __future__ import annotations

from typing import ClassVar

from ...diagnostics import Diagnostics
from ...expr.types import Kind
from ...model import Facts, Operator
from ..base import Evaluated, KernelTable, Told

FIRST, NONZERO = "first", "nonzero"


class Select(Evaluated):
    """The family."""

    name = "select"
    told: ClassVar = {"row": Kind.INT, "found": Kind.INT}

    def plan(self, operator: Operator, facts: Facts, diagnostics: Diagnostics) -> Told:
        """Reads what is chosen, and the roles."""
        kernel = KernelTable(operator, facts, diagnostics)
        table = kernel.table
        if table is None:
            return Told(kernel.definition)
        if kernel.word("choose", table.choice("choose", (FIRST, NONZERO))) == FIRST:
            kernel.role("axis", "axis", Kind.INT)
            kernel.role("values", "output_value", Kind.TENSOR)
            kernel.role("places", "output_index", Kind.TENSOR)
            if table.has("direction"):
                kernel.role("direction", "", Kind.ENUM)
        else:
            kernel.role("count", "output_count", Kind.TENSOR)
            kernel.role("places", "output_coordinates", Kind.TENSOR)
        kernel.finish()
        return Told(kernel.definition)


FAMILY = Select()
