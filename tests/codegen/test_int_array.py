"""An array of signed integers, through everything: a spec that has one, beside the specs of no other operator."""

from __future__ import annotations

from pathlib import Path

import pytest
from checkouts import checkout, run, with_runtime
from compiling import needs_compiler
from depth import deep

SPEC = Path(__file__).parent / "int_array" / "rearrange" / "slice1.toml"
USES = Path(__file__).parent / "int_array" / "uses.py"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the checkout with the spec as the only one, and what is compiled without it."""
    return checkout(tmp_path_factory.mktemp("checkout"), [SPEC])


def test_lint_takes_it(folder: Path) -> None:
    done = run(folder, "-m", "codegen", "lint", seconds=100)
    assert (done.returncode, done.stderr) == (0, "")


@deep
def test_it_works(folder: Path) -> None:
    needs_compiler()
    with_runtime(folder)
    for command in ("-m", "codegen", "build"), (str(USES),):
        done = run(folder, *command)
        assert done.returncode == 0, done.stdout + done.stderr
    page = (folder / "docs" / "reference" / "slice1.md").read_text(encoding="utf-8")
    assert "`INT[rank(input)]`" in page and "-2^31 to 2^31 - 1." in page
    stub = (folder / "dmlcy" / "_generated" / "functions" / "slice1.pyi").read_text(encoding="utf-8")
    assert "input_window_strides: _Int | _Ints = -1" in stub
