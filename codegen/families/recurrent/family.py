"""recurrent: layers that compute a state step by step. [kernel] names the kind of unit and the roles of the fields."""

from __future__ import annotations

from typing import ClassVar, Final

from ...diagnostics import Diagnostics
from ...expr.types import Kind
from ...model import Facts, Operator
from ..base import Evaluated, KernelTable, Told

ROLES: Final = {
    "input": ("input", Kind.TENSOR),
    "weight": ("weight", Kind.TENSOR),
    "recurrence": ("recurrence", Kind.TENSOR),
    "bias": ("bias", Kind.TENSOR),
    "hidden": ("hidden_init", Kind.TENSOR),
    "lengths": ("sequence_lengths", Kind.TENSOR),
    "sequence": ("output_sequence", Kind.TENSOR),
    "last": ("output_single", Kind.TENSOR),
    "activations": ("activation_descs", Kind.OPERATORS),
    "direction": ("direction", Kind.ENUM),
}
UNITS: Final = {
    "simple": {},
    "gated": {"reset_after": ("linear_before_reset", Kind.BOOL)},
    "memory": {
        "cell": ("cell_mem_init", Kind.TENSOR),
        "peephole": ("peephole", Kind.TENSOR),
        "last_cell": ("output_cell_single", Kind.TENSOR),
        "limit": ("clip_threshold", Kind.FLOAT),
        "limited": ("use_clip_threshold", Kind.BOOL),
        "coupled": ("couple_input_forget", Kind.BOOL),
    },
}
"""The roles that only units of a kind have."""


class Recurrent(Evaluated):
    """The family."""

    name = "recurrent"
    told: ClassVar = {"behind": Kind.BOOL}

    def plan(self, operator: Operator, facts: Facts, diagnostics: Diagnostics) -> Told:
        """Reads the kind of unit, and the roles."""
        kernel = KernelTable(operator, facts, diagnostics)
        if kernel.table is None:
            return Told(kernel.definition)
        kind = kernel.table.choice("unit", tuple(UNITS))
        if kind in UNITS:
            kernel.word("unit", kind)
            for role, (name, of) in (ROLES | UNITS[kind]).items():
                kernel.role(role, name, of)
        kernel.finish()
        return Told(kernel.definition)


FAMILY = Recurrent()
