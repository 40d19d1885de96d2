from contextlib import AbstractContextManager
from typing import Final, SupportsIndex

INHERITS_OPENMP: Final[bool]
MOST_THREADS: Final[int]

def set_num_threads(n: SupportsIndex) -> None:
    """Set how many threads a call may use, from 1 to 1024. Forked child processes always use one."""

def get_num_threads() -> int:
    """Return how many threads a call may use at most: 1 without OpenMP and in a forked child process."""

def one_thread(on: bool = True) -> AbstractContextManager[None]: ...
def openmp_available() -> bool: ...
def compiler() -> str: ...
