"""Whether this process was forked from one whose OpenMP library it shares: asked before our own modules load one."""

from pathlib import Path

FORKED_WITHOUT_EXEC = 0x40


def inherits_openmp(stat: Path = Path("/proc/self/stat"), maps: Path = Path("/proc/self/maps")) -> bool:
    """Return whether the parent had libgomp: if it had threads, libgomp waits for them in the child, forever.

    Elsewhere than on Linux nothing is known, and the answer is no.
    """
    try:
        flags = int(stat.read_text().rpartition(")")[2].split()[6])
        return bool(flags & FORKED_WITHOUT_EXEC) and "libgomp" in maps.read_text()
    except (OSError, ValueError, IndexError):
        return False


INHERITS_OPENMP = inherits_openmp()
