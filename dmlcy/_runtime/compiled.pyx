"""Tensors of a compiled operator."""

from numpy cimport ndarray

from dmlcy._runtime.checks cimport same_sizes
from dmlcy._runtime.tensor cimport MAX_RANK, Tensor, as_array, item_of, view


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


cdef ndarray match(object value, Tensor* tensor):
    cdef Tensor found
    cdef ndarray array = as_array(value)
    if not view(array, &found) or found.dtype != tensor.dtype or not same_sizes(&found, tensor):
        return None
    tensor[0] = found
    return array
