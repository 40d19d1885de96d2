# Matrices of quantized integers that become FLOAT32 as loops need them.

from libc.stdint cimport int64_t

# Scales or zero points of a matrix, which blocks of elements share. Steps are in elements.
cdef struct Factors:
    const char* data                # NULL: all are `number`
    float number
    int dtype
    int64_t row_block               # rows of the matrix for one row of factors
    int64_t column_block
    int64_t row_step
    int64_t column_step

# A matrix. Its rows are `step` elements apart, and the elements of a row follow one another; those of 4 bits, too.
cdef struct Quantized:
    const char* data
    int dtype                       # UINT8, INT8, UINT4 or INT4
    int64_t step
    Factors scale                   # FLOAT32
    Factors zero                    # as the matrix

# (element - zero point) * scale, rounded once, of some columns of some rows, one row behind the other: `make` of a
# prologue whose context is a Quantized. -1: memory ran out.
cdef int make_floats(const void* context, int64_t row, int64_t rows, int64_t column, int64_t columns,
                     float* to) noexcept nogil

# `multiply` of it, of 4 bits at the widest level.
cdef int64_t multiply_row(const void* context, const float* a, int64_t depth, int64_t column, int64_t columns,
                          float* to) noexcept nogil
