"""The page of enums: each with its members, the levels that brought them, and the operators that take it."""

from __future__ import annotations

from collections.abc import Iterator

from ..model import Enum, Facts
from ..plan import Plan
from .markdown import anchor, cell, code, level_link, table


def members(enum: Enum, facts: Facts, since: int = 0) -> str:
    """The members of an enum; none is there before the level of index ``since``."""
    told = any(member.doc for member in enum.members)
    renamed = any(member.name[0].isdigit() for member in enum.members)
    rows = []
    for member in enum.members:
        level = facts.levels[max(since, facts.level_index(member.since))].name
        python = [code(_member(member.name))] if renamed else []
        about = [cell(member.doc)] if told else []
        rows.append((code(member.name), *python, str(member.value), level_link(level), *about))
    head = ("Member", *(["Python"] if renamed else []), "Value", "From level", *(["Meaning"] if told else []))
    return table(head, rows)


def _member(name: str) -> str:
    return f"LEVEL_{name}" if name[0].isdigit() else name


def enum_sections(plan: Plan) -> Iterator[tuple[Enum, str, list[str], str]]:
    """Each enum, its anchor, the operators with a page that take it, and its members."""
    for enum in sorted(plan.enums, key=lambda enum: enum.python):
        users = [
            f"[{op.name}]({op.python}.md)"
            for op in plan.operators
            if any(field.enum == enum.name for field in op.operator.fields)
        ]
        yield enum, anchor(enum.name), users, members(enum, plan.facts)
