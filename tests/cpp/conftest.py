"""Lets the tests of this folder import their helpers, and those of the tests of operators; compiles once for all."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

for _folder in ("operators", "reliability", "facts", "cpp"):
    sys.path.insert(0, str(Path(__file__).parents[1] / _folder))

if TYPE_CHECKING:
    from compilers import Programs


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Programs:
    """The programs of C++ that were compiled in this session."""
    from compilers import Programs

    return Programs(tmp_path_factory.mktemp("cpp"))
