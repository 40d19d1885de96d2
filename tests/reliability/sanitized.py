"""Runs Python on a build of the package in which sanitizers watch every access to memory, and every operation on ints.

``python -m tests.reliability.sanitized -m pytest tests/operators`` builds what changed, into a folder of its own, and
runs ``python -m pytest tests/operators`` on it. Undefined behaviour ends the process by a signal, after
a report with the line in the generated C. GCC only.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from typing import Final

from tests import separate_build

NAME: Final = "sanitized"
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


def environment() -> dict[str, str]:
    """The environment in which Python finds the build, and the build finds the sanitizers."""
    preload = " ".join(library(name) for name in LIBRARIES)
    return {**separate_build.environment(NAME), **OPTIONS, "LD_PRELOAD": preload}


def main(arguments: list[str]) -> None:
    """Build, then become the Python that was asked for."""
    separate_build.build(NAME, {"DMLCY_SANITIZE": SANITIZERS})
    os.execve(sys.executable, [sys.executable, *arguments], environment())


if __name__ == "__main__":
    main(sys.argv[1:])
