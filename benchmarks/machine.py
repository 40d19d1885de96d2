"""The machine and the libraries of a run."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

from benchmarks import peers
from dmlcy._cli import info

ROOT = Path(__file__).resolve().parents[1]
CACHES = Path("/sys/devices/system/cpu/cpu0/cache")


def facts() -> dict[str, Any]:
    """Processor, caches, compiler, versions, commit; no path of this machine."""
    known = info.collect()
    return {
        "processor": known["processor"]["name"],
        "processors": known["processor"]["count"],
        "threads": known["threads"]["number"],
        "caches": caches(),
        "memory": f"{os.sysconf('SC_PHYS_PAGES') * os.sysconf('SC_PAGE_SIZE') / 2**30:.0f} GiB",
        "platform": known["platform"],
        "compiler": known["build"]["compiler"],
        "instructions": known["processor"]["used"],
        "python": known["python"],
        "versions": {"dmlcy": known["dmlcy"], **peers.versions()},
        "missing": {name: peers.missing(name) for name in peers.NAMES if peers.missing(name)},
        "load": load(),
        "commit": commit(),
    }


def caches() -> dict[str, str]:
    """The size of each cache of the first processor, as Linux tells it."""
    found = {}
    for folder in sorted(CACHES.glob("index*")):
        kind = (folder / "type").read_text().strip()
        if kind != "Instruction":
            found[f"L{(folder / 'level').read_text().strip()}"] = (folder / "size").read_text().strip()
    return found


def load() -> str:
    """How many processes ran on average in the last minute: whether the machine was idle."""
    return f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"


def commit() -> str:
    """The commit of the checkout, and whether files were changed since."""
    try:
        name, changes = (
            subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
            for words in (["rev-parse", "--short=12", "HEAD"], ["status", "--porcelain", "--untracked-files=no"])
        )
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return f"{name}, with changes" if changes else name
