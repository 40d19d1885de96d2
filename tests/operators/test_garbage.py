"""What no argument and no field takes, each by each and by chance: refused with an error of the package."""

from __future__ import annotations

from typing import Any

import pytest
from depth import in_turn, of_each_family
from each import each
from example_descs import joined
from garbage import DEEP, GARBAGE, ITSELF, wrong
from hypothesis import given
from hypothesis import strategies as st
from uses import (
    LEVELS,
    NEWEST,
    RUNNABLE,
    USES,
    Use,
    searched,
)

import dmlcy as dml

NESTED = st.recursive(st.integers(-1, 3) | st.text(max_size=3) | st.floats(), lambda part: st.lists(part, max_size=4))


def garbage(data: st.DataObject) -> Any:
    """One piece of it; hypothesis does not see it, for it would ask for its repr."""
    number = data.draw(st.integers(-1, len(GARBAGE) - 1))
    value = data.draw(NESTED) if number < 0 else GARBAGE[number]
    return 0 if value is ITSELF or value is DEEP else value  # hypothesis lifts the limit of recursion


def arguments_of(name: str) -> list[str]:
    """What a call takes."""
    use = USES[name]
    return [*(field.python for field in use.operator.inputs), *use.attributes, *use.requests, "out"]


@in_turn
@pytest.mark.parametrize("name", of_each_family())
def test_each_garbage_in_a_call(name: str) -> None:
    each(arguments_of(name), lambda argument: each_garbage_in_a_call(name, argument))


def each_garbage_in_a_call(name: str, argument: str) -> None:
    use = USES[name]
    arrays = joined(use.arrays)
    inputs = {field.python: arrays.get(field.python) for field in use.operator.inputs}
    functions = [(getattr(dml, use.operator.python), inputs | use.attributes | use.requests)]
    if argument == "out" or inputs.get(argument) is not None:  # others are not in the desc that is compiled
        functions.append((dml.compile(use.desc), inputs))
    found = [
        (number, what)
        for function, arguments in functions
        for number, value in enumerate(GARBAGE)
        if (what := wrong(lambda f=function, a=arguments, v=value: f(**(a | {argument: v}))))
    ]
    assert not found


@pytest.mark.parametrize("name", RUNNABLE)
@searched(60)
@given(data=st.data())
def test_garbage_in_a_call(name: str, data: st.DataObject) -> None:
    use = USES[name]
    names = arguments_of(name)
    chosen = data.draw(st.lists(st.sampled_from(names), min_size=1, max_size=4, unique=True))
    changes = {key: garbage(data) for key in chosen}
    arrays = joined(use.arrays)
    arguments = {key: arrays[key] for key in names if key in arrays} | use.attributes | use.requests | changes
    with dml.feature_level(data.draw(st.sampled_from(LEVELS))):
        assert not wrong(lambda: getattr(dml, use.operator.python)(**arguments))


def ask(use: Use, changes: dict[str, Any], level: str) -> None:
    """Does with a desc all that can be done with it."""
    d = use.make({**use.values(), **changes})
    assert d == d and hash(d) == hash(d) and repr(d) and d.to_dict()
    dml.check(d, level)
    dml.compile(d, level)


@in_turn
@pytest.mark.parametrize("name", of_each_family())
def test_each_garbage_in_a_desc(name: str) -> None:
    each([field.python for field in RUNNABLE[name].fields], lambda field: each_garbage_in_a_desc(name, field))


def each_garbage_in_a_desc(name: str, field: str) -> None:
    use = USES[name]
    tried: list[dict[str, Any]] = [{field: value} for value in GARBAGE]
    path = next(iter(use.arrays))
    if field == path.partition("[")[0]:
        tried += [{path: use.tensor(path, **{part: value})} for part in TENSOR_PARTS for value in GARBAGE[::2]]
    found = [
        (number, what)
        for number, changes in enumerate(tried)
        if (what := wrong(lambda changes=changes: ask(use, changes, NEWEST)))
    ]
    assert not found


@pytest.mark.parametrize("name", RUNNABLE)
@searched(60)
@given(data=st.data())
def test_garbage_in_a_desc(name: str, data: st.DataObject) -> None:
    use = USES[name]
    names = [field.python for field in use.operator.fields]
    changes = {key: garbage(data) for key in data.draw(st.sets(st.sampled_from(names), max_size=3))}
    if data.draw(st.booleans()):
        parts = {key: garbage(data) for key in data.draw(st.sets(st.sampled_from(TENSOR_PARTS)))}
        changes[use.operator.tensors[0].python] = dml.TensorDesc(**({"dtype": "FLOAT32", "sizes": (1, 2)} | parts))
    assert not wrong(lambda: ask(use, changes, data.draw(st.sampled_from(LEVELS))))


TENSOR_PARTS = [
    "dtype", "sizes", "strides", "flags", "total_tensor_size_in_bytes", "guaranteed_base_offset_alignment",
    "dimension_count",
]  # fmt: skip
