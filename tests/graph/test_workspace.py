"""The memory that a node takes beside its tensors is within the estimate of the plan."""

from __future__ import annotations

import tracemalloc
from typing import Any

import hypothesis
import numpy as np
import pytest
from depth import in_turn, some_of_each_family
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import dmlcy as dml
from dmlcy import testing
from dmlcy._facts.tables import OPERATORS
from dmlcy._families import family_of

OBJECTS = 128 * 1024  # bytes of Python objects: axes, indices, strides


def measured(op: Any, arrays: dict[str, Any]) -> int:
    """Bytes that a call takes at most beside its arguments and results."""
    op(**arrays)
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        results = op(**arrays)
        peak = tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()
    results = results if isinstance(results, tuple) else (results,)
    return int(peak - sum(one.nbytes for one in results if isinstance(one, np.ndarray)))


@in_turn
@pytest.mark.parametrize(("name", "elements"), some_of_each_family(30_000, 200_000))
def test_the_workspace_is_within_the_estimate(name: str, elements: int) -> None:
    operator = OPERATORS[name]
    seen = []

    @hypothesis.seed(1)
    @settings(
        max_examples=12, database=None, deadline=None, suppress_health_check=[*HealthCheck], phases=[Phase.generate]
    )
    @given(st.data())
    def drawn(data: st.DataObject) -> None:
        desc = data.draw(testing.descs(name, most_elements=elements, layouts=False))
        took = measured(dml.compile(desc, path="reference"), data.draw(testing.inputs(desc)))
        estimate = family_of(operator).workspace(desc)
        seen.append(took)
        assert took <= estimate + OBJECTS, (desc, took, estimate)

    drawn()
    assert seen
