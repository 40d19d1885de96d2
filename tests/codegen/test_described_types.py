"""Types of fields that no call takes yet, through everything else: specs that have them, beside no other operator."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from checkouts import ROOT, checkout, run, with_runtime
from depth import draws_of

HERE = Path(__file__).parent / "described_types"
USES = sorted(HERE.glob("uses_*.py"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the checkout with these specs only, generated; no operator of it is compiled."""
    folder = checkout(tmp_path_factory.mktemp("checkout"), HERE.glob("*/*.toml"))
    with_runtime(folder)
    done = run(folder, "-m", "codegen", "gen")
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_lint_takes_them(folder: Path) -> None:
    done = run(folder, "-m", "codegen", "lint")
    assert (done.returncode, done.stderr) == (0, "")


@draws_of(3, 100)
def test_they_work(folder: Path, draws: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """One process imports them all."""
    monkeypatch.setenv("DRAWS", str(draws))
    monkeypatch.setenv("HYPOTHESIS_STORAGE_DIRECTORY", str(ROOT / ".hypothesis"))  # what it knows of characters
    own = ("-p", "no:cacheprovider", "-c", os.devnull, f"--basetemp={folder / 'made'}")
    done = run(folder, "-m", "pytest", "-q", "--assert=plain", *own, *map(str, USES))
    assert done.returncode == 0, done.stdout + done.stderr
