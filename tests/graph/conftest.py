"""Lets the tests of this folder import their helpers, and run with other numbers of threads."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import dmlcy as dml

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(params=[1, 2])
def threads(request: pytest.FixtureRequest) -> Iterator[None]:
    before = dml.get_num_threads()
    dml.set_num_threads(request.param)
    yield
    dml.set_num_threads(before)
