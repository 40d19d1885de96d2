"""The index: the operators that are done; and the catalogue: how many of DirectML's are, and all of them by kind."""

from __future__ import annotations

from collections.abc import Iterator

from ..model import CatalogueOperator
from ..plan import Plan
from .markdown import anchor, cell, code, heading, level_link, link, table


def built(plan: Plan) -> str:
    """The operators that are done, with what they do."""
    rows = [
        (f"[{op.name}]({op.python}.md)<br>{code(op.python)}", level_link(op.operator.since), cell(op.operator.summary))
        for op in plan.operators
    ]
    return table(("Operator, and in Python", "From level", "What it does"), rows)


def total(plan: Plan) -> str:
    """How many operators there are, and how many are done."""
    return f"{len(plan.operators)} of the {len(plan.facts.catalogue)} operators of DirectML"


def numbers(plan: Plan) -> dict[str, tuple[list[str], int]]:
    """The operators of each kind that are done, in the order of their names, and how many of the kind there are."""
    pages = _pages(plan)
    return {
        kind: (sorted(entry.name for entry in entries if entry.name in pages), len(entries))
        for kind, entries in _kinds(plan).items()
    }


def counts(plan: Plan) -> str:
    """How many operators of each kind there are, and how many are done."""
    rows = [(f"[{_title(kind)}](#{kind})", str(len(done)), str(total)) for kind, (done, total) in numbers(plan).items()]
    rows.append(("All", str(len(plan.operators)), str(len(plan.facts.catalogue))))
    return table(("Kind", "Done", "In DirectML"), rows)


def done(plan: Plan) -> str:
    """The operators that are done, by kind and level."""
    pages = _pages(plan)
    rows = [
        (f"[{entry.name}]({pages[entry.name]})", f"[{_title(kind)}](#{kind})", level_link(entry.since))
        for kind, entries in _kinds(plan).items()
        for entry in entries
        if entry.name in pages
    ]
    return table(("Operator", "Kind", "From level"), rows)


def kinds(plan: Plan) -> Iterator[tuple[str, str, str]]:
    """Every kind of operator: its anchor, its title, and its operators by level."""
    pages = _pages(plan)
    for kind, entries in _kinds(plan).items():
        rows = [
            (
                link(code(entry.name), entry.source),
                level_link(entry.since),
                f"[done]({pages[entry.name]})" if entry.name in pages else "",
            )
            for entry in entries
        ]
        title = f"{_title(kind)}: {len(numbers(plan)[kind][0])} of {len(entries)}"
        yield anchor(kind), title, table(("Operator", "From level", "Done"), rows)


def _kinds(plan: Plan) -> dict[str, list[CatalogueOperator]]:
    """The operators of each kind, by level."""
    levels = [level.name for level in plan.facts.levels]
    entries = sorted(plan.facts.catalogue.values(), key=lambda entry: (levels.index(entry.since), entry.name))
    return {kind: [e for e in entries if e.kind == kind] for kind in sorted({entry.kind for entry in entries})}


def _pages(plan: Plan) -> dict[str, str]:
    return {op.name: f"{op.python}.md" for op in plan.operators}


def _title(kind: str) -> str:
    return heading(kind.replace("_", " ").capitalize())
