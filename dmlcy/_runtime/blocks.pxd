# Blocks of accumulators side by side; blocks.h says how. keys.h has the keys of floats, of which some are made.

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

    dmlcy_float_block dmlcy_each_float(float element) noexcept
    dmlcy_double_block dmlcy_each_double(double element) noexcept
    dmlcy_int8_t_block dmlcy_each_int8_t(int8_t element) noexcept
    dmlcy_int16_t_block dmlcy_each_int16_t(int16_t element) noexcept
    dmlcy_int32_t_block dmlcy_each_int32_t(int32_t element) noexcept
    dmlcy_int64_t_block dmlcy_each_int64_t(int64_t element) noexcept
    dmlcy_uint8_t_block dmlcy_each_uint8_t(uint8_t element) noexcept
    dmlcy_uint16_t_block dmlcy_each_uint16_t(uint16_t element) noexcept
    dmlcy_uint32_t_block dmlcy_each_uint32_t(uint32_t element) noexcept
    dmlcy_uint64_t_block dmlcy_each_uint64_t(uint64_t element) noexcept
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
    dmlcy_int16_t_block dmlcy_load_half_key(const int16_t* source) noexcept
    dmlcy_int32_t_block dmlcy_load_float_key(const int32_t* source) noexcept
    dmlcy_float_block dmlcy_load_number(const float* source) noexcept
    dmlcy_float_block dmlcy_load_number_wide(const float* source) noexcept
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
    void dmlcy_store_half_key(int16_t* target, dmlcy_int16_t_block block) noexcept
    void dmlcy_store_float_key(int32_t* target, dmlcy_int32_t_block block) noexcept
    void dmlcy_store_number(float* target, dmlcy_float_block block) noexcept
    dmlcy_float_block dmlcy_max_float(dmlcy_float_block first, dmlcy_float_block second) noexcept
    dmlcy_float_block dmlcy_max_float_wide(dmlcy_float_block first, dmlcy_float_block second) noexcept
    dmlcy_int8_t_block dmlcy_max_int8_t(dmlcy_int8_t_block first, dmlcy_int8_t_block second) noexcept
    dmlcy_int16_t_block dmlcy_max_int16_t(dmlcy_int16_t_block first, dmlcy_int16_t_block second) noexcept
    dmlcy_int32_t_block dmlcy_max_int32_t(dmlcy_int32_t_block first, dmlcy_int32_t_block second) noexcept
    dmlcy_int64_t_block dmlcy_max_int64_t(dmlcy_int64_t_block first, dmlcy_int64_t_block second) noexcept
    dmlcy_uint8_t_block dmlcy_max_uint8_t(dmlcy_uint8_t_block first, dmlcy_uint8_t_block second) noexcept
    dmlcy_uint16_t_block dmlcy_max_uint16_t(dmlcy_uint16_t_block first, dmlcy_uint16_t_block second) noexcept
    dmlcy_uint32_t_block dmlcy_max_uint32_t(dmlcy_uint32_t_block first, dmlcy_uint32_t_block second) noexcept
    dmlcy_uint64_t_block dmlcy_max_uint64_t(dmlcy_uint64_t_block first, dmlcy_uint64_t_block second) noexcept

    int16_t dmlcy_key_of_half(int16_t bits) noexcept
    int16_t dmlcy_half_of_key(int16_t key) noexcept
    int32_t dmlcy_key_of_float(int32_t bits) noexcept
    int32_t dmlcy_float_of_key(int32_t key) noexcept

    # Maxima without keys.
    float dmlcy_number_of_float(float x) noexcept
    bint dmlcy_ignores_subnormals() noexcept
    bint dmlcy_is_doubtful(float maximum) noexcept
    dmlcy_int32_t_block dmlcy_doubts(dmlcy_float_block maxima) noexcept
    bint dmlcy_has_doubts(dmlcy_int32_t_block doubts) noexcept
