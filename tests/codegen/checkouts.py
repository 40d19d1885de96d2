"""Checkouts with other specs than this one: copies of it, for what no operator of it has."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from sysconfig import get_platform

import dmlcy

ROOT = Path(__file__).resolve().parents[2]
OWN = ("*.so", "*.pyd", "*.pyx.c", "_generated", "operators", "ids.lock")
"""Files that a copy makes for itself."""


def checkout(folder: Path, specs: Iterable[Path]) -> Path:
    """A copy of the checkout with these specs only, each in the folder of its family; nothing of it is generated."""
    for name in ("specs", "codegen", "dmlcy"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns(*OWN))
    for name in ("setup.py", "pyproject.toml", "README.md", "LICENSE", "NOTICE.md"):
        shutil.copy2(ROOT / name, folder / name)
    (folder / "tests" / "codegen").mkdir(parents=True)
    for spec in specs:
        family = folder / "specs" / "operators" / spec.parent.name
        family.mkdir(parents=True, exist_ok=True)
        shutil.copy(spec, family)
    (folder / "specs" / "ids.lock").touch()
    return folder


def with_runtime(folder: Path) -> None:
    """The compiled modules that hold no operator, as this checkout has them."""
    library = folder / "build" / f"lib.{get_platform()}-{sys.implementation.cache_tag}" / "dmlcy" / "_runtime"
    library.mkdir(parents=True)
    package = Path(dmlcy.__file__).parent
    for module in (*package.glob("_runtime/*.so"), *package.glob("_runtime/*.pyd")):
        for place in (library, folder / "dmlcy" / "_runtime"):
            shutil.copy(module, place)


def run(folder: Path, *command: str, seconds: int = 600) -> subprocess.CompletedProcess[str]:
    """Runs Python there, with the package of the copy."""
    return subprocess.run(
        [sys.executable, *command],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=seconds,
        env={**os.environ, "PYTHONPATH": str(folder)},
    )
