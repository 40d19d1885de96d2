# Elements of a tensor, for the rules on its values.

from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t
from libc.string cimport memcpy

from dmlcy._runtime.half cimport dmlcy_float_of_half
from dmlcy._runtime.strided cimport FLOAT16, FLOAT32, FLOAT64, INT8, INT16, INT32, Tensor


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


cdef inline int64_t elements_of(const Tensor* t) noexcept nogil:
    cdef int64_t found = 1
    cdef int d
    for d in range(t.rank):
        found *= t.sizes[d]
    return found


# The element of a number, in the order of the axes; not of 8 bytes unless these are a FLOAT64.
cdef inline double element_in_order(const Tensor* t, int64_t number) noexcept nogil:
    cdef int64_t offset = 0
    cdef uint32_t word = 0
    cdef uint16_t half = 0
    cdef uint8_t byte = 0
    cdef int d
    for d in range(t.rank - 1, -1, -1):
        offset += number % t.sizes[d] * t.strides[d]
        number //= t.sizes[d]
    if t.dtype == FLOAT32 or t.dtype == FLOAT16 or t.dtype == FLOAT64:
        return element_at(t, offset)
    if t.item == 4:
        memcpy(&word, t.data + offset, 4)
        return <int32_t>word if t.dtype == INT32 else <double>word
    if t.item == 2:
        memcpy(&half, t.data + offset, 2)
        return <int16_t>half if t.dtype == INT16 else <double>half
    memcpy(&byte, t.data + offset, 1)
    return <int8_t>byte if t.dtype == INT8 else <double>byte
