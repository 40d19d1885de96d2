"""An operator has few generic tests by default, so that 177 operators can be tested in minutes."""

from __future__ import annotations

import budget
import pytest
from depth import deep, of_each_family

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


def test_one_operator_of_each_family_runs_by_default() -> None:
    assert sorted(OPERATORS[name].family for name in FIRST) == sorted({one.family for one in RUNNABLE.values()})
