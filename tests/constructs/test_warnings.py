"""Rules that were only observed are warnings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import dmlcy as dml
from dmlcy._cli import main
from dmlcy._desc.classes import desc_class
from dmlcy._facts.tables import OPERATORS
from dmlcy._show.explain.rules import broken

LARGE = "DML-SLICE-sizes-large"


def desc_of(size: int) -> Any:
    return desc_class("SLICE")(input=dml.TensorDesc("FLOAT32", (1, 1, 1, size)), sizes=(1, 1, 1, size))


def test_check_shows_warnings_where_it_is_asked_to() -> None:
    desc = desc_of(70_000)
    assert dml.check(desc) == [] == dml.check(desc_of(9), warnings=True)
    (violation,) = dml.check(desc, warnings=True)
    assert (violation.id, violation.severity, violation.index, violation.fix) == (LARGE, "warning", 3, 65535)
    assert violation.to_json()["severity"] == "warning" and "warning" in violation._repr_html_()
    assert str(dml.minimum_feature_level(desc)).startswith("1_0")
    wrong = desc_class("SLICE")(input=desc.input, sizes=(1, 1, 2, 70_000))
    assert [one.severity for one in dml.check(wrong, warnings=True)] == ["error", "warning"]


def test_a_warning_hides_no_error() -> None:
    found = dml.check(desc_of(70_001), warnings=True)
    assert [one.id.rpartition("SLICE-")[2] for one in found] == ["strides-even", "sizes-large"]


@pytest.fixture
def model(tmp_path: Path) -> str:
    path = tmp_path / "model.json"
    parts = {"resources": {}, "dispatchables": {"cut": desc_of(70_000).to_dict()}, "commands": []}
    path.write_text(json.dumps(parts))
    return str(path)


def test_lint_shows_a_warning(model: str, capsys: pytest.CaptureFixture[str]) -> None:
    shown = {}
    for kind in ("text", "json", "github", "sarif"):
        assert main(["lint", "--format", kind, model]) == 0
        shown[kind] = capsys.readouterr().out
    assert "warning: sizes[3] is larger than some devices take" in shown["text"] and "1 warning" in shown["text"]
    found = json.loads(shown["json"])
    assert (found["errors"], found["warnings"], found["status"]) == (0, 1, 0)
    assert found["files"][0]["findings"][0]["severity"] == "warning"
    assert shown["github"].startswith("::warning file=")
    (result,) = json.loads(shown["sarif"])["runs"][0]["results"]
    assert (result["ruleId"], result["level"]) == (LARGE, "warning")


def test_what_is_said_of_it(checkout: Any) -> None:
    rule = next(rule for rule in OPERATORS["SLICE"].rules if rule.id == LARGE)
    assert broken(OPERATORS["SLICE"], rule) is not None
    page = " ".join((checkout[0] / "docs/reference/slice.md").read_text().split())
    assert "A violation is a warning, not an error: `dmlcy lint` and `check(desc, warnings=True)` show it." in page
    assert "sizes-large" not in (checkout[0] / "dmlcy/_generated/functions/slice.pyi").read_text()
