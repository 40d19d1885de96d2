"""The pass over a desc or over the arguments of a call that finds every violation, with exact ints.

The order is: the operator, members that it does not have, then the fields in the order of the struct, but inputs before
attributes before outputs. Rules come in declared order, rules on data last. A check that reads a field that has failed
is skipped, so that a consequence is never reported beside its cause.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from functools import cache, partial
from typing import Final, NamedTuple

from dmlcy._check import attributes, dtypes, given, rules, sizes, tensors
from dmlcy._check.state import State, wanted
from dmlcy._check.tensors import OUT
from dmlcy._errors import Violation
from dmlcy._facts.names import in_another_version
from dmlcy._facts.rows import MISSING, Field, Operator
from dmlcy._field_types import type_of
from dmlcy._field_types.values import REPORTED
from dmlcy._types import Array
from dmlcy._words.alike import closest, did_you_mean

__all__ = ["OUT", "Check", "wanted"]

SIZES: Final = ("sizes", "rank")
"""The facets of an output that may follow from other fields."""


class Kinds(NamedTuple):
    """The tensors of an operator, the arrays among them, and the inputs whose sizes are compared first."""

    tensors: tuple[Field, ...]
    arrays: tuple[Field, ...]
    early: tuple[Field, ...]


@cache
def kinds_of(operator: Operator) -> Kinds:
    """The fields of an operator by what a pass does with them."""
    described = tuple(field for field in operator.fields if field.kind != "attribute")
    arrays = tuple(field for field in described if type_of(field.type).tensors)
    return Kinds(described, arrays, early_of(operator, described))


def early_of(operator: Operator, described: Sequence[Field]) -> tuple[Field, ...]:
    """The inputs whose sizes follow from no attribute, no choice, and no sizes of an output."""
    late = {field.python for field in (*operator.fields, *operator.chosen) if field.kind in ("attribute", "chosen")}
    late.update(f"{field.python}.{facet}" for field in described if field.kind == "output" for facet in SIZES)
    inputs = [field for field in described if field.kind == "input" and field.sizes is not None]
    return tuple(field for field in inputs if field.sizes is not None and late.isdisjoint(field.sizes.reads))


class Check(State):
    """One pass over the values of one desc. ``resolved`` holds them normalised, with what follows from them filled in.

    ``call``: the values are those of a function call. ``asked``: the request of the call for each optional output.
    ``asked_sizes``: the sizes that the call gives outputs. ``labels``: the names in the call of the outputs that are
    given. ``literal``: the values come from JSON, which has no short forms. ``unknown``: the members of the JSON that
    the operator does not have. ``filled``: the names of values that follow from others and nobody gave. ``path``: the
    name under which the desc of another operator holds this one, of which only the attributes count then. Not
    ``limited``: tensors may have any number of elements, for only parts of them are given to a kernel.
    """

    def __init__(
        self,
        operator: Operator,
        values: Mapping[str, object],
        level: int,
        *,
        call: bool,
        asked: Mapping[str, object] | None = None,
        asked_sizes: Mapping[str, object] | None = None,
        labels: Mapping[str, str] | None = None,
        literal: bool = False,
        limited: bool = True,
        unknown: Iterable[str] = (),
        filled: Set[str] = frozenset(),
        path: str | None = None,
    ) -> None:
        super().__init__(
            operator,
            values,
            level,
            call=call,
            asked=asked or {},
            asked_sizes=asked_sizes or {},
            labels=labels or {},
            literal=literal,
            limited=limited,
            path=path,
        )
        self._operator([*(name for name in values if name not in self.fields), *unknown])
        self._run()
        if path is None and (wrong := self.violations):
            self._open(filled, wrong)

    def _open(self, filled: Set[str], wrong: Iterable[Violation]) -> None:
        """Gives the search for repairs what it must know: nothing that the user may change or that is large."""
        from dmlcy._check.repairs import Asked, can_be_mended, kept  # here: a valid desc needs none of it

        if not can_be_mended(wrong):
            return
        sizes = {name: kept(said) for name, said in self.asked_sizes.items()}
        if None in sizes.values():
            return
        check = partial(
            Check, self.operator, level=self.asked_level, call=self.call, asked=self.asked, asked_sizes=sizes,
            literal=self.literal, limited=self.limited,
        )  # fmt: skip
        follow = filled | {name for name in self.fields if self.values.get(name) is None}
        self.search.open(
            Asked(self.operator, self.fields, self.resolved, follow, check, self.labels, self.literal, self.call)
        )

    def _operator(self, unknown: Sequence[str]) -> None:
        if self.asked_level < self.level and self.path is None:  # else the field that holds it says so
            self.too_new(None, self.operator.name, self.level)
        absent = [
            field.name if self.literal else field.python
            for field in self.operator.fields
            if (value := self.values.get(field.python)) is None or value is MISSING
        ]
        for name in unknown[:REPORTED]:
            owned = in_another_version(self.operator, name)
            hint, fix = (owned, None) if owned else (did_you_mean(name, absent), closest(name, absent))
            self.add(None, "unknown", values={"actual": name}, hint=hint, fix=fix)

    def _run(self) -> None:
        choices = self.operator.chosen
        kinds = kinds_of(self.operator)
        described: Sequence[Field] = kinds.tensors
        arrays = kinds.arrays
        if self.path is not None:
            for field in described:
                tensors.leave_out(self, field)
            described, arrays = (), ()
        if arrays:
            described = tensors.one_by_one(self, described, arrays)
        for field in described:
            tensors.take(self, field)
        for field in described:
            dtypes.agree(self, field)
            tensors.settle(self, field)
            tensors.lay_out(self, field)
        for field in arrays:
            tensors.gather(self, field)
        early = kinds.early if described is kinds.tensors else early_of(self.operator, described)
        for field in early:
            sizes.compare(self, field)
        for field in choices:
            attributes.choose(self, field)
        # before rules read them: those of ``out`` may be others than a call chooses
        for field in described if choices else ():
            if self.operator.has_chosen_sizes(field) and self.resolved[field.python] is not None:
                sizes.compare(self, field)
        self._take_attributes()
        for field in (field for field in described if field.kind == "input"):
            if field not in early and field.sizes is not None:
                sizes.infer(self, field.sizes.reads)
                sizes.compare(self, field)
        for field in described:
            if field.kind == "output":
                sizes.infer(self, {f"{field.python}.sizes"})
                sizes.compare(self, field)
        for field in described:
            sizes.say_sizes(self, field)
        self._look("warning")

    def _take_attributes(self) -> None:
        """The attributes, and the rules that read them."""
        for field in attributes.in_order(self.operator):
            if field.value is not None:
                attributes.follow(self, field)
            else:
                attributes.take(self, field)
        self._look("error")

    def _look(self, severity: str) -> None:
        """The rules of a severity on values of fields. Warnings come last: they read nothing that is refused."""
        for rule in self.operator.rules:
            if not rule.data and rule.severity == severity:
                sizes.infer(self, rule.reads)
                rules.look(self, rule)

    def data(self, arrays: Mapping[str, Array], first: int = 0) -> None:
        """Looks at the values of the input tensors, from the index at which a rule is broken."""
        given.data(self, arrays, first)

    def bind(self, field: Field, value: object, arrays: Mapping[str, Array | None]) -> None:
        """Compares the tensors given to a compiled operator, by their paths, with its desc."""
        given.bind(self, field, value, arrays)

    def memory(self, field: Field, out: Array, arrays: Mapping[str, Array]) -> None:
        """Looks at the memory of an array given for an output, beside that of ``arrays``."""
        given.memory(self, field, out, arrays)
