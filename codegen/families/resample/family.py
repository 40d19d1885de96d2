"""resample: elements between those of a tensor, along each axis by itself."""

from __future__ import annotations

from typing import ClassVar, Final

from ...diagnostics import Diagnostics
from ...expr.types import Kind
from ...model import Facts, Operator
from ..base import Evaluated, KernelTable, Told

PERHAPS: Final = {
    "before": ("input_pixel_offsets", Kind.FLOATS),
    "after": ("output_pixel_offsets", Kind.FLOATS),
    "rounding": ("rounding_direction", Kind.ENUM),
    "smooth": ("antialiased", Kind.BOOL),
}
"""Roles that are not played if the operator does not have the field."""


class Resample(Evaluated):
    """The family."""

    name = "resample"
    told: ClassVar = {"odd_tie": Kind.BOOL, "near": Kind.BOOL, "edge": Kind.BOOL}

    def plan(self, operator: Operator, facts: Facts, diagnostics: Diagnostics) -> Told:
        """Reads the roles."""
        kernel = KernelTable(operator, facts, diagnostics)
        table = kernel.table
        if table is not None:
            if table.has("gives"):
                kernel.word("gives", table.choice("gives", ("elements", "gradient")))
            kernel.role("mode", "interpolation_mode", Kind.ENUM)
            if table.has("factors"):
                kernel.role("factors", "", Kind.VECTOR)
            else:
                kernel.role("scales", "scales", Kind.FLOATS)
            for role, (name, kind) in PERHAPS.items():
                if name in operator.scope or table.has(role):
                    kernel.role(role, name, kind)
            if not {"factors", "rounding"} & kernel.definition.roles.keys():
                kernel.word("tie", table.choice("tie", ("lower", "higher")))
        kernel.finish()
        return Told(kernel.definition)


FAMILY = Resample()
