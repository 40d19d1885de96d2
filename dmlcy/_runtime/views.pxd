# Views: elements of one tensor are those of a part of another one.

from libc.stdint cimport int64_t

from dmlcy._runtime.strided cimport Tensor, Tensors

# Each function computes the outputs. -1: memory ran out.

# The elements of the input, which has the sizes of the output.
cdef int run_copy(const Tensor* input, const Tensor* output) noexcept nogil
# One element, everywhere.
cdef int run_repeat(const void* element, const Tensor* output) noexcept nogil
# The inputs, one after the other along the axis.
cdef int run_join(const Tensors* inputs, const Tensor* output, int64_t axis) noexcept nogil
# The outputs are parts of the input, one after the other along the axis.
cdef int run_split(const Tensor* input, const Tensors* outputs, int64_t axis) noexcept nogil
# So many copies of the input side by side along each axis.
cdef int run_tile(const Tensor* input, const Tensor* output, const int64_t* repeats) noexcept nogil
# Elements of the input, along each axis from `start` on in steps of either sign.
cdef int run_slice(const Tensor* input, const Tensor* output, const int64_t* start, const int64_t* step) noexcept nogil
# The elements of the input go to such places of the output, whose other elements are 0.
cdef int run_place(const Tensor* input, const Tensor* output, const int64_t* start, const int64_t* step) noexcept nogil
