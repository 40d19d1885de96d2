"""What a definition is evaluated over: a valid desc, its arrays, and what ``[kernel]`` says of its operator."""

from __future__ import annotations

from typing import Any

from dmlcy._desc.formulas import Formulas
from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._reference.exact import Array


class Given:
    """Fields, lets, roles and formulas of one use of an operator."""

    def __init__(self, desc: OperatorDesc, arrays: dict[str, Array]) -> None:
        operator = desc.operator
        self.arrays = arrays
        self.told = operator.definition
        self.formulas = Formulas(desc)
        names = {field.kind: field.python for field in reversed(operator.fields)}
        self.input = arrays[names["input"]]
        self.output_sizes: tuple[int, ...] = getattr(desc, names["output"]).sizes

    def field(self, role: str) -> Any:
        """The value of the field that plays a role."""
        return getattr(self.formulas.rules, self.told.roles[role])

    def numbers(self, name: str, count: int) -> tuple[int, ...]:
        """The entries of the field or let of that name."""
        return self.formulas.numbers(name, count)

    def of(self, key: str, **names: Any) -> Any:
        """The value of an expression, over the names that the family reserves."""
        rules = self.formulas.rules
        rules.__dict__.update(names)
        return self.told.formulas[key].function(rules)
