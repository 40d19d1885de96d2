"""Counts of errors by size: 0, 1, 2, 3-4, 5-8, … units, infinite ones, and NaN against a number."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import numpy.typing as npt

_EDGES: Final = np.array([0, *(1 << power for power in range(64))], np.uint64)
"""The largest error of each bin but the last."""
_LAST: Final = 2**64 - 1
_WIDTH: Final = 40


@dataclass(frozen=True, slots=True)
class Bin:
    """``count`` errors from ``first`` to ``last``; both infinite: one number was; both None: one was NaN."""

    first: int | float | None
    last: int | float | None
    count: int

    @property
    def label(self) -> str:
        """Such as ``3-4``."""
        if self.first is None:
            return "NaN"
        if self.first == math.inf:
            return "infinite"
        return str(self.first) if self.first == self.last else f"{self.first}-{self.last}"


@dataclass(slots=True)
class Histogram:
    """Errors, counted."""

    counts: npt.NDArray[np.int64] = field(default_factory=lambda: np.zeros(_EDGES.size + 1, np.int64))
    nans: int = 0
    infinities: int = 0

    def add(self, errors: npt.NDArray[np.uint64], nans: int = 0, infinities: int = 0) -> None:
        """Count errors between numbers, cases of NaN against a number, and infinite errors."""
        self.counts += np.bincount(np.searchsorted(_EDGES, errors), minlength=self.counts.size)
        self.nans += nans
        self.infinities += infinities

    def add_zeros(self, count: int) -> None:
        """Count elements without error."""
        self.counts[0] += count

    def bins(self) -> Iterator[Bin]:
        """The bins that hold something."""
        ends = [*(int(edge) for edge in _EDGES), _LAST]
        for number in np.flatnonzero(self.counts):
            yield Bin(ends[number - 1] + 1 if number else 0, ends[number], int(self.counts[number]))
        if self.infinities:
            yield Bin(math.inf, math.inf, self.infinities)
        if self.nans:
            yield Bin(None, None, self.nans)

    def lines(self) -> Iterator[str]:
        """A bar for each bin; the longest stands for the fullest one."""
        bins = list(self.bins())
        most = max((one.count for one in bins), default=1)
        labels = max((len(one.label) for one in bins), default=0)
        for one in bins:
            bar = "#" * max(1, round(_WIDTH * one.count / most))
            yield f"{one.label:>{labels}}  {one.count:>{len(str(most))}}  {bar}"
