"""Bounds are useful: a correct device is found that errs by a sixteenth of each.

``DMLCY_SEED`` is the seed of the draws; ``python -m tests.devices`` prints the whole table.
"""

from __future__ import annotations

import pytest
from depth import deep
from each import each_of

from devices.arithmetic import can_truncate
from devices.search import search, target
from devices.uses import OTHER, SEED, Use, one_each, rounds, uses

pytestmark = pytest.mark.skipif(not can_truncate(), reason="the rounding of this machine is not changed here")


def look(use: Use, seed: int) -> None:
    found = search(use, seed)
    assert not found.judged.failed, f"{found.case}: {found.judged}"
    assert found.judged.part >= target(use), f"{found.case}: no error beyond {found.judged.part:.3g} of the bound"


@each_of("use", [use for use in one_each() if rounds(use.operator)])
def test_a_large_part_of_each_bound_is_found(use: Use) -> None:
    look(use, SEED)


@deep
@each_of("use", [use for use in uses(deep=True) if rounds(use.operator)])
def test_other_draws_find_it(use: Use) -> None:
    look(use, OTHER)
