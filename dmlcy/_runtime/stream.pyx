"""Which outputs are streamed to memory: those that would push everything else out of the cache."""

from libc.stdint cimport INT64_MAX

# Measured: above half the last-level cache, a copy is faster when its output bypasses the cache (1.1 times there, 1.4
# times further on). A smaller output may be read again soon, and is better kept.
cdef int64_t least = dmlcy_last_level_cache() // 2 + 1 if dmlcy_last_level_cache() else INT64_MAX


cdef bint stream_pays(int64_t bytes) noexcept nogil:
    return bytes >= least


def stream_limit() -> int:
    """Bytes of the smallest output that is streamed."""
    return least


def set_stream_limit(bytes: int) -> None:
    """Set how many bytes the smallest output has that is streamed: the result is the same."""
    global least
    least = bytes
