# Copies and fills of rows: without a call where they are short, and of even speed where they are long.

from libc.stdint cimport int64_t, uint64_t

cdef extern from "copy.h" nogil:
    void dmlcy_copy(char* target, const char* source, int64_t n) noexcept

    # `word` repeats an element, to whose size the target is aligned.
    void dmlcy_fill(char* target, uint64_t word, int64_t n) noexcept

    # Copies rows of `n` bytes, at least DMLCY_SPREAD, and fills the `gap` bytes between each two.
    enum:
        DMLCY_SPREAD
    void dmlcy_spread(char* target, uint64_t word, int64_t gap, const char* source, int64_t step, int64_t n,
                      int64_t rows) noexcept

cdef extern from "copy_rows.h" nogil:
    # Copies rows of `n` bytes that lie `step` bytes apart to where they lie `pitch` bytes apart.
    void dmlcy_copy_rows(const char* source, int64_t step, char* target, int64_t pitch, int64_t n,
                         int64_t rows) noexcept
