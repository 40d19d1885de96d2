# Sums of products of integers: of matrices, and of the elements under a filter.

from libc.stdint cimport int64_t

from dmlcy._runtime.strided cimport Tensor

# The sums of (left - left_zero) * (right - right_zero). INT32 takes their lowest bits. To floats, they are multiplied
# by the scales, and what is added is added. With a scale of the output, the addends are integers, which come before the
# scales. The result is divided by the scale of the output, rounded, and the zero point is added.
cdef struct Integers:
    const Tensor* left              # matrices; or, of windows, the input
    const Tensor* left_zero         # as below, one element, or one for each row, column or filter
    const Tensor* left_scale        # NULL: there is none, as below
    const Tensor* right             # matrices; or the filter
    const Tensor* right_zero
    const Tensor* right_scale
    const Tensor* output_scale
    const Tensor* output_zero
    const Tensor* added
    const Tensor* output
    int64_t groups                  # of windows, as below
    const int64_t* strides          # by spatial axis
    const int64_t* dilations
    const int64_t* start

# -1: memory ran out.
cdef int run_integer_matrices(const Integers* a) noexcept nogil
cdef int run_integer_windows(const Integers* a) noexcept nogil

# Packs `right` for many calls, if memory is given, whose address is a multiple of 64. Returns the bytes of it; 0:
# nothing is packed, such as integers of more than 8 bits.
cdef int64_t pack_integer_matrices(const Tensor* right, char* to) noexcept nogil
cdef int64_t pack_integer_windows(const Tensor* filter, char* to) noexcept nogil
