"""The search for inputs of which a correct device loses much of its bound: a bound that nothing reaches is useless."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Final

from devices.arithmetic import ROUNDED_DOWN, TRUNCATING
from devices.cases import Case, searched
from devices.judging import Judged
from devices.uses import Use
from dmlcy._families import family_of

USEFUL: Final = 1 / 16
"""The part of the bound that an error is found of."""
OF_HALVES: Final = 1 / 32
"""The same of FLOAT16, each of whose operations may round, while no device that is simulated errs at each of them."""
OF_RECURRENCES: Final = 1 / 1000
"""The same of layers with a state, after all steps: each step widens the bound as if it lost as much as it can."""


@dataclass(frozen=True, slots=True)
class Found:
    """The inputs of the largest part of a bound that was found, and what was made of them."""

    case: Case
    judged: Judged


def target(use: Use) -> float:
    """The part that must be found."""
    if family_of(use.operator).keeps_state:
        return OF_RECURRENCES
    return USEFUL if use.dtype == "FLOAT32" else OF_HALVES


def search(use: Use, seed: int, whole: bool = False) -> Found:
    """The inputs of the largest error, with devices that add one term after another and truncate.

    The search ends where enough is found, unless ``whole`` is set.
    """
    best: Found | None = None
    devices = (TRUNCATING, ROUNDED_DOWN) if use.dtype == "FLOAT16" else (TRUNCATING,)
    for case, device in product(searched(use, seed), devices):
        found = case.judged(device.run(use.desc, case.arrays))
        for one in found.values():
            if one.failed:
                return Found(case, one)
            if best is None or one.part > best.judged.part:
                best = Found(case, one)
        if best is not None and best.judged.part >= target(use) and not whole:
            break
    assert best is not None
    return best
