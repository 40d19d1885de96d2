"""index: a tensor of integers says where the elements of another one come from, or go to.

``indices`` is the role of the tensor of integers; ``by`` says what an integer is, and so which other roles there are.
With ``updates``, elements go to a copy of the first input.
"""

from __future__ import annotations

from typing import ClassVar, Final

from ...diagnostics import Diagnostics
from ...expr.types import Kind
from ...model import Facts, Operator
from ..base import Evaluated, KernelTable, Told

BY: Final[dict[str, dict[str, tuple[str, Kind]]]] = {
    "slices": {"axis": ("axis", Kind.INT), "count": ("index_dimensions", Kind.INT)},
    "elements": {"axis": ("axis", Kind.INT)},
    "tuples": {
        "batches": ("batches", Kind.INT),
        "input_count": ("input_dimension_count", Kind.INT),
        "indices_count": ("indices_dimension_count", Kind.INT),
    },
    "places": {},
    "lengths": {"axis": ("axis", Kind.INT)},
}
"""The roles beside the tensors, each with its default name."""


class Index(Evaluated):
    """The family."""

    name = "index"
    told: ClassVar = {"repeated": Kind.BOOL}

    def plan(self, operator: Operator, facts: Facts, diagnostics: Diagnostics) -> Told:
        """Reads the roles."""
        kernel = KernelTable(operator, facts, diagnostics)
        table = kernel.table
        if table is not None:
            kernel.role("input", "input", Kind.TENSOR)
            kernel.role("indices", "indices", Kind.TENSOR)
            if table.has("updates"):
                kernel.role("updates", "updates", Kind.TENSOR)
            for role, (default, kind) in BY[kernel.word("by", table.choice("by", tuple(BY)))].items():
                kernel.role(role, default, kind)
        kernel.finish()
        return Told(kernel.definition)


FAMILY = Index()
