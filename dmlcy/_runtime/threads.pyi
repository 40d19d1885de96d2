from typing import Final, SupportsIndex, final

MOST_THREADS: Final[int]

def set_num_threads(n: SupportsIndex) -> None:
    """Set how many threads a call may use, from 1 to 1024. Forked child processes always use one."""

def get_num_threads() -> int:
    """Return how many threads a call may use at most: 1 in a forked child process, and if there are no threads."""

@final
class one_thread:
    def __init__(self, on: bool = True) -> None: ...
    def __enter__(self) -> None: ...
    def __exit__(self, *error: object) -> None: ...

def threads_available() -> bool: ...
def compiler() -> str: ...
