"""Fixtures that all tests of the benchmark share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import dmlcy as dml
from benchmarks import peers


@pytest.fixture(autouse=True)
def same_threads() -> Iterator[None]:
    """A run says how many threads are used; the other tests shall not notice."""
    ours = dml.get_num_threads()
    theirs = None if peers.missing("torch") else peers.library("torch").get_num_threads()
    yield
    dml.set_num_threads(ours)
    if theirs is not None:
        peers.library("torch").set_num_threads(theirs)
