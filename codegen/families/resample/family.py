"""resample: elements between those of a tensor, along each axis by itself."""

from __future__ import annotations

from ...diagnostics import Diagnostics
from ...expr.types import Kind
from ...model import Facts, Operator
from ..base import Evaluated, KernelTable, Told


class Resample(Evaluated):
    """The family."""

    name = "resample"

    def plan(self, operator: Operator, facts: Facts, diagnostics: Diagnostics) -> Told:
        """Reads the roles."""
        kernel = KernelTable(operator, facts, diagnostics)
        if kernel.table is not None:
            kernel.role("mode", "interpolation_mode", Kind.ENUM)
            kernel.role("factors", "factors", Kind.VECTOR)
        kernel.finish()
        return Told(kernel.definition)


FAMILY = Resample()
