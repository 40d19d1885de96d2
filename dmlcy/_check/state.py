"""The state of a pass over a desc: the taken values, the violations, and the values that formulas can read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from typing import Any, Final

import numpy as np

from dmlcy._check.report import Report
from dmlcy._facts.rows import Field, Formula, Operator, Rule, Rules, Term
from dmlcy._facts.tables import LEVEL_INDEX, TensorDataType
from dmlcy._field_types import type_of
from dmlcy._field_types.bad import BAD, UNREAD
from dmlcy._field_types.enum import is_unsaid
from dmlcy._field_types.values import Refused
from dmlcy._field_types.wording import of_each, read_as
from dmlcy._words.values import is_a, show

NOTHING: Final[Set[str]] = frozenset()


class Tensor:
    """A tensor as formulas see it."""

    __slots__ = ("dtype", "sizes")

    def __init__(self) -> None:
        self.dtype: TensorDataType | None = None
        self.sizes: tuple[int, ...] = ()


class State(Report):
    """The state that the steps of a pass share; ``Check`` describes the arguments.

    A facet is a part of a field that a formula reads: ``strides``, or of a tensor ``input.dtype``, ``input.sizes`` and
    ``input.rank``. ``bad``: the facets that have failed. ``absent``: the tensors that are left out. ``broken``: the
    indices at which a rule on the field has failed. ``inferred``: the outputs whose sizes were filled in. ``chosen``:
    the data types that a call chose for outputs. ``sized``: the outputs whose sizes the call gives.
    """

    def __init__(
        self,
        operator: Operator,
        values: Mapping[str, object],
        level: int,
        *,
        call: bool,
        asked: Mapping[str, object],
        asked_sizes: Mapping[str, object],
        labels: Mapping[str, str],
        literal: bool,
        limited: bool,
        path: str | None,
    ) -> None:
        fields = {field.python: field for field in (*operator.fields, *(operator.chosen if call else ()))}
        super().__init__(operator, fields, level, labels, literal, path)
        self.values = values
        self.level = max(level, LEVEL_INDEX[operator.since])
        self.call = call
        self.asked = asked
        self.asked_sizes = asked_sizes
        self.limited = limited
        self.chosen: dict[str, TensorDataType] = {}
        self.resolved: dict[str, object] = {}
        self.rules: Rules = operator.rules_class({})
        self.readable: dict[str, object] = vars(self.rules)
        self.tensors: dict[str, Tensor] = {}
        self.bad: set[str] = set()
        self.absent: set[str] = set()
        self.broken: dict[str, set[int]] = {}
        self.inferred: set[str] = set()
        self.sized: set[str] = set()

    def keep(self, field: Field, value: object) -> None:
        """The value of the field, in the desc and for formulas."""
        self.resolved[field.python] = self.readable[field.python] = value

    def hold(self, field: Field, value: object) -> None:
        """The value of the field in the desc; formulas do not see it."""
        self.resolved[field.python] = value

    def read(self, field: Field, value: object) -> None:
        """The value of the field for formulas; the desc does not have it."""
        self.readable[field.python] = value

    def value_of(self, name: str) -> Any:
        """The value of a field, by its Python or its DirectML name; None where it has been refused.

        A data type that is not said is the one that follows.
        """
        field = next(field for field in self.operator.fields if name in (field.python, field.name))
        if field.python in self.bad:
            return None
        value = self.readable[field.python]
        return self.evaluated(field.value) if field.unsaid and field.value and is_unsaid(value) else value

    def tied_to(self, field: Field) -> str | None:
        """The tensor whose data type a tensor must have: the first of the tensors that share it and are there."""
        if field.same_dtype_as not in self.absent:
            return field.same_dtype_as
        others = (one for one in self.operator.fields if field.same_dtype_as in (one.python, one.same_dtype_as))
        first = next(one.python for one in others if one.python not in self.absent or one is field)
        return None if first == field.python else first

    def fail(self, *facets: str) -> None:
        """From now on no formula reads these."""
        self.bad.update(facets)

    def can_read(self, reads: Iterable[str], guarded: Set[str] = NOTHING) -> bool:
        """Whether nothing of it has failed. Of a tensor that is left out only what is ``guarded`` can be read."""
        if not self.bad and not self.broken:
            return True
        return not any(
            (facet in self.bad or facet.partition(".")[0] in self.broken) and not self.is_guarded(facet, guarded)
            for facet in reads
        )

    def is_guarded(self, facet: str, guarded: Set[str]) -> bool:
        """Whether a formula does not look at this facet, because the tensor is left out."""
        return bool(guarded) and (name := facet.partition(".")[0]) in guarded and name in self.absent

    def evaluated(self, formula: Formula) -> Any:
        """The value of a formula; None where it reads what has been refused."""
        try:
            value = formula.function(self.rules) if self.can_read(formula.reads, formula.guarded) else None
        except UNREAD:
            return None
        return None if value is BAD else value

    def computed(self, field: Field) -> tuple[int, ...] | None:
        """The sizes that follow from the other fields."""
        if field.sizes is None or not self.can_read(field.sizes.reads, field.sizes.guarded):
            return None
        try:
            return tuple(int(size) for size in field.sizes.function(self.rules))
        except UNREAD:
            return None

    def term(self, term: Term | Formula, at: tuple[object, ...]) -> object:
        """The value of a term; None where it has none, such as a quotient by zero in a part that decided nothing."""
        try:
            value = term.function(self.rules, *at)
            return None if value is BAD else value
        except (ArithmeticError, ValueError, AttributeError, IndexError):  # an attribute of a tensor that is left out
            return None

    def terms(self, formula: Formula) -> dict[str, object]:
        """The names that a message has for the parts of a formula, with their values."""
        return {term.words: self.term(term, ()) for term in formula.terms}

    def there(self, field: Field) -> bool:
        """Whether there is such an output: not, of an optional one, where nobody asks for it."""
        return not field.optional or wanted(self.asked.get(field.python, self.resolved.get(field.python)))

    # Words

    def sizes_read(self, condition: Formula | Rule) -> str:
        """The sizes of the inputs that a condition reads, as sentences; a rule on data speaks of elements instead."""
        if isinstance(condition, Rule) and condition.data:
            return ""
        read = {facet.partition(".")[0] for facet in condition.reads if facet.endswith((".sizes", ".rank"))}
        read -= self.absent
        fields = [field for field in self.operator.fields if field.kind == "input" and field.python in read]
        inputs = [field.python for field in fields if not type_of(field.type).tensors]
        sizes = {name: self.tensors[name].sizes for name in inputs}
        return read_as(self.fields, {name: found for name, found in sizes.items() if not any(n is BAD for n in found)})

    def chosen_for(self, formula: Formula) -> dict[str, object]:
        """The values that a call is given for the sizes of an output, where the formula reads them."""
        chosen = [one.python for one in self.operator.chosen if self.call and one.python in formula.reads]
        return {name: self.resolved.get(name) for name in chosen}

    def miscounted(self, formula: Formula, has: str, needs: str, actual: int, expected: int) -> Refused:
        """The refusal of a number of entries that is not the one that follows from the other fields."""
        return Refused(
            "length",
            values={"actual": actual, "expected": expected},
            words={"has": has, "needs": needs, "each": of_each(self.operator, formula, self.terms(formula))},
            note=self.sizes_read(formula),
            hint=" ".join(f"{name} is {show(value)}." for name, value in self.chosen_for(formula).items()),
        )


def keyword(output: Field) -> str:
    """The keyword of a call for an output: whether it is wanted, or its data type."""
    return output.python if output.optional else f"{output.python}_dtype"


def sizes_asked(operator: Operator, arguments: Mapping[str, object]) -> dict[str, object]:
    """The arguments of a call that give the sizes of outputs, by their Python names."""
    return {
        field.python: arguments[field.sized_by]
        for field in operator.fields
        if field.sized_by is not None and arguments.get(field.sized_by) is not None
    }


def wanted(request: object) -> bool:
    """Whether what is said of an optional output asks for it."""
    return not (request is None or (is_a(request, bool, np.bool_) and not request))
