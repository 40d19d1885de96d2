"""The index: the operators that are built; and the catalogue: all of them, by kind and level."""

from __future__ import annotations

from collections.abc import Iterator

from ..model import CatalogueOperator
from ..plan import Plan
from .markdown import anchor, cell, code, heading, level_link, link, table


def built(plan: Plan) -> str:
    """The operators that are built."""
    rows = [
        (f"[{op.name}]({op.python}.md)<br>{code(op.python)}", level_link(op.operator.since), cell(op.operator.summary))
        for op in plan.operators
    ]
    return table(("Operator, and in Python", "From level", "What it does"), rows)


def counts(plan: Plan) -> str:
    """How many operators of each kind there are, and how many are built."""
    rows = []
    for kind, entries in _kinds(plan).items():
        made = sum(entry.name in _pages(plan) for entry in entries)
        rows.append((f"[{_title(kind)}](catalogue.md#{kind})", str(made), str(len(entries))))
    rows.append(("All", str(len(plan.operators)), str(len(plan.facts.catalogue))))
    return table(("Kind", "Built", "In DirectML"), rows)


def kinds(plan: Plan) -> Iterator[tuple[str, str, str]]:
    """Every kind of operator: its anchor, its title, and its operators by level."""
    pages = _pages(plan)
    levels = [level.name for level in plan.facts.levels]
    for kind, entries in _kinds(plan).items():
        rows = [
            (link(code(entry.name), entry.source) + pages.get(entry.name, ""), level_link(entry.since))
            for entry in sorted(entries, key=lambda entry: (levels.index(entry.since), entry.name))
        ]
        title = f"{_title(kind)}: {sum(entry.name in pages for entry in entries)} of {len(entries)}"
        yield anchor(kind), title, table(("Operator", "From level"), rows)


def _kinds(plan: Plan) -> dict[str, list[CatalogueOperator]]:
    entries = plan.facts.catalogue.values()
    return {kind: [e for e in entries if e.kind == kind] for kind in sorted({entry.kind for entry in entries})}


def _pages(plan: Plan) -> dict[str, str]:
    return {op.name: f": built, [{code(op.python)}]({op.python}.md)" for op in plan.operators}


def _title(kind: str) -> str:
    return heading(kind.replace("_", " ").capitalize())
