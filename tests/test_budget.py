"""An operator has few generic tests by default, so that 177 operators can be tested in minutes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import budget
from depth import deep, of_each_family

from dmlcy._facts.tables import OPERATORS

ROOT = Path(__file__).resolve().parents[1]


def test_generic_tests_of_an_operator() -> None:
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", "tests"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    tests = [line for line in done.stdout.splitlines() if "::" in line]
    assert done.returncode == 0 and len(tests) > 1000, done.stdout[-2000:] + done.stderr
    found = budget.counts(tests)
    assert all(found.values()), found
    over = {name: count for name, count in found.items() if count > budget.TESTS}
    assert not over, f"more than {budget.TESTS}: {over}. Mark tests as deep, or look at many cases in one test."


def test_an_id_names_the_operators_of_a_test() -> None:
    name = next(iter(OPERATORS))
    assert budget.operators_of(f"tests/x.py::test_y[first-{name}]") == {name}
    assert budget.operators_of(f"tests/x.py::test_y[{name.lower()}-2]") == {name}
    assert budget.operators_of(f"tests/x.py::test_{name.lower()}[2]") == set()
    assert budget.counts([f"tests/families/test_y.py::test_z[{name}]"])[name] == 0


def test_one_operator_of_each_family_runs_by_default() -> None:
    chosen = [case.values[0] for case in of_each_family() if deep not in case.marks]
    assert sorted(OPERATORS[name].family for name in chosen) == sorted({one.family for one in OPERATORS.values()})
