"""Tests of the equivalents in other libraries: each call and each difference is run as its page shows it."""

from __future__ import annotations

import ast
import doctest
import re
from collections.abc import Iterator
from dataclasses import replace
from importlib.metadata import version
from typing import Any

import family_files
import numpy as np
import pytest
from each import each_of
from planned import specs

from codegen.model import Difference, Equivalent, Operator, Outcome
from codegen.pages.equivalents import listed, sections, statements

SPECS = specs()
LIBRARIES = [library for library in SPECS.facts.libraries if library.language == "python"]
DEFINING = [library for library in LIBRARIES if library.name in family_files.LIBRARIES]


def run(part: str, names: dict[str, Any]) -> doctest.TestResults:
    """Runs the lines of a code block. Counts the lines, and the lines that print something else."""
    test = doctest.DocTestParser().get_doctest(part.strip("`").removeprefix("pycon\n"), names, "page", None, 0)
    test.globs = names
    return doctest.DocTestRunner(optionflags=doctest.IGNORE_EXCEPTION_DETAIL).run(test, clear_globs=False)


def release(text: str) -> list[int]:
    """The two numbers that a version begins with."""
    return [int(number) for number in re.findall(r"\d+", text)[:2]]


@pytest.mark.parametrize("library", LIBRARIES, ids=lambda library: library.name)
@each_of("operator", SPECS.operators.values())
def test_what_the_page_shows_is_so(operator: Operator, library: Any) -> None:
    parts = dict(sections(operator.equivalents, SPECS.facts)).get(library.name)
    if parts is None:
        return
    for package in library.needs:
        pytest.importorskip(package, reason=f"{package} is not installed: its equivalents are not run")
    here = version(library.needs[-1])
    if release(here) < release(library.tested):
        pytest.skip(f"{library.needs[-1]} {here} is older than the release tested, {library.tested}")
    names: dict[str, Any] = {"dml": pytest.importorskip("dmlcy", reason="the package is not built")}
    exec(library.prelude, names)
    blocks = [part for part in parts if part.startswith("```pycon")]
    assert len(blocks) == sum(1 + len(same.differs) for same in operator.equivalents if same.library == library.name)
    for block in blocks:
        result = run(block, names)
        assert result.attempted > 2 and result.failed == 0


def on_other_data(operator: Operator, same: Equivalent, prelude: str, seed: int) -> Iterator[Any]:
    """The results of dmlcy, then of the other library, for inputs with other numbers, each once in an array."""
    names: dict[str, Any] = {"dml": pytest.importorskip("dmlcy", reason="the package is not built")}
    exec(prelude, names)
    order, inputs = np.random.default_rng(seed), free_inputs(operator, same)
    for statement in statements(same.setup):
        exec(statement, names)
        name = statement.partition(" = ")[0]
        if name in inputs:
            x = names[name]
            numbers = order.permutation(x.size).reshape(x.shape) - x.size // 2
            names[name] = (numbers / 4 if x.dtype.kind == "f" else numbers).astype(x.dtype)
    for outcome in same.shown:
        yield np.asarray(eval(outcome.code, names))


def free_inputs(operator: Operator, same: Equivalent) -> set[str]:
    """The variables that the call of dmlcy has as inputs, except those on whose elements there is a rule."""
    nodes = (node for code in (same.setup, same.shown[0].code) for node in ast.walk(ast.parse(code)))
    call = next(node for node in nodes if isinstance(node, ast.Call) and ast.unparse(node.func).startswith("dml."))
    ruled = {rule.about for rule in operator.rules if rule.data}
    return {ast.unparse(x) for x, field in zip(call.args, operator.inputs, strict=False) if field.python not in ruled}


@pytest.mark.parametrize("library", DEFINING, ids=lambda library: library.name)
@each_of("operator", SPECS.operators.values())
def test_equivalents_agree_on_other_data(operator: Operator, library: Any) -> None:
    """Floats differ by a few roundings."""
    for same in operator.equivalents:
        if same.library != library.name or not same.shown:
            continue
        for package in library.needs:
            pytest.importorskip(package, reason=f"{package} is not installed: its equivalents are not run")
        for seed in range(3):
            ours, theirs = on_other_data(operator, same, library.prelude, seed)
            np.testing.assert_allclose(theirs, ours, rtol=1e-6 if ours.dtype.kind == "f" else 0)


def test_what_is_not_so_is_noticed() -> None:
    right, wrong = Outcome("np.arange(2)", [0, 1], None), Outcome("np.arange(2)", [0, 2], None)
    raises, silent = Outcome("np.arange(2)[5]", None, "IndexError"), Outcome("np.arange(2)", None, "IndexError")

    def failed(first: Outcome, second: Outcome) -> int:
        same = Equivalent(
            LIBRARIES[0].name, "", "", "", "", (right, right), (Difference("x.", "y = 1", first, second),)
        )
        parts = dict(sections((same,), SPECS.facts))[LIBRARIES[0].name]
        return run(parts[-1], {"np": np}).failed

    assert [failed(right, raises), failed(wrong, raises), failed(right, silent)] == [0, 1, 1]


def test_an_equivalent_of_the_shown_data_only_is_noticed() -> None:
    operator, same = next(
        (operator, same)
        for operator in SPECS.operators.values()
        for same in operator.equivalents
        if same.library == DEFINING[0].name and same.shown
    )
    ours, theirs = on_other_data(operator, same, DEFINING[0].prelude, 0)
    np.testing.assert_array_equal(ours, theirs)
    constant = replace(same, shown=(same.shown[0], replace(same.shown[1], code=repr(same.shown[1].gives))))
    ours, theirs = on_other_data(operator, constant, DEFINING[0].prelude, 0)
    assert (ours != theirs).any()


def test_code_stays_in_its_block() -> None:
    setup = "x = '''\n```\n# not a heading\n'''"
    same = Equivalent(LIBRARIES[0].name, "a`b", "", "", setup, (Outcome("[x]", ["```\n"], "\n```\n"),), ())
    _, session = dict(sections((same,), SPECS.facts))[LIBRARIES[0].name]
    assert session.startswith("````pycon\n>>> x = '''\n... ```\n") and session.endswith("\n````")
    assert session.count("````") == 2


def test_how_code_is_typed() -> None:
    assert list(statements("\nx = 1  # one\nfor y in x:\n    z\n\na = '''\n'''\n")) == [
        "x = 1", "for y in x:\n    z", "a = '''\n'''",
    ]  # fmt: skip
    assert [listed(text) for text in ("f(x)", "x[0]", "x + 1", "-x")] == [
        "f(x).tolist()", "x[0].tolist()", "(x + 1).tolist()", "(-x).tolist()",
    ]  # fmt: skip
