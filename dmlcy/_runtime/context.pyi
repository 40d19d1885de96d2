from contextvars import ContextVar

from dmlcy._record import Recording

LEVEL: ContextVar[int]
RECORDINGS: ContextVar[tuple[Recording, ...]]

def open_block() -> None: ...
def close_block() -> None: ...
