"""Signals that end the process, put off for as long as there is something to clear away."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Final

_ENDING: Final = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


class Ended(BaseException):
    """The process is about to end."""


class Clearing:
    """A block behind which the process ends, where a signal would have ended it within.

    A signal is noted, and ``check`` raises ``Ended``: nothing is raised between two steps that belong together. Only
    the main thread gets signals; elsewhere the block changes nothing.
    """

    def __init__(self) -> None:
        self._handlers: dict[int, Callable[[int, FrameType | None], object] | int | None] = {}
        self._number: int | None = None

    def check(self) -> None:
        """Raise ``Ended`` if there was a signal."""
        if self._number is not None:
            raise Ended

    def __enter__(self) -> Clearing:
        if threading.current_thread() is threading.main_thread():
            for number in _ENDING:
                handler = signal.getsignal(number)
                if handler in (signal.SIG_DFL, signal.default_int_handler):
                    self._handlers[number] = handler
                    signal.signal(number, self._note)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number in reversed(self._handlers):  # SIGINT last: its handler may raise
            signal.signal(number, self._handlers[number])
        if self._number is not None:
            signal.raise_signal(self._number)

    def _note(self, number: int, frame: FrameType | None) -> None:
        self._number = number
