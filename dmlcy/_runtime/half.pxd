# Conversion between float16, which kernels hold as uint16_t, and float. Strides are in bytes, multiples of 2.

from libc.stddef cimport ptrdiff_t
from libc.stdint cimport uint16_t

cdef extern from "half.h" nogil:
    float dmlcy_float_of_half(uint16_t half) noexcept
    uint16_t dmlcy_half_of_float(float value) noexcept

    # n elements; the float side is contiguous.
    void dmlcy_half_to_float(const uint16_t* src, ptrdiff_t stride_bytes, float* dst, size_t n) noexcept
    void dmlcy_float_to_half(const float* src, uint16_t* dst, ptrdiff_t stride_bytes, size_t n) noexcept

    # The same without processor-specific instructions.
    void dmlcy_half_to_float_portable(const uint16_t* src, ptrdiff_t stride_bytes, float* dst, size_t n) noexcept
    void dmlcy_float_to_half_portable(const float* src, uint16_t* dst, ptrdiff_t stride_bytes, size_t n) noexcept
