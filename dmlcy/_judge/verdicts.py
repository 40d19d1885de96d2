"""The verdicts of outputs, nodes and cases: which is worse, which exit status each has, and how many there are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

MISSING: Final = "missing"
VERDICTS: Final = ("passed", "not judged", "suspect", MISSING, "failed", "unreadable")
"""The worst last."""
SHOWN: Final = ("passed", "failed", MISSING, "unreadable", "suspect", "not judged")
"""The order in which reports count them."""
DOUBTFUL: Final = ("suspect", "not judged")
"""Verdicts that are no failure, except where the user asks for strictness."""
STATUS: Final = {"unreadable": 2, "failed": 1, MISSING: 1}
"""The exit status; of the others it is 0."""


def worst(verdicts: Iterable[str]) -> str:
    """The worst of some verdicts; missing where there is none."""
    return max(verdicts, key=VERDICTS.index, default=MISSING)


def counted(verdicts: Iterable[str], unjudged: int, always: Sequence[str] = ()) -> str:
    """How many there are of each verdict, of those in ``always`` even none, and of the elements that are not judged."""
    counts = Counter(verdicts)
    found = ", ".join(f"{counts[name]} {name}" for name in SHOWN if counts[name] or name in always)
    return f"{found}; {unjudged} element{'' if unjudged == 1 else 's'} not judged" if unjudged else found
