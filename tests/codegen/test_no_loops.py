"""An operator that no loops compute is one of the reference, and its plan and ``codegen show`` say why."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from bad_specs import cases, edited

from codegen.__main__ import main, make_plan


@pytest.mark.parametrize("case", cases("no_loops"))
def test_an_operator_without_loops(case: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The spec is right: the operator runs, beside one that has loops."""
    root = edited(case, tmp_path)
    plan = make_plan(root)
    without = [one for one in plan.operators if one.no_loops is not None]
    assert [(one.state, one.is_fast) for one in without] == [("reference", False)]
    assert (without[0].compiled is None) == (without[0].no_call is not None)
    assert [one.state for one in plan.operators if one not in without] == ["fast"]
    called = {one.name for family in plan.families for one in family.operators}
    assert called == {one.name for one in plan.operators if one.compiled is not None}
    assert {one.name for family in plan.families for one in family.fast} == {
        one.name for one in plan.operators if one.is_fast
    }
    reason, path = f"{without[0].no_loops}\n", case.with_suffix(".txt")
    if os.environ.get("CODEGEN_REWRITE"):
        path.write_text(reason, encoding="utf-8")
    assert reason == path.read_text(encoding="utf-8")
    assert main(["--root", str(root), "show", without[0].name]) == 0
    no_call = f"# no compiled call: {without[0].no_call}\n" * (without[0].no_call is not None)
    assert capsys.readouterr().out.startswith(f"# no loops: {reason}{no_call}\n[operator]\n")
