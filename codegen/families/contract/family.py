"""contract: sums of products, of matrices or of windows and a filter. [kernel] names roles, and no expressions."""

from __future__ import annotations

from typing import ClassVar, Final

from ...diagnostics import Diagnostics
from ...expr.types import Kind
from ...model import Facts, Operator
from ..base import Evaluated, KernelTable, Told

OPERANDS: Final = {"matrices": ("a", "b"), "windows": ("input", "filter")}
"""What is multiplied: the default names of the two tensors."""
TENSORS: Final = {"left_zero": "{left}_zero_point", "right_zero": "{right}_zero_point", "left_scale": "{left}_scale",
    "right_scale": "{right}_scale", "output_scale": "output_scale", "output_zero": "output_zero_point",
    "added": "bias"}  # fmt: skip
ATTRIBUTES: Final = {
    "matrices": {
        "left_transposed": ("trans_a", Kind.ENUM),
        "right_transposed": ("trans_b", Kind.ENUM),
        "alpha": ("alpha", Kind.FLOAT),
        "beta": ("beta", Kind.FLOAT),
    },
    "windows": {
        "mode": ("mode", Kind.ENUM),
        "direction": ("direction", Kind.ENUM),
        "groups": ("group_count", Kind.INT),
        "strides": ("strides", Kind.VECTOR),
        "dilations": ("dilations", Kind.VECTOR),
        "start": ("start_padding", Kind.VECTOR),
        "appended": ("output_padding", Kind.VECTOR),
    },
}


class Contract(Evaluated):
    """The family."""

    name = "contract"
    told: ClassVar = {"appended": Kind.BOOL}

    def plan(self, operator: Operator, facts: Facts, diagnostics: Diagnostics) -> Told:
        """Reads the roles; those whose default name the operator does not have are not played."""
        kernel = KernelTable(operator, facts, diagnostics)
        table = kernel.table
        if table is None:
            return Told(kernel.definition)
        of = table.choice("of", tuple(OPERANDS))
        if of in OPERANDS:
            kernel.word("of", of)
            left, right = (
                kernel.role(role, name, Kind.TENSOR) for role, name in zip(("left", "right"), OPERANDS[of], strict=True)
            )
            for role, name in TENSORS.items():
                self.role(kernel, role, name.format(left=left, right=right), Kind.TENSOR)
            for role, (name, kind) in ATTRIBUTES[of].items():
                self.role(kernel, role, name, kind)
            self.role(kernel, "fused", "fused_activation", Kind.OPERATOR)
        kernel.finish()
        return Told(kernel.definition)

    @staticmethod
    def role(kernel: KernelTable, key: str, default: str, kind: Kind) -> None:
        """A role that an operator need not have."""
        if default in kernel.operator.scope or (kernel.table is not None and kernel.table.has(key)):
            kernel.role(key, default, kind)


FAMILY = Contract()
