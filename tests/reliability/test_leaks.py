"""A short look for leaks in the ordinary suite, and that a leak is seen."""

from __future__ import annotations

import gc
import mmap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import leaks
import pytest
from leaks import Step


@pytest.fixture(autouse=True)
def of_this_test_alone() -> None:
    """Objects that other tests left in the process are neither counted nor collected."""
    gc.collect()
    gc.freeze()


@pytest.mark.parametrize("name", ["calls", "refusals", "files"])
def test_nothing_grows(name: str, tmp_path: Path) -> None:
    made: dict[str, Callable[[], list[Step]]] = {
        "calls": lambda: leaks.call_steps()[::7],
        "refusals": lambda: leaks.refusals(150),
        "files": lambda: list(leaks.files(tmp_path))[::17],
    }
    steps = made[name]()
    count = {"calls": 3 * len(steps), "refusals": 5 * len(steps), "files": 5 * len(steps)}[name]
    assert leaks.grown(leaks.rounds(name, steps, count, str)) == []
    assert leaks.traced(steps, str) == []


def page() -> mmap.mmap:
    """Memory that is fresh from the system, whatever was given back before."""
    found = mmap.mmap(-1, mmap.PAGESIZE)
    found.write(b"x")
    return found


@pytest.mark.parametrize(("what", "kept"), [("objects", list), ("blocks", object), ("resident", page)])
def test_a_leak_is_seen(what: str, kept: Any) -> None:
    held: list[Any] = []
    found = leaks.grown(leaks.rounds("", [lambda: held.append(kept())], 20_000, str))
    assert [line.partition(":")[0] for line in found if line.startswith(what)] == [what]
    assert leaks.traced([lambda: held.append(kept())] * 40, str)
