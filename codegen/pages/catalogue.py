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


def states_of(plan: Plan) -> list[str]:
    """The states that operators of the catalogue have, the best one first."""
    return [state for state in reversed(STATES) if any(plan.state(name) == state for name in plan.facts.catalogue)]


def filters(plan: Plan) -> tuple[str, ...]:
    """The columns by which a script of the site filters the catalogue; the state only if operators differ in it."""
    return FILTERS if len(states_of(plan)) > 1 else FILTERS[:-1]


def with_pages(plan: Plan) -> str:
    """The operators that have a page, with their summaries."""
    differ = len({op.state for op in plan.operators}) > 1
    rows = [
        (
            f"[{op.name}]({op.python}.md)<br>{code(op.python)}",
            level_link(op.operator.since),
            *([state_link(op.state)] if differ else []),
            cell(op.operator.summary),
        )
        for op in plan.operators
    ]
    return table(("Operator, and in Python", "From level", *(["State"] if differ else []), "Summary"), rows)


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
    states = states_of(plan)
    rows: list[tuple[str, ...]] = []
    if len(states) == 1:
        rows += [(f"{anchor(kind)}{_title(kind)}", str(len(of[states[0]]))) for kind, of in of_kinds(plan).items()]
        return table(("Kind", "Operators"), [*rows, ("All", str(len(plan.facts.catalogue)))])
    for kind, by_state in of_kinds(plan).items():
        numbers = [len(by_state[state]) for state in states]
        rows.append((f"{anchor(kind)}{_title(kind)}", *map(str, numbers), str(sum(numbers))))
    every = [sum(plan.state(name) == state for name in plan.facts.catalogue) for state in states]
    rows.append(("All", *map(str, every), str(sum(every))))
    return table(("Kind", *(state_link(state) for state in states), "In DirectML"), rows)


def catalogue(plan: Plan) -> str:
    """All operators, by name: each leads to its page, or to that of DirectML."""
    head = ("Operator", *filters(plan))
    return table(head, (_row(plan, entry)[: len(head)] for entry in _by_name(plan)))


def _row(plan: Plan, entry: CatalogueOperator) -> tuple[str, ...]:
    known = next((op for op in plan.operators if op.name == entry.name), None)
    name = link(code(entry.name), entry.source) if known is None else f"[{code(entry.name)}]({known.python}.md)"
    family = "" if known is None else known.operator.family
    return name, _title(entry.kind), cell(family), level_link(entry.since), plan.state(entry.name)


def _by_name(plan: Plan) -> Iterator[CatalogueOperator]:
    yield from sorted(plan.facts.catalogue.values(), key=lambda entry: entry.name)


def _title(kind: str) -> str:
    return heading(kind.replace("_", " ").capitalize())
