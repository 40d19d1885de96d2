"""Every test here sees the hand-written operators beside the real ones."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import caches
import pytest

sys.path.insert(0, str(Path(__file__).parent))

import fake

from dmlcy._generated import index

for cls in fake.descs().values():
    setattr(fake, cls.__name__, cls)


@pytest.fixture(autouse=True)
def operators(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, operator in fake.OPERATORS.items():
        monkeypatch.setitem(index.OPERATORS, name, (operator.python, operator.desc, operator.family, "", "described"))
        for folder, of in (("operators", {"OPERATOR": operator}), ("descs", {operator.desc: fake.descs()[name]})):
            module = ModuleType(f"dmlcy._generated.{folder}.{name.lower()}")
            vars(module).update(of)
            monkeypatch.setitem(sys.modules, module.__name__, module)


@pytest.fixture(autouse=True, scope="module")
def kept() -> Iterator[None]:
    """Nothing that was found in these operators is kept for other tests."""
    yield
    caches.clear()
