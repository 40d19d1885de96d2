"""Random and broken descs of all operators that these specs describe, and the spelling of each in JSON."""

from __future__ import annotations

import json
import os
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, find, given, settings
from hypothesis import strategies as st

import dmlcy as dml
from dmlcy import testing
from dmlcy._facts.tables import LEVELS, OPERATORS
from dmlcy._field_types import type_of
from dmlcy._field_types.tensor import Tensor
from dmlcy._testing.broken import ways_of

SEARCH = settings(
    max_examples=int(os.environ["DRAWS"]), deadline=None, database=None, suppress_health_check=[*HealthCheck]
)
FIND = settings(SEARCH, max_examples=25, phases=[Phase.generate])
NAMES = sorted(OPERATORS)


def again(desc: Any) -> Any:
    return dml.desc.OperatorDesc.from_dict(json.loads(json.dumps(desc.to_dict())))


@pytest.mark.parametrize("name", NAMES)
def test_descs_are_valid(name: str) -> None:
    @SEARCH
    @given(testing.descs(name))
    def valid(desc: Any) -> None:
        assert dml.check(desc) == [] and again(desc) == desc and dml.check(again(desc)) == []
        assert hash(again(desc)) == hash(desc) and desc._repr_html_() and repr(desc)
        assert not dml.check(desc, dml.minimum_feature_level(desc).level)

    valid()


@pytest.mark.parametrize("name", NAMES)
def test_descs_are_broken(name: str) -> None:
    @SEARCH
    @given(testing.broken_descs(name))
    def broken(case: tuple[Any, Any]) -> None:
        desc, violation = case
        assert [one.id for one in dml.check(desc)] == [violation.id]
        assert violation.message and json.dumps(violation.to_json()) and desc._repr_html_()

    broken()


@pytest.mark.parametrize("name", NAMES)
def test_every_error_can_be_made(name: str) -> None:
    for id_, (field, _) in ways_of(name, len(LEVELS) - 1).items():
        if type(type_of(field.type)) is Tensor:  # as in any other operator
            continue
        find(testing.broken_descs(name, id=id_), lambda case, id_=id_: case[1].id == id_, settings=FIND)


@SEARCH
@given(st.data())
def test_any_value_is_answered(data: st.DataObject) -> None:
    """No value of a field gives anything but violations."""
    name = data.draw(st.sampled_from(NAMES))
    operator = OPERATORS[name]
    anything = st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3) | st.just(object()),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
        max_leaves=6,
    )
    values = {field.python: data.draw(anything) for field in operator.fields}
    desc = getattr(dml.desc, operator.desc)(**values)
    assert all(one.message for one in dml.check(desc))
    assert repr(desc) and desc._repr_html_() and hash(desc) == hash(getattr(dml.desc, operator.desc)(**values))
    members = {field.name: data.draw(anything) for field in operator.fields}
    read = dml.desc.OperatorDesc.from_dict({"type": name, "desc": members})
    assert all(one.message for one in dml.check(read)) and read.to_dict()
