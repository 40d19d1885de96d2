"""The page of error codes: each with its numbers, what it means, the calls that return it, and what helps."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..model import Term
from ..plan import Plan
from .markdown import cell, code, escape, heading, link, table, wrapped


def codes(plan: Plan) -> Iterator[tuple[str, str, str, str, str]]:
    """The heading of each code, its numbers and messages, its meaning, the calls that return it, and what helps."""
    for term in sorted((term for term in plan.facts.terms if term.value is not None), key=lambda one: one.value or 0):
        value = term.value or 0
        numbers = ", ".join(map(code, (f"0x{value:08X}", value - 2**32, value)))
        messages = "; ".join(map(escape, term.also))
        messages = messages[:1].upper() + messages[1:]
        rows = [(cell(one.call), cell(one.when), link("source", one.source)) for one in term.returned]
        calls = table(("Call", "When", "Said in"), rows)
        yield (
            heading(f"{value:08X} {term.name}"),
            wrapped(f"{numbers}. {messages}."),
            _spans(term.doc),
            calls,
            _helps(term),
        )


def _helps(term: Term) -> str:
    command = f"Run {code(term.command)}. " if term.command else ""
    page = f" [A page of its own](../{term.page.removeprefix('docs/')}) says more." if term.page else ""
    return wrapped(f"{command}Documentation: {link(term.name, term.source)}.{page}")


def _spans(text: str) -> str:
    """Text of a spec as a paragraph, in which the words between backticks are code."""
    parts = re.split(r"(`[^`]+`)", text)
    return wrapped("".join(code(part[1:-1]) if number % 2 else _escaped(part) for number, part in enumerate(parts)))


def _escaped(part: str) -> str:
    """Text between two spans of code, with the spaces around it, which ``escape`` would take away."""
    return re.sub(r"\S(.*\S)?", lambda found: escape(found[0]), part, flags=re.DOTALL)
