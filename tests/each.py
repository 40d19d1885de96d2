"""Many cases in one test, which costs less than a test for each."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import pytest

Case = TypeVar("Case")


def each(cases: Sequence[Case], look: Callable[[Case], object], name: Callable[[Case], str] = str) -> None:
    """Looks at every case; what is raised has the failure of each that failed, with its name."""
    failures: list[BaseException] = []
    for case in cases:
        try:
            look(case)
        except (Exception, pytest.fail.Exception) as failure:
            failure.add_note(f"in {name(case)}")
            failures.append(failure)
    if failures:
        raise BaseExceptionGroup(f"{len(failures)} of {len(cases)} cases", failures)


def each_of(names: str, cases: Iterable[Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Like ``pytest.mark.parametrize``, with all cases in one test: they share its fixtures."""
    own = [name.strip() for name in names.split(",")]

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(test)
        def run(**fixtures: Any) -> None:
            def look(case: Any) -> None:
                test(**dict(zip(own, case if len(own) > 1 else (case,), strict=True)), **fixtures)

            each(list(cases), look)

        signature = inspect.signature(test)
        rest = [parameter for name, parameter in signature.parameters.items() if name not in own]
        run.__signature__ = signature.replace(parameters=rest)  # type: ignore[attr-defined]
        return run

    return decorate
