"""The cost of an operator in the tests: ``python -m tests.budget [ARGUMENTS OF PYTEST]`` measures seconds of CPU time.

A generic test is one that has cases of every family that runs, or of every operator that does not. The cost of a
generic test belongs to the operators that the id of a case names. Seconds include those of child processes. Arguments
such as ``-m deep`` or ``tests/operators`` choose the tests.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

import pytest

from dmlcy._facts.tables import OPERATORS, RUNNABLE

ROOT = Path(__file__).resolve().parents[1]
TESTS = 30  # generic tests of an operator that run by default
MORE_TESTS = 12  # of the operator that stands for its family
SECONDS = 3.0  # and the CPU time that they may take; measured, never asserted
DESCRIBED_TESTS = 10  # of an operator that does not run
DESCRIBED_SECONDS = 0.5
FILES = 15  # rows of the tables of files and tests

BY_NAME = {spelling: name for name in OPERATORS for spelling in (name, name.lower())}


def operators_of(test: str) -> set[str]:
    """The operators that the parameters of a test name, by its id: ``test_properties[first-PADDING1]``."""
    words = re.findall(r"\w+", test.partition("[")[2])
    return {BY_NAME[word] for word in words if word in BY_NAME}


def of_a_family(test: str) -> bool:
    """Whether a test says what only one family does."""
    return test.startswith("tests/families/")


def generic(tests: Collection[str]) -> set[str]:
    """The tests whose parameters name operators of every family, or all described; a case by hand names a few."""
    named: dict[str, set[str]] = {}
    for test in tests:
        if not of_a_family(test):
            named.setdefault(test.partition("[")[0], set()).update(operators_of(test))
    every = {operator.family for operator in RUNNABLE.values()}
    described = OPERATORS.keys() - RUNNABLE.keys()
    functions = {
        function
        for function, names in named.items()
        if {RUNNABLE[name].family for name in names & RUNNABLE.keys()} == every or (described and described <= names)
    }
    return {test for test in tests if test.partition("[")[0] in functions}


def counts(tests: Collection[str]) -> dict[str, int]:
    """How many generic tests each operator has."""
    found = dict.fromkeys(OPERATORS, 0)
    for test in generic(tests):
        for name in operators_of(test):
            found[name] += 1
    return found


class Clock:
    """Plugin of pytest: the seconds of CPU time that each test took."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @staticmethod
    def now() -> float:
        """Seconds of CPU time, those of children included."""
        used = os.times()
        return used.user + used.system + used.children_user + used.children_system

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Measure a test with its fixtures."""
        begin = self.now()
        result = yield
        self.seconds[item.nodeid] = self.now() - begin
        return result


def table(title: str, rows: dict[str, tuple[float, int]], most: int | None = None) -> str:
    """Rows of seconds and tests, the largest first."""
    lines = [f"\n{'seconds':>8} {'tests':>6}  {title}"]
    ordered = sorted(rows.items(), key=lambda row: row[1], reverse=True)
    return "\n".join(lines + [f"{seconds:8.1f} {count:6}  {name}" for name, (seconds, count) in ordered[:most]])


def summed(seconds: dict[str, float], keys_of: Callable[[str], Collection[str]]) -> dict[str, tuple[float, int]]:
    """Seconds and tests of each key; a test of several keys counts for each with its part."""
    found: dict[str, tuple[float, int]] = {}
    for test, used in seconds.items():
        keys = keys_of(test)
        for key in keys:
            total, count = found.get(key, (0.0, 0))
            found[key] = total + used / len(keys), count + 1
    return found


def main(arguments: list[str]) -> int:
    """Run pytest and print what it took."""
    clock = Clock()
    begin = clock.now()
    status = pytest.main([f"--rootdir={ROOT}", "-q", "-p", "no:cacheprovider", *arguments], plugins=[clock])
    tests = sum(clock.seconds.values())
    chosen = generic([*clock.seconds])
    operators = summed(clock.seconds, lambda test: operators_of(test) if test in chosen else ())
    print(table("generic tests of an operator", operators))
    print(table("file", summed(clock.seconds, lambda test: [test.partition("::")[0]]), FILES))
    print(table("test", summed(clock.seconds, lambda test: [test.partition("[")[0]]), FILES))
    collecting = clock.now() - begin - tests
    print(f"\n{tests:.0f} seconds of CPU time in {len(clock.seconds)} tests, and {collecting:.0f} to collect them.")
    for names, most in ((RUNNABLE.keys(), SECONDS), (OPERATORS.keys() - RUNNABLE.keys(), DESCRIBED_SECONDS)):
        over = sorted(name for name in names if operators.get(name, (0, 0))[0] > most)
        what = "that run" if most == SECONDS else "that are described"
        print(f"Operators {what} beyond {most:g} seconds: {', '.join(over) or 'none'}.")
    return int(status)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
