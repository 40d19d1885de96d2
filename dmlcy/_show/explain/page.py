"""Lines of text: titles, sections, paragraphs and rows in columns, wrapped to a width."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Callable, Iterable, Sequence
from typing import Final

WIDEST: Final = 100
NARROWEST: Final = 50
INDENT: Final = 2


class Page:
    """Collects lines; everything but titles and names of sections is indented."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.lines: list[str] = []
        self.heads: set[int] = set()  # numbers of the lines that are titles or names of sections

    def title(self, text: str) -> None:
        """The name of what follows, underlined."""
        self.gap()
        shown = self._head(text)
        self.lines.append("=" * max(map(len, shown)))

    def section(self, name: str) -> None:
        """The name of a part."""
        self.gap()
        self._head(name)

    def _head(self, text: str) -> list[str]:
        shown = self._wrapped(text, 0)
        self.heads |= set(range(len(self.lines), len(self.lines) + len(shown)))
        self.lines += shown
        return shown

    def gap(self) -> None:
        """An empty line, unless there is one."""
        if self.lines and self.lines[-1]:
            self.lines.append("")

    def text(self, text: str, indent: int = INDENT) -> None:
        """A paragraph."""
        self.lines += self._wrapped(text, indent)

    def code(self, text: str, indent: int = 2 * INDENT) -> None:
        """A formula or a call; a line that is too long goes on further to the right."""
        for line in text.split("\n"):
            self.lines += self._wrapped(line, indent, 2 * INDENT)

    def rows(self, rows: Iterable[Sequence[str]], indent: int = INDENT, most: int = 34) -> None:
        """Columns two spaces apart, the last one wrapped; a first cell wider than ``most`` has a line of its own."""
        table = [tuple(row) for row in rows]
        if not table:
            return
        columns = len(table[0])
        fits = [row for row in table if len(row[0]) <= most]
        widths = [max((len(row[column]) for row in fits), default=0) for column in range(columns - 1)]
        for row in table:
            left = " " * indent
            if len(row[0]) > most:
                self.lines.append(f"{left}{row[0]}")
                row = ("", *row[1:])
            left += "".join(f"{cell.ljust(width)}  " for cell, width in zip(row, widths, strict=False))
            self.lines += self._wrapped(row[-1], len(left), first=left) or [left.rstrip()]

    def _wrapped(self, text: str, indent: int, further: int = 0, first: str | None = None) -> list[str]:
        room = max(self.width, indent + further + 20)
        return [
            line.rstrip()
            for line in textwrap.wrap(
                text,
                room,
                initial_indent=" " * indent if first is None else first,
                subsequent_indent=" " * (indent + further),
                break_long_words=False,
                break_on_hyphens=False,
            )
        ]

    def shown(self, head: Callable[[str], str]) -> str:
        """The text, with titles and names of sections as ``head`` makes them."""
        return "\n".join(head(line) if number in self.heads else line for number, line in enumerate(self.lines))

    def __str__(self) -> str:
        return self.shown(str)


def page_width() -> int:
    """The width of the terminal within reason; WIDEST where there is none."""
    return max(NARROWEST, min(WIDEST, shutil.get_terminal_size((WIDEST, 24)).columns))
