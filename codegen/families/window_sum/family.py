"""window_sum: means of integers under windows, and gradients of windows. [kernel] names what is summed, and roles."""

from __future__ import annotations

from typing import ClassVar, Final

from ...diagnostics import Diagnostics
from ...expr.types import Kind
from ...model import Facts, Operator
from ..base import Evaluated, KernelTable, Told
from ..windows import window_of

ROLES: Final = {
    "shares": {"counted": ("include_padding", Kind.BOOL)},
    "greatest": {"gradient": ("input_gradient", Kind.TENSOR)},
    "means": {
        "counted": ("include_padding", Kind.BOOL),
        "scale": ("input_scale", Kind.TENSOR),
        "zero": ("input_zero_point", Kind.TENSOR),
        "output_scale": ("output_scale", Kind.TENSOR),
        "output_zero": ("output_zero_point", Kind.TENSOR),
    },
}
"""What windows give, and the roles for it."""


class WindowSum(Evaluated):
    """The family."""

    name = "window_sum"
    told: ClassVar = {"count": Kind.INT, "beyond": Kind.BOOL}

    def plan(self, operator: Operator, facts: Facts, diagnostics: Diagnostics) -> Told:
        """Reads what is summed, and the roles."""
        kernel = KernelTable(operator, facts, diagnostics)
        if kernel.table is None:
            return Told(kernel.definition)
        of = kernel.table.choice("of", tuple(ROLES))
        if of in ROLES:
            kernel.word("of", of)
            for role, (name, kind) in ROLES[of].items():
                kernel.role(role, name, kind)
        window_of(kernel)
        kernel.finish()
        return Told(kernel.definition)


FAMILY = WindowSum()
