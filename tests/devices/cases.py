"""A use with the inputs of a draw, what a correct device may give for it, and the devices that it is run on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Final

from devices.arithmetic import FULL, ROUNDED, Device
from devices.judging import Judged, judged
from devices.uses import KINDS, SEARCHED, Arrays, Use
from dmlcy._arithmetic import Array
from dmlcy._judge.passes import CORRECT, Passes
from dmlcy._judge.passes import Device as Options
from dmlcy._judge.passes import judged as expected
from dmlcy._reference.expected import outputs_of

Expected = dict[str, tuple[Array, Passes]]
"""By the names of outputs: the values of the reference, and what passes."""
ADDS_SHORT: Final = Options(half=True)
"""What is said of a device that adds FLOAT16 in FLOAT16."""


@dataclass(frozen=True, eq=False)
class Case:
    """A use with inputs of a kind. ``only``: the path of the input that is of this kind; the others are 1."""

    use: Use
    kind: str
    seed: int
    only: str | None = None

    def __str__(self) -> str:
        only = "" if self.only is None else f" {self.only}"
        return f"{self.use}, {self.kind}{only}, seed {self.seed}"

    @cached_property
    def arrays(self) -> Arrays:
        """The inputs."""
        return self.use.arrays(self.kind, self.seed, self.only)

    @cached_property
    def expected(self) -> Expected:
        """The values and the bounds of each output."""
        return self._expected(CORRECT)

    @cached_property
    def expected_short(self) -> Expected:
        """The same of a device that may add FLOAT16 in FLOAT16."""
        return self._expected(ADDS_SHORT)

    def _expected(self, options: Options) -> Expected:
        desc = self.use.desc
        return {name: expected(desc, self.arrays, name, options) for name in outputs_of(desc)}

    def judged(self, results: dict[str, Array], short: bool = False) -> dict[str, Judged]:
        """The verdict on each output that there is."""
        found = self.expected_short if short else self.expected
        return {name: judged(found[name], one) for name, one in results.items()}


@cache
def drawn(use: Use, kind: str, seed: int) -> Case:
    """A case that several tests look at."""
    return Case(use, kind, seed)


def devices_of(use: Use) -> dict[str, Device]:
    """The simulated devices that a correct one may be like."""
    rounds = use.dtype == "FLOAT16" and use.dtype in use.operator.accuracy
    return FULL | {"rounded to FLOAT16": ROUNDED} if rounds else FULL


def searched(use: Use, seed: int) -> Iterator[Case]:
    """Cases of which devices may lose much: all inputs of a kind, or one of them while the others are 1."""
    for kind in (*KINDS, *SEARCHED):
        yield Case(use, kind, seed)
    for path in use.inputs if len(use.inputs) > 1 else ():
        for kind in SEARCHED:
            yield Case(use, kind, seed, path)
