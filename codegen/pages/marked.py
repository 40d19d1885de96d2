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
from .catalogue import runs

BEGIN = "<!-- generated from specs/ by `python -m codegen gen` -->"
END = "<!-- end of the generated lines -->"
PART = re.compile(f"^{re.escape(BEGIN)}\n.*?^{re.escape(END)}$", re.M | re.S)
WIDTH = 120


def how_far(plan: Plan, docs: str) -> str:
    """How many of DirectML's operators run, and how; ``docs`` leads to the folder of the pages."""
    total = len(plan.facts.catalogue)
    fast = sum(op.is_fast for op in plan.operators)
    slower, rest = runs(plan.operators) - fast, len(plan.operators) - runs(plan.operators)
    by_reference = f"by [the reference]({docs}glossary.md#reference) in Python and NumPy"
    catalogue = f"{docs}reference/catalogue.md"
    if fast == total:
        return f"dmlcy runs [all of DirectML's {total} operators]({catalogue}) by compiled kernels."
    parts = [f"{fast} by compiled kernels"] if fast else []
    parts += [f"{slower} {by_reference}"] if slower else []
    said = f"dmlcy runs [{runs(plan.operators)} of DirectML's {total} operators]({catalogue})"
    said += f": {' and '.join(parts)}." if parts else "."
    if rest:
        described = f"[described]({docs}glossary.md#described)"
        said += f" {rest} more {'is' if rest == 1 else 'are'} {described}, and can be checked, linted and explained."
    return textwrap.fill(said, WIDTH, break_long_words=False, break_on_hyphens=False)


def info(plan: Plan, docs: str) -> str:
    """The first lines of ``dmlcy info``."""
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
