"""An array of signed integers, through everything: a spec that has one, beside the specs of no other operator."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from sysconfig import get_platform

import pytest
from compiling import needs_compiler
from depth import deep

import dmlcy

ROOT = Path(__file__).resolve().parents[2]
SPEC = Path(__file__).parent / "int_array" / "slice1.toml"
USES = Path(__file__).parent / "int_array" / "uses.py"


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the checkout with the spec as the only one, and what is compiled without it."""
    copy = tmp_path_factory.mktemp("checkout")
    ignore = shutil.ignore_patterns("__pycache__", "*.so", "*.pyd", "*.pyx.c", "_generated", "operators", "ids.lock")
    for name in ("specs", "codegen", "dmlcy"):
        shutil.copytree(ROOT / name, copy / name, ignore=ignore)
    for name in ("setup.py", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy2(ROOT / name, copy / name)
    (copy / "tests" / "codegen").mkdir(parents=True)
    folder = copy / "specs" / "operators" / "rearrange"
    folder.mkdir(parents=True)
    shutil.copy(SPEC, folder)
    (copy / "specs" / "ids.lock").touch()
    return copy


def test_lint_takes_it(checkout: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "codegen", "lint"], cwd=checkout, capture_output=True, text=True, timeout=100
    )
    assert (done.returncode, done.stderr) == (0, "")


@deep
def test_it_works(checkout: Path) -> None:
    needs_compiler()
    package = Path(dmlcy.__file__).parent
    library = checkout / "build" / f"lib.{get_platform()}-{sys.implementation.cache_tag}" / "dmlcy" / "_runtime"
    library.mkdir(parents=True)
    for module in (*package.glob("_runtime/*.so"), *package.glob("_runtime/*.pyd")):
        for folder in (library, checkout / "dmlcy" / "_runtime"):
            shutil.copy(module, folder)
    for command in ("-m", "codegen", "build"), (str(USES),):
        done = subprocess.run(
            [sys.executable, *command], cwd=checkout, capture_output=True, text=True, timeout=600,
            env={"PYTHONPATH": str(checkout), "PATH": "/usr/bin:/bin"},
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
    page = (checkout / "docs" / "reference" / "slice1.md").read_text(encoding="utf-8")
    assert "`INT[rank(input)]`" in page and "-2^31 to 2^31 - 1." in page
    stub = (checkout / "dmlcy" / "_generated" / "functions" / "slice1.pyi").read_text(encoding="utf-8")
    assert "input_window_strides: _Int | _Ints = -1" in stub
