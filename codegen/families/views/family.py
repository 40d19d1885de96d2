"""views: each element of an output is an element of an input, at a place that sizes and attributes say.

One of these keys says how: ``join`` and ``split`` the axis along which tensors lie one after the other, ``repeats`` how
often the input is repeated along each axis, ``start`` and ``step`` the places along each axis.
"""

from __future__ import annotations

from typing import Final

from ...diagnostics import Diagnostics
from ...expr.types import Kind
from ...model import Facts, Operator
from ..base import Evaluated, KernelTable, Told

WAYS: Final = {
    "join": {"join": Kind.INT},
    "split": {"split": Kind.INT},
    "repeats": {"repeats": Kind.VECTOR},
    "start": {"start": Kind.VECTOR, "step": Kind.VECTOR},
}
"""By the key that tells the ways apart, the roles of each."""
SIDES: Final = ("input", "output")


class Views(Evaluated):
    """The family."""

    name = "views"

    def plan(self, operator: Operator, facts: Facts, diagnostics: Diagnostics) -> Told:
        """Reads the roles."""
        kernel = KernelTable(operator, facts, diagnostics)
        table = kernel.table
        if table is None:
            return Told(kernel.definition)
        way = next((key for key in WAYS if table.has(key)), None)
        if way is None:
            kernel.error("join", f"the family {self.name} needs one of these keys: {', '.join(WAYS)}")
            return Told(kernel.definition)
        for role, kind in WAYS[way].items():
            kernel.role(role, role, kind)
        if "step" in WAYS[way]:
            kernel.word("places", table.choice("places", SIDES))
        kernel.finish()
        return Told(kernel.definition)


FAMILY = Views()
