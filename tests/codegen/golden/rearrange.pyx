# cython: language_level=3
"""rearrange: DEPTH_TO_SPACE."""

from cpython.object cimport PyObject
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy
from numpy cimport ndarray
from dmlcy._runtime.arguments cimport take_uint
from dmlcy._runtime.checks cimport append_size, ceil_div, checked_mul, magnitude, tensor_holds
from dmlcy._runtime.compiled cimport CompiledOperator, as_computed, describe, match, take_vectorcalls, unchanged
from dmlcy._runtime.level cimport current_level
from dmlcy._runtime.moves cimport (
    dmlcy_ask, dmlcy_split_3_1, dmlcy_split_3_2, dmlcy_split_3_4, dmlcy_touch, dmlcy_turn_1, dmlcy_turn_2, dmlcy_turn_4,
    dmlcy_turn_8, dmlcy_turn_tiles_1, dmlcy_turn_tiles_2, dmlcy_turn_tiles_4, dmlcy_turn_tiles_8, dmlcy_weave_3_1,
    dmlcy_weave_3_2, DMLCY_TURNS,
)
from dmlcy._runtime.recording cimport current_recordings, packed
from dmlcy._runtime.copy cimport dmlcy_copy
from dmlcy._runtime.stream cimport (
    dmlcy_stream, dmlcy_stream_advance, dmlcy_stream_begin, dmlcy_stream_end, dmlcy_stream_put, dmlcy_stream_room,
    dmlcy_stream_seek, DMLCY_LINE, DMLCY_ROOM, stream_pays,
)
from dmlcy._runtime.tensor cimport (
    Tensor, aligned, as_array, is_brief, new_array, out_array, overlap, overlaps_itself, view, write_back,
)
from dmlcy._runtime.threads cimport SERIAL_BYTES, grain_of, parallel_for

cdef enum:
    LEVEL_1_0 = 0
    LEVELS = 15


# Moving elements between two layouts: a strided copy of any number of axes.
#
# The axes are sorted and joined, and a few of them are chosen for a block: the innermost ones of the output, and the
# innermost one of the input. Both tensors are then passed through in full cache lines: blocks whose rows are not
# contiguous in the input go through cells, which stay in the first-level cache. The other axes count the blocks.

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

# Loops that families share whose operators only move elements. Steps and pitches are bytes: steps of the input, pitches
# of what is written.

cdef inline void gather_row_1(const char* source, int64_t step, char* target, int64_t count) noexcept nogil:
    cdef const uint8_t* elements = <const uint8_t*> source
    cdef uint8_t* out = <uint8_t*> target
    cdef int64_t i
    if step == 1:
        dmlcy_copy(target, source, count * 1)
    elif step == 2:
        for i in range(count):
            out[i] = elements[2 * i]
    elif step == 3:
        for i in range(count):
            out[i] = elements[3 * i]
    elif step == 4:
        for i in range(count):
            out[i] = elements[4 * i]
    elif step == -1:
        for i in range(count):
            out[i] = elements[-1 * i]
    else:
        for i in range(count):
            out[i] = (<const uint8_t*> (source + i * step))[0]

# Puts elements of a row together that lie `step` apart, in so many rows.
cdef void gather_1(const char* source, int64_t row_step, int64_t step, char* target, int64_t pitch,
                   int64_t rows, int64_t count) noexcept nogil:
    for _ in range(rows):
        gather_row_1(source, step, target, count)
        source += row_step
        target += pitch

# Row i, of 2 elements, begins behind row i-1.
cdef inline void split_2_1(const char* source, int64_t height, char* target, int64_t pitch) noexcept nogil:
    cdef const uint8_t* elements = <const uint8_t*> source
    cdef uint8_t* out0 = <uint8_t*> (target + 0 * pitch)
    cdef uint8_t* out1 = <uint8_t*> (target + 1 * pitch)
    cdef int64_t i
    for i in range(height):
        out0[i] = elements[2 * i + 0]
        out1[i] = elements[2 * i + 1]

# Row i, of 3 elements, begins behind row i-1.
cdef inline void split_3_1(const char* source, int64_t height, char* target, int64_t pitch) noexcept nogil:
    cdef const uint8_t* elements = <const uint8_t*> source
    cdef uint8_t* out0 = <uint8_t*> (target + 0 * pitch)
    cdef uint8_t* out1 = <uint8_t*> (target + 1 * pitch)
    cdef uint8_t* out2 = <uint8_t*> (target + 2 * pitch)
    cdef int64_t i
    for i in range(dmlcy_split_3_1(source, height, target, pitch), height):
        out0[i] = elements[3 * i + 0]
        out1[i] = elements[3 * i + 1]
        out2[i] = elements[3 * i + 2]

# Row i, of 4 elements, begins behind row i-1.
cdef inline void split_4_1(const char* source, int64_t height, char* target, int64_t pitch) noexcept nogil:
    cdef const uint8_t* elements = <const uint8_t*> source
    cdef uint8_t* out0 = <uint8_t*> (target + 0 * pitch)
    cdef uint8_t* out1 = <uint8_t*> (target + 1 * pitch)
    cdef uint8_t* out2 = <uint8_t*> (target + 2 * pitch)
    cdef uint8_t* out3 = <uint8_t*> (target + 3 * pitch)
    cdef int64_t i
    for i in range(height):
        out0[i] = elements[4 * i + 0]
        out1[i] = elements[4 * i + 1]
        out2[i] = elements[4 * i + 2]
        out3[i] = elements[4 * i + 3]

# Row i, of `width` elements, begins at source + rows[i]; column j goes to target + j * pitch.
cdef void transpose_1(const char* source, const int64_t* rows, int64_t height, int64_t width, char* target,
                      int64_t pitch) noexcept nogil:
    cdef int64_t cols = 16, i = 0, j, col, some
    if (width == 2 and height > 1 and rows[1] - rows[0] == 2
            and rows[height - 1] - rows[0] == (height - 1) * 2):
        split_2_1(source + rows[0], height, target, pitch)
        return
    if (width == 3 and height > 1 and rows[1] - rows[0] == 3
            and rows[height - 1] - rows[0] == (height - 1) * 3):
        split_3_1(source + rows[0], height, target, pitch)
        return
    if (width == 4 and height > 1 and rows[1] - rows[0] == 4
            and rows[height - 1] - rows[0] == (height - 1) * 4):
        split_4_1(source + rows[0], height, target, pitch)
        return
    while cols > width:
        cols //= 2
    if not DMLCY_TURNS or height < 16 or cols == 1 or cols * 1 < 4:
        for j in range(width):
            for i in range(height):
                (<uint8_t*> (target + j * pitch))[i] = (<const uint8_t*> (source + rows[i]))[j]
        return
    # A few rows at a time, whose cache lines stay for all columns. The last rows and columns overlap others.
    while i < height:
        i = min(i, height - 16)
        some = min(height - i, <int64_t> 16) // 16 * 16
        j = 0
        while j < width:
            col = min(j, width - cols)
            dmlcy_turn_1(source + col * 1, rows + i, some, cols, target + col * pitch + i * 1, pitch)
            j += cols
        i += some

cdef inline void gather_row_2(const char* source, int64_t step, char* target, int64_t count) noexcept nogil:
    cdef const uint16_t* elements = <const uint16_t*> source
    cdef uint16_t* out = <uint16_t*> target
    cdef int64_t i
    if step == 2:
        dmlcy_copy(target, source, count * 2)
    elif step == 4:
        for i in range(count):
            out[i] = elements[2 * i]
    elif step == 6:
        for i in range(count):
            out[i] = elements[3 * i]
    elif step == 8:
        for i in range(count):
            out[i] = elements[4 * i]
    elif step == -2:
        for i in range(count):
            out[i] = elements[-1 * i]
    else:
        for i in range(count):
            out[i] = (<const uint16_t*> (source + i * step))[0]

# Puts elements of a row together that lie `step` apart, in so many rows.
cdef void gather_2(const char* source, int64_t row_step, int64_t step, char* target, int64_t pitch,
                   int64_t rows, int64_t count) noexcept nogil:
    for _ in range(rows):
        gather_row_2(source, step, target, count)
        source += row_step
        target += pitch

# Row i, of 2 elements, begins behind row i-1.
cdef inline void split_2_2(const char* source, int64_t height, char* target, int64_t pitch) noexcept nogil:
    cdef const uint16_t* elements = <const uint16_t*> source
    cdef uint16_t* out0 = <uint16_t*> (target + 0 * pitch)
    cdef uint16_t* out1 = <uint16_t*> (target + 1 * pitch)
    cdef int64_t i
    for i in range(height):
        out0[i] = elements[2 * i + 0]
        out1[i] = elements[2 * i + 1]

# Row i, of 3 elements, begins behind row i-1.
cdef inline void split_3_2(const char* source, int64_t height, char* target, int64_t pitch) noexcept nogil:
    cdef const uint16_t* elements = <const uint16_t*> source
    cdef uint16_t* out0 = <uint16_t*> (target + 0 * pitch)
    cdef uint16_t* out1 = <uint16_t*> (target + 1 * pitch)
    cdef uint16_t* out2 = <uint16_t*> (target + 2 * pitch)
    cdef int64_t i
    for i in range(dmlcy_split_3_2(source, height, target, pitch), height):
        out0[i] = elements[3 * i + 0]
        out1[i] = elements[3 * i + 1]
        out2[i] = elements[3 * i + 2]

# Row i, of `width` elements, begins at source + rows[i]; column j goes to target + j * pitch.
cdef void transpose_2(const char* source, const int64_t* rows, int64_t height, int64_t width, char* target,
                      int64_t pitch) noexcept nogil:
    cdef int64_t cols = 8, i = 0, j, col, some
    if (width == 2 and height > 1 and rows[1] - rows[0] == 4
            and rows[height - 1] - rows[0] == (height - 1) * 4):
        split_2_2(source + rows[0], height, target, pitch)
        return
    if (width == 3 and height > 1 and rows[1] - rows[0] == 6
            and rows[height - 1] - rows[0] == (height - 1) * 6):
        split_3_2(source + rows[0], height, target, pitch)
        return
    while cols > width:
        cols //= 2
    if not DMLCY_TURNS or height < 8 or cols == 1 or cols * 2 < 4:
        for j in range(width):
            for i in range(height):
                (<uint16_t*> (target + j * pitch))[i] = (<const uint16_t*> (source + rows[i]))[j]
        return
    # A few rows at a time, whose cache lines stay for all columns. The last rows and columns overlap others.
    while i < height:
        i = min(i, height - 8)
        some = min(height - i, <int64_t> 8) // 8 * 8
        j = 0
        while j < width:
            col = min(j, width - cols)
            dmlcy_turn_2(source + col * 2, rows + i, some, cols, target + col * pitch + i * 2, pitch)
            j += cols
        i += some

cdef inline void gather_row_4(const char* source, int64_t step, char* target, int64_t count) noexcept nogil:
    cdef const uint32_t* elements = <const uint32_t*> source
    cdef uint32_t* out = <uint32_t*> target
    cdef int64_t i
    if step == 4:
        dmlcy_copy(target, source, count * 4)
    elif step == 8:
        for i in range(count):
            out[i] = elements[2 * i]
    elif step == 12:
        for i in range(count):
            out[i] = elements[3 * i]
    elif step == 16:
        for i in range(count):
            out[i] = elements[4 * i]
    elif step == -4:
        for i in range(count):
            out[i] = elements[-1 * i]
    else:
        for i in range(count):
            out[i] = (<const uint32_t*> (source + i * step))[0]

# Puts elements of a row together that lie `step` apart, in so many rows.
cdef void gather_4(const char* source, int64_t row_step, int64_t step, char* target, int64_t pitch,
                   int64_t rows, int64_t count) noexcept nogil:
    for _ in range(rows):
        gather_row_4(source, step, target, count)
        source += row_step
        target += pitch

# Row i, of 2 elements, begins behind row i-1.
cdef inline void split_2_4(const char* source, int64_t height, char* target, int64_t pitch) noexcept nogil:
    cdef const uint32_t* elements = <const uint32_t*> source
    cdef uint32_t* out0 = <uint32_t*> (target + 0 * pitch)
    cdef uint32_t* out1 = <uint32_t*> (target + 1 * pitch)
    cdef int64_t i
    for i in range(height):
        out0[i] = elements[2 * i + 0]
        out1[i] = elements[2 * i + 1]

# Row i, of 3 elements, begins behind row i-1.
cdef inline void split_3_4(const char* source, int64_t height, char* target, int64_t pitch) noexcept nogil:
    cdef const uint32_t* elements = <const uint32_t*> source
    cdef uint32_t* out0 = <uint32_t*> (target + 0 * pitch)
    cdef uint32_t* out1 = <uint32_t*> (target + 1 * pitch)
    cdef uint32_t* out2 = <uint32_t*> (target + 2 * pitch)
    cdef int64_t i
    for i in range(dmlcy_split_3_4(source, height, target, pitch), height):
        out0[i] = elements[3 * i + 0]
        out1[i] = elements[3 * i + 1]
        out2[i] = elements[3 * i + 2]

# Row i, of 4 elements, begins behind row i-1.
cdef inline void split_4_4(const char* source, int64_t height, char* target, int64_t pitch) noexcept nogil:
    cdef const uint32_t* elements = <const uint32_t*> source
    cdef uint32_t* out0 = <uint32_t*> (target + 0 * pitch)
    cdef uint32_t* out1 = <uint32_t*> (target + 1 * pitch)
    cdef uint32_t* out2 = <uint32_t*> (target + 2 * pitch)
    cdef uint32_t* out3 = <uint32_t*> (target + 3 * pitch)
    cdef int64_t i
    for i in range(height):
        out0[i] = elements[4 * i + 0]
        out1[i] = elements[4 * i + 1]
        out2[i] = elements[4 * i + 2]
        out3[i] = elements[4 * i + 3]

# Row i, of `width` elements, begins at source + rows[i]; column j goes to target + j * pitch.
cdef void transpose_4(const char* source, const int64_t* rows, int64_t height, int64_t width, char* target,
                      int64_t pitch) noexcept nogil:
    cdef int64_t cols = 4, i = 0, j, col, some
    if (width == 2 and height > 1 and rows[1] - rows[0] == 8
            and rows[height - 1] - rows[0] == (height - 1) * 8):
        split_2_4(source + rows[0], height, target, pitch)
        return
    if (width == 3 and height > 1 and rows[1] - rows[0] == 12
            and rows[height - 1] - rows[0] == (height - 1) * 12):
        split_3_4(source + rows[0], height, target, pitch)
        return
    if (width == 4 and height > 1 and rows[1] - rows[0] == 16
            and rows[height - 1] - rows[0] == (height - 1) * 16):
        split_4_4(source + rows[0], height, target, pitch)
        return
    while cols > width:
        cols //= 2
    if not DMLCY_TURNS or height < 4 or cols == 1 or cols * 4 < 4:
        for j in range(width):
            for i in range(height):
                (<uint32_t*> (target + j * pitch))[i] = (<const uint32_t*> (source + rows[i]))[j]
        return
    # A few rows at a time, whose cache lines stay for all columns. The last rows and columns overlap others.
    while i < height:
        i = min(i, height - 4)
        some = min(height - i, <int64_t> 8) // 4 * 4
        j = 0
        while j < width:
            col = min(j, width - cols)
            dmlcy_turn_4(source + col * 4, rows + i, some, cols, target + col * pitch + i * 4, pitch)
            j += cols
        i += some

cdef inline void gather_row_8(const char* source, int64_t step, char* target, int64_t count) noexcept nogil:
    cdef const uint64_t* elements = <const uint64_t*> source
    cdef uint64_t* out = <uint64_t*> target
    cdef int64_t i
    if step == 8:
        dmlcy_copy(target, source, count * 8)
    elif step == 16:
        for i in range(count):
            out[i] = elements[2 * i]
    elif step == 24:
        for i in range(count):
            out[i] = elements[3 * i]
    elif step == 32:
        for i in range(count):
            out[i] = elements[4 * i]
    elif step == -8:
        for i in range(count):
            out[i] = elements[-1 * i]
    else:
        for i in range(count):
            out[i] = (<const uint64_t*> (source + i * step))[0]

# Puts elements of a row together that lie `step` apart, in so many rows.
cdef void gather_8(const char* source, int64_t row_step, int64_t step, char* target, int64_t pitch,
                   int64_t rows, int64_t count) noexcept nogil:
    for _ in range(rows):
        gather_row_8(source, step, target, count)
        source += row_step
        target += pitch

# Row i, of 2 elements, begins behind row i-1.
cdef inline void split_2_8(const char* source, int64_t height, char* target, int64_t pitch) noexcept nogil:
    cdef const uint64_t* elements = <const uint64_t*> source
    cdef uint64_t* out0 = <uint64_t*> (target + 0 * pitch)
    cdef uint64_t* out1 = <uint64_t*> (target + 1 * pitch)
    cdef int64_t i
    for i in range(height):
        out0[i] = elements[2 * i + 0]
        out1[i] = elements[2 * i + 1]

# Row i, of 3 elements, begins behind row i-1.
cdef inline void split_3_8(const char* source, int64_t height, char* target, int64_t pitch) noexcept nogil:
    cdef const uint64_t* elements = <const uint64_t*> source
    cdef uint64_t* out0 = <uint64_t*> (target + 0 * pitch)
    cdef uint64_t* out1 = <uint64_t*> (target + 1 * pitch)
    cdef uint64_t* out2 = <uint64_t*> (target + 2 * pitch)
    cdef int64_t i
    for i in range(height):
        out0[i] = elements[3 * i + 0]
        out1[i] = elements[3 * i + 1]
        out2[i] = elements[3 * i + 2]

# Row i, of 4 elements, begins behind row i-1.
cdef inline void split_4_8(const char* source, int64_t height, char* target, int64_t pitch) noexcept nogil:
    cdef const uint64_t* elements = <const uint64_t*> source
    cdef uint64_t* out0 = <uint64_t*> (target + 0 * pitch)
    cdef uint64_t* out1 = <uint64_t*> (target + 1 * pitch)
    cdef uint64_t* out2 = <uint64_t*> (target + 2 * pitch)
    cdef uint64_t* out3 = <uint64_t*> (target + 3 * pitch)
    cdef int64_t i
    for i in range(height):
        out0[i] = elements[4 * i + 0]
        out1[i] = elements[4 * i + 1]
        out2[i] = elements[4 * i + 2]
        out3[i] = elements[4 * i + 3]

# Row i, of `width` elements, begins at source + rows[i]; column j goes to target + j * pitch.
cdef void transpose_8(const char* source, const int64_t* rows, int64_t height, int64_t width, char* target,
                      int64_t pitch) noexcept nogil:
    cdef int64_t cols = 2, i = 0, j, col, some
    if (width == 2 and height > 1 and rows[1] - rows[0] == 16
            and rows[height - 1] - rows[0] == (height - 1) * 16):
        split_2_8(source + rows[0], height, target, pitch)
        return
    if (width == 3 and height > 1 and rows[1] - rows[0] == 24
            and rows[height - 1] - rows[0] == (height - 1) * 24):
        split_3_8(source + rows[0], height, target, pitch)
        return
    if (width == 4 and height > 1 and rows[1] - rows[0] == 32
            and rows[height - 1] - rows[0] == (height - 1) * 32):
        split_4_8(source + rows[0], height, target, pitch)
        return
    while cols > width:
        cols //= 2
    if not DMLCY_TURNS or height < 2 or cols == 1 or cols * 8 < 4:
        for j in range(width):
            for i in range(height):
                (<uint64_t*> (target + j * pitch))[i] = (<const uint64_t*> (source + rows[i]))[j]
        return
    # A few rows at a time, whose cache lines stay for all columns. The last rows and columns overlap others.
    while i < height:
        i = min(i, height - 2)
        some = min(height - i, <int64_t> 8) // 2 * 2
        j = 0
        while j < width:
            col = min(j, width - cols)
            dmlcy_turn_8(source + col * 8, rows + i, some, cols, target + col * pitch + i * 8, pitch)
            j += cols
        i += some

ctypedef void (*GatherTiles)(const char* source, int64_t row_step, int64_t step, char* target, int64_t pitch,
                             int64_t rows, int64_t count) noexcept nogil
ctypedef void (*Transpose)(const char* source, const int64_t* rows, int64_t height, int64_t width, char* target,
                           int64_t pitch) noexcept nogil

# The loops for one size of elements.
cdef struct Moves:
    GatherTiles gather
    Transpose transpose

cdef Moves moves_of(int item) noexcept nogil:
    cdef Moves moves
    if item == 1:
        moves.gather = gather_1
        moves.transpose = transpose_1
    if item == 2:
        moves.gather = gather_2
        moves.transpose = transpose_2
    if item == 4:
        moves.gather = gather_4
        moves.transpose = transpose_4
    if item == 8:
        moves.gather = gather_8
        moves.transpose = transpose_8
    return moves

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

# Pieces of one size, but for the last one, which is not much smaller.
cdef int64_t even(int64_t size, int64_t piece) noexcept nogil:
    return ceil_div(size, ceil_div(size, piece))

cdef enum:
    CELL_BYTES = 65536              # the cells of a block, at most
    NEAR_BYTES = 16384              # the same where fewer do as well
    ROWS = 512                      # elements of a row that are fetched at once
    TILES = 32                      # that are transposed at once
    BLOCK_BYTES = 65536             # of a block without cells
    SHORT_RUN = 16                  # bytes; longer runs are not woven
    FEW = 8                         # planes that are woven
    NARROW = 16                     # bytes; it is slower to transpose columns of fewer
    STRIDED_POSITIONS = 128         # of a strided row: their cache lines stay for the next row
    TOUCHED_BYTES = 262144          # less than the second-level cache
    APART_RUN = 2048                # bytes of a line from which on lines may follow each other in the input instead
    LONG_RUN = 256                  # bytes of a line; shorter ones are copied faster than streamed

cdef struct MoveAxis:
    int64_t size
    int64_t step                    # bytes, in the input
    int64_t out_step

# Lines of the output. A line has `row` positions of `few` times `grain` elements, one after the other:
# position, plane, element. `line` and, inside of it, `within` count the lines.
cdef struct Block:
    MoveAxis row
    MoveAxis few
    MoveAxis grain
    MoveAxis line
    MoveAxis within

# How a block is copied.
cdef enum Way:
    COPY_RUNS                       # lines are contiguous in the input
    WEAVE_ROWS                      # so are planes
    GATHER_ROWS                     # nothing is contiguous in the input
    TURN_ROWS                       # `few`, `within` and `line` follow each other in the input: it is transposed
    TURN_TILES                      # `within` and `few` do: each line is a tile that is transposed
    SPLIT_ROWS                      # the planes of a row take turns in the input: the elements of each come together
    COPY_STRIDED                    # nothing is contiguous in the output

ctypedef void (*Weave)(const char* planes, int64_t pitch, int64_t few, int64_t grain, int64_t count,
                       char* target) noexcept nogil
ctypedef void (*StridedCopy)(const Block* block, const char* source, char* target) noexcept nogil

cdef struct MovePlan:
    const char* input
    char* output
    int64_t item
    Moves moves
    Way way
    bint streams
    bint far                        # the output may come from memory
    Weave weave
    Block block                     # sizes of the whole axes
    int64_t row_piece               # sizes of one block
    int64_t line_piece
    int row_axis                    # the outer axis that counts the pieces of the rows
    int line_axis
    int64_t pitch                   # of planes in cells
    int64_t few_planes              # in cells, so many planes further on is the next one of a line
    int64_t within_planes
    bint touches                    # all that the rows lie in, before a block of the first lines
    MoveAxis outer[MAX_AXES + 2]    # slowest first
    int outers
    int64_t blocks                  # product of their sizes

# Weaves: one grain of each plane in turn.

cdef void weave_1(const char* planes, int64_t pitch, int64_t few, int64_t grain, int64_t count,
                  char* target) noexcept nogil:
    cdef uint8_t* out = <uint8_t*> target
    cdef const uint8_t* plane0 = <const uint8_t*> (planes + 0 * pitch)
    cdef const uint8_t* plane1 = <const uint8_t*> (planes + 1 * pitch)
    cdef const uint8_t* plane2 = <const uint8_t*> (planes + 2 * pitch)
    cdef const uint8_t* plane3 = <const uint8_t*> (planes + 3 * pitch)
    cdef int64_t i, k
    if few == 2:
        for i in range(count):
            out[2 * i + 0] = plane0[i]
            out[2 * i + 1] = plane1[i]
    elif few == 3:
        for i in range(dmlcy_weave_3_1(planes, pitch, count, target), count):
            out[3 * i + 0] = plane0[i]
            out[3 * i + 1] = plane1[i]
            out[3 * i + 2] = plane2[i]
    elif few == 4:
        for i in range(count):
            out[4 * i + 0] = plane0[i]
            out[4 * i + 1] = plane1[i]
            out[4 * i + 2] = plane2[i]
            out[4 * i + 3] = plane3[i]
    else:
        for k in range(few):
            plane0 = <const uint8_t*> (planes + k * pitch)
            for i in range(count):
                out[few * i + k] = plane0[i]

cdef void weave_2(const char* planes, int64_t pitch, int64_t few, int64_t grain, int64_t count,
                  char* target) noexcept nogil:
    cdef uint16_t* out = <uint16_t*> target
    cdef const uint16_t* plane0 = <const uint16_t*> (planes + 0 * pitch)
    cdef const uint16_t* plane1 = <const uint16_t*> (planes + 1 * pitch)
    cdef const uint16_t* plane2 = <const uint16_t*> (planes + 2 * pitch)
    cdef const uint16_t* plane3 = <const uint16_t*> (planes + 3 * pitch)
    cdef int64_t i, k
    if few == 2:
        for i in range(count):
            out[2 * i + 0] = plane0[i]
            out[2 * i + 1] = plane1[i]
    elif few == 3:
        for i in range(dmlcy_weave_3_2(planes, pitch, count, target), count):
            out[3 * i + 0] = plane0[i]
            out[3 * i + 1] = plane1[i]
            out[3 * i + 2] = plane2[i]
    elif few == 4:
        for i in range(count):
            out[4 * i + 0] = plane0[i]
            out[4 * i + 1] = plane1[i]
            out[4 * i + 2] = plane2[i]
            out[4 * i + 3] = plane3[i]
    else:
        for k in range(few):
            plane0 = <const uint16_t*> (planes + k * pitch)
            for i in range(count):
                out[few * i + k] = plane0[i]

cdef void weave_4(const char* planes, int64_t pitch, int64_t few, int64_t grain, int64_t count,
                  char* target) noexcept nogil:
    cdef uint32_t* out = <uint32_t*> target
    cdef const uint32_t* plane0 = <const uint32_t*> (planes + 0 * pitch)
    cdef const uint32_t* plane1 = <const uint32_t*> (planes + 1 * pitch)
    cdef const uint32_t* plane2 = <const uint32_t*> (planes + 2 * pitch)
    cdef const uint32_t* plane3 = <const uint32_t*> (planes + 3 * pitch)
    cdef int64_t i, k
    if few == 2:
        for i in range(count):
            out[2 * i + 0] = plane0[i]
            out[2 * i + 1] = plane1[i]
    elif few == 3:
        for i in range(count):
            out[3 * i + 0] = plane0[i]
            out[3 * i + 1] = plane1[i]
            out[3 * i + 2] = plane2[i]
    elif few == 4:
        for i in range(count):
            out[4 * i + 0] = plane0[i]
            out[4 * i + 1] = plane1[i]
            out[4 * i + 2] = plane2[i]
            out[4 * i + 3] = plane3[i]
    else:
        for k in range(few):
            plane0 = <const uint32_t*> (planes + k * pitch)
            for i in range(count):
                out[few * i + k] = plane0[i]

cdef void weave_8(const char* planes, int64_t pitch, int64_t few, int64_t grain, int64_t count,
                  char* target) noexcept nogil:
    cdef uint64_t* out = <uint64_t*> target
    cdef const uint64_t* plane0 = <const uint64_t*> (planes + 0 * pitch)
    cdef const uint64_t* plane1 = <const uint64_t*> (planes + 1 * pitch)
    cdef const uint64_t* plane2 = <const uint64_t*> (planes + 2 * pitch)
    cdef const uint64_t* plane3 = <const uint64_t*> (planes + 3 * pitch)
    cdef int64_t i, k
    if few == 2:
        for i in range(count):
            out[2 * i + 0] = plane0[i]
            out[2 * i + 1] = plane1[i]
    elif few == 3:
        for i in range(count):
            out[3 * i + 0] = plane0[i]
            out[3 * i + 1] = plane1[i]
            out[3 * i + 2] = plane2[i]
    elif few == 4:
        for i in range(count):
            out[4 * i + 0] = plane0[i]
            out[4 * i + 1] = plane1[i]
            out[4 * i + 2] = plane2[i]
            out[4 * i + 3] = plane3[i]
    else:
        for k in range(few):
            plane0 = <const uint64_t*> (planes + k * pitch)
            for i in range(count):
                out[few * i + k] = plane0[i]

cdef void weave_grains(const char* planes, int64_t pitch, int64_t few, int64_t grain, int64_t count,
                       char* target) noexcept nogil:
    cdef int64_t k, j
    for _ in range(count):
        for k in range(few):
            if grain % 16 == 0:
                for j in range(0, grain, 16):
                    memcpy(target + j, planes + k * pitch + j, 16)
            else:
                dmlcy_copy(target, planes + k * pitch, grain)
            target += grain
        planes += grain

# Blocks.

# Writes a line whose planes are contiguous.
cdef inline void write_line(const MovePlan* plan, const char* planes, int64_t pitch, int64_t count, char* target,
                            dmlcy_stream* stream) noexcept nogil:
    cdef int64_t grain = plan.block.grain.size * plan.item
    cdef int64_t few = plan.block.few.size
    cdef int64_t some
    if not plan.streams:
        if few == 1:
            dmlcy_copy(target, planes, count * grain)
        else:
            plan.weave(planes, pitch, few, grain, count, target)
        return
    dmlcy_stream_seek(stream, target)
    if few == 1:
        dmlcy_stream_put(stream, planes, count * grain)
        return
    while count:
        some = min(count, DMLCY_ROOM // (few * grain))
        plan.weave(planes, pitch, few, grain, some, dmlcy_stream_room(stream))
        dmlcy_stream_advance(stream, some * few * grain)
        planes += some * grain
        count -= some

cdef void copy_runs(const MovePlan* plan, const Block* block, const char* source, char* target,
                    dmlcy_stream* stream) noexcept nogil:
    cdef int64_t run = block.row.size * plan.item
    cdef int64_t j
    for _ in range(block.line.size):
        for j in range(block.within.size):
            if not plan.streams:
                dmlcy_copy(target + j * block.within.out_step, source + j * run, run)
            else:
                dmlcy_stream_seek(stream, target + j * block.within.out_step)
                dmlcy_stream_put(stream, source + j * run, run)
        source += block.line.step
        target += block.line.out_step

cdef void weave_rows(const MovePlan* plan, const Block* block, const char* source, char* target,
                     dmlcy_stream* stream) noexcept nogil:
    for _ in range(block.line.size):
        write_line(plan, source, block.few.step, block.row.size, target, stream)
        source += block.line.step
        target += block.line.out_step

cdef void gather_rows(const MovePlan* plan, const Block* block, const char* source, char* target, char* cells,
                      dmlcy_stream* stream) noexcept nogil:
    cdef int64_t k, line
    if block.few.size == 1 and not plan.streams:
        plan.moves.gather(source, block.line.step, block.row.step, target, block.line.out_step, block.line.size,
                          block.row.size)
        return
    for k in range(block.few.size):     # plane by plane, for their lines may follow each other
        plan.moves.gather(source + k * block.few.step, block.line.step, block.row.step,
                          cells + k * block.line.size * plan.pitch, plan.pitch, block.line.size, block.row.size)
    for line in range(block.line.size):
        write_line(plan, cells + line * plan.pitch, block.line.size * plan.pitch, block.row.size,
                   target + line * block.line.out_step, stream)

# `rows` are the offsets of the elements of a plane.
cdef void turn_rows(const MovePlan* plan, const Block* block, const char* source, char* target, const int64_t* rows,
                    char* cells, dmlcy_stream* stream) noexcept nogil:
    cdef int64_t width = block.line.size * block.within.size * block.few.size
    cdef int64_t j
    plan.moves.transpose(source, rows, block.row.size * block.grain.size, width, cells, plan.pitch)
    for _ in range(block.line.size):
        for j in range(block.within.size):
            write_line(plan, cells + j * plan.within_planes * plan.pitch, plan.few_planes * plan.pitch, block.row.size,
                       target + j * block.within.out_step, stream)
        cells += block.within.size * block.few.size * plan.pitch
        target += block.line.out_step

# `rows` are the offsets of the positions.
cdef void split_rows(const MovePlan* plan, const Block* block, const char* source, char* target, const int64_t* rows,
                     char* cells, dmlcy_stream* stream) noexcept nogil:
    cdef int64_t run = block.row.size * plan.item
    cdef int64_t k, line
    if not plan.streams:
        for _ in range(block.line.size):
            plan.moves.transpose(source, rows, block.row.size, block.few.size, target, block.few.out_step)
            source += block.line.step
            target += block.line.out_step
        return
    for line in range(block.line.size):
        plan.moves.transpose(source + line * block.line.step, rows, block.row.size, block.few.size, cells + line * run,
                             plan.pitch)
    for k in range(block.few.size):
        for line in range(block.line.size):
            dmlcy_stream_seek(stream, target + k * block.few.out_step + line * block.line.out_step)
            dmlcy_stream_put(stream, cells + k * plan.pitch + line * run, run)

# Transposes a tile per line; `rows` are the offsets of the `height` rows of a tile. Its columns are those of `within`,
# and the same again for each of `few`. Columns of `grain` alone are lines of the output: they are written one by one,
# and the next ones asked for; of others, the first rows of all tiles come first. The last rows and columns overlap.
cdef void turn_tiles_1(const MovePlan* plan, const Block* block, const char* source, char* target,
                       const int64_t* rows, int64_t height) noexcept nogil:
    cdef const MoveAxis* few = &block.few
    cdef const MoveAxis* within = &block.within
    cdef int64_t tile_rows[16 * TILES]
    cdef int64_t places[FEW * FEW]
    cdef int64_t width = few.size * within.size
    cdef int64_t cols = 16, i, j, k, tile, some, begin
    cdef char* ahead
    while cols > width:
        cols //= 2
    if not DMLCY_TURNS or height < 16 or cols == 1 or cols * 1 < 4:
        for tile in range(block.line.size):
            for k in range(few.size):
                transpose_1(
                    source + tile * block.line.step + k * few.step, rows, height, within.size,
                    target + tile * block.line.out_step + k * few.out_step, within.out_step)
        return
    list_offsets(0, min(width, <int64_t> FEW * FEW), few.out_step, within.size, within.out_step, places)
    if block.row.size == 1 and height > 16:
        for _ in range(block.line.size):
            j = 0
            while j < width:
                j = min(j, width - cols)
                if plan.far:
                    ahead = target if j + cols < width else target + block.line.out_step
                    begin = j + cols if j + cols < width else 0
                    for k in range(begin, min(begin + cols, width)):
                        dmlcy_ask(ahead + places[k], height * 1)
                i = 0
                while i < height:
                    i = min(i, height - 16)
                    some = (height - i) // 16 * 16
                    dmlcy_turn_tiles_1(source + j * 1, rows + i, some, cols,
                                       target + i * 1, places + j, 16)
                    i += some
                j += cols
            source += block.line.step
            target += block.line.out_step
        return
    for i in range(0, height, 16):
        i = min(i, height - 16)
        for tile in range(block.line.size):
            for k in range(16):
                tile_rows[tile * 16 + k] = rows[i + k] + tile * block.line.step
        j = 0
        while j < width:
            j = min(j, width - cols)
            begin = j if few.size > 1 else 0    # else columns lie equally far apart
            dmlcy_turn_tiles_1(
                source + j * 1, tile_rows, block.line.size * 16, cols,
                target + (j - begin) * within.out_step + i * 1, places + begin, block.line.out_step)
            j += cols

cdef void turn_tiles_2(const MovePlan* plan, const Block* block, const char* source, char* target,
                       const int64_t* rows, int64_t height) noexcept nogil:
    cdef const MoveAxis* few = &block.few
    cdef const MoveAxis* within = &block.within
    cdef int64_t tile_rows[8 * TILES]
    cdef int64_t places[FEW * FEW]
    cdef int64_t width = few.size * within.size
    cdef int64_t cols = 8, i, j, k, tile, some, begin
    cdef char* ahead
    while cols > width:
        cols //= 2
    if not DMLCY_TURNS or height < 8 or cols == 1 or cols * 2 < 4:
        for tile in range(block.line.size):
            for k in range(few.size):
                transpose_2(
                    source + tile * block.line.step + k * few.step, rows, height, within.size,
                    target + tile * block.line.out_step + k * few.out_step, within.out_step)
        return
    list_offsets(0, min(width, <int64_t> FEW * FEW), few.out_step, within.size, within.out_step, places)
    if block.row.size == 1 and height > 8:
        for _ in range(block.line.size):
            j = 0
            while j < width:
                j = min(j, width - cols)
                if plan.far:
                    ahead = target if j + cols < width else target + block.line.out_step
                    begin = j + cols if j + cols < width else 0
                    for k in range(begin, min(begin + cols, width)):
                        dmlcy_ask(ahead + places[k], height * 2)
                i = 0
                while i < height:
                    i = min(i, height - 8)
                    some = (height - i) // 8 * 8
                    dmlcy_turn_tiles_2(source + j * 2, rows + i, some, cols,
                                       target + i * 2, places + j, 16)
                    i += some
                j += cols
            source += block.line.step
            target += block.line.out_step
        return
    for i in range(0, height, 8):
        i = min(i, height - 8)
        for tile in range(block.line.size):
            for k in range(8):
                tile_rows[tile * 8 + k] = rows[i + k] + tile * block.line.step
        j = 0
        while j < width:
            j = min(j, width - cols)
            begin = j if few.size > 1 else 0    # else columns lie equally far apart
            dmlcy_turn_tiles_2(
                source + j * 2, tile_rows, block.line.size * 8, cols,
                target + (j - begin) * within.out_step + i * 2, places + begin, block.line.out_step)
            j += cols

cdef void turn_tiles_4(const MovePlan* plan, const Block* block, const char* source, char* target,
                       const int64_t* rows, int64_t height) noexcept nogil:
    cdef const MoveAxis* few = &block.few
    cdef const MoveAxis* within = &block.within
    cdef int64_t tile_rows[4 * TILES]
    cdef int64_t places[FEW * FEW]
    cdef int64_t width = few.size * within.size
    cdef int64_t cols = 4, i, j, k, tile, some, begin
    cdef char* ahead
    while cols > width:
        cols //= 2
    if not DMLCY_TURNS or height < 4 or cols == 1 or cols * 4 < 4:
        for tile in range(block.line.size):
            for k in range(few.size):
                transpose_4(
                    source + tile * block.line.step + k * few.step, rows, height, within.size,
                    target + tile * block.line.out_step + k * few.out_step, within.out_step)
        return
    list_offsets(0, min(width, <int64_t> FEW * FEW), few.out_step, within.size, within.out_step, places)
    if block.row.size == 1 and height > 4:
        for _ in range(block.line.size):
            j = 0
            while j < width:
                j = min(j, width - cols)
                if plan.far:
                    ahead = target if j + cols < width else target + block.line.out_step
                    begin = j + cols if j + cols < width else 0
                    for k in range(begin, min(begin + cols, width)):
                        dmlcy_ask(ahead + places[k], height * 4)
                i = 0
                while i < height:
                    i = min(i, height - 4)
                    some = (height - i) // 4 * 4
                    dmlcy_turn_tiles_4(source + j * 4, rows + i, some, cols,
                                       target + i * 4, places + j, 16)
                    i += some
                j += cols
            source += block.line.step
            target += block.line.out_step
        return
    for i in range(0, height, 4):
        i = min(i, height - 4)
        for tile in range(block.line.size):
            for k in range(4):
                tile_rows[tile * 4 + k] = rows[i + k] + tile * block.line.step
        j = 0
        while j < width:
            j = min(j, width - cols)
            begin = j if few.size > 1 else 0    # else columns lie equally far apart
            dmlcy_turn_tiles_4(
                source + j * 4, tile_rows, block.line.size * 4, cols,
                target + (j - begin) * within.out_step + i * 4, places + begin, block.line.out_step)
            j += cols

cdef void turn_tiles_8(const MovePlan* plan, const Block* block, const char* source, char* target,
                       const int64_t* rows, int64_t height) noexcept nogil:
    cdef const MoveAxis* few = &block.few
    cdef const MoveAxis* within = &block.within
    cdef int64_t tile_rows[2 * TILES]
    cdef int64_t places[FEW * FEW]
    cdef int64_t width = few.size * within.size
    cdef int64_t cols = 2, i, j, k, tile, some, begin
    cdef char* ahead
    while cols > width:
        cols //= 2
    if not DMLCY_TURNS or height < 2 or cols == 1 or cols * 8 < 4:
        for tile in range(block.line.size):
            for k in range(few.size):
                transpose_8(
                    source + tile * block.line.step + k * few.step, rows, height, within.size,
                    target + tile * block.line.out_step + k * few.out_step, within.out_step)
        return
    list_offsets(0, min(width, <int64_t> FEW * FEW), few.out_step, within.size, within.out_step, places)
    if block.row.size == 1 and height > 2:
        for _ in range(block.line.size):
            j = 0
            while j < width:
                j = min(j, width - cols)
                if plan.far:
                    ahead = target if j + cols < width else target + block.line.out_step
                    begin = j + cols if j + cols < width else 0
                    for k in range(begin, min(begin + cols, width)):
                        dmlcy_ask(ahead + places[k], height * 8)
                i = 0
                while i < height:
                    i = min(i, height - 2)
                    some = (height - i) // 2 * 2
                    dmlcy_turn_tiles_8(source + j * 8, rows + i, some, cols,
                                       target + i * 8, places + j, 16)
                    i += some
                j += cols
            source += block.line.step
            target += block.line.out_step
        return
    for i in range(0, height, 2):
        i = min(i, height - 2)
        for tile in range(block.line.size):
            for k in range(2):
                tile_rows[tile * 2 + k] = rows[i + k] + tile * block.line.step
        j = 0
        while j < width:
            j = min(j, width - cols)
            begin = j if few.size > 1 else 0    # else columns lie equally far apart
            dmlcy_turn_tiles_8(
                source + j * 8, tile_rows, block.line.size * 2, cols,
                target + (j - begin) * within.out_step + i * 8, places + begin, block.line.out_step)
            j += cols

cdef void turn_tiles(const MovePlan* plan, const Block* block, const char* source, char* target,
                     const int64_t* rows) noexcept nogil:
    cdef int64_t height = block.row.size * block.grain.size
    if plan.item == 1:
        turn_tiles_1(plan, block, source, target, rows, height)
    if plan.item == 2:
        turn_tiles_2(plan, block, source, target, rows, height)
    if plan.item == 4:
        turn_tiles_4(plan, block, source, target, rows, height)
    if plan.item == 8:
        turn_tiles_8(plan, block, source, target, rows, height)

cdef void copy_strided_1(const Block* block, const char* source, char* target) noexcept nogil:
    cdef bint swap = block.row.size < block.line.size
    cdef const MoveAxis* outer = &block.row if swap else &block.line
    cdef const MoveAxis* inner = &block.line if swap else &block.row
    cdef uint8_t value
    cdef int64_t j
    for _ in range(outer.size):
        for j in range(inner.size):
            value = (<const uint8_t*> (source + j * inner.step))[0]
            (<uint8_t*> (target + j * inner.out_step))[0] = value
        source += outer.step
        target += outer.out_step

cdef void copy_strided_2(const Block* block, const char* source, char* target) noexcept nogil:
    cdef bint swap = block.row.size < block.line.size
    cdef const MoveAxis* outer = &block.row if swap else &block.line
    cdef const MoveAxis* inner = &block.line if swap else &block.row
    cdef uint16_t value
    cdef int64_t j
    for _ in range(outer.size):
        for j in range(inner.size):
            value = (<const uint16_t*> (source + j * inner.step))[0]
            (<uint16_t*> (target + j * inner.out_step))[0] = value
        source += outer.step
        target += outer.out_step

cdef void copy_strided_4(const Block* block, const char* source, char* target) noexcept nogil:
    cdef bint swap = block.row.size < block.line.size
    cdef const MoveAxis* outer = &block.row if swap else &block.line
    cdef const MoveAxis* inner = &block.line if swap else &block.row
    cdef uint32_t value
    cdef int64_t j
    for _ in range(outer.size):
        for j in range(inner.size):
            value = (<const uint32_t*> (source + j * inner.step))[0]
            (<uint32_t*> (target + j * inner.out_step))[0] = value
        source += outer.step
        target += outer.out_step

cdef void copy_strided_8(const Block* block, const char* source, char* target) noexcept nogil:
    cdef bint swap = block.row.size < block.line.size
    cdef const MoveAxis* outer = &block.row if swap else &block.line
    cdef const MoveAxis* inner = &block.line if swap else &block.row
    cdef uint64_t value
    cdef int64_t j
    for _ in range(outer.size):
        for j in range(inner.size):
            value = (<const uint64_t*> (source + j * inner.step))[0]
            (<uint64_t*> (target + j * inner.out_step))[0] = value
        source += outer.step
        target += outer.out_step

cdef StridedCopy strided_copy(int64_t item) noexcept nogil:
    if item == 1:
        return copy_strided_1
    if item == 2:
        return copy_strided_2
    if item == 4:
        return copy_strided_4
    if item == 8:
        return copy_strided_8
    return NULL

# Items are blocks.
cdef int move_blocks(const void* args, int64_t begin, int64_t end) noexcept nogil:
    cdef const MovePlan* plan = <const MovePlan*> args
    cdef const char* source = plan.input
    cdef char* target = plan.output
    cdef char cells[CELL_BYTES]
    cdef int64_t rows[ROWS]
    cdef int64_t at[MAX_AXES + 2]
    cdef int64_t rest = begin
    cdef Block block = plan.block
    cdef dmlcy_stream stream
    cdef int d
    for d in range(plan.outers - 1, -1, -1):
        at[d] = rest % plan.outer[d].size
        rest //= plan.outer[d].size
        source += at[d] * plan.outer[d].step
        target += at[d] * plan.outer[d].out_step
    if plan.way == TURN_ROWS or plan.way == TURN_TILES:
        list_offsets(0, plan.row_piece * block.grain.size, block.row.step, block.grain.size, block.grain.step, rows)
    elif plan.way == SPLIT_ROWS:
        list_offsets(0, plan.row_piece, block.row.step, 1, 0, rows)
    if plan.streams:
        dmlcy_stream_begin(&stream, target)
    for _ in range(begin, end):
        block.row.size = min(plan.row_piece, plan.block.row.size - at[plan.row_axis] * plan.row_piece)
        block.line.size = min(plan.line_piece, plan.block.line.size - at[plan.line_axis] * plan.line_piece)
        if plan.way == COPY_RUNS:
            copy_runs(plan, &block, source, target, &stream)
        elif plan.way == WEAVE_ROWS:
            weave_rows(plan, &block, source, target, &stream)
        elif plan.way == GATHER_ROWS:
            gather_rows(plan, &block, source, target, cells, &stream)
        elif plan.way == TURN_ROWS:
            if plan.touches and at[plan.line_axis] == 0:
                dmlcy_touch(source, (block.row.size - 1) * block.row.step + plan.item)
            turn_rows(plan, &block, source, target, rows, cells, &stream)
        elif plan.way == TURN_TILES:
            turn_tiles(plan, &block, source, target, rows)
        elif plan.way == SPLIT_ROWS:
            split_rows(plan, &block, source, target, rows, cells, &stream)
        else:
            strided_copy(plan.item)(&block, source, target)
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
    if plan.streams:
        dmlcy_stream_end(&stream)
    return 0

# The plan.

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

# Takes axis d out of the outer axes; -1 is an axis of one element.
cdef MoveAxis take_axis(MovePlan* plan, int d) noexcept nogil:
    cdef MoveAxis axis
    if d < 0:
        axis.size = 1
        axis.step = axis.out_step = 0
        return axis
    axis = plan.outer[d]
    plan.outers -= 1
    while d < plan.outers:
        plan.outer[d] = plan.outer[d + 1]
        d += 1
    return axis

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

# Whether everything is a multiple of `wide` bytes, the elements of the innermost axis together too.
cdef bint fits_wide(const MovePlan* plan, int64_t wide) noexcept nogil:
    cdef int64_t all = <int64_t> plan.input | <int64_t> plan.output | plan.outer[plan.outers - 1].size * plan.item
    cdef int d
    for d in range(plan.outers - 1):
        all |= plan.outer[d].step | plan.outer[d].out_step
    return all % wide == 0

# Elements that lie together in both tensors, but only a few of them, are moved as wider elements.
cdef void widen(MovePlan* plan) noexcept nogil:
    cdef MoveAxis* last
    cdef int64_t wide = 8
    if plan.outers < 2:
        return
    last = &plan.outer[plan.outers - 1]
    if last.step != plan.item or last.out_step != plan.item or last.size * plan.item > SHORT_RUN:
        return
    while wide > plan.item and not fits_wide(plan, wide):
        wide //= 2
    last.size = last.size * plan.item // wide
    last.step = last.out_step = plan.item = wide
    if last.size == 1:
        plan.outers -= 1

# Sorts the outer axes so that the next block reads the cache lines that this one has read.
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

# Transposes: axes that follow each other in the input become planes and lines, until they are a cache line together.
cdef void choose_turn(MovePlan* plan) noexcept nogil:
    cdef Block* block = &plan.block
    cdef bint outside = block.few.size > 1 and block.few.step != plan.item      # `within` is the inner one of the two
    cdef int64_t width = plan.item if outside else block.few.size * plan.item
    plan.way = TURN_ROWS
    block.line = take_axis(plan, axis_of_step(plan, width))
    if outside or (block.line.size > 1 and block.line.size * width < 2 * DMLCY_LINE):
        block.within = block.line
        block.line = take_axis(plan, axis_of_step(plan, block.within.size * block.few.size * plan.item))
    plan.few_planes = block.within.size if outside else 1
    plan.within_planes = 1 if outside else block.few.size
    if block.few.size == 1 and block.row.size == 1:
        block.row = block.grain
        block.grain = take_axis(plan, -1)
    sort_by_input(plan)

# Whether planes of two axes, the inner ones of the output, follow each other both in the input and in the output; or
# planes of the inner one, those of two short axes in turn.
cdef bint makes_tiles(const MovePlan* plan, const MoveAxis* inner, int next, int near) noexcept nogil:
    cdef int64_t plane = inner.size
    cdef int64_t width
    cdef int far
    if next < 0 or near < 0:
        return False
    if near == next:
        width = plan.outer[near].size * plan.item
        far = axis_of_step(plan, width)
        return (far >= 0 and plan.outer[near].size <= FEW and plan.outer[far].size <= FEW
                and width * plan.outer[far].size == inner.step and NARROW <= inner.step
                and NARROW <= plane * plan.item and plane <= ROWS and plane * inner.step <= NEAR_BYTES)
    plane *= plan.outer[next].size
    return plane <= ROWS and plan.outer[near].out_step == plane * plan.item

# Chooses the axes of a block, and how it is copied.
cdef void choose_block(MovePlan* plan) noexcept nogil:
    cdef Block* block = &plan.block
    cdef int64_t item = plan.item
    cdef MoveAxis inner = take_axis(plan, plan.outers - 1)
    cdef int next = axis_of_out_step(plan, inner.size * item)       # follows `inner` in the output
    cdef int near = axis_of_step(plan, item)                        # contiguous in the input
    block.row = block.few = block.grain = block.line = block.within = take_axis(plan, -1)
    if inner.size > 1 and inner.out_step != item:
        plan.way = COPY_STRIDED
        block.row = inner
        sort_by_input(plan)
    elif inner.size == 1 or inner.step == item:
        plan.way = COPY_RUNS
        block.row = inner
        if inner.size * item <= SHORT_RUN and next >= 0 and axis_of_step(plan, inner.size * item) >= 0:
            block.few = inner
            block.row = take_axis(plan, next)
            choose_turn(plan)
            return
        if inner.size * item < LONG_RUN and inner.size > 1:
            block.within = take_axis(plan, axis_of_step(plan, inner.size * item))
    elif near < 0:
        plan.way = GATHER_ROWS
        block.row = inner
        if inner.size <= FEW and next >= 0:
            block.few = inner
            block.row = take_axis(plan, next)
        if magnitude(block.row.step) > DMLCY_LINE:
            sort_by_input(plan)
        elif block.row.size * block.few.size * item >= APART_RUN:
            block.line = take_axis(plan, axis_of_step(plan, block.row.size * block.row.step))
    elif near == next and inner.size <= FEW and (plan.outer[near].size >= FEW or inner.size == 3):
        plan.way = WEAVE_ROWS
        block.few = inner
        block.row = take_axis(plan, next)
    elif plan.outer[near].size <= FEW < inner.size and inner.step == plan.outer[near].size * item:
        plan.way = SPLIT_ROWS
        block.row = inner
        block.few = take_axis(plan, near)
        sort_by_input(plan)
    elif makes_tiles(plan, &inner, next, near):
        plan.way = TURN_TILES
        block.grain = inner
        if near == next:
            block.within = take_axis(plan, near)
            block.few = take_axis(plan, axis_of_step(plan, block.within.size * item))
        else:
            block.row = take_axis(plan, next)
            block.within = take_axis(plan, axis_of_step(plan, item))
    elif near != next and inner.size <= FEW and inner.step == plan.outer[near].size * item and inner.step < NARROW:
        block.few = inner
        block.row = take_axis(plan, next)
        choose_turn(plan)
        return
    else:
        block.grain = inner
        if near == next and plan.outer[next].size <= FEW and plan.outer[next].size * inner.size * item <= DMLCY_ROOM:
            block.few = take_axis(plan, next)
            block.row = take_axis(plan, axis_of_out_step(plan, block.few.size * inner.size * item))
        elif near != next and 2 * inner.size <= ROWS:
            block.row = take_axis(plan, next)
        choose_turn(plan)
        return
    if block.line.size == 1:
        block.line = take_axis(plan, plan.outers - 1)

# Chooses how much of its axes a block is.
cdef void choose_pieces(MovePlan* plan) noexcept nogil:
    cdef const Block* block = &plan.block
    cdef int64_t position = block.few.size * block.grain.size * plan.item
    cdef int64_t width = block.few.size * block.within.size
    cdef bint far = plan.way == COPY_STRIDED or (plan.way == GATHER_ROWS and magnitude(block.row.step) > DMLCY_LINE)
    cdef int64_t row = BLOCK_BYTES // position
    if far:
        row = STRIDED_POSITIONS
    elif plan.way == GATHER_ROWS:
        row = NEAR_BYTES // position
    elif plan.way == SPLIT_ROWS:
        row = min(<int64_t> ROWS, CELL_BYTES // 2 // position)
    elif plan.way == TURN_ROWS:
        row = min(<int64_t> ROWS, CELL_BYTES // (2 * width * plan.item)) // block.grain.size
    plan.row_piece = even(block.row.size, min(max(row, <int64_t> 1), block.row.size))
    # Planes an odd number of cache lines apart spread over the whole cache.
    plan.pitch = ((plan.row_piece * block.grain.size * plan.item + DMLCY_LINE - 1) // DMLCY_LINE | 1) * DMLCY_LINE
    if plan.way == TURN_ROWS:
        plan.line_piece = max(DMLCY_LINE // (width * plan.item), <int64_t> 1)
        while 2 * plan.line_piece * width * plan.pitch <= NEAR_BYTES and plan.line_piece < block.line.size:
            plan.line_piece *= 2
        # Where the planes are much of what lies between two positions, it pays to read all of it in order first.
        plan.touches = (4 * width * block.line.size * plan.item >= block.row.step
                        and NEAR_BYTES < plan.row_piece * block.row.step <= TOUCHED_BYTES)
    elif plan.way == GATHER_ROWS:
        plan.line_piece = CELL_BYTES // 2 // (block.few.size * plan.pitch)
    elif plan.way == TURN_TILES:
        plan.line_piece = max(NEAR_BYTES // (plan.row_piece * position * block.within.size), <int64_t> 1)
        plan.line_piece = min(plan.line_piece, <int64_t> TILES)
    elif plan.way == SPLIT_ROWS:
        plan.line_piece = max(CELL_BYTES // 2 // (plan.row_piece * position), <int64_t> 1)
        plan.pitch = ((plan.line_piece * plan.row_piece * plan.item + DMLCY_LINE - 1) // DMLCY_LINE | 1) * DMLCY_LINE
    else:
        plan.line_piece = max(BLOCK_BYTES // (plan.row_piece * position * block.within.size), <int64_t> 1)
    plan.line_piece = min(plan.line_piece, block.line.size)

# Adds the outer axis that counts the pieces of a block's axis.
cdef void cut(MovePlan* plan, int to, const MoveAxis* axis, int64_t piece) noexcept nogil:
    cdef int d = plan.outers
    while d > to:
        plan.outer[d] = plan.outer[d - 1]
        d -= 1
    plan.outer[to].size = ceil_div(axis.size, piece)
    plan.outer[to].step = axis.step * piece
    plan.outer[to].out_step = axis.out_step * piece
    plan.outers += 1

cdef void cut_blocks(MovePlan* plan) noexcept nogil:
    cdef const Block* block = &plan.block
    cdef bint far = plan.way == COPY_STRIDED or (plan.way == GATHER_ROWS and magnitude(block.row.step) > DMLCY_LINE)
    cdef int to = plan.outers
    if far:
        to = 0
    elif plan.way == TURN_ROWS:
        while to > 0 and magnitude(plan.outer[to - 1].step) < magnitude(block.row.step):
            to -= 1
    plan.row_axis = to
    cut(plan, to, &block.row, plan.row_piece)
    plan.line_axis = plan.outers
    cut(plan, plan.line_axis, &block.line, plan.line_piece)

# Weaving wider elements is faster.
cdef void choose_weave(MovePlan* plan) noexcept nogil:
    cdef int64_t grain = plan.block.grain.size * plan.item
    cdef int64_t all = <int64_t> plan.output | plan.block.line.out_step | plan.block.within.out_step
    cdef int d
    for d in range(plan.outers):
        all |= plan.outer[d].out_step
    plan.weave = weave_grains
    if grain == 1 and all % 1 == 0:
        plan.weave = weave_1
    if grain == 2 and all % 2 == 0:
        plan.weave = weave_2
    if grain == 4 and all % 4 == 0:
        plan.weave = weave_4
    if grain == 8 and all % 8 == 0:
        plan.weave = weave_8

# Returns 0, or -1 when memory ran out.
cdef int rearrange(Rearrange* a) noexcept nogil:
    cdef MovePlan plan
    cdef int64_t bytes = a.item
    cdef int64_t run
    cdef int d
    for d in range(a.rank):
        bytes *= a.sizes[d]
    collect_axes(&plan, a)
    merge_axes(&plan)
    widen(&plan)
    choose_block(&plan)
    choose_pieces(&plan)
    cut_blocks(&plan)
    choose_weave(&plan)
    plan.moves = moves_of(plan.item)
    plan.far = 2 * bytes > SERIAL_BYTES
    # Lines of grains that are woven are no faster either.
    run = plan.row_piece * plan.block.grain.size * plan.item
    if plan.way != SPLIT_ROWS:
        run *= plan.block.few.size
    plan.streams = (stream_pays(2 * bytes) and plan.way != COPY_STRIDED and plan.way != TURN_TILES
                    and (plan.block.few.size == 1 or plan.block.grain.size == 1) and run >= LONG_RUN)
    plan.blocks = 1
    for d in range(plan.outers):
        plan.blocks *= plan.outer[d].size
    return parallel_for(move_blocks, &plan, plan.blocks,
                        grain_of(bytes // plan.blocks) if bytes >= SERIAL_BYTES else plan.blocks)


# DEPTH_TO_SPACE

cdef struct DepthToSpace:
    Tensor input
    Tensor output
    int64_t block_size
    int64_t N
    int64_t C
    int64_t H
    int64_t W
    int64_t block

# By feature level, the values allowed (bit n: value n): data types, ranks, enum members.
cdef extern from *:
    """
    static const uint32_t dmlcy_DEPTH_TO_SPACE_T[15] = {
        0x6, 0x6, 0x1fe, 0x1fe, 0x1fe, 0x1fe, 0x1fe, 0xffe,
        0xffe, 0xffe, 0xffe, 0xffe, 0xffe, 0xffe, 0xffe,
    };
    static const uint32_t dmlcy_DEPTH_TO_SPACE_R_RANKS[15] = {
        0x10, 0x10, 0x10, 0x10, 0x10, 0x10, 0x10, 0x10,
        0x10, 0x10, 0x10, 0x10, 0x10, 0x10, 0x10,
    };
    """
    const uint32_t* DEPTH_TO_SPACE_T "dmlcy_DEPTH_TO_SPACE_T"
    const uint32_t* DEPTH_TO_SPACE_R_RANKS "dmlcy_DEPTH_TO_SPACE_R_RANKS"


# Whether the operator and its inputs hold at the level.
cdef bint depth_to_space_inputs_hold(DepthToSpace* a, int level) noexcept nogil:
    return (
        level >= LEVEL_1_0
        and tensor_holds(&a.input, DEPTH_TO_SPACE_T[level], DEPTH_TO_SPACE_R_RANKS[level])
    )


# Takes the attributes from Python; 0 where one is not acceptable.
cdef int depth_to_space_take(
    DepthToSpace* a,
    int level,
    object block_size,
) except -1:
    if not take_uint(block_size, 1, 4294967295, &a.block_size):
        return 0
    return 1


# Computes the lets and the sizes of the output; whether every rule holds. An int64 that overflows does not hold.
cdef bint depth_to_space_holds(DepthToSpace* a, int level) noexcept nogil:
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
    if not (
        append_size(&a.output, a.N)
        and append_size(&a.output, a.C // a.block)
        and append_size(&a.output, checked_mul(a.H, a.block_size, &overflow))
        and append_size(&a.output, checked_mul(a.W, a.block_size, &overflow))
        and tensor_holds(&a.output, DEPTH_TO_SPACE_T[level], DEPTH_TO_SPACE_R_RANKS[level])
    ):
        return False
    return not overflow


cdef int depth_to_space_run(const DepthToSpace* a) noexcept nogil:
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
    return rearrange(&work)


# Runs on checked fields. None: `out` is not acceptable, and nothing was written.
cdef object depth_to_space_call(DepthToSpace* a, ndarray input_array, object out):
    cdef ndarray output_array = None
    cdef ndarray output_result = None
    cdef object recordings = current_recordings()
    cdef int status
    if out is None:
        output_array = output_result = new_array(&a.output)
    else:
        output_array = out_array(out, &a.output)
        if (
            output_array is None
            or overlaps_itself(output_array, &a.output)
            or overlap(output_array, &a.output, input_array, &a.input)
        ):
            return None
        output_result = aligned(output_array, &a.output)
    if not unchanged(input_array, &a.input):
        raise RuntimeError("depth_to_space(): input was changed during the call")
    if recordings is None:
        input_array = aligned(input_array, &a.input)
    else:
        input_array = packed(input_array, &a.input)
    if is_brief(&a.input) and is_brief(&a.output):
        status = depth_to_space_run(a)
    else:
        with nogil:
            status = depth_to_space_run(a)
    if status != 0:
        raise MemoryError("depth_to_space: no memory for scratch rows")
    write_back(output_array, output_result)
    if recordings is not None:
        from dmlcy._record import keep

        keep(recordings, "DEPTH_TO_SPACE", {
            "input": input_array,
            "output": packed(output_result, &a.output),
            "block_size": a.block_size,
        })
    return output_array if out is None else out


def depth_to_space(
    input,
    *,
    block_size,
    out=None,
):
    """Move channels into blocks of height and width (pixel shuffle), the output
    channel varying fastest.

    Parameters
    ----------
    input : array
        The tensor whose channels are moved. Its sizes are {N, C, H, W}. Rank 4;
        data type FLOAT32, FLOAT16, INT32, INT16, INT8, UINT32, UINT16, UINT8,
        FLOAT64, INT64 or UINT64.
    block_size : int
        Height and width of a block. At least 1.
    out : array, optional
        Where the result is written: any layout, the data type and sizes of the
        result, no memory shared with an input.

    Returns
    -------
    numpy.ndarray
        The tensor whose blocks of BlockSize by BlockSize elements come from the
        channels of the input.
        Sizes ``[N, C // block, H * block_size, W * block_size]``.
        Data type of ``input``.
        ``out`` itself where it is given.

    Raises
    ------
    InvalidDescError, InvalidDataTypeError, FeatureLevelError
        With every violation in ``.violations``: those of each field (data type,
        rank, range, length), and these:

        ``DML-DEPTH_TO_SPACE-block_size-divides``
            block_size squared does not divide the channels. Must hold:
            ``C % block == 0``

    See Also
    --------
    dmlcy.desc.DepthToSpace : Its desc, for ``check`` and ``compile``.

    Notes
    -----
    The formulas read:

    ``N = sizes(input)[0]``
        Batch size.
    ``C = sizes(input)[1]``
        Channels of the input.
    ``H = sizes(input)[2]``
        Height of the input.
    ``W = sizes(input)[3]``
        Width of the input.
    ``block = block_size * block_size``
        Elements of a block: the number of input channels that give one output
        channel.

    References
    ----------
    DEPTH_TO_SPACE, feature level 1_0:
    https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_depth_to_space_operator_desc

    Examples
    --------
    >>> import numpy as np
    >>> import dmlcy as dml
    >>> x = np.arange(1, 9, dtype=np.float32).reshape(1, 8, 1, 1)
    >>> dml.depth_to_space(x, block_size=2)
    array([[[[1., 3.],
             [5., 7.]],
            [[2., 4.],
             [6., 8.]]]], dtype=float32)
    """
    cdef DepthToSpace a
    cdef int level = current_level()
    cdef ndarray input_array = as_array(input)
    cdef object result
    if (
        view(input_array, &a.input)
        and depth_to_space_inputs_hold(&a, level)
        and depth_to_space_take(
            &a, level, block_size
        )
        and depth_to_space_holds(&a, level)
    ):
        result = depth_to_space_call(&a, input_array, out)
        if result is not None:
            return result
    from dmlcy._desc.check import refuse

    return refuse("DEPTH_TO_SPACE", {
        "input": input,
        "block_size": block_size,
        "out": out,
    }, level)


cdef class DepthToSpaceOperator(CompiledOperator):
    """DEPTH_TO_SPACE, checked once: called with arrays of the sizes and data types of its desc."""

    cdef DepthToSpace fields

    def __cinit__(self, *args, **kwargs):
        self.inputs = 1

    def __init__(self, desc, int level):
        from dmlcy._desc.check import refuse_desc

        cdef DepthToSpace a
        cdef Tensor computed
        if not (
            level < LEVELS
            and describe(desc.input, &a.input)
            and depth_to_space_inputs_hold(&a, level)
            and depth_to_space_take(
                &a,
                level,
                desc.block_size,
            )
            and depth_to_space_holds(&a, level)
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
        cdef DepthToSpace a
        cdef ndarray input_array
        cdef object result
        memcpy(&a, &self.fields, sizeof(a))     # an assignment would copy twice
        input_array = match(<object>inputs[0], &a.input)
        if (
            input_array is not None
        ):
            result = depth_to_space_call(&a, input_array, out)
            if result is not None:
                return result
        from dmlcy._desc.check import refuse_call

        return refuse_call(self.desc, {
            "input": <object>inputs[0],
            "out": out,
        })


take_vectorcalls(DepthToSpaceOperator)
