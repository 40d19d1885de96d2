"""The errors: those of an operator on its page, and the index of all by slug."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ..model import ErrorText, Facts
from ..plan import OperatorPlan, Plan, RulePlan
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
    (
        "InvalidDataError",
        "ValueError",
        "When the operator runs, an element of a tensor has a value that the operator does not take.",
    ),
    ("ModelError", "ValueError", "A model file, or an operator desc in JSON, cannot be understood."),
    ("OperatorNotRunnableError", "NotImplementedError", "An operator is described, and does not run yet."),
)
ONNX_GROUPS = {
    "places": ("DML-ONNX-cpu-", "DML-ONNX-alone-", "DML-ONNX-model-", "DML-ONNX-level"),
    "files": ("DML-ONNX-file-", "DML-ONNX-graph-"),
}
"""How the ids of some tables of ONNX models begin."""


def rule_error(rule: RulePlan) -> str:
    """The class of a broken rule."""
    return "InvalidDataError" if rule.rule.data else "InvalidDescError"


def implicit_errors(facts: Facts, op: OperatorPlan) -> Iterator[tuple[ErrorText, list[str]]]:
    """The errors that follow from the fields of an operator, each with its ids."""
    known = {id_ for id_, _ in op.ids} - {rule.id for rule in op.rules}
    for error in facts.implicit:
        subjects = ["operator", *(item.field.python for item in (*op.fields, *op.choices))]
        ids = [f"DML-{op.name}-{subject}-{error.id}" for subject in subjects]
        found = [id_ for id_ in ids if id_ in known]
        if found:
            yield error, found


def implicit_table(facts: Facts, op: OperatorPlan) -> str:
    """The errors that follow from the fields, as the page of the operator shows them: every id is an anchor."""
    rows = []
    for error, ids in implicit_errors(facts, op):
        subjects = [f"{anchor(id_)}{code(id_.split('-')[2])}" for id_ in ids]
        rows.append((code(error.id), code(error.error), cell(error.about), ", ".join(subjects)))
    return table(("Slug", "Class", "The error", "Subjects"), rows)


def error_tables(plan: Plan) -> Mapping[str, str]:
    """The tables of the index: classes, slugs of fields, slugs of rules, and the ids that belong to no operator."""
    classes = [(code(name), code(base), about) for name, base, about in EXCEPTIONS]
    return {
        "classes": table(("Class", "Also a", "When"), classes),
        "slugs": table(("Slug, and error", "Message", "Operators"), _slugs(plan)),
        "rules": table(("Slug, and error", "When", "Operators"), _rules(plan)),
        "model": table(("Id, and error", "When"), _of_files(plan, "MODEL")),
        "graph": table(("Id, and error", "When"), _of_files(plan, "GRAPH")),
        "provisional": _provisional(plan),
    }


def onnx_errors(plan: Plan) -> Mapping[str, str]:
    """The tables of the ids of ONNX models: where nodes go, files, and all others."""
    groups: dict[str, list[tuple[str, str]]] = {"places": [], "files": [], "nodes": []}
    for error in sorted(plan.facts.model_errors, key=lambda error: error.id):
        if error.id.startswith("DML-ONNX-"):
            group = next((name for name, starts in ONNX_GROUPS.items() if error.id.startswith(starts)), "nodes")
            groups[group].append((f"{anchor(error.id)}{code(error.id)}", cell(error.about)))
    return {name: table(("Id", "When"), rows) for name, rows in groups.items()}


def _of_files(plan: Plan, kind: str) -> Iterator[tuple[str, str]]:
    """A row for each id of model files, or of graphs."""
    for error in sorted(plan.facts.model_errors, key=lambda error: error.id):
        if error.id.startswith(f"DML-{kind}-"):
            yield f"{anchor(error.id)}{_slug(error.id, error.error)}", cell(error.about)


def _provisional(plan: Plan) -> str:
    """The operators that do not run: by their names, or as all except some where fewer run."""
    named: dict[bool, list[str]] = {True: [], False: []}
    for op in plan.operators:
        named[op.runs].append(f"[{op.name}]({op.python}.md#rules)")
    if not named[False]:
        return ""
    runs = len(named[True]) < len(named[False])
    return f"These operators {'run' if runs else 'do not run'}: {', '.join(named[runs])}."


def _slugs(plan: Plan) -> Iterator[tuple[str, str, str]]:
    """A row for each error that follows from a field."""
    having: dict[str, dict[str, str]] = {error.id: {} for error in plan.facts.implicit}
    for op in plan.operators:
        for error, ids in implicit_errors(plan.facts, op):
            having[error.id][op.name] = ids[0]
    for error in plan.facts.implicit:
        operators = _operators(having[error.id], [op.name for op in plan.operators])
        yield _slug(error.id, error.error), cell(error.message), operators


def _operators(having: Mapping[str, str], every: Sequence[str]) -> str:
    """The operators that have an error, each linked to its first id; where fewer lack it, all except these."""
    rest = [name for name in every if name not in having]
    if len(rest) < len(having):
        return f"every operator{' except ' if rest else ''}{', '.join(map(code, rest))}"
    return ", ".join(_linked(name, id_) for name, id_ in having.items())


def _rules(plan: Plan) -> Iterator[tuple[str, str, str]]:
    """A row for each slug of a rule, with its subject; operators whose rules mean the same are together."""
    having: dict[tuple[str, str, str], list[str]] = {}
    for op in plan.operators:
        for rule in op.rules:
            slug = rule.id.removeprefix(f"DML-{op.name}-")
            key = slug, rule_error(rule), f"{rule.rule.about} {rule.rule.says}"
            having.setdefault(key, []).append(_linked(op.name, rule.id))
    for (slug, error, when), operators in sorted(having.items()):
        yield _slug(slug, error), cell(when), ", ".join(operators)


def _slug(slug: str, error: str) -> str:
    """The end of an id, or an id, and the class of its violations."""
    return f"{code(slug)}<br>{code(error)}"


def _linked(operator: str, id_: str) -> str:
    """An operator, linked to an id on its page."""
    return f"[{operator}]({operator.lower()}.md#{id_})"
