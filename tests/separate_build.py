"""Builds of the package with switches of ``setup.py``, each in a folder of its own, beside the modules in place."""

from __future__ import annotations

import filecmp
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]


def library_of(name: str) -> Path:
    """The folder of the package of a build."""
    return ROOT / "build" / name / "lib"


def forget(root: Path, built: Path) -> None:
    """Remove the files of an earlier build that the checkout has not, or has otherwise.

    ``setup.py`` copies a file only if it is newer than its copy, and leaves copies of files that are gone.
    """
    for path in [*built.rglob("*")]:
        source = root / path.relative_to(built)
        compiled = path.suffix in (".so", ".pyd") or "__pycache__" in path.parts
        if path.is_file() and not compiled and not (source.is_file() and filecmp.cmp(path, source, shallow=False)):
            path.unlink()


def build(name: str, switches: Mapping[str, str]) -> None:
    """Build what changed, with these variables of the environment."""
    library = library_of(name)
    forget(ROOT, library)
    command = [sys.executable, "setup.py", "-q", "build", f"--build-base={library.parent}", f"--build-lib={library}"]
    subprocess.run(command, cwd=ROOT, env={**os.environ, **switches}, check=True)


def environment(name: str) -> dict[str, str]:
    """The environment in which Python finds a build."""
    paths = os.pathsep.join([str(library_of(name)), str(ROOT)])
    return {**os.environ, "PYTHONPATH": paths, "PYTHONSAFEPATH": "1"}
