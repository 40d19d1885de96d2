"""Which values have bytes in one piece of memory, and until when."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from dmlcy._graph.model import Port
from dmlcy._graph.strided import View, Views

ALIGNED: Final = 8
"""Bytes of the largest element: what lies inside other memory begins at a multiple of them."""


class Spot(NamedTuple):
    """The memory of a value: the first one that was there, and the bytes from its start."""

    first: Port
    offset: int


class Use(NamedTuple):
    """A value in some memory: its first byte, the one behind its last, and the last step that needs it."""

    port: Port
    begin: int
    end: int
    last: int


class Sharing:
    """The memory of the values that nodes compute, while the steps of a graph are found one after another.

    ``last``: the last step that reads a value, or computes it; ``sizes``: bytes of each.
    """

    def __init__(self, views: Views, last: Mapping[Port, int], sizes: Mapping[Port, int]) -> None:
        self.spots: dict[Port, Spot] = {}
        self._views, self._last, self._sizes = views, last, sizes
        self._uses: dict[Port, list[Use]] = {}
        self._of: dict[Port, list[Port]] = {}
        for port, one in views.items():
            self._of.setdefault(one.root, []).append(port)

    def until(self, port: Port) -> int:
        """The last step that needs the memory of a value, for itself or for one of its views."""
        return max(self._last[one] for one in (port, *self._of.get(port, ())))

    def computed(self, port: Port, over: Port | None, step: int) -> Spot:
        """The memory of a value that a step computes: its own, or that of the value that it is written over."""
        spot = Spot(port, 0) if over is None else self._spot(over)
        self.spots[port] = spot
        uses = self._uses[spot.first] = [use for use in self._uses.get(spot.first, ()) if use.last > step]
        uses.append(Use(port, spot.offset, spot.offset + self._sizes[port], self._last[port]))
        for one in self._of.get(port, ()):
            begin, end = self._views[one].reach
            uses.append(Use(one, spot.offset + begin, spot.offset + end, self._last[one]))
        return spot

    def may_write(self, step: int, port: Port) -> bool:
        """Whether a step may write over a packed value that it reads: nothing needs its bytes any longer."""
        view = self._views.get(port)
        if (port if view is None else view.root) not in self.spots:
            return False
        first, begin = self._spot(port)
        if begin % ALIGNED:
            return False
        end = begin + self._sizes[port]
        for use in self._uses[first]:
            if use.port == port:
                if use.last != step:
                    return False
            elif use.last >= step and use.begin < end and begin < use.end:
                return False
        return True

    def _spot(self, port: Port) -> Spot:
        """Where a value or a view begins."""
        view: View | None = self._views.get(port)
        if view is None:
            return self.spots[port]
        spot = self.spots[view.root]
        return Spot(spot.first, spot.offset + view.start * view.item)
