"""What a type checker makes of the package: right and wrong uses, and whether the stubs tell the truth."""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

import dmlcy

pytest.importorskip("mypy", reason="mypy is not installed: the types of the public API are not checked")

HERE = Path(__file__).parent
PACKAGE = Path(dmlcy.__file__).parent


def run(module: str, *arguments: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Runs mypy or stubtest on the package that the tests import."""
    environment = {name: value for name, value in os.environ.items() if name != "MYPYPATH"}
    root = PACKAGE.parent
    if root.name not in ("site-packages", "dist-packages"):
        environment |= {"MYPYPATH": str(root), "PYTHONPATH": str(root)}
    command = [sys.executable, "-m", module, *map(str, arguments)]
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)


def test_types(tmp_path: Path, pytestconfig: pytest.Config) -> None:
    kept = getattr(pytestconfig, "cache", None)
    cache = tmp_path if kept is None else kept.mkdir("mypy")
    result = run(
        "mypy", "--config-file=", "--strict", "--warn-unused-ignores", "--follow-imports=silent",
        f"--cache-dir={cache}", HERE / "right.py", HERE / "wrong.py", cwd=tmp_path,
    )  # fmt: skip
    assert result.returncode == 0, result.stdout + result.stderr


def test_right_uses_run() -> None:
    runpy.run_path(str(HERE / "right.py"))


def test_stubs_match_the_package(tmp_path: Path) -> None:
    """Names, signatures and defaults of the stubs are those at run time; private modules may say less."""
    config, allowed = tmp_path / "mypy.ini", tmp_path / "allowed"
    config.write_text("[mypy]\n[mypy-dmlcy._generated.*]\nignore_missing_imports = True\n")
    allowed.write_text(r"dmlcy\._.*" + "\n")
    result = run(
        "mypy.stubtest", "dmlcy", "--concise", "--ignore-missing-stub", "--ignore-unused-allowlist",
        "--allowlist", allowed, "--mypy-config-file", config, cwd=tmp_path,
    )  # fmt: skip
    assert result.returncode == 0, result.stdout + result.stderr
