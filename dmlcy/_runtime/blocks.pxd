# Blocks of accumulators side by side; blocks.h says how.

from libc.stdint cimport uint16_t

cdef extern from "blocks.h" nogil:
    enum:
        DMLCY_BLOCK                 # elements

    # Arithmetic is element by element.
    ctypedef float dmlcy_float_block
    ctypedef double dmlcy_double_block

    dmlcy_float_block dmlcy_each_float(float element) noexcept
    dmlcy_double_block dmlcy_each_double(double element) noexcept
    dmlcy_float_block dmlcy_load_float(const float* source) noexcept
    dmlcy_double_block dmlcy_load_double(const double* source) noexcept
    dmlcy_float_block dmlcy_load_half(const uint16_t* source) noexcept
    dmlcy_float_block dmlcy_load_half_wide(const uint16_t* source) noexcept
    void dmlcy_store_float(float* target, dmlcy_float_block block) noexcept
    void dmlcy_store_double(double* target, dmlcy_double_block block) noexcept
    void dmlcy_store_half(uint16_t* target, dmlcy_float_block block) noexcept
    void dmlcy_store_half_wide(uint16_t* target, dmlcy_float_block block) noexcept
