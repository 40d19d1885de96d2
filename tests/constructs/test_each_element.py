"""Rules on each element of a tensor of any rank."""

from __future__ import annotations

import json
import time
from typing import Any

import numpy as np
from hypothesis import HealthCheck, given, settings

import dmlcy as dml
from dmlcy import testing
from dmlcy._check.checker import Check
from dmlcy._desc.classes import desc_class
from dmlcy._errors import Violation
from dmlcy._facts.levels import level_index
from dmlcy._facts.tables import OPERATORS
from dmlcy._show.explain.rules import broken


def looked_at(indices: Any, level: str = "6_4", sizes: tuple[int, ...] = (2, 5), axis: int = 1) -> list[Violation]:
    array = np.asarray(indices)
    tensors = {"input": dml.TensorDesc("FLOAT32", sizes), "indices": dml.TensorDesc(array.dtype, array.shape)}
    output = dml.TensorDesc("FLOAT32", (1,))
    desc = desc_class("GATHER")(**tensors, output=output, axis=axis, index_dimensions=1)
    check = Check(OPERATORS["GATHER"], desc._values(), level_index(level), call=False)
    before = len(check.violations)
    check.data({"indices": array})
    return check.violations[before:]


def test_every_element_of_any_rank() -> None:
    assert looked_at(np.array([0, 4, -5, 3])) == []
    (violation,) = looked_at(np.array([[[0, 1], [5, 2]]], np.int32))
    assert (violation.id, violation.index) == ("DML-GATHER-indices-inside", (0, 1, 0))
    assert violation.message.startswith("indices[0, 1, 0] is outside the input: ")
    assert violation.values["v"] == 5 and "indices[0, 1, 0] = 5" in violation.message
    assert json.loads(json.dumps(violation.to_json()))["index"] == [0, 1, 0]


def test_integers_are_exact() -> None:
    assert looked_at(np.array([2**64 - 1], np.uint64))[0].values["v"] == 2**64 - 1
    assert looked_at(np.array([-(2**63)], np.int64))[0].values["v"] == -(2**63)


def test_a_rule_of_some_levels() -> None:
    assert [len(looked_at(np.array([3]), level)) for level in ("5_2", "6_0", "6_1", "6_2")] == [0, 1, 1, 0]


def test_what_is_refused_is_not_read() -> None:
    assert looked_at(np.array([9]), axis=7) == []
    assert looked_at(np.array([9]), sizes=(0, 0)) == []


def test_ten_are_reported_of_a_million_in_linear_time() -> None:
    many = np.arange(1_000_000).reshape(10, 100, 1000)
    begin = time.perf_counter()
    found = looked_at(many)
    assert time.perf_counter() - begin < 10
    assert [one.index for one in found] == [(0, 0, number) for number in range(5, 15)]


def test_random_arrays_keep_the_rule_and_broken_ones_break_it() -> None:
    @given(testing.cases("GATHER"))
    @settings(max_examples=10, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    def kept(case: tuple[Any, dict[str, Any]]) -> None:
        desc, arrays = case
        check = Check(OPERATORS["GATHER"], desc._values(), level_index("6_4"), call=False)
        check.data(arrays)
        assert check.violations == []

    @given(testing.broken_inputs("GATHER"))
    @settings(max_examples=10, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    def refused(case: tuple[Any, dict[str, Any], Violation]) -> None:
        assert case[2].id.startswith("DML-GATHER-indices-")

    kept()
    refused()


def test_the_example_of_a_warning() -> None:
    """The warning shows the first example of the spec that has such an element."""
    rule = next(rule for rule in OPERATORS["GATHER"].rules if rule.severity == "warning")
    facts = broken(OPERATORS["GATHER"], rule)
    assert facts is not None and facts["title"] == "The second of four"
    assert (
        facts["message"]
        == "indices[0, 0, 0, 1] is what some devices do not take: indices[0, 0, 0, 1] = 2 must be != 2."
    )


def test_what_is_said_of_it(checkout: Any) -> None:
    rule = next(rule for rule in OPERATORS["GATHER"].rules if rule.each)
    facts = broken(OPERATORS["GATHER"], rule)
    assert facts is not None and facts["message"].startswith("indices[0, 0, 0, 1] is outside the input")
    page = (checkout[0] / "docs/reference/gather.md").read_text()
    assert "for each element v of indices" in page
    assert "each" in (checkout[0] / "dmlcy/_generated/specs/operators/gather.toml").read_text()
