# Elements that are made of their places.

from libc.stdint cimport int64_t, uint64_t

from dmlcy._runtime.strided cimport Tensor

cdef enum:
    # the most numbers that are made in a buffer at once, before they are converted to elements
    MADE = 1024

# The elements of the numbers first … first+count-1; `fields` is the struct of the operator.
ctypedef void (*Floats)(const void* fields, int64_t first, int count, double* numbers) noexcept nogil
ctypedef void (*Integers)(const void* fields, int64_t first, int count, uint64_t* numbers) noexcept nogil
# Whether a diagonal, so many columns to the right of the main one, has such numbers.
ctypedef bint (*Filled)(const void* fields, int64_t d) noexcept nogil

cdef struct Numbers:
    Floats floats
    Integers integers               # of integers; NULL: these are floats that are cut
    const void* fields

# Each function computes the output. -1: memory ran out.

# The element of number 0, everywhere.
cdef int run_fill(const Numbers* numbers, const Tensor* output) noexcept nogil
# The elements row by row.
cdef int run_sequence(const Numbers* numbers, const Tensor* output) noexcept nogil
# Matrices with what number 0 gives on some diagonals. Elsewhere are zeros, or the elements of `under`.
cdef int run_diagonals(const Numbers* numbers, Filled filled, const Tensor* under, const Tensor* output) noexcept nogil
# A line along the axis for each index, with the second value there, and the first one everywhere else.
cdef int run_lines(const Tensor* indices, const Tensor* values, const Tensor* output, int64_t axis) noexcept nogil
# Random numbers row by row from the words of a state, and the state for the next ones, if it is asked for.
cdef int run_random(const Tensor* state, const Tensor* output, const Tensor* following) noexcept nogil
