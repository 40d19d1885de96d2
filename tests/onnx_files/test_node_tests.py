"""The nodes that ONNX tests, as DirectML graphs, give the values that ONNX expects."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

pytest.importorskip("onnx", reason="needs onnx, whose node tests these are")

from node_tests import Outcome, cases, cases_of, judge

PASSED = {"activations": 57, "elementwise": 163, "logic": 90, "generators": 30, "indexing": 18, "layout": 92}
"""How many tests pass at least, by the file of specs/onnx."""
DIFFERENCES = {"clip_min_greater_than_max": "where Min is above Max, ONNX gives Max and DirectML Min"}
"""Tests that fail on DirectML."""


@cache
def outcomes_of(group: str) -> list[Outcome]:
    return [judge(case) for case in cases_of(group)]


@pytest.mark.parametrize("group", PASSED)
def test_conversions_give_the_expected_values(group: str) -> None:
    outcomes = outcomes_of(group)
    failed = {one.case: one.why for one in outcomes if one.verdict == "failed"}
    assert not failed.keys() - DIFFERENCES.keys(), failed
    assert sum(one.verdict == "passed" for one in outcomes) >= PASSED[group]


@pytest.mark.parametrize("group", PASSED)
def test_rules_refuse_only_data_types_and_ranks(group: str) -> None:
    found = {identifier for one in outcomes_of(group) if one.verdict == "violations" for identifier in one.why.split()}
    assert all(one.endswith(("-dtype", "-rank")) for one in found), found


def test_wrong_results_fail() -> None:
    right = next(case for case in cases() if case.name == "neg_example")
    (y,) = right.expected
    for wrong in (-y, y[:1], y.astype(np.float64), np.full_like(y, np.nan)):
        assert judge(replace(right, expected=(wrong,))).verdict == "failed"
    assert judge(replace(right, expected=(y, y))).verdict == "failed"
    assert judge(right).verdict == "passed"
