"""Many cases in one test, which costs less than a test for each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

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
