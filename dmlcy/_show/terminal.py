"""The output for terminals only: colour, and progress with an estimate on standard error."""

from __future__ import annotations

import os
import shutil
import sys
import time
from typing import Final, TextIO

STYLES: Final = {
    "head": "1",
    "error": "1;31",
    "warning": "1;33",
    "note": "1;36",
    "passed": "32",
    "failed": "1;31",
    "missing": "1;31",
    "suspect": "1;33",
    "not judged": "1;33",
}
_FIRST: Final = 0.5  # seconds: what is done by then needs no progress
_BETWEEN: Final = 0.1


def is_terminal(stream: TextIO | None) -> bool:
    """Whether the stream is a terminal that obeys escapes."""
    try:
        return stream is not None and stream.isatty() and os.name == "posix" and os.environ.get("TERM") != "dumb"
    except ValueError:  # closed
        return False


def coloured() -> bool:
    """Whether standard output gets colours: a terminal does, unless NO_COLOR is set; all does if FORCE_COLOR is."""
    if os.environ.get("NO_COLOR"):
        return False
    return os.environ.get("FORCE_COLOR", "0") not in ("", "0") or is_terminal(sys.stdout)


def paint(text: str, style: str) -> str:
    """The text in a style, where standard output gets colours."""
    return f"\x1b[{STYLES[style]}m{text}\x1b[0m" if text and coloured() else text


def head(text: str) -> str:
    """A title or the name of a section."""
    return paint(text, "head")


class Progress:
    """A line on standard error that says how much is done and how long the rest will take; nothing but on a terminal.

    The first call of ``reached`` begins a part; the line is written over, and gone when the part is done.
    """

    def __init__(self) -> None:
        self.shows = is_terminal(sys.stderr)
        self._began = self._last = time.monotonic()
        self._label = ""
        self._drawn = False

    def reached(self, label: str, done: int, total: int) -> None:
        """So much of a part is done."""
        if not self.shows:
            return
        now = time.monotonic()
        if label != self._label or not done:
            self.clear()
            self._label, self._began, self._last = label, now, now
        if done >= total:
            self.clear()
            self._label = ""
        elif done and now - self._began >= _FIRST and now - self._last >= _BETWEEN:
            self._last = now
            left = (now - self._began) / done * (total - done)
            self._draw(f"{label}: {done} of {total} ({100 * done // total} %), {span(left)} left")

    def clear(self) -> None:
        """Take the line away, before something else is printed."""
        if self._drawn:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
            self._drawn = False

    def _draw(self, text: str) -> None:
        room = shutil.get_terminal_size().columns - 1
        sys.stderr.write(f"\r{text[:room]}\x1b[K")
        sys.stderr.flush()
        self._drawn = True


def span(seconds: float) -> str:
    """A time in two units at most: 8 s, 2 min 05 s, 3 h 20 min."""
    whole = max(1, round(seconds))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02} s"
    return f"{whole // 3600} h {whole // 60 % 60:02} min"
