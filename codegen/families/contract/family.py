"""contract: sums of products, of matrices or of windows and a filter. [kernel] names roles, and no expressions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from ...diagnostics import Diagnostics
from ...expr.types import Kind
from ...model import Facts, Operator
from ..base import Definition, KernelTable, Moved, Picture, Use
from .matrices import multiplied
from .windows import pictured

OPERANDS: Final = {"matrices": ("a", "b"), "windows": ("input", "filter")}
"""The factors: the default names of the two tensors."""
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
FLOATS: Final = {"FLOAT32", "FLOAT16"}
"""The data types whose products are floats: of others, they are exact."""
MEMBERS: Final = {
    "left_transposed": "TRANSPOSE",
    "right_transposed": "TRANSPOSE",
    "mode": "CROSS_CORRELATION",
    "direction": "BACKWARD",
}
"""By the role of an enum, the member that the loops are told of."""


@dataclass(frozen=True, slots=True)
class ContractKernel:
    """The run template's view: what is multiplied, the roles that are played, and the constants of MEMBERS, by role.

    ``whole``: integers are multiplied.
    """

    of: str
    whole: bool
    members: Mapping[str, str]
    definition: Definition

    @property
    def roles(self) -> Mapping[str, str]:
        """The tensors and attributes, by role."""
        return self.definition.roles


class Contract(Moved):
    """The family."""

    name = "contract"
    told: ClassVar = {
        "appended": (Kind.BOOL, "whether the element is appended to the output as padding"),
    }

    def plan(self, operator: Operator, facts: Facts, diagnostics: Diagnostics) -> ContractKernel:
        """Reads the roles; those whose default name the operator does not have are not played."""
        kernel = KernelTable(operator, facts, diagnostics)
        table = kernel.table
        of = "" if table is None else table.choice("of", tuple(OPERANDS))
        members = {}
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
            members = {
                role: kernel.members(name)[MEMBERS[role]]
                for role, name in kernel.definition.roles.items()
                if role in MEMBERS
            }
        whole = any({name for row in rows for name in row.dtypes} - FLOATS for rows in operator.types.values())
        kernel.finish()
        return ContractKernel(of, whole, members, kernel.definition)

    @staticmethod
    def role(kernel: KernelTable, key: str, default: str, kind: Kind) -> None:
        """A role that an operator need not have."""
        if default in kernel.operator.scope or (kernel.table is not None and kernel.table.has(key)):
            kernel.role(key, default, kind)

    def needs(self, kernel: ContractKernel) -> Sequence[str]:
        """No let."""
        return ()

    def prepared(self, kernel: ContractKernel) -> Sequence[str]:
        """The packed tensor: the columns of a matrix, or filters."""
        return (kernel.roles["right"],)

    def pieces(self, kernel: ContractKernel) -> None:
        """Only the independent axes can be cut."""

    def picture(self, kernel: ContractKernel, use: Use) -> Picture:
        """Each element of the output is made of those under the filter, or of a row and a column."""
        return (pictured if kernel.of == "windows" else multiplied)(kernel.roles, use)


FAMILY = Contract()
"""The family contract: what its run template is given."""
