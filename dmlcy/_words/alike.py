"""Names that are like others: what was meant by a misspelt one."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher, get_close_matches

from dmlcy._words.values import quote


def closest(name: str, names: Sequence[str]) -> str | None:
    """The name that was probably meant."""
    folded, wanted = {known.upper(): known for known in names}, name[:60].upper()
    begun = [known for known in folded if len(wanted) > 2 and known.startswith(wanted)]
    if begun:
        return folded[begun[0]]
    ended = [known for known in folded if len(wanted) > 2 and known.endswith(f"_{wanted}")]  # RELU: ACTIVATION_RELU
    if ended:
        return folded[min(ended, key=len)]
    close = get_close_matches(wanted, folded, 2, 0.6)
    if len(close) == 2 and _likeness(wanted, close[0]) == _likeness(wanted, close[1]):
        return None
    return folded[close[0]] if close else None


def _likeness(one: str, other: str) -> float:
    """From 0 to 1, as get_close_matches counts it."""
    return SequenceMatcher(None, other, one).ratio()


def having(part: str, names: Sequence[str]) -> list[str]:
    """The names that consist of a word, or of several, and others: padding in start_padding and end_padding."""
    return [name for name in names if name.startswith(f"{part}_") or name.endswith(f"_{part}")]


def without(prefix: str, name: str) -> str:
    """The name without a prefix that it has in capital or small letters."""
    return name[len(prefix) :] if name[: len(prefix)].upper() == prefix else name


def misspelt(unknown: Sequence[str], missing: Sequence[str]) -> dict[str, str]:
    """Names that are missing, each with the unknown one that was meant for it: the most alike first, none twice."""
    found: dict[str, str] = {}
    pairs = [(_likeness(_folded(one), _folded(name)), name, one) for name in missing for one in unknown[:40]]
    for likeness, name, one in sorted(pairs, key=lambda pair: -pair[0]):
        if likeness >= 0.7 and name not in found and one not in found.values():
            found[name] = one
    return found


def _folded(name: str) -> str:
    return name[:60].upper().replace("_", "")


def did_you_mean(name: str, names: Sequence[str]) -> str:
    """The question, or nothing."""
    close = closest(name, names)
    return f"Did you mean {quote(close)}?" if close else ""
