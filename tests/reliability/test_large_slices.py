"""Tensors beyond 2^31 elements, of any operator that has independent axes: along one, against exact arithmetic.

``-m deep`` runs all operators with some millions of elements, and measures the memory that they take beside tensors;
``-m slow`` runs those beyond 2^31 elements that have loops, and one of each other family, which takes minutes for each.
"""

from __future__ import annotations

import time
import tracemalloc
from typing import Any

import numpy as np
import pytest
from depth import deep, in_turn, of_each_family
from enlarged import Use, uses
from test_large import free_bytes

import dmlcy as dml
from dmlcy._desc.memory import dtype_of
from dmlcy._facts.dtypes import numpy_dtype
from dmlcy._facts.tables import FAST, OPERATORS, RUNNABLE
from dmlcy._families import family_of
from dmlcy._reference.expected import outputs_of

TRIED = 2**15
"""Elements of the uses of which the quickest one grows."""
SMALL = 2**22
LARGE = 2**31 + 2**20
SLACK = 2**22
"""Bytes beside those of the estimate: Python's objects, lines of axes."""
DRAWS, MOST, ROUNDS = 6, 40, 60
RANDOM = 12
"""Slices that are compared, beside those at the ends and around the borders."""
BY_STEPS = ("attention", "region_sample")
"""Families that compute one item or region after another: 2^31 elements of small ones take hours."""


def groups_of(use: Use, elements: int) -> int:
    """How many slices make so many elements: a multiple of the present number."""
    return -(-elements // use.elements) * use.groups


def that_can_have(name: str, elements: int, most: float = float("inf")) -> list[Use]:
    """Uses of an operator that can have so many elements, and need no more bytes."""
    least = float("inf")
    for number in range(ROUNDS):
        drawn = uses(OPERATORS[name], DRAWS, MOST, number)
        able = [use for use in drawn if not dml.check(use.resized(groups_of(use, elements)))]
        found = [use for use in able if needed(use, elements) < most]
        if found:
            return found
        least = min([least, *(needed(use, elements) for use in able)])
    if least < float("inf"):
        pytest.skip(f"needs {least / 1e9:.1f} GB of free memory")
    pytest.skip(f"no use that is drawn of {name} has several slices")


def cost(use: Use) -> tuple[int, float]:
    """Bytes of an element of the outputs, and the CPU time of a call of fewer elements."""
    groups = groups_of(use, TRIED)
    arrays = use.large(groups)
    begin = time.process_time()
    use.run(groups, arrays)
    took = time.process_time() - begin
    return sum(numpy_dtype(dtype_of(use.tensors[path])).itemsize for path in outputs_of(use.desc)), took


def some(use: Use, groups: int) -> list[int]:
    """Slices at the ends, around places of powers of two of each tensor, and at random."""
    borders = {0, groups}
    for path, tensor in use.tensors.items():
        if path in use.along.axes:
            each = max(1, tensor.element_count // use.groups)
            borders |= {2**power // each for power in (29, 30, 31)} | {2**power for power in (16, 20, 24)}
    near = {one + step for one in borders for step in (-1, 0)}
    chance = np.random.default_rng(2).integers(0, groups, RANDOM).tolist()
    return sorted({one for one in [*near, *chance] if 0 <= one < groups})


def compare(use: Use, groups: int, arrays: dict[str, Any], results: dict[str, Any]) -> None:
    """Some slices of the results are what exact arithmetic gives for them."""
    use.assert_exact(some(use, groups), groups, arrays, results)


def memory(use: Use, groups: int) -> int:
    """Bytes of the results, and of what the estimate says beside them; loops take next to nothing."""
    desc = use.resized(groups)
    tensors = [getattr(desc, field.python) for field in desc.operator.fields if field.kind == "output"]
    each = [one for found in tensors if found is not None for one in (found if isinstance(found, tuple) else (found,))]
    results = sum(one.element_count * numpy_dtype(dtype_of(one)).itemsize for one in each)
    return int(results + (0 if desc.operator.name in FAST else family_of(desc.operator).workspace(desc)))


def independent(families: tuple[str, ...] = ()) -> list[str]:
    """The operators that have independent axes, beside those of some families."""
    return [name for name, one in RUNNABLE.items() if one.independent and one.family not in families]


def hold(use: Use, groups: int) -> None:
    """The results are right, and take no more memory than the estimate says."""
    arrays = use.large(groups)
    tracemalloc.start()
    try:
        results = use.run(groups, arrays)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    compare(use, groups, arrays, results)
    assert peak <= memory(use, groups) + SLACK, (use.desc, use.along, peak, memory(use, groups))


@in_turn
@deep
@pytest.mark.parametrize("name", independent())
def test_slices_of_millions(name: str) -> None:
    elements = SMALL if OPERATORS[name].family not in BY_STEPS else SMALL >> 6
    first: dict[int, Use] = {}
    for use in that_can_have(name, elements):
        first.setdefault(use.declared, use)
    for use in first.values():
        hold(use, groups_of(use, elements))


def needed(use: Use, elements: int) -> int:
    """Bytes of a test with so many elements."""
    groups = groups_of(use, elements)
    return memory(use, groups) + 8 * groups


LOOPS = [name for name in independent() if name in FAST]
REST = [name for name in independent(BY_STEPS) if RUNNABLE[name].family not in {RUNNABLE[one].family for one in LOOPS}]


@pytest.mark.slow
@pytest.mark.parametrize("name", [*LOOPS, *(case for case in of_each_family(REST) if not case.marks)])
def test_slices_beyond_an_int(name: str) -> None:
    use = min(that_can_have(name, LARGE, free_bytes() - 2**30), key=cost)
    groups = groups_of(use, LARGE)
    arrays = use.large(groups)
    compare(use, groups, arrays, use.run(groups, arrays))
