"""The helpers that print C++ for the types of fields: arrays, numbers of single precision, the text so far."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Protocol

LINE: Final = 100
"""The most characters of a line."""
MARGIN: Final = "    "


class Source(Protocol):
    """A text in C++ that is being written, as a type sees it."""

    lines: list[str]

    def operation(self, name: str, kind: str, members: Mapping[str, object]) -> None:
        """Adds the DML_OPERATOR_DESC of this name, from its members in JSON."""


def array(kind: str, name: str, entries: Sequence[str]) -> str:
    """An array; one without entries has one that its count leaves out."""
    line = f"const {kind} {name}[] = {{{', '.join(entries)}}};"
    if not entries:
        return f"const {kind} {name}[1] = {{}};"
    return line if len(line) <= LINE else "\n".join([f"const {kind} {name}[] = {{", *rows(entries), "};"])


def rows(entries: Iterable[str]) -> list[str]:
    """Entries in lines that are not too long."""
    found = [MARGIN]
    for entry in entries:
        if len(found[-1]) + len(entry) > LINE:
            found.append(MARGIN)
        found[-1] += f"{entry}, "
    return [row.rstrip() for row in found]


def single_precision(value: float | str) -> str:
    """A number of the type FLOAT, from its spelling in JSON."""
    number = float(value)
    if not math.isfinite(number):
        return "NAN" if math.isnan(number) else "INFINITY" if number > 0 else "-INFINITY"
    return f"{number!r}f"
