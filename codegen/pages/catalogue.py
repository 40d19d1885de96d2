"""The index: the operators that are built, by family, and those that are not, by kind and level."""

from __future__ import annotations

from collections.abc import Iterator

from ..plan import Plan
from .markdown import cell, code, level_link, table, wrapped


def families(plan: Plan) -> Iterator[tuple[str, str]]:
    """The operators that are built, in a table per family."""
    for family in plan.families:
        rows = [
            (f"[{op.name}]({op.python}.md)", code(op.python), level_link(op.operator.since), cell(op.operator.summary))
            for op in family.operators
        ]
        yield family.family.name, table(("Operator", "In Python", "From level", "What it does"), rows)


def unbuilt(plan: Plan) -> Iterator[tuple[str, int, list[tuple[str, str]]]]:
    """The operators that are not, per kind: how many, and their names by level."""
    built = {operator.name for operator in plan.operators}
    rest = [entry for entry in plan.facts.catalogue.values() if entry.name not in built]
    for kind in sorted({entry.kind for entry in rest}):
        those = [entry for entry in rest if entry.kind == kind]
        rows = []
        for level in plan.facts.levels:
            names = sorted(entry.name for entry in those if entry.since == level.name)
            if names:
                rows.append((level.name, wrapped(f"{level.name}: {', '.join(names)}", 2)))
        yield kind.replace("_", " ").capitalize(), len(those), rows
