"""The nodes that ONNX tests, as DirectML graphs, give the values that ONNX expects."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

pytest.importorskip("onnx", reason="needs onnx, whose node tests these are")

import onnx
from depth import deep
from node_tests import DIFFERENCES, Case, Outcome, cases, cases_of, judge, models, ran
from protos import model_of

from dmlcy._frontends.onnx.lint import lint
from dmlcy._frontends.onnx.report import report_of

PASSED = {
    "activations": 63,
    "convolution": 20,
    "elementwise": 163,
    "generators": 30,
    "indexing": 18,
    "layout": 98,
    "logic": 90,
    "normalization": 34,
    "pooling": 52,
    "products": 25,
    "quantization": 13,
    "recurrent": 15,
    "reductions": 113,
    "resampling": 21,
}
"""How many tests pass at least, by the file of specs/onnx."""
OTHER_VALUES = {
    "BatchNormalization": 7,
    "Dropout": 7,
    "GroupNormalization": 21,
    "Hardmax": 13,
    "LogSoftmax": 13,
    "Selu": 6,
    "Softmax": 13,
    "Split": 2,
}
"""Operators that gave other values before a version, or were trained where the node says nothing."""


_JUDGED: dict[str, Outcome] = {}


def judged(case: Case) -> Outcome:
    """The outcome of a test, which is run once."""
    if case.name not in _JUDGED:
        _JUDGED[case.name] = judge(case)
    return _JUDGED[case.name]


@cache
def outcomes_of(group: str) -> list[tuple[Case, Outcome]]:
    return [(case, judged(case)) for case in cases_of(group)]


@pytest.mark.parametrize("group", PASSED)
def test_conversions_give_the_expected_values(group: str) -> None:
    failed = {case.name: one.why for case, one in outcomes_of(group) if one.verdict == "failed"}
    assert not failed.keys() - DIFFERENCES.keys(), failed
    assert sum(one.verdict == "passed" for _, one in outcomes_of(group)) >= PASSED[group]


@pytest.mark.parametrize("group", PASSED)
def test_nodes_whose_inputs_are_constants_are_folded_to_the_expected_values(group: str) -> None:
    several = [case for case in cases_of(group) if case.has_types]
    outcomes = [judge(case, range(len(case.model.graph.node[0].input))) for case in several]
    failed = {one.case: one.why for one in outcomes if one.verdict == "failed"}
    assert not failed.keys() - DIFFERENCES.keys(), failed
    assert sum(one.verdict == "passed" and not one.operators for one in outcomes) >= PASSED[group]


@pytest.mark.parametrize("group", PASSED)
def test_rules_refuse_only_data_types_and_ranks(group: str) -> None:
    found = {name for _, one in outcomes_of(group) if one.verdict == "violations" for name in one.why.split()}
    assert all(one.endswith(("-dtype", "-rank")) for one in found), found


@pytest.mark.parametrize("group", PASSED)
def test_an_operator_that_has_a_conversion_is_converted(group: str) -> None:
    """Except where DirectML does not have a data type."""
    found = [case for case, one in outcomes_of(group) if one.verdict == "unconverted" and case.has_types]
    assert not [case.name for case in found if case.row is not None and case.row.conversion]


@pytest.mark.parametrize("group", PASSED)
def test_older_versions_give_the_expected_values(group: str) -> None:
    """By a test of each operator, in each version that has the same inputs and attributes."""
    first = {case.operator: case for case, one in reversed(outcomes_of(group)) if one.verdict == "passed"}
    for case in first.values():
        for version in case.row.versions if case.row is not None else ():
            outcome = judge(case.of_version(version.since))
            if version.since >= OTHER_VALUES.get(case.operator, 0):
                is_other = outcome.verdict == "refused" and outcome.why.startswith("DML-ONNX-node-")
                assert outcome.verdict == "passed" or is_other, (outcome, version.since)


def test_what_is_known_to_fail_fails() -> None:
    failed = {case.name for case in cases() if case.name in DIFFERENCES and judged(case).verdict == "failed"}
    assert failed == {*DIFFERENCES} & {case.name for case in cases()}


def test_wrong_results_fail() -> None:
    right = next(case for case in cases() if case.name == "neg_example")
    (y,) = right.expected
    for wrong in (-y, y[:1], y.astype(np.float64), np.full_like(y, np.nan)):
        assert judge(replace(right, expected=(wrong,))).verdict == "failed"
    assert judge(replace(right, expected=(y, y))).verdict == "failed"
    assert judge(right).verdict == "passed"


REASONS = {
    "DML-ONNX-cpu-kernel": 320,
    "DML-ONNX-cpu-version": 212,
    "DML-ONNX-cpu-type": 182,
    "DML-ONNX-input-unknown": 38,
    "DML-ONNX-unsupported": 30,
    "DML-ONNX-cpu-query": 28,
    "DML-ONNX-cpu-unknown": 26,
    "DML-ONNX-type": 25,
    "DML-ONNX-cpu-control": 18,
    "DML-ONNX-alone-subgraph": 17,
    "DML-ONNX-alone-shader": 12,
    "DML-ONNX-empty": 11,
    "DML-ONNX-cpu-memory": 9,
    "DML-ONNX-alone-empty": 9,
    "DML-ONNX-alone-constant": 8,
    "DML-ONNX-alone-sizes": 7,
    "DML-ONNX-cpu-shape": 6,
    "DML-QUANTIZED_LINEAR_MATRIX_MULTIPLY-a_scale-dtype": 4,
    "DML-ONNX-shape-free": 2,
    "DML-AVERAGE_POOLING1-output-whole-windows": 1,
    "DML-ONNX-alone-never": 1,
    "DML-ONNX-dynamic": 1,
}
"""Why tests of one node do not pass: ids of the report and of lint, with the most tests that may have each."""


def test_every_other_test_has_a_reason() -> None:
    """With onnx 1.23, whose tests are counted; a test that passes has none of its reasons counted."""
    found: Counter[str] = Counter()
    for case in cases():
        if judged(case).verdict != "passed":
            ids = reasons_of(case.model)
            assert ids, case.name
            found.update(ids)
    assert len(found) <= 40
    if onnx.__version__.startswith("1.23."):
        assert {one: count for one, count in found.items() if count > REASONS.get(one, 0)} == {}


def test_every_model_is_read_and_placed() -> None:
    """Also those of several nodes: the bodies of functions."""
    for case in models():
        model = model_of(case.model)
        report = report_of(model)
        assert len(model.graph.nodes) <= len(report.nodes) or any("," in one.place for one in report.nodes), case.name
        assert all(one.reasons for one in report.nodes if one.where == "cpu"), case.name


def reasons_of(proto: Any) -> set[str]:
    """The ids that the report and lint give."""
    model = model_of(proto)
    placed = {why.id for node in report_of(model).nodes for why in node.reasons}
    return placed | {finding.violation.id for finding in lint(model, "6_4").findings}


RUN = {False: 823, True: 356}
"""How many tests pass when they run with all inputs given at run time; of 1,404, and of 480 of functions in full."""
NOT_RUN: dict[bool, dict[str, int]] = {
    False: {
        "DML-ONNX-run-unknown": 448,
        "DML-ONNX-unsupported": 26,
        "no tensor": 23,
        "DML-ONNX-type": 21,
        "DML-CAST-input-dtype": 12,
        "DML-ELEMENT_WISE_BIT_SHIFT_LEFT-a-dtype": 10,
        "DML-ELEMENT_WISE_BIT_SHIFT_RIGHT-a-dtype": 10,
        "DML-REDUCE-input-dtype": 9,
        "DML-ONNX-empty": 5,
        "DML-QUANTIZED_LINEAR_MATRIX_MULTIPLY-a_scale-dtype": 4,
        "DML-GEMM-a-dtype": 2,
    },
    True: {
        "DML-ONNX-run-unknown": 78,
        "DML-ONNX-run-type": 23,
        "DML-ELEMENT_WISE_EXP-input-dtype": 8,
        "DML-CAST-input-dtype": 6,
        "no tensor": 6,
        "DML-ACTIVATION_SOFTMAX1-input-dtype": 1,
        "DML-GEMM-a-dtype": 1,
        "DML-ONNX-empty": 1,
    },
}
"""Why tests do not run: the id of the error, with the most tests that may have it."""


@pytest.mark.parametrize("expanded", [False, pytest.param(True, marks=deep)])
def test_all_tests_run_or_say_why(expanded: bool) -> None:
    """Run the tests of a node, and the tests of the nodes of a function.

    A node on the CPU is computed if a table has it, and sizes may depend on elements.
    """
    passed, why, failed = 0, Counter[str](), dict[str, str]()
    for case in (one for one in models() if ("_expanded" in one.name) == expanded):
        verdict, said = ran(case)
        passed += verdict == "passed"
        if verdict == "refused":
            why[said] += 1
        elif verdict == "failed":
            failed[case.name.removeprefix("test_")] = said
    assert not failed.keys() - DIFFERENCES.keys(), failed
    assert passed >= RUN[expanded]
    if onnx.__version__.startswith("1.23."):
        assert {one: count for one, count in why.items() if count > NOT_RUN[expanded].get(one, 0)} == {}
