"""An operator has few generic tests by default, so that 177 operators can be tested in minutes."""

from __future__ import annotations

from typing import Any

import budget
import pytest
from depth import TURNS, deep, in_turn, left_out, of_each_family

from dmlcy._facts.tables import OPERATORS, RUNNABLE

FIRST = [case.values[0] for case in of_each_family() if deep not in case.marks]


def test_generic_tests_of_an_operator(request: pytest.FixtureRequest) -> None:
    found = budget.counts([item.nodeid for item in request.session.items])
    if not all(found[name] for name in RUNNABLE):
        pytest.skip("it counts the tests of a run of the whole suite")
    most = {name: budget.TESTS + (name in FIRST) * budget.MORE_TESTS for name in RUNNABLE}
    most |= {name: budget.DESCRIBED_TESTS for name in OPERATORS if name not in RUNNABLE}
    over = {name: f"{count} of {most[name]}" for name, count in found.items() if count > most[name]}
    assert not over, f"too many tests: {over}. Mark tests as deep, or look at many cases in one test."


def test_an_id_names_the_operators_of_a_test() -> None:
    name = next(iter(OPERATORS))
    assert budget.operators_of(f"tests/x.py::test_y[first-{name}]") == {name}
    assert budget.operators_of(f"tests/x.py::test_y[{name.lower()}-2]") == {name}
    assert budget.operators_of(f"tests/x.py::test_{name.lower()}[2]") == set()
    generic = [f"tests/x.py::test_y[{name}]" for name in OPERATORS]
    assert set(budget.counts([*generic, f"tests/x.py::test_z[{name}]"]).values()) == {1}
    assert set(budget.counts([f"tests/families/test_y.py::test_z[{name}]" for name in OPERATORS]).values()) == {0}


class Item:
    """A case as pytest knows it."""

    def __init__(self, nodeid: str, *marks: pytest.MarkDecorator) -> None:
        self.nodeid = nodeid
        self.marks = {mark.name: mark for mark in marks}

    def get_closest_marker(self, name: str) -> pytest.MarkDecorator | None:
        return self.marks.get(name)


def test_each_deep_case_has_its_turn() -> None:
    """In one of four runs after each other; cases that are not deep, or not in turn, are in each run."""
    many: list[Any] = [Item(f"a.py::test_{test}[{number}]", deep, in_turn) for test in "xy" for number in range(6)]
    others: list[Any] = [Item("a.py::test_x[-1]", in_turn), Item("a.py::test_z[1]", deep), Item("a.py::test_z[2]")]
    left = [{*left_out([*others, *many], run)} for run in range(7, 7 + TURNS)]
    assert all(sum(item in found for found in left) == TURNS - 1 for item in many)
    assert not any(item in found for item in others for found in left)
    assert all(len(found) in (8, 10) for found in left)


def test_one_operator_of_each_family_runs_by_default() -> None:
    assert sorted(OPERATORS[name].family for name in FIRST) == sorted({one.family for one in RUNNABLE.values()})
