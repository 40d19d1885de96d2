"""Which elements of results are not judged, in sentences."""

from __future__ import annotations

from collections.abc import Iterator

from ..plan.data import UnjudgedPlan
from .markdown import code, escape


def left_out(plan: UnjudgedPlan) -> Iterator[str]:
    """The condition of an interpretation, and the meaning of its names."""
    of = f" of {' and '.join(map(code, plan.outputs))}" if plan.outputs else ""
    elements = f"lements{of} for which {code(plan.condition.text)} is true"
    first = "E" if plan.when is None else f"If {code(plan.when.text)}, e"
    yield f"{first}{elements} are [not judged](../glossary.md#not-judged) ({code(plan.id)})."
    meanings = [f"{code(name)} {_verb(doc)} {escape(doc)}" for name, doc in dict(plan.meanings).items()]
    if meanings:
        yield f"Here, {'; '.join(meanings)}."


def _verb(doc: str) -> str:
    return "says" if doc.startswith("whether") else "is"
