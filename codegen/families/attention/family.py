"""attention: values weighed by the softmax of products. [kernel] names roles, and no expressions."""

from __future__ import annotations

from typing import ClassVar, Final

from ...diagnostics import Diagnostics
from ...expr.types import Kind
from ...model import Facts, Operator
from ..base import Evaluated, KernelTable, Told

ROLES: Final = {
    "query": ("query", Kind.TENSOR),
    "key": ("key", Kind.TENSOR),
    "value": ("value", Kind.TENSOR),
    "query_key": ("stacked_query_key", Kind.TENSOR),
    "key_value": ("stacked_key_value", Kind.TENSOR),
    "query_key_value": ("stacked_query_key_value", Kind.TENSOR),
    "bias": ("bias", Kind.TENSOR),
    "mask": ("mask", Kind.TENSOR),
    "added": ("relative_position_bias", Kind.TENSOR),
    "past_key": ("past_key", Kind.TENSOR),
    "past_value": ("past_value", Kind.TENSOR),
    "present_key": ("output_present_key", Kind.TENSOR),
    "present_value": ("output_present_value", Kind.TENSOR),
    "scale": ("scale", Kind.FLOAT),
    "masked": ("mask_filter_value", Kind.FLOAT),
    "format": ("mask_type", Kind.ENUM),
    "batch": ("batch", Kind.INT),
    "sequence": ("sequence", Kind.INT),
    "query_heads": ("query_heads", Kind.INT),
    "key_heads": ("key_heads", Kind.INT),
    "head_size": ("head_size", Kind.INT),
    "key_sequence": ("key_sequence", Kind.INT),
    "value_size": ("value_size", Kind.INT),
}
LENGTHS: Final = "past_sequence_lengths"


class Attention(Evaluated):
    """The family."""

    name = "attention"
    told: ClassVar = {"unweighed": Kind.BOOL, "behind": Kind.BOOL}

    def plan(self, operator: Operator, facts: Facts, diagnostics: Diagnostics) -> Told:
        """Reads the roles."""
        kernel = KernelTable(operator, facts, diagnostics)
        if kernel.table is not None:
            for role, (name, kind) in ROLES.items():
                kernel.role(role, name, kind)
            if LENGTHS in operator.scope or kernel.table.has("lengths"):
                kernel.role("lengths", LENGTHS, Kind.TENSOR)
        kernel.finish()
        return Told(kernel.definition)


FAMILY = Attention()
