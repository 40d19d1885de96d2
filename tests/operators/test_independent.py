"""What the specs say of independent axes is true: slices of the inputs give the slices of the output."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from checks import assert_same_bits, assert_same_values
from depth import deep
from each import each
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st

import dmlcy as dml
from dmlcy import testing
from dmlcy._desc.formulas import Formulas
from dmlcy._facts.rows import Independent, Operator
from dmlcy._facts.tables import FAST

AXES = [(operator, one) for operator in FAST.values() for one in operator.independent]


def call(desc: Any, arrays: dict[str, Any]) -> Any:
    return getattr(dml, desc.operator.python)(**arrays, **desc.operator.arguments(desc))


def sliced(array: Any, axis: int, begin: int, end: int | None) -> Any:
    return array[(slice(None),) * axis + (slice(begin, end),)]


def cuts(desc: Any, one: Independent) -> list[tuple[dict[str, int], int, int]]:
    """Each index of the declaration along which there is something to cut: the axes, takes and gives."""
    rules, found = Formulas(desc).rules, []
    for at in [()] if one.domain is None else [(d,) for d in range(one.domain(rules))]:
        axes = {name: axis(rules, *at) for name, axis in one.axes.items()}
        size = min(getattr(desc, name).sizes[axis] for name, axis in axes.items() if name != "output")
        takes = one.takes(rules, *at)
        if size > takes and (one.when is None or one.when(rules, *at)):
            found.append((axes, takes, one.gives(rules, *at)))
    return found


def look(operator: Operator, one: Independent, draws: int = 25) -> None:
    """AssertionError, or a refusal of slices, where the declaration does not hold."""

    @settings(
        max_examples=draws, deadline=None, derandomize=True, database=None, phases=[Phase.generate],
        suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow],
    )  # fmt: skip
    @given(testing.cases(operator.name, most_elements=1000), st.data())
    def run(case: Any, data: st.DataObject) -> None:
        desc, arrays = case
        found = cuts(desc, one)
        assume(found)
        axes, takes, gives = data.draw(st.sampled_from(found))
        size = min(arrays[name].shape[axis] for name, axis in axes.items() if name in arrays)
        where = takes * data.draw(st.integers(1, (size - 1) // takes))
        parts = []
        for begin, end in ((0, where), (where, None)):
            inputs = {name: sliced(x, axes[name], begin, end) if name in axes else x for name, x in arrays.items()}
            parts.append(call(desc, inputs))
        assert parts[0].shape[axes["output"]] == where // takes * gives
        whole = call(desc, arrays)
        same = assert_same_values if whole.dtype.kind == "f" else assert_same_bits
        same(np.concatenate(parts, axes["output"]), whole)

    run()


@pytest.mark.parametrize("name", FAST)
@pytest.mark.parametrize("draws", [8, pytest.param(40, marks=deep)])
def test_slices_give_slices(name: str, draws: int) -> None:
    each([one for operator, one in AXES if operator.name == name], lambda one: look(FAST[name], one, draws))


@pytest.mark.parametrize(("name", "wrong"), [
    ("AVERAGE_POOLING", {"axes": {"input": lambda self: 2, "output": lambda self: 2}}),
    ("UNFOLD", {"gives": lambda self: 1}),
    ("DEPTH_TO_SPACE1", {"axes": {"input": lambda self: 1, "output": lambda self: 1}}),
    ("PADDING1", {"when": None}),
    ("ROI_POOLING", {"axes": {"input": lambda self: 0, "output": lambda self: 0}}),
])  # fmt: skip
def test_what_is_not_independent_is_found_out(name: str, wrong: dict[str, Any]) -> None:
    operator = FAST[name]
    one = operator.independent[1 if name == "UNFOLD" else 0]
    with pytest.raises((AssertionError, dml.DmlError, ValueError)):
        look(operator, replace(one, **wrong))
