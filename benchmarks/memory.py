"""Peak memory: by how much the resident set grows while a call runs."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from pathlib import Path
from typing import Any

PROC = Path("/proc/self")
RESET_PEAK = "5"  # what Linux asks to be written to clear_refs for it
CALLS = 3


def peak(work: Callable[[], Any]) -> int | None:
    """The most bytes by which a call exceeds what was resident before it; None where Linux does not say it.

    Linux counts pages per processor and adds them up now and then: the least of some calls is good to a quarter of a
    megabyte.
    """
    try:
        return min(_peak(work) for _ in range(CALLS))
    except OSError:
        return None


def _peak(work: Callable[[], Any]) -> int:
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)  # freed memory that the allocator kept would hide what the call allocates
    (PROC / "clear_refs").write_text(RESET_PEAK)
    before = _kilobytes("VmRSS")
    work()
    return max(0, _kilobytes("VmHWM") - before) * 1024


def _kilobytes(field: str) -> int:
    for line in (PROC / "status").read_text().splitlines():
        name, _, value = line.partition(":")
        if name == field:
            return int(value.split()[0])
    raise OSError(f"/proc/self/status has no {field}")
