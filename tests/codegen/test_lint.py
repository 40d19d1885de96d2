"""Tests of codegen.lint: every rule has a bad spec, and the specs are clean."""

from __future__ import annotations

from pathlib import Path

import pytest
from bad_specs import BASE, cases, compare, edited, never_reported

from codegen import lint as lint_module
from codegen.diagnostics import Diagnostics
from codegen.lint import lint, required
from codegen.load import load

ROOT = Path(__file__).parents[2]


def run(root: Path) -> None:
    specs, diagnostics = load(root), Diagnostics()
    required(specs, diagnostics)
    lint(specs, diagnostics)
    diagnostics.raise_if_any()


@pytest.mark.parametrize("case", cases("lint"))
def test_bad_spec(case: Path, tmp_path: Path) -> None:
    compare(case, tmp_path, run)


def test_every_rule_of_lint_has_a_bad_spec(tmp_path: Path) -> None:
    found = cases("lint")
    folders = [tmp_path / str(number) for number in range(len(found))]
    runs = [
        lambda case=case, folder=folder: run(edited(case.values[0], folder))
        for case, folder in zip(found, folders, strict=True)
    ]
    assert never_reported([lint_module], iter(runs)) == []


@pytest.mark.parametrize("root", [ROOT, BASE], ids=["specs", "base"])
def test_the_specs_are_clean(root: Path) -> None:
    run(root)
