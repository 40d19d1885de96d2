# Elements that are chosen by what they are, and where they are.

from libc.stdint cimport int64_t

from dmlcy._runtime.strided cimport Tensor

# Each returns -1 when memory ran out.
# Of each line along an axis the elements that come first, as many as the outputs have, and their places.
cdef int run_first(const Tensor* input, const Tensor* values, const Tensor* places, int64_t axis,
                   bint ascending) noexcept nogil
# How many elements are not 0, and a row with the coordinates of each; the rows behind them are 0.
cdef int run_nonzero(const Tensor* input, const Tensor* count, const Tensor* places) noexcept nogil
