"""The conditions of interpretations: which elements of an output are not judged, for no document promises them."""

from __future__ import annotations

from collections.abc import Iterator

from ..diagnostics import Diagnostics
from ..expr.nodes import Call, ExprError, Name, Node
from ..expr.numbers import numbers
from ..expr.python import python
from ..expr.text import formula
from ..expr.types import Kind, Scope, Symbol, kind_of
from ..families import Family
from ..families.base import OUTPUT_NAMES
from ..model import Facts, Interpretation, Operator
from .data import FormulaPlan, UnjudgedPlan

FUNCTIONS = {
    "in_range": "whether the number, without its fraction, is in the range of the data type of the output",
    "any": "whether the condition is true for any of the elements of the input from which the result is computed",
    "all": "whether the condition is true for all of the elements of the input from which the result is computed",
    "idle": "whether the condition is true for an element that a device may multiply by 0: its weight is 0, or it "
    "meets padding only",
}
"""The meaning of functions that only conditions on elements have."""


def unjudged(
    operator: Operator, facts: Facts, family: Family | None, diagnostics: Diagnostics
) -> Iterator[UnjudgedPlan]:
    """The conditions of an operator, with its problems reported."""
    for item in operator.interpretations:
        if item.not_judged is None:
            continue
        if family is None:
            diagnostics.error(item.span, f"{operator.name} does not run: no condition of it can be looked at")
            continue
        scope = _scope(operator, facts, family)
        try:
            found = kind_of(item.not_judged.node, scope)
            if found is not Kind.BOOL:
                raise ExprError(f"expected {Kind.BOOL.value}, found {found.value}", 0, len(item.not_judged.text))
        except ExprError as error:
            span = item.not_judged.span
            if span is not None:
                span = span.inside(item.not_judged.text, error.at, error.length)
            diagnostics.error(span, error.message, error.hint)
            continue
        yield _planned(operator, item, item.not_judged.node, scope, family)


def _scope(operator: Operator, facts: Facts, family: Family) -> Scope:
    """The names that a condition may read: attributes, the elements of inputs, and what the family tells of places."""
    names = (field.python for field in operator.attributes)
    attributes = {name: operator.scope[name] for name in names if name in operator.scope}
    outputs = {name: Symbol(kind, "local") for name, (kind, _) in OUTPUT_NAMES.items()}
    return {**attributes, **outputs, **family.names_of_conditions(operator, facts)}


def _planned(operator: Operator, item: Interpretation, node: Node, scope: Scope, family: Family) -> UnjudgedPlan:
    reads = {part.id for part in node.walk() if isinstance(part, Name)}
    condition = FormulaPlan(formula(node), tuple(sorted(reads)), numbers(node, scope))
    when = None
    if item.when is not None:
        read = tuple(sorted(operator.reads(item.when.node)))
        when = FormulaPlan(formula(item.when.node), read, python(item.when.node, operator.scope))
    return UnjudgedPlan(f"{operator.name}-{item.id}", item.outputs, when, condition, tuple(_meanings(node, family)))


def _meanings(node: Node, family: Family) -> Iterator[tuple[str, str]]:
    """The names and functions of a condition that only conditions have, and what they mean."""
    names = {name: doc for name, (_, doc) in {**OUTPUT_NAMES, **family.told}.items()}
    used = dict.fromkeys(part for part in node.walk() if isinstance(part, (Name, Call)))
    for part in used:
        if isinstance(part, Name) and part.id in names:
            yield part.id, names[part.id]
        elif isinstance(part, Call) and part.function in FUNCTIONS:
            yield f"{part.function}(...)", FUNCTIONS[part.function]
