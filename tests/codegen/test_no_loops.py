"""An operator that no loops compute is one of the reference, and its plan and ``codegen show`` say why."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path

import pytest
from bad_specs import cases, edited
from planned import planned

from codegen.__main__ import ROOT, main, make_plan
from codegen.expr.parse import parse
from codegen.families import LOOPS
from codegen.families.elementwise import loops
from codegen.plan.steps import ends_of, looks_at_each


@pytest.mark.parametrize("case", cases("no_loops"))
def test_an_operator_without_loops(case: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The spec is right: the operator runs, beside one that has loops."""
    root = edited(case, tmp_path)
    plan = make_plan(root)
    without = [one for one in plan.operators if one.no_loops is not None]
    assert [(one.state, one.is_fast) for one in without] == [("reference", False)]
    assert [one.state for one in plan.operators if one not in without] == ["fast"]
    assert {one.name for family in plan.families for one in family.operators} == {one.name for one in plan.operators}
    assert {one.name for family in plan.families for one in family.fast} == {
        one.name for one in plan.operators if one.is_fast
    }
    reason, path = f"{without[0].no_loops}\n", case.with_suffix(".txt")
    if os.environ.get("CODEGEN_REWRITE"):
        path.write_text(reason, encoding="utf-8")
    assert reason == path.read_text(encoding="utf-8")
    assert main(["--root", str(root), "show", without[0].name]) == 0
    assert capsys.readouterr().out.startswith(f"# no loops: {reason}\n[operator]\n")


def test_loops_of_elements_take_as_many_tensors_as_their_struct_holds() -> None:
    text = (ROOT / "dmlcy/_runtime/elements.pxd").read_text(encoding="utf-8")
    held = dict(re.findall(r"^    (MOST_\w+) = (\d+)", text, re.MULTILINE))
    assert held == {"MOST_INPUTS": str(loops.MOST_INPUTS), "MOST_TENSORS": str(loops.MOST_TENSORS)}


def test_the_tensors_that_no_loops_take() -> None:
    """Arrays of tensors, and elements of 4 bits, of families whose loops do not take them."""
    for one in planned().operators:
        loops = LOOPS.get(one.operator.family)
        types = [row for field in one.operator.tensors for row in one.operator.types[field.types or ""]]
        several = any(tensor.several for tensor in one.tensors) and not (loops and loops.takes_arrays)
        halves = any("INT4" in row.dtypes or "UINT4" in row.dtypes for row in types)
        halves = halves and not (loops and loops.takes_halves)
        reason = one.no_loops or ""
        assert ("array of tensors" in reason or "elements of 4 bits" in reason) == (several or halves), one.name


def test_rules_on_each_element_that_calls_check() -> None:
    """Between two ends; an element that cannot be negative needs no lower one."""
    operators = {one.name: one.operator for one in planned().operators}
    for name, taken in (("GATHER", False), ("MAX_UNPOOLING", True)):
        rule = next(rule for rule in operators[name].rules if rule.each is not None)
        assert ends_of(rule, operators[name]) is not None
        for text, known in (("v < 3", taken), ("0 <= v < 3", True), ("v != 3", False)):
            other = replace(rule, that=replace(rule.that, node=parse(text)))
            assert (ends_of(other, operators[name]) is not None) == known, (name, text)


def test_other_rules_on_each_element_that_calls_check() -> None:
    """The elements are checked one by one in float64, which cannot represent all integers of 64 bits."""
    operators = {one.name: one.operator for one in planned().operators}
    for name, taken in (("GATHER", False), ("MULTIHEAD_ATTENTION1", True)):
        rule = next(rule for rule in operators[name].rules if rule.each is not None)
        assert looks_at_each(rule, operators[name]) == taken, name
        assert not looks_at_each(replace(rule, index="k"), operators[name])
