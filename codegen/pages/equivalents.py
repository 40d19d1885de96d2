"""The same in other libraries: the section of an operator's page, and the page with what the code imports."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from ..model import Difference, Equivalent, Facts, Library, Outcome
from ..plan import Plan
from .markdown import block, cell, code, escape, heading, link, wrapped
from .values import prompt

SINGLE = (ast.Call, ast.Name, ast.Attribute, ast.Subscript, ast.Constant)


def sections(
    equivalents: tuple[Equivalent, ...], facts: Facts, linked: Callable[[str], str] = escape
) -> Iterator[tuple[str, list[str]]]:
    """Each library that has equivalents, and its paragraphs; ``linked`` makes Markdown of their text."""
    for library in facts.libraries:
        parts = [part for same in equivalents if same.library == library.name for part in _paragraphs(same, linked)]
        if parts:
            yield heading(library.name), parts


def _paragraphs(same: Equivalent, linked: Callable[[str], str]) -> Iterator[str]:
    yield link(code(same.call), same.source)
    if same.note:
        yield wrapped(linked(same.note))
    if same.shown:
        yield _session(same.setup, same.shown)
    for one in same.differs:
        yield from _difference(one, linked)


def _difference(one: Difference, linked: Callable[[str], str]) -> Iterator[str]:
    yield wrapped(f"**Differs:** {linked(one.says)}")
    yield _session(one.setup, (one.ours, one.theirs))


def _session(setup: str, outcomes: tuple[Outcome, ...]) -> str:
    """The lines that are typed at a prompt, and the lines that are printed."""
    lines = [prompt(statement) for statement in statements(setup)]
    for outcome in outcomes:
        if outcome.raises is not None:
            lines += [prompt(outcome.code), "Traceback (most recent call last):", "    ...", outcome.raises]
        else:
            lines += [prompt(listed(outcome.code)), repr(outcome.gives)]
    return block("\n".join(lines), "pycon")


def statements(text: str) -> Iterator[str]:
    """The statements of a program, one by one."""
    for statement in ast.parse(text).body:
        yield ast.get_source_segment(text, statement) or ""


def listed(text: str) -> str:
    """The expression of an array as that of nested lists."""
    single = isinstance(ast.parse(text, mode="eval").body, SINGLE)
    return f"{text}.tolist()" if single else f"({text}).tolist()"


def libraries(plan: Plan) -> Iterator[tuple[str, str, str, list[str]]]:
    """Each library: its name, the release tested, what the code imports, and its equivalents by operator."""
    for library in plan.facts.libraries:
        rows = [
            f"[{op.name}]({op.python}.md#{_slug(library)}): {link(code(same.call), same.source)}"
            for op in plan.operators
            for same in op.operator.equivalents
            if same.library == library.name
        ]
        tested = "" if library.tested is None else cell(library.tested)
        prelude = block(library.prelude.strip(), "python") if library.prelude else ""
        yield heading(library.name), tested, prelude, rows


def _slug(library: Library) -> str:
    """The anchor of the heading on an operator's page."""
    return escape(library.name).lower()
