"""A use with the inputs of a draw, what a correct device may give for it, and the devices that it is run on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property

from devices.arithmetic import FULL, ROUNDED, Device
from devices.judging import Judged, judged
from devices.uses import KINDS, SEARCHED, Arrays, Use
from dmlcy._arithmetic import Array
from dmlcy._reference.device import Allowed, device
from dmlcy._reference.expected import outputs_of


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
    def allowed(self) -> dict[str, Allowed]:
        """What a correct device may give for each output."""
        return self._allowed(False)

    @cached_property
    def allowed_short(self) -> dict[str, Allowed]:
        """The same of a device that may add FLOAT16 in FLOAT16."""
        return self._allowed(True)

    def _allowed(self, half: bool) -> dict[str, Allowed]:
        return {name: device(self.use.desc, self.arrays, name, half=half) for name in outputs_of(self.use.desc)}

    def judged(self, results: dict[str, Array], short: bool = False) -> dict[str, Judged]:
        """The verdict on each output that there is."""
        allowed = self.allowed_short if short else self.allowed
        return {name: judged(allowed[name], one) for name, one in results.items()}


@cache
def drawn(use: Use, kind: str, seed: int) -> Case:
    """A case that several tests look at."""
    return Case(use, kind, seed)


def devices_of(use: Use) -> dict[str, Device]:
    """The simulated devices that a correct one may be like."""
    return FULL if use.dtype == "FLOAT32" else FULL | {"rounded to FLOAT16": ROUNDED}


def searched(use: Use, seed: int) -> Iterator[Case]:
    """Cases of which devices may lose much: all inputs of a kind, or one of them while the others are 1."""
    for kind in (*KINDS, *SEARCHED):
        yield Case(use, kind, seed)
    for path in use.inputs if len(use.inputs) > 1 else ():
        for kind in SEARCHED:
            yield Case(use, kind, seed, path)
