"""Elements that are not judged, for every condition of every interpretation."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from each import each_of
from example_descs import desc_of_example, inputs_of
from unjudged_cases import CASES, PLAIN
from unjudged_places import PLACES, Use

import dmlcy as dml
from dmlcy._check.checker import Check
from dmlcy._facts.levels import NEWEST
from dmlcy._facts.rows import Operator, Unjudged
from dmlcy._facts.tables import RUNNABLE
from dmlcy._families import Family, family_of
from dmlcy._judge.differences import measure
from dmlcy._judge.passes import judged
from dmlcy._reference.unjudged import unjudged
from dmlcy._testing.values import specials

CONDITIONS = [(operator, one) for operator in RUNNABLE.values() for one in operator.unjudged]
Case = tuple[Any, dict[str, Any]]


def outputs_of(desc: Any) -> Iterator[str]:
    """The paths of the outputs of a desc."""
    for field in desc.operator.fields:
        tensor = getattr(desc, field.python) if field.kind == "output" else None
        several = [f"{field.python}[{k}]" for k in range(len(tensor))] if type(tensor) is tuple else [field.python]
        yield from several if tensor is not None else ()


def with_specials(desc: Any, inputs: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The inputs, and the same with a special value in the place of an element."""
    yield inputs
    for name, found in inputs.items():
        several = type(found) is tuple
        for k, array in enumerate(found if several else (found,) if found is not None else ()):
            for value, place in itertools.product(specials(array.dtype), range(min(array.size, 3))):
                changed = array.copy()
                changed.flat[place] = value
                yield {**inputs, name: (*found[:k], changed, *found[k + 1 :]) if several else changed}


def data_holds(desc: Any, inputs: dict[str, Any]) -> bool:
    """Whether these are values that the operator takes."""
    check = Check(desc.operator, desc._values(), NEWEST, call=False)
    check.data({name: array for name, array in inputs.items() if array is not None})
    return not check.violations


def in_part(operator: Operator, one: Unjudged) -> Iterator[Case]:
    """Uses of an operator in which the condition may hold: those of the table, else examples with special values."""
    name = one.id.removeprefix(f"{operator.name}-")
    given = CASES.get(one.id) or CASES.get(name)
    if given is not None:
        yield from given(operator)
        return
    yield from (use.case() for id_, use, _, _ in PLACES if f"{use.operator}-{id_}" == one.id)
    for example in operator.examples:
        desc, inputs = desc_of_example(operator, example), inputs_of(operator, example)
        yield from ((desc, changed) for changed in with_specials(desc, inputs) if data_holds(desc, changed))


def other(values: Any) -> Any:
    """A number far from each of some numbers, and a number for NaN and infinities."""
    if values.dtype.kind != "f":
        return values ^ np.array(85).astype(values.dtype)
    return np.where(np.isfinite(values), -2 * values - 100, 1).astype(values.dtype)


@each_of("operator, one", CONDITIONS)
def test_a_fault_passes_where_a_condition_holds_and_fails_beside(operator: Operator, one: Unjudged) -> None:
    holds = fails = partly = elsewhere = False
    for desc, inputs in in_part(operator, one):
        for output in outputs_of(desc):
            marks = dict(unjudged(desc, inputs, output)).get(one.id)
            partly |= marks is not None and not marks.all()
            if (marks is None and elsewhere) or (marks is not None and holds and (fails or marks.all())):
                continue
            given = {name: array for name, array in inputs.items() if array is not None}
            with np.errstate(all="ignore"):
                expected, passes = judged(desc, given, output)
                faults = other(expected)
            if marks is None:
                elsewhere |= any(has_failed(expected, faults, place, passes) for place in range(expected.size))
                continue
            assert marks.shape == expected.shape and marks.any()
            assert measure(expected, np.where(marks, faults, expected), passes).verdict in ("passed", "not judged")
            holds = True
            fails |= any(has_failed(expected, faults, place, passes) for place in np.flatnonzero(~marks).tolist())
        if holds and fails:
            return
    assert holds and (fails or (elsewhere and not partly))  # some conditions hold for a whole output or not at all


def has_failed(expected: Any, faults: Any, place: int, passes: Any) -> bool:
    """Whether a device fails that has a fault at this element only."""
    actual = expected.copy()
    actual.flat[place] = faults.flat[place]
    return measure(expected, actual, passes).verdict == "failed"


@each_of("condition, use, output, expected", PLACES)
def test_places_that_were_found_by_hand(condition: str, use: Use, output: str, expected: list[int]) -> None:
    desc, inputs = use.case()
    assert dml.check(desc) == []
    marks = dict(unjudged(desc, inputs, output)).get(f"{use.operator}-{condition}")
    assert ([] if marks is None else np.flatnonzero(marks).tolist()) == expected


def test_a_fused_activation() -> None:
    x, weights = np.array([[[[np.nan, 1, np.inf, 3]]]], np.float32), np.ones((1, 1, 1, 1), np.float32)
    tensors: dict[str, Any] = {
        "input": dml.TensorDesc(x.dtype, x.shape),
        "filter": dml.TensorDesc(weights.dtype, weights.shape),
    }
    for fused, expected in (
        (dml.desc.ActivationRelu(), [("ACTIVATION_RELU-nan", [0])]),
        (dml.desc.ActivationSoftsign(), [("ACTIVATION_SOFTSIGN-infinity", [2])]),
        (dml.desc.ActivationIdentity(), []),
    ):
        desc = dml.desc.Convolution(**tensors, fused_activation=fused)
        found = unjudged(desc, {"input": x, "filter": weights, "bias": None})
        assert [(id_, np.flatnonzero(marks).tolist()) for id_, marks in found] == expected


AT_A_PLACE = [(operator, one) for operator, one in CONDITIONS if type(family_of(operator)).holds is not Family.holds]


@each_of("operator, one", AT_A_PLACE)
def test_conditions_on_one_place_in_plain_python(operator: Operator, one: Unjudged) -> None:
    plain = PLAIN[one.id.removeprefix(f"{operator.name}-")]
    for desc, inputs in in_part(operator, one):
        elements = {name: array for name, array in inputs.items() if isinstance(array, np.ndarray)}
        if "quantizations" in inputs:
            elements["scale"] = inputs["quantizations"][0]
        output = next(outputs_of(desc))
        sizes, dtype = _tensor(desc, output).sizes, np.dtype(_tensor(desc, output).dtype.name.lower())
        if one.id == "ELEMENT_WISE_QUANTIZED_LINEAR_ADD-rounding" or any(x.shape != sizes for x in elements.values()):
            continue
        attributes = {f.python: getattr(desc, f.python) for f in operator.fields if f.kind == "attribute"}
        flat = {name: array.ravel().tolist() for name, array in elements.items()}
        with np.errstate(all="ignore"):
            expected = [
                plain(attributes | {name: flat[name][k] for name in flat}, dtype) for k in range(math.prod(sizes))
            ]
        marks = dict(unjudged(desc, inputs)).get(one.id)
        assert (np.zeros(len(expected), bool) if marks is None else marks.ravel()).tolist() == expected


def _tensor(desc: Any, path: str) -> Any:
    name, _, place = path.rstrip("]").partition("[")
    return getattr(desc, name)[int(place)] if place else getattr(desc, name)


@each_of("operator", RUNNABLE.values())
def test_most_elements_of_documented_examples_are_judged(operator: Operator) -> None:
    left_out = elements = 0
    for example in operator.examples:
        desc, inputs = desc_of_example(operator, example), inputs_of(operator, example)
        for output in outputs_of(desc):
            found = [marks for _, marks in unjudged(desc, inputs, output)]
            left_out += int(np.any(found, 0).sum()) if found else 0
            elements += math.prod(_tensor(desc, output).sizes)
    assert 2 * left_out < elements
