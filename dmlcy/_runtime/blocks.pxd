# Blocks of accumulators side by side; blocks.h says how.

from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t

cdef extern from "blocks.h" nogil:
    # Arithmetic is element by element.
    ctypedef float dmlcy_float_block
    ctypedef double dmlcy_double_block
    ctypedef int8_t dmlcy_int8_t_block
    ctypedef int16_t dmlcy_int16_t_block
    ctypedef int32_t dmlcy_int32_t_block
    ctypedef int64_t dmlcy_int64_t_block
    ctypedef uint8_t dmlcy_uint8_t_block
    ctypedef uint16_t dmlcy_uint16_t_block
    ctypedef uint32_t dmlcy_uint32_t_block
    ctypedef uint64_t dmlcy_uint64_t_block

    dmlcy_float_block dmlcy_load_float(const float* source) noexcept
    dmlcy_double_block dmlcy_load_double(const double* source) noexcept
    dmlcy_int8_t_block dmlcy_load_int8_t(const int8_t* source) noexcept
    dmlcy_int16_t_block dmlcy_load_int16_t(const int16_t* source) noexcept
    dmlcy_int32_t_block dmlcy_load_int32_t(const int32_t* source) noexcept
    dmlcy_int64_t_block dmlcy_load_int64_t(const int64_t* source) noexcept
    dmlcy_uint8_t_block dmlcy_load_uint8_t(const uint8_t* source) noexcept
    dmlcy_uint16_t_block dmlcy_load_uint16_t(const uint16_t* source) noexcept
    dmlcy_uint32_t_block dmlcy_load_uint32_t(const uint32_t* source) noexcept
    dmlcy_uint64_t_block dmlcy_load_uint64_t(const uint64_t* source) noexcept
    dmlcy_float_block dmlcy_load_half(const uint16_t* source) noexcept
    dmlcy_float_block dmlcy_load_half_wide(const uint16_t* source) noexcept
    void dmlcy_store_float(float* target, dmlcy_float_block block) noexcept
    void dmlcy_store_double(double* target, dmlcy_double_block block) noexcept
    void dmlcy_store_int8_t(int8_t* target, dmlcy_int8_t_block block) noexcept
    void dmlcy_store_int16_t(int16_t* target, dmlcy_int16_t_block block) noexcept
    void dmlcy_store_int32_t(int32_t* target, dmlcy_int32_t_block block) noexcept
    void dmlcy_store_int64_t(int64_t* target, dmlcy_int64_t_block block) noexcept
    void dmlcy_store_uint8_t(uint8_t* target, dmlcy_uint8_t_block block) noexcept
    void dmlcy_store_uint16_t(uint16_t* target, dmlcy_uint16_t_block block) noexcept
    void dmlcy_store_uint32_t(uint32_t* target, dmlcy_uint32_t_block block) noexcept
    void dmlcy_store_uint64_t(uint64_t* target, dmlcy_uint64_t_block block) noexcept
    void dmlcy_store_half(uint16_t* target, dmlcy_float_block block) noexcept
    void dmlcy_store_half_wide(uint16_t* target, dmlcy_float_block block) noexcept
