"""The index: the operators that have a page; and the catalogue: all operators of DirectML, with the state of each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..model import CatalogueOperator
from ..plan import OperatorPlan, Plan
from ..plan.data import STATES
from .markdown import anchor, cell, code, heading, level_link, link, table

FILTERS = ("Kind", "Family", "From level", "State")
"""The columns by which a script of the site filters the catalogue."""


def state_link(state: str, docs: str = "../") -> str:
    """A state, linked to what it means; ``docs`` leads to the folder of the pages."""
    return f"[{state}]({docs}glossary.md#{state})"


def with_pages(plan: Plan) -> str:
    """The operators that have a page, with what they do."""
    rows = [
        (
            f"[{op.name}]({op.python}.md)<br>{code(op.python)}",
            level_link(op.operator.since),
            state_link(op.state),
            cell(op.operator.summary),
        )
        for op in plan.operators
    ]
    return table(("Operator, and in Python", "From level", "State", "Summary"), rows)


def runs(operators: Iterable[OperatorPlan]) -> int:
    """How many operators run."""
    return sum(op.runs for op in operators)


def total(plan: Plan) -> str:
    """How many operators there are, and how many of them run and are described."""
    number = runs(plan.operators)
    rest = len(plan.operators) - number
    said = [
        f"{number} of DirectML's {len(plan.facts.catalogue)} operators run",
        *([f"{rest} {'is' if rest == 1 else 'are'} described"] if rest else []),
        *(["the others are listed"] if some_are_listed(plan) else []),
    ]
    *first, last = said
    return f"{', '.join(first)}, and {last}" if first else last


def some_are_listed(plan: Plan) -> bool:
    """Whether an operator has no spec."""
    return len(plan.operators) < len(plan.facts.catalogue)


def of_kinds(plan: Plan) -> dict[str, dict[str, list[str]]]:
    """The operators of each kind by state, in the order of their names."""
    entries = sorted(plan.facts.catalogue.values(), key=lambda entry: entry.name)
    found: dict[str, dict[str, list[str]]] = {
        kind: {state: [] for state in STATES} for kind in sorted({entry.kind for entry in entries})
    }
    for entry in entries:
        found[entry.kind][plan.state(entry.name)].append(entry.name)
    return found


def counts(plan: Plan) -> str:
    """How many operators of each kind are in each state."""
    states = [state for state in reversed(STATES) if any(plan.state(name) == state for name in plan.facts.catalogue)]
    rows = []
    for kind, by_state in of_kinds(plan).items():
        numbers = [len(by_state[state]) for state in states]
        rows.append((f"{anchor(kind)}{_title(kind)}", *map(str, numbers), str(sum(numbers))))
    every = [sum(plan.state(name) == state for name in plan.facts.catalogue) for state in states]
    rows.append(("All", *map(str, every), str(sum(every))))
    return table(("Kind", *(state_link(state) for state in states), "In DirectML"), rows)


def catalogue(plan: Plan) -> str:
    """All operators, by name: each leads to its page, or to that of DirectML."""
    return table(("Operator", *FILTERS), (_row(plan, entry) for entry in _by_name(plan)))


def _row(plan: Plan, entry: CatalogueOperator) -> tuple[str, ...]:
    known = next((op for op in plan.operators if op.name == entry.name), None)
    name = link(code(entry.name), entry.source) if known is None else f"[{code(entry.name)}]({known.python}.md)"
    family = "" if known is None else known.operator.family
    return name, _title(entry.kind), cell(family), level_link(entry.since), plan.state(entry.name)


def _by_name(plan: Plan) -> Iterator[CatalogueOperator]:
    yield from sorted(plan.facts.catalogue.values(), key=lambda entry: entry.name)


def _title(kind: str) -> str:
    return heading(kind.replace("_", " ").capitalize())
