"""Problems found in the specs: their places, their texts, and how they are shown. All of a run are collected."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Span:
    """Part of one source line; line and column count from 1, columns in characters."""

    file: str  # relative to the parent of the specs root: specs/shared/window.toml
    line: int
    column: int
    length: int
    text: str  # the whole line

    def inside(self, text: str, at: int, length: int) -> Span:
        """Part of ``text``, which the span holds as a string; the span itself where the string is escaped."""
        start = self.text.find(text, max(self.column - 1, 0))
        return self if start < 0 else replace(self, column=start + 1 + at, length=length)


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One problem; without a span when it belongs to no place in a file."""

    message: str
    span: Span | None = None
    hint: str | None = None


class SpecError(Exception):
    """The specs have errors; its text is the rendering of all of them."""

    def __init__(self, diagnostics: Diagnostics) -> None:
        super().__init__(diagnostics.render())
        self.errors = diagnostics.errors


class Diagnostics:
    """Collects the problems of a run. The same problem is kept once, however often an included file is read."""

    def __init__(self) -> None:
        self._errors: dict[Diagnostic, None] = {}

    def error(self, span: Span | None, message: str, hint: str | None = None) -> None:
        """Add a problem."""
        self._errors[Diagnostic(message, span, hint)] = None

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        """All problems, in the order in which they were found."""
        return tuple(self._errors)

    @property
    def ok(self) -> bool:
        """Whether no problem was found."""
        return not self._errors

    def render(self) -> str:
        """All problems as text, ordered by file and position, and their number."""
        count = len(self._errors)
        shown = [render(error) for error in sorted(self._errors, key=_position)]
        return "\n".join([*shown, f"{count} error{'' if count == 1 else 's'}"])

    def raise_if_any(self) -> None:
        """Raise SpecError when a problem was found."""
        if not self.ok:
            raise SpecError(self)


def render(diagnostic: Diagnostic) -> str:
    """A problem as text: place and message, the source line with carets below the place, the hint."""
    span = diagnostic.span
    lines = [_printable(diagnostic.message)]
    if span is not None:
        lines[0] = f"{_printable(span.file)}:{span.line}:{span.column}: {lines[0]}"
        room = len(span.text) - span.column + 1
        carets = "^" * max(1, min(span.length, room))
        lines.append(f"{span.line:>5} | {_printable(span.text)}".rstrip())
        lines.append(f"{'':>5} | {' ' * (span.column - 1)}{carets}")
    if diagnostic.hint is not None:
        lines.append(f"   hint: {_printable(diagnostic.hint)}")
    return "\n".join(lines)


def did_you_mean(word: str, candidates: Iterable[str]) -> str | None:
    """ "did you mean 'x'?" for the candidate nearest to the word, letter case aside; None when none is near."""
    known = {candidate.casefold(): candidate for candidate in sorted(candidates) if candidate != word}
    nearest = difflib.get_close_matches(word.casefold(), known, n=1, cutoff=0.7)
    return f"did you mean {known[nearest[0]]!r}?" if nearest else None


def _position(diagnostic: Diagnostic) -> tuple[str, int, int]:
    span = diagnostic.span
    return ("", 0, 0) if span is None else (span.file, span.line, span.column)


def _printable(text: str) -> str:
    """The text with one visible character in place of each that a terminal would obey or hide."""
    return "".join(c if c.isprintable() else " " if c == "\t" else "\N{REPLACEMENT CHARACTER}" for c in text)
