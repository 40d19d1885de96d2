"""The node tests of ONNX that operators of DirectML express give the values that ONNX expects."""

from __future__ import annotations

import numpy as np
import onnx_mapping  # noqa: F401
import pytest
from onnx_mapping.cases import Case, Outcome, cases, collected, judge
from onnx_mapping.node import CONVERSIONS, REASONS, Node, calls, dml

from dmlcy._frontends.onnx.reader import decode

onnx = pytest.importorskip("onnx", reason="needs onnx, whose node tests these are")

of_this_version = pytest.mark.skipif(
    not onnx.__version__.startswith("1.23."), reason="counts the tests of onnx 1.23; other versions have others"
)


def test_every_model_is_read_as_onnx_reads_it() -> None:
    from peers import agree

    assert len(collected()) > 1000
    for case in collected():
        agree(decode(case.name, case.model.SerializeToString(), None), case.model)


@pytest.fixture(scope="module")
def outcomes() -> list[Outcome]:
    return [judge(case) for case in cases()]


def test_every_expressible_test_passes(outcomes: list[Outcome]) -> None:
    failed = [f"{one.case}: {one.why}" for one in outcomes if one.verdict == "failed"]
    assert not failed, "\n".join(failed)
    assert sum(one.verdict == "passed" for one in outcomes) >= 500


@of_this_version
def test_nearly_all_are_run(outcomes: list[Outcome]) -> None:
    assert sum(one.verdict == "passed" for one in outcomes) >= 766


@of_this_version
def test_every_operator_of_onnx_is_converted_or_has_a_reason() -> None:
    kinds = {case.node.kind for case in cases()}
    assert kinds == {*CONVERSIONS, *REASONS}
    assert not CONVERSIONS.keys() & REASONS.keys()


def test_every_other_test_has_a_reason(outcomes: list[Outcome]) -> None:
    assert all(one.why for one in outcomes if one.verdict != "passed")
    assert all(one.operators for one in outcomes if one.verdict == "passed"), "NumPy alone has computed a result"


@of_this_version
def test_a_conversion_expresses_something(outcomes: list[Outcome]) -> None:
    """One that expresses no test at all would be a reason, unless all tests have a data type that is not taken."""
    converted = {one.kind for one in outcomes if one.verdict in ("passed", "not run") or "does not take" in one.why}
    assert converted == {*CONVERSIONS}


def test_wrong_results_fail() -> None:
    x = np.array([1, 2], np.float32)
    node = Node("Neg", {}, (x,), 1, 13)
    for expected in (x, -x[:1], -x.astype(np.float64), np.array([-1, np.nan], np.float32)):
        assert judge(Case("wrong", node, (expected,))).verdict == "failed"
    assert judge(Case("two", node, (-x, -x))).verdict == "failed"
    assert judge(Case("right", node, (-x,))).verdict == "passed"


def test_called_operators_are_kept() -> None:
    with calls() as names:
        assert dml.element_wise_logical_not(np.array(True)).tolist() == [0]
    assert names == ["ELEMENT_WISE_LOGICAL_NOT"]
