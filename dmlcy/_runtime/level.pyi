from contextvars import ContextVar

LEVEL: ContextVar[int]
