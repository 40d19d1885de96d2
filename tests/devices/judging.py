"""The verdict on the result of a device, as ``compare`` gives it, and how large its error is beside the bound."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from dmlcy._arithmetic import Array
from dmlcy._judge.differences import Differences, measure
from dmlcy._judge.passes import Passes

VERDICTS: Final = ("passed", "not judged", "suspect", "failed")
"""From the best to the worst."""


@dataclass(frozen=True, slots=True)
class Judged:
    """One output of a device."""

    found: Differences

    @property
    def verdict(self) -> str:
        """One of VERDICTS."""
        return self.found.verdict

    @property
    def failed(self) -> bool:
        """Whether the device is wrong."""
        return self.verdict == VERDICTS[-1]

    @property
    def part(self) -> float:
        """The largest error, as a part of the bound of its element."""
        return self.found.ratio

    def __str__(self) -> str:
        found = self.found
        counts = f"{found.failing.count} failing, {found.suspect.count} suspect of {found.elements}"
        return f"{self.verdict}: {self.part:.3g} of the bound, leaning {found.leaning:.3g}, {counts}; {found.worst}"


def judged(expected: tuple[Array, Passes], result: Array) -> Judged:
    """The verdict on one output; ``expected``: the values of the reference, and what passes."""
    values, passes = expected
    return Judged(measure(values, np.ascontiguousarray(result).reshape(values.shape), passes))
