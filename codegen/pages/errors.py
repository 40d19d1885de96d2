"""The page of errors: classes, slugs, and every id by operator."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ..plan import Plan, RulePlan
from .markdown import anchor, cell, code, table

EXCEPTIONS = (
    ("InvalidDescError", "ValueError", "A field has a value that its operator does not take."),
    (
        "InvalidDataTypeError",
        "TypeError",
        "A value has the wrong type, or a tensor has a data type that its operator does not take.",
    ),
    (
        "FeatureLevelError",
        "ValueError",
        "An operator, data type, rank or enum member was added at a later feature level.",
    ),
    ("InvalidDataError", "ValueError", "A value inside a tensor, found when the operator runs, is not acceptable."),
    ("ModelError", "ValueError", "A model file, or an operator desc in JSON, cannot be understood."),
)


def rule_error(rule: RulePlan) -> str:
    """The class of a broken rule."""
    return "InvalidDataError" if rule.rule.data else "InvalidDescError"


@dataclass(frozen=True, slots=True)
class ErrorGroup:
    """The ids of one operator."""

    title: str
    anchor: str
    rows: str


def _id(id_: str, error: str) -> str:
    """An id that is explained where it stands, and its class."""
    return f"{anchor(id_)}{code(id_)}<br>{code(error)}"


def errors(plan: Plan) -> Iterator[ErrorGroup]:
    """Every id of an operator, with its class and meaning."""
    implicit = {error.id: error for error in plan.facts.implicit}
    known = dict(plan.ids)
    for op in plan.operators:
        found: dict[str, tuple[str, str]] = {}
        for slug, error in implicit.items():
            if f"DML-{op.name}-operator-{slug}" in known:
                id_ = f"DML-{op.name}-operator-{slug}"
                found[id_] = (_id(id_, error.error), cell(error.about))
        for item in (*op.fields, *op.choices):
            found.update({id_: (_id(id_, error), cell(about)) for id_, error, about in item.ids})
        for rule in op.rules:
            linked = f"[{code(rule.id)}]({op.python}.md#{rule.id})"
            meaning = f"{cell(f'{rule.rule.about} {rule.rule.says}')}: {code(rule.text, in_table=True)} must hold."
            found[rule.id] = (f"{linked}<br>{code(rule_error(rule))}", meaning)
        rows = [found[id_] for id_ in known if id_ in found]
        title = f"[{op.name}]({op.python}.md)"
        yield ErrorGroup(title, anchor(op.name), table(("Id, and error", "When"), rows))


def error_tables(plan: Plan) -> Mapping[str, str]:
    """The tables that belong to no operator."""
    model = sorted(plan.facts.model_errors, key=lambda error: error.id)
    return {
        "classes": table(
            ("Class", "Also a", "When"), [(code(name), code(base), about) for name, base, about in EXCEPTIONS]
        ),
        "slugs": table(
            ("Slug, and error", "Message"),
            [(f"{code(e.id)}<br>{code(e.error)}", cell(e.message)) for e in plan.facts.implicit],
        ),
        "model": table(
            ("Id, and error", "When"), [(_id(e.id, e.error), cell(e.about)) for e in model]
        ),
    }  # fmt: skip
