"""Tensors of a compiled operator."""

from libc.stdint cimport int64_t
from libc.string cimport memcmp
from numpy cimport ndarray

from dmlcy._runtime.checks cimport same_sizes
from dmlcy._runtime.tensor cimport MAX_RANK, Tensor, as_array, item_of, set_rank, view


cdef bint describe(object desc, Tensor* tensor) except -1:
    cdef int d
    sizes = desc.sizes
    if len(sizes) > MAX_RANK:
        return False
    tensor.data = NULL
    tensor.dtype = int(desc.dtype)
    tensor.item = item_of(tensor.dtype)
    tensor.rank = len(sizes)
    for d in range(tensor.rank):
        tensor.sizes[d] = sizes[d]
        tensor.strides[d] = 0
    return True


cdef bint as_computed(const Tensor* tensor, const Tensor* computed) noexcept nogil:
    cdef Tensor trimmed = tensor[0]
    return set_rank(&trimmed, computed.rank) and trimmed.dtype == computed.dtype and same_sizes(&trimmed, computed)


cdef bint unchanged(ndarray array, const Tensor* tensor) noexcept:
    cdef Tensor found
    if not view(array, &found) or not set_rank(&found, tensor.rank):
        return False
    if found.data != tensor.data or found.dtype != tensor.dtype or not same_sizes(&found, tensor):
        return False
    return memcmp(found.strides, tensor.strides, tensor.rank * sizeof(int64_t)) == 0


cdef ndarray match(object value, Tensor* tensor):
    cdef Tensor found
    cdef ndarray array = as_array(value)
    if not view(array, &found) or found.dtype != tensor.dtype or not same_sizes(&found, tensor):
        return None
    tensor[0] = found
    return array
