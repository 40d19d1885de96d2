"""The page of the benchmark: made of the medians of runs, the slower calls first, all others folded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.groups import all_groups
from benchmarks.groups.page import SLOWER, groups_of, markdown, merged, shown

FACTS = {"processor": "A", "instructions": ["FMA"], "versions": {"numpy": "2"}, "commit": "0123"}


def run_of(group: str, ours: float, theirs: float) -> dict[str, Any]:
    """A run of the cells of a group, in which each call takes the same time."""
    found = all_groups()[group]
    peer = next(name for name in found.against if name in ("numpy", "torch", "onnxruntime"))
    times = {found.figures[0].form: ours, peer: theirs}
    rows = [{"cell": cell.name, "threads": 1, "times": times, "errors": {}} for cell in found.cells]
    return {"machine": FACTS, "rows": rows}


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("runs")
    for name, run in (("a", run_of("activations", 1e-3, 2e-3)), ("b", run_of("pooling", 4e-3, 2e-3))):
        (folder / name).write_text(json.dumps(run), encoding="utf-8")
    return merged([folder / "a", folder / "b"])


def test_the_page_has_each_group_and_its_cells(results: dict[str, Any]) -> None:
    measured = [*groups_of(results)]
    assert {one.group.name: one.mean for one in measured} == {
        "activations": pytest.approx(2.0),
        "pooling": pytest.approx(0.5),
    }
    page = markdown(results, measured)
    assert page.count("<details>") == page.count("</details>") == 2
    assert all(f"`{cell.name}`" in page for name in ("activations", "pooling") for cell in all_groups()[name].cells)


def test_slower_calls_come_before_all_calls(results: dict[str, Any]) -> None:
    head, _, slow = markdown(results, [*groups_of(results)]).partition("## All calls")[0].partition("## Slower")
    assert "## Summary" in head and shown(0.5) in slow and "`pooling/" in slow and "`activations/" not in slow
    assert SLOWER < 1


def test_runs_of_two_machines_are_not_one(tmp_path: Path) -> None:
    for name, processor in (("a", "A"), ("b", "B")):
        run = {"machine": {**FACTS, "processor": processor}, "rows": []}
        (tmp_path / name).write_text(json.dumps(run), encoding="utf-8")
    with pytest.raises(ValueError, match="processor"):
        merged([tmp_path / "a", tmp_path / "b"])
