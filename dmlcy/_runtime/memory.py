"""The memory of the machine: what cannot fit is refused before it is asked for."""

from __future__ import annotations

import os
import sys
from typing import Final

PHYSICAL: Final[int] = (
    os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if "SC_PHYS_PAGES" in getattr(os, "sysconf_names", ())
    else sys.maxsize
)
"""Bytes that the machine has."""


def require(size: int, what: str = "") -> None:
    """MemoryError for more bytes than the machine has: the system would give them, and end the process later."""
    if size > PHYSICAL:
        raise MemoryError(*([f"{what} takes {size} bytes, and the machine has {PHYSICAL}."] if what else []))
