"""Every test here sees the hand-written operators beside the real ones."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import fake

from dmlcy._facts import tables as _tables

for cls in fake.descs().values():
    setattr(fake, cls.__name__, cls)


@pytest.fixture(autouse=True)
def operators(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, operator in fake.OPERATORS.items():
        monkeypatch.setitem(_tables.OPERATORS, name, operator)
