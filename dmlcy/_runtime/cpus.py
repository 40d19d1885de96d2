"""How many threads to use when nobody says: what the process may use, not what the machine has."""

import os
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

MOST_THREADS = 1024


def default_threads() -> int:
    """Return the least of the processors that this process may use, OMP_NUM_THREADS and the most threads."""
    return min(usable_cpus(), *omp_threads(os.environ.get("OMP_NUM_THREADS", "")), MOST_THREADS)


def usable_cpus() -> int:
    """Return the least of the processors that this process may run on and its cgroups' quotas."""
    return max(1, min([available_cpus(), *cgroup_cpus()]))


def available_cpus() -> int:
    """Return the number of processors that the process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def omp_threads(text: str) -> Iterator[int]:
    """Yield the number of OMP_NUM_THREADS: the first of a list, nothing if it is not a positive number."""
    first = text.split(",")[0].strip()
    if first.isascii() and first.isdigit() and first.strip("0"):  # Python refuses to read thousands of digits
        digits = first.lstrip("0")
        yield int(digits) if len(digits) < 10 else MOST_THREADS


def lingers() -> bool:
    """Return whether threads may wait in a loop between calls: not if OMP_WAIT_POLICY is PASSIVE."""
    return os.environ.get("OMP_WAIT_POLICY", "").strip().upper() != "PASSIVE"


def cgroup_cpus(proc: Path = Path("/proc/self/cgroup"), root: Path = Path("/sys/fs/cgroup")) -> Iterator[int]:
    """Yield the processor quotas of the process's cgroups (versions 1 and 2) and all above them, rounded up."""
    for line in _read(proc).splitlines():
        _, controllers, path = f"{line}::".split(":", 2)
        if controllers == "":
            mount, files = root, ["cpu.max"]
        elif "cpu" in controllers.split(","):
            mount, files = root / "cpu", ["cpu.cfs_quota_us", "cpu.cfs_period_us"]
        else:
            continue
        # In a container the path can be the host's and not exist here; the mount itself is then the cgroup.
        group = PurePosixPath(path.strip("/:"))
        for part in (group, *group.parents):
            yield from _quota(" ".join(_read(mount / part / file) for file in files))


def _quota(text: str) -> Iterator[int]:
    """Yield the processors in "quota period"; "max" and -1 mean no limit."""
    words = text.split()
    if len(words) == 2 and all(word.isdigit() and int(word) > 0 for word in words):
        yield -(-int(words[0]) // int(words[1]))


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except (OSError, UnicodeDecodeError):
        return ""
