"""A pack and right results, made once."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from packs import NAMES, answer, export


@pytest.fixture(scope="session")
def pack(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return export(tmp_path_factory.mktemp("packs") / "pack", "--operators", ",".join(NAMES), "--cases", 2)


@pytest.fixture(scope="session")
def right(pack: Path) -> Path:
    return answer(pack, pack.parent / "right")


@pytest.fixture
def results(right: Path, tmp_path: Path) -> Path:
    """A copy of the right results, to be broken."""
    return Path(shutil.copytree(right, tmp_path / "results"))
