"""Every id of graphs is triggered by the change of a valid graph that its spec gives, and nothing else is."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from graphs import valid
from planned import specs

import dmlcy as dml
from codegen.model import ErrorText
from dmlcy._cli import main
from dmlcy._frontends.dxdispatch.json import decode
from dmlcy._frontends.graphs.lint import lint

OF_BYTES = "DML-GRAPH-file-"  # of serialized graphs: tests/frontends
ERRORS = [
    error
    for error in specs().facts.model_errors
    if error.id.startswith("DML-GRAPH-") and not error.id.startswith(OF_BYTES)
]
BREAKABLE = [error for error in ERRORS if error.breaks]
BY_HAND = {  # each has a test of its own, which names it
    "array-dtype", "array-place", "array-sizes", "array-type", "constant-level", "constant-missing", "dump",
    "initialize", "limit", "name-text", "name-unbound", "out", "passed-through", "binding-count", "binding-index",
    "binding-kind", "binding-order", "binding-output", "binding-released", "binding-size", "binding-twice",
    "batch-file", "batch-mixed", "batch-number", "batch-output", "batch-unknown",
    "bound-bytes", "bound-count", "bound-device", "bound-expression", "bound-kind", "bound-method", "bound-missing",
    "bound-name", "bound-twice", "bound-type", "compiled", "input-name", "operand-sizes", "operand-types", "view-size",
}  # fmt: skip


def changed(whole: dict[str, Any], changes: dict[str, Any]) -> str:
    """The graph with members replaced, as text."""
    whole = copy.deepcopy(whole)
    for path, value in changes.items():
        owner: Any = whole
        *steps, last = path.split(".")
        for step in steps:
            owner = owner[int(step) if isinstance(owner, list) else step]
        owner[int(last) if isinstance(owner, list) else last] = value
    return json.dumps(whole, indent=1)


def ids(text: str) -> dict[str, Any]:
    """The findings of a report by their ids."""
    return {finding.violation.id: finding for finding in lint(decode("g.json", text.encode()), "6_4").findings}


def test_the_unbroken_graph_is_valid() -> None:
    assert ids(changed(valid(), {})) == {}


@pytest.mark.parametrize("error", BREAKABLE, ids=lambda error: error.id)
def test_a_change_gives_its_id(error: ErrorText, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = changed(valid(), {**error.breaks})
    found = ids(text)
    assert error.id in found, sorted(found)
    others = {one for one in found if found[one].severity == "error"} - {error.id}
    assert not others, sorted(others)
    finding = found[error.id]
    assert finding.place.line > 1 or finding.violation.part == "graph"
    (tmp_path / "g.json").write_text(text)
    status = main(["run", str(tmp_path / "g.json")])
    said = capsys.readouterr()
    assert (status == 1 and error.id in said.err) if finding.severity == "error" else status == 0


def test_every_other_id_has_a_test() -> None:
    folders = (Path(__file__).parent, *(Path(__file__).parents[1] / name for name in ("chunks", "directml")))
    tests = "".join(path.read_text(encoding="utf-8") for folder in folders for path in folder.glob("*.py"))
    assert {error.id.removeprefix("DML-GRAPH-") for error in ERRORS if not error.breaks} == BY_HAND
    assert [slug for slug in BY_HAND if f"DML-GRAPH-{slug}" not in tests] == []


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: error.id)
def test_each_is_explained(error: ErrorText, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", error.id]) == 0
    assert error.id in capsys.readouterr().out
    assert error.id in dml.specs.ids() and error.id in dml.specs.errors()
