"""The page of feature levels, and what each level brought to a tensor or an enum."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ..model import Facts, Level
from ..plan import OperatorPlan, Plan
from .markdown import anchor, cell, code, table, wrapped


def support(op: OperatorPlan, facts: Facts, types: str, ranks: str) -> Iterator[tuple[Level, list[str], str]]:
    """The levels that widened a tensor, from the operator's own on: data types added, all ranks then allowed."""
    dtypes: list[str] = []
    dimensions: list[int] = []
    for index in range(op.since, len(facts.levels)):
        level = facts.levels[index]
        rows = [row for row in op.operator.types[types] if facts.level_index(row.since) <= index]
        known = [name for row in rows for name in row.dtypes]
        spans = [row for row in op.operator.ranks[ranks] if facts.level_index(row.since) <= index]
        reach = sorted({r for row in spans for r in range(row.min, row.max + 1) if r <= level.max_rank})
        added = [name for name in known if name not in dtypes]
        if added or reach != dimensions:
            yield level, added, _ranks(reach)
        dtypes, dimensions = known, reach


def _ranks(ranks: Sequence[int]) -> str:
    if len(ranks) > 2 and list(ranks) == list(range(ranks[0], ranks[-1] + 1)):
        return f"{ranks[0]} to {ranks[-1]}"
    return " or ".join(map(str, ranks))


def kinds(dtypes: Sequence[str]) -> list[str]:
    """Data types, one line per kind, the widest first."""
    found: dict[str, list[str]] = {}
    for dtype in dtypes:
        found.setdefault(dtype.rstrip("0123456789"), []).append(dtype)
    return [", ".join(sorted(names, key=lambda name: -int(re.sub(r"\D", "", name) or 0))) for names in found.values()]


def level_summary(plan: Plan) -> str:
    """All levels in one table."""
    rows = []
    for level in plan.facts.levels:
        count = sum(entry.since == level.name for entry in plan.facts.catalogue.values())
        name = f"[{level.name}](#level-{level.name})"
        rows.append((name, level.directml, str(count), str(level.max_rank), cell(level.windows or "")))
    return table(("Level", "DirectML", "New operators", "Most dimensions", "Part of"), rows)


def levels(plan: Plan) -> Iterator[tuple[Level, str, list[str]]]:
    """Each level, its anchor, and what it brought."""
    built = {operator.name: operator for operator in plan.operators}
    widened = _widened(plan)
    for level in plan.facts.levels:
        brought = []
        new = sorted(entry.name for entry in plan.facts.catalogue.values() if entry.since == level.name)
        names = [f"[{name}]({built[name].python}.md)" if name in built else name for name in new]
        brought += [f"Operators ({len(new)}): {', '.join(names)}."] if new else []
        dtypes = [dtype.name for dtype in plan.facts.dtypes if dtype.since == level.name]
        brought += [f"Data types: {', '.join(dtypes)}."] if dtypes else []
        for enum in sorted(plan.facts.enums.values(), key=lambda enum: enum.python):
            if enum.python == "FeatureLevel":
                continue
            fresh = [member.name for member in enum.members if member.since == level.name]
            if fresh:
                brought.append(f"Members of [{enum.python}](enums.md#{enum.name}): {', '.join(fresh)}.")
        brought += widened[level.name]
        yield level, anchor(f"level-{level.name}"), [wrapped(text, 2) for text in brought]


def _widened(plan: Plan) -> dict[str, list[str]]:
    """For each level, the tensors that it widened."""
    said: dict[str, list[str]] = {level.name: [] for level in plan.facts.levels}
    for op in plan.operators:
        groups: dict[tuple[str, tuple[str, ...], str], list[str]] = {}
        for field in op.operator.tensors:
            for level, added, dimensions in support(op, plan.facts, field.types or "", field.ranks or ""):
                if level.name != op.operator.since:
                    groups.setdefault((level.name, tuple(added), dimensions), []).append(code(field.python))
        for (name, new, dimensions), tensors in groups.items():
            what = f"also {', '.join(new)}" if new else f"{dimensions} dimensions"
            said[name].append(f"[{op.name}]({op.python}.md), {' and '.join(tensors)}: {what}.")
    return said
