# cython: language_level=3
"""window_gather: UNFOLD."""

from cpython.object cimport PyObject
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset
from numpy cimport ndarray
from dmlcy._runtime.arguments cimport take_uints
from dmlcy._runtime.checks cimport (
    append_size, ceil_div, checked_add, checked_mul, floor_div, magnitude, product, tensor_holds,
)
from dmlcy._runtime.compiled cimport CompiledOperator, as_computed, describe, match, take_vectorcalls, unchanged
from dmlcy._runtime.level cimport current_level
from dmlcy._runtime.moves cimport (
    dmlcy_ask, dmlcy_ask_rows, dmlcy_split_3_1, dmlcy_split_3_2, dmlcy_split_3_4, dmlcy_touch, dmlcy_turn_1,
    dmlcy_turn_2, dmlcy_turn_4, dmlcy_turn_8, DMLCY_TURNS,
)
from dmlcy._runtime.recording cimport current_recordings, packed, tuple_of
from dmlcy._runtime.copy cimport dmlcy_copy
from dmlcy._runtime.stream cimport (
    dmlcy_stream, dmlcy_stream_begin, dmlcy_stream_end, dmlcy_stream_put, dmlcy_stream_seek, DMLCY_LINE, stream_pays,
)
from dmlcy._runtime.tensor cimport (
    MAX_RANK, Tensor, aligned, as_array, bytes_of, is_brief, new_array, out_array, overlap, overlaps_itself, set_rank,
    view, write_back,
)
from dmlcy._runtime.threads cimport SERIAL_BYTES, grain_of, parallel_for

cdef enum:
    LEVEL_6_4 = 14
    LEVELS = 15


# Copying the elements under a sliding window: one row per channel and window element ("tap"), one column per position
# of the window ("block"). What lies outside the input is zero.
#
# Some taps and some blocks of a few channels are a box. Where that is fast, each tap of a box is copied from the input
# to the output. Elsewhere the box first goes into cells: a copy of that part of the input, with its padding, in which
# the blocks of every tap follow each other. So each element is fetched once for all taps, whatever the strides are, and
# the output is written in long runs.

cdef struct WindowGather:
    Tensor input                    # N, C, then the spatial axes
    Tensor output                   # N, C * prod(window), prod(blocks)
    int spatial                     # 1 to 6
    int64_t window[MAX_RANK]        # by spatial axis
    int64_t strides[MAX_RANK]
    int64_t dilations[MAX_RANK]
    int64_t start[MAX_RANK]
    int64_t blocks[MAX_RANK]

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

# Elements of a row go to places `pitch` apart.
cdef void scatter_1(const char* source, char* target, int64_t pitch, int64_t count) noexcept nogil:
    cdef int64_t i
    for i in range(count):
        (<uint8_t*> (target + i * pitch))[0] = (<const uint8_t*> source)[i]

cdef void clear_1(char* target, int64_t pitch, int64_t count) noexcept nogil:
    cdef int64_t i
    for i in range(count):
        (<uint8_t*> (target + i * pitch))[0] = 0

# Elements of a row go to places `pitch` apart.
cdef void scatter_2(const char* source, char* target, int64_t pitch, int64_t count) noexcept nogil:
    cdef int64_t i
    for i in range(count):
        (<uint16_t*> (target + i * pitch))[0] = (<const uint16_t*> source)[i]

cdef void clear_2(char* target, int64_t pitch, int64_t count) noexcept nogil:
    cdef int64_t i
    for i in range(count):
        (<uint16_t*> (target + i * pitch))[0] = 0

# Elements of a row go to places `pitch` apart.
cdef void scatter_4(const char* source, char* target, int64_t pitch, int64_t count) noexcept nogil:
    cdef int64_t i
    for i in range(count):
        (<uint32_t*> (target + i * pitch))[0] = (<const uint32_t*> source)[i]

cdef void clear_4(char* target, int64_t pitch, int64_t count) noexcept nogil:
    cdef int64_t i
    for i in range(count):
        (<uint32_t*> (target + i * pitch))[0] = 0

# Elements of a row go to places `pitch` apart.
cdef void scatter_8(const char* source, char* target, int64_t pitch, int64_t count) noexcept nogil:
    cdef int64_t i
    for i in range(count):
        (<uint64_t*> (target + i * pitch))[0] = (<const uint64_t*> source)[i]

cdef void clear_8(char* target, int64_t pitch, int64_t count) noexcept nogil:
    cdef int64_t i
    for i in range(count):
        (<uint64_t*> (target + i * pitch))[0] = 0

ctypedef void (*ScatterBlock)(const char* source, char* target, int64_t pitch, int64_t count) noexcept nogil
ctypedef void (*Clear)(char* target, int64_t pitch, int64_t count) noexcept nogil

cdef enum:
    CELL_BYTES = 65536              # the cells of a box, at most
    NEAR_BYTES = 16384              # the same where one channel is read at a time: they stay in the first-level cache
    SLOTS = 64                      # of the last axis, at most
    LEAST_BLOCKS = 32               # of the last axis in a box; below, boxes take fewer taps instead
    ROWS = 256                      # that are transposed at once
    DENSE_BYTES = 4096              # of lines whose gaps are closed
    SHORT_LINE = 256                # bytes of a line whose blocks are worth a slot for each tap, or asking for
    LONG_RUN = 512                  # bytes of the output, written at a time
    ASKED_BYTES = 8192              # of a run; processors do not foresee where a shorter one begins
    FEW = 4                         # blocks that are cleared column by column
    JOIN_GAP = 8                    # lines are copied as one when at most one part in this many is padding
    KNOWN_STEP = 4                  # elements; up to here, gathering them is fast

# Taps and blocks of one axis: block b of tap t is at position t * dilation + b * stride - start of the input. Taps t
# and t + slots, whose positions differ by a multiple of the stride, read the same elements: they share a slot of the
# cells.
cdef struct GatherAxis:
    int64_t n                       # elements of the input
    int64_t step                    # bytes
    int64_t window
    int64_t stride
    int64_t dilation
    int64_t start
    int64_t blocks
    int64_t tap_out_step
    int64_t block_out_step
    int64_t taps                    # in a box, at most
    int64_t piece                   # blocks in a box, at most
    int64_t slots
    int64_t shift                   # positions of a slot from its tap t to tap t + slots
    int64_t reach                   # positions of a slot beyond those of its first tap

# What is transposed: neighbours in the input that go to distant places.
cdef enum Turn:
    TURN_NOTHING
    TURN_CHANNELS
    TURN_TAPS                       # of the last axis

cdef struct GatherPlan:
    const char* input
    char* output
    int64_t item
    Moves moves
    ScatterBlock scatter
    Clear clear
    int64_t channels
    int64_t batch_step              # bytes, in the input
    int64_t channel_step
    int64_t batch_out_step
    int64_t channel_out_step
    GatherAxis axes[MAX_RANK]       # the spatial axes; there are two at least
    int last                        # number of the last one
    int64_t group                   # channels in a box, at most
    Turn turn
    bint gapped                     # the taps are, which are transposed
    bint far                        # a position is a cache line or more, and may come from memory
    int64_t asked                   # bytes of the output that are asked for while others are written
    bint streams
    bint direct                     # the cells are the output: no two taps share a slot
    int64_t line_pitch              # bytes, in the cells
    int64_t slot_pitch
    int64_t line_slot_pitch
    int64_t channel_pitch

# Positions low … high-1 of a slot are inside the input; number q is at origin + q * stride there.
cdef struct Slot:
    int64_t origin
    int64_t low
    int64_t high

cdef struct Box:
    const char* source              # of the first channel, at position 0 of the last two axes
    char* target
    bint inside                     # all axes but the last two are
    bint first                      # of the boxes that read the same lines, by their channels
    int64_t channels
    int64_t tap[MAX_RANK]           # the first ones
    int64_t block[MAX_RANK]
    int64_t height                  # positions of a slot of the last axis but one
    int64_t width                   # of the last axis
    int64_t slots                   # of the last axis
    Slot slot[SLOTS]
    int64_t low                     # low … high-1 are inside the input in all of them
    int64_t high
    int64_t rows[ROWS]              # offsets of the positions that are transposed at once

cdef Slot find_slot(const GatherAxis* axis, int64_t tap, int64_t block, int64_t count) noexcept nogil:
    cdef Slot slot
    cdef int64_t rest
    slot.origin = tap * axis.dilation + block * axis.stride - axis.start
    rest = axis.n - slot.origin
    slot.low = 0 if slot.origin >= 0 else min(ceil_div(-slot.origin, axis.stride), count)
    slot.high = 0 if rest <= 0 else min(ceil_div(rest, axis.stride), count)
    slot.low = min(slot.low, slot.high)
    return slot

# Takes one part off the number of a box: the first of `piece` elements.
cdef int64_t next_part(int64_t* number, int64_t size, int64_t piece) noexcept nogil:
    cdef int64_t pieces = ceil_div(size, piece)
    cdef int64_t part
    if pieces == 1:
        return 0
    part = number[0] % pieces * piece
    number[0] //= pieces
    return part

# Blocks are the fastest part of a box's number, then taps, channels and batches; where several channels are read at
# once, they come before the blocks.
cdef void place(const GatherPlan* plan, int64_t number, Box* box) noexcept nogil:
    cdef const GatherAxis* axis
    cdef int64_t channel = 0, position
    cdef int d
    if plan.group > 1:
        channel = next_part(&number, plan.channels, plan.group)
    for d in range(plan.last, -1, -1):
        box.block[d] = next_part(&number, plan.axes[d].blocks, plan.axes[d].piece)
    for d in range(plan.last, -1, -1):
        box.tap[d] = next_part(&number, plan.axes[d].window, plan.axes[d].taps)
    if plan.group == 1:
        channel = next_part(&number, plan.channels, 1)
    box.channels = min(plan.group, plan.channels - channel)
    box.first = channel == 0
    box.source = plan.input + number * plan.batch_step + channel * plan.channel_step
    box.target = plan.output + number * plan.batch_out_step + channel * plan.channel_out_step
    box.inside = True
    for d in range(plan.last + 1):
        axis = &plan.axes[d]
        box.target += box.tap[d] * axis.tap_out_step + box.block[d] * axis.block_out_step
        if d < plan.last - 1:
            position = box.tap[d] * axis.dilation + box.block[d] * axis.stride - axis.start
            box.source += position * axis.step
            box.inside = box.inside and 0 <= position < axis.n
    axis = &plan.axes[plan.last - 1]
    box.height = min(axis.piece, axis.blocks - box.block[plan.last - 1]) + axis.reach
    axis = &plan.axes[plan.last]
    box.width = min(axis.piece, axis.blocks - box.block[plan.last]) + axis.reach
    box.slots = min(axis.slots, axis.window - box.tap[plan.last])

# Finds what the slots of the last axis read.
cdef void find_slots(const GatherPlan* plan, Box* box) noexcept nogil:
    cdef const GatherAxis* axis = &plan.axes[plan.last]
    cdef Slot* slot
    cdef int64_t s, q
    box.low = 0
    box.high = box.width
    for s in range(box.slots):
        slot = &box.slot[s]
        slot[0] = find_slot(axis, box.tap[plan.last] + s, box.block[plan.last], box.width)
        box.low = max(box.low, slot.low)
        box.high = min(box.high, slot.high)
    if plan.turn == TURN_CHANNELS:
        for q in range(min(box.width, <int64_t> ROWS)):
            box.rows[q] = q * axis.stride * axis.step

# Positions low … high-1 of a slot, in `count` lines that follow each other.
cdef inline void copy_lines(const GatherPlan* plan, const Slot* slot, int64_t low, int64_t high, const char* lines,
                            int64_t count, char* target) noexcept nogil:
    cdef const GatherAxis* axis = &plan.axes[plan.last]
    if high > low:
        plan.moves.gather(lines + (slot.origin + low * axis.stride) * axis.step,
                          plan.axes[plan.last - 1].stride * plan.axes[plan.last - 1].step, axis.stride * axis.step,
                          target + low * plan.item, plan.line_pitch, count, high - low)

cdef void clear_lines(const GatherPlan* plan, int64_t low, int64_t high, int64_t count, char* target) noexcept nogil:
    cdef int64_t q
    if low == high:
        return
    if high - low <= FEW:
        for q in range(low, high):
            plan.clear(target + q * plan.item, plan.line_pitch, count)
        return
    for q in range(count):
        memset(target + q * plan.line_pitch + low * plan.item, 0, (high - low) * plan.item)

# One slot in `count` lines that follow each other.
cdef void fill_slot(const GatherPlan* plan, const Slot* slot, int64_t width, const char* lines, int64_t count,
                    char* target) noexcept nogil:
    cdef const GatherAxis* axis = &plan.axes[plan.last]
    cdef int64_t step = plan.axes[plan.last - 1].stride * plan.axes[plan.last - 1].step
    cdef int64_t gap = slot.low + width - slot.high
    if (axis.stride == 1 and axis.n == width and step == width * axis.step and plan.line_pitch == width * plan.item
            and gap * JOIN_GAP <= width):
        plan.moves.gather(lines + (slot.origin + slot.low) * axis.step, 0, axis.step, target + slot.low * plan.item, 0,
                          1, count * width - gap)
    else:
        copy_lines(plan, slot, slot.low, slot.high, lines, count, target)
    clear_lines(plan, 0, slot.low, count, target)
    clear_lines(plan, slot.high, width, count, target)

# Positions low … high-1 of all slots of `count` lines: no more of them than ROWS, and one line unless all are inside.
# Gaps between the elements of the input are closed first.
cdef void turn_positions(const GatherPlan* plan, Box* box, int64_t low, int64_t high, const char* lines, int64_t count,
                         char* target) noexcept nogil:
    cdef const GatherAxis* axis = &plan.axes[plan.last]
    cdef char dense[DENSE_BYTES]
    cdef int64_t step = plan.axes[plan.last - 1].stride * plan.axes[plan.last - 1].step
    cdef int64_t size = (high - low - 1) * axis.stride + box.slots
    lines += (box.slot[0].origin + low * axis.stride) * axis.step
    if plan.gapped:
        plan.moves.gather(lines, step, axis.step, dense, size * plan.item, count, size)
        lines = dense
    plan.moves.transpose(lines, box.rows, count * (high - low), box.slots * plan.group, target + low * plan.item,
                         plan.channel_pitch if plan.group > 1 else plan.slot_pitch)

# Positions that turn_positions takes at once.
cdef int64_t most_positions(const GatherPlan* plan) noexcept nogil:
    cdef const GatherAxis* axis = &plan.axes[plan.last]
    if not plan.gapped:
        return ROWS
    return min((DENSE_BYTES // plan.item - axis.slots) // axis.stride + 1, <int64_t> ROWS)

# All slots of some lines, where taps are transposed, or taps and channels that lie together.
cdef void turn_taps(const GatherPlan* plan, Box* box, const char* lines, int64_t count, char* target) noexcept nogil:
    cdef const GatherAxis* axis = &plan.axes[plan.last]
    cdef int64_t step = plan.axes[plan.last - 1].stride * plan.axes[plan.last - 1].step
    cdef int64_t dense_step = ((box.width - 1) * axis.stride + box.slots) * plan.item
    cdef int64_t most = most_positions(plan)
    cdef const char* next_tap = lines + plan.axes[plan.last - 1].dilation * plan.axes[plan.last - 1].step
    cdef const char* next_target = target + plan.line_slot_pitch
    cdef int64_t begin = (box.slot[0].origin + box.low * axis.stride) * axis.step
    cdef int64_t end = begin + (box.high - box.low) * axis.stride * axis.step
    cdef int64_t low, some = 1
    cdef bint last
    # Lines that follow each other are one, unless a line alone is split faster.
    if (box.low == 0 and box.high == box.width and plan.line_pitch == box.width * plan.item
            and box.slots * plan.group * plan.item >= 16):
        some = max(min(min(DENSE_BYTES // dense_step, most // box.width), count), <int64_t> 1)
    list_offsets(0, min(some * box.width, most), dense_step if plan.gapped else step, box.width if some > 1 else most,
                 axis.stride * plan.group * plan.item, box.rows)
    while count > 0:
        some = min(some, count)
        if plan.far:                # processors do not foresee so many short runs
            last = some == count
            dmlcy_ask_rows((next_tap if last else lines + some * step) + begin, step, some, end - begin)
            if plan.direct:
                dmlcy_ask_rows(next_target if last else target + some * plan.line_pitch, plan.slot_pitch, box.slots,
                               some * box.width * plan.item)
        low = box.low
        while low < box.high:
            turn_positions(plan, box, low, min(low + most, box.high), lines, some, target)
            low += most
        lines += some * step
        target += some * plan.line_pitch
        count -= some

# The positions that are inside in some slots only.
cdef void fill_edges(const GatherPlan* plan, const Box* box, const char* lines, int64_t count,
                     char* target) noexcept nogil:
    cdef int64_t low = box.low, high = max(box.low, box.high)
    cdef const Slot* slot
    cdef int64_t s
    if low == 0 and high == box.width:
        return
    for _ in range(box.channels):
        for s in range(box.slots):
            slot = &box.slot[s]
            copy_lines(plan, slot, slot.low, min(low, slot.high), lines, count, target + s * plan.slot_pitch)
            copy_lines(plan, slot, max(high, slot.low), slot.high, lines, count, target + s * plan.slot_pitch)
            clear_lines(plan, 0, slot.low, count, target + s * plan.slot_pitch)
            clear_lines(plan, slot.high, box.width, count, target + s * plan.slot_pitch)
        lines += plan.channel_step
        target += plan.channel_pitch

# All slots of some lines, where channels are transposed.
cdef void turn_channels(const GatherPlan* plan, const Box* box, const char* lines, int64_t count,
                        char* target) noexcept nogil:
    cdef const GatherAxis* axis = &plan.axes[plan.last]
    cdef const Slot* slot
    cdef int64_t s, q
    for _ in range(count):
        if box.first and box.high > box.low and 0 < axis.step <= plan.channels * plan.item:
            dmlcy_touch(lines + (box.slot[0].origin + box.low * axis.stride) * axis.step,
                        (box.high - box.low - 1) * axis.stride * axis.step + plan.channels * plan.item)
        for s in range(box.slots):
            slot = &box.slot[s]
            q = slot.low
            while q < slot.high:
                plan.moves.transpose(lines + (slot.origin + q * axis.stride) * axis.step, box.rows,
                                     min(slot.high - q, <int64_t> ROWS), box.channels,
                                     target + s * plan.slot_pitch + q * plan.item, plan.channel_pitch)
                q += ROWS
        lines += plan.axes[plan.last - 1].stride * plan.axes[plan.last - 1].step
        target += plan.line_pitch
    target -= count * plan.line_pitch
    for _ in range(box.channels):
        for s in range(box.slots):
            clear_lines(plan, 0, box.slot[s].low, count, target + s * plan.slot_pitch)
            clear_lines(plan, box.slot[s].high, box.width, count, target + s * plan.slot_pitch)
        target += plan.channel_pitch

# Clears lines low … high-1 of all channels and slots.
cdef void clear_slots(const GatherPlan* plan, const Box* box, int64_t low, int64_t high, char* target) noexcept nogil:
    cdef int64_t channel, s
    if low == high:
        return
    for channel in range(box.channels):
        for s in range(box.slots):
            clear_lines(plan, 0, box.width, high - low, target + channel * plan.channel_pitch + s * plan.slot_pitch
                        + low * plan.line_pitch)

cdef void fill_cells(const GatherPlan* plan, Box* box, char* cells) noexcept nogil:
    cdef const GatherAxis* axis = &plan.axes[plan.last - 1]
    cdef const char* source
    cdef char* target
    cdef int64_t s, q, next_run
    cdef Slot lines
    for s in range(axis.slots):
        lines = find_slot(axis, box.tap[plan.last - 1] + s, box.block[plan.last - 1], box.height)
        if not box.inside:
            lines.low = lines.high = box.height
        clear_slots(plan, box, 0, lines.low, cells)
        clear_slots(plan, box, lines.high, box.height, cells)
        source = box.source + (lines.origin + lines.low * axis.stride) * axis.step
        target = cells + lines.low * plan.line_pitch
        if lines.high == lines.low:
            pass
        elif plan.turn == TURN_NOTHING:
            for q in range(box.slots):
                next_run = plan.line_slot_pitch if q + 1 == box.slots else (q + 1) * plan.slot_pitch
                dmlcy_ask(target + next_run, plan.asked)
                fill_slot(plan, &box.slot[q], box.width, source, lines.high - lines.low, target + q * plan.slot_pitch)
        elif plan.turn == TURN_TAPS:
            turn_taps(plan, box, source, lines.high - lines.low, target)
            fill_edges(plan, box, source, lines.high - lines.low, target)
        else:
            turn_channels(plan, box, source, lines.high - lines.low, target)
        cells += plan.line_slot_pitch

cdef inline void put(const GatherPlan* plan, dmlcy_stream* stream, const char* source, char* target,
                     int64_t count) noexcept nogil:
    cdef int64_t step = plan.axes[plan.last].block_out_step
    if plan.streams:
        dmlcy_stream_seek(stream, target)
        dmlcy_stream_put(stream, source, count * plan.item)
    elif step == plan.item:
        dmlcy_copy(target, source, count * plan.item)
    else:
        plan.scatter(source, target, step, count)

# Blocks of a tap follow each other, and so do its lines.
cdef void write_tap(const GatherPlan* plan, const char* cells, int64_t lines, int64_t blocks, char* target,
                    dmlcy_stream* stream) noexcept nogil:
    cdef int64_t y
    if blocks * plan.item == plan.line_pitch and blocks == plan.axes[plan.last].blocks:
        put(plan, stream, cells, target, lines * blocks)
        return
    for y in range(lines):
        put(plan, stream, cells + y * plan.line_pitch, target, blocks)
        target += plan.axes[plan.last - 1].block_out_step

cdef void write_box(const GatherPlan* plan, const Box* box, const char* cells, dmlcy_stream* stream) noexcept nogil:
    cdef const GatherAxis* lines = &plan.axes[plan.last - 1]
    cdef const GatherAxis* axis = &plan.axes[plan.last]
    cdef const char* source
    cdef int64_t channel, ky, kx
    for channel in range(box.channels):
        for ky in range(min(lines.taps, lines.window - box.tap[plan.last - 1])):
            for kx in range(min(axis.taps, axis.window - box.tap[plan.last])):
                source = cells + channel * plan.channel_pitch
                source += ky % lines.slots * plan.line_slot_pitch + ky // lines.slots * lines.shift * plan.line_pitch
                source += kx % axis.slots * plan.slot_pitch + kx // axis.slots * axis.shift * plan.item
                write_tap(plan, source, box.height - lines.reach, box.width - axis.reach, box.target
                          + channel * plan.channel_out_step + ky * lines.tap_out_step + kx * axis.tap_out_step, stream)

# Items are boxes.
cdef int gather_boxes(const void* args, int64_t begin, int64_t end) noexcept nogil:
    cdef const GatherPlan* plan = <const GatherPlan*> args
    cdef char cells[CELL_BYTES]
    cdef dmlcy_stream stream
    cdef Box box
    cdef int64_t number
    if plan.streams:
        dmlcy_stream_begin(&stream, plan.output)
    for number in range(begin, end):
        place(plan, number, &box)
        find_slots(plan, &box)
        fill_cells(plan, &box, box.target if plan.direct else cells)
        if not plan.direct:
            write_box(plan, &box, cells, &stream)
    if plan.streams:
        dmlcy_stream_end(&stream)
    return 0

cdef int64_t common_divisor(int64_t a, int64_t b) noexcept nogil:
    cdef int64_t rest
    while b:
        rest = a % b
        a = b
        b = rest
    return a

# `apart`: no two taps share a slot.
cdef void take_taps(GatherAxis* axis, int64_t taps, bint apart) noexcept nogil:
    axis.taps = taps
    axis.slots = taps if apart else min(taps, axis.stride // common_divisor(axis.stride, axis.dilation))
    axis.shift = axis.slots * axis.dilation // axis.stride
    axis.reach = (taps - 1) // axis.slots * axis.shift

cdef void collect_axes(GatherPlan* plan, const WindowGather* a) noexcept nogil:
    cdef GatherAxis* axis = plan.axes
    cdef int64_t taps = 1, blocks = 1
    cdef int d
    if a.spatial == 1:
        axis.n = axis.window = axis.stride = axis.dilation = axis.blocks = 1
        axis.step = axis.start = 0
        axis += 1
    for d in range(a.spatial):
        axis.n = a.input.sizes[2 + d]
        axis.step = a.input.strides[2 + d]
        axis.window = a.window[d]
        axis.stride = a.strides[d]
        axis.dilation = a.dilations[d]
        axis.start = a.start[d]
        axis.blocks = a.blocks[d]
        axis += 1
    plan.last = max(a.spatial, 2) - 1
    for d in range(plan.last, -1, -1):
        axis = &plan.axes[d]
        axis.tap_out_step = taps * a.output.strides[1]
        axis.block_out_step = blocks * a.output.strides[2]
        axis.piece = 1
        take_taps(axis, 1, False)
        taps *= axis.window
        blocks *= axis.blocks
    plan.channel_out_step = taps * a.output.strides[1]

# Bytes of a slot, when there are `most` for the cells. Without cells, that much of the input stays in the cache.
cdef int64_t slot_bytes(const GatherPlan* plan, int64_t most) noexcept nogil:
    if plan.direct:
        return CELL_BYTES
    return most // (plan.group * plan.axes[plan.last].slots * plan.axes[plan.last - 1].slots) - 3 * DMLCY_LINE

# Whether enough blocks of the last axis fit into the cells.
cdef bint fits(GatherPlan* plan, int64_t line_taps, int64_t taps, int64_t most) noexcept nogil:
    cdef GatherAxis* lines = &plan.axes[plan.last - 1]
    cdef GatherAxis* axis = &plan.axes[plan.last]
    # Where lines are short, slots without elements between their lines: a tap's lines are one run.
    cdef bint short = (plan.turn == TURN_NOTHING and line_taps > 1
                       and axis.blocks * plan.item <= (SHORT_LINE // 2 if plan.streams else SHORT_LINE))
    take_taps(lines, line_taps, plan.direct)
    take_taps(axis, taps, plan.direct or short or plan.turn == TURN_TAPS)
    axis.piece = min(slot_bytes(plan, most) // plan.item // (1 + lines.reach) - axis.reach, axis.blocks)
    return axis.piece >= min(axis.blocks, <int64_t> LEAST_BLOCKS)

# How many lines of the last axis but one fit.
cdef int64_t fitting_lines(const GatherPlan* plan, int64_t most) noexcept nogil:
    cdef const GatherAxis* lines = &plan.axes[plan.last - 1]
    return max(min(slot_bytes(plan, most) // plan.line_pitch - lines.reach, lines.blocks), 1)

# Whether fewer channels, in more lines, are better: when the lines serve few blocks, or are short runs of the output.
cdef bint has_few_lines(const GatherPlan* plan, int64_t count) noexcept nogil:
    cdef const GatherAxis* lines = &plan.axes[plan.last - 1]
    return count < lines.blocks and (count < 2 * lines.reach or count * plan.line_pitch < LONG_RUN)

# Slots an odd number of cache lines apart spread over the whole cache.
cdef int64_t odd_lines(int64_t bytes) noexcept nogil:
    return ((bytes + DMLCY_LINE - 1) // DMLCY_LINE | 1) * DMLCY_LINE

# Whether no two taps read the same element.
cdef bint is_apart(const GatherAxis* axis) noexcept nogil:
    return axis.stride >= (axis.window - 1) * axis.dilation + 1

# Whether gathering the elements of a tap is fast.
cdef bint has_known_step(const GatherPlan* plan) noexcept nogil:
    cdef const GatherAxis* axis = &plan.axes[plan.last]
    return magnitude(axis.stride * axis.step) <= KNOWN_STEP * plan.item

cdef void choose_turn(GatherPlan* plan) noexcept nogil:
    cdef const GatherAxis* axis = &plan.axes[plan.last]
    cdef bint turns = axis.window > 1 and axis.dilation == 1 and (is_apart(axis) or axis.window > axis.blocks)
    plan.group = 1
    plan.turn = TURN_NOTHING
    plan.gapped = False
    if plan.channel_step == plan.item and axis.step != plan.item and plan.channels > 1:
        plan.turn = TURN_CHANNELS
        plan.group = even(plan.channels, DMLCY_LINE // plan.item)
        if turns and plan.channels * plan.item < 16 and axis.step == plan.channels * plan.item:
            plan.turn = TURN_TAPS
    elif turns and (axis.step == plan.item or not has_known_step(plan)):
        plan.turn = TURN_TAPS
        plan.gapped = axis.step != plan.item

# Whether taps are copied without cells.
cdef bint is_direct(const GatherPlan* plan) noexcept nogil:
    cdef const GatherAxis* axis = &plan.axes[plan.last]
    if plan.streams or plan.group > 1 or axis.block_out_step != plan.item:
        return False
    return (plan.turn == TURN_TAPS or has_known_step(plan)
            or is_apart(axis) and is_apart(&plan.axes[plan.last - 1]))

cdef void choose_boxes(GatherPlan* plan) noexcept nogil:
    cdef GatherAxis* lines = &plan.axes[plan.last - 1]
    cdef GatherAxis* axis = &plan.axes[plan.last]
    cdef int64_t taps = min(axis.window, <int64_t> SLOTS)
    cdef int64_t most
    plan.direct = is_direct(plan)
    most = NEAR_BYTES if plan.group == 1 and not plan.streams else CELL_BYTES
    if not fits(plan, lines.window, taps, most):
        most = CELL_BYTES
        if not fits(plan, lines.window, taps, most) and not fits(plan, 1, taps, most):
            fits(plan, 1, 1, most)
    axis.piece = even(axis.blocks, axis.piece)
    plan.line_pitch = (axis.piece + axis.reach) * plan.item
    while plan.turn == TURN_CHANNELS and plan.group * plan.item > 16 and has_few_lines(plan, fitting_lines(plan, most)):
        plan.group = (plan.group + 1) // 2
    lines.piece = even(lines.blocks, fitting_lines(plan, most))
    plan.slot_pitch = odd_lines((lines.piece + lines.reach) * plan.line_pitch)
    plan.line_slot_pitch = plan.slot_pitch * axis.slots
    plan.channel_pitch = odd_lines(plan.line_slot_pitch * lines.slots)
    if plan.turn == TURN_TAPS and plan.group > 1:
        plan.channel_pitch = plan.slot_pitch
        plan.slot_pitch *= plan.group
        plan.line_slot_pitch *= plan.group
    if plan.direct:
        plan.channel_pitch = plan.channel_out_step
        plan.line_pitch = lines.block_out_step
        plan.slot_pitch = axis.tap_out_step
        plan.line_slot_pitch = lines.tap_out_step

# Whether boxes write enough bytes at a time: each time, a cache line at both ends is incomplete.
cdef bint has_long_runs(const GatherPlan* plan) noexcept nogil:
    cdef const GatherAxis* lines = &plan.axes[plan.last - 1]
    cdef const GatherAxis* axis = &plan.axes[plan.last]
    cdef int64_t run = axis.piece * plan.item
    if axis.piece == axis.blocks:
        run *= lines.piece
        if lines.piece == lines.blocks and lines.tap_out_step == axis.window * run:
            run *= axis.window
    return run >= LONG_RUN

# Returns 0, or -1 when memory ran out.
cdef int window_gather(WindowGather* a) noexcept nogil:
    cdef int64_t bytes = bytes_of(&a.output)
    cdef int64_t moved = bytes_of(&a.input) + bytes
    cdef GatherPlan plan
    cdef const GatherAxis* axis
    cdef int64_t boxes
    cdef int d
    plan.input = a.input.data
    plan.output = a.output.data
    plan.item = a.input.item
    plan.moves = moves_of(a.input.item)
    if a.input.item == 1:
        plan.scatter, plan.clear = scatter_1, clear_1
    if a.input.item == 2:
        plan.scatter, plan.clear = scatter_2, clear_2
    if a.input.item == 4:
        plan.scatter, plan.clear = scatter_4, clear_4
    if a.input.item == 8:
        plan.scatter, plan.clear = scatter_8, clear_8
    plan.channels = a.input.sizes[1]
    plan.batch_step = a.input.strides[0]
    plan.channel_step = a.input.strides[1]
    plan.batch_out_step = a.output.strides[0]
    collect_axes(&plan, a)
    choose_turn(&plan)
    # Boxes of several channels write to so many places that streaming pays from half as much on; others write long
    # runs, which the cache takes in well until they are twice as much.
    plan.streams = a.output.strides[2] == plan.item and stream_pays(2 * moved if plan.group > 1 else moved // 2)
    choose_boxes(&plan)
    if plan.streams and not has_long_runs(&plan):
        plan.streams = False
        choose_turn(&plan)
        choose_boxes(&plan)
    axis = &plan.axes[plan.last]
    plan.far = moved > SERIAL_BYTES and not plan.gapped and axis.piece * plan.item < SHORT_LINE
    plan.far = plan.far and axis.window * axis.step >= DMLCY_LINE and axis.stride <= 2 * axis.window
    plan.asked = 0
    if plan.direct and plan.turn == TURN_NOTHING and stream_pays(2 * moved):
        plan.asked = plan.axes[plan.last - 1].piece * plan.line_pitch
        if plan.asked > ASKED_BYTES:
            plan.asked = 0
    boxes = a.input.sizes[0] * ceil_div(plan.channels, plan.group)
    for d in range(plan.last + 1):
        axis = &plan.axes[d]
        boxes *= ceil_div(axis.window, axis.taps) * ceil_div(axis.blocks, axis.piece)
    return parallel_for(gather_boxes, &plan, boxes, boxes if bytes <= SERIAL_BYTES else grain_of(bytes // boxes))


# UNFOLD

cdef struct Unfold:
    Tensor input
    Tensor output
    int64_t window_sizes[MAX_RANK]
    int64_t strides[MAX_RANK]
    int64_t dilations[MAX_RANK]
    int64_t start_padding[MAX_RANK]
    int64_t end_padding[MAX_RANK]
    int64_t spatial
    int64_t image[MAX_RANK]
    int64_t padded[MAX_RANK]
    int64_t extent[MAX_RANK]
    int64_t blocks[MAX_RANK]
    int64_t N
    int64_t C
    int64_t volume

# By feature level, the values allowed (bit n: value n): data types, ranks, enum members.
cdef extern from *:
    """
    static const uint32_t dmlcy_UNFOLD_T[15] = {
        0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0,
        0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0xffe,
    };
    static const uint32_t dmlcy_UNFOLD_R_RANKS[15] = {
        0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0,
        0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x1f8,
    };
    """
    const uint32_t* UNFOLD_T "dmlcy_UNFOLD_T"
    const uint32_t* UNFOLD_R_RANKS "dmlcy_UNFOLD_R_RANKS"


# Whether the operator and its inputs hold at the level.
cdef bint unfold_inputs_hold(Unfold* a, int level) noexcept nogil:
    return (
        level >= LEVEL_6_4
        and tensor_holds(&a.input, UNFOLD_T[level], UNFOLD_R_RANKS[level])
    )


# Takes the attributes from Python; 0 where one is not acceptable.
cdef int unfold_take(
    Unfold* a,
    int level,
    object window_sizes,
    object strides,
    object dilations,
    object start_padding,
    object end_padding,
) except -1:
    a.spatial = a.input.rank - 2
    if not take_uints(window_sizes, a.spatial, 1, 4294967295, a.window_sizes):
        return 0
    if not take_uints(strides, a.spatial, 1, 4294967295, a.strides):
        return 0
    if not take_uints(dilations, a.spatial, 1, 4294967295, a.dilations):
        return 0
    if not take_uints(start_padding, a.spatial, 0, 4294967295, a.start_padding):
        return 0
    if not take_uints(end_padding, a.spatial, 0, 4294967295, a.end_padding):
        return 0
    return 1


# Computes the lets and the sizes of the output; whether every rule holds. An int64 that overflows does not hold.
cdef bint unfold_holds(Unfold* a, int level) noexcept nogil:
    cdef bint overflow = False
    cdef int64_t d
    for d in range(a.spatial):
        a.extent[d] = checked_add(checked_mul(a.dilations[d], a.window_sizes[d] - 1, &overflow), 1, &overflow)
    for d in range(a.spatial):
        a.image[d] = a.input.sizes[2 + d]
    for d in range(a.spatial):
        a.padded[d] = a.image[d] + a.start_padding[d] + a.end_padding[d]
    # window_sizes-fits
    for d in range(a.spatial):
        if not (a.extent[d] <= a.padded[d]):
            return False
    a.N = a.input.sizes[0]
    a.C = a.input.sizes[1]
    a.volume = product(a.window_sizes, a.spatial, &overflow)
    for d in range(a.spatial):
        a.blocks[d] = floor_div(a.padded[d] - a.extent[d], a.strides[d]) + 1
    a.output.dtype = a.input.dtype
    a.output.item = a.input.item
    a.output.rank = 0
    if not (
        append_size(&a.output, a.N)
        and append_size(&a.output, checked_mul(a.C, a.volume, &overflow))
        and append_size(&a.output, product(a.blocks, a.spatial, &overflow))
        and tensor_holds(&a.output, UNFOLD_T[level], UNFOLD_R_RANKS[level])
    ):
        return False
    # output-dimensions
    if not (a.output.rank <= a.input.rank):
        return False
    return not overflow


cdef int unfold_run(const Unfold* a) noexcept nogil:
    cdef WindowGather work
    work.input = a.input
    work.output = a.output
    set_rank(&work.output, 3)
    work.spatial = <int>a.spatial
    memcpy(work.window, a.window_sizes, sizeof(work.window))
    memcpy(work.strides, a.strides, sizeof(work.strides))
    memcpy(work.dilations, a.dilations, sizeof(work.dilations))
    memcpy(work.start, a.start_padding, sizeof(work.start))
    memcpy(work.blocks, a.blocks, sizeof(work.blocks))
    return window_gather(&work)


# Runs on checked fields. None: `out` is not acceptable, and nothing was written.
cdef object unfold_call(Unfold* a, ndarray input_array, object out):
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
        raise RuntimeError("unfold(): input was changed during the call")
    if recordings is None:
        input_array = aligned(input_array, &a.input)
    else:
        input_array = packed(input_array, &a.input)
    if is_brief(&a.input) and is_brief(&a.output):
        status = unfold_run(a)
    else:
        with nogil:
            status = unfold_run(a)
    if status != 0:
        raise MemoryError("unfold: no memory for scratch rows")
    write_back(output_array, output_result)
    if recordings is not None:
        from dmlcy._record import keep

        keep(recordings, "UNFOLD", {
            "input": input_array,
            "output": packed(output_result, &a.output),
            "window_sizes": tuple_of(a.spatial, a.window_sizes),
            "strides": tuple_of(a.spatial, a.strides),
            "dilations": tuple_of(a.spatial, a.dilations),
            "start_padding": tuple_of(a.spatial, a.start_padding),
            "end_padding": tuple_of(a.spatial, a.end_padding),
        })
    return output_array if out is None else out


def unfold(
    input,
    *,
    window_sizes,
    strides=1,
    dilations=1,
    start_padding=0,
    end_padding=0,
    out=None,
):
    """Copy each position of a sliding window into a column (im2col).

    Parameters
    ----------
    input : array
        The image, with a batch, channels and 1 to 6 spatial axes S. Its sizes
        are {N, C, S...}. Rank 3 to 8; data type FLOAT64, FLOAT32, FLOAT16,
        INT64, INT32, INT16, INT8, UINT64, UINT32, UINT16 or UINT8.
    window_sizes : int or sequence of ints
        Size of the window along each spatial axis. At least 1. A sequence has
        ``spatial`` entries.
    strides : int or sequence of ints, default 1
        Step of the window along each spatial axis. At least 1. A sequence has
        ``spatial`` entries.
    dilations : int or sequence of ints, default 1
        Distance between the elements of a window along each spatial axis. At
        least 1. A sequence has ``spatial`` entries.
    start_padding : int or sequence of ints, default 0
        Number of zeros at the start of each spatial axis of the image. A
        sequence has ``spatial`` entries.
    end_padding : int or sequence of ints, default 0
        Number of zeros at the end of each spatial axis of the image. A sequence
        has ``spatial`` entries.
    out : array, optional
        Where the result is written: any layout, the data type and sizes of the
        result, no memory shared with an input.

    Returns
    -------
    numpy.ndarray
        The columns: one column per position of the window (a block), and one
        row per channel and window element. FOLD sums the columns back into an
        image.
        Sizes ``[N, C * volume, prod(blocks)]``.
        Data type of ``input``.
        ``out`` itself where it is given.

    Raises
    ------
    InvalidDescError, InvalidDataTypeError, FeatureLevelError
        With every violation in ``.violations``: those of each field (data type,
        rank, range, length), and these:

        ``DML-UNFOLD-window_sizes-fits``
            window_sizes does not fit. Must hold for d in spatial:
            ``extent[d] <= padded[d]``

        ``DML-UNFOLD-output-dimensions``
            output has too many dimensions. Must hold:
            ``rank(output) <= rank(input)``

    See Also
    --------
    dmlcy.desc.Unfold : Its desc, for ``check`` and ``compile``.

    Notes
    -----
    The formulas read:

    ``spatial = rank(input) - 2``
        Number of spatial axes of the input: all but the batch and the channels.
    ``image[d] = sizes(input)[2 + d]``
        Size of the image along each spatial axis.
    ``padded[d] = image[d] + start_padding[d] + end_padding[d]``
        Size of each spatial axis after padding.
    ``extent[d] = dilations[d] * (window_sizes[d] - 1) + 1``
        Elements that the window spans along each spatial axis.
    ``blocks[d] = (padded[d] - extent[d]) // strides[d] + 1``
        Number of positions of the window along each spatial axis.
    ``N = sizes(input)[0]``
        Batch size.
    ``C = sizes(input)[1]``
        Channels of the image.
    ``volume = prod(window_sizes)``
        Elements of a window.

    References
    ----------
    UNFOLD, feature level 6_4:
    https://learn.microsoft.com/windows/ai/directml/api/ns-directml-dml_unfold_operator_desc

    Examples
    --------
    >>> import numpy as np
    >>> import dmlcy as dml
    >>> x = np.arange(25, dtype=np.float32).reshape(1, 1, 5, 5)
    >>> dml.unfold(
    ...     x,
    ...     window_sizes=(3, 3),
    ...     strides=(1, 1),
    ...     dilations=(1, 1),
    ...     start_padding=(0, 0),
    ...     end_padding=(0, 0),
    ... )
    array([[[ 0.,  1.,  2.,  5.,  6.,  7., 10., 11., 12.],
            [ 1.,  2.,  3.,  6.,  7.,  8., 11., 12., 13.],
            [ 2.,  3.,  4.,  7.,  8.,  9., 12., 13., 14.],
            [ 5.,  6.,  7., 10., 11., 12., 15., 16., 17.],
            [ 6.,  7.,  8., 11., 12., 13., 16., 17., 18.],
            [ 7.,  8.,  9., 12., 13., 14., 17., 18., 19.],
            [10., 11., 12., 15., 16., 17., 20., 21., 22.],
            [11., 12., 13., 16., 17., 18., 21., 22., 23.],
            [12., 13., 14., 17., 18., 19., 22., 23., 24.]]], dtype=float32)
    """
    cdef Unfold a
    cdef int level = current_level()
    cdef ndarray input_array = as_array(input)
    cdef object result
    if (
        view(input_array, &a.input)
        and unfold_inputs_hold(&a, level)
        and unfold_take(
            &a, level, window_sizes, strides, dilations, start_padding, end_padding
        )
        and unfold_holds(&a, level)
    ):
        result = unfold_call(&a, input_array, out)
        if result is not None:
            return result
    from dmlcy._desc.check import refuse

    return refuse("UNFOLD", {
        "input": input,
        "window_sizes": window_sizes,
        "strides": strides,
        "dilations": dilations,
        "start_padding": start_padding,
        "end_padding": end_padding,
        "out": out,
    }, level)


cdef class UnfoldOperator(CompiledOperator):
    """UNFOLD, checked once: called with arrays of the sizes and data types of its desc."""

    cdef Unfold fields

    def __cinit__(self, *args, **kwargs):
        self.inputs = 1

    def __init__(self, desc, int level):
        from dmlcy._desc.check import refuse_desc

        cdef Unfold a
        cdef Tensor computed
        if not (
            level < LEVELS
            and describe(desc.input, &a.input)
            and unfold_inputs_hold(&a, level)
            and unfold_take(
                &a,
                level,
                desc.window_sizes,
                desc.strides,
                desc.dilations,
                desc.start_padding,
                desc.end_padding,
            )
            and unfold_holds(&a, level)
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
        cdef Unfold a
        cdef ndarray input_array
        cdef object result
        memcpy(&a, &self.fields, sizeof(a))     # an assignment would copy twice
        input_array = match(<object>inputs[0], &a.input)
        if (
            input_array is not None
        ):
            result = unfold_call(&a, input_array, out)
            if result is not None:
                return result
        from dmlcy._desc.check import refuse_call

        return refuse_call(self.desc, {
            "input": <object>inputs[0],
            "out": out,
        })


take_vectorcalls(UnfoldOperator)
