"""Signals that end the process, put off for as long as there is something to clear away."""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType
from typing import Any, Final

_ENDING: Final = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


class Ended(BaseException):
    """The process is about to end."""


class Clearing:
    """A block in which a signal that would end the process raises ``Ended`` instead; the process ends behind the block.

    Only the main thread gets signals; elsewhere the block changes nothing.
    """

    def __init__(self) -> None:
        self._handlers: dict[int, Any] = {}
        self._number: int | None = None
        self._held = False

    def hold(self) -> None:
        """Raise nothing from here to the end of the block."""
        self._held = True

    def __enter__(self) -> Clearing:
        if threading.current_thread() is threading.main_thread():
            for number in _ENDING:
                handler = signal.getsignal(number)
                if handler in (signal.SIG_DFL, signal.default_int_handler):
                    self._handlers[number] = handler
                    signal.signal(number, self._end)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._handlers.items():
            signal.signal(number, handler)
        if self._number is not None:
            signal.raise_signal(self._number)

    def _end(self, number: int, frame: FrameType | None) -> None:
        if self._number is None:  # a second one does not disturb the clearing
            self._number = number
            if not self._held:
                raise Ended
