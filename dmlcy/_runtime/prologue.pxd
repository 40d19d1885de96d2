# The function that makes the elements of a matrix as loops need them: the node of a graph before the operator that
# reads it.

from libc.stdint cimport int64_t

# Some columns of some rows, one row behind the other. Any thread calls it. -1: memory ran out.
ctypedef int (*Make)(
    const void* context, int64_t row, int64_t rows, int64_t column, int64_t columns, float* to) noexcept nogil

# Products of one row of `depth` floats and some columns that are rows of the matrix, each sum a chain of multiply-adds
# in ascending k. Returns of how many columns, from the first one on; the others are left to the caller. -1: memory ran
# out.
ctypedef int64_t (*MultiplyRow)(
    const void* context, const float* a, int64_t depth, int64_t column, int64_t columns, float* to) noexcept nogil

# `prepared` of a tensor without elements.
cdef struct Prologue:
    Make make
    MultiplyRow multiply
    const void* context
