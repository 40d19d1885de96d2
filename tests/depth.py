"""How deep a run of the tests goes: by default a few draws and one operator of each family, with ``-m deep`` the rest.

CONTRIBUTING.md has the budget of an operator; ``python -m tests.budget`` measures what each operator costs.

``DMLCY_RUN=7 pytest -m deep`` is the seventh run of ``.ci/deep``: of the tests that are ``in_turn`` it takes one case
in four, and draws other values than the runs before it. Without that variable, all cases run, with the same values.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import settings

from dmlcy._facts.tables import FAST, OPERATORS, RUNNABLE

deep = pytest.mark.deep
in_turn = pytest.mark.in_turn
"""Of the deep cases of a test, each run of ``.ci/deep`` takes a quarter; four runs after each other take all."""

TURNS = 4
RUN = int(os.environ["DMLCY_RUN"]) if "DMLCY_RUN" in os.environ else None
"""The number of a run of ``.ci/deep``."""
SEED = 0 if RUN is None else 1000 * RUN
"""The first seed of the draws of deep tests."""


def left_out(items: Iterable[pytest.Item], run: int) -> list[pytest.Item]:
    """The deep cases of tests that are in turn which this run leaves to others."""
    found, numbers = [], Counter[str]()
    for item in items:
        if item.get_closest_marker("deep") and item.get_closest_marker("in_turn"):
            test = item.nodeid.partition("[")[0]
            if numbers[test] % TURNS != run % TURNS:
                found.append(item)
            numbers[test] += 1
    return found


def seeds_of(count: int) -> pytest.MarkDecorator:
    """The ``seeds`` of the draws of a test: the first one by default, others with ``-m deep``, of each run its own."""
    rest = range(SEED + 1, SEED + count)
    return pytest.mark.parametrize(
        "seeds", [pytest.param(range(1), id="first"), pytest.param(rest, id="rest", marks=deep)]
    )


PROFILES = {"few": 25, "many": 100}
"""Of Hypothesis, and the examples where a test names no number; ``--hypothesis-profile=many`` takes the second one."""


def examples(many: int) -> int:
    """So many examples of Hypothesis, of which a quarter run by default."""
    return many * settings().max_examples // PROFILES["many"]


@dataclass(frozen=True)
class Draws:
    """So many draws of each of these seeds."""

    number: int
    seeds: range


def draws_of_seeds(few: int, many: int, count: int) -> pytest.MarkDecorator:
    """The ``draws`` of a test: few of the first seed by default, many of each of some seeds with ``-m deep``."""
    first, rest = Draws(few, range(1)), Draws(many, range(SEED, SEED + count))
    return pytest.mark.parametrize("draws", [pytest.param(first, id="few"), pytest.param(rest, id="many", marks=deep)])


def draws_of(few: int, many: int) -> pytest.MarkDecorator:
    """The number of ``draws`` of a test: few by default, many with ``-m deep``."""
    return pytest.mark.parametrize("draws", [pytest.param(few, id="few"), pytest.param(many, id="many", marks=deep)])


def of_each_family(names: Iterable[str] = RUNNABLE) -> list[Any]:
    """The operator of each family that has the most fields, and all others with ``-m deep``; in upper or lower case.

    Without names, operators that run: a described operator has no family to stand for.
    """
    names = list(names)
    first: dict[str, str] = {}
    for name in sorted(names, key=lambda name: len(OPERATORS[name.upper()].fields), reverse=True):
        first.setdefault(OPERATORS[name.upper()].family, name)
    return [pytest.param(name, marks=() if name in first.values() else deep) for name in names]


def some_of_each_family(few: int, many: int, names: Iterable[str] = RUNNABLE) -> list[Any]:
    """The operator of each family with a small number by default, and each operator with a large one in deep tests."""
    cases = of_each_family(names)
    first = [pytest.param(*case.values, few, id=f"{case.values[0]}-few") for case in cases if deep not in case.marks]
    return [*first, *(pytest.param(*case.values, many, id=f"{case.values[0]}-many", marks=deep) for case in cases)]


def one_operator(names: Iterable[str] = FAST) -> list[Any]:
    """The operator with the most types of fields, the others with ``-m deep``; without names, of those with loops.

    Activations do not count. An operator whose attributes are ruled by groups of channels is left out: few draws reach
    all of its values.
    """

    def types_of(name: str) -> int:
        return len({field.type for field in OPERATORS[name].fields} - {"operator_desc", "operator_desc_array"})

    names = list(names)
    few = [one for one in names if all(field.python != "group_count" for field in OPERATORS[one].fields)]
    most = max(few or names, key=types_of)
    return [pytest.param(name, marks=() if name == most else deep) for name in names]


def first_of_each(cases: Iterable[tuple[Any, Any]], name: Callable[[Any], str] = str) -> list[Any]:
    """The first case of each operator, which comes first in a case, and all others with ``-m deep``."""
    found, numbers = [], Counter[str]()
    for case in cases:
        one = name(case[0])
        found.append(pytest.param(*case, id=f"{one}-{numbers[one] + 1}", marks=deep if numbers[one] else ()))
        numbers[one] += 1
    return found
