"""Functions that stand for formulas: what is written out, where they may be, and what loops make of functions."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from codegen.expr.c import C, Ordinary, has_functions
from codegen.expr.composed import FORMULAS, written_out
from codegen.expr.nodes import ExprError
from codegen.expr.parse import COMPOSED, parse
from codegen.load.formulas import in_conditions, in_rules

ROOT = Path(__file__).parents[2]


def test_formulas_take_the_place_of_functions() -> None:
    assert written_out(parse("sigmoid(x) + 1")) == parse("1 / (1 + exp(-x)) + 1")
    assert written_out(parse("tanh_times(b, a, c)")) == parse("b * tanh(a * c)")  # its own arguments are c, a and b
    assert written_out(parse("sigmoid(sigmoid(x))")) == parse("1 / (1 + exp(-(1 / (1 + exp(-x)))))")
    assert written_out(parse("exp(x) if x > 0 else y")) == parse("exp(x) if x > 0 else y")


def test_each_has_a_formula_and_a_line_of_the_page() -> None:
    assert {name: len(names.split()) for name, (names, _) in FORMULAS.items()} == COMPOSED
    page = (ROOT / "docs" / "expression-language.md").read_text(encoding="utf-8")
    section = page.partition("### Functions that are formulas\n")[2].partition("\n### ")[0]
    lines = re.findall(r"^\| `(\w+)\(([\w, ]+)\)` \|", section, re.M)
    assert {name: " ".join(names.split(", ")) for name, names in lines} == {
        key: one for key, (one, _) in FORMULAS.items()
    }


@pytest.mark.parametrize("demands", [in_rules, in_conditions])
def test_only_kernels_have_them(demands: object) -> None:
    with pytest.raises(ExprError, match=r"gelu is a function for \[kernel\] only"):
        demands(parse("gelu(x) > 1"))  # type: ignore[operator]
    assert demands(parse("x > 1")) == parse("x > 1")  # type: ignore[operator]


def test_loops_take_other_forms_for_ordinary_arguments() -> None:
    names = {"x": "x0", "y": "x1"}
    node = parse("sin(x) + erf(pow(x, y))")
    every, ordinary = C(names, "float", {}), Ordinary(names, "float", {})
    assert has_functions(node)
    whole = "(dmlcy_sin{0}(DMLCY_FUSED, x0) + dmlcy_erf(DMLCY_FUSED, dmlcy_pow{0}(DMLCY_FUSED, x0, x1)))"
    assert every.expression(node) == whole.format("")
    assert ordinary.expression(node) == whole.format("_ordinary")
    assert every.special(node) == "dmlcy_sin_special(x0) | dmlcy_pow_special(x0, x1)"
    assert every.special(parse("erf(x)")) is None


def test_a_product_of_three_rounds_once() -> None:
    assert C({"a": "a", "b": "b", "x": "x0"}, "float", {}).expression(parse("a * b * x")) == "dmlcy_product(a, b, x0)"
