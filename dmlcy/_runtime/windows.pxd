# What the loops over windows are given; windows.h says how.

from libc.stdint cimport int64_t

ctypedef void (*WindowLoop)(const void* args) noexcept nogil

cdef extern from "windows.h" nogil:
    enum:
        DMLCY_GROUP
        DMLCY_FOLDED

    # Rows that wait to be combined into the target.
    ctypedef struct WindowSum:
        WindowLoop loop
        void* target
        int64_t target_step
        int64_t line_step
        int64_t lines
        int64_t passes
        int64_t pass_step
        int64_t size
        int64_t item
        int64_t ahead
        bint fresh
        int64_t waiting
        const void* row[DMLCY_GROUP]

    # Rows of neighbours, each of which is under one window.
    ctypedef struct WindowFold:
        const char* input
        int64_t line_step
        int64_t lines
        int64_t size
        void* results
