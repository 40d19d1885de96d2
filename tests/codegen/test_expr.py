"""Tests of codegen.expr: what is refused, kinds, intervals, the text and the Python target."""

from __future__ import annotations

import math
import random as random_module
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest
from depth import examples
from expression_trees import SCOPE, condition, exact, integer, values
from hypothesis import given, settings
from hypothesis import strategies as st

from codegen.expr import nodes as n
from codegen.expr.cython import MAX_SPREAD, Cython
from codegen.expr.latex import latex
from codegen.expr.nodes import ExprError, NotCompiled, substitute
from codegen.expr.parse import EACH, FUNCTIONS, MAX_DEPTH, MAX_LENGTH, REFERENCE, REFUSED, parse
from codegen.expr.python import python
from codegen.expr.text import formula, sentence
from codegen.expr.types import INT64_MAX, Interval, Kind, Symbol, interval_of, kind_of, within

PAGE = Path(__file__).parents[2] / "docs" / "expression-language.md"
RANDOM = st.randoms(use_true_random=False)

NO = "the expression language has no "
PARSE_ERRORS = {
    "a.b": NO + "attribute access",
    "a.Width.x": NO + "attribute access",
    "().__class__.__bases__": NO + "attribute access",
    "lambda: 1": NO + "lambda",
    "(x := 1)": NO + "assignment",
    "f'{a}'": NO + "f-string",
    "a[1:2]": NO + "slice",
    "{}": NO + "dictionary",
    "{k: 1 for k in a}": NO + "dictionary",
    "{1}": NO + "set",
    "{k for k in a}": NO + "set",
    "(1, 2)": NO + "tuple",
    "[x for x in y]": NO + "list comprehension",
    "(x for x in y)": NO + "`… for …` outside a function",
    "min(*v)": NO + "* outside a list",
    "await x": NO + "await",
    "(yield)": NO + "yield",
    "(yield from x)": NO + "yield",
    "a ** b": NO + "operator **",
    "10**10**10": NO + "operator **",
    "a & b": NO + "operator &",
    "a | b": NO + "operator |",
    "a ^ b": NO + "operator ^",
    "a << b": NO + "operator <<",
    "a >> b": NO + "operator >>",
    "a @ b": NO + "operator @",
    "~a": NO + "operator ~",
    "+a": NO + "sign +",
    "a is b": NO + "operator is",
    "a is not b": NO + "operator is",
    "a not in (1, 2)": NO + "operator not in",
    "None": NO + "NoneType constant",
    "...": NO + "ellipsis constant",
    "b'x'": NO + "bytes constant",
    "3j": NO + "complex constant",
    "True": "True and False are not used: write the condition itself",
    "a in b": "`in` takes choices in parentheses: x in (a, b)",
    "a in ()": "`in` takes choices in parentheses: x in (a, b)",
    "9223372036854775808": "the number does not fit 64 bits",
    "1e999": "the number does not fit 64 bits",
    "'a b'": "a string is the name of an enum member or of a data type",
    "'\"'": "a string is the name of an enum member or of a data type",
    "open('x')": "unknown function open",
    "__import__('os')": "unknown function __import__",
    "min(a, key=b)": "a call is a function's name and its arguments",
    "a[0](1)": "a call is a function's name and its arguments",
    "sum()": "sum takes 1 argument(s)",
    "min()": "min takes one or more argument(s)",
    "ceil_div(a)": "ceil_div takes 2 argument(s)",
    "abs(x for d in k)": "abs takes no `… for … in …`",
    "sum(x for d in k if d)": "one `for`, without `if`",
    "sum(x for d in k for e in k)": "one `for`, without `if`",
    "all(x async for d in k)": "one `for`, without `if`",
    "sum(sum(x for e in k) for d in k)": "a `for` inside another: make the inner one a let",
    "sum(x for d, e in k)": "the index of a `for` is one name",
    "sum(x for d.e in k)": "the index of a `for` is one name",
    "": "not an expression: invalid syntax",
    "a = 1": "not an expression: invalid syntax",
    "import os": "not an expression: invalid syntax",
    "a; b": "not an expression: invalid syntax",
    "a\0": "not an expression: source code string cannot contain null bytes",
    "\ud800": "not an expression: it holds characters or nesting that no expression has",
    "(" * 400: "not an expression: too many nested parentheses",
    "-" * 900 + "1": f"the expression is nested deeper than {MAX_DEPTH} levels",
    "not " * 200 + "a": f"the expression is nested deeper than {MAX_DEPTH} levels",
    "+".join("a" * 400): f"the expression is nested deeper than {MAX_DEPTH} levels",
    "a" * (MAX_LENGTH + 1): f"the expression is longer than {MAX_LENGTH} characters",
    "9" * 10**6: f"the expression is longer than {MAX_LENGTH} characters",
}


@pytest.mark.parametrize("text", PARSE_ERRORS, ids=lambda text: repr(text[:30]))
def test_refused_texts(text: str) -> None:
    with pytest.raises(ExprError) as caught:
        parse(text)
    error = caught.value
    expected = PARSE_ERRORS[text]
    assert error.message == expected or (expected.startswith("not an") and error.message.startswith("not an"))
    assert 0 <= error.at <= len(text)
    assert error.length >= 1


def test_every_refused_construct_has_a_case() -> None:
    said = {message.removeprefix(NO) for message in PARSE_ERRORS.values()}
    assert {word for word in REFUSED.values() if word not in said} == set()


@given(st.text(max_size=40) | st.text("abdk v[](){}.,:+-*/%<>=!'\"0123456789forinfele_\r\n\t\\@#", max_size=40))
@settings(max_examples=examples(200), deadline=None)
def test_any_text_parses_or_is_refused(text: str) -> None:
    try:
        node = parse(text)
    except ExprError as error:
        assert error.message
    else:
        assert parse(formula(node)) == node


TYPE_ERRORS = {
    "d": "unknown name d",
    "aa": "unknown name aa",
    "a / b": "/ divides floats only",
    "1.5 // b": "// takes integers only",
    "1.5 % b": "% takes integers only",
    "a // a": "the divisor may be 0",
    "a % low": "the divisor may be 0 or negative",
    "a // -2": "the divisor may be 0 or negative",
    "ceil_div(a, c)": "the divisor may be 0",
    "a and f": "expected a condition, found an integer",
    "not a": "expected a condition, found an integer",
    "f + 1": "expected a number, found a condition",
    "-t": "expected a number, found a tensor",
    "a < f": "< compares numbers",
    "mode < 'EDGE'": "< compares numbers",
    "mode == 'EDG'": "'EDG' is no member",
    "mode in ('EDGE', 'NONE')": "'NONE' is no member",
    "mode == 1": "an enum member is not compared with an integer",
    "'EDGE' == mode": "a name is not compared with an enum member",
    "'EDGE' == 'EDGE'": "a name is not compared with a name",
    "v == w": "a vector of integers is not compared with a vector of integers",
    "size == size": "a SIZE_2D is not compared with a SIZE_2D",
    "t == t": "a tensor is not compared with a tensor",
    "a if b else c": "expected a condition, found an integer",
    "a if f else f": "both sides of `if … else` must be of one kind",
    "v if f else w": "`if … else` chooses between numbers or conditions",
    "rank(t if f else t)": "`if … else` chooses between numbers or conditions",
    "'EDGE' if f else 'WRAP'": "`if … else` chooses between numbers or conditions",
    "v[f]": "expected an integer, found a condition",
    "v[-1]": "the index may be negative",
    "t[0, low]": "the index may be negative",
    "v[8]": "the index may be beyond 7, the last of any vector",
    "v[a]": "the index may be beyond 7, the last of any vector",
    "v[0, 1]": "a vector of integers takes no such index",
    "a[0]": "an integer takes no such index",
    "[a, b][0]": "expected the name of a vector, or sizes(tensor)",
    "[*[a, b]]": "expected the name of a vector, or sizes(tensor)",
    "len([a, b])": "expected the name of a vector, or sizes(tensor)",
    "[f]": "expected an integer, found a condition",
    "a.Width": "expected a SIZE_2D, found an integer",
    "rank(a)": "expected a tensor, found an integer",
    "len(t)": "expected a vector of integers, found a tensor",
    "max(a)": "expected a vector of integers, found an integer",
    "round(a)": "expected a float, found an integer",
    "sqrt(f)": "expected a number, found a condition",
    "isnan(t)": "expected a number, found a tensor",
    "all(a for k in 3)": "expected a condition, found an integer",
    "sum(f for k in 3)": "expected a number, found a condition",
    "sum(k for k in f)": "expected an integer, found a condition",
    "sum(k for a in 3)": "the index 'a' is not one letter from b to z",
    "sum(k for level in 3)": "the index 'level' is not one letter from b to z",
    "sum(b for b in 3)": "b is the name of a field",
    "sum(1 for k in 65)": "a `for` runs at most 64 times: this may be more",
    "any(f for k in a)": "a `for` runs at most 64 times: this may be more",
    "max(k for k in 1000000 * 1000000)": "a `for` runs at most 64 times: this may be more",
    "__builtins__": "unknown name __builtins__",
    "__debug__ + 1": "unknown name __debug__",
}


@pytest.mark.parametrize("text", TYPE_ERRORS)
def test_refused_kinds(text: str) -> None:
    with pytest.raises(ExprError) as caught:
        kind_of(parse(text), SCOPE)
    assert caught.value.message == TYPE_ERRORS[text]
    assert 0 <= caught.value.at < len(text)
    assert caught.value.at + caught.value.length <= len(text)


KINDS = {
    "a + 1": Kind.INT,
    "1.5 * a": Kind.FLOAT,
    "1.5 / 2": Kind.FLOAT,
    "a < b < c": Kind.BOOL,
    "mode in ('EDGE', 'WRAP')": Kind.BOOL,
    "dtype(t) == 'FLOAT32'": Kind.BOOL,
    "t[0, a]": Kind.FLOAT,
    "1 if f else 2.0": Kind.FLOAT,
    "f if a == 1 else not f": Kind.BOOL,
    "a // c if c != 0 else 0": Kind.INT,
    "0 if c == 0 else a % c": Kind.INT,
    "round(1.5)": Kind.INT,
    "sqrt(a)": Kind.FLOAT,
    "max(a, 1.5)": Kind.FLOAT,
    "[a, *v, *sizes(t)]": Kind.VECTOR,
    "size.Width": Kind.INT,
}


@pytest.mark.parametrize("text", KINDS)
def test_kinds(text: str) -> None:
    assert kind_of(parse(text), SCOPE) is KINDS[text]


INTERVALS = {
    "a": (0, n.UINT_MAX),
    "a - b": (-n.UINT_MAX, n.UINT_MAX - 1),
    "a * b": (0, n.UINT_MAX**2),
    "-c": (-10, 0),
    "abs(0 - c)": (0, 10),
    "(5 - c) // 2": (-3, 2),
    "(5 - c) % 3": (0, 2),
    "ceil_div(c, 3)": (0, 4),
    "c if f else 20": (0, 20),
    "100 // c if c != 0 else 0": (0, 100),
    "sizes(t)[0]": (1, n.UINT_MAX),
    "rank(t)": (1, 8),
    "sum(w)": (-40, 8 * n.UINT_MAX),
    "sum(c for k in 3)": (0, 30),
    "prod(c for k in 3)": (0, 1000),
    "prod(c for k in a)": (0, None),
    "max(c for k in 3)": (0, 10),
    "min(w)": (-5, n.UINT_MAX),
    "[a, *w]": (-5, n.UINT_MAX),
    "round(1.5)": (-(2**31), 2**31 - 1),
    "1.5": (None, None),
}


@pytest.mark.parametrize("text", INTERVALS)
def test_intervals(text: str) -> None:
    assert interval_of(parse(text), SCOPE) == Interval(*INTERVALS[text])


@given(RANDOM)
@settings(max_examples=examples(100), deadline=None)
def test_values_lie_in_their_interval(random: Random) -> None:
    node = integer(random, 4)
    assert kind_of(node, SCOPE) is Kind.INT
    interval = interval_of(node, SCOPE)
    for _ in range(5):
        value = exact(node, values(random).names)
        assert interval.lo is None or interval.lo <= value
        assert interval.hi is None or value <= interval.hi


@given(RANDOM, st.booleans())
@settings(max_examples=examples(100), deadline=None)
def test_the_python_target_is_exact(random: Random, integers: bool) -> None:
    node = integer(random, 4) if integers else condition(random, 4)
    code = compile(python(node, SCOPE), "expression", "eval")
    for _ in range(3):
        given = values(random)
        assert eval(code, {"math": math, "self": given.rules()}) == exact(node, given.names)


@given(RANDOM, st.booleans())
@settings(max_examples=examples(100), deadline=None)
def test_formulas_round_trip(random: Random, integers: bool) -> None:
    node = integer(random, 4) if integers else condition(random, 4)
    assert parse(formula(node)) == node


@pytest.mark.parametrize(
    "text",
    ["x in (1,)", "sum(v[k] for k in (a if f else b))", "[*v, a]", "a - (b - c)", "-(-a)", "(not f) == f", "1e22 + 0.1",
     "(f and f) and f", "not (f or f)", "(a if f else b) + 1", "mode == 'EDGE'", "t[0, 1, a]", "size.Width",
     "0x10 + 1_0", "(a\r\n  + b)  # a comment"],
)  # fmt: skip
def test_formulas_of_texts_round_trip(text: str) -> None:
    assert parse(formula(parse(text))) == parse(text)


def test_names_beside_functions_of_the_same_name() -> None:
    scope = {name: Symbol(Kind.INT, "field", Interval(1, 9)) for name in ("min", "max")}
    scope |= {"sizes": Symbol(Kind.VECTOR, "field", Interval(1, 9), count=n.Number(2)), "t": SCOPE["t"]}
    node = parse("min(min, max) + sizes[0] < sizes(t)[0] - max(sizes)")
    assert kind_of(node, scope) is Kind.BOOL
    given = SimpleNamespace(min=2, max=1, sizes=(3, 4), t=SimpleNamespace(sizes=(9, 9)))
    assert eval(python(node, scope), {"self": given}) is True
    assert formula(node) == "min(min, max) + sizes[0] < sizes(t)[0] - max(sizes)"
    assert Cython(scope).expression(node) == ("min(a.min, a.max) + a.sizes[0] < a.t.sizes[0] - largest(a.sizes, 2)")
    assert latex(node, scope) == (
        r"\min(\mathrm{min},\; \mathrm{max}) + \mathrm{sizes}_{0}"
        r" < \operatorname{sizes}(t)_{0} - \max_{i} \mathrm{sizes}_{i}"
    )


def run(text: str, **names: Any) -> Any:
    scope = {**SCOPE, "x": Symbol(Kind.FLOAT, "field"), "e": Symbol(Kind.VECTOR, "field", Interval(0, 9))}
    node = parse(text)
    kind_of(node, scope)
    given = values(random_module.Random(1)).rules()
    given.__dict__.update(names)
    return eval(python(node, scope), {"math": math, "self": given})


def test_round_goes_away_from_zero_and_saturates() -> None:
    for value, rounded in [(0.5, 1), (-0.5, -1), (2.5, 3), (-2.5, -3), (0.49999999999999994, 0), (2.4, 2), (-7.6, -8),
                           (1e300, 2**31 - 1), (-1e300, -(2**31)), (4503599627370497.5, 2**31 - 1),
                           (math.inf, 2**31 - 1), (-math.inf, -(2**31))]:  # fmt: skip
        assert run("round(x)", x=value) == rounded


def test_an_empty_vector_has_extremes_of_zero() -> None:
    assert run("min(e) + max(e) + min(k for k in 0) + sum(e)", e=[]) == 0
    assert run("prod(e)", e=[]) == 1
    assert run("min(e)", e=[3, 2]) == 2


def test_a_divisor_is_looked_at_where_it_stands() -> None:
    text = "(a // c) == 1 if c != 0 else f"
    assert kind_of(parse(text), SCOPE) is Kind.BOOL
    assert "//" in python(parse(text), SCOPE)
    with pytest.raises(ExprError, match="may be 0"):
        kind_of(parse("(a // c) == 1 if c == 0 else f"), SCOPE)


def test_equality_ignores_the_position() -> None:
    assert parse("a+b") == parse("a  +  b")
    assert hash(parse("a+b")) == hash(parse("a  +  b"))
    assert parse("a+b") != parse("b+a")


def test_positions_count_characters() -> None:
    node = parse("ä + sizes(t)[\n 0]")
    assert [(part.at, part.length) for part in node.walk()] == [(0, 17), (0, 1), (4, 13), (4, 8), (10, 1), (15, 1)]


def test_substitute_replaces_a_name_everywhere() -> None:
    node = parse("[k, *v, k[0] if f else min(k, 2)]")
    assert substitute(node, "k", parse("a + 1")) == parse("[a + 1, *v, (a + 1)[0] if f else min(a + 1, 2)]")


CYTHON_ERRORS = {
    "dtype(t) == 'FLOT32'": "unknown name 'FLOT32'",
    "[a]": "this has no place in generated code",
}
SPREAD = f"compiled code spreads out all and any only, of a constant count up to {MAX_SPREAD}: make it a let"
OTHERS = "compiled code reads the first tensor of an array, and that of an index: no others yet"
NOT_COMPILED = {
    "t[0, 0] == 1": "no loops read an element of a tensor here yet",
    "sum(k for k in 3)": SPREAD,
    "all(f for k in axes)": SPREAD,
    f"all(f for k in {MAX_SPREAD + 1})": SPREAD,
    "all(f for k in 0)": SPREAD,
    "trunc(x) == 1": "no compiled code computes trunc yet",
    "rank(ts[1]) == 4": OTHERS,
    "sizes(ts[c])[0] == 4": OTHERS,
}


@pytest.mark.parametrize("text", [*CYTHON_ERRORS, *NOT_COMPILED])
def test_what_the_cython_target_refuses(text: str) -> None:
    """A mistake is an error; what is only not compiled yet is told from it."""
    with pytest.raises(ExprError) as caught:
        Cython(SCOPE, constants={"FLOAT32": "FLOAT32"}).expression(parse(text))
    assert caught.value.message == {**CYTHON_ERRORS, **NOT_COMPILED}[text]
    assert isinstance(caught.value, NotCompiled) == (text in NOT_COMPILED)


def test_a_huge_repetition_is_not_worked_out() -> None:
    assert interval_of(parse("prod(a for k in a)"), SCOPE) == Interval(0, None)
    assert interval_of(parse("sum(a for k in a)"), SCOPE) == Interval(0, n.UINT_MAX**2)
    assert within(SCOPE, "k", parse("a"))["k"].interval.hi == n.UINT_MAX - 1


def test_the_ranks_of_a_tensor_bound_its_rank() -> None:
    node = parse("sizes(t)[rank(t) - 3]")
    with pytest.raises(ExprError, match="the index may be negative"):
        kind_of(node, SCOPE)
    assert kind_of(node, {**SCOPE, "t": Symbol(Kind.TENSOR, "field", ranks=Interval(3, 8))}) is Kind.INT
    several = {**SCOPE, "t": Symbol(Kind.TENSORS, "field", ranks=Interval(3, 4))}
    assert interval_of(parse("rank(t[0])"), several) == Interval(3, 4)


def test_messages_say_the_values() -> None:
    said = sentence(parse("v[d] + 1 <= w[d]"), within(SCOPE, "d", parse("axes")), "d")
    assert said.shown == "{0} must be <= {1}, where {2}"
    assert [label for label, _, _ in said.terms] == ["v[{d}] + 1", "w[{d}]", "v[{d}]"]
    said = sentence(parse("f or mode == 'EDGE'"), SCOPE, None)
    assert said.shown == "{0}, {1}"
    assert [label for label, _, _ in said.terms] == ["f", "mode"]
    said = sentence(parse("mode == 'EDGE' or a + 1 < 3"), SCOPE, None, "a")
    assert (said.shown, [label for label, _, _ in said.terms]) == ("{0} must be < 3, where {1}", ["a + 1", "a"])
    said = sentence(parse("f or a < 3 or a > 5"), SCOPE, None, "a")
    assert (said.shown, [label for label, _, _ in said.terms]) == ("{0}", ["a"])
    said = sentence(parse("not any(v[j] == v[k] for j in k)"), within(SCOPE, "k", parse("axes")), "k")
    assert [label for label, _, _ in said.terms] == ["v", "v[{k}]"]


def test_literals_are_int64() -> None:
    assert parse(str(INT64_MAX)) == n.Number(INT64_MAX)


def test_the_page_names_every_function() -> None:
    page = PAGE.read_text()
    for function in (*FUNCTIONS, *REFERENCE, *EACH):
        assert f"`{function}(" in page, function
    for word in REFUSED.values():
        assert word.removeprefix("operator ").removeprefix("sign ") in page, word
    for limit in (MAX_LENGTH, MAX_DEPTH, MAX_SPREAD):
        assert str(limit) in page, limit
