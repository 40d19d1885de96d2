"""Runs Python on a build of the package in which sanitizers watch every access to memory, and every operation on ints.

``python -m tests.reliability.sanitized -m pytest tests/operators`` builds what changed, into a folder of its own, and
runs ``python -m pytest tests/operators`` on it. What would be undefined behaviour ends the process by a signal, after
a report with the line in the generated C. GCC only.
"""

from __future__ import annotations

import filecmp
import os
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
FOLDER: Final = ROOT / "build" / "sanitized"
SANITIZERS: Final = "address,undefined,float-cast-overflow"
LIBRARIES: Final = ("libasan.so", "libubsan.so", "libstdc++.so")
"""What must be there before Python is; the last one so that others may throw exceptions."""
OPTIONS: Final = {
    "ASAN_OPTIONS": "detect_leaks=0:abort_on_error=1:allocator_may_return_null=1:quarantine_size_mb=64",
    "UBSAN_OPTIONS": "abort_on_error=1:print_stacktrace=1",
    "PYTHONMALLOC": "malloc",
}


def library(name: str) -> str:
    """The path of one of the compiler's libraries."""
    compiler = (os.environ.get("CC") or str(sysconfig.get_config_var("CC"))).split()[0]
    command = [compiler, f"-print-file-name={name}"]
    path = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    if not os.path.isabs(path):
        raise SystemExit(f"{compiler} has no {name}")
    return path


def forget(root: Path, built: Path) -> None:
    """Remove the files of an earlier build that the checkout has not, or has otherwise.

    ``setup.py`` copies a file only if it is newer than its copy, and leaves copies of files that are gone.
    """
    for path in [*built.rglob("*")]:
        source = root / path.relative_to(built)
        compiled = path.suffix == ".so" or "__pycache__" in path.parts
        if path.is_file() and not compiled and not (source.is_file() and filecmp.cmp(path, source, shallow=False)):
            path.unlink()


def build() -> None:
    """Build what changed."""
    forget(ROOT, FOLDER / "lib")
    command = [sys.executable, "setup.py", "-q", "build", f"--build-base={FOLDER}", f"--build-lib={FOLDER / 'lib'}"]
    subprocess.run(command, cwd=ROOT, env={**os.environ, "DMLCY_SANITIZE": SANITIZERS}, check=True)


def environment() -> dict[str, str]:
    """The environment in which Python finds the build, and the build finds the sanitizers."""
    paths = os.pathsep.join([str(FOLDER / "lib"), str(ROOT)])
    preload = " ".join(library(name) for name in LIBRARIES)
    return {**os.environ, **OPTIONS, "LD_PRELOAD": preload, "PYTHONPATH": paths, "PYTHONSAFEPATH": "1"}


def main(arguments: list[str]) -> None:
    """Build, then become the Python that was asked for."""
    build()
    os.execve(sys.executable, [sys.executable, *arguments], environment())


if __name__ == "__main__":
    main(sys.argv[1:])
