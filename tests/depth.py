"""How deep a run of the tests goes: by default a few draws and one operator of each family, with ``-m deep`` the rest.

CONTRIBUTING.md has the budget of an operator; ``python -m tests.budget`` measures what each operator costs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from dmlcy._facts.tables import FAST, OPERATORS, RUNNABLE

deep = pytest.mark.deep


def seeds_of(count: int) -> pytest.MarkDecorator:
    """The ``seeds`` of the draws of a test: the first one by default, the others with ``-m deep``."""
    return pytest.mark.parametrize(
        "seeds", [pytest.param(range(1), id="first"), pytest.param(range(1, count), id="rest", marks=deep)]
    )


def of_each_family(names: Iterable[str] = RUNNABLE) -> list[Any]:
    """The operator of each family that has the most fields, and all others with ``-m deep``; in upper or lower case.

    Without names, operators that run: a described operator has no family to stand for.
    """
    names = list(names)
    first: dict[str, str] = {}
    for name in sorted(names, key=lambda name: len(OPERATORS[name.upper()].fields), reverse=True):
        first.setdefault(OPERATORS[name.upper()].family, name)
    return [pytest.param(name, marks=() if name in first.values() else deep) for name in names]


def one_operator(names: Iterable[str] = FAST) -> list[Any]:
    """The operator that has the most fields, and the others with ``-m deep``; without names, of those with loops."""
    names = list(names)
    most = max(names, key=lambda name: len(OPERATORS[name].fields))
    return [pytest.param(name, marks=() if name == most else deep) for name in names]


def first_of_each(cases: Iterable[tuple[Any, Any]], name: Callable[[Any], str] = str) -> list[Any]:
    """The first case of each operator, which comes first in a case, and all others with ``-m deep``."""
    found, numbers = [], Counter[str]()
    for case in cases:
        one = name(case[0])
        found.append(pytest.param(*case, id=f"{one}-{numbers[one] + 1}", marks=deep if numbers[one] else ()))
        numbers[one] += 1
    return found
