"""index: a tensor of integers says where the elements of another one come from, or go to.

``indices`` is the role of the tensor of integers; ``by`` says what an integer is, and so which other roles there are.
With ``updates``, elements go to a copy of the first input.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from ...diagnostics import Diagnostics
from ...expr.types import Kind
from ...model import Facts, Operator
from ..base import Definition, KernelTable, Moved, Picture, Use
from .places import pictured

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
GIVES: Final = "places"
"""By it, elements of the input go to places of the output."""


@dataclass(frozen=True, slots=True)
class IndexKernel:
    """The run template's view: the function, the tensors in its order, and the fields and lets that play the roles."""

    function: str
    tensors: tuple[str, ...]
    roles: tuple[str, ...]
    lets: tuple[str, ...]
    definition: Definition


class Index(Moved):
    """The family."""

    name = "index"
    told: ClassVar = {
        "repeated": (Kind.BOOL, "whether several updates with different bits are for the element"),
    }

    def plan(self, operator: Operator, facts: Facts, diagnostics: Diagnostics) -> IndexKernel:
        """Reads the roles."""
        kernel = KernelTable(operator, facts, diagnostics)
        table = kernel.table
        tensors: list[str] = []
        roles: list[str] = []
        by, gives = "", False
        if table is not None:
            tensors = [kernel.role("input", "input", Kind.TENSOR), kernel.role("indices", "indices", Kind.TENSOR)]
            if gives := table.has("updates"):
                tensors.append(kernel.role("updates", "updates", Kind.TENSOR))
            by = kernel.word("by", table.choice("by", tuple(BY)))
            roles = [kernel.role(role, default, kind) for role, (default, kind) in BY[by].items()]
        kernel.finish()
        lets = {let.name for let in operator.lets}
        return IndexKernel(
            f"{'give' if gives or by == GIVES else 'take'}_{by}",
            (*tensors, operator.outputs[0].python),
            tuple(roles),
            tuple(role for role in roles if role in lets),
            kernel.definition,
        )

    def needs(self, kernel: IndexKernel) -> Sequence[str]:
        """The lets among the roles."""
        return kernel.lets

    def pieces(self, kernel: IndexKernel) -> None:
        """Only the independent axes can be cut."""

    def picture(self, kernel: IndexKernel, use: Use) -> Picture:
        """Each element of the output is one that an index takes, or one that goes to its place."""
        return pictured(kernel.function.partition("_")[2], kernel, use)


FAMILY = Index()
