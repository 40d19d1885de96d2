"""The axes along which an operator can be cut, as its page shows them."""

from __future__ import annotations

from collections.abc import Iterable

from ..expr.text import formula
from ..model import Independent
from .markdown import cell, code, table


def independent_table(declared: Iterable[Independent]) -> str | None:
    """A row for each declaration; None where there is none."""
    rows = [(", ".join(_axes(one)), " ".join(_said(one))) for one in declared]
    return table(("Axes", "Meaning"), rows) if rows else None


def _axes(one: Independent) -> list[str]:
    return [f"{code(formula(axis.node))} of {code(name)}" for name, axis in one.axes.items()]


def _said(one: Independent) -> Iterable[str]:
    yield cell(one.doc)
    if one.index is not None and one.count is not None:
        yield f"For {code(f'{one.index} in {formula(one.count.node)}')}."
    if one.when is not None:
        yield f"Where {code(formula(one.when.node))}."
    takes, gives = formula(one.takes.node), formula(one.gives.node)
    if takes != "1":
        yield f"A slice is of a multiple of {code(takes)} elements."
    if gives != "1":
        yield f"{'Each element gives' if takes == '1' else 'So many give'} {code(gives)}."
    for name, entry in one.sized.items():
        yield f"{code(f'{name}[{formula(entry.node)}]')} is the size of the slice of the output."
