"""recurrent: layers that compute a state step by step. [kernel] names the kind of unit and the roles of the fields."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from ...diagnostics import Diagnostics
from ...expr.types import Kind
from ...model import Facts, Operator
from ..base import Definition, KernelTable, Moved, Use

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


@dataclass(frozen=True, slots=True)
class RecurrentKernel:
    """The run template's view: the kind of unit, the roles, and when the first direction is the backward one."""

    unit: str
    backward: str
    definition: Definition

    @property
    def roles(self) -> Mapping[str, str]:
        """The tensors and attributes, by role."""
        return self.definition.roles


class Recurrent(Moved):
    """The family."""

    name = "recurrent"
    told: ClassVar = {
        "behind": (
            Kind.BOOL,
            "whether the step is after the end of its sequence;"
            " for the state after the last step, whether the length is 0",
        ),
    }

    def plan(self, operator: Operator, facts: Facts, diagnostics: Diagnostics) -> RecurrentKernel:
        """Reads the kind of unit, and the roles."""
        kernel = KernelTable(operator, facts, diagnostics)
        kind, direction = "", ""
        if kernel.table is not None:
            kind = kernel.table.choice("unit", tuple(UNITS))
        if kind in UNITS:
            kernel.word("unit", kind)
            for role, (name, of) in (ROLES | UNITS[kind]).items():
                kernel.role(role, name, of)
            direction = kernel.definition.roles["direction"]
        kernel.finish()
        backward = f"a.{direction} == {kernel.members(direction).get('BACKWARD', '0')}"
        return RecurrentKernel(kind, backward, kernel.definition)

    def needs(self, kernel: RecurrentKernel) -> Sequence[str]:
        """No let."""
        return ()

    def prepared(self, kernel: RecurrentKernel) -> Sequence[str]:
        """The matrices, which are packed."""
        return kernel.roles["weight"], kernel.roles["recurrence"]

    def pieces(self, kernel: RecurrentKernel) -> None:
        """Only the independent axes can be cut."""

    def picture(self, kernel: RecurrentKernel, use: Use) -> None:
        """No figure."""


FAMILY = Recurrent()
"""The family recurrent: what its run template is given."""
