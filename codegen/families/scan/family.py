"""scan: each element becomes the reduction of all elements up to it along an axis; ``reduction`` says which one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ...diagnostics import Diagnostics
from ...expr.types import Kind
from ...model import Facts, Operator
from ..base import Definition, Evaluated, KernelTable, Moved

REDUCTIONS = ("sum", "product")


@dataclass(frozen=True, slots=True)
class ScanKernel:
    """The run template's view: the roles, and what the runtime is told."""

    axis: str
    exclusive: str
    decreasing: str
    product: bool
    definition: Definition


class Scan(Moved, Evaluated):
    """The family."""

    name = "scan"
    told: ClassVar = {"overflowed": Kind.BOOL}

    def plan(self, operator: Operator, facts: Facts, diagnostics: Diagnostics) -> ScanKernel:
        """Reads the reduction and the roles."""
        kernel = KernelTable(operator, facts, diagnostics)
        reduction = "sum" if kernel.table is None else kernel.table.choice("reduction", REDUCTIONS)
        kernel.word("reduction", reduction)
        axis = kernel.role("axis", "axis", Kind.INT)
        direction = kernel.role("direction", "axis_direction", Kind.ENUM)
        exclusive = kernel.role("exclusive", "exclusive", Kind.BOOL)
        kernel.finish()
        decreasing = f"a.{direction} == {kernel.members(direction).get('DECREASING', '0')}"
        return ScanKernel(axis, exclusive, decreasing, reduction == "product", kernel.definition)

    def needs(self, kernel: ScanKernel) -> tuple[str, ...]:
        """No let."""
        return ()


FAMILY = Scan()
