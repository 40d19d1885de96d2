"""Matrices of quantized integers that become FLOAT32 as loops need them."""

cimport cython
from libc.stdint cimport int8_t, int64_t, intptr_t, uint8_t
from libc.stdlib cimport free, malloc

from dmlcy._runtime.prologue cimport Prologue
from dmlcy._runtime.strided cimport FLOAT32, INT4, INT8, UINT4, UINT8

cdef extern from "dequantize.h" nogil:
    enum:
        DMLCY_OF_UINT8
        DMLCY_OF_INT8
        DMLCY_OF_UINT4
        DMLCY_OF_INT4

    ctypedef void (*DequantizeRow)(
        const char* source, int64_t first, int64_t n, int64_t block, const float* scale, const float* zero,
        float* to) noexcept nogil

    DequantizeRow dmlcy_dequantize(int of) noexcept
    int dmlcy_half_byte(const char* source, int64_t place) noexcept

cdef extern from "quantized_row.h" nogil:
    enum:
        DMLCY_TOGETHER
        DMLCY_AT_ONCE

    ctypedef void (*QuantizedRow)(
        const char* source, int64_t step, int64_t depth, int64_t block, int flip, const float* scale,
        const float* zero, const float* a, float* to) noexcept nogil

    QuantizedRow dmlcy_quantized_row() noexcept


cdef inline int kind_of(int dtype) noexcept nogil:
    if dtype == UINT8:
        return DMLCY_OF_UINT8
    if dtype == INT8:
        return DMLCY_OF_INT8
    if dtype == UINT4:
        return DMLCY_OF_UINT4
    return DMLCY_OF_INT4 if dtype == INT4 else -1


# Factors as FLOAT32: n of them, from the element `place` of the tensor on, `step` elements apart.
cdef void take_factors(const Factors* factors, int64_t place, int64_t step, int64_t n, float* to) noexcept nogil:
    cdef const char* data = factors.data
    cdef int64_t k
    if data == NULL:
        for k in range(n):
            to[k] = factors.number
    elif factors.dtype == FLOAT32:
        for k in range(n):
            to[k] = (<const float*>data)[place + k * step]
    elif factors.dtype == INT8:
        for k in range(n):
            to[k] = (<const int8_t*>data)[place + k * step]
    elif factors.dtype == UINT8:
        for k in range(n):
            to[k] = (<const uint8_t*>data)[place + k * step]
    elif factors.dtype == UINT4:
        for k in range(n):
            to[k] = dmlcy_half_byte(data, place + k * step)
    else:
        for k in range(n):
            to[k] = (dmlcy_half_byte(data, place + k * step) ^ 8) - 8


# The factors of a row for n columns from the first one on: one for each `each` columns, which lie in one block.
cdef void spread(const Factors* factors, int64_t row, int64_t first, int64_t n, int64_t each, float* to) noexcept nogil:
    cdef int64_t place = row // factors.row_block * factors.row_step, count = (n + each - 1) // each, k, number
    cdef float last
    if factors.column_block == each:
        take_factors(factors, place + first // each * factors.column_step, factors.column_step, count, to)
        return
    number = -1
    for k in range(count):
        if (first + k * each) // factors.column_block != number:
            number = (first + k * each) // factors.column_block
            take_factors(factors, place + number * factors.column_step, 0, 1, &last)
        to[k] = last


# The same in memory of theirs, or where they are, if they are as loops take them.
cdef inline const float* factors_at(const Factors* factors, int64_t row, int64_t first, int64_t n, int64_t each,
                                    float* memory) noexcept nogil:
    if factors.dtype == FLOAT32 and factors.column_block == each and factors.column_step == 1:
        return <const float*>factors.data + row // factors.row_block * factors.row_step + first // each
    spread(factors, row, first, n, each, memory)
    return memory


# How many columns from the first one on share factors: as many as a block of both kinds has, or 1.
cdef inline int64_t shared(const Quantized* matrix, int64_t first) noexcept nogil:
    cdef int64_t block = matrix.scale.column_block, other = matrix.zero.column_block
    if matrix.zero.data != NULL and other != block:
        if other % block and block % other:
            return 1
        block = min(block, other)
    return block if first % block == 0 else 1


cdef int make_floats(const void* context, int64_t row, int64_t rows, int64_t column, int64_t columns,
                     float* to) noexcept nogil:
    cdef const Quantized* matrix = <const Quantized*>context
    cdef DequantizeRow dequantize = dmlcy_dequantize(kind_of(matrix.dtype))
    cdef int64_t each = shared(matrix, column), count = (columns + each - 1) // each, k
    cdef float* memory = <float*>malloc(2 * max(count, <int64_t>1) * sizeof(float))
    cdef const float* scale = memory
    cdef float* zero = memory + count
    if memory == NULL:
        return -1
    for k in range(row, row + rows):
        if k == row or k % matrix.scale.row_block == 0:
            scale = factors_at(&matrix.scale, k, column, columns, each, memory)
        if k == row or k % matrix.zero.row_block == 0:
            spread(&matrix.zero, k, column, columns, each, zero)
        dequantize(matrix.data, k * matrix.step + column, columns, each, scale, zero, to + (k - row) * columns)
    free(memory)
    return 0


# Factors of DMLCY_TOGETHER rows side by side, block after block. `memory`: a float for each block.
cdef void lay_side_by_side(const Factors* factors, int64_t row, int64_t depth, int64_t block, float more,
                           float* memory, float* to) noexcept nogil:
    cdef const float* own
    cdef int64_t i, k
    for i in range(DMLCY_TOGETHER):
        own = factors_at(factors, row + i, 0, depth, block, memory)
        for k in range(depth // block):
            to[k * DMLCY_TOGETHER + i] = own[k] + more


cdef int64_t multiply_row(const void* context, const float* a, int64_t depth, int64_t column, int64_t columns,
                          float* to) noexcept nogil:
    cdef const Quantized* matrix = <const Quantized*>context
    cdef QuantizedRow multiply = dmlcy_quantized_row()
    cdef int64_t block = shared(matrix, 0), count, done = 0
    cdef bint signed = matrix.dtype == INT4
    cdef float* scale
    if (
        multiply == NULL or not (signed or matrix.dtype == UINT4) or block % DMLCY_AT_ONCE or depth % block
        or matrix.step % 2
    ):
        return 0
    count = depth // block
    scale = <float*>malloc((2 * DMLCY_TOGETHER + 1) * count * sizeof(float))
    if scale == NULL:
        return -1
    while columns - done >= DMLCY_TOGETHER:
        lay_side_by_side(&matrix.scale, column + done, depth, block, 0, scale + 2 * DMLCY_TOGETHER * count, scale)
        lay_side_by_side(&matrix.zero, column + done, depth, block, 8 if signed else 0,
                         scale + 2 * DMLCY_TOGETHER * count, scale + DMLCY_TOGETHER * count)
        multiply(matrix.data + (column + done) * matrix.step // 2, matrix.step // 2, depth, block, 8 if signed else 0,
                 scale, scale + DMLCY_TOGETHER * count, a, to + done)
        done += DMLCY_TOGETHER
    free(scale)
    return done


@cython.final
cdef class Owner:
    """A prologue, and the matrix that it makes."""

    cdef Quantized matrix
    cdef Prologue prologue


cdef Factors factors_of(object said) except *:
    cdef Factors found
    found.data = NULL
    found.number = 0
    found.dtype, found.row_block, found.column_block, found.row_step, found.column_step = said
    if found.row_block < 1 or found.column_block < 1:
        raise ValueError("a block has at least one element")
    return found


@cython.final
cdef class QuantizedMatrix:
    """Makes the prologue of a matrix for the addresses of its tensors.

    ``dtype``, ``step``: the number of its data type, and the elements from a row to the next. ``scale``, ``zero``: of
    the factors the data type, rows and columns that share one, and the elements from a row and a column to the next. A
    zero point that is the same for all may be an integer.
    """

    cdef Quantized matrix
    cdef bint has_zero

    def __init__(self, int dtype, int64_t step, scale, zero):
        if kind_of(dtype) < 0:
            raise ValueError("a matrix of quantized integers has 4 or 8 bits")
        self.has_zero = not isinstance(zero, int)
        self.matrix.dtype, self.matrix.step = dtype, step
        self.matrix.scale = factors_of(scale)
        self.matrix.zero = factors_of(zero if self.has_zero else (dtype, 1, 1, 0, 0))
        if not self.has_zero:
            self.matrix.zero.number = zero
        if self.matrix.scale.dtype != FLOAT32 or self.matrix.zero.dtype != dtype:
            raise ValueError("scales are FLOAT32, and zero points are as the matrix")

    def __call__(self, addresses):
        """The owner of a prologue, and its address, for the elements at these addresses."""
        cdef Owner owner = Owner.__new__(Owner)
        owner.matrix = self.matrix
        owner.matrix.data = <const char*><intptr_t>addresses[0]
        owner.matrix.scale.data = <const char*><intptr_t>addresses[1]
        if self.has_zero:
            owner.matrix.zero.data = <const char*><intptr_t>addresses[2]
        owner.prologue = Prologue(make=make_floats, multiply=multiply_row, context=&owner.matrix)
        return owner, <intptr_t>&owner.prologue
