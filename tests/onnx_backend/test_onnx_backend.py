"""ONNX Runtime as the back end under test of a conformance pack."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("onnx", reason="needs onnx, which makes the graphs")
pytest.importorskip("onnxruntime", reason="needs onnxruntime, which is the back end")

import onnx_graphs  # noqa: F401
from onnx_graphs.graph import CONVERSIONS
from onnx_graphs.results import Outcome, run

from dmlcy._conformance.command import program
from dmlcy._facts.tables import OPERATORS

NAMES = ("AVERAGE_POOLING", "ELEMENT_WISE_ADD", "ELEMENT_WISE_LOGICAL_AND", "GEMM", "JOIN", "REDUCE", "TOP_K1")
LEFT_OUT = ("GRU",)


@pytest.fixture(scope="module")
def pack(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The documented examples of some operators, which need no draws."""
    folder = tmp_path_factory.mktemp("packs") / "pack"
    assert program(["export", str(folder), "--operators", ",".join((*NAMES, *LEFT_OUT)), "--cases", "0"]) == 0
    return folder


def judged(pack: Path, results: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, str]:
    capsys.readouterr()
    program(["compare", str(pack), str(results), "--json"])
    return {case["name"]: case["verdict"] for case in json.loads(capsys.readouterr().out)["cases"]}


def test_the_examples_pass(pack: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    outcomes: list[Outcome] = list(run(pack, tmp_path))
    assert {one.operator for one in outcomes if not one.why} == {*NAMES}
    verdicts = judged(pack, tmp_path, capsys)
    for one in outcomes:
        assert verdicts[one.case] == ("missing" if one.why else "passed"), one


def test_a_wrong_value_of_the_back_end_fails(pack: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (one, *_) = (one for one in run(pack, tmp_path) if one.operator == "GEMM" and not one.why)
    path = tmp_path / one.case / "output.npy"
    np.save(path, np.load(path) * np.float32(1.001))
    assert judged(pack, tmp_path, capsys)[one.case] == "failed"


def test_many_operators_have_a_graph() -> None:
    assert len(CONVERSIONS) >= 100 and {*CONVERSIONS} <= {*OPERATORS}
