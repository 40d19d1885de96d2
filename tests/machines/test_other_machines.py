"""The package on machines that are not at hand: ARM64 by an emulator, Windows and musl as far as a compiler goes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from depth import deep

ROOT = Path(__file__).parents[2]


def run_or_skip(module: str, minutes: int) -> str:
    """The output of a module of this folder. The test is skipped where the output says that something is missing."""
    command = [sys.executable, "-m", f"tests.machines.{module}"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60 * minutes, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    if done.stdout.startswith("skipped: "):
        pytest.skip(done.stdout.removeprefix("skipped: ").strip())
    return done.stdout + done.stderr


@deep
def test_arm64_gives_the_bits_of_this_processor_and_the_examples() -> None:
    assert "the same bits as in " in run_or_skip("arm64", 20)


@deep
def test_mingw_compiles_every_module() -> None:
    assert " modules compiled for Windows" in run_or_skip("mingw", 10)


@deep
def test_musl_has_what_every_module_asks_of_it() -> None:
    assert " modules linked against musl; its threads found 499500" in run_or_skip("musl", 20)
