# Sums of products: of matrices, and of the elements under a filter.

from libc.stdint cimport int64_t

from dmlcy._runtime.activation cimport Activation
from dmlcy._runtime.strided cimport Tensor

# alpha * a * b + beta * c, over the last two axes. The matrices are transposed before where that is said.
cdef struct Matrices:
    const Tensor* left
    const Tensor* right             # without elements in memory: FLOAT32 that a prologue makes, the same in each batch
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
# Packs the right matrices, if memory is given. Returns the bytes of them; 0: the loops take the matrices as they are.
cdef int64_t pack_right(const Matrices* a, void* to) noexcept nogil
cdef int run_windows_of_products(const Windows* a) noexcept nogil
# The same of filters.
cdef int64_t pack_filters(const Windows* a, void* to) noexcept nogil

# Products that one thread computes, for other engines: a matrix is packed in strips of columns, all k of each. The
# element of k and column j lies at b + j * column + k * step; an element of `item` bytes is FLOAT32 or FLOAT16.
cdef int64_t packed_floats(int64_t columns, int64_t depth) noexcept nogil
cdef void pack_matrix(const char* b, int64_t column, int64_t step, int64_t item, int64_t columns, int64_t depth,
                      float* packed) noexcept nogil

# y = a b, or y + a b if it `adds`: each sum is one chain of multiply-adds in ascending k. Rows are a_row and y_row
# floats apart.
cdef void multiply_packed(const float* a, int64_t a_row, int64_t rows, const float* packed, int64_t columns,
                          int64_t depth, float* y, int64_t y_row, bint adds) noexcept nogil
