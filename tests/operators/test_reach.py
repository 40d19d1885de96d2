"""The valid descs of ``dmlcy.testing`` reach every type row, number of dimensions, member and optional tensor."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from depth import deep, in_turn
from drawing import Facts, draw_some, draw_until
from each import each

from dmlcy import testing
from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._facts.rows import Field, Operator
from dmlcy._facts.tables import LEVEL_INDEX, LEVELS, OPERATORS
from dmlcy._field_types import type_of
from dmlcy._field_types.tensor import dtypes_at, ranks_at
from dmlcy._testing.starts import starts, tensors_of
from dmlcy._testing.walk import Walk

NEWEST = len(LEVELS) - 1
MOST = 10**6
DRAWS, ROUNDS = 40, 40


def optional(operator: Operator) -> list[Field]:
    return [field for field in operator.fields if field.optional]


def choices(operator: Operator) -> Iterator[tuple[Field, object]]:
    """The attributes of few values, with each of them."""
    for field in operator.fields:
        if field.kind == "attribute" and field.value is None:
            info = type_of(field.type).info
            values = (
                (False, True)
                if field.type == "bool"
                else ()
                if info is None
                else map(info.cls.__getitem__, info.members)
            )
            yield from ((field, value) for value in values)


def _least(strategy: object) -> int:
    return 0


_drawn: Any = _least
"""For a walk of which nothing is drawn."""


def walks(operator: Operator) -> Iterator[Walk]:
    for start in starts(operator.name, NEWEST):
        yield Walk(_drawn, operator, NEWEST, MOST, start)


def test_members_and_optional_tensors() -> None:
    """By the steps of the strategies from the examples, without chance."""
    cases = [(operator, *choice) for operator in OPERATORS.values() for choice in choices(operator)]
    each(cases, lambda case: takes(*case), lambda case: f"{case[0].name} {case[1].python} {case[2]}")
    several = [(operator, field) for operator in OPERATORS.values() for field in optional(operator)]
    each(several, lambda case: toggles(*case), lambda case: f"{case[0].name} {case[1].python}")


def refused(operator: Operator, field: Field, value: object) -> bool:
    """Whether a rule of this field alone refuses a value."""
    rules = [rule for rule in operator.rules if rule.reads == {field.python}]
    return any(not rule.holds(_Only(field.python, value)) for rule in rules)


class _Only:
    """The values of a desc of which only one is read."""

    def __init__(self, name: str, value: object) -> None:
        setattr(self, name, value)


def takes(operator: Operator, field: Field, value: object) -> None:
    assert refused(operator, field, value) or any(
        walk.values[field.python] == value or walk.choose(field, value) for walk in walks(operator)
    )


def toggles(operator: Operator, field: Field) -> None:
    """A desc without the field, and one with it."""
    without = with_ = False
    for walk in walks(operator):
        without |= walk.lacks(field) or walk.take({field.python: None})
    for walk in walks(operator):
        made = walk.made(field, dtypes_at(field, NEWEST)[0]) if field.dtypes else ()
        with_ |= not walk.lacks(field) or any(
            not walk.check(walk.values | {field.python: one}).violations for one in made
        )
    assert without and (with_ or not field.dtypes)


def test_each_level_has_an_example_to_start_from() -> None:
    """Where a tensor has no data type yet, the strategies refuse the level when they are made."""
    each([*OPERATORS.values()], starts_at_each_level, lambda operator: operator.name)


def starts_at_each_level(operator: Operator) -> None:
    tensors = [field for field in operator.fields if field.dtypes and not field.optional]
    for level in range(LEVEL_INDEX[operator.since], len(LEVELS)):
        if all(dtypes_at(field, level) and ranks_at(field, level) for field in tensors):
            assert starts(operator.name, level)
            continue
        for strategy in (testing.descs, testing.broken_descs, testing.cases):
            with pytest.raises(ValueError, match=f"no desc of {operator.name} is valid at feature level") as caught:
                strategy(operator.name, level=LEVELS[level].name)
            assert "has no data type before feature level" in str(caught.value)


def wanted(operator: Operator) -> Iterator[tuple[str, object]]:
    """The possible values of the descs of an operator, field by field."""
    for field in operator.fields:
        if field.dtypes:
            yield from ((field.python, dtype) for dtype in dtypes_at(field, NEWEST))
            if field.kind == "input" and field.leading_ones is None:
                yield from ((field.python, rank) for rank in ranks_at(field, NEWEST))
        if field.optional and field.dtypes:
            yield from ((field.python, there) for there in ("absent", "present"))
    yield from ((field.python, value) for field, value in choices(operator) if not refused(operator, field, value))


def met_by(desc: OperatorDesc) -> Iterator[tuple[str, object]]:
    for field in desc.operator.fields:
        value = getattr(desc, field.python)
        for tensor in tensors_of(value):
            yield from ((field.python, found) for found in (tensor.dtype.name, tensor.rank))
        if field.dtypes:
            yield field.python, "absent" if value is None else "present"
        elif type_of(field.type).info is not None or field.type == "bool":
            yield field.python, value


@in_turn
@pytest.mark.parametrize("name", OPERATORS)
@deep
def test_random_descs_reach_them(name: str) -> None:
    met: Facts = Counter()
    strategy = testing.descs(name, most_elements=300, layouts=False)

    def draw(number: int) -> None:
        draw_some(strategy, DRAWS, lambda desc: met.update(met_by(desc)), number)

    draw_until(met, {*wanted(OPERATORS[name])}, ROUNDS, draw)
