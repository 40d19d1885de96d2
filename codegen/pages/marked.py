"""The generated parts of pages that are otherwise written by hand: the lines between two marks."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable
from pathlib import Path

from .. import source
from ..diagnostics import Diagnostics
from ..plan import Plan
from ..plan.data import STATES
from .catalogue import of_kinds, runs
from .markdown import code

BEGIN = "<!-- generated from specs/ by `python -m codegen gen` -->"
END = "<!-- end of the generated lines -->"
PART = re.compile(f"^{re.escape(BEGIN)}\n.*?^{re.escape(END)}$", re.M | re.S)
WIDTH = 120


def how_far(plan: Plan, docs: str) -> str:
    """How many of DirectML's operators run, and which, by kind; ``docs`` leads to the folder of the pages."""
    total = len(plan.facts.catalogue)
    rows, slower, rest = [], [], []
    for kind, by_state in of_kinds(plan).items():
        title, number = kind.replace("_", " "), sum(map(len, by_state.values()))
        fast, slow, described = by_state["fast"], by_state["reference"], by_state["described"]
        if fast:
            rows.append(f"- {title}, {len(fast)} of {number}: {', '.join(map(code, fast))}")
        if slow:
            slower.append(f"{title} ({len(slow)} of {number})")
        if described:
            rest.append(f"{title} ({len(described)} of {number})")
    head = [
        f"**{runs(plan.operators)} of DirectML's {total} operators run**. These have fast kernels, by kind",
        f"([a page for each]({docs}reference/index.md), [all {total}]({docs}reference/catalogue.md)):",
    ]
    if slower:
        number = sum(op.runs and not op.is_fast for op in plan.operators)
        by = f"by [the reference]({docs}glossary.md#reference), in Python and NumPy"
        rows.append(f"- {number} more {'runs' if number == 1 else 'run'} {by}: {', '.join(slower)}")
    if rest:
        number = len(plan.operators) - runs(plan.operators)
        said = f"{number} more {'is' if number == 1 else 'are'} [described]({docs}glossary.md#described)"
        rows.append(f"- {said}, and can be checked, linted and explained: {', '.join(rest)}")
    return "\n".join([*head, "", *map(_filled, rows)])


def info(plan: Plan, docs: str) -> str:
    """What ``dmlcy info`` prints first."""
    levels = plan.facts.levels
    lines = [
        "$ dmlcy info",
        "dmlcy ...",
        "  Location        ...",
        f"  Operators       {_in_states(plan)}: {len(plan.facts.catalogue)} in all",
        f"  Feature levels  {levels[0].name} to {levels[-1].name}, {len(levels)} of them",
        "...",
    ]
    return "\n".join(["```console", *lines, "```"])


MARKED: dict[str, tuple[Callable[[Plan, str], str], str]] = {
    "README.md": (how_far, "docs/"),
    "docs/index.md": (how_far, ""),
    "docs/install.md": (info, ""),
}


def marked_page(plan: Plan, root: Path, name: str) -> str | None:
    """A page of the checkout with its generated part as it is now, None where there is no such page; raises SpecError.

    All pages are looked at, so that all problems are reported.
    """
    diagnostics = Diagnostics()
    texts = {known: source.read(root / known).decode() for known in MARKED if (root / known).exists()}
    for known, text in texts.items():
        parts = len(PART.findall(text))
        if parts != 1:
            hint = f"a generated part is enclosed by {BEGIN} and {END}"
            diagnostics.error(None, f"{known} has {parts} generated parts, and must have 1", hint)
    diagnostics.raise_if_any()
    if name not in texts:
        return None
    generated, docs = MARKED[name]
    head, tail = PART.split(texts[name])
    return "\n".join([f"{head}{BEGIN}", generated(plan, docs), f"{END}{tail}"])


def _in_states(plan: Plan) -> str:
    numbers = {state: sum(plan.state(name) == state for name in plan.facts.catalogue) for state in reversed(STATES)}
    return ", ".join(f"{number} {state}" for state, number in numbers.items() if number)


def _filled(row: str) -> str:
    return textwrap.fill(row, WIDTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
