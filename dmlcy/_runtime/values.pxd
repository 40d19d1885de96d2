# Elements of a tensor of floats, for the rules on its values.

from libc.stdint cimport int64_t, uint16_t
from libc.string cimport memcpy

from dmlcy._runtime.half cimport dmlcy_float_of_half
from dmlcy._runtime.strided cimport Tensor


# The float `offset` bytes behind the first element; the data may be misaligned.
cdef inline double element_at(const Tensor* tensor, int64_t offset) noexcept nogil:
    cdef float single
    cdef double value
    cdef uint16_t half
    if tensor.item == 4:
        memcpy(&single, tensor.data + offset, 4)
        return single
    if tensor.item == 8:
        memcpy(&value, tensor.data + offset, 8)
        return value
    memcpy(&half, tensor.data + offset, 2)
    return dmlcy_float_of_half(half)


cdef inline double element1(const Tensor* t, int64_t i) noexcept nogil:
    return element_at(t, i * t.strides[0])


cdef inline double element2(const Tensor* t, int64_t i, int64_t j) noexcept nogil:
    return element_at(t, i * t.strides[0] + j * t.strides[1])


cdef inline double element3(const Tensor* t, int64_t i, int64_t j, int64_t k) noexcept nogil:
    return element_at(t, i * t.strides[0] + j * t.strides[1] + k * t.strides[2])


cdef inline double element4(const Tensor* t, int64_t i, int64_t j, int64_t k, int64_t m) noexcept nogil:
    return element_at(t, i * t.strides[0] + j * t.strides[1] + k * t.strides[2] + m * t.strides[3])
