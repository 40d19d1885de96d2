# Elements between those of a tensor, and their gradients.

from libc.stdint cimport int64_t

from dmlcy._runtime.strided cimport MAX_RANK, Tensor

# The nearest element of a place: of two the lower or the higher one, or always the next or the one before.
cdef enum:
    NEAREST_LOWER = 0
    NEAREST_HIGHER = 1
    NEAREST_NEXT = 2
    NEAREST_BEFORE = 3

cdef struct Resampling:
    const Tensor* input
    const Tensor* output
    bint gradient                   # the output has what goes back to the elements
    bint linear                     # means of neighbours; or the nearest elements
    bint smooth                     # means of more of them where an axis becomes much shorter
    int nearest
    const int64_t* factors          # by which each axis is enlarged; NULL: `scales` and the offsets of places
    const float* scales
    const float* before             # NULL: 0.5
    const float* after              # NULL: -0.5

# Computes the output. -1: memory ran out.
cdef int run_resample(const Resampling* a) noexcept nogil
