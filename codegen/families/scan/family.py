"""scan: each element becomes the reduction of all elements up to it along an axis; ``reduction`` says which one."""

from __future__ import annotations

from typing import ClassVar

from ...diagnostics import Diagnostics
from ...expr.types import Kind
from ...model import Facts, Operator
from ..base import Evaluated, KernelTable, Told

REDUCTIONS = ("sum", "product")


class Scan(Evaluated):
    """The family."""

    name = "scan"
    told: ClassVar = {"overflowed": Kind.BOOL}

    def plan(self, operator: Operator, facts: Facts, diagnostics: Diagnostics) -> Told:
        """Reads the reduction and the roles."""
        kernel = KernelTable(operator, facts, diagnostics)
        if kernel.table is not None:
            kernel.word("reduction", kernel.table.choice("reduction", REDUCTIONS))
            kernel.role("axis", "axis", Kind.INT)
            kernel.role("direction", "axis_direction", Kind.ENUM)
            kernel.role("exclusive", "exclusive", Kind.BOOL)
            kernel.finish()
        return Told(kernel.definition)


FAMILY = Scan()
