"""Tests of the equivalents in other libraries: each call and each difference is run as its page shows it."""

from __future__ import annotations

import doctest
import re
from importlib.metadata import version
from typing import Any

import numpy as np
import pytest
from each import each_of
from planned import specs

from codegen.model import Difference, Equivalent, Operator, Outcome
from codegen.pages.equivalents import listed, sections, statements

SPECS = specs()
LIBRARIES = [library for library in SPECS.facts.libraries if library.language == "python"]


def run(part: str, names: dict[str, Any]) -> doctest.TestResults:
    """Types what a code block shows; counts the lines, and those that print something else."""
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
