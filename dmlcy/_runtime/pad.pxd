# Padding: each row of the output is padding, a run of the input, and padding.

from libc.stdint cimport int64_t, uint8_t

from dmlcy._runtime.strided cimport MAX_RANK, Tensor

# The element of an axis of n elements that position p reads; p may be negative, or n and more.
ctypedef int64_t (*IndexMap)(int64_t p, int64_t n) noexcept nogil

cdef struct Pad:
    Tensor input
    Tensor output
    int64_t start[MAX_RANK]         # positions before the input, by axis
    IndexMap index                  # NULL: padding takes `fill`
    uint8_t fill[8]                 # an element

# Computes the output. -1: memory ran out.
cdef int run_pad(const Pad* a) noexcept nogil
