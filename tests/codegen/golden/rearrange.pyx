# cython: language_level=3
"""rearrange: DEPTH_TO_SPACE1."""

from cpython.object cimport PyObject
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy
from numpy cimport ndarray
from dmlcy._runtime.arguments cimport take_enum, take_uint
from dmlcy._runtime.checks cimport append_size, checked_mul, magnitude, tensor_holds
from dmlcy._runtime.compiled cimport CompiledOperator, as_computed, describe, match, take_vectorcalls, unchanged
from dmlcy._runtime.level cimport current_level
from dmlcy._runtime.recording cimport current_recordings, packed
from dmlcy._runtime.tensor cimport (
    Tensor, aligned, as_array, is_brief, new_array, out_array, overlap, overlaps_itself, view, write_back,
)
from dmlcy._runtime.threads cimport grain_of, parallel_for

from dmlcy._check import refuse, refuse_call, refuse_desc
from dmlcy._generated.enums import DepthSpaceOrder
from dmlcy._record import keep

# Moving elements between two layouts: a strided copy of any number of axes.

cdef enum:
    MAX_AXES = 16

cdef struct Rearrange:
    int rank
    int item                            # bytes of an element
    const char* input
    char* output
    int64_t sizes[MAX_AXES]             # in the order of the output, slowest first
    int64_t input_strides[MAX_AXES]     # bytes
    int64_t output_strides[MAX_AXES]

cdef enum:
    TILE_BYTES = 64                 # width of a tile: a cache line
    TILE_SIDE = 64                  # elements of a side, at most
    PIECE_BYTES = 262144            # that one thread copies at once
    STRIDED_POSITIONS = 128         # of a strided row: their cache lines stay for the next row
    TILES = 8                       # tiles in a block, in both directions
    SHORT = 16                      # loops of fewer elements give way to longer ones

cdef struct MoveAxis:
    int64_t size
    int64_t step                    # bytes, in the input
    int64_t out_step

# Two axes that a kernel copies; cols is the inner one of the output. Where tiles are copied, each may be two axes:
# `within` is the inner one of the two, of size 1 otherwise.
cdef struct Block:
    MoveAxis rows
    MoveAxis cols
    MoveAxis within_row
    MoveAxis within_col

ctypedef void (*BlockCopy)(const Block* block, const char* source, char* target) noexcept nogil

cdef struct MovePlan:
    const char* input
    char* output
    int item
    BlockCopy copy
    Block block                     # sizes of the whole axes
    int64_t row_piece               # sizes of one block
    int64_t col_piece
    int row_axis                    # the outer axis that counts the pieces of the rows
    int col_axis
    MoveAxis outer[MAX_AXES + 2]    # slowest first
    int outers
    int64_t blocks                  # product of their sizes

cdef void copy_runs(const Block* block, const char* source, char* target) noexcept nogil:
    cdef int64_t run = block.cols.size * block.cols.out_step
    cdef int64_t i
    for i in range(block.rows.size):
        memcpy(target + i * block.rows.out_step, source + i * block.rows.step, run)

# Offsets of elements first … first+count-1 of two axes, `size` of the inner one to each of the outer one.
cdef void list_offsets(int64_t first, int64_t count, int64_t step, int64_t size, int64_t inner_step,
                       int64_t* offsets) noexcept nogil:
    cdef int64_t inner = first % size
    cdef int64_t outer = first // size * step
    cdef int64_t i
    for i in range(count):
        offsets[i] = outer + inner * inner_step
        inner += 1
        if inner == size:
            inner = 0
            outer += step

# The longer loop is inside, but short runs are kept together.
cdef void copy_strided_1(const Block* block, const char* source, char* target) noexcept nogil:
    cdef bint runs = block.cols.step == 1 and block.cols.out_step == 1
    cdef bint swap = not runs and block.cols.size < SHORT and block.cols.size < block.rows.size
    cdef const MoveAxis* outer = &block.cols if swap else &block.rows
    cdef const MoveAxis* inner = &block.rows if swap else &block.cols
    cdef int64_t step = inner.step // 1, out_step = inner.out_step // 1
    cdef const uint8_t* row
    cdef uint8_t* out
    cdef int64_t i, j
    for i in range(outer.size):
        row = <const uint8_t*> (source + i * outer.step)
        out = <uint8_t*> (target + i * outer.out_step)
        if out_step == 1:
            for j in range(inner.size):
                out[j] = row[j * step]
        else:
            for j in range(inner.size):
                out[j * out_step] = row[j * step]

# Transposes 64 rows and 64 cols. Each cache line is read and written once, by way of a buffer: lines a power of two
# apart would push each other out of the cache. 8 cols are woven into words, and the words are transposed.
cdef inline void copy_tile_1(const char* source, const int64_t* cols, char* target,
                             const int64_t* rows) noexcept nogil:
    cdef uint8_t tile[8][512]
    cdef const uint8_t* col0
    cdef const uint8_t* col1
    cdef const uint8_t* col2
    cdef const uint8_t* col3
    cdef const uint8_t* col4
    cdef const uint8_t* col5
    cdef const uint8_t* col6
    cdef const uint8_t* col7
    cdef int64_t i, j
    for j in range(8):
        col0 = <const uint8_t*> (source + cols[8 * j + 0])
        col1 = <const uint8_t*> (source + cols[8 * j + 1])
        col2 = <const uint8_t*> (source + cols[8 * j + 2])
        col3 = <const uint8_t*> (source + cols[8 * j + 3])
        col4 = <const uint8_t*> (source + cols[8 * j + 4])
        col5 = <const uint8_t*> (source + cols[8 * j + 5])
        col6 = <const uint8_t*> (source + cols[8 * j + 6])
        col7 = <const uint8_t*> (source + cols[8 * j + 7])
        for i in range(64):
            tile[j][8 * i + 0] = col0[i]
            tile[j][8 * i + 1] = col1[i]
            tile[j][8 * i + 2] = col2[i]
            tile[j][8 * i + 3] = col3[i]
            tile[j][8 * i + 4] = col4[i]
            tile[j][8 * i + 5] = col5[i]
            tile[j][8 * i + 6] = col6[i]
            tile[j][8 * i + 7] = col7[i]
    for i in range(64):
        for j in range(8):
            memcpy(target + rows[i] + 8 * j, &tile[j][8 * i], 8)

# The rows are contiguous in the input, the cols in the output.
cdef void copy_tiles_1(const Block* block, const char* source, char* target) noexcept nogil:
    cdef int64_t rows[TILE_SIDE]
    cdef int64_t cols[TILE_SIDE]
    cdef int64_t height = block.rows.size * block.within_row.size
    cdef int64_t width = block.cols.size * block.within_col.size
    cdef int64_t row, col, high, wide, i, j
    cdef const char* read
    cdef char* write
    for row in range(0, height, 64):
        high = min(height - row, <int64_t> 64)
        list_offsets(row, high, block.rows.out_step, block.within_row.size, block.within_row.out_step, rows)
        for col in range(0, width, 64):
            wide = min(width - col, <int64_t> 64)
            list_offsets(col, wide, block.cols.step, block.within_col.size, block.within_col.step, cols)
            read = source + row * 1
            write = target + col * 1
            if high == 64 and wide == 64:
                copy_tile_1(read, cols, write, rows)
                continue
            for i in range(high):
                for j in range(wide):
                    (<uint8_t*> (write + rows[i]))[j] = (<const uint8_t*> (read + cols[j]))[i]

# The cols are 2 elements and the rows follow each other in the output.
cdef void interleave_2_1(const Block* block, const char* source, char* target) noexcept nogil:
    cdef const uint8_t* row0 = <const uint8_t*> (source + 0 * block.cols.step)
    cdef const uint8_t* row1 = <const uint8_t*> (source + 1 * block.cols.step)
    cdef uint8_t* out = <uint8_t*> target
    cdef int64_t step = block.rows.step // 1
    cdef int64_t i
    if step == 1:
        for i in range(block.rows.size):
            out[2 * i + 0] = row0[i]
            out[2 * i + 1] = row1[i]
    else:
        for i in range(block.rows.size):
            out[2 * i + 0] = row0[i * step]
            out[2 * i + 1] = row1[i * step]

# The rows are 2 elements and the cols follow each other in the input.
cdef void deinterleave_2_1(const Block* block, const char* source, char* target) noexcept nogil:
    cdef const uint8_t* row = <const uint8_t*> source
    cdef uint8_t* out0 = <uint8_t*> (target + 0 * block.rows.out_step)
    cdef uint8_t* out1 = <uint8_t*> (target + 1 * block.rows.out_step)
    cdef int64_t i
    for i in range(block.cols.size):
        out0[i] = row[2 * i + 0]
        out1[i] = row[2 * i + 1]

# The cols are 3 elements and the rows follow each other in the output.
cdef void interleave_3_1(const Block* block, const char* source, char* target) noexcept nogil:
    cdef const uint8_t* row0 = <const uint8_t*> (source + 0 * block.cols.step)
    cdef const uint8_t* row1 = <const uint8_t*> (source + 1 * block.cols.step)
    cdef const uint8_t* row2 = <const uint8_t*> (source + 2 * block.cols.step)
    cdef uint8_t* out = <uint8_t*> target
    cdef int64_t step = block.rows.step // 1
    cdef int64_t i
    if step == 1:
        for i in range(block.rows.size):
            out[3 * i + 0] = row0[i]
            out[3 * i + 1] = row1[i]
            out[3 * i + 2] = row2[i]
    else:
        for i in range(block.rows.size):
            out[3 * i + 0] = row0[i * step]
            out[3 * i + 1] = row1[i * step]
            out[3 * i + 2] = row2[i * step]

# The rows are 3 elements and the cols follow each other in the input.
cdef void deinterleave_3_1(const Block* block, const char* source, char* target) noexcept nogil:
    cdef const uint8_t* row = <const uint8_t*> source
    cdef uint8_t* out0 = <uint8_t*> (target + 0 * block.rows.out_step)
    cdef uint8_t* out1 = <uint8_t*> (target + 1 * block.rows.out_step)
    cdef uint8_t* out2 = <uint8_t*> (target + 2 * block.rows.out_step)
    cdef int64_t i
    for i in range(block.cols.size):
        out0[i] = row[3 * i + 0]
        out1[i] = row[3 * i + 1]
        out2[i] = row[3 * i + 2]

# The cols are 4 elements and the rows follow each other in the output.
cdef void interleave_4_1(const Block* block, const char* source, char* target) noexcept nogil:
    cdef const uint8_t* row0 = <const uint8_t*> (source + 0 * block.cols.step)
    cdef const uint8_t* row1 = <const uint8_t*> (source + 1 * block.cols.step)
    cdef const uint8_t* row2 = <const uint8_t*> (source + 2 * block.cols.step)
    cdef const uint8_t* row3 = <const uint8_t*> (source + 3 * block.cols.step)
    cdef uint8_t* out = <uint8_t*> target
    cdef int64_t step = block.rows.step // 1
    cdef int64_t i
    if step == 1:
        for i in range(block.rows.size):
            out[4 * i + 0] = row0[i]
            out[4 * i + 1] = row1[i]
            out[4 * i + 2] = row2[i]
            out[4 * i + 3] = row3[i]
    else:
        for i in range(block.rows.size):
            out[4 * i + 0] = row0[i * step]
            out[4 * i + 1] = row1[i * step]
            out[4 * i + 2] = row2[i * step]
            out[4 * i + 3] = row3[i * step]

# The rows are 4 elements and the cols follow each other in the input.
cdef void deinterleave_4_1(const Block* block, const char* source, char* target) noexcept nogil:
    cdef const uint8_t* row = <const uint8_t*> source
    cdef uint8_t* out0 = <uint8_t*> (target + 0 * block.rows.out_step)
    cdef uint8_t* out1 = <uint8_t*> (target + 1 * block.rows.out_step)
    cdef uint8_t* out2 = <uint8_t*> (target + 2 * block.rows.out_step)
    cdef uint8_t* out3 = <uint8_t*> (target + 3 * block.rows.out_step)
    cdef int64_t i
    for i in range(block.cols.size):
        out0[i] = row[4 * i + 0]
        out1[i] = row[4 * i + 1]
        out2[i] = row[4 * i + 2]
        out3[i] = row[4 * i + 3]

# The longer loop is inside, but short runs are kept together.
cdef void copy_strided_2(const Block* block, const char* source, char* target) noexcept nogil:
    cdef bint runs = block.cols.step == 2 and block.cols.out_step == 2
    cdef bint swap = not runs and block.cols.size < SHORT and block.cols.size < block.rows.size
    cdef const MoveAxis* outer = &block.cols if swap else &block.rows
    cdef const MoveAxis* inner = &block.rows if swap else &block.cols
    cdef int64_t step = inner.step // 2, out_step = inner.out_step // 2
    cdef const uint16_t* row
    cdef uint16_t* out
    cdef int64_t i, j
    for i in range(outer.size):
        row = <const uint16_t*> (source + i * outer.step)
        out = <uint16_t*> (target + i * outer.out_step)
        if out_step == 1:
            for j in range(inner.size):
                out[j] = row[j * step]
        else:
            for j in range(inner.size):
                out[j * out_step] = row[j * step]

# Transposes 32 rows and 32 cols. Each cache line is read and written once, by way of a buffer: lines a power of two
# apart would push each other out of the cache. 4 cols are woven into words, and the words are transposed.
cdef inline void copy_tile_2(const char* source, const int64_t* cols, char* target,
                             const int64_t* rows) noexcept nogil:
    cdef uint16_t tile[8][128]
    cdef const uint16_t* col0
    cdef const uint16_t* col1
    cdef const uint16_t* col2
    cdef const uint16_t* col3
    cdef int64_t i, j
    for j in range(8):
        col0 = <const uint16_t*> (source + cols[4 * j + 0])
        col1 = <const uint16_t*> (source + cols[4 * j + 1])
        col2 = <const uint16_t*> (source + cols[4 * j + 2])
        col3 = <const uint16_t*> (source + cols[4 * j + 3])
        for i in range(32):
            tile[j][4 * i + 0] = col0[i]
            tile[j][4 * i + 1] = col1[i]
            tile[j][4 * i + 2] = col2[i]
            tile[j][4 * i + 3] = col3[i]
    for i in range(32):
        for j in range(8):
            memcpy(target + rows[i] + 8 * j, &tile[j][4 * i], 8)

# The rows are contiguous in the input, the cols in the output.
cdef void copy_tiles_2(const Block* block, const char* source, char* target) noexcept nogil:
    cdef int64_t rows[TILE_SIDE]
    cdef int64_t cols[TILE_SIDE]
    cdef int64_t height = block.rows.size * block.within_row.size
    cdef int64_t width = block.cols.size * block.within_col.size
    cdef int64_t row, col, high, wide, i, j
    cdef const char* read
    cdef char* write
    for row in range(0, height, 32):
        high = min(height - row, <int64_t> 32)
        list_offsets(row, high, block.rows.out_step, block.within_row.size, block.within_row.out_step, rows)
        for col in range(0, width, 32):
            wide = min(width - col, <int64_t> 32)
            list_offsets(col, wide, block.cols.step, block.within_col.size, block.within_col.step, cols)
            read = source + row * 2
            write = target + col * 2
            if high == 32 and wide == 32:
                copy_tile_2(read, cols, write, rows)
                continue
            for i in range(high):
                for j in range(wide):
                    (<uint16_t*> (write + rows[i]))[j] = (<const uint16_t*> (read + cols[j]))[i]

# The cols are 2 elements and the rows follow each other in the output.
cdef void interleave_2_2(const Block* block, const char* source, char* target) noexcept nogil:
    cdef const uint16_t* row0 = <const uint16_t*> (source + 0 * block.cols.step)
    cdef const uint16_t* row1 = <const uint16_t*> (source + 1 * block.cols.step)
    cdef uint16_t* out = <uint16_t*> target
    cdef int64_t step = block.rows.step // 2
    cdef int64_t i
    if step == 1:
        for i in range(block.rows.size):
            out[2 * i + 0] = row0[i]
            out[2 * i + 1] = row1[i]
    else:
        for i in range(block.rows.size):
            out[2 * i + 0] = row0[i * step]
            out[2 * i + 1] = row1[i * step]

# The rows are 2 elements and the cols follow each other in the input.
cdef void deinterleave_2_2(const Block* block, const char* source, char* target) noexcept nogil:
    cdef const uint16_t* row = <const uint16_t*> source
    cdef uint16_t* out0 = <uint16_t*> (target + 0 * block.rows.out_step)
    cdef uint16_t* out1 = <uint16_t*> (target + 1 * block.rows.out_step)
    cdef int64_t i
    for i in range(block.cols.size):
        out0[i] = row[2 * i + 0]
        out1[i] = row[2 * i + 1]

# The cols are 3 elements and the rows follow each other in the output.
cdef void interleave_3_2(const Block* block, const char* source, char* target) noexcept nogil:
    cdef const uint16_t* row0 = <const uint16_t*> (source + 0 * block.cols.step)
    cdef const uint16_t* row1 = <const uint16_t*> (source + 1 * block.cols.step)
    cdef const uint16_t* row2 = <const uint16_t*> (source + 2 * block.cols.step)
    cdef uint16_t* out = <uint16_t*> target
    cdef int64_t step = block.rows.step // 2
    cdef int64_t i
    if step == 1:
        for i in range(block.rows.size):
            out[3 * i + 0] = row0[i]
            out[3 * i + 1] = row1[i]
            out[3 * i + 2] = row2[i]
    else:
        for i in range(block.rows.size):
            out[3 * i + 0] = row0[i * step]
            out[3 * i + 1] = row1[i * step]
            out[3 * i + 2] = row2[i * step]

# The rows are 3 elements and the cols follow each other in the input.
cdef void deinterleave_3_2(const Block* block, const char* source, char* target) noexcept nogil:
    cdef const uint16_t* row = <const uint16_t*> source
    cdef uint16_t* out0 = <uint16_t*> (target + 0 * block.rows.out_step)
    cdef uint16_t* out1 = <uint16_t*> (target + 1 * block.rows.out_step)
    cdef uint16_t* out2 = <uint16_t*> (target + 2 * block.rows.out_step)
    cdef int64_t i
    for i in range(block.cols.size):
        out0[i] = row[3 * i + 0]
        out1[i] = row[3 * i + 1]
        out2[i] = row[3 * i + 2]

# The cols are 4 elements and the rows follow each other in the output.
cdef void interleave_4_2(const Block* block, const char* source, char* target) noexcept nogil:
    cdef const uint16_t* row0 = <const uint16_t*> (source + 0 * block.cols.step)
    cdef const uint16_t* row1 = <const uint16_t*> (source + 1 * block.cols.step)
    cdef const uint16_t* row2 = <const uint16_t*> (source + 2 * block.cols.step)
    cdef const uint16_t* row3 = <const uint16_t*> (source + 3 * block.cols.step)
    cdef uint16_t* out = <uint16_t*> target
    cdef int64_t step = block.rows.step // 2
    cdef int64_t i
    if step == 1:
        for i in range(block.rows.size):
            out[4 * i + 0] = row0[i]
            out[4 * i + 1] = row1[i]
            out[4 * i + 2] = row2[i]
            out[4 * i + 3] = row3[i]
    else:
        for i in range(block.rows.size):
            out[4 * i + 0] = row0[i * step]
            out[4 * i + 1] = row1[i * step]
            out[4 * i + 2] = row2[i * step]
            out[4 * i + 3] = row3[i * step]

# The rows are 4 elements and the cols follow each other in the input.
cdef void deinterleave_4_2(const Block* block, const char* source, char* target) noexcept nogil:
    cdef const uint16_t* row = <const uint16_t*> source
    cdef uint16_t* out0 = <uint16_t*> (target + 0 * block.rows.out_step)
    cdef uint16_t* out1 = <uint16_t*> (target + 1 * block.rows.out_step)
    cdef uint16_t* out2 = <uint16_t*> (target + 2 * block.rows.out_step)
    cdef uint16_t* out3 = <uint16_t*> (target + 3 * block.rows.out_step)
    cdef int64_t i
    for i in range(block.cols.size):
        out0[i] = row[4 * i + 0]
        out1[i] = row[4 * i + 1]
        out2[i] = row[4 * i + 2]
        out3[i] = row[4 * i + 3]

# The longer loop is inside, but short runs are kept together.
cdef void copy_strided_4(const Block* block, const char* source, char* target) noexcept nogil:
    cdef bint runs = block.cols.step == 4 and block.cols.out_step == 4
    cdef bint swap = not runs and block.cols.size < SHORT and block.cols.size < block.rows.size
    cdef const MoveAxis* outer = &block.cols if swap else &block.rows
    cdef const MoveAxis* inner = &block.rows if swap else &block.cols
    cdef int64_t step = inner.step // 4, out_step = inner.out_step // 4
    cdef const uint32_t* row
    cdef uint32_t* out
    cdef int64_t i, j
    for i in range(outer.size):
        row = <const uint32_t*> (source + i * outer.step)
        out = <uint32_t*> (target + i * outer.out_step)
        if out_step == 1:
            for j in range(inner.size):
                out[j] = row[j * step]
        else:
            for j in range(inner.size):
                out[j * out_step] = row[j * step]

# Transposes 16 rows and 16 cols. Each cache line is read and written once, by way of a buffer: lines a power of two
# apart would push each other out of the cache. 2 cols are woven into words, and the words are transposed.
cdef inline void copy_tile_4(const char* source, const int64_t* cols, char* target,
                             const int64_t* rows) noexcept nogil:
    cdef uint32_t tile[8][32]
    cdef const uint32_t* col0
    cdef const uint32_t* col1
    cdef int64_t i, j
    for j in range(8):
        col0 = <const uint32_t*> (source + cols[2 * j + 0])
        col1 = <const uint32_t*> (source + cols[2 * j + 1])
        for i in range(16):
            tile[j][2 * i + 0] = col0[i]
            tile[j][2 * i + 1] = col1[i]
    for i in range(16):
        for j in range(8):
            memcpy(target + rows[i] + 8 * j, &tile[j][2 * i], 8)

# The rows are contiguous in the input, the cols in the output.
cdef void copy_tiles_4(const Block* block, const char* source, char* target) noexcept nogil:
    cdef int64_t rows[TILE_SIDE]
    cdef int64_t cols[TILE_SIDE]
    cdef int64_t height = block.rows.size * block.within_row.size
    cdef int64_t width = block.cols.size * block.within_col.size
    cdef int64_t row, col, high, wide, i, j
    cdef const char* read
    cdef char* write
    for row in range(0, height, 16):
        high = min(height - row, <int64_t> 16)
        list_offsets(row, high, block.rows.out_step, block.within_row.size, block.within_row.out_step, rows)
        for col in range(0, width, 16):
            wide = min(width - col, <int64_t> 16)
            list_offsets(col, wide, block.cols.step, block.within_col.size, block.within_col.step, cols)
            read = source + row * 4
            write = target + col * 4
            if high == 16 and wide == 16:
                copy_tile_4(read, cols, write, rows)
                continue
            for i in range(high):
                for j in range(wide):
                    (<uint32_t*> (write + rows[i]))[j] = (<const uint32_t*> (read + cols[j]))[i]

# The cols are 2 elements and the rows follow each other in the output.
cdef void interleave_2_4(const Block* block, const char* source, char* target) noexcept nogil:
    cdef const uint32_t* row0 = <const uint32_t*> (source + 0 * block.cols.step)
    cdef const uint32_t* row1 = <const uint32_t*> (source + 1 * block.cols.step)
    cdef uint32_t* out = <uint32_t*> target
    cdef int64_t step = block.rows.step // 4
    cdef int64_t i
    if step == 1:
        for i in range(block.rows.size):
            out[2 * i + 0] = row0[i]
            out[2 * i + 1] = row1[i]
    else:
        for i in range(block.rows.size):
            out[2 * i + 0] = row0[i * step]
            out[2 * i + 1] = row1[i * step]

# The rows are 2 elements and the cols follow each other in the input.
cdef void deinterleave_2_4(const Block* block, const char* source, char* target) noexcept nogil:
    cdef const uint32_t* row = <const uint32_t*> source
    cdef uint32_t* out0 = <uint32_t*> (target + 0 * block.rows.out_step)
    cdef uint32_t* out1 = <uint32_t*> (target + 1 * block.rows.out_step)
    cdef int64_t i
    for i in range(block.cols.size):
        out0[i] = row[2 * i + 0]
        out1[i] = row[2 * i + 1]

# The cols are 3 elements and the rows follow each other in the output.
cdef void interleave_3_4(const Block* block, const char* source, char* target) noexcept nogil:
    cdef const uint32_t* row0 = <const uint32_t*> (source + 0 * block.cols.step)
    cdef const uint32_t* row1 = <const uint32_t*> (source + 1 * block.cols.step)
    cdef const uint32_t* row2 = <const uint32_t*> (source + 2 * block.cols.step)
    cdef uint32_t* out = <uint32_t*> target
    cdef int64_t step = block.rows.step // 4
    cdef int64_t i
    if step == 1:
        for i in range(block.rows.size):
            out[3 * i + 0] = row0[i]
            out[3 * i + 1] = row1[i]
            out[3 * i + 2] = row2[i]
    else:
        for i in range(block.rows.size):
            out[3 * i + 0] = row0[i * step]
            out[3 * i + 1] = row1[i * step]
            out[3 * i + 2] = row2[i * step]

# The rows are 3 elements and the cols follow each other in the input.
cdef void deinterleave_3_4(const Block* block, const char* source, char* target) noexcept nogil:
    cdef const uint32_t* row = <const uint32_t*> source
    cdef uint32_t* out0 = <uint32_t*> (target + 0 * block.rows.out_step)
    cdef uint32_t* out1 = <uint32_t*> (target + 1 * block.rows.out_step)
    cdef uint32_t* out2 = <uint32_t*> (target + 2 * block.rows.out_step)
    cdef int64_t i
    for i in range(block.cols.size):
        out0[i] = row[3 * i + 0]
        out1[i] = row[3 * i + 1]
        out2[i] = row[3 * i + 2]

# The cols are 4 elements and the rows follow each other in the output.
cdef void interleave_4_4(const Block* block, const char* source, char* target) noexcept nogil:
    cdef const uint32_t* row0 = <const uint32_t*> (source + 0 * block.cols.step)
    cdef const uint32_t* row1 = <const uint32_t*> (source + 1 * block.cols.step)
    cdef const uint32_t* row2 = <const uint32_t*> (source + 2 * block.cols.step)
    cdef const uint32_t* row3 = <const uint32_t*> (source + 3 * block.cols.step)
    cdef uint32_t* out = <uint32_t*> target
    cdef int64_t step = block.rows.step // 4
    cdef int64_t i
    if step == 1:
        for i in range(block.rows.size):
            out[4 * i + 0] = row0[i]
            out[4 * i + 1] = row1[i]
            out[4 * i + 2] = row2[i]
            out[4 * i + 3] = row3[i]
    else:
        for i in range(block.rows.size):
            out[4 * i + 0] = row0[i * step]
            out[4 * i + 1] = row1[i * step]
            out[4 * i + 2] = row2[i * step]
            out[4 * i + 3] = row3[i * step]

# The rows are 4 elements and the cols follow each other in the input.
cdef void deinterleave_4_4(const Block* block, const char* source, char* target) noexcept nogil:
    cdef const uint32_t* row = <const uint32_t*> source
    cdef uint32_t* out0 = <uint32_t*> (target + 0 * block.rows.out_step)
    cdef uint32_t* out1 = <uint32_t*> (target + 1 * block.rows.out_step)
    cdef uint32_t* out2 = <uint32_t*> (target + 2 * block.rows.out_step)
    cdef uint32_t* out3 = <uint32_t*> (target + 3 * block.rows.out_step)
    cdef int64_t i
    for i in range(block.cols.size):
        out0[i] = row[4 * i + 0]
        out1[i] = row[4 * i + 1]
        out2[i] = row[4 * i + 2]
        out3[i] = row[4 * i + 3]

# The longer loop is inside, but short runs are kept together.
cdef void copy_strided_8(const Block* block, const char* source, char* target) noexcept nogil:
    cdef bint runs = block.cols.step == 8 and block.cols.out_step == 8
    cdef bint swap = not runs and block.cols.size < SHORT and block.cols.size < block.rows.size
    cdef const MoveAxis* outer = &block.cols if swap else &block.rows
    cdef const MoveAxis* inner = &block.rows if swap else &block.cols
    cdef int64_t step = inner.step // 8, out_step = inner.out_step // 8
    cdef const uint64_t* row
    cdef uint64_t* out
    cdef int64_t i, j
    for i in range(outer.size):
        row = <const uint64_t*> (source + i * outer.step)
        out = <uint64_t*> (target + i * outer.out_step)
        if out_step == 1:
            for j in range(inner.size):
                out[j] = row[j * step]
        else:
            for j in range(inner.size):
                out[j * out_step] = row[j * step]

# Transposes 8 rows and 8 cols. Each cache line is read and written once, by way of a buffer: lines a power of two
# apart would push each other out of the cache. 1 cols are woven into words, and the words are transposed.
cdef inline void copy_tile_8(const char* source, const int64_t* cols, char* target,
                             const int64_t* rows) noexcept nogil:
    cdef uint64_t tile[8][8]
    cdef const uint64_t* col0
    cdef int64_t i, j
    for j in range(8):
        col0 = <const uint64_t*> (source + cols[1 * j + 0])
        for i in range(8):
            tile[j][1 * i + 0] = col0[i]
    for i in range(8):
        for j in range(8):
            memcpy(target + rows[i] + 8 * j, &tile[j][1 * i], 8)

# The rows are contiguous in the input, the cols in the output.
cdef void copy_tiles_8(const Block* block, const char* source, char* target) noexcept nogil:
    cdef int64_t rows[TILE_SIDE]
    cdef int64_t cols[TILE_SIDE]
    cdef int64_t height = block.rows.size * block.within_row.size
    cdef int64_t width = block.cols.size * block.within_col.size
    cdef int64_t row, col, high, wide, i, j
    cdef const char* read
    cdef char* write
    for row in range(0, height, 8):
        high = min(height - row, <int64_t> 8)
        list_offsets(row, high, block.rows.out_step, block.within_row.size, block.within_row.out_step, rows)
        for col in range(0, width, 8):
            wide = min(width - col, <int64_t> 8)
            list_offsets(col, wide, block.cols.step, block.within_col.size, block.within_col.step, cols)
            read = source + row * 8
            write = target + col * 8
            if high == 8 and wide == 8:
                copy_tile_8(read, cols, write, rows)
                continue
            for i in range(high):
                for j in range(wide):
                    (<uint64_t*> (write + rows[i]))[j] = (<const uint64_t*> (read + cols[j]))[i]

# The cols are 2 elements and the rows follow each other in the output.
cdef void interleave_2_8(const Block* block, const char* source, char* target) noexcept nogil:
    cdef const uint64_t* row0 = <const uint64_t*> (source + 0 * block.cols.step)
    cdef const uint64_t* row1 = <const uint64_t*> (source + 1 * block.cols.step)
    cdef uint64_t* out = <uint64_t*> target
    cdef int64_t step = block.rows.step // 8
    cdef int64_t i
    if step == 1:
        for i in range(block.rows.size):
            out[2 * i + 0] = row0[i]
            out[2 * i + 1] = row1[i]
    else:
        for i in range(block.rows.size):
            out[2 * i + 0] = row0[i * step]
            out[2 * i + 1] = row1[i * step]

# The rows are 2 elements and the cols follow each other in the input.
cdef void deinterleave_2_8(const Block* block, const char* source, char* target) noexcept nogil:
    cdef const uint64_t* row = <const uint64_t*> source
    cdef uint64_t* out0 = <uint64_t*> (target + 0 * block.rows.out_step)
    cdef uint64_t* out1 = <uint64_t*> (target + 1 * block.rows.out_step)
    cdef int64_t i
    for i in range(block.cols.size):
        out0[i] = row[2 * i + 0]
        out1[i] = row[2 * i + 1]

# The cols are 3 elements and the rows follow each other in the output.
cdef void interleave_3_8(const Block* block, const char* source, char* target) noexcept nogil:
    cdef const uint64_t* row0 = <const uint64_t*> (source + 0 * block.cols.step)
    cdef const uint64_t* row1 = <const uint64_t*> (source + 1 * block.cols.step)
    cdef const uint64_t* row2 = <const uint64_t*> (source + 2 * block.cols.step)
    cdef uint64_t* out = <uint64_t*> target
    cdef int64_t step = block.rows.step // 8
    cdef int64_t i
    if step == 1:
        for i in range(block.rows.size):
            out[3 * i + 0] = row0[i]
            out[3 * i + 1] = row1[i]
            out[3 * i + 2] = row2[i]
    else:
        for i in range(block.rows.size):
            out[3 * i + 0] = row0[i * step]
            out[3 * i + 1] = row1[i * step]
            out[3 * i + 2] = row2[i * step]

# The rows are 3 elements and the cols follow each other in the input.
cdef void deinterleave_3_8(const Block* block, const char* source, char* target) noexcept nogil:
    cdef const uint64_t* row = <const uint64_t*> source
    cdef uint64_t* out0 = <uint64_t*> (target + 0 * block.rows.out_step)
    cdef uint64_t* out1 = <uint64_t*> (target + 1 * block.rows.out_step)
    cdef uint64_t* out2 = <uint64_t*> (target + 2 * block.rows.out_step)
    cdef int64_t i
    for i in range(block.cols.size):
        out0[i] = row[3 * i + 0]
        out1[i] = row[3 * i + 1]
        out2[i] = row[3 * i + 2]

# The cols are 4 elements and the rows follow each other in the output.
cdef void interleave_4_8(const Block* block, const char* source, char* target) noexcept nogil:
    cdef const uint64_t* row0 = <const uint64_t*> (source + 0 * block.cols.step)
    cdef const uint64_t* row1 = <const uint64_t*> (source + 1 * block.cols.step)
    cdef const uint64_t* row2 = <const uint64_t*> (source + 2 * block.cols.step)
    cdef const uint64_t* row3 = <const uint64_t*> (source + 3 * block.cols.step)
    cdef uint64_t* out = <uint64_t*> target
    cdef int64_t step = block.rows.step // 8
    cdef int64_t i
    if step == 1:
        for i in range(block.rows.size):
            out[4 * i + 0] = row0[i]
            out[4 * i + 1] = row1[i]
            out[4 * i + 2] = row2[i]
            out[4 * i + 3] = row3[i]
    else:
        for i in range(block.rows.size):
            out[4 * i + 0] = row0[i * step]
            out[4 * i + 1] = row1[i * step]
            out[4 * i + 2] = row2[i * step]
            out[4 * i + 3] = row3[i * step]

# The rows are 4 elements and the cols follow each other in the input.
cdef void deinterleave_4_8(const Block* block, const char* source, char* target) noexcept nogil:
    cdef const uint64_t* row = <const uint64_t*> source
    cdef uint64_t* out0 = <uint64_t*> (target + 0 * block.rows.out_step)
    cdef uint64_t* out1 = <uint64_t*> (target + 1 * block.rows.out_step)
    cdef uint64_t* out2 = <uint64_t*> (target + 2 * block.rows.out_step)
    cdef uint64_t* out3 = <uint64_t*> (target + 3 * block.rows.out_step)
    cdef int64_t i
    for i in range(block.cols.size):
        out0[i] = row[4 * i + 0]
        out1[i] = row[4 * i + 1]
        out2[i] = row[4 * i + 2]
        out3[i] = row[4 * i + 3]

cdef BlockCopy strided_copy(int item) noexcept nogil:
    if item == 1:
        return copy_strided_1
    if item == 2:
        return copy_strided_2
    if item == 4:
        return copy_strided_4
    if item == 8:
        return copy_strided_8
    return NULL

cdef BlockCopy tiled_copy(int item) noexcept nogil:
    if item == 1:
        return copy_tiles_1
    if item == 2:
        return copy_tiles_2
    if item == 4:
        return copy_tiles_4
    if item == 8:
        return copy_tiles_8
    return NULL

# NULL: there is no kernel for this factor.
cdef BlockCopy interleaving_copy(int item, int64_t factor) noexcept nogil:
    if item == 1 and factor == 2:
        return interleave_2_1
    if item == 1 and factor == 3:
        return interleave_3_1
    if item == 1 and factor == 4:
        return interleave_4_1
    if item == 2 and factor == 2:
        return interleave_2_2
    if item == 2 and factor == 3:
        return interleave_3_2
    if item == 2 and factor == 4:
        return interleave_4_2
    if item == 4 and factor == 2:
        return interleave_2_4
    if item == 4 and factor == 3:
        return interleave_3_4
    if item == 4 and factor == 4:
        return interleave_4_4
    if item == 8 and factor == 2:
        return interleave_2_8
    if item == 8 and factor == 3:
        return interleave_3_8
    if item == 8 and factor == 4:
        return interleave_4_8
    return NULL

cdef BlockCopy deinterleaving_copy(int item, int64_t factor) noexcept nogil:
    if item == 1 and factor == 2:
        return deinterleave_2_1
    if item == 1 and factor == 3:
        return deinterleave_3_1
    if item == 1 and factor == 4:
        return deinterleave_4_1
    if item == 2 and factor == 2:
        return deinterleave_2_2
    if item == 2 and factor == 3:
        return deinterleave_3_2
    if item == 2 and factor == 4:
        return deinterleave_4_2
    if item == 4 and factor == 2:
        return deinterleave_2_4
    if item == 4 and factor == 3:
        return deinterleave_3_4
    if item == 4 and factor == 4:
        return deinterleave_4_4
    if item == 8 and factor == 2:
        return deinterleave_2_8
    if item == 8 and factor == 3:
        return deinterleave_3_8
    if item == 8 and factor == 4:
        return deinterleave_4_8
    return NULL

# Items are blocks.
cdef int move_blocks(const void* args, int64_t begin, int64_t end) noexcept nogil:
    cdef const MovePlan* plan = <const MovePlan*> args
    cdef const char* source = plan.input
    cdef char* target = plan.output
    cdef int64_t at[MAX_AXES + 2]
    cdef int64_t rest = begin
    cdef Block block = plan.block
    cdef int d
    for d in range(plan.outers - 1, -1, -1):
        at[d] = rest % plan.outer[d].size
        rest //= plan.outer[d].size
        source += at[d] * plan.outer[d].step
        target += at[d] * plan.outer[d].out_step
    for _ in range(begin, end):
        block.rows.size = min(plan.row_piece, plan.block.rows.size - at[plan.row_axis] * plan.row_piece)
        block.cols.size = min(plan.col_piece, plan.block.cols.size - at[plan.col_axis] * plan.col_piece)
        plan.copy(&block, source, target)
        d = plan.outers - 1
        while d >= 0 and at[d] + 1 == plan.outer[d].size:
            source -= at[d] * plan.outer[d].step
            target -= at[d] * plan.outer[d].out_step
            at[d] = 0
            d -= 1
        if d >= 0:
            source += plan.outer[d].step
            target += plan.outer[d].out_step
            at[d] += 1
    return 0

# The axes of more than one element, the one with the largest step of the output first. Axes that the output runs
# through backwards are turned round.
cdef void collect_axes(MovePlan* plan, const Rearrange* a) noexcept nogil:
    cdef MoveAxis axis
    cdef int d, to
    plan.input = a.input
    plan.output = a.output
    plan.item = a.item
    plan.outers = 0
    for d in range(a.rank):
        if a.sizes[d] == 1:
            continue
        axis.size = a.sizes[d]
        axis.step = a.input_strides[d]
        axis.out_step = a.output_strides[d]
        if axis.out_step < 0:
            plan.input += (axis.size - 1) * axis.step
            plan.output += (axis.size - 1) * axis.out_step
            axis.step = -axis.step
            axis.out_step = -axis.out_step
        to = plan.outers
        while to > 0 and plan.outer[to - 1].out_step < axis.out_step:
            plan.outer[to] = plan.outer[to - 1]
            to -= 1
        plan.outer[to] = axis
        plan.outers += 1

# Joins axes that lie one after the other in both tensors.
cdef void merge_axes(MovePlan* plan) noexcept nogil:
    cdef MoveAxis* last
    cdef MoveAxis axis
    cdef int kept = 0
    cdef int d
    for d in range(plan.outers):
        axis = plan.outer[d]
        last = &plan.outer[kept - 1] if kept > 0 else NULL
        if last != NULL and last.step == axis.size * axis.step and last.out_step == axis.size * axis.out_step:
            last.size *= axis.size
            last.step = axis.step
            last.out_step = axis.out_step
        else:
            plan.outer[kept] = axis
            kept += 1
    plan.outers = kept

# Takes axis d out of the outer axes.
cdef MoveAxis take_axis(MovePlan* plan, int d) noexcept nogil:
    cdef MoveAxis axis = plan.outer[d]
    plan.outers -= 1
    while d < plan.outers:
        plan.outer[d] = plan.outer[d + 1]
        d += 1
    return axis

# Whether everything is a multiple of `wide` bytes, so that so many can be one element.
cdef bint fits_wide(const MovePlan* plan, int64_t wide) noexcept nogil:
    cdef int d
    if <size_t> plan.input % <size_t> wide != 0 or <size_t> plan.output % <size_t> wide != 0:
        return False
    for d in range(plan.outers - 1):
        if plan.outer[d].step % wide != 0 or plan.outer[d].out_step % wide != 0:
            return False
    return plan.outer[plan.outers - 1].size * plan.item % wide == 0

# Elements that lie together in both tensors, but only a few of them, are moved as wider elements.
cdef void widen(MovePlan* plan) noexcept nogil:
    cdef MoveAxis* last
    cdef int wide = 8
    if plan.outers == 0:
        return
    last = &plan.outer[plan.outers - 1]
    if last.step != plan.item or last.out_step != plan.item or last.size >= SHORT:
        return
    while wide > plan.item and not fits_wide(plan, wide):
        wide //= 2
    last.size = last.size * plan.item // wide
    last.step = last.out_step = plan.item = wide
    if last.size == 1:
        plan.outers -= 1

# The outer axis along which the input advances by `step`; -1: there is none.
cdef int axis_of_step(const MovePlan* plan, int64_t step) noexcept nogil:
    cdef int d
    for d in range(plan.outers - 1, -1, -1):
        if plan.outer[d].step == step:
            return d
    return -1

cdef int axis_of_out_step(const MovePlan* plan, int64_t out_step) noexcept nogil:
    cdef int d
    for d in range(plan.outers - 1, -1, -1):
        if plan.outer[d].out_step == out_step:
            return d
    return -1

# Makes outer axis d the rows of tiles. Axes shorter than a tile take the axis that follows them to themselves.
cdef void choose_tiles(MovePlan* plan, int d) noexcept nogil:
    cdef Block* block = &plan.block
    block.rows = take_axis(plan, d)
    d = axis_of_step(plan, block.rows.size * plan.item)
    if block.rows.size * plan.item < TILE_BYTES and d >= 0:
        block.within_row = block.rows
        block.rows = take_axis(plan, d)
    d = axis_of_out_step(plan, block.cols.size * plan.item)
    if block.cols.size * plan.item < TILE_BYTES and d >= 0:
        block.within_col = block.cols
        block.cols = take_axis(plan, d)
    plan.copy = tiled_copy(plan.item)

# Chooses the two axes of a block and the kernel that copies it.
cdef void choose_block(MovePlan* plan) noexcept nogil:
    cdef int64_t item = plan.item
    cdef MoveAxis* cols = &plan.block.cols
    cdef MoveAxis* rows = &plan.block.rows
    cdef int64_t few
    cdef int d
    cols.size = rows.size = 1
    cols.step = cols.out_step = item
    rows.step = rows.out_step = 0
    plan.block.within_row = plan.block.within_col = rows[0]
    plan.copy = strided_copy(plan.item)
    if plan.outers > 0:
        cols[0] = take_axis(plan, plan.outers - 1)
    if cols.step == item and cols.out_step == item:
        if cols.size >= SHORT or plan.outers == 0:
            plan.copy = copy_runs
    elif cols.out_step == item:
        d = axis_of_step(plan, item)
        few = cols.size
        if d >= 0 and plan.outer[d].out_step == few * item and interleaving_copy(plan.item, few) != NULL:
            plan.copy = interleaving_copy(plan.item, few)
            rows[0] = take_axis(plan, d)
            return
        few = plan.outer[d].size if d >= 0 else 0
        if cols.step == few * item and deinterleaving_copy(plan.item, few) != NULL:
            plan.copy = deinterleaving_copy(plan.item, few)
            rows[0] = take_axis(plan, d)
            return
        if d >= 0:
            choose_tiles(plan, d)
            return
        d = axis_of_out_step(plan, cols.size * item)
        if d >= 0 and interleaving_copy(plan.item, cols.size) != NULL:
            plan.copy = interleaving_copy(plan.item, cols.size)
            rows[0] = take_axis(plan, d)
            return
    if plan.outers > 0:
        rows[0] = take_axis(plan, plan.outers - 1)

# The next block shall read the cache lines that this one has read.
cdef void sort_by_input(MovePlan* plan) noexcept nogil:
    cdef MoveAxis axis
    cdef int d, to
    for d in range(1, plan.outers):
        axis = plan.outer[d]
        to = d
        while to > 0 and magnitude(plan.outer[to - 1].step) < magnitude(axis.step):
            plan.outer[to] = plan.outer[to - 1]
            to -= 1
        plan.outer[to] = axis

# Adds the outer axis that counts the pieces of a block's axis.
cdef void cut(MovePlan* plan, int to, const MoveAxis* axis, int64_t piece) noexcept nogil:
    cdef int d = plan.outers
    while d > to:
        plan.outer[d] = plan.outer[d - 1]
        d -= 1
    plan.outer[to].size = (axis.size + piece - 1) // piece
    plan.outer[to].step = axis.step * piece
    plan.outer[to].out_step = axis.out_step * piece
    plan.outers += 1

# Cuts blocks into pieces that suit the cache and the threads.
cdef void choose_pieces(MovePlan* plan) noexcept nogil:
    cdef MoveAxis* rows = &plan.block.rows
    cdef MoveAxis* cols = &plan.block.cols
    cdef bint tiled = plan.copy == tiled_copy(plan.item)
    cdef bint in_rows = tiled or (cols.step == plan.item and cols.size >= SHORT) or rows.step == plan.item
    cdef int64_t most = TILES * TILE_BYTES if tiled else PIECE_BYTES if in_rows else STRIDED_POSITIONS * plan.item
    most //= plan.item
    if tiled:
        plan.col_piece = min(cols.size, most // plan.block.within_col.size)
        plan.row_piece = min(rows.size, most // plan.block.within_row.size)
    elif rows.step == plan.item and rows.size < SHORT:
        plan.row_piece = rows.size
        plan.col_piece = min(cols.size, most // rows.size)
    else:
        plan.col_piece = min(cols.size, most)
        plan.row_piece = min(rows.size, max(most // plan.col_piece, <int64_t> 1))
    if not in_rows:
        sort_by_input(plan)
    plan.row_axis = 0 if not in_rows else plan.outers
    cut(plan, plan.row_axis, rows, plan.row_piece)
    plan.col_axis = plan.row_axis + 1
    cut(plan, plan.col_axis, cols, plan.col_piece)

# Returns 0, or -1 when memory ran out.
cdef int rearrange(Rearrange* a) noexcept nogil:
    cdef MovePlan plan
    cdef int64_t bytes
    cdef int d
    collect_axes(&plan, a)
    merge_axes(&plan)
    widen(&plan)
    choose_block(&plan)
    choose_pieces(&plan)
    plan.blocks = 1
    for d in range(plan.outers):
        plan.blocks *= plan.outer[d].size
    bytes = plan.row_piece * plan.block.within_row.size * plan.col_piece * plan.block.within_col.size * plan.item
    return parallel_for(move_blocks, &plan, plan.blocks, grain_of(bytes))


cdef dict DepthSpaceOrder_NAMES = {
    "DEPTH_COLUMN_ROW": 0,
    "DML_DEPTH_SPACE_ORDER_DEPTH_COLUMN_ROW": 0,
    "COLUMN_ROW_DEPTH": 1,
    "DML_DEPTH_SPACE_ORDER_COLUMN_ROW_DEPTH": 1,
}


# DEPTH_TO_SPACE1

cdef struct DepthToSpace1:
    Tensor input
    Tensor output
    int64_t block_size
    int64_t order
    int64_t N
    int64_t C
    int64_t H
    int64_t W
    int64_t block

# By feature level, the values allowed (bit n: value n): data types, ranks, enum members.
cdef uint32_t[15] DEPTH_TO_SPACE1_T = [
    0x0, 0x0, 0x1fe, 0x1fe, 0x1fe, 0x1fe, 0x1fe, 0xffe,
    0xffe, 0xffe, 0xffe, 0xffe, 0xffe, 0xffe, 0xffe,
]
cdef uint32_t[15] DEPTH_TO_SPACE1_R_RANKS = [
    0x10, 0x10, 0x10, 0x10, 0x10, 0x10, 0x10, 0x10,
    0x10, 0x10, 0x10, 0x10, 0x10, 0x10, 0x10,
]
cdef uint32_t[15] DEPTH_TO_SPACE1_DEPTH_SPACE_ORDER = [
    0x0, 0x0, 0x3, 0x3, 0x3, 0x3, 0x3, 0x3,
    0x3, 0x3, 0x3, 0x3, 0x3, 0x3, 0x3,
]


# Whether the operator and its inputs hold at the level.
cdef bint depth_to_space1_inputs_hold(DepthToSpace1* a, int level) noexcept nogil:
    return (
        level >= 2
        and tensor_holds(&a.input, DEPTH_TO_SPACE1_T[level], DEPTH_TO_SPACE1_R_RANKS[level])
    )


# Takes the attributes from Python; 0 where one is not acceptable.
cdef int depth_to_space1_take(
    DepthToSpace1* a,
    int level,
    object block_size,
    object order,
) except -1:
    if not take_uint(block_size, 1, 4294967295, &a.block_size):
        return 0
    if not take_enum(order, DepthSpaceOrder, DepthSpaceOrder_NAMES, &a.order):
        return 0
    if not (DEPTH_TO_SPACE1_DEPTH_SPACE_ORDER[level] >> a.order) & 1:
        return 0
    return 1


# Computes the lets and the sizes of the output; whether every rule holds. An int64 that overflows does not hold.
cdef bint depth_to_space1_holds(DepthToSpace1* a, int level) noexcept nogil:
    cdef bint overflow = False
    a.C = a.input.sizes[1]
    a.block = checked_mul(a.block_size, a.block_size, &overflow)
    # block_size-divides
    if not (a.C % a.block == 0):
        return False
    a.N = a.input.sizes[0]
    a.H = a.input.sizes[2]
    a.W = a.input.sizes[3]
    a.output.dtype = a.input.dtype
    a.output.item = a.input.item
    a.output.rank = 0
    if not append_size(&a.output, a.N):
        return False
    if not append_size(&a.output, a.C // a.block):
        return False
    if not append_size(&a.output, checked_mul(a.H, a.block_size, &overflow)):
        return False
    if not append_size(&a.output, checked_mul(a.W, a.block_size, &overflow)):
        return False
    if not tensor_holds(&a.output, DEPTH_TO_SPACE1_T[level], DEPTH_TO_SPACE1_R_RANKS[level]):
        return False
    return not overflow


cdef int depth_to_space1_run(const DepthToSpace1* a) noexcept nogil:
    cdef Rearrange work
    cdef int64_t n
    cdef int64_t b1
    cdef int64_t b2
    cdef int64_t c
    cdef int64_t h
    cdef int64_t w
    work.item = a.input.item
    work.input = a.input.data
    work.output = a.output.data
    if a.order == 0:
        # n (b1 b2 c) h w -> n c (h b1) (w b2)
        n = a.input.sizes[0]
        b1 = a.block_size
        b2 = a.block_size
        c = a.input.sizes[1] // (b1 * b2)
        h = a.input.sizes[2]
        w = a.input.sizes[3]
        work.rank = 6
        work.sizes[0] = n
        work.input_strides[0] = a.input.strides[0]
        work.output_strides[0] = a.output.strides[0]
        work.sizes[1] = c
        work.input_strides[1] = a.input.strides[1]
        work.output_strides[1] = a.output.strides[1]
        work.sizes[2] = h
        work.input_strides[2] = a.input.strides[2]
        work.output_strides[2] = a.output.strides[2] * b1
        work.sizes[3] = b1
        work.input_strides[3] = a.input.strides[1] * b2 * c
        work.output_strides[3] = a.output.strides[2]
        work.sizes[4] = w
        work.input_strides[4] = a.input.strides[3]
        work.output_strides[4] = a.output.strides[3] * b2
        work.sizes[5] = b2
        work.input_strides[5] = a.input.strides[1] * c
        work.output_strides[5] = a.output.strides[3]
    else:
        # n (c b1 b2) h w -> n c (h b1) (w b2)
        n = a.input.sizes[0]
        b1 = a.block_size
        b2 = a.block_size
        c = a.input.sizes[1] // (b1 * b2)
        h = a.input.sizes[2]
        w = a.input.sizes[3]
        work.rank = 6
        work.sizes[0] = n
        work.input_strides[0] = a.input.strides[0]
        work.output_strides[0] = a.output.strides[0]
        work.sizes[1] = c
        work.input_strides[1] = a.input.strides[1] * b1 * b2
        work.output_strides[1] = a.output.strides[1]
        work.sizes[2] = h
        work.input_strides[2] = a.input.strides[2]
        work.output_strides[2] = a.output.strides[2] * b1
        work.sizes[3] = b1
        work.input_strides[3] = a.input.strides[1] * b2
        work.output_strides[3] = a.output.strides[2]
        work.sizes[4] = w
        work.input_strides[4] = a.input.strides[3]
        work.output_strides[4] = a.output.strides[3] * b2
        work.sizes[5] = b2
        work.input_strides[5] = a.input.strides[1]
        work.output_strides[5] = a.output.strides[3]
    return rearrange(&work)


# Runs on checked fields. None: `out` is not acceptable, and nothing was written.
cdef object depth_to_space1_call(DepthToSpace1* a, ndarray input_array, object out):
    cdef ndarray output_array, result
    cdef object recordings = current_recordings()
    cdef int status
    if out is None:
        output_array = result = new_array(&a.output)
    else:
        output_array = out_array(out, &a.output)
        if (
            output_array is None
            or overlaps_itself(output_array, &a.output)
            or overlap(output_array, &a.output, input_array, &a.input)
        ):
            return None
        result = aligned(output_array, &a.output)
    if not unchanged(input_array, &a.input):
        raise RuntimeError("depth_to_space1(): input was changed during the call")
    if recordings is None:
        input_array = aligned(input_array, &a.input)
    else:
        input_array = packed(input_array, &a.input)
    if is_brief(&a.input) and is_brief(&a.output):
        status = depth_to_space1_run(a)
    else:
        with nogil:
            status = depth_to_space1_run(a)
    if status != 0:
        raise MemoryError("depth_to_space1: no memory for scratch rows")
    write_back(output_array, result)
    if recordings is not None:
        keep(recordings, "DEPTH_TO_SPACE1", {
            "input": input_array,
            "output": packed(result, &a.output),
            "block_size": a.block_size,
            "order": DepthSpaceOrder(a.order),
        })
    return output_array if out is None else out


def depth_to_space1(
    input,
    *,
    block_size,
    order='DEPTH_COLUMN_ROW',
    out=None,
):
    """Move channels into blocks of the spatial axes, in the order given.

    Parameters
    ----------
    input : array_like, FLOAT32, FLOAT16, INT32, INT16, INT8, UINT32, UINT16, UINT8, FLOAT64, INT64, UINT64; rank 4
        Tensor of sizes {N, C, H, W}.
    block_size : int, at least 1
        Height and width of a block.
    order : DepthSpaceOrder, default 'DEPTH_COLUMN_ROW'
        How a block lies in the channels of the input: with the block first, or with the output channels first.
    out : array, optional
        Where the result is written: any layout, the data type and sizes of the result, no memory shared with an input.

    Returns
    -------
    array
        Tensor whose blocks of BlockSize by BlockSize elements come from the channels of the input.
        Sizes ``[N, C // block, H * block_size, W * block_size]``.

    Notes
    -----
    N = sizes(input)[0]
        Batch size.
    C = sizes(input)[1]
        Channels of the input.
    H = sizes(input)[2]
        Height of the input.
    W = sizes(input)[3]
        Width of the input.
    block = block_size * block_size
        Elements of a block: input channels that one output channel takes.

    Raises
    ------
    InvalidDescError, InvalidDataTypeError, FeatureLevelError
        With every violation in ``.violations``: those of each field (data type, rank, range, length), and

        ``DML-DEPTH_TO_SPACE1-block_size-divides``
            block_size does not divide the channels. Must hold:
            ``C % block == 0``

    References
    ----------
    DEPTH_TO_SPACE1, feature level 2_1:
    https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_depth_to_space1_operator_desc
    """
    cdef DepthToSpace1 a
    cdef int level = current_level()
    cdef ndarray input_array = as_array(input)
    cdef object result
    if (
        view(input_array, &a.input)
        and depth_to_space1_inputs_hold(&a, level)
        and depth_to_space1_take(
            &a, level, block_size, order
        )
        and depth_to_space1_holds(&a, level)
    ):
        result = depth_to_space1_call(&a, input_array, out)
        if result is not None:
            return result
    return refuse("DEPTH_TO_SPACE1", {
        "input": input,
        "block_size": block_size,
        "order": order,
        "out": out,
    }, level)


cdef class DepthToSpace1Operator(CompiledOperator):
    """DEPTH_TO_SPACE1, checked once: called with arrays of the sizes and data types of its desc."""

    cdef DepthToSpace1 fields

    def __cinit__(self, *args, **kwargs):
        self.inputs = 1

    def __init__(self, desc, int level):
        cdef DepthToSpace1 a
        cdef Tensor computed
        if not (
            describe(desc.input, &a.input)
            and depth_to_space1_inputs_hold(&a, level)
            and depth_to_space1_take(
                &a, level, desc.block_size, desc.order
            )
            and depth_to_space1_holds(&a, level)
        ):
            refuse_desc(desc, level)
        computed = a.output
        if not (
            describe(desc.output, &a.output)
            and as_computed(&a.output, &computed)
        ):
            refuse_desc(desc, level)
        self.fields = a
        self.desc = desc
        self.level = level

    def __call__(
        self,
        input,
        *,
        out=None,
    ):
        cdef PyObject** inputs = [
            <PyObject*>input,
        ]
        return self.run(inputs, out)

    cdef object run(self, PyObject* const* inputs, object out):
        cdef DepthToSpace1 a = self.fields
        cdef ndarray input_array = match(<object>inputs[0], &a.input)
        cdef object result
        if (
            input_array is not None
        ):
            result = depth_to_space1_call(&a, input_array, out)
            if result is not None:
                return result
        return refuse_call(self.desc, {
            "input": <object>inputs[0],
            "out": out,
        })


take_vectorcalls(DepthToSpace1Operator)
