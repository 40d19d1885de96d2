"""What the specs say of independent axes is true: slices of the inputs give the slices of the outputs."""

from __future__ import annotations

from collections.abc import Iterator
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
from dmlcy._facts.tables import FAST, OPERATORS
from dmlcy._families.slices import Slices, replaced, sized, slices

CUT = {name: operator for name, operator in OPERATORS.items() if operator.runs and operator.independent}


def keywords(desc: Any) -> dict[str, Any]:
    """What a call takes beside tensors, to compute what a desc says."""
    operator, values = desc.operator, desc._values()
    found = operator.arguments(desc)
    for field in operator.fields:
        tensor = values[field.python]
        if field.kind == "output" and tensor is not None and (field.optional or not operator.has_type(field)):
            found[field.python if field.optional else f"{field.python}_dtype"] = tensor.dtype
    return found


def call(desc: Any, arrays: dict[str, Any], arguments: dict[str, Any]) -> dict[str, Any]:
    """The outputs, by their paths."""
    result = getattr(dml, desc.operator.python)(**arrays, **arguments)
    return dict(zip(outputs(desc), result if isinstance(result, tuple) else (result,), strict=True))


def outputs(desc: Any) -> list[str]:
    """The paths of the outputs."""
    found: list[str] = []
    for field in desc.operator.fields:
        tensor = getattr(desc, field.python) if field.kind == "output" else None
        if isinstance(tensor, tuple):
            found += [f"{field.python}[{place}]" for place in range(len(tensor))]
        elif tensor is not None:
            found.append(field.python)
    return found


def sliced(arrays: dict[str, Any], axes: dict[str, int], begin: int, end: int, whole: int) -> dict[str, Any]:
    """The arrays of which those in ``axes`` are cut: elements ``begin`` to ``end`` of ``whole``, or the same part."""

    def one(path: str, array: Any) -> Any:
        if isinstance(array, tuple):
            return tuple(one(f"{path}[{place}]", entry) for place, entry in enumerate(array))
        if path not in axes:
            return array
        size = array.shape[axes[path]]
        part = slice(begin * size // whole, end * size // whole)
        return array[(slice(None),) * axes[path] + (part,)]

    return {path: one(path, array) for path, array in arrays.items()}


def size_of(arrays: dict[str, Any], path: str, axis: int) -> int:
    name, _, place = path.partition("[")
    array = arrays[name][int(place[:-1])] if place else arrays[name]
    return int(array.shape[axis])


def cuts(desc: Any, one: Independent) -> Iterator[Slices]:
    """Each axis of the declaration along which there is something to cut."""
    for found in slices(desc.operator, Formulas(desc).rules, desc._values(), one):
        path, axis = next(iter(found.axes.items()))
        name, _, place = path.partition("[")
        tensor = getattr(desc, name)
        if (tensor[int(place[:-1])] if place else tensor).sizes[axis] > found.takes:
            yield found


def look(operator: Operator, one: Independent, draws: int = 25) -> None:
    """AssertionError, or a refusal of slices, where the declaration does not hold."""

    @settings(
        max_examples=draws, deadline=None, derandomize=True, database=None, phases=[Phase.generate],
        suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow],
    )  # fmt: skip
    @given(testing.cases(operator.name, most_elements=1000 if operator.name in FAST else 100), st.data())
    def run(case: Any, data: st.DataObject) -> None:
        desc, arrays = case
        found = [*cuts(desc, one)]
        assume(found)
        along = data.draw(st.sampled_from(found))
        size = size_of(arrays, *next(iter(along.axes.items())))
        where = along.takes * data.draw(st.integers(1, (size - 1) // along.takes))
        whole, arguments, parts = call(desc, arrays, keywords(desc)), keywords(desc), []
        for begin, end in ((0, where), (where, size)):
            gives = (end - begin) // along.takes * along.gives
            said = dict(arguments)
            for keyword, place in sized(operator, arguments, along.axes):
                said[keyword] = replaced(said[keyword], place, gives)
            parts.append(call(desc, sliced(arrays, along.axes, begin, end, size), said))
            assert all(parts[-1][path].shape[along.axes[path]] == gives for path in whole)
        for path, expected in whole.items():
            together = np.concatenate([part[path] for part in parts], along.axes[path])
            compare(desc, together, expected)

    run()


def compare(desc: Any, actual: Any, expected: Any) -> None:
    """The same bits; where products are summed up by a library, only nearly."""
    if expected.dtype.kind == "f":
        assert_same_values(actual, expected)
    else:
        assert_same_bits(actual, expected)


@pytest.mark.parametrize("name", CUT)
@pytest.mark.parametrize("draws", [8, pytest.param(40, marks=deep)])
def test_slices_give_slices(name: str, draws: int) -> None:
    each([*CUT[name].independent], lambda one: look(CUT[name], one, draws))


@pytest.mark.parametrize(("name", "wrong"), [
    ("AVERAGE_POOLING", {"axes": {"input": lambda self: 2, "output": lambda self: 2}}),
    ("UNFOLD", {"gives": lambda self: 1}),
    ("DEPTH_TO_SPACE1", {"axes": {"input": lambda self: 1, "output": lambda self: 1}}),
    ("PADDING1", {"when": None}),
    ("ROI_POOLING", {"axes": {"input": lambda self: 0, "output": lambda self: 0}}),
])  # fmt: skip
def test_what_is_not_independent_is_found_out(name: str, wrong: dict[str, Any]) -> None:
    operator = CUT[name]
    one = operator.independent[1 if name == "UNFOLD" else 0]
    with pytest.raises((AssertionError, dml.DmlError, ValueError)):
        look(operator, replace(one, **wrong))
