"""Garbage for arguments and fields, each by each and by chance: refused with an error of the package."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from depth import draws_of, in_turn, some_of_each_family
from each import each
from example_descs import joined
from garbage import DEEP, GARBAGE, ITSELF, wrong
from hypothesis import strategies as st
from uses import LEVELS, NEWEST, RUNNABLE, USES, Use, search

import dmlcy as dml

SOME, ALL = 18, 1
"""Each piece of garbage is given to one argument or field in so many."""

NESTED = st.recursive(st.integers(-1, 3) | st.text(max_size=3) | st.floats(), lambda part: st.lists(part, max_size=4))


def garbage(data: st.DataObject) -> Any:
    """One piece of it; hypothesis does not see it, for it would ask for its repr."""
    number = data.draw(st.integers(-1, len(GARBAGE) - 1))
    value = data.draw(NESTED) if number < 0 else GARBAGE[number]
    return 0 if value is ITSELF or value is DEEP else value  # hypothesis lifts the limit of recursion


def arguments_of(name: str) -> list[str]:
    """The arguments of a call."""
    use = USES[name]
    return [*(field.python for field in use.operator.inputs), *use.attributes, *use.requests, "out"]


def garbage_of(name: str, member: str, members: list[str], step: int) -> Iterator[tuple[int, Any]]:
    """The garbage that a member is given: another part of it than the members beside it, and other operators."""
    first = list(USES).index(name) + members.index(member)
    yield from ((number, value) for number, value in enumerate(GARBAGE) if (first + number) % step == 0)


@in_turn
@pytest.mark.parametrize(("name", "step"), some_of_each_family(SOME, ALL))
def test_each_garbage_in_a_call(name: str, step: int) -> None:
    each(arguments_of(name), lambda argument: each_garbage_in_a_call(name, argument, step))


def each_garbage_in_a_call(name: str, argument: str, step: int) -> None:
    use = USES[name]
    arrays = joined(use.arrays)
    inputs = {field.python: arrays.get(field.python) for field in use.operator.inputs}
    functions = [(getattr(dml, use.operator.python), inputs | use.attributes | use.requests)]
    if argument == "out" or inputs.get(argument) is not None:  # others are not in the desc that is compiled
        functions.append((dml.compile(use.desc), inputs))
    found = [
        (number, what)
        for function, arguments in functions
        for number, value in garbage_of(name, argument, arguments_of(name), step)
        if (what := wrong(lambda f=function, a=arguments, v=value: f(**(a | {argument: v}))))
    ]
    assert not found


@in_turn
@draws_of(2, 20)
@pytest.mark.parametrize("name", RUNNABLE)
def test_garbage_in_a_call(name: str, draws: int) -> None:
    search(lambda data: garbage_in_a_call(USES[name], arguments_of(name), data), draws, name)


def garbage_in_a_call(use: Use, names: list[str], data: st.DataObject) -> None:
    chosen = data.draw(st.lists(st.sampled_from(names), min_size=1, max_size=4, unique=True))
    changes = {key: garbage(data) for key in chosen}
    arrays = joined(use.arrays)
    arguments = {key: arrays[key] for key in names if key in arrays} | use.attributes | use.requests | changes
    with dml.feature_level(data.draw(st.sampled_from(LEVELS))):
        assert not wrong(lambda: getattr(dml, use.operator.python)(**arguments))


def ask(use: Use, changes: dict[str, Any], level: Any) -> None:
    """Does with a desc all that can be done with it."""
    d = use.make({**use.values(), **changes})
    assert d == d and hash(d) == hash(d) and repr(d) and d.to_dict()
    dml.check(d, level)
    dml.compile(d, level)


@in_turn
@pytest.mark.parametrize(("name", "step"), some_of_each_family(SOME, ALL))
def test_each_garbage_in_a_desc(name: str, step: int) -> None:
    each(fields_of(name), lambda field: each_garbage_in_a_desc(name, field, step))


def fields_of(name: str) -> list[str]:
    """The fields of a desc."""
    return [field.python for field in RUNNABLE[name].fields]


def each_garbage_in_a_desc(name: str, field: str, step: int) -> None:
    use = USES[name]
    tried: list[dict[str, Any]] = [{field: value} for _, value in garbage_of(name, field, fields_of(name), step)]
    path = next(iter(use.arrays))
    if field == path.partition("[")[0]:
        for part in TENSOR_PARTS:
            pieces = [*garbage_of(name, part, TENSOR_PARTS, step)][::2]
            tried += [{path: use.tensor(path, **{part: value})} for _, value in pieces]
    found = [
        (number, what)
        for number, changes in enumerate(tried)
        if (what := wrong(lambda changes=changes: ask(use, changes, NEWEST)))
    ]
    assert not found


@in_turn
@draws_of(2, 20)
@pytest.mark.parametrize("name", RUNNABLE)
def test_garbage_in_a_desc(name: str, draws: int) -> None:
    search(lambda data: garbage_in_a_desc(USES[name], fields_of(name), data), draws, name)


def garbage_in_a_desc(use: Use, names: list[str], data: st.DataObject) -> None:
    changes = {key: garbage(data) for key in data.draw(st.sets(st.sampled_from(names), max_size=3))}
    if data.draw(st.booleans()):
        parts = {key: garbage(data) for key in data.draw(st.sets(st.sampled_from(TENSOR_PARTS)))}
        changes[use.operator.tensors[0].python] = dml.TensorDesc(**({"dtype": "FLOAT32", "sizes": (1, 2)} | parts))
    assert not wrong(lambda: ask(use, changes, data.draw(st.sampled_from(LEVELS))))


TENSOR_PARTS = [
    "dtype", "sizes", "strides", "flags", "total_tensor_size_in_bytes", "guaranteed_base_offset_alignment",
    "dimension_count",
]  # fmt: skip
