"""Words that the explanations share."""

from __future__ import annotations

from collections.abc import Sequence

from dmlcy._show.explain.facts import Facts
from dmlcy._show.explain.page import INDENT, Page


def see(page: Page, facts: Facts) -> None:
    """Where the documentation of it is."""
    places = [place for place in (facts.get("page"), facts["source"]) if place]
    if places:
        page.section("See")
    for place in places:
        page.code(place, INDENT)


def in_words(loop: str) -> str:
    """``d in spatial``, or ``v of indices``, in words."""
    if " in " not in loop:
        return f"for each element {loop}"
    index, _, count = loop.partition(" in ")
    last = str(int(count) - 1) if count.isdigit() else f"({count}) - 1" if " if " in count else f"{count} - 1"
    return f"for each {index} from 0 to {last}"


def let_name(let: Facts) -> str:
    """The name of a quantity, with its index."""
    return f"{let['name']}[{let['for'].partition(' in ')[0]}]" if let["for"] else str(let["name"])


def between(since: str, until: str | None) -> str:
    """The feature levels from one on, before another."""
    return f"{since} and later" if until is None else f"from {since} on, before {until}"


def listed(names: Sequence[str]) -> str:
    """Names in a sentence."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
