# Elements by index: a tensor of integers says where elements are taken from, or go to. All indices are checked before.

from libc.stdint cimport int64_t

from dmlcy._runtime.strided cimport Tensor

# Whether low <= element < high for all elements of a tensor of integers; with `of` above 1, for those at the place `at`
# of the last axis only.
cdef bint elements_inside(const Tensor* tensor, int64_t low, int64_t high, int64_t at, int64_t of) noexcept nogil

# Each returns -1 when memory ran out. The last `index_dimensions` axes of the indices are in place of an axis of the
# input.
cdef int take_slices(const Tensor* input, const Tensor* indices, const Tensor* output, int64_t axis,
                     int64_t index_dimensions) noexcept nogil
# An index says the place along an axis; the other coordinates are its own.
cdef int take_elements(const Tensor* input, const Tensor* indices, const Tensor* output, int64_t axis) noexcept nogil
cdef int give_elements(const Tensor* input, const Tensor* indices, const Tensor* updates, const Tensor* output,
                       int64_t axis) noexcept nogil
# The last axis of the indices has a coordinate for each axis behind the batches; so many of the last axes count.
cdef int take_tuples(const Tensor* input, const Tensor* indices, const Tensor* output, int64_t batches,
                     int64_t input_count, int64_t indices_count) noexcept nogil
cdef int give_tuples(const Tensor* input, const Tensor* indices, const Tensor* updates, const Tensor* output,
                     int64_t batches, int64_t input_count, int64_t indices_count) noexcept nogil
# An index is the number of elements of a line along an axis that are reversed.
cdef int take_lengths(const Tensor* input, const Tensor* lengths, const Tensor* output, int64_t axis) noexcept nogil
# An index counts the elements of the whole output, which is 0 elsewhere.
cdef int give_places(const Tensor* input, const Tensor* indices, const Tensor* output) noexcept nogil
