"""Features of the processor that the loops use: its instructions, and which outputs are streamed past its cache."""

from libc.stdint cimport INT64_MAX

# An output is streamed if it does not stay in the cache together with the input. Measured: below one and a half
# last-level caches of input and output, a copy is faster when its output is kept (1.2 times at one of them), and slower
# further on. A kept output may be read again soon. A larger cache than this is shared by so many processors that one of
# them does not fill it. On an Intel Xeon with 300 MB, sums of 32 MB were 1.1 times as fast when streamed, rounding to
# integers 1.8 times.
cdef int64_t MOST_SHARE = 32 << 20
cdef int64_t least = min(dmlcy_last_level_cache(), MOST_SHARE) // 2 * 3 if dmlcy_last_level_cache() else INT64_MAX


cdef bint stream_pays(int64_t bytes) noexcept nogil:
    return bytes >= least


def stream_limit() -> int:
    """Bytes that are read and written when the smallest output is streamed."""
    return least


def set_stream_limit(bytes: int) -> None:
    """Set how many bytes are read and written when the smallest output is streamed: the result is the same."""
    global least
    least = bytes


def instructions() -> dict[str, int]:
    """The numbers of isa.h: levels, and bits of what the processor has, of what may be used, of what a level needs."""
    return {
        "level": dmlcy_level(),
        "compiled": DMLCY_COMPILED_LEVEL,
        "has": dmlcy_ask_processor(),
        "used": dmlcy_instructions(),
        "wide": DMLCY_NEEDS_WIDE,
        "widest": DMLCY_NEEDS_WIDEST,
    }
