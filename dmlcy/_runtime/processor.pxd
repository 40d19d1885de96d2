# Features of the processor that the loops use beyond the baseline. isa.h says how a function makes use of instructions,
# stream.h how a stream is used: streaming stores are for outputs that are larger than the cache.

from libc.stdint cimport int64_t, uint64_t

cdef extern from "isa.h" nogil:
    int dmlcy_level() noexcept      # the level of instructions: 0 baseline, 1 wide, 2 widest
    bint dmlcy_wide() noexcept      # DMLCY_WIDE functions may be called
    bint dmlcy_has_f16c() noexcept
    int dmlcy_ask_processor() noexcept
    int dmlcy_instructions() noexcept
    enum:
        DMLCY_COMPILED_LEVEL
        DMLCY_NEEDS_WIDE
        DMLCY_NEEDS_WIDEST

cdef extern from "stream.h" nogil:
    enum:
        DMLCY_LINE
        DMLCY_ROOM

    ctypedef struct dmlcy_stream:
        pass

    # A stream begins at any address; whoever begins it ends it.
    void dmlcy_stream_begin(dmlcy_stream* s, char* target) noexcept
    void dmlcy_stream_put(dmlcy_stream* s, const char* source, int64_t n) noexcept
    void dmlcy_stream_fill(dmlcy_stream* s, uint64_t word, int64_t n) noexcept
    void dmlcy_stream_seek(dmlcy_stream* s, char* target) noexcept
    void dmlcy_stream_end(dmlcy_stream* s) noexcept

    # The caller writes up to DMLCY_ROOM bytes at the room, then says how many.
    char* dmlcy_stream_room(dmlcy_stream* s) noexcept
    void dmlcy_stream_advance(dmlcy_stream* s, int64_t n) noexcept

    int64_t dmlcy_last_level_cache() noexcept

# Whether the output should be streamed where so many bytes are read and written.
cdef bint stream_pays(int64_t bytes) noexcept nogil
