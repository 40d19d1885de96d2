# Moving elements between two layouts: a strided copy of any number of axes.

from libc.stdint cimport int64_t

cdef enum:
    MAX_AXES = 16

cdef struct Rearrange:
    int rank
    int item                            # bytes of an element
    const char* input
    char* output
    int64_t sizes[MAX_AXES]             # in the order of the output, slowest first
    int64_t input_strides[MAX_AXES]     # bytes
    int64_t output_strides[MAX_AXES]

# Copies all elements. -1: memory ran out.
cdef int run_rearrange(const Rearrange* a) noexcept nogil
