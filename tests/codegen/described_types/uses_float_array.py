"""An array of floats: finite numbers, as many as a formula says, which other formulas read."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest

import dmlcy as dml

X = dml.TensorDesc("FLOAT32", (1, 3, 2, 2))
BEGIN = "DML-VALUE_SCALE_2D-bias-"


def desc(bias: Any) -> Any:
    return dml.desc.ValueScale2d(input=X, bias=bias)


def slugs(found: Any) -> list[str]:
    return [one.id.removeprefix(BEGIN) for one in found]


@pytest.mark.parametrize("given", [(1, 0.5, 2), [1.0, 0.5, 2.0], np.array([1, 0.5, 2]), (np.float16(1), 0.5, 2)])
def test_numbers_are_taken(given: Any) -> None:
    d = desc(given)
    assert dml.check(d) == [] and d.bias == (1.0, 0.5, 2.0) and d.channel_count == 3
    assert dml.desc.OperatorDesc.from_dict(json.loads(json.dumps(d.to_dict()))) == d == desc((1.0, 0.5, 2.0))
    assert "1.0, 0.5, 2.0" in d._repr_html_() and "bias=(1.0, 0.5, 2.0)" in repr(d)


def test_one_number_fills_it() -> None:
    assert desc(0.5).bias == (0.5, 0.5, 0.5)
    model = desc(0.5).to_dict()
    model["desc"]["Bias"] = 0.5
    (found,) = dml.check(dml.desc.OperatorDesc.from_dict(model))
    assert found.message == "bias must be a list of numbers, not 0.5."


@pytest.mark.parametrize("given", [(1, 2), (1,) * 4, ()])
def test_the_length_follows(given: Any) -> None:
    (found,) = dml.check(desc(given))
    assert slugs([found]) == ["length"]
    assert "needs 3, which is channel_count" in found.message


@pytest.mark.parametrize("given", [math.nan, math.inf, 1e39, 10**400])
def test_the_entries_are_finite(given: Any) -> None:
    (found,) = dml.check(desc((1, given, 1)))
    assert slugs([found]) == ["finite"] and found.index == 1
    assert slugs(dml.check(desc(given))) == ["finite"] * 3
    again = dml.desc.OperatorDesc.from_dict(json.loads(json.dumps(desc((1, given, 1)).to_dict())))
    assert slugs(dml.check(again)) == ["finite"]


@pytest.mark.parametrize("given", ["1", None, 1j, object, True, {"a": 1}, b"12"])
def test_nothing_else_is_taken(given: Any) -> None:
    assert slugs(dml.check(desc(given))) == (["required"] if given is None else ["type"])
    (found,) = dml.check(desc((1, given, 1)))
    assert slugs([found]) == ["type"] and found.index == 1 and found.message.startswith("bias[1] must be a number, not")


def test_formulas_read_the_entries() -> None:
    (found,) = dml.check(desc((1, -2.5, math.nan)))[:1]
    assert slugs(dml.check(desc((1, -2.5, 0)))) == ["positive"]
    (found,) = dml.check(desc((1, -2.5, 0)))
    assert (found.index, found.fix) == (1, 2.5) and "bias[1] = -2.5" in found.message
    assert slugs(dml.check(desc((math.nan, -2.5, 1)))) == ["finite", "positive"]


def test_many_entries_are_refused_in_a_few_words() -> None:
    found = dml.check(desc([1.0] * 10**5))
    assert slugs(found) == ["type"] and len(found[0].message) < 300
    assert len(dml.check(desc([math.nan] * 4000))) < 20
