"""Programs that run with little memory, in a process of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
HANGS = 600  # seconds; only what hangs takes as long

needs_limits = pytest.mark.skipif(
    not Path("/proc/self/statm").exists() or "libasan" in os.environ.get("LD_PRELOAD", ""),
    reason="needs /proc and limits on memory, which the sanitizers exceed",
)

LIMIT = """
import gc, resource, sys, time, tracemalloc
import numpy as np
import calls, dmlcy as dml

def limit(megabytes):
    # Memory ends in a large piece: where CPython has none for an object of its own, it loses the exception.
    global half
    half = [bytes(size) for size in range(0, 480, 16) for _ in range(200)]
    del half[::2]
    gc.collect()
    with open("/proc/self/statm") as file:
        used = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + int(megabytes * 2**20), resource.RLIM_INFINITY))

def no_limit():
    resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
"""


# The system gets back what is freed, and no thread that begins late maps an arena for a moment: the limit counts
# nothing else. The heap grows by what is asked for, not by 128 KB more, which is beyond the smallest limits.
ALL_GIVEN_BACK = {
    "MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_TRIM_THRESHOLD_": "65536", "MALLOC_TOP_PAD_": "0",
    "MALLOC_ARENA_MAX": "1", "OPENBLAS_NUM_THREADS": "1",
}  # fmt: skip


def run(program: str, *arguments: str) -> str:
    """The output of a program, which can use ``limit``, ``no_limit`` and ``calls``."""
    path = os.pathsep.join(filter(None, [str(HERE), os.environ.get("PYTHONPATH")]))
    done = subprocess.run(
        [sys.executable, "-P", "-c", LIMIT + program, *arguments],
        capture_output=True,
        text=True,
        timeout=HANGS,
        check=False,
        env=os.environ | {"PYTHONPATH": path} | ALL_GIVEN_BACK,
    )
    assert done.returncode == 0, (done.returncode, done.stderr)
    return done.stdout
