"""Tests of codegen.expr.latex: every operator and function, parentheses, and that the LaTeX is understood."""

from __future__ import annotations

from random import Random

import pytest
from depth import examples
from expression_trees import SCOPE, condition, exact, integer, values
from hypothesis import given, settings
from hypothesis import strategies as st
from latex_reader import Reader

from codegen.expr import nodes as n
from codegen.expr.latex import latex, word
from codegen.expr.nodes import Node
from codegen.expr.parse import EACH, FUNCTIONS, parse

CASES = {
    "2": "2",
    "0.5": "0.5",
    "2.5e-09": r"2.5 \cdot 10^{-9}",
    "a": "a",
    "low": r"\mathrm{low}",
    "start_padding": r"\mathrm{start\_padding}",
    "size.Width": r"\mathrm{size.Width}",
    "v[d]": "v_{d}",
    "v[d + 1]": "v_{d + 1}",
    "t[0, 0, r, 4]": "t_{0, 0, r, 4}",
    "-a": "-a",
    "-(a + b)": "-(a + b)",
    "-(-a)": "-(-a)",
    "a + b - c": "a + b - c",
    "a - (b - c)": "a - (b - c)",
    "a - (b + c)": "a - (b + c)",
    "a + -b": "a + (-b)",
    "a - -b * c": r"a - (-b \cdot c)",
    "a * b * c": r"a \cdot b \cdot c",
    "a * (b * c)": r"a \cdot (b \cdot c)",
    "a * (b + c)": r"a \cdot (b + c)",
    "a * -b": r"a \cdot (-b)",
    "a // b": r"\left\lfloor \frac{a}{b} \right\rfloor",
    "(a + b) // c * 2": r"\left\lfloor \frac{a + b}{c} \right\rfloor \cdot 2",
    "a / b + c": r"\frac{a}{b} + c",
    "a % b": r"a \bmod b",
    "a % b % c": r"(a \bmod b) \bmod c",
    "a * b % c": r"(a \cdot b) \bmod c",
    "a + b % c": r"a + (b \bmod c)",
    "a % (2 * b - 2) == 0": r"a \bmod (2 \cdot b - 2) = 0",
    "a != b": r"a \ne b",
    "a < b": "a < b",
    "a <= b": r"a \le b",
    "a > b": "a > b",
    "a >= b": r"a \ge b",
    "0 <= a < b": r"0 \le a \land a < b",
    "f and (g or h)": r"f \land (g \lor h)",
    "f and g or h": r"f \land g \lor h",
    "not f": r"\lnot f",
    "not (f and g)": r"\lnot (f \land g)",
    "not f and g": r"\lnot f \land g",
    "not a == b": r"\lnot (a = b)",
    "dtype(t) in ('FLOAT32', 'INT8')":
        r"\operatorname{dtype}(t) \in \{\mathtt{FLOAT32},\; \mathtt{INT8}\}",
    "mode == 'A_B'": r"\mathrm{mode} = \mathtt{A\_B}",
    "a if f else b": r"\begin{cases} a & \text{if } f \\ b & \text{otherwise} \end{cases}",
    "a if f else b if g else c":
        r"\begin{cases} a & \text{if } f \\ b & \text{if } g \\ c & \text{otherwise} \end{cases}",
    "1 + (a if f else b)":
        r"1 + \left( \begin{cases} a & \text{if } f \\ b & \text{otherwise} \end{cases} \right)",
    "[a, *v, *axes, 2]": r"[a,\; v_{0},\; \ldots,\; v_{\mathrm{axes} - 1},\; \mathrm{axes}_{0},\; \ldots,\; 2]",
    "rank(t)": r"\operatorname{rank}(t)",
    "count(ts)": r"\operatorname{count}(\mathrm{ts})",
    "present(t) and f": r"\operatorname{present}(t) \land f",
    "sizes(t)[2]": r"\operatorname{sizes}(t)_{2}",
    "dtype(t) == 'INT8'": r"\operatorname{dtype}(t) = \mathtt{INT8}",
    "len(v)": r"\operatorname{len}(v)",
    "sum(v)": r"\sum_{i} v_{i}",
    "prod(v) + i": r"\prod_{j} v_{j} + i",
    "prod(v) * 2": r"\left( \prod_{i} v_{i} \right) \cdot 2",
    "2 * prod(sizes(t))": r"2 \cdot \left( \prod_{i} \operatorname{sizes}(t)_{i} \right)",
    "min(v)": r"\min_{i} v_{i}",
    "max(v)": r"\max_{i} v_{i}",
    "min(a, b)": r"\min(a,\; b)",
    "max(a, b // c)": r"\max\left( a,\; \left\lfloor \frac{b}{c} \right\rfloor \right)",
    "abs(a - b)": r"\lvert a - b \rvert",
    "ceil_div(a, b)": r"\left\lceil \frac{a}{b} \right\rceil",
    "isfinite(x)": r"\operatorname{isfinite}(x)",
    "isnan(x)": r"\operatorname{isnan}(x)",
    "floor(x)": r"\lfloor x \rfloor",
    "round(x)": r"\operatorname{round}(x)",
    "sqrt(x)": r"\sqrt{x}",
    "exp(x)": r"\exp(x)",
    "log(x)": r"\ln(x)",
    "tanh(x)": r"\tanh(x)",
    "erf(x)": r"\operatorname{erf}(x)",
    "pow(x + 1, y)": "{(x + 1)}^{y}",
    "pow(x, y) * pow(pow(x, y), z)": r"{x}^{y} \cdot {({x}^{y})}^{z}",
    "sum(v[d] for d in axes)": r"\sum_{d = 0}^{\mathrm{axes} - 1} v_{d}",
    "sum(v[d] + 1 for d in 3)": r"\sum_{d = 0}^{2} (v_{d} + 1)",
    "prod(v[d] * 2 for d in 3)": r"\prod_{d = 0}^{2} v_{d} \cdot 2",
    "min(v[d] for d in 3)": r"\min_{0 \le d < 3} v_{d}",
    "max(v[d] for d in axes)": r"\max_{0 \le d < \mathrm{axes}} v_{d}",
    "all(v[d] > 0 for d in 3)": r"\forall d \in \{0, \ldots, 2\}: v_{d} > 0",
    "any(f or v[d] > 0 for d in axes)": r"\exists d \in \{0, \ldots, \mathrm{axes} - 1\}: (f \lor v_{d} > 0)",
    "any(v[d] > 0 for d in 3) and f": r"(\exists d \in \{0, \ldots, 2\}: v_{d} > 0) \land f",
}  # fmt: skip


@pytest.mark.parametrize("text", CASES)
def test_case(text: str) -> None:
    assert latex(parse(text), SCOPE) == CASES[text]


def test_the_cases_hold_every_node_and_function() -> None:
    found = [node for text in CASES for node in parse(text).walk()]
    assert {type(node).__name__ for node in found} == {kind.__name__ for kind in Node.__subclasses__()}
    assert {node.function for node in found if isinstance(node, n.Call)} == set(FUNCTIONS)
    assert {node.function for node in found if isinstance(node, n.Each)} == set(EACH)
    assert {node.op for node in found if isinstance(node, n.Arith)} == set("+-*%/") | {"//"}
    assert {node.op for node in found if isinstance(node, n.Compare)} == {"==", "!=", "<", "<=", ">", ">="}


def test_something_else_is_no_node() -> None:
    with pytest.raises(TypeError):
        latex(Node())


def test_words() -> None:
    assert [word(text) for text in ("N", "d", "_", "a_b")] == ["N", "d", r"\mathrm{\_}", r"\mathrm{a\_b}"]


@given(st.randoms(use_true_random=False), st.booleans())
@settings(max_examples=examples(300), deadline=None)
def test_any_tree_is_understood(random: Random, boolean: bool) -> None:
    """Braces and fences come in pairs, for docutils too."""
    math = pytest.importorskip("docutils.utils.math.latex2mathml", reason="docutils is not installed")
    made = latex((condition if boolean else integer)(random, 4), SCOPE)
    assert "<math" in math.tex2mathml(made)
    for left, right in (("(", ")"), (r"\{", r"\}"), (r"\left", r"\right"), (r"\lfloor", r"\rfloor")):
        assert made.count(left) == made.count(right)


@given(st.randoms(use_true_random=False), st.booleans())
@settings(max_examples=examples(400), deadline=None)
def test_it_reads_as_it_was_meant(random: Random, boolean: bool) -> None:
    """A reader of the formula computes the value of the expression."""
    node = (condition if boolean else integer)(random, 4)
    names = values(random).names
    meant = exact(node, names)
    given = {**names, "size.Width": names["size"][0], "size.Height": names["size"][1]}
    assert Reader(latex(node, SCOPE), given).whole() == meant, latex(node, SCOPE)
