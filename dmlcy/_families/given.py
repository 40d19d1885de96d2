"""What the reference of a family is evaluated over: a use of an operator, and what ``[kernel]`` says of it."""

from __future__ import annotations

from typing import Any

from dmlcy._desc.formulas import Formulas, Values
from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._facts.rows import Operator, Rules
from dmlcy._families.exact import Array


class Kernel(Values):
    """What ``[kernel]`` says of an operator, worked out for one use."""

    def __init__(self, operator: Operator, rules: Rules) -> None:
        super().__init__(rules)
        self.operator = operator
        self.told = operator.definition

    def field(self, role: str) -> Any:
        """The value of the field that plays a role."""
        return getattr(self.rules, self.told.roles[role])

    def value(self, key: str, **names: Any) -> Any:
        """The value of an expression, over the names that the family reserves."""
        self.rules.__dict__.update(names)
        return self.told.formulas[key].function(self.rules)


def kernel_of(desc: OperatorDesc) -> Kernel:
    """What ``[kernel]`` says of a valid desc."""
    return Kernel(desc.operator, Formulas(desc).rules)


class Given(Kernel):
    """A valid desc and its arrays."""

    def __init__(self, desc: OperatorDesc, arrays: dict[str, Array]) -> None:
        super().__init__(desc.operator, Formulas(desc).rules)
        self.arrays = arrays
        names = {field.kind: field.python for field in reversed(desc.operator.fields)}
        self.input = arrays[names["input"]]
        self.output_sizes: tuple[int, ...] = getattr(desc, names["output"]).sizes
