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

from dmlcy._facts.rows import Operator, Unjudged
from dmlcy._facts.tables import RUNNABLE
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


def in_part(operator: Operator, one: Unjudged) -> Iterator[Case]:
    """Uses of an operator in which the condition may hold: those of the table, else examples with special values."""
    name = one.id.removeprefix(f"{operator.name}-")
    given = CASES.get(one.id) or CASES.get(name)
    if given is not None:
        yield from given(operator)
        return
    for example in operator.examples:
        desc, inputs = desc_of_example(operator, example), inputs_of(operator, example)
        for changed in with_specials(desc, inputs):
            yield desc, changed


@each_of("operator, one", CONDITIONS)
def test_a_condition_leaves_some_elements_out_and_keeps_others(operator: Operator, one: Unjudged) -> None:
    left_out, kept = False, False
    for desc, inputs in in_part(operator, one):
        for output in outputs_of(desc):
            marks = dict(unjudged(desc, inputs, output)).get(one.id)
            left_out |= marks is not None
            kept |= marks is None or not marks.all()
            if marks is not None:
                assert marks.shape == tuple(_tensor(desc, output).sizes) and marks.dtype == np.bool_ and marks.any()
        if left_out and kept:
            return
    assert left_out and kept


AT_A_PLACE = [(operator, one) for operator, one in CONDITIONS if operator.family == "elementwise"]


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


EXAMPLES = [(operator, example) for operator in RUNNABLE.values() for example in operator.examples]


@each_of("operator, example", EXAMPLES)
def test_documented_examples_are_judged(operator: Operator, example: Any) -> None:
    desc, inputs = desc_of_example(operator, example), inputs_of(operator, example)
    for output in outputs_of(desc):
        found = [marks for _, marks in unjudged(desc, inputs, output)]
        assert 2 * sum(np.any(found, 0).ravel() if found else []) < math.prod(_tensor(desc, output).sizes)
