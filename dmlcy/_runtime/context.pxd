# The context of a call: its feature level, and who records it. Every call asks the second question; a load and a branch
# answer it when nobody records.

from libc.stdint cimport int64_t

# The index of the current level: the value of the context variable LEVEL.
cdef int current_level() except -1

# Blocks of dmlcy.record() that are open, in whatever context. Changed under the GIL only.
cdef int open_blocks

# The recordings of the current context; None: no call is recorded.
cdef object find_recordings()


cdef inline object current_recordings():
    return find_recordings() if open_blocks else None

# The first `n` values.
cdef tuple tuple_of(int64_t n, const int64_t* values)

# The shortest number in double precision that is `value` in single precision, and those of the first `n` values.
cdef object number_of(float value)
cdef tuple numbers_of(int64_t n, const float* values)

# A number of the data type `dtype`, from its bytes.
cdef object element_of(int dtype, const unsigned char* bytes)
