"""A scale and a bias: two finite numbers, an object in JSON, or nothing."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest

import dmlcy as dml

X = dml.TensorDesc("FLOAT32", (1, 2, 3, 4))
NAME = "ELEMENT_WISE_IDENTITY"
MISTYPED = "scale_bias must be (scale, bias), not {}."


def desc(scale_bias: Any = None) -> Any:
    return dml.desc.ElementWiseIdentity(input=X, scale_bias=scale_bias)


@pytest.mark.parametrize("given", [(2.0, 0.5), [2, 0.5], np.array([2, 0.5]), dml.desc.ScaleBias(2, 0.5)])
def test_a_pair_gives_both(given: Any) -> None:
    d = desc(given)
    assert dml.check(d) == [] and d.scale_bias == dml.desc.ScaleBias(2.0, 0.5)
    assert d == desc((2.0, 0.5)) and "scale_bias=(2.0, 0.5)" in repr(d)
    assert d.to_dict()["desc"]["ScaleBias"] == {"Scale": 2.0, "Bias": 0.5}
    assert dml.desc.OperatorDesc.from_dict(json.loads(json.dumps(d.to_dict()))) == d


def test_it_may_be_left_out() -> None:
    d = dml.desc.ElementWiseIdentity(input=X)
    assert dml.check(d) == [] and d.scale_bias is None
    model = d.to_dict()
    assert model["desc"]["ScaleBias"] is None
    assert dml.desc.OperatorDesc.from_dict(model) == d
    del model["desc"]["ScaleBias"]
    assert dml.check(dml.desc.OperatorDesc.from_dict(model)) == []


@pytest.mark.parametrize("value", [1.0, (1.0,), (1, 2, 3), "ab", {"Scale": 1, "Bias": 0}, object, ()])
def test_nothing_else_is_taken(value: Any) -> None:
    (found,) = dml.check(desc(value))
    assert (found.id, found.field) == (f"DML-{NAME}-scale_bias-type", "scale_bias")
    assert found.message.startswith("scale_bias must be (scale, bias), not ")


@pytest.mark.parametrize("value", [math.nan, math.inf, 1e39, 10**400])
def test_both_are_finite(value: Any) -> None:
    for member, pair in (("scale", (value, 1.0)), ("bias", (1.0, value))):
        (found,) = dml.check(desc(pair))
        assert (found.id, found.member) == (f"DML-{NAME}-scale_bias-finite", member)
        assert found.message.startswith(f"scale_bias.{member} is ")
        assert [one.id for one in dml.check(dml.desc.OperatorDesc.from_dict(desc(pair).to_dict()))] == [found.id]


@pytest.mark.parametrize("value", [None, "1", 1j, True])
def test_both_are_numbers(value: Any) -> None:
    found = dml.check(desc((value, value)))
    assert [one.member for one in found] == ["scale", "bias"]
    assert {one.id for one in found} == {f"DML-{NAME}-scale_bias-type"}


@pytest.mark.parametrize("value", [[1, 0], 1, {"Scale": 1}, {"Scale": 1, "Bias": 0, "Offset": 2}, "x"])
def test_json_has_an_object(value: Any) -> None:
    model = desc((1.0, 0.0)).to_dict()
    model["desc"]["ScaleBias"] = value
    (found,) = dml.check(dml.desc.OperatorDesc.from_dict(model))
    assert found.message.startswith('scale_bias must be an object with the members "Scale" and "Bias", not ')


def test_what_is_more_can_be_ignored() -> None:
    model = desc((1.0, 0.0)).to_dict()
    model["desc"]["ScaleBias"]["Offset"] = 2
    assert dml.desc.OperatorDesc.from_dict(model, ignore_unknown=True) == desc((1.0, 0.0))
