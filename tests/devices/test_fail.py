"""Faults of devices fail, where their effect is at least four times the bound.

``DMLCY_SEED`` is the seed of the draws; ``python -m tests.devices`` prints the whole table.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from depth import deep
from each import each_of

from devices.arithmetic import SHORT
from devices.cases import Case, drawn
from devices.faults import COUNTS, SUMS, Fault, faults
from devices.uses import KINDS, OTHER, SEED, rounds, uses
from dmlcy._facts.tables import RUNNABLE

NAMES = [name for name, operator in RUNNABLE.items() if rounds(operator)]
ADDING = ("CONVOLUTION", "GEMM", "REDUCE")
HALVES = [use for use in uses() if use.dtype == "FLOAT16" and use.operator.name in ADDING]
LEAST = 3
"""Faults of an operator that count, at least."""
ENOUGH = 3
"""Faults of an operator that a default run looks at."""


def some(name: str, seed: int, every: bool) -> Iterator[tuple[Case, Fault]]:
    """The faults of an operator, in an order that the seed chooses."""
    chance, found = random.Random(f"{name} {seed}"), []
    for use in uses(deep=every):
        if use.operator.name == name:
            for kind in KINDS if every else KINDS[-1:]:
                case = drawn(use, kind, seed)
                found += [(case, fault) for fault in faults(use, case.arrays)]
    chance.shuffle(found)
    yield from found


def look(name: str, seed: int, every: bool) -> None:
    """Each fault that counts fails, and there are enough."""
    counted: set[str] = set()
    for case, fault in some(name, seed, every):
        if fault.effect(case) >= COUNTS:
            found = case.judged(fault.run())
            assert any(one.failed for one in found.values()), f"{case}: {fault.name} is not found"
            counted.add(fault.name)
        if len(counted) >= ENOUGH and not every:
            return
    assert len(counted) >= LEAST, f"seed {seed}: only {sorted(counted)} count"


@each_of("name", NAMES)
def test_faults_fail(name: str) -> None:
    look(name, SEED, every=False)


def test_sums_of_halves_fail_unless_they_are_said() -> None:
    counted = []
    for use in HALVES:
        case = drawn(use, KINDS[0], SEED)
        fault = Fault(SUMS, use.desc, case.arrays, SHORT, SHORT)
        if fault.effect(case) >= COUNTS:
            counted.append(use)
            assert any(one.failed for one in case.judged(fault.run()).values()), str(case)
    assert len(counted) >= LEAST


@deep
@each_of("name", NAMES)
def test_all_faults_fail(name: str) -> None:
    look(name, OTHER, every=True)
