"""Matrices of quantized integers, packed for products: some columns become floats, then these are packed."""

from libc.stdint cimport int8_t, int64_t, uint8_t, uint16_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

from dmlcy._runtime.checks cimport ceil_div
from dmlcy._runtime.half cimport dmlcy_float_of_half
from dmlcy._runtime.products cimport pack_matrix
from dmlcy._runtime.strided cimport FLOAT16, FLOAT32, INT4, INT8, UINT4, UINT8, Tensor
from dmlcy._runtime.threads cimport grain_of, parallel_for

cdef extern from "dequantize.h" nogil:
    enum:
        DMLCY_OF_UINT8
        DMLCY_OF_INT8
        DMLCY_OF_UINT4
        DMLCY_OF_INT4

    ctypedef void (*DequantizeRow)(
        const char* source, int64_t step, int64_t n, const float* scale, const float* zero, float* to) noexcept nogil

    DequantizeRow dmlcy_dequantize(int of) noexcept

cdef enum:
    BLOCK = 64                      # columns: a multiple of those of each strip of a packed matrix

# Elements of a scale, or zero points, along a row of the matrix as it is stored.
cdef struct Blocks:
    const Tensor* tensor            # NULL: all are 0
    int64_t rows                    # of the matrix for one row of elements
    int64_t columns                 # and columns for one element of it


cdef struct Panel:
    const Tensor* matrix
    DequantizeRow row
    Blocks scale
    Blocks zero
    bint turned
    int64_t columns
    int64_t depth
    float* packed


cdef inline int kind_of(int dtype) noexcept nogil:
    if dtype == UINT8:
        return DMLCY_OF_UINT8
    if dtype == INT8:
        return DMLCY_OF_INT8
    if dtype == UINT4:
        return DMLCY_OF_UINT4
    return DMLCY_OF_INT4 if dtype == INT4 else -1


cdef bint packs_quantized(const Tensor* matrix, const Tensor* scale) noexcept nogil:
    return kind_of(matrix.dtype) >= 0 and (scale.dtype == FLOAT32 or scale.dtype == FLOAT16)


cdef inline Blocks blocks_of(const Tensor* matrix, const Tensor* tensor) noexcept nogil:
    cdef Blocks found
    found.tensor = tensor
    found.rows, found.columns = matrix.sizes[0], matrix.sizes[1]
    if tensor != NULL:
        found.rows = matrix.sizes[0] // tensor.sizes[0]
        found.columns = matrix.sizes[1] // tensor.sizes[1]
    return found


cdef inline float number_at(const char* at, int dtype) noexcept nogil:
    cdef float number
    if dtype == FLOAT32:
        memcpy(&number, at, sizeof(float))
        return number
    if dtype == FLOAT16:
        return dmlcy_float_of_half((<const uint16_t*>at)[0])
    if dtype == INT8:
        return (<const int8_t*>at)[0]
    if dtype == UINT8:
        return (<const uint8_t*>at)[0]
    return (at[0] & 15) if dtype == UINT4 else ((at[0] & 15) ^ 8) - 8


# The elements for n columns of a row of the matrix from `first` on.
cdef void spread(const Blocks* blocks, int64_t row, int64_t first, int64_t n, float* to) noexcept nogil:
    cdef const Tensor* tensor = blocks.tensor
    cdef int64_t i = 0, end
    cdef float number = 0
    while i < n:
        end = min((first + i) // blocks.columns * blocks.columns + blocks.columns - first, n)
        if tensor != NULL:
            number = number_at(tensor.data + row // blocks.rows * tensor.strides[0]
                               + (first + i) // blocks.columns * tensor.strides[1], tensor.dtype)
        while i < end:
            to[i] = number
            i += 1


# Some blocks of columns. -1: memory ran out.
cdef int pack_some(const void* args, int64_t begin, int64_t end) noexcept nogil:
    cdef const Panel* panel = <const Panel*>args
    cdef const Tensor* matrix = panel.matrix
    cdef int64_t along = panel.depth if panel.turned else BLOCK, number, column, columns, first, rows, row, n
    cdef float* memory = <float*>malloc((panel.depth * BLOCK + 2 * along) * sizeof(float))
    cdef float* scale = memory + panel.depth * BLOCK
    cdef float* zero = scale + along
    cdef bint fresh
    if memory == NULL:
        return -1
    for number in range(begin, end):
        column = number * BLOCK
        columns = min(panel.columns - column, <int64_t>BLOCK)
        first = column if panel.turned else 0
        rows = columns if panel.turned else panel.depth
        n = panel.depth if panel.turned else columns
        for row in range(rows):
            fresh = row == 0
            if fresh or (first + row) % panel.scale.rows == 0:
                spread(&panel.scale, first + row, column - first, n, scale)
            if fresh or (first + row) % panel.zero.rows == 0:
                spread(&panel.zero, first + row, column - first, n, zero)
            panel.row(matrix.data + (first + row) * matrix.strides[0] + (column - first) * matrix.strides[1],
                      matrix.strides[1], n, scale, zero, memory + row * along)
        if panel.turned:
            pack_matrix(<const char*>memory, along * <int64_t>sizeof(float), sizeof(float), sizeof(float), columns,
                        panel.depth, panel.packed + column * panel.depth)
        else:
            pack_matrix(<const char*>memory, sizeof(float), along * <int64_t>sizeof(float), sizeof(float), columns,
                        panel.depth, panel.packed + column * panel.depth)
    free(memory)
    return 0


cdef int pack_quantized(const Tensor* matrix, bint turned, const Tensor* scale, const Tensor* zero,
                        float* packed) noexcept nogil:
    cdef Panel panel
    panel.matrix = matrix
    panel.row = dmlcy_dequantize(kind_of(matrix.dtype))
    panel.scale = blocks_of(matrix, scale)
    panel.zero = blocks_of(matrix, zero)
    panel.turned = turned
    panel.columns = matrix.sizes[0 if turned else 1]
    panel.depth = matrix.sizes[1 if turned else 0]
    panel.packed = packed
    return parallel_for(pack_some, &panel, ceil_div(panel.columns, BLOCK), grain_of(panel.depth * BLOCK * 5))
