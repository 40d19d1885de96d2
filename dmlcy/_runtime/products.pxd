# Sums of products: of matrices, and of the elements under a filter.

from libc.stdint cimport int64_t

from dmlcy._runtime.activation cimport Activation
from dmlcy._runtime.strided cimport Tensor

# alpha * a * b + beta * c, over the last two axes. The matrices are transposed before where that is said.
cdef struct Matrices:
    const Tensor* left
    const Tensor* right
    const Tensor* added             # NULL: nothing is added
    const Tensor* output
    bint left_transposed
    bint right_transposed
    float alpha
    float beta
    const Activation* fused         # applied to the results; NULL: none

# A convolution; or, backwards, what its gradient spreads over the output.
cdef struct Windows:
    const Tensor* input
    const Tensor* filter
    const Tensor* added             # an element for each channel; NULL: nothing is added
    const Tensor* output
    bint reversed                   # along every spatial axis, the filter is
    bint backward
    int64_t groups
    const int64_t* strides          # by spatial axis
    const int64_t* dilations
    const int64_t* start
    const int64_t* appended         # elements of the output that the filter does not reach, if not backwards
    const Activation* fused

# -1: memory ran out.
cdef int run_matrices(const Matrices* a) noexcept nogil
cdef int run_windows_of_products(const Windows* a) noexcept nogil
