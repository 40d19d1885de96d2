"""The conditions of interpretations: which elements of an output are not judged, for no document promises them."""

from __future__ import annotations

from collections.abc import Iterator

from ..diagnostics import Diagnostics
from ..expr.nodes import ExprError, Name, Node
from ..expr.numbers import numbers
from ..expr.python import python
from ..expr.text import formula
from ..expr.types import Kind, Scope, kind_of
from ..families import Family
from ..families.base import OUTPUT_NAMES
from ..model import Facts, Interpretation, Operator
from .data import FormulaPlan, UnjudgedPlan


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
        yield _planned(operator, item, item.not_judged.node, scope)


def _scope(operator: Operator, facts: Facts, family: Family) -> Scope:
    """The names that a condition may read: attributes, the elements of inputs, and what the family tells of places."""
    names = (field.python for field in operator.attributes)
    attributes = {name: operator.scope[name] for name in names if name in operator.scope}
    return {**attributes, **OUTPUT_NAMES, **family.names_of_conditions(operator, facts)}


def _planned(operator: Operator, item: Interpretation, node: Node, scope: Scope) -> UnjudgedPlan:
    reads = {part.id for part in node.walk() if isinstance(part, Name)}
    condition = FormulaPlan(formula(node), tuple(sorted(reads)), numbers(node, scope))
    when = None
    if item.when is not None:
        read = tuple(sorted(operator.reads(item.when.node)))
        when = FormulaPlan(formula(item.when.node), read, python(item.when.node, operator.scope))
    return UnjudgedPlan(f"{operator.name}-{item.id}", item.outputs, when, condition)
