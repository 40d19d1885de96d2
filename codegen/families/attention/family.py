"""attention: values weighed by the softmax of products. [kernel] names roles, and no expressions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from ...diagnostics import Diagnostics
from ...expr.types import Kind
from ...model import Facts, Operator
from ..base import Definition, KernelTable, Moved, Use

TENSORS: Final = {
    "query": "query",
    "key": "key",
    "value": "value",
    "query_key": "stacked_query_key",
    "key_value": "stacked_key_value",
    "query_key_value": "stacked_query_key_value",
    "bias": "bias",
    "mask": "mask",
    "added": "relative_position_bias",
    "past_key": "past_key",
    "past_value": "past_value",
    "present_key": "output_present_key",
    "present_value": "output_present_value",
}
LENGTHS: Final = "past_sequence_lengths"
"""A tensor that an operator need not have."""
NUMBERS: Final = {"scale": ("scale", Kind.FLOAT), "masked": ("mask_filter_value", Kind.FLOAT)}
LETS: Final = ("batch", "sequence", "query_heads", "key_heads", "head_size", "key_sequence", "value_size")
FORMAT: Final = ("format", "mask_type")
MASKS: Final = {
    "KEY_SEQUENCE_LENGTH": "MASKS_ENDS",
    "KEY_SEQUENCE_END_START": "MASKS_STARTS",
    "KEY_QUERY_SEQUENCE_LENGTH_START_END": "MASKS_ENDS",
    "BOOLEAN": "MASKS_EACH",
}
"""By the format of a mask, what the loops are told."""


@dataclass(frozen=True, slots=True)
class AttentionKernel:
    """The run template's view: the roles that are played, and by constants of the format what the loops are told."""

    masks: Sequence[tuple[str, str]]
    definition: Definition

    tensors: ClassVar = tuple(TENSORS)
    numbers: ClassVar = (*NUMBERS, *LETS)

    @property
    def roles(self) -> Mapping[str, str]:
        """The tensors and numbers, by role."""
        return self.definition.roles


class Attention(Moved):
    """The family."""

    name = "attention"
    told: ClassVar = {"unweighed": Kind.BOOL, "behind": Kind.BOOL}

    def plan(self, operator: Operator, facts: Facts, diagnostics: Diagnostics) -> AttentionKernel:
        """Reads the roles."""
        kernel = KernelTable(operator, facts, diagnostics)
        masks: list[tuple[str, str]] = []
        if kernel.table is not None:
            for role, name in TENSORS.items():
                kernel.role(role, name, Kind.TENSOR)
            for role, (name, kind) in NUMBERS.items():
                kernel.role(role, name, kind)
            members = kernel.members(kernel.role(*FORMAT, Kind.ENUM))
            masks = [(members[name], told) for name, told in MASKS.items() if name in members]
            for role in LETS:
                kernel.role(role, role, Kind.INT)
            if LENGTHS in operator.scope or kernel.table.has("lengths"):
                kernel.role("lengths", LENGTHS, Kind.TENSOR)
        kernel.finish()
        return AttentionKernel(masks, kernel.definition)

    def needs(self, kernel: AttentionKernel) -> Sequence[str]:
        """The sizes that the loops are told."""
        return [kernel.roles[role] for role in LETS]

    def pieces(self, kernel: AttentionKernel) -> None:
        """Only the independent axes can be cut."""

    def picture(self, kernel: AttentionKernel, use: Use) -> None:
        """No figure."""


FAMILY = Attention()
