"""The rows of the package's tables: classes with the names and the fields of those in ``dmlcy/_facts/rows.py``.

The docs, examples and interpretations of an operator are no part of them: the package reads them from its specs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, TypeVar

from ..field_types import type_of
from ..model import ELEMENT, DtypeRow, Facts, RankRow
from .data import FieldPlan, FormulaPlan, IndependentPlan, OperatorPlan, RulePlan, UnjudgedPlan

Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class Code:
    """Python: it is written as it is."""

    text: str


FORMULAS = ("sizes", "length", "max_length", "value", "hint_when", "axis_of")
MISSING = Code("MISSING")
LETS = Code("Lets")


@dataclass(frozen=True, slots=True)
class Term:
    label: str
    function: Code
    said: str = ""


@dataclass(frozen=True, slots=True)
class Formula:
    text: str
    reads: frozenset[str]
    function: Code
    terms: tuple[Term, ...] = ()
    guarded: frozenset[str] = frozenset()
    said: str = ""


@dataclass(frozen=True, slots=True)
class Part:
    tensor: str
    before: int
    after: int


@dataclass(frozen=True, slots=True)
class Field:
    name: str
    python: str
    kind: str
    type: str
    optional: bool
    default: Any = MISSING
    dtypes: tuple[DtypeRow, ...] = ()
    ranks: tuple[RankRow, ...] = ()
    same_dtype_as: str | None = None
    sizes: Formula | None = None
    leading_ones: str | None = None
    length: Formula | None = None
    max_length: Formula | None = None
    minimum: int | None = None
    maximum: int | None = None
    value: Formula | None = None
    infinite: bool = False
    scalar_type: str | None = None
    provenance: str = "documented"
    hint: str = ""
    hint_when: Formula | None = None
    axes: tuple[str, ...] = ()
    part: Part | None = None
    among: tuple[tuple[str, str], ...] = ()
    mixed: bool = False
    unsaid: bool = False
    fills: bool = True
    owned: bool = True
    sized_by: str | None = None
    axis_of: Formula | None = None


@dataclass(frozen=True, slots=True)
class Rule:
    id: str
    about: str
    says: str
    text: str
    shown: str
    index: str | None
    reads: frozenset[str]
    domain: Code | None
    holds: Code
    terms: tuple[Term, ...]
    hint: str
    fix: Formula | None
    provenance: str
    since: str
    until: str | None
    data: bool
    loop: str | None = None
    each: str | None = None
    guarded: frozenset[str] = frozenset()
    of_all: Code | None = None
    accepts: str = ""


@dataclass(frozen=True, slots=True)
class Independent:
    domain: Code | None
    axes: dict[str, Code]
    takes: Code
    gives: Code
    when: Code | None
    sized: dict[str, Code]


@dataclass(frozen=True, slots=True)
class Let:
    name: str
    index: str | None
    loop: str | None
    text: str
    each: str = ""


@dataclass(frozen=True, slots=True)
class Accuracy:
    ulp: Formula
    of: str


@dataclass(frozen=True, slots=True)
class Unjudged:
    id: str
    outputs: tuple[str, ...]
    when: Formula | None
    condition: Formula


@dataclass(frozen=True, slots=True)
class Definition:
    roles: dict[str, str]
    words: dict[str, str]
    formulas: dict[str, Formula]


@dataclass(frozen=True, slots=True)
class Operator:
    name: str
    python: str
    desc: str
    struct: str
    family: str
    since: str
    source: str
    fields: tuple[Field, ...]
    chosen: tuple[Field, ...]
    lets: tuple[Let, ...]
    rules: tuple[Rule, ...]
    independent: tuple[Independent, ...]
    rules_class: Code
    accuracy: dict[str, Accuracy]
    flushes: bool | None
    absolute: float
    kernel: Definition | None
    unjudged: tuple[Unjudged, ...] = ()
    in_place: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CatalogueEntry:
    name: str
    value: int
    since: str
    in_place: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Level:
    name: str
    value: int
    directml: str
    max_rank: int
    dxdispatch: bool


@dataclass(frozen=True, slots=True)
class Dtype:
    name: str
    value: int
    bits: int
    since: str
    numpy: str | None


@dataclass(frozen=True, slots=True)
class ErrorText:
    id: str
    error: str
    message: str
    about: str


def operator_row(op: OperatorPlan) -> Operator:
    """Everything that the package is told of an operator."""
    return taken(
        Operator,
        op.operator,
        fields=tuple(field(item, op) for item in op.fields),
        chosen=tuple(field(item, op) for item in op.choices),
        lets=tuple(taken(Let, let) for let in op.lets),
        rules=tuple(rule(item, op) for item in op.rules),
        independent=tuple(independent(one) for one in op.independent),
        rules_class=LETS,
        accuracy={dtype: Accuracy(formula(ulp), of) for dtype, ulp, of in op.accuracy},
        flushes=None if op.operator.device is None else op.operator.device.flushes,
        absolute=0.0 if op.operator.device is None else op.operator.device.absolute,
        kernel=None if op.definition is None else definition(op.definition),
        unjudged=tuple(unjudged(one) for one in op.unjudged),
        in_place=op.in_place,
    )


def definition(told: Any) -> Definition:
    """The facts of an operator for the reference and the loops of a family."""
    formulas = {
        key: Formula(said.text, frozenset(), Code(f"lambda m, self: {said.numbers}"))
        for key, said in told.formulas.items()
    }
    return Definition(told.roles, told.words, formulas)


def unjudged(one: UnjudgedPlan) -> Unjudged:
    """A condition on elements, over the numbers of an arithmetic."""
    condition = Formula(
        one.condition.text, frozenset(one.condition.reads), Code(f"lambda m, self: {one.condition.python}")
    )
    return Unjudged(one.id, one.outputs, None if one.when is None else formula(one.when), condition)


def taken(row: type[Row], of: object, **others: Any) -> Row:
    """A row whose fields are those of the same names of an object, except ``others``."""
    names = [field.name for field in fields(row) if field.name not in others]  # type: ignore[arg-type]
    return row(**{name: getattr(of, name) for name in names}, **others)


def function(python: str, index: str | None = None) -> Code:
    """A function of the values of a desc, and of an index where there is one."""
    return Code(f"lambda self{f', {index}' if index else ''}: {without_outer(python)}")


def formula(plan: FormulaPlan) -> Formula:
    return Formula(
        plan.text, frozenset(plan.reads), function(plan.python), terms(plan.terms), frozenset(plan.guarded), plan.said
    )


def terms(said: Sequence[tuple[str, str, str]], index: str | None = None) -> tuple[Term, ...]:
    return tuple(Term(label, function(code, index), "" if words == label else words) for label, words, code in said)


def field(item: FieldPlan, op: OperatorPlan) -> Field:
    said, kind, spec = item.field, type_of(item.field), op.operator
    more: dict[str, Any] = {key: formula(plan) for key in FORMULAS if (plan := getattr(item, key))}
    if said.is_tensor:
        more |= {"dtypes": spec.types[said.types or ""], "ranks": spec.ranks[said.ranks or ""]}
        more |= {"same_dtype_as": item.same_as, "leading_ones": said.leading_ones}
        more |= {"hint": said.hint, "axes": said.axes, "mixed": said.mixed, "owned": said.owned}
        more["sized_by"] = None if said.kind != "output" else spec.sized_by(said)
    if kind.ranged or item.part is not None:
        more |= {"minimum": said.minimum, "maximum": said.maximum, "provenance": said.provenance}
    if kind.typed:
        more["scalar_type"] = said.types
    if said.unsaid:
        more["unsaid"] = True
    if not said.fills:
        more |= {"fills": False, "hint": said.hint}
    if item.among:
        more["among"] = item.among
    if item.part is not None:
        more["part"] = Part(*item.part)
    default = MISSING if said.default is None and not said.may_be_none else said.default
    return Field(
        said.name, said.python, said.kind, said.type, said.optional, default=default, infinite=said.infinite, **more
    )


def rule(item: RulePlan, op: OperatorPlan) -> Rule:
    said = item.rule
    fix, index = None, ", ".join(filter(None, (said.index, None if said.each is None else ELEMENT))) or None
    if item.fix is not None and said.fix is not None:
        fix = Formula(said.fix.text, frozenset(), function(item.fix, index))
    return taken(
        Rule,
        said,
        id=item.id,
        text=item.text,
        shown=item.shown,
        reads=frozenset(item.reads),
        domain=None if item.domain is None else function(item.domain),
        holds=function(item.holds, index),
        terms=terms(item.terms, index),
        fix=fix,
        since=said.since or op.operator.since,
        loop=item.domain_text,
        guarded=frozenset(item.guarded),
        of_all=None if item.of_all is None else Code(f"lambda m, self, {index}: {without_outer(item.of_all)}"),
    )


def independent(one: IndependentPlan) -> Independent:
    return Independent(
        domain=None if one.domain is None else function(one.domain),
        axes={name: function(axis, one.index) for name, axis in one.axes},
        takes=function(one.takes, one.index),
        gives=function(one.gives, one.index),
        when=None if one.when is None else function(one.when[1], one.index),
        sized={name: function(entry, one.index) for name, entry in one.sized},
    )


@dataclass(frozen=True, slots=True)
class FactRows:
    """Facts about all operators."""

    levels: tuple[Level, ...]
    dtypes: dict[str, Dtype]
    catalogue: dict[str, CatalogueEntry]
    errors: dict[str, ErrorText]


def fact_rows(facts: Facts) -> FactRows:
    """The tables that belong to no operator."""
    return FactRows(
        levels=tuple(taken(Level, level) for level in facts.levels),
        dtypes={dtype.name: taken(Dtype, dtype) for dtype in facts.dtypes},
        catalogue={entry.name: taken(CatalogueEntry, entry) for entry in facts.catalogue.values()},
        errors={error.id: taken(ErrorText, error) for error in (*facts.implicit, *facts.model_errors)},
    )


def without_outer(code: str) -> str:
    """Code without parentheses around all of it."""
    if not code.startswith("("):
        return code
    depth = 0
    for position, character in enumerate(code):
        depth += (character == "(") - (character == ")")
        if depth == 0:
            return code[1:-1] if position == len(code) - 1 else code
    return code
