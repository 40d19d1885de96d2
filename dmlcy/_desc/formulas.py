"""The fields, lets and formulas of an operator, worked out for one use of it."""

from __future__ import annotations

from dmlcy._check.checker import Check
from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._facts.levels import NEWEST
from dmlcy._facts.rows import Formula, Rules


class Values:
    """The values of names in a valid use of an operator."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules

    def number(self, name: str) -> int:
        """The value of a field or a let."""
        value = getattr(self.rules, name)
        return int(value() if callable(value) else value)

    def numbers(self, name: str, count: int) -> tuple[int, ...]:
        """The values of an array, or of a let that has an index."""
        values = getattr(self.rules, name)
        return tuple(int(values(d) if callable(values) else values[d]) for d in range(count))

    def of(self, formula: Formula) -> float:
        """The value of a formula without an index."""
        value: float = formula.function(self.rules)
        return value


class Formulas(Values):
    """The values of names in a valid desc."""

    def __init__(self, desc: OperatorDesc) -> None:
        super().__init__(Check(desc.operator, desc._values(), NEWEST, call=False).rules)
