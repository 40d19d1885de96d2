"""A call that can be made once, to see its result, and many times, to time it."""

from __future__ import annotations

import timeit
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

Block = Callable[[int], float]  # makes so many calls, returns the seconds they took


@dataclass(frozen=True, slots=True)
class Call:
    """An expression over names, timed without a function around it."""

    expression: str
    names: dict[str, Any] = field(default_factory=dict)

    def once(self) -> Any:
        return eval(self.expression, self.names)

    def block(self) -> Block:
        return timeit.Timer(self.expression, globals=self.names).timeit


def call(function: Callable[[], Any]) -> Call:
    """A function without arguments; its frame costs some 30 ns, which matter to none of the peers."""
    return Call("function()", {"function": function})


@dataclass(frozen=True, slots=True)
class Forms:
    """How a library does a cell's work: with its result allocated, written to tensors given, or both."""

    allocating: Call | None = None
    out: Call | None = None


@dataclass(frozen=True, slots=True)
class Absent:
    """Why a library does not do a cell's work."""

    reason: str


Peer = Forms | Absent
