"""The axes along which an operator can be cut, as its page shows them."""

from __future__ import annotations

from collections.abc import Iterable

from ..expr.text import formula
from ..model import Independent
from .markdown import cell, code, table
from .shapes import last


def independent_table(declared: Iterable[Independent]) -> str | None:
    """A row for each declaration; None where there is none."""
    rows = [(", ".join(_axes(one)), " ".join(_said(one))) for one in declared]
    return table(("Axis of each tensor", "Independent parts"), rows) if rows else None


def _axes(one: Independent) -> list[str]:
    return [f"{code(formula(axis.node))} of {code(name)}" for name, axis in one.axes.items()]


def _said(one: Independent) -> Iterable[str]:
    yield cell(one.doc)
    if one.index is not None and one.count is not None:
        yield f"{code(one.index)} runs from 0 to {code(last(formula(one.count.node)))}."
    if one.when is not None:
        yield f"The row applies only if {code(formula(one.when.node))}."
    takes, gives = formula(one.takes.node), formula(one.gives.node)
    if takes != "1":
        yield f"The size of a slice of the input along the axis must be a multiple of {code(takes)}."
    if gives != "1":
        given = "each element of the input gives" if takes == "1" else f"{code(takes)} elements of the input give"
        yield f"Along this axis, {given} {code(gives)} elements of the output."
    for name, entry in one.sized.items():
        size = code(f"{name}[{formula(entry.node)}]")
        yield f"In a call for a slice, {size} must be the size of the slice of the output."
