# cython: language_level=3
"""pad: PADDING."""

from cpython.object cimport PyObject
from libc.math cimport fabs, floor, isfinite
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset
from numpy cimport ndarray
from dmlcy._runtime.arguments cimport take_enum, take_float, take_uints
from dmlcy._runtime.checks cimport append_sizes, ceil_div, floor_mod, magnitude, power, tensor_holds
from dmlcy._runtime.compiled cimport CompiledOperator, as_computed, describe, match, take_vectorcalls, unchanged
from dmlcy._runtime.half cimport dmlcy_half_of_float
from dmlcy._runtime.level cimport current_level
from dmlcy._runtime.moves cimport dmlcy_ask
from dmlcy._runtime.recording cimport current_recordings, packed, tuple_of
from dmlcy._runtime.copy cimport dmlcy_copy, dmlcy_fill
from dmlcy._runtime.stream cimport (
    dmlcy_stream, dmlcy_stream_advance, dmlcy_stream_begin, dmlcy_stream_end, dmlcy_stream_fill, dmlcy_stream_put,
    dmlcy_stream_room, dmlcy_stream_seek, DMLCY_ROOM, stream_pays,
)
from dmlcy._runtime.tensor cimport (
    FLOAT16, FLOAT32, FLOAT64, INT16, INT32, INT64, INT8, MAX_RANK, Tensor, UINT16, UINT32, UINT64, UINT8, aligned,
    as_array, bytes_of, is_brief, new_array, out_array, overlap, overlaps_itself, view, write_back,
)
from dmlcy._runtime.threads cimport SERIAL_BYTES, grain_of, parallel_for

cdef enum:
    LEVEL_1_0 = 0
    LEVEL_2_1 = 2
    LEVELS = 15
    PADDING_MODE_CONSTANT = 0
    PADDING_MODE_EDGE = 1
    PADDING_MODE_REFLECTION = 2
    PADDING_MODE_SYMMETRIC = 3
    PADDING_MODE_WRAP = 4

from dmlcy._generated.enums import PaddingMode

# Padding: each row of the output is padding, a run of the input, and padding.

# The element of an axis of n elements that position p reads; p may be negative, or n and more.
ctypedef int64_t (*IndexMap)(int64_t p, int64_t n) noexcept nogil

cdef struct Pad:
    Tensor input
    Tensor output
    int64_t start[MAX_RANK]         # positions before the input, by axis
    IndexMap index                  # NULL: padding takes `fill`
    uint8_t fill[8]                 # an element

cdef enum:
    EDGE_POSITIONS = 1024           # padding positions of a row that are looked up at once, on the stack
    LINES = 256                     # padding lines whose sources are looked up beforehand
    PIECE_BYTES = 262144            # of a row that one thread writes at once
    BUFFER = 2048                   # words, for all lines of a plane
    STRIDED_COST = 16               # bytes that are copied in the time of a strided element
    CACHED = 512                    # cache lines that certainly stay while they are read several times
    STRIDED_POSITIONS = 256         # of a row whose cache lines the next row reads again: they stay for it
    CELL_BYTES = 2048               # at most, of contiguous elements that are padded together
    SHORT = 16                      # a row of fewer elements gives way to a longer axis
    ASKED_BYTES = 4096              # of padding that is written out of order
    LONG_ROW = 320                  # bytes; shorter ones are written faster than streamed

cdef struct PadAxis:
    int64_t n                       # positions of the input
    int64_t size                    # of the output
    int64_t start                   # where the input begins in the output
    int64_t step                    # bytes, in the input
    int64_t out_step

# The positions of a row that are written at once.
cdef struct PadPiece:
    int64_t before                  # padding positions before the input
    int64_t body                    # positions of the input
    int64_t after                   # padding positions after it
    int64_t first                   # offset of the first position of the body, in bytes of the input
    int64_t edges[EDGE_POSITIONS]   # offsets of what the positions before and after read

cdef struct PadPlan

# Writes a piece of `count` rows, which follow each other along the lines, in the input too; a source of NULL means rows
# of `fill`. The stream, unless NULL, writes the output.
ctypedef void (*PadRows)(const PadPlan* plan, const PadPiece* piece, dmlcy_stream* stream, int64_t count,
                         const char* source, char* target) noexcept nogil

cdef struct PadPlan:
    const char* input
    char* output
    IndexMap index
    uint64_t word                   # `fill`, repeated
    PadRows write
    int64_t cell                    # bytes that move together at each position of the row
    PadAxis row
    PadAxis line                    # along which rows follow each other
    int64_t sources[LINES]          # by line of padding: the line of the input that it reads
    PadAxis outer[MAX_RANK]         # the other axes, slowest first
    int outers
    int64_t rows                    # product of the sizes of the lines and the outer axes
    int64_t piece                   # positions of the row in a piece
    bint turned                     # the input is contiguous along the lines, the output along the row
    bint dense                      # the output has no gaps, and rows lie in it in the order of writing
    bint streamed
    bint buffered                   # the stream takes whole planes, which are written to a buffer

# Where a thread is: one position of each outer axis.
cdef struct PadCursor:
    int64_t at[MAX_RANK]
    int64_t source[MAX_RANK]        # offset in bytes of the input
    bint outside[MAX_RANK]          # takes `fill`
    int outsides                    # how many of them
    const char* input
    char* output

# Loops with a constant step are vectorized.
cdef inline void copy_1(const char* source, int64_t step, char* target, int64_t out_step,
                        int64_t count) noexcept nogil:
    cdef int64_t i
    if out_step != 1:
        for i in range(count):
            (<uint8_t*> (target + i * out_step))[0] = (<const uint8_t*> (source + i * step))[0]
    elif step == 1:
        dmlcy_copy(target, source, count * 1)
    elif step == 2:
        for i in range(count):
            (<uint8_t*> target)[i] = (<const uint8_t*> source)[2 * i]
    elif step == -1:
        for i in range(count):
            (<uint8_t*> target)[i] = (<const uint8_t*> source)[-1 * i]
    else:
        for i in range(count):
            (<uint8_t*> target)[i] = (<const uint8_t*> (source + i * step))[0]

cdef inline void pick_1(const char* source, const int64_t* offsets, char* target, int64_t out_step,
                        int64_t count) noexcept nogil:
    cdef int64_t i
    for i in range(count):
        (<uint8_t*> (target + i * out_step))[0] = (<const uint8_t*> (source + offsets[i]))[0]

cdef inline void fill_1(uint64_t word, char* target, int64_t out_step, int64_t count) noexcept nogil:
    cdef int64_t i
    if out_step == 1:
        dmlcy_fill(target, word, count * 1)
        return
    for i in range(count):
        (<uint8_t*> (target + i * out_step))[0] = <uint8_t> word

# Transposes 64 positions of 64 lines, which are contiguous across in the input and along in the output. Each cache line
# is read and written once, by way of a buffer: lines a power of two apart would push each other out of the cache.
# 8 positions are woven into words, and the words are transposed.
cdef inline void turn_1(const char* source, int64_t step, char* target, int64_t line_out_step) noexcept nogil:
    cdef uint8_t tile[8][512]
    cdef const uint8_t* at0
    cdef const uint8_t* at1
    cdef const uint8_t* at2
    cdef const uint8_t* at3
    cdef const uint8_t* at4
    cdef const uint8_t* at5
    cdef const uint8_t* at6
    cdef const uint8_t* at7
    cdef int64_t i, j
    for j in range(8):
        at0 = <const uint8_t*> (source + (8 * j + 0) * step)
        at1 = <const uint8_t*> (source + (8 * j + 1) * step)
        at2 = <const uint8_t*> (source + (8 * j + 2) * step)
        at3 = <const uint8_t*> (source + (8 * j + 3) * step)
        at4 = <const uint8_t*> (source + (8 * j + 4) * step)
        at5 = <const uint8_t*> (source + (8 * j + 5) * step)
        at6 = <const uint8_t*> (source + (8 * j + 6) * step)
        at7 = <const uint8_t*> (source + (8 * j + 7) * step)
        for i in range(64):
            tile[j][8 * i + 0] = at0[i]
            tile[j][8 * i + 1] = at1[i]
            tile[j][8 * i + 2] = at2[i]
            tile[j][8 * i + 3] = at3[i]
            tile[j][8 * i + 4] = at4[i]
            tile[j][8 * i + 5] = at5[i]
            tile[j][8 * i + 6] = at6[i]
            tile[j][8 * i + 7] = at7[i]
    for i in range(64):
        for j in range(8):
            memcpy(target + i * line_out_step + 8 * j, &tile[j][8 * i], 8)

cdef void turn_rows_1(const PadPlan* plan, int64_t count, int64_t lines, const char* source,
                      char* target) noexcept nogil:
    cdef int64_t step = plan.row.step, out_step = plan.line.out_step
    cdef int64_t tiled = count // 64 * 64
    cdef int64_t left = lines % 64
    cdef int64_t at, i
    for i in range(0, lines - left, 64):
        for at in range(0, tiled, 64):
            turn_1(source + at * step + i * 1, step, target + at * 1 + i * out_step, out_step)
    for i in range(lines):
        at = tiled if i < lines - left else 0
        copy_1(source + at * step + i * 1, step, target + at * 1 + i * out_step, 1, count - at)

cdef void fill_rows_1(const PadPlan* plan, const PadPiece* piece, int64_t count, char* target) noexcept nogil:
    cdef int64_t positions = piece.before + piece.body + piece.after
    cdef int64_t i
    if plan.dense and positions == plan.row.size:
        dmlcy_fill(target, plan.word, count * positions * 1)
        return
    for i in range(count):
        fill_1(plan.word, target + i * plan.line.out_step, plan.row.out_step, positions)

cdef inline void edge_1(const PadPlan* plan, const char* source, const int64_t* offsets, char* target,
                        int64_t count) noexcept nogil:
    if plan.index == NULL:
        fill_1(plan.word, target, plan.row.out_step, count)
    else:
        pick_1(source, offsets, target, plan.row.out_step, count)

cdef void rows_of_1(const PadPlan* plan, const PadPiece* piece, dmlcy_stream* stream, int64_t count,
                    const char* source, char* target) noexcept nogil:
    cdef int64_t body = piece.before * plan.row.out_step
    cdef int64_t after = body + piece.body * plan.row.out_step
    if source == NULL:
        fill_rows_1(plan, piece, count, target)
        return
    if plan.turned:
        turn_rows_1(plan, piece.body, count, source + piece.first, target + body)
    for _ in range(count):  # the body first: processors fetch what follows when it is read in order
        if not plan.turned:
            copy_1(source + piece.first, plan.row.step, target + body, plan.row.out_step, piece.body)
        edge_1(plan, source, piece.edges, target, piece.before)
        edge_1(plan, source, piece.edges + piece.before, target + after, piece.after)
        source += plan.line.step
        target += plan.line.out_step

# The stream takes a part of the row at a time.
cdef void stream_edge_1(const PadPlan* plan, dmlcy_stream* stream, const char* source, const int64_t* offsets,
                        int64_t count) noexcept nogil:
    cdef int64_t part
    if plan.index == NULL:
        dmlcy_stream_fill(stream, plan.word, count * 1)
        return
    while count > 0:
        part = min(count, <int64_t> DMLCY_ROOM // 1)
        pick_1(source, offsets, dmlcy_stream_room(stream), 1, part)
        dmlcy_stream_advance(stream, part * 1)
        offsets += part
        count -= part

cdef void stream_body_1(dmlcy_stream* stream, const char* source, int64_t step, int64_t count) noexcept nogil:
    cdef int64_t part
    if step == 1:
        dmlcy_stream_put(stream, source, count * 1)
        return
    while count > 0:
        part = min(count, <int64_t> DMLCY_ROOM // 1)
        copy_1(source, step, dmlcy_stream_room(stream), 1, part)
        dmlcy_stream_advance(stream, part * 1)
        source += part * step
        count -= part

cdef void stream_of_1(const PadPlan* plan, const PadPiece* piece, dmlcy_stream* stream, int64_t count,
                      const char* source, char* target) noexcept nogil:
    cdef int64_t i
    for i in range(count):
        dmlcy_stream_seek(stream, target + i * plan.line.out_step)
        if source == NULL:
            dmlcy_stream_fill(stream, plan.word, (piece.before + piece.body + piece.after) * 1)
            continue
        stream_edge_1(plan, stream, source, piece.edges, piece.before)
        stream_body_1(stream, source + piece.first, plan.row.step, piece.body)
        stream_edge_1(plan, stream, source, piece.edges + piece.before, piece.after)
        source += plan.line.step

# Loops with a constant step are vectorized.
cdef inline void copy_2(const char* source, int64_t step, char* target, int64_t out_step,
                        int64_t count) noexcept nogil:
    cdef int64_t i
    if out_step != 2:
        for i in range(count):
            (<uint16_t*> (target + i * out_step))[0] = (<const uint16_t*> (source + i * step))[0]
    elif step == 2:
        dmlcy_copy(target, source, count * 2)
    elif step == 4:
        for i in range(count):
            (<uint16_t*> target)[i] = (<const uint16_t*> source)[2 * i]
    elif step == -2:
        for i in range(count):
            (<uint16_t*> target)[i] = (<const uint16_t*> source)[-1 * i]
    else:
        for i in range(count):
            (<uint16_t*> target)[i] = (<const uint16_t*> (source + i * step))[0]

cdef inline void pick_2(const char* source, const int64_t* offsets, char* target, int64_t out_step,
                        int64_t count) noexcept nogil:
    cdef int64_t i
    for i in range(count):
        (<uint16_t*> (target + i * out_step))[0] = (<const uint16_t*> (source + offsets[i]))[0]

cdef inline void fill_2(uint64_t word, char* target, int64_t out_step, int64_t count) noexcept nogil:
    cdef int64_t i
    if out_step == 2:
        dmlcy_fill(target, word, count * 2)
        return
    for i in range(count):
        (<uint16_t*> (target + i * out_step))[0] = <uint16_t> word

# Transposes 32 positions of 32 lines, which are contiguous across in the input and along in the output. Each cache line
# is read and written once, by way of a buffer: lines a power of two apart would push each other out of the cache.
# 4 positions are woven into words, and the words are transposed.
cdef inline void turn_2(const char* source, int64_t step, char* target, int64_t line_out_step) noexcept nogil:
    cdef uint16_t tile[8][128]
    cdef const uint16_t* at0
    cdef const uint16_t* at1
    cdef const uint16_t* at2
    cdef const uint16_t* at3
    cdef int64_t i, j
    for j in range(8):
        at0 = <const uint16_t*> (source + (4 * j + 0) * step)
        at1 = <const uint16_t*> (source + (4 * j + 1) * step)
        at2 = <const uint16_t*> (source + (4 * j + 2) * step)
        at3 = <const uint16_t*> (source + (4 * j + 3) * step)
        for i in range(32):
            tile[j][4 * i + 0] = at0[i]
            tile[j][4 * i + 1] = at1[i]
            tile[j][4 * i + 2] = at2[i]
            tile[j][4 * i + 3] = at3[i]
    for i in range(32):
        for j in range(8):
            memcpy(target + i * line_out_step + 8 * j, &tile[j][4 * i], 8)

cdef void turn_rows_2(const PadPlan* plan, int64_t count, int64_t lines, const char* source,
                      char* target) noexcept nogil:
    cdef int64_t step = plan.row.step, out_step = plan.line.out_step
    cdef int64_t tiled = count // 32 * 32
    cdef int64_t left = lines % 32
    cdef int64_t at, i
    for i in range(0, lines - left, 32):
        for at in range(0, tiled, 32):
            turn_2(source + at * step + i * 2, step, target + at * 2 + i * out_step, out_step)
    for i in range(lines):
        at = tiled if i < lines - left else 0
        copy_2(source + at * step + i * 2, step, target + at * 2 + i * out_step, 2, count - at)

cdef void fill_rows_2(const PadPlan* plan, const PadPiece* piece, int64_t count, char* target) noexcept nogil:
    cdef int64_t positions = piece.before + piece.body + piece.after
    cdef int64_t i
    if plan.dense and positions == plan.row.size:
        dmlcy_fill(target, plan.word, count * positions * 2)
        return
    for i in range(count):
        fill_2(plan.word, target + i * plan.line.out_step, plan.row.out_step, positions)

cdef inline void edge_2(const PadPlan* plan, const char* source, const int64_t* offsets, char* target,
                        int64_t count) noexcept nogil:
    if plan.index == NULL:
        fill_2(plan.word, target, plan.row.out_step, count)
    else:
        pick_2(source, offsets, target, plan.row.out_step, count)

cdef void rows_of_2(const PadPlan* plan, const PadPiece* piece, dmlcy_stream* stream, int64_t count,
                    const char* source, char* target) noexcept nogil:
    cdef int64_t body = piece.before * plan.row.out_step
    cdef int64_t after = body + piece.body * plan.row.out_step
    if source == NULL:
        fill_rows_2(plan, piece, count, target)
        return
    if plan.turned:
        turn_rows_2(plan, piece.body, count, source + piece.first, target + body)
    for _ in range(count):  # the body first: processors fetch what follows when it is read in order
        if not plan.turned:
            copy_2(source + piece.first, plan.row.step, target + body, plan.row.out_step, piece.body)
        edge_2(plan, source, piece.edges, target, piece.before)
        edge_2(plan, source, piece.edges + piece.before, target + after, piece.after)
        source += plan.line.step
        target += plan.line.out_step

# The stream takes a part of the row at a time.
cdef void stream_edge_2(const PadPlan* plan, dmlcy_stream* stream, const char* source, const int64_t* offsets,
                        int64_t count) noexcept nogil:
    cdef int64_t part
    if plan.index == NULL:
        dmlcy_stream_fill(stream, plan.word, count * 2)
        return
    while count > 0:
        part = min(count, <int64_t> DMLCY_ROOM // 2)
        pick_2(source, offsets, dmlcy_stream_room(stream), 2, part)
        dmlcy_stream_advance(stream, part * 2)
        offsets += part
        count -= part

cdef void stream_body_2(dmlcy_stream* stream, const char* source, int64_t step, int64_t count) noexcept nogil:
    cdef int64_t part
    if step == 2:
        dmlcy_stream_put(stream, source, count * 2)
        return
    while count > 0:
        part = min(count, <int64_t> DMLCY_ROOM // 2)
        copy_2(source, step, dmlcy_stream_room(stream), 2, part)
        dmlcy_stream_advance(stream, part * 2)
        source += part * step
        count -= part

cdef void stream_of_2(const PadPlan* plan, const PadPiece* piece, dmlcy_stream* stream, int64_t count,
                      const char* source, char* target) noexcept nogil:
    cdef int64_t i
    for i in range(count):
        dmlcy_stream_seek(stream, target + i * plan.line.out_step)
        if source == NULL:
            dmlcy_stream_fill(stream, plan.word, (piece.before + piece.body + piece.after) * 2)
            continue
        stream_edge_2(plan, stream, source, piece.edges, piece.before)
        stream_body_2(stream, source + piece.first, plan.row.step, piece.body)
        stream_edge_2(plan, stream, source, piece.edges + piece.before, piece.after)
        source += plan.line.step

# Loops with a constant step are vectorized.
cdef inline void copy_4(const char* source, int64_t step, char* target, int64_t out_step,
                        int64_t count) noexcept nogil:
    cdef int64_t i
    if out_step != 4:
        for i in range(count):
            (<uint32_t*> (target + i * out_step))[0] = (<const uint32_t*> (source + i * step))[0]
    elif step == 4:
        dmlcy_copy(target, source, count * 4)
    elif step == 8:
        for i in range(count):
            (<uint32_t*> target)[i] = (<const uint32_t*> source)[2 * i]
    elif step == -4:
        for i in range(count):
            (<uint32_t*> target)[i] = (<const uint32_t*> source)[-1 * i]
    else:
        for i in range(count):
            (<uint32_t*> target)[i] = (<const uint32_t*> (source + i * step))[0]

cdef inline void pick_4(const char* source, const int64_t* offsets, char* target, int64_t out_step,
                        int64_t count) noexcept nogil:
    cdef int64_t i
    for i in range(count):
        (<uint32_t*> (target + i * out_step))[0] = (<const uint32_t*> (source + offsets[i]))[0]

cdef inline void fill_4(uint64_t word, char* target, int64_t out_step, int64_t count) noexcept nogil:
    cdef int64_t i
    if out_step == 4:
        dmlcy_fill(target, word, count * 4)
        return
    for i in range(count):
        (<uint32_t*> (target + i * out_step))[0] = <uint32_t> word

# Transposes 16 positions of 16 lines, which are contiguous across in the input and along in the output. Each cache line
# is read and written once, by way of a buffer: lines a power of two apart would push each other out of the cache.
# 2 positions are woven into words, and the words are transposed.
cdef inline void turn_4(const char* source, int64_t step, char* target, int64_t line_out_step) noexcept nogil:
    cdef uint32_t tile[8][32]
    cdef const uint32_t* at0
    cdef const uint32_t* at1
    cdef int64_t i, j
    for j in range(8):
        at0 = <const uint32_t*> (source + (2 * j + 0) * step)
        at1 = <const uint32_t*> (source + (2 * j + 1) * step)
        for i in range(16):
            tile[j][2 * i + 0] = at0[i]
            tile[j][2 * i + 1] = at1[i]
    for i in range(16):
        for j in range(8):
            memcpy(target + i * line_out_step + 8 * j, &tile[j][2 * i], 8)

cdef void turn_rows_4(const PadPlan* plan, int64_t count, int64_t lines, const char* source,
                      char* target) noexcept nogil:
    cdef int64_t step = plan.row.step, out_step = plan.line.out_step
    cdef int64_t tiled = count // 16 * 16
    cdef int64_t left = lines % 16
    cdef int64_t at, i
    for i in range(0, lines - left, 16):
        for at in range(0, tiled, 16):
            turn_4(source + at * step + i * 4, step, target + at * 4 + i * out_step, out_step)
    for i in range(lines):
        at = tiled if i < lines - left else 0
        copy_4(source + at * step + i * 4, step, target + at * 4 + i * out_step, 4, count - at)

cdef void fill_rows_4(const PadPlan* plan, const PadPiece* piece, int64_t count, char* target) noexcept nogil:
    cdef int64_t positions = piece.before + piece.body + piece.after
    cdef int64_t i
    if plan.dense and positions == plan.row.size:
        dmlcy_fill(target, plan.word, count * positions * 4)
        return
    for i in range(count):
        fill_4(plan.word, target + i * plan.line.out_step, plan.row.out_step, positions)

cdef inline void edge_4(const PadPlan* plan, const char* source, const int64_t* offsets, char* target,
                        int64_t count) noexcept nogil:
    if plan.index == NULL:
        fill_4(plan.word, target, plan.row.out_step, count)
    else:
        pick_4(source, offsets, target, plan.row.out_step, count)

cdef void rows_of_4(const PadPlan* plan, const PadPiece* piece, dmlcy_stream* stream, int64_t count,
                    const char* source, char* target) noexcept nogil:
    cdef int64_t body = piece.before * plan.row.out_step
    cdef int64_t after = body + piece.body * plan.row.out_step
    if source == NULL:
        fill_rows_4(plan, piece, count, target)
        return
    if plan.turned:
        turn_rows_4(plan, piece.body, count, source + piece.first, target + body)
    for _ in range(count):  # the body first: processors fetch what follows when it is read in order
        if not plan.turned:
            copy_4(source + piece.first, plan.row.step, target + body, plan.row.out_step, piece.body)
        edge_4(plan, source, piece.edges, target, piece.before)
        edge_4(plan, source, piece.edges + piece.before, target + after, piece.after)
        source += plan.line.step
        target += plan.line.out_step

# The stream takes a part of the row at a time.
cdef void stream_edge_4(const PadPlan* plan, dmlcy_stream* stream, const char* source, const int64_t* offsets,
                        int64_t count) noexcept nogil:
    cdef int64_t part
    if plan.index == NULL:
        dmlcy_stream_fill(stream, plan.word, count * 4)
        return
    while count > 0:
        part = min(count, <int64_t> DMLCY_ROOM // 4)
        pick_4(source, offsets, dmlcy_stream_room(stream), 4, part)
        dmlcy_stream_advance(stream, part * 4)
        offsets += part
        count -= part

cdef void stream_body_4(dmlcy_stream* stream, const char* source, int64_t step, int64_t count) noexcept nogil:
    cdef int64_t part
    if step == 4:
        dmlcy_stream_put(stream, source, count * 4)
        return
    while count > 0:
        part = min(count, <int64_t> DMLCY_ROOM // 4)
        copy_4(source, step, dmlcy_stream_room(stream), 4, part)
        dmlcy_stream_advance(stream, part * 4)
        source += part * step
        count -= part

cdef void stream_of_4(const PadPlan* plan, const PadPiece* piece, dmlcy_stream* stream, int64_t count,
                      const char* source, char* target) noexcept nogil:
    cdef int64_t i
    for i in range(count):
        dmlcy_stream_seek(stream, target + i * plan.line.out_step)
        if source == NULL:
            dmlcy_stream_fill(stream, plan.word, (piece.before + piece.body + piece.after) * 4)
            continue
        stream_edge_4(plan, stream, source, piece.edges, piece.before)
        stream_body_4(stream, source + piece.first, plan.row.step, piece.body)
        stream_edge_4(plan, stream, source, piece.edges + piece.before, piece.after)
        source += plan.line.step

# Loops with a constant step are vectorized.
cdef inline void copy_8(const char* source, int64_t step, char* target, int64_t out_step,
                        int64_t count) noexcept nogil:
    cdef int64_t i
    if out_step != 8:
        for i in range(count):
            (<uint64_t*> (target + i * out_step))[0] = (<const uint64_t*> (source + i * step))[0]
    elif step == 8:
        dmlcy_copy(target, source, count * 8)
    elif step == 16:
        for i in range(count):
            (<uint64_t*> target)[i] = (<const uint64_t*> source)[2 * i]
    elif step == -8:
        for i in range(count):
            (<uint64_t*> target)[i] = (<const uint64_t*> source)[-1 * i]
    else:
        for i in range(count):
            (<uint64_t*> target)[i] = (<const uint64_t*> (source + i * step))[0]

cdef inline void pick_8(const char* source, const int64_t* offsets, char* target, int64_t out_step,
                        int64_t count) noexcept nogil:
    cdef int64_t i
    for i in range(count):
        (<uint64_t*> (target + i * out_step))[0] = (<const uint64_t*> (source + offsets[i]))[0]

cdef inline void fill_8(uint64_t word, char* target, int64_t out_step, int64_t count) noexcept nogil:
    cdef int64_t i
    if out_step == 8:
        dmlcy_fill(target, word, count * 8)
        return
    for i in range(count):
        (<uint64_t*> (target + i * out_step))[0] = <uint64_t> word

# Transposes 8 positions of 8 lines, which are contiguous across in the input and along in the output. Each cache line
# is read and written once, by way of a buffer: lines a power of two apart would push each other out of the cache.
# 1 positions are woven into words, and the words are transposed.
cdef inline void turn_8(const char* source, int64_t step, char* target, int64_t line_out_step) noexcept nogil:
    cdef uint64_t tile[8][8]
    cdef const uint64_t* at0
    cdef int64_t i, j
    for j in range(8):
        at0 = <const uint64_t*> (source + (1 * j + 0) * step)
        for i in range(8):
            tile[j][1 * i + 0] = at0[i]
    for i in range(8):
        for j in range(8):
            memcpy(target + i * line_out_step + 8 * j, &tile[j][1 * i], 8)

cdef void turn_rows_8(const PadPlan* plan, int64_t count, int64_t lines, const char* source,
                      char* target) noexcept nogil:
    cdef int64_t step = plan.row.step, out_step = plan.line.out_step
    cdef int64_t tiled = count // 8 * 8
    cdef int64_t left = lines % 8
    cdef int64_t at, i
    for i in range(0, lines - left, 8):
        for at in range(0, tiled, 8):
            turn_8(source + at * step + i * 8, step, target + at * 8 + i * out_step, out_step)
    for i in range(lines):
        at = tiled if i < lines - left else 0
        copy_8(source + at * step + i * 8, step, target + at * 8 + i * out_step, 8, count - at)

cdef void fill_rows_8(const PadPlan* plan, const PadPiece* piece, int64_t count, char* target) noexcept nogil:
    cdef int64_t positions = piece.before + piece.body + piece.after
    cdef int64_t i
    if plan.dense and positions == plan.row.size:
        dmlcy_fill(target, plan.word, count * positions * 8)
        return
    for i in range(count):
        fill_8(plan.word, target + i * plan.line.out_step, plan.row.out_step, positions)

cdef inline void edge_8(const PadPlan* plan, const char* source, const int64_t* offsets, char* target,
                        int64_t count) noexcept nogil:
    if plan.index == NULL:
        fill_8(plan.word, target, plan.row.out_step, count)
    else:
        pick_8(source, offsets, target, plan.row.out_step, count)

cdef void rows_of_8(const PadPlan* plan, const PadPiece* piece, dmlcy_stream* stream, int64_t count,
                    const char* source, char* target) noexcept nogil:
    cdef int64_t body = piece.before * plan.row.out_step
    cdef int64_t after = body + piece.body * plan.row.out_step
    if source == NULL:
        fill_rows_8(plan, piece, count, target)
        return
    if plan.turned:
        turn_rows_8(plan, piece.body, count, source + piece.first, target + body)
    for _ in range(count):  # the body first: processors fetch what follows when it is read in order
        if not plan.turned:
            copy_8(source + piece.first, plan.row.step, target + body, plan.row.out_step, piece.body)
        edge_8(plan, source, piece.edges, target, piece.before)
        edge_8(plan, source, piece.edges + piece.before, target + after, piece.after)
        source += plan.line.step
        target += plan.line.out_step

# The stream takes a part of the row at a time.
cdef void stream_edge_8(const PadPlan* plan, dmlcy_stream* stream, const char* source, const int64_t* offsets,
                        int64_t count) noexcept nogil:
    cdef int64_t part
    if plan.index == NULL:
        dmlcy_stream_fill(stream, plan.word, count * 8)
        return
    while count > 0:
        part = min(count, <int64_t> DMLCY_ROOM // 8)
        pick_8(source, offsets, dmlcy_stream_room(stream), 8, part)
        dmlcy_stream_advance(stream, part * 8)
        offsets += part
        count -= part

cdef void stream_body_8(dmlcy_stream* stream, const char* source, int64_t step, int64_t count) noexcept nogil:
    cdef int64_t part
    if step == 8:
        dmlcy_stream_put(stream, source, count * 8)
        return
    while count > 0:
        part = min(count, <int64_t> DMLCY_ROOM // 8)
        copy_8(source, step, dmlcy_stream_room(stream), 8, part)
        dmlcy_stream_advance(stream, part * 8)
        source += part * step
        count -= part

cdef void stream_of_8(const PadPlan* plan, const PadPiece* piece, dmlcy_stream* stream, int64_t count,
                      const char* source, char* target) noexcept nogil:
    cdef int64_t i
    for i in range(count):
        dmlcy_stream_seek(stream, target + i * plan.line.out_step)
        if source == NULL:
            dmlcy_stream_fill(stream, plan.word, (piece.before + piece.body + piece.after) * 8)
            continue
        stream_edge_8(plan, stream, source, piece.edges, piece.before)
        stream_body_8(stream, source + piece.first, plan.row.step, piece.body)
        stream_edge_8(plan, stream, source, piece.edges + piece.before, piece.after)
        source += plan.line.step

cdef inline void copy_cells(const PadPlan* plan, dmlcy_stream* stream, const char* source, char* target,
                            int64_t count) noexcept nogil:
    if stream == NULL:
        dmlcy_copy(target, source, count * plan.cell)
    else:
        dmlcy_stream_put(stream, source, count * plan.cell)

# There is an index map: no row is one of `fill`.
cdef void rows_of_cells(const PadPlan* plan, const PadPiece* piece, dmlcy_stream* stream, int64_t count,
                        const char* source, char* target) noexcept nogil:
    cdef int64_t step = plan.row.step, out_step = plan.row.out_step
    cdef int64_t run = piece.body if step == plan.cell and out_step == plan.cell else 1
    cdef char* to
    cdef int64_t line, i
    for line in range(count):
        to = target + line * plan.line.out_step
        if stream != NULL:
            dmlcy_stream_seek(stream, to)
        for i in range(piece.before):
            copy_cells(plan, stream, source + piece.edges[i], to + i * out_step, 1)
        to += piece.before * out_step
        i = 0
        while i < piece.body:
            copy_cells(plan, stream, source + piece.first + i * step, to + i * out_step, run)
            i += run
        to += piece.body * out_step
        for i in range(piece.after):
            copy_cells(plan, stream, source + piece.edges[piece.before + i], to + i * out_step, 1)
        source += plan.line.step

# Moves the cursor along one outer axis.
cdef inline void place(const PadPlan* plan, PadCursor* cursor, int d, int64_t at) noexcept nogil:
    cdef const PadAxis* axis = &plan.outer[d]
    cdef int64_t p = at - axis.start
    cdef bint outside = p < 0 or p >= axis.n
    if outside and plan.index != NULL:
        p = plan.index(p, axis.n)
        outside = False
    cdef int64_t source = 0 if outside else p * axis.step
    cursor.input += source - cursor.source[d]
    cursor.output += (at - cursor.at[d]) * axis.out_step
    cursor.outsides += <int> outside - <int> cursor.outside[d]
    cursor.at[d] = at
    cursor.source[d] = source
    cursor.outside[d] = outside

# Moves the cursor to the next position of the outer axes, the last one first.
cdef inline void advance(const PadPlan* plan, PadCursor* cursor) noexcept nogil:
    cdef int d = plan.outers - 1
    while d >= 0 and cursor.at[d] + 1 == plan.outer[d].size:
        place(plan, cursor, d, 0)
        d -= 1
    if d >= 0:
        place(plan, cursor, d, cursor.at[d] + 1)

# The line of the input that a line of padding reads.
cdef inline int64_t source_of(const PadPlan* plan, int64_t at) noexcept nogil:
    cdef int64_t number = at if at < plan.line.start else at - plan.line.n
    return plan.sources[number] if number < LINES else plan.index(at - plan.line.start, plan.line.n)

# Writes lines begin … end-1, which are padding; line 0 lies at `output`. Those that read a line of the input whose row
# has been written already, low … high-1 in the output, copy that row.
cdef void pad_lines(const PadPlan* plan, const PadPiece* piece, const char* input, char* output, dmlcy_stream* stream,
                    int64_t begin, int64_t end, int64_t low, int64_t high) noexcept nogil:
    cdef const PadAxis* line = &plan.line
    cdef int64_t bytes = (piece.before + piece.body + piece.after) * plan.cell
    cdef int64_t at, p
    cdef char* target
    if plan.index == NULL and begin < end:
        plan.write(plan, piece, stream, end - begin, NULL, output + begin * line.out_step)
        return
    for at in range(begin, end):
        p = source_of(plan, at)
        target = output + at * line.out_step
        if low <= line.start + p < high and plan.row.out_step == plan.cell:
            dmlcy_copy(target, output + (line.start + p) * line.out_step, bytes)
        else:
            plan.write(plan, piece, stream, 1, input + p * line.step, target)

# Writes lines begin … end-1 at the position of the cursor; line 0 lies at `output`. Streams go from front to back.
cdef void write_lines(const PadPlan* plan, const PadPiece* piece, const PadCursor* cursor, char* output,
                      dmlcy_stream* stream, int64_t begin, int64_t end) noexcept nogil:
    cdef const PadAxis* line = &plan.line
    cdef const char* input = cursor.input
    cdef int64_t low = min(max(line.start, begin), end)
    cdef int64_t high = min(max(line.start + line.n, low), end)
    if cursor.outsides:
        plan.write(plan, piece, stream, end - begin, NULL, output + begin * line.out_step)
        return
    if stream != NULL or plan.index == NULL:
        pad_lines(plan, piece, input, output, stream, begin, low, 0, 0)
    elif (low - begin) * line.out_step <= ASKED_BYTES:       # it comes while the body is written
        dmlcy_ask(output + begin * line.out_step, (low - begin) * line.out_step)
    if low < high:
        plan.write(plan, piece, stream, high - low, input + (low - line.start) * line.step,
                   output + low * line.out_step)
    if stream != NULL or plan.index == NULL:
        pad_lines(plan, piece, input, output, stream, high, end, 0, 0)
    else:
        pad_lines(plan, piece, input, output, NULL, begin, low, low, high)
        pad_lines(plan, piece, input, output, NULL, high, end, low, high)

# The same by way of a buffer, where padding can copy rows: the stream then takes the finished lines.
cdef void buffer_lines(const PadPlan* plan, const PadPiece* piece, const PadCursor* cursor, dmlcy_stream* stream,
                       int64_t begin, int64_t end) noexcept nogil:
    cdef uint64_t buffer[BUFFER]
    cdef int64_t first = begin * plan.line.out_step
    write_lines(plan, piece, cursor, <char*> buffer - first, NULL, begin, end)
    dmlcy_stream_seek(stream, cursor.output + first)
    dmlcy_stream_put(stream, <const char*> buffer, end * plan.line.out_step - first)

# Writes rows begin … end-1 of one piece.
cdef void pad_rows(const PadPlan* plan, const PadPiece* piece, dmlcy_stream* stream, int64_t offset, int64_t begin,
                   int64_t end) noexcept nogil:
    cdef PadCursor cursor
    cdef int64_t first = begin % plan.line.size
    cdef int64_t rest = begin // plan.line.size
    cdef int64_t lines
    cdef int d
    memset(&cursor, 0, sizeof(PadCursor))
    cursor.input = plan.input
    cursor.output = plan.output + offset
    for d in range(plan.outers - 1, -1, -1):
        place(plan, &cursor, d, rest % plan.outer[d].size)
        rest //= plan.outer[d].size
    while begin < end:
        lines = min(plan.line.size - first, end - begin)
        if plan.buffered:
            buffer_lines(plan, piece, &cursor, stream, first, first + lines)
        else:
            write_lines(plan, piece, &cursor, cursor.output, stream, first, first + lines)
        begin += lines
        first = 0
        advance(plan, &cursor)

# Describes positions begin … end-1 of the row.
cdef void set_piece(const PadPlan* plan, PadPiece* piece, int64_t begin, int64_t end) noexcept nogil:
    cdef const PadAxis* row = &plan.row
    cdef int64_t low = min(max(row.start, begin), end)
    cdef int64_t high = min(max(row.start + row.n, begin), end)
    cdef int64_t i
    piece.before = low - begin
    piece.body = high - low
    piece.after = end - high
    piece.first = (low - row.start) * row.step if high > low else 0
    if plan.index == NULL:
        return
    for i in range(piece.before):
        piece.edges[i] = plan.index(begin + i - row.start, row.n) * row.step
    for i in range(piece.after):
        piece.edges[piece.before + i] = plan.index(high + i - row.start, row.n) * row.step

# Items are rows of a piece; all rows of one piece come before those of the next.
cdef int pad_work(const void* args, int64_t begin, int64_t end) noexcept nogil:
    cdef const PadPlan* plan = <const PadPlan*> args
    cdef PadPiece piece
    cdef dmlcy_stream stream
    cdef dmlcy_stream* streamed = &stream if plan.streamed else NULL
    cdef int64_t number, first, stop
    if plan.streamed:
        dmlcy_stream_begin(&stream, plan.output)
    while begin < end:
        number = begin // plan.rows
        first = number * plan.rows
        stop = min(end, first + plan.rows)
        set_piece(plan, &piece, number * plan.piece, min((number + 1) * plan.piece, plan.row.size))
        pad_rows(plan, &piece, streamed, number * plan.piece * plan.row.out_step, begin - first, stop - first)
        begin = stop
    if plan.streamed:
        dmlcy_stream_end(&stream)
    return 0

# The axes of more than one position, the one with the largest step of the output first.
cdef int collect_axes(const Pad* a, PadAxis* axes) noexcept nogil:
    cdef PadAxis axis
    cdef int count = 0
    cdef int d, to
    for d in range(a.output.rank):
        if a.output.sizes[d] == 1:
            continue
        axis.n = a.input.sizes[d]
        axis.size = a.output.sizes[d]
        axis.start = a.start[d]
        axis.step = a.input.strides[d]
        axis.out_step = a.output.strides[d]
        to = count
        while to > 0 and magnitude(axes[to - 1].out_step) < magnitude(axis.out_step):
            axes[to] = axes[to - 1]
            to -= 1
        axes[to] = axis
        count += 1
    return count

# Joins axes that lie one after the other in both tensors; the inner one must not be padded. The outer one may be when
# padding is a value: an index map counts positions of its own axis.
cdef int merge_axes(PadAxis* axes, int count, bint mapped) noexcept nogil:
    cdef PadAxis* outer
    cdef PadAxis inner
    cdef int kept = 0
    cdef int d
    for d in range(count):
        inner = axes[d]
        if kept > 0:
            outer = &axes[kept - 1]
            if (inner.n == inner.size and (not mapped or outer.n == outer.size)
                    and outer.step == inner.n * inner.step and outer.out_step == inner.n * inner.out_step):
                outer.n *= inner.n
                outer.size *= inner.n
                outer.start *= inner.n
                outer.step = inner.step
                outer.out_step = inner.out_step
                continue
        axes[kept] = inner
        kept += 1
    return kept

# Takes axis d out of the outer axes.
cdef PadAxis take_axis(PadPlan* plan, int d) noexcept nogil:
    cdef PadAxis axis = plan.outer[d]
    plan.outers -= 1
    while d < plan.outers:
        plan.outer[d] = plan.outer[d + 1]
        d += 1
    return axis

# An axis of one position.
cdef PadAxis unit_axis(int64_t step) noexcept nogil:
    cdef PadAxis axis
    axis.n = axis.size = 1
    axis.start = 0
    axis.step = axis.out_step = step
    return axis

cdef int longest_axis(const PadPlan* plan) noexcept nogil:
    cdef int longest = plan.outers - 1
    cdef int d
    for d in range(plan.outers):
        if plan.outer[d].size > plan.outer[longest].size:
            longest = d
    return longest

# Chooses the row, and what moves together at each of its positions.
cdef void choose_row(PadPlan* plan, int item) noexcept nogil:
    cdef PadAxis last
    plan.cell = item
    if plan.outers == 0:
        plan.row = unit_axis(item)
        return
    last = plan.outer[plan.outers - 1]
    if last.step != item or last.out_step != item:
        plan.row = take_axis(plan, longest_axis(plan) if last.size < SHORT else plan.outers - 1)
        return
    plan.row = take_axis(plan, plan.outers - 1)
    if plan.index != NULL and plan.outers > 0 and last.n == last.size and last.n * item <= CELL_BYTES:
        plan.cell = last.n * item
        plan.row = take_axis(plan, plan.outers - 1)

# The next row shall read the cache lines that this one has read, unless they stay anyway for all rows of the last axis:
# rows in the order of the output can be copied.
cdef void sort_by_input(PadPlan* plan) noexcept nogil:
    cdef PadAxis axis
    cdef int d, to
    if plan.outers > 0 and plan.outer[plan.outers - 1].n * plan.row.n <= CACHED:
        return
    for d in range(1, plan.outers):
        axis = plan.outer[d]
        to = d
        while to > 0 and magnitude(plan.outer[to - 1].step) < magnitude(axis.step):
            plan.outer[to] = plan.outer[to - 1]
            to -= 1
        plan.outer[to] = axis

cdef void choose_lines(PadPlan* plan, int item) noexcept nogil:
    cdef PadAxis* line = &plan.line
    cdef int64_t i, at
    line[0] = unit_axis(0) if plan.outers == 0 else take_axis(plan, plan.outers - 1)
    plan.turned = line.step == item and plan.row.step != item and plan.row.out_step == item
    if plan.index != NULL:
        for i in range(min(line.size - line.n, <int64_t> LINES)):
            at = i if i < line.start else i + line.n
            plan.sources[i] = plan.index(at - line.start, line.n)

# Whether each row, and each step of an outer axis, begins in the output where the one before ends.
cdef bint follows(const PadPlan* plan) noexcept nogil:
    cdef int64_t end = plan.row.size * plan.cell
    cdef int d
    if plan.row.out_step != plan.cell or (plan.line.size > 1 and plan.line.out_step != end):
        return False
    end *= plan.line.size
    for d in range(plan.outers - 1, -1, -1):
        if plan.outer[d].out_step != end:
            return False
        end *= plan.outer[d].size
    return True

cdef void choose_piece(PadPlan* plan) noexcept nogil:
    cdef int64_t padding = plan.row.size - plan.row.n
    if plan.row.step != plan.cell and magnitude(plan.line.step) < magnitude(plan.row.step):
        plan.piece = STRIDED_POSITIONS
    elif plan.index != NULL and padding > EDGE_POSITIONS:
        plan.piece = EDGE_POSITIONS
    else:
        plan.piece = max(PIECE_BYTES // plan.cell, <int64_t> EDGE_POSITIONS)
    plan.piece = min(plan.piece, plan.row.size)

# A buffer pays where most lines are padding, however short: while it is streamed, no input is read.
cdef void choose_writer(PadPlan* plan, const Pad* a) noexcept nogil:
    cdef int item = a.input.item
    plan.dense = follows(plan)
    plan.streamed = plan.dense and not plan.turned and stream_pays(bytes_of(&a.input) + bytes_of(&a.output))
    plan.buffered = (plan.streamed and plan.line.n <= plan.line.size // 2 and plan.piece == plan.row.size
                     and plan.line.size * plan.line.out_step <= 8 * BUFFER)
    plan.streamed &= plan.buffered or plan.row.size * plan.cell >= LONG_ROW
    if plan.cell != item:
        plan.write = rows_of_cells
    elif item == 1:
        plan.write = stream_of_1 if plan.streamed and not plan.buffered else rows_of_1
    elif item == 2:
        plan.write = stream_of_2 if plan.streamed and not plan.buffered else rows_of_2
    elif item == 4:
        plan.write = stream_of_4 if plan.streamed and not plan.buffered else rows_of_4
    elif item == 8:
        plan.write = stream_of_8 if plan.streamed and not plan.buffered else rows_of_8

# Rows per chunk of work: all of them where they are written before another thread has woken up; else whole planes of
# lines where they are small, so that padding copies rows of the same thread.
cdef int64_t rows_per_chunk(const PadPlan* plan) noexcept nogil:
    cdef int64_t rows = grain_of(plan.piece * plan.cell)
    cdef int64_t cost = plan.cell if plan.row.step == plan.cell else STRIDED_COST
    if plan.rows * plan.row.size * cost <= SERIAL_BYTES:
        return plan.rows * ceil_div(plan.row.size, plan.piece)
    return ceil_div(rows, plan.line.size) * plan.line.size if rows >= plan.line.size else rows

# Returns 0, or -1 when memory ran out.
cdef int pad(Pad* a) noexcept nogil:
    cdef PadPlan plan
    cdef int64_t pieces
    cdef int item = a.input.item
    cdef int d
    plan.input = a.input.data
    plan.output = a.output.data
    plan.index = a.index
    for d in range(8 // item):
        memcpy(<char*> &plan.word + d * item, a.fill, item)
    plan.outers = merge_axes(plan.outer, collect_axes(a, plan.outer), a.index != NULL)
    choose_row(&plan, item)
    if plan.row.step != plan.cell:
        sort_by_input(&plan)
    choose_lines(&plan, item)
    choose_piece(&plan)
    plan.rows = plan.line.size
    for d in range(plan.outers):
        plan.rows *= plan.outer[d].size
    choose_writer(&plan, a)
    pieces = ceil_div(plan.row.size, plan.piece)
    return parallel_for(pad_work, &plan, plan.rows * pieces, rows_per_chunk(&plan))


cdef dict PaddingMode_NAMES = {
    "CONSTANT": 0,
    "DML_PADDING_MODE_CONSTANT": 0,
    "EDGE": 1,
    "DML_PADDING_MODE_EDGE": 1,
    "REFLECTION": 2,
    "DML_PADDING_MODE_REFLECTION": 2,
    "SYMMETRIC": 3,
    "DML_PADDING_MODE_SYMMETRIC": 3,
    "WRAP": 4,
    "DML_PADDING_MODE_WRAP": 4,
}


# PADDING

cdef struct Padding:
    Tensor input
    Tensor output
    int64_t padding_mode
    float padding_value
    int64_t start_padding[MAX_RANK]
    int64_t end_padding[MAX_RANK]
    int64_t axes
    int64_t padded[MAX_RANK]
    int64_t bits
    int64_t signs

# By feature level, the values allowed (bit n: value n): data types, ranks, enum members.
cdef extern from *:
    """
    static const uint32_t dmlcy_PADDING_T[15] = {
        0x6, 0x6, 0x1fe, 0x1fe, 0x1fe, 0x1fe, 0x1fe, 0xffe,
        0xffe, 0xffe, 0xffe, 0xffe, 0xffe, 0xffe, 0xffe,
    };
    static const uint32_t dmlcy_PADDING_R_RANKS[15] = {
        0x30, 0x30, 0x30, 0x30, 0x1fe, 0x1fe, 0x1fe, 0x1fe,
        0x1fe, 0x1fe, 0x1fe, 0x1fe, 0x1fe, 0x1fe, 0x1fe,
    };
    static const uint32_t dmlcy_PADDING_PADDING_MODE[15] = {
        0x7, 0x7, 0x7, 0xf, 0xf, 0xf, 0xf, 0xf,
        0xf, 0xf, 0xf, 0xf, 0xf, 0xf, 0x1f,
    };
    """
    const uint32_t* PADDING_T "dmlcy_PADDING_T"
    const uint32_t* PADDING_R_RANKS "dmlcy_PADDING_R_RANKS"
    const uint32_t* PADDING_PADDING_MODE "dmlcy_PADDING_PADDING_MODE"


# Whether the operator and its inputs hold at the level.
cdef bint padding_inputs_hold(Padding* a, int level) noexcept nogil:
    return (
        level >= LEVEL_1_0
        and tensor_holds(&a.input, PADDING_T[level], PADDING_R_RANKS[level])
    )


# Takes the attributes from Python; 0 where one is not acceptable.
cdef int padding_take(
    Padding* a,
    int level,
    object padding_mode,
    object padding_value,
    object start_padding,
    object end_padding,
) except -1:
    if not take_enum(padding_mode, PaddingMode, PaddingMode_NAMES, &a.padding_mode):
        return 0
    if not (PADDING_PADDING_MODE[level] >> a.padding_mode) & 1:
        return 0
    if not take_float(padding_value, True, &a.padding_value):
        return 0
    a.axes = a.input.rank
    if not take_uints(start_padding, a.axes, 0, 4294967295, a.start_padding):
        return 0
    if not take_uints(end_padding, a.axes, 0, 4294967295, a.end_padding):
        return 0
    return 1


# Computes the lets and the sizes of the output; whether every rule holds. An int64 that overflows does not hold.
cdef bint padding_holds(Padding* a, int level) noexcept nogil:
    cdef int64_t d
    a.bits = (
            0 if a.padding_mode != PADDING_MODE_CONSTANT else 7 if a.input.dtype == INT8
            else 8 if a.input.dtype == UINT8 else 15 if a.input.dtype == INT16 else 16 if a.input.dtype == UINT16
            else 31 if a.input.dtype == INT32 else 32 if a.input.dtype == UINT32 else 63 if a.input.dtype == INT64
            else 64 if a.input.dtype == UINT64 else 0)
    # padding_value-no-integer
    if not (level < LEVEL_2_1 or (a.bits == 0 or isfinite(a.padding_value))):
        return False
    # padding_value-too-large
    if not (level < LEVEL_2_1 or (a.bits == 0 or a.padding_value < power(2.0, a.bits))):
        return False
    a.signs = (
            1 if a.input.dtype == INT8 or a.input.dtype == INT16 or a.input.dtype == INT32 or a.input.dtype == INT64
            else 0)
    # padding_value-too-small
    if not (level < LEVEL_2_1 or (a.bits == 0 or -floor(-a.padding_value) >= -a.signs * power(2.0, a.bits))):
        return False
    # padding_value-overflows
    if not (
            a.padding_mode != PADDING_MODE_CONSTANT or a.input.dtype != FLOAT16 or not isfinite(a.padding_value)
            or fabs(a.padding_value) < 65520.0):
        return False
    for d in range(a.axes):
        a.padded[d] = a.input.sizes[d] + a.start_padding[d] + a.end_padding[d]
    a.output.dtype = a.input.dtype
    a.output.item = a.input.item
    a.output.rank = 0
    if not (
        append_sizes(&a.output, a.padded, a.axes)
        and tensor_holds(&a.output, PADDING_T[level], PADDING_R_RANKS[level])
    ):
        return False
    return True


cdef int64_t padding_edge(int64_t p, int64_t n) noexcept nogil:
    return min(max(p, 0), n - 1)


cdef int64_t padding_reflection(int64_t p, int64_t n) noexcept nogil:
    return 0 if n == 1 else min(floor_mod(p, 2 * n - 2), 2 * n - 2 - floor_mod(p, 2 * n - 2))


cdef int64_t padding_symmetric(int64_t p, int64_t n) noexcept nogil:
    return min(floor_mod(p, 2 * n), 2 * n - 1 - floor_mod(p, 2 * n))


cdef int64_t padding_wrap(int64_t p, int64_t n) noexcept nogil:
    return floor_mod(p, n)


cdef int padding_run(const Padding* a) noexcept nogil:
    cdef Pad work
    work.input = a.input
    work.output = a.output
    memcpy(work.start, a.start_padding, sizeof(work.start))
    work.index = NULL
    if a.padding_mode == PADDING_MODE_EDGE:
        work.index = padding_edge
    elif a.padding_mode == PADDING_MODE_REFLECTION:
        work.index = padding_reflection
    elif a.padding_mode == PADDING_MODE_SYMMETRIC:
        work.index = padding_symmetric
    elif a.padding_mode == PADDING_MODE_WRAP:
        work.index = padding_wrap
    if work.index == NULL and a.input.dtype == FLOAT32:
        (<float*> work.fill)[0] = <float> a.padding_value
    elif work.index == NULL and a.input.dtype == FLOAT16:
        (<uint16_t*> work.fill)[0] = dmlcy_half_of_float(a.padding_value)
    elif work.index == NULL and a.input.dtype == UINT32:
        (<uint32_t*> work.fill)[0] = <uint32_t> a.padding_value
    elif work.index == NULL and a.input.dtype == UINT16:
        (<uint16_t*> work.fill)[0] = <uint16_t> a.padding_value
    elif work.index == NULL and a.input.dtype == UINT8:
        (<uint8_t*> work.fill)[0] = <uint8_t> a.padding_value
    elif work.index == NULL and a.input.dtype == INT32:
        (<int32_t*> work.fill)[0] = <int32_t> a.padding_value
    elif work.index == NULL and a.input.dtype == INT16:
        (<int16_t*> work.fill)[0] = <int16_t> a.padding_value
    elif work.index == NULL and a.input.dtype == INT8:
        (<int8_t*> work.fill)[0] = <int8_t> a.padding_value
    elif work.index == NULL and a.input.dtype == FLOAT64:
        (<double*> work.fill)[0] = <double> a.padding_value
    elif work.index == NULL and a.input.dtype == UINT64:
        (<uint64_t*> work.fill)[0] = <uint64_t> a.padding_value
    elif work.index == NULL and a.input.dtype == INT64:
        (<int64_t*> work.fill)[0] = <int64_t> a.padding_value
    return pad(&work)


# Runs on checked fields. None: `out` is not acceptable, and nothing was written.
cdef object padding_call(Padding* a, ndarray input_array, object out):
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
        raise RuntimeError("padding(): input was changed during the call")
    if recordings is None:
        input_array = aligned(input_array, &a.input)
    else:
        input_array = packed(input_array, &a.input)
    if is_brief(&a.input) and is_brief(&a.output):
        status = padding_run(a)
    else:
        with nogil:
            status = padding_run(a)
    if status != 0:
        raise MemoryError("padding: no memory for scratch rows")
    write_back(output_array, output_result)
    if recordings is not None:
        from dmlcy._record import keep

        keep(recordings, "PADDING", {
            "input": input_array,
            "output": packed(output_result, &a.output),
            "padding_mode": PaddingMode(a.padding_mode),
            "padding_value": a.padding_value,
            "start_padding": tuple_of(a.axes, a.start_padding),
            "end_padding": tuple_of(a.axes, a.end_padding),
        })
    return output_array if out is None else out


def padding(
    input,
    *,
    start_padding,
    end_padding,
    padding_mode='CONSTANT',
    padding_value=0,
    out=None,
):
    """Pad each axis of a tensor, as np.pad does: with a FLOAT, truncated for
    integers, or by continuing the tensor.

    Parameters
    ----------
    input : array
        The tensor to pad. Rank 1 to 8; data type FLOAT32, FLOAT16, INT32,
        INT16, INT8, UINT32, UINT16, UINT8, FLOAT64, INT64 or UINT64.
    start_padding : int or sequence of ints
        Number of elements added at the start of each axis. A sequence has
        ``axes`` entries.
    end_padding : int or sequence of ints
        Number of elements added at the end of each axis. A sequence has
        ``axes`` entries.
    padding_mode : PaddingMode or its name, default 'CONSTANT'
        Where the elements outside the input come from. One of CONSTANT, EDGE,
        REFLECTION, SYMMETRIC or WRAP.
    padding_value : float, default 0
        Value of the elements outside the input in mode CONSTANT; ignored in the
        other modes. The value is rounded to FLOAT32 first, for FLOAT64 and
        integer tensors too; PADDING1 takes a value of the tensor's own data
        type. Integer tensors get the whole part of the value, which must fit
        their data type: 10.6 gives 10, and UINT8 holds 0 to 255.
    out : array, optional
        Where the result is written: any layout, the data type and sizes of the
        result, no memory shared with an input.

    Returns
    -------
    numpy.ndarray
        The padded tensor.
        Sizes ``padded``.
        Data type of ``input``.
        ``out`` itself where it is given.

    Raises
    ------
    InvalidDescError, InvalidDataTypeError, FeatureLevelError
        With every violation in ``.violations``: those of each field (data type,
        rank, range, length), and these:

        ``DML-PADDING-padding_value-no-integer``
            padding_value is infinite or NaN, which the tensor's integer data
            type cannot hold. Must hold:
            ``bits == 0 or isfinite(padding_value)``

        ``DML-PADDING-padding_value-too-large``
            padding_value has a whole part above the largest integer of the
            tensor's data type. Must hold:
            ``bits == 0 or padding_value < pow(2.0, bits)``

        ``DML-PADDING-padding_value-too-small``
            padding_value has a whole part below the least integer of the
            tensor's data type. Must hold:
            ``bits == 0 or -floor(-padding_value) >= -signs * pow(2.0, bits)``

        ``DML-PADDING-padding_value-overflows``
            padding_value is finite, but becomes infinite when it is rounded to
            FLOAT16. Must hold:
            ``padding_mode != 'CONSTANT' or dtype(input) != 'FLOAT16' or not
            isfinite(padding_value) or abs(padding_value) < 65520.0``

    See Also
    --------
    dmlcy.desc.Padding : Its desc, for ``check`` and ``compile``.

    Notes
    -----
    The formulas read:

    ``axes = rank(input)``
        Number of axes of the input.
    ``padded[d] = sizes(input)[d] + start_padding[d] + end_padding[d]``
        Size of each axis after padding.
    ``bits``
        ``0 if padding_mode != 'CONSTANT' else 7 if dtype(input) == 'INT8'
        else 8 if dtype(input) == 'UINT8' else 15 if dtype(input) == 'INT16'
        else 16 if dtype(input) == 'UINT16' else 31 if dtype(input) ==
        'INT32' else 32 if dtype(input) == 'UINT32' else 63 if dtype(input)
        == 'INT64' else 64 if dtype(input) == 'UINT64' else 0``

        Bits of each integer of the tensor, without the sign bit; 0 if the
        tensor has floats, or if the mode does not read the padding value.
    ``signs = 1 if dtype(input) in ('INT8', 'INT16', 'INT32', 'INT64') else 0``
        1 if these integers have a sign bit, else 0.

    References
    ----------
    PADDING, feature level 1_0:
    https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_padding_operator_desc

    Examples
    --------
    >>> import numpy as np
    >>> import dmlcy as dml
    >>> x = np.array([1, 2, 3], dtype=np.int32)
    >>> dml.padding(x, start_padding=(1,), end_padding=(2,), padding_value=10.6)
    array([10,  1,  2,  3, 10, 10], dtype=int32)
    """
    cdef Padding a
    cdef int level = current_level()
    cdef ndarray input_array = as_array(input)
    cdef object result
    if (
        view(input_array, &a.input)
        and padding_inputs_hold(&a, level)
        and padding_take(
            &a, level, padding_mode, padding_value, start_padding, end_padding
        )
        and padding_holds(&a, level)
    ):
        result = padding_call(&a, input_array, out)
        if result is not None:
            return result
    from dmlcy._desc.check import refuse

    return refuse("PADDING", {
        "input": input,
        "start_padding": start_padding,
        "end_padding": end_padding,
        "padding_mode": padding_mode,
        "padding_value": padding_value,
        "out": out,
    }, level)


cdef class PaddingOperator(CompiledOperator):
    """PADDING, checked once: called with arrays of the sizes and data types of its desc."""

    cdef Padding fields

    def __cinit__(self, *args, **kwargs):
        self.inputs = 1

    def __init__(self, desc, int level):
        from dmlcy._desc.check import refuse_desc

        cdef Padding a
        cdef Tensor computed
        if not (
            level < LEVELS
            and describe(desc.input, &a.input)
            and padding_inputs_hold(&a, level)
            and padding_take(
                &a,
                level,
                desc.padding_mode,
                desc.padding_value,
                desc.start_padding,
                desc.end_padding,
            )
            and padding_holds(&a, level)
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
        cdef Padding a
        cdef ndarray input_array
        cdef object result
        memcpy(&a, &self.fields, sizeof(a))     # an assignment would copy twice
        input_array = match(<object>inputs[0], &a.input)
        if (
            input_array is not None
        ):
            result = padding_call(&a, input_array, out)
            if result is not None:
                return result
        from dmlcy._desc.check import refuse_call

        return refuse_call(self.desc, {
            "input": <object>inputs[0],
            "out": out,
        })


take_vectorcalls(PaddingOperator)
