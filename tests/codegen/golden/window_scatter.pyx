# cython: language_level=3
"""window_scatter: FOLD."""

from cpython.object cimport PyObject
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset
from numpy cimport ndarray
from dmlcy._runtime.arguments cimport take_sizes, take_uints
from dmlcy._runtime.blocks cimport (
    dmlcy_double_block, dmlcy_float_block, dmlcy_load_double, dmlcy_load_float, dmlcy_load_half, dmlcy_load_half_wide,
    dmlcy_load_uint16_t, dmlcy_load_uint32_t, dmlcy_load_uint64_t, dmlcy_load_uint8_t, dmlcy_store_double,
    dmlcy_store_float, dmlcy_store_uint16_t, dmlcy_store_uint32_t, dmlcy_store_uint64_t, dmlcy_store_uint8_t,
    dmlcy_uint16_t_block, dmlcy_uint32_t_block, dmlcy_uint64_t_block, dmlcy_uint8_t_block,
)
from dmlcy._runtime.checks cimport (
    append_size, append_sizes, ceil_div, checked_add, checked_mul, floor_div, floor_mod, product, tensor_holds,
)
from dmlcy._runtime.compiled cimport CompiledOperator, as_computed, describe, match, take_vectorcalls, unchanged
from dmlcy._runtime.half cimport dmlcy_float_of_half, dmlcy_float_to_half
from dmlcy._runtime.level cimport current_level
from dmlcy._runtime.moves cimport (
    dmlcy_ask, dmlcy_ask_rows, dmlcy_split_3_1, dmlcy_split_3_2, dmlcy_split_3_4, dmlcy_touch, dmlcy_turn_1,
    dmlcy_turn_2, dmlcy_turn_4, dmlcy_turn_8, DMLCY_TURNS,
)
from dmlcy._runtime.recording cimport current_recordings, packed, tuple_of
from dmlcy._runtime.copy cimport dmlcy_copy
from dmlcy._runtime.isa cimport dmlcy_wide
from dmlcy._runtime.stream cimport DMLCY_LINE
from dmlcy._runtime.tensor cimport (
    FLOAT16, FLOAT32, FLOAT64, INT16, INT32, INT64, MAX_RANK, Tensor, UINT16, UINT32, UINT64, aligned, as_array,
    bytes_of, is_brief, new_array, out_array, overlap, overlaps_itself, set_rank, view, write_back,
)
from dmlcy._runtime.threads cimport SERIAL_BYTES, Work, grain_of, parallel_for

cdef enum:
    LEVEL_6_4 = 14
    LEVELS = 15


# Adding columns where the window that they come from lies. The output is made in slabs: some rows of a plane, small
# enough for the first cache. To a slab the window elements ("taps") add their elements one after another, row-major:
# what a tap gives is a run of the input per row, which is read as it lies in memory. No two threads write to one slab,
# and each element of the output has its addends in the same order whatever the slabs are.
#
# Where all channels and taps of a block lie side by side (channels last), the slabs of all channels at some rows follow
# each other, as they share cache lines, and the blocks of a slab are transposed into cells first: their runs are dense.
#
# Along a row a tap reaches positions a stride apart. Their sums lie side by side, those of each remainder modulo the
# stride (a "class") for themselves, and are woven into a row at the end.

cdef enum:
    SLAB = 4096                     # sums of a slab, at most
    PLANE = 65536                   # elements of a slab that needs no sums
    CLASSES = 64                    # of a row that is woven of them, at most
    SLABS = 32                      # that are worth some smaller ones, for more threads
    SHORT_RUN = 256                 # bytes of blocks of a row; many of them at once are asked for ahead
    CELL_BYTES = 65536              # of blocks that are transposed for a slab, at most
    NEAR_BYTES = 524288             # of the input for slabs of all channels, where these lie together: it stays near
    TURNED = 64                     # blocks that are transposed at once

# isa.h says what becomes of functions that are declared so: the one takes a ScatterRun, the other one a ScatterPlan and
# a ScatterSlab.
cdef extern from "isa.h" nogil:
    """
    static void scatter_double_add_wide(void const *) DMLCY_WIDE;
    static void scatter_double_weave_wide(void const *, void const *, char const *) DMLCY_WIDE;
    static void scatter_float_add_wide(void const *) DMLCY_WIDE;
    static void scatter_float_weave_wide(void const *, void const *, char const *) DMLCY_WIDE;
    static void scatter_half_add_wide(void const *) DMLCY_WIDE;
    static void scatter_half_weave_wide(void const *, void const *, char const *) DMLCY_WIDE;
    static void scatter_uint64_t_add_wide(void const *) DMLCY_WIDE;
    static void scatter_uint64_t_weave_wide(void const *, void const *, char const *) DMLCY_WIDE;
    static void scatter_uint32_t_add_wide(void const *) DMLCY_WIDE;
    static void scatter_uint32_t_weave_wide(void const *, void const *, char const *) DMLCY_WIDE;
    static void scatter_uint16_t_add_wide(void const *) DMLCY_WIDE;
    static void scatter_uint16_t_weave_wide(void const *, void const *, char const *) DMLCY_WIDE;
    static void scatter_uint8_t_add_wide(void const *) DMLCY_WIDE;
    static void scatter_uint8_t_weave_wide(void const *, void const *, char const *) DMLCY_WIDE;
    """

cdef struct WindowScatter:
    Tensor input                    # N, C * prod(window), prod(blocks)
    Tensor output                   # N, C, then the spatial axes
    int spatial                     # 1 to 6
    int64_t window[MAX_RANK]        # by spatial axis
    int64_t strides[MAX_RANK]
    int64_t dilations[MAX_RANK]
    int64_t start[MAX_RANK]
    int64_t blocks[MAX_RANK]        # positions of the window

# Position p of the output, which is q = p + start of the padded axis, takes block b of tap t where
# q = b * stride + t * dilation.
cdef struct ScatterAxis:
    int64_t size                    # of the output
    int64_t output_step             # bytes between its elements
    int64_t window
    int64_t stride
    int64_t dilation
    int64_t start
    int64_t blocks
    int64_t tap_step                # bytes of the input between taps
    int64_t block_step              # and between blocks
    int64_t common                  # greatest common divisor of stride and dilation
    int64_t period                  # taps from one that a position takes to the next one: stride / common
    int64_t inverse                 # of dilation / common, modulo period
    int64_t next_step               # bytes from what the one gives to a position to what the next one gives

cdef struct ScatterPlan:
    const char* input
    char* output
    int64_t channels
    int64_t input_steps[2]          # bytes between items of the batch, and between channels
    int64_t output_steps[2]
    int last                        # the last of the axes: of the columns; the one before it is that of the rows
    ScatterAxis axes[MAX_RANK]
    int64_t planes                  # of a channel: positions of the axes before these two
    int64_t rows                    # of a slab
    int64_t columns
    int64_t row_slabs               # of a plane
    int64_t column_slabs
    bint woven                      # a row is, of its classes
    bint apart                      # windows touch each other along a row, without padding, and nowhere overlap
    bint covered                    # then: each row of a plane lies under a window
    bint far                        # then: the window is a cache line wide or more, and may come from memory
    int64_t tap_at[CLASSES]         # bytes from the first tap of a row to each
    bint together                   # all channels and taps of a block lie side by side
    bint turned                     # then: for each slab, taps of rows and columns are put into cells
    int64_t block_at[TURNED]        # then: bytes from the first block to each
    bint touched                    # blocks follow each other, and may come from memory: they are read once before

# Positions of the padded axes of rows and columns, and where their sums lie.
cdef struct ScatterSlab:
    char* output                    # of the first position
    int64_t begin[2]
    int64_t end[2]
    char* sums
    int64_t row_step                # bytes of the sums from row to row
    int64_t low                     # position of the first sum of a row: a multiple of the stride where it is woven
    int64_t length                  # of a class, or of the row
    int64_t blocks_begin            # rows of blocks that it takes
    int64_t blocks_end
    bint fresh                      # they are touched first
    int64_t tap_step[2]             # bytes of the input between taps: of the cells where it is turned
    int64_t block_step[2]           # and between blocks

# What a tap gives to a slab: a run of the input for each row.
cdef struct ScatterRun:
    int64_t rows
    int64_t size                    # of a run
    const char* input
    int64_t input_row               # bytes from run to run
    int64_t input_step              # and from element to element
    char* sums
    int64_t sums_row
    int64_t sums_step


# The first of the taps that have a block at q, or would if the axis had more; another one follows at each period.
cdef inline int64_t first_tap(const ScatterAxis* axis, int64_t q) noexcept nogil:
    if axis.period == 1:
        return 0
    return <int64_t> (<uint64_t> (q // axis.common % axis.period) * <uint64_t> axis.inverse % <uint64_t> axis.period)


# The taps that have a block at q are `first`, `first` + period and so on, before `end`.
cdef inline void taps_at(const ScatterAxis* axis, int64_t q, int64_t* first, int64_t* end) noexcept nogil:
    cdef int64_t low = max(0, ceil_div(q - (axis.blocks - 1) * axis.stride, axis.dilation))
    end[0] = min(axis.window, (q if axis.dilation == 1 else q // axis.dilation) + 1)
    first[0] = low
    if axis.common > 1 and q % axis.common != 0:
        first[0] = end[0]
    elif axis.period > 1:
        first[0] += floor_mod(first_tap(axis, q) - low, axis.period)


# The blocks that a tap gives to positions low … high-1.
cdef inline void blocks_at(const ScatterAxis* axis, int64_t tap, int64_t low, int64_t high, int64_t* begin,
                           int64_t* end) noexcept nogil:
    low -= tap * axis.dilation
    high -= tap * axis.dilation
    if axis.stride > 1:
        low = ceil_div(low, axis.stride)
        high = ceil_div(high, axis.stride)
    begin[0] = max(0, low)
    end[0] = min(axis.blocks, high)


# The taps that may give something to positions low … high-1; of one position, each `period` of them does.
cdef inline void taps_over(const ScatterAxis* axis, int64_t low, int64_t high, int64_t* first, int64_t* end,
                           int64_t* step) noexcept nogil:
    step[0] = 1
    if low + 1 == high:
        taps_at(axis, low, first, end)
        step[0] = axis.period
        return
    first[0] = max(0, ceil_div(low - (axis.blocks - 1) * axis.stride, axis.dilation))
    end[0] = min(axis.window, (high - 1) // axis.dilation + 1)


cdef void collect_axes(ScatterPlan* plan, const WindowScatter* a) noexcept nogil:
    cdef int64_t taps = a.input.strides[1]
    cdef int64_t blocks = a.input.strides[2]
    cdef int64_t rest, divisor
    cdef ScatterAxis* axis
    cdef int from_[MAX_RANK]
    cdef int count = 0, d, k
    for d in range(a.spatial):
        if a.output.sizes[2 + d] > 1 or a.window[d] > 1 or a.blocks[d] > 1 or a.start[d] > 0:
            from_[count] = d
            count += 1
    plan.last = max(count, 2) - 1   # there are rows and columns, if only one of each
    plan.planes = 1
    for k in range(plan.last, -1, -1):
        d = k - (plan.last + 1 - count)
        d = from_[d] if d >= 0 else -1
        axis = &plan.axes[k]
        axis.size = a.output.sizes[2 + d] if d >= 0 else 1
        axis.output_step = a.output.strides[2 + d] if d >= 0 else a.output.item
        axis.window = a.window[d] if d >= 0 else 1
        axis.stride = a.strides[d] if d >= 0 else 1
        axis.dilation = a.dilations[d] if d >= 0 else 1
        axis.start = a.start[d] if d >= 0 else 0
        axis.blocks = a.blocks[d] if d >= 0 else 1
        axis.tap_step = taps
        axis.block_step = blocks
        taps *= axis.window
        blocks *= axis.blocks
        if k < plan.last - 1:
            plan.planes *= axis.size
        axis.common = axis.stride
        rest = axis.dilation
        while rest > 0:
            divisor = rest
            rest = axis.common % rest
            axis.common = divisor
        axis.period = axis.stride // axis.common
        axis.inverse = inverse_of(axis.dilation // axis.common % axis.period, axis.period)
        axis.next_step = 0
        if axis.period < axis.window:
            axis.next_step = axis.period * axis.tap_step - axis.dilation // axis.common * axis.block_step
    plan.input_steps[1] = taps


# Whether windows touch each other along an axis and cover it, without padding.
cdef bint side_by_side(const ScatterAxis* axis) noexcept nogil:
    return axis.stride == axis.window and axis.dilation == 1 and axis.start == 0


cdef void collect_slabs(ScatterPlan* plan, const WindowScatter* a, int64_t planes, int64_t bytes) noexcept nogil:
    cdef const ScatterAxis* rows = &plan.axes[plan.last - 1]
    cdef const ScatterAxis* columns = &plan.axes[plan.last]
    cdef int64_t reach = (rows.window - 1) * rows.dilation
    cdef int64_t length, most = 0
    cdef int d
    plan.apart = side_by_side(columns) and 1 < columns.stride <= CLASSES
    plan.apart = plan.apart and columns.blocks * columns.stride <= columns.size
    plan.apart = plan.apart and columns.output_step == a.output.item
    plan.apart = plan.apart and a.input.item in (columns.block_step, columns.tap_step)
    for d in range(plan.last):
        plan.apart = plan.apart and plan.axes[d].period >= plan.axes[d].window
    plan.covered = side_by_side(rows) and rows.blocks * rows.stride >= rows.size
    for d in range(<int> min(columns.window, CLASSES)):
        plan.tap_at[d] = d * columns.tap_step
    plan.woven = False
    if plan.apart:
        plan.columns = length = columns.size
        plan.rows = PLANE // length
    else:
        plan.columns = even(columns.size, SLAB - 2 * CLASSES)
        plan.woven = 1 < columns.stride <= min(CLASSES, plan.columns)
        length = plan.columns + (2 * columns.stride if plan.woven else 0)
        plan.rows = SLAB // length
        if plan.rows < rows.stride:
            plan.rows = 1
    plan.column_slabs = ceil_div(columns.size, plan.columns)
    plan.together = 0 < columns.tap_step < columns.block_step
    plan.turned = plan.touched = False
    if plan.together:
        plan.rows = min(plan.rows, max(1, NEAR_BYTES // (columns.blocks * columns.block_step)) * rows.stride)
        if plan.apart and rows.window * columns.window * a.input.item < DMLCY_LINE:
            plan.rows = rows.stride     # channels share lines, of which the first cache holds but one row
    if plan.together and columns.tap_step == a.input.item and columns.blocks > 1:
        plan.touched = bytes > SERIAL_BYTES and columns.block_step == plan.channels * plan.input_steps[1]
        most = CELL_BYTES // (rows.window * columns.window * columns.blocks * a.input.item) * rows.stride - reach
        plan.turned = not plan.apart and plan.column_slabs == 1 and most >= max(reach, rows.stride)
        plan.turned = plan.turned and rows.window * columns.window > 1
    if plan.turned:
        plan.rows = min(plan.rows, most)
        list_offsets(0, TURNED, 0, TURNED, columns.block_step, plan.block_at)
    plan.rows = even(rows.size, max(1, plan.rows))
    if bytes > SERIAL_BYTES:
        while plan.rows > 1 and planes * plan.column_slabs * ceil_div(rows.size, plan.rows) < SLABS:
            plan.rows = ceil_div(plan.rows, 2)
    plan.row_slabs = ceil_div(rows.size, plan.rows)


# The rows of blocks that a slab takes.
cdef inline void find_blocks(const ScatterPlan* plan, ScatterSlab* slab) noexcept nogil:
    cdef const ScatterAxis* rows = &plan.axes[plan.last - 1]
    slab.blocks_begin = max(0, ceil_div(slab.begin[0] - (rows.window - 1) * rows.dilation, rows.stride))
    slab.blocks_end = min(rows.blocks, (slab.end[0] - 1) // rows.stride + 1)


# Brings them into the cache, in order, before the channels read them here and there.
cdef void touch_blocks(const ScatterPlan* plan, const ScatterSlab* slab, const char* input) noexcept nogil:
    cdef const ScatterAxis* rows = &plan.axes[plan.last - 1]
    if slab.blocks_end > slab.blocks_begin:
        dmlcy_touch(
            input + slab.blocks_begin * rows.block_step, (slab.blocks_end - slab.blocks_begin) * rows.block_step)


# The number whose product with `value` is 1 modulo `modulus`, with which it has no divisor in common.
cdef int64_t inverse_of(int64_t value, int64_t modulus) noexcept nogil:
    cdef int64_t a = value, b = modulus
    cdef int64_t x = 1, y = 0
    cdef int64_t quotient, before
    while a > 1:
        quotient = b // a
        before = a
        a = b % a
        b = before
        before = x
        x = y - quotient * x
        y = before
    return floor_mod(x, modulus)

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

# An element of each of `height` rows in turn; row i begins at source + rows[i].
cdef void weave_1(const char* source, const int64_t* rows, int64_t height, int64_t width, char* target) noexcept nogil:
    cdef uint8_t* out = <uint8_t*> target
    cdef int64_t i
    cdef const uint8_t* row0 = <const uint8_t*> (source + rows[min(height - 1, 0)])
    cdef const uint8_t* row1 = <const uint8_t*> (source + rows[min(height - 1, 1)])
    cdef const uint8_t* row2 = <const uint8_t*> (source + rows[min(height - 1, 2)])
    cdef const uint8_t* row3 = <const uint8_t*> (source + rows[min(height - 1, 3)])
    if height == 2:
        for i in range(width):
            out[2 * i + 0] = row0[i]
            out[2 * i + 1] = row1[i]
    elif height == 3:
        for i in range(width):
            out[3 * i + 0] = row0[i]
            out[3 * i + 1] = row1[i]
            out[3 * i + 2] = row2[i]
    elif height == 4:
        for i in range(width):
            out[4 * i + 0] = row0[i]
            out[4 * i + 1] = row1[i]
            out[4 * i + 2] = row2[i]
            out[4 * i + 3] = row3[i]
    else:
        transpose_1(source, rows, height, width, target, height * 1)

# An element of each of `height` rows in turn; row i begins at source + rows[i].
cdef void weave_2(const char* source, const int64_t* rows, int64_t height, int64_t width, char* target) noexcept nogil:
    cdef uint16_t* out = <uint16_t*> target
    cdef int64_t i
    cdef const uint16_t* row0 = <const uint16_t*> (source + rows[min(height - 1, 0)])
    cdef const uint16_t* row1 = <const uint16_t*> (source + rows[min(height - 1, 1)])
    cdef const uint16_t* row2 = <const uint16_t*> (source + rows[min(height - 1, 2)])
    cdef const uint16_t* row3 = <const uint16_t*> (source + rows[min(height - 1, 3)])
    if height == 2:
        for i in range(width):
            out[2 * i + 0] = row0[i]
            out[2 * i + 1] = row1[i]
    elif height == 3:
        for i in range(width):
            out[3 * i + 0] = row0[i]
            out[3 * i + 1] = row1[i]
            out[3 * i + 2] = row2[i]
    elif height == 4:
        for i in range(width):
            out[4 * i + 0] = row0[i]
            out[4 * i + 1] = row1[i]
            out[4 * i + 2] = row2[i]
            out[4 * i + 3] = row3[i]
    else:
        transpose_2(source, rows, height, width, target, height * 2)

# An element of each of `height` rows in turn; row i begins at source + rows[i].
cdef void weave_4(const char* source, const int64_t* rows, int64_t height, int64_t width, char* target) noexcept nogil:
    cdef uint32_t* out = <uint32_t*> target
    cdef int64_t i
    cdef const uint32_t* row0 = <const uint32_t*> (source + rows[min(height - 1, 0)])
    cdef const uint32_t* row1 = <const uint32_t*> (source + rows[min(height - 1, 1)])
    cdef const uint32_t* row2 = <const uint32_t*> (source + rows[min(height - 1, 2)])
    cdef const uint32_t* row3 = <const uint32_t*> (source + rows[min(height - 1, 3)])
    if height == 2:
        for i in range(width):
            out[2 * i + 0] = row0[i]
            out[2 * i + 1] = row1[i]
    elif height == 3:
        for i in range(width):
            out[3 * i + 0] = row0[i]
            out[3 * i + 1] = row1[i]
            out[3 * i + 2] = row2[i]
    elif height == 4:
        for i in range(width):
            out[4 * i + 0] = row0[i]
            out[4 * i + 1] = row1[i]
            out[4 * i + 2] = row2[i]
            out[4 * i + 3] = row3[i]
    else:
        transpose_4(source, rows, height, width, target, height * 4)

# An element of each of `height` rows in turn; row i begins at source + rows[i].
cdef void weave_8(const char* source, const int64_t* rows, int64_t height, int64_t width, char* target) noexcept nogil:
    cdef uint64_t* out = <uint64_t*> target
    cdef int64_t i
    cdef const uint64_t* row0 = <const uint64_t*> (source + rows[min(height - 1, 0)])
    cdef const uint64_t* row1 = <const uint64_t*> (source + rows[min(height - 1, 1)])
    cdef const uint64_t* row2 = <const uint64_t*> (source + rows[min(height - 1, 2)])
    cdef const uint64_t* row3 = <const uint64_t*> (source + rows[min(height - 1, 3)])
    if height == 2:
        for i in range(width):
            out[2 * i + 0] = row0[i]
            out[2 * i + 1] = row1[i]
    elif height == 3:
        for i in range(width):
            out[3 * i + 0] = row0[i]
            out[3 * i + 1] = row1[i]
            out[3 * i + 2] = row2[i]
    elif height == 4:
        for i in range(width):
            out[4 * i + 0] = row0[i]
            out[4 * i + 1] = row1[i]
            out[4 * i + 2] = row2[i]
            out[4 * i + 3] = row3[i]
    else:
        transpose_8(source, rows, height, width, target, height * 8)


ctypedef void (*scatter_double_Add)(const void* run) noexcept nogil
ctypedef void (*scatter_double_Weave)(const void* plan, const void* slab, const char* input) noexcept nogil


cdef void scatter_double_add "scatter_double_add"(const void* args) noexcept nogil:
    cdef const ScatterRun* run = <const ScatterRun*> args
    cdef bint dense = run.input_step == sizeof(double) and run.sums_step == sizeof(double)
    cdef int64_t block = sizeof(dmlcy_double_block) // sizeof(double)
    cdef int64_t last = run.size - block
    cdef int64_t row, i
    cdef const double* elements
    cdef double* sums
    cdef double* sum
    cdef dmlcy_double_block ending
    for row in range(run.rows):
        elements = <const double*> (run.input + row * run.input_row)
        sums = <double*> (run.sums + row * run.sums_row)
        if dense and last >= 0:
            # What overlaps the block before it is the same, of the sums as they were.
            ending = dmlcy_load_double(sums + last) + dmlcy_load_double(elements + last)
            i = 0
            while i < last:
                dmlcy_store_double(sums + i, dmlcy_load_double(sums + i) + dmlcy_load_double(elements + i))
                i += block
            dmlcy_store_double(sums + last, ending)
            continue
        for i in range(run.size):
            sum = <double*> (<char*> sums + i * run.sums_step)
            sum[0] += ((<const double*> (<const char*> elements + i * run.input_step))[0])


# The slab, where each position takes one element or none: taps are woven into rows, as many as the window is wide.
cdef void scatter_double_weave "scatter_double_weave"(
        const void* plan_, const void* slab_, const char* input) noexcept nogil:
    cdef const ScatterPlan* plan = <const ScatterPlan*> plan_
    cdef const ScatterSlab* slab = <const ScatterSlab*> slab_
    cdef const ScatterAxis* rows = &plan.axes[plan.last - 1]
    cdef const ScatterAxis* columns = &plan.axes[plan.last]
    cdef int64_t width = columns.stride
    cdef int64_t blocks = columns.blocks
    cdef int64_t covered = blocks * width
    cdef bint dense = columns.block_step == sizeof(double)
    cdef int64_t some = sizeof(dmlcy_double_block) // sizeof(double)
    cdef int64_t tap, end, step, block, last, row, i, k
    cdef const char* from_
    cdef char* to
    cdef int64_t at0 = plan.tap_at[min(width - 1, 0)]
    cdef const double* tap0
    cdef int64_t at1 = plan.tap_at[min(width - 1, 1)]
    cdef const double* tap1
    cdef int64_t at2 = plan.tap_at[min(width - 1, 2)]
    cdef const double* tap2
    cdef int64_t at3 = plan.tap_at[min(width - 1, 3)]
    cdef const double* tap3
    cdef const double* elements
    cdef double* out
    taps_over(rows, slab.begin[0], slab.end[0], &tap, &end, &step)
    while tap < end:
        blocks_at(rows, tap, slab.begin[0], slab.end[0], &block, &last)
        from_ = input + tap * rows.tap_step + block * rows.block_step
        to = slab.output + (block * rows.stride + tap * rows.dilation - slab.begin[0]) * rows.output_step
        for row in range(last - block):
            out = <double*> (to + row * rows.stride * rows.output_step)
            if plan.far:            # processors do not foresee so many short runs
                dmlcy_ask_rows(from_ + rows.block_step, columns.tap_step, width, blocks * columns.block_step)
                dmlcy_ask(<const char*> out + rows.stride * rows.output_step, covered * sizeof(double))
            tap0 = <const double*> (from_ + at0)
            tap1 = <const double*> (from_ + at1)
            tap2 = <const double*> (from_ + at2)
            tap3 = <const double*> (from_ + at3)
            if dense and width == 2:
                for i in range(blocks):
                    out[2 * i + 0] = tap0[i] + 0
                    out[2 * i + 1] = tap1[i] + 0
            elif dense and width == 3:
                for i in range(blocks):
                    out[3 * i + 0] = tap0[i] + 0
                    out[3 * i + 1] = tap1[i] + 0
                    out[3 * i + 2] = tap2[i] + 0
            elif dense and width == 4:
                for i in range(blocks):
                    out[4 * i + 0] = tap0[i] + 0
                    out[4 * i + 1] = tap1[i] + 0
                    out[4 * i + 2] = tap2[i] + 0
                    out[4 * i + 3] = tap3[i] + 0
            elif dense:
                weave_8(from_, plan.tap_at, width, blocks, <char*> out)
                for i in range(covered):
                    out[i] = out[i] + 0
            elif width == 2:
                for i in range(blocks):
                    elements = <const double*> (from_ + i * columns.block_step)
                    out[2 * i + 0] = elements[0] + 0
                    out[2 * i + 1] = elements[1] + 0
            elif width == 3:
                for i in range(blocks):
                    elements = <const double*> (from_ + i * columns.block_step)
                    out[3 * i + 0] = elements[0] + 0
                    out[3 * i + 1] = elements[1] + 0
                    out[3 * i + 2] = elements[2] + 0
            elif width == 4:
                for i in range(blocks):
                    elements = <const double*> (from_ + i * columns.block_step)
                    out[4 * i + 0] = elements[0] + 0
                    out[4 * i + 1] = elements[1] + 0
                    out[4 * i + 2] = elements[2] + 0
                    out[4 * i + 3] = elements[3] + 0
            else:
                for i in range(blocks):
                    elements = <const double*> (from_ + i * columns.block_step)
                    k = 0
                    while k <= width - some:
                        dmlcy_store_double(
                            out + i * width + k, dmlcy_load_double(elements + k) + 0)
                        k += some
                    for k in range(k, width):
                        out[i * width + k] = elements[k] + 0
            for i in range(covered, columns.size):
                out[i] = 0
            from_ += rows.block_step
        tap += step


cdef void scatter_double_add_wide "scatter_double_add_wide"(const void* args) noexcept nogil:
    cdef const ScatterRun* run = <const ScatterRun*> args
    cdef bint dense = run.input_step == sizeof(double) and run.sums_step == sizeof(double)
    cdef int64_t block = sizeof(dmlcy_double_block) // sizeof(double)
    cdef int64_t last = run.size - block
    cdef int64_t row, i
    cdef const double* elements
    cdef double* sums
    cdef double* sum
    cdef dmlcy_double_block ending
    for row in range(run.rows):
        elements = <const double*> (run.input + row * run.input_row)
        sums = <double*> (run.sums + row * run.sums_row)
        if dense and last >= 0:
            # What overlaps the block before it is the same, of the sums as they were.
            ending = dmlcy_load_double(sums + last) + dmlcy_load_double(elements + last)
            i = 0
            while i < last:
                dmlcy_store_double(sums + i, dmlcy_load_double(sums + i) + dmlcy_load_double(elements + i))
                i += block
            dmlcy_store_double(sums + last, ending)
            continue
        for i in range(run.size):
            sum = <double*> (<char*> sums + i * run.sums_step)
            sum[0] += ((<const double*> (<const char*> elements + i * run.input_step))[0])


# The slab, where each position takes one element or none: taps are woven into rows, as many as the window is wide.
cdef void scatter_double_weave_wide "scatter_double_weave_wide"(
        const void* plan_, const void* slab_, const char* input) noexcept nogil:
    cdef const ScatterPlan* plan = <const ScatterPlan*> plan_
    cdef const ScatterSlab* slab = <const ScatterSlab*> slab_
    cdef const ScatterAxis* rows = &plan.axes[plan.last - 1]
    cdef const ScatterAxis* columns = &plan.axes[plan.last]
    cdef int64_t width = columns.stride
    cdef int64_t blocks = columns.blocks
    cdef int64_t covered = blocks * width
    cdef bint dense = columns.block_step == sizeof(double)
    cdef int64_t some = sizeof(dmlcy_double_block) // sizeof(double)
    cdef int64_t tap, end, step, block, last, row, i, k
    cdef const char* from_
    cdef char* to
    cdef int64_t at0 = plan.tap_at[min(width - 1, 0)]
    cdef const double* tap0
    cdef int64_t at1 = plan.tap_at[min(width - 1, 1)]
    cdef const double* tap1
    cdef int64_t at2 = plan.tap_at[min(width - 1, 2)]
    cdef const double* tap2
    cdef int64_t at3 = plan.tap_at[min(width - 1, 3)]
    cdef const double* tap3
    cdef const double* elements
    cdef double* out
    taps_over(rows, slab.begin[0], slab.end[0], &tap, &end, &step)
    while tap < end:
        blocks_at(rows, tap, slab.begin[0], slab.end[0], &block, &last)
        from_ = input + tap * rows.tap_step + block * rows.block_step
        to = slab.output + (block * rows.stride + tap * rows.dilation - slab.begin[0]) * rows.output_step
        for row in range(last - block):
            out = <double*> (to + row * rows.stride * rows.output_step)
            if plan.far:            # processors do not foresee so many short runs
                dmlcy_ask_rows(from_ + rows.block_step, columns.tap_step, width, blocks * columns.block_step)
                dmlcy_ask(<const char*> out + rows.stride * rows.output_step, covered * sizeof(double))
            tap0 = <const double*> (from_ + at0)
            tap1 = <const double*> (from_ + at1)
            tap2 = <const double*> (from_ + at2)
            tap3 = <const double*> (from_ + at3)
            if dense and width == 2:
                for i in range(blocks):
                    out[2 * i + 0] = tap0[i] + 0
                    out[2 * i + 1] = tap1[i] + 0
            elif dense and width == 3:
                for i in range(blocks):
                    out[3 * i + 0] = tap0[i] + 0
                    out[3 * i + 1] = tap1[i] + 0
                    out[3 * i + 2] = tap2[i] + 0
            elif dense and width == 4:
                for i in range(blocks):
                    out[4 * i + 0] = tap0[i] + 0
                    out[4 * i + 1] = tap1[i] + 0
                    out[4 * i + 2] = tap2[i] + 0
                    out[4 * i + 3] = tap3[i] + 0
            elif dense:
                weave_8(from_, plan.tap_at, width, blocks, <char*> out)
                for i in range(covered):
                    out[i] = out[i] + 0
            elif width == 2:
                for i in range(blocks):
                    elements = <const double*> (from_ + i * columns.block_step)
                    out[2 * i + 0] = elements[0] + 0
                    out[2 * i + 1] = elements[1] + 0
            elif width == 3:
                for i in range(blocks):
                    elements = <const double*> (from_ + i * columns.block_step)
                    out[3 * i + 0] = elements[0] + 0
                    out[3 * i + 1] = elements[1] + 0
                    out[3 * i + 2] = elements[2] + 0
            elif width == 4:
                for i in range(blocks):
                    elements = <const double*> (from_ + i * columns.block_step)
                    out[4 * i + 0] = elements[0] + 0
                    out[4 * i + 1] = elements[1] + 0
                    out[4 * i + 2] = elements[2] + 0
                    out[4 * i + 3] = elements[3] + 0
            else:
                for i in range(blocks):
                    elements = <const double*> (from_ + i * columns.block_step)
                    k = 0
                    while k <= width - some:
                        dmlcy_store_double(
                            out + i * width + k, dmlcy_load_double(elements + k) + 0)
                        k += some
                    for k in range(k, width):
                        out[i * width + k] = elements[k] + 0
            for i in range(covered, columns.size):
                out[i] = 0
            from_ += rows.block_step
        tap += step


# What a tap of the rows, and one of each axis before them, adds: from its taps of the columns, or, where strides are
# long, from its blocks, the last ones first.
cdef void scatter_double_along(
        const ScatterPlan* plan, const ScatterSlab* slab, const char* input, ScatterRun* run,
        scatter_double_Add add) noexcept nogil:
    cdef const ScatterAxis* columns = &plan.axes[plan.last]
    cdef char* sums = run.sums
    cdef int64_t high = slab.low + slab.length * (columns.stride if plan.woven else 1)
    cdef int64_t first, end, step, number, begin, at
    if columns.stride <= slab.length or plan.woven:
        run.input_step = slab.block_step[1]
        run.sums_step = sizeof(double) * (1 if plan.woven else columns.stride)
        taps_over(columns, slab.low, high, &number, &end, &step)
        while number < end:
            blocks_at(columns, number, slab.low, high, &begin, &run.size)
            run.size -= begin
            run.input = input + number * slab.tap_step[1] + begin * slab.block_step[1]
            at = begin * columns.stride + number * columns.dilation - slab.low
            if plan.woven:
                at = at % columns.stride * slab.length + at // columns.stride
            run.sums = sums + at * <int64_t> sizeof(double)
            if run.size > 0:
                add(run)
            number += step
        return
    run.input_step = slab.tap_step[1]
    run.sums_step = sizeof(double) * columns.dilation
    first = max(0, ceil_div(slab.low - (columns.window - 1) * columns.dilation, columns.stride))
    end = min(columns.blocks, (high - 1) // columns.stride + 1)
    for number in range(end - 1, first - 1, -1):
        at = number * columns.stride - slab.low
        begin = max(0, ceil_div(-at, columns.dilation))
        run.size = min(columns.window, ceil_div(high - slab.low - at, columns.dilation)) - begin
        run.input = input + begin * slab.tap_step[1] + number * slab.block_step[1]
        run.sums = sums + (at + begin * columns.dilation) * <int64_t> sizeof(double)
        if run.size > 0:
            add(run)


# The sums of a slab, put where they belong.
cdef void scatter_double_lay(const ScatterPlan* plan, const ScatterSlab* slab) noexcept nogil:
    cdef const ScatterAxis* columns = &plan.axes[plan.last]
    cdef int64_t size = slab.end[1] - slab.begin[1]
    cdef int64_t class_at[CLASSES]
    cdef double woven[SLAB]
    cdef const double* sums
    cdef const double* line
    cdef char* output
    cdef int64_t row, i
    if plan.woven:
        for i in range(columns.stride):
            class_at[i] = i * slab.length * <int64_t> sizeof(double)
    for row in range(slab.end[0] - slab.begin[0]):
        sums = <const double*> (slab.sums + row * slab.row_step)
        output = slab.output + row * plan.axes[plan.last - 1].output_step
        line = sums
        if plan.woven:
            weave_8(<const char*> line, class_at, columns.stride, slab.length, <char*> woven)
            line = woven + (slab.begin[1] - slab.low)
        if columns.output_step == sizeof(double):
            dmlcy_copy(output, <const char*> line, size * columns.output_step)
        else:
            for i in range(size):
                (<double*> (output + i * columns.output_step))[0] = line[i]


# Some rows of blocks of all taps of rows and columns, as rows of each tap.
cdef void scatter_double_turn(
        const ScatterPlan* plan, const ScatterSlab* slab, const char* input, char* cells) noexcept nogil:
    cdef const ScatterAxis* columns = &plan.axes[plan.last]
    cdef int64_t blocks = slab.tap_step[1] // <int64_t> sizeof(double)
    cdef int64_t width = plan.axes[plan.last - 1].window * columns.window
    cdef int64_t block = 0
    input += slab.blocks_begin * plan.axes[plan.last - 1].block_step
    while block < blocks:
        block = max(0, min(block, blocks - TURNED))
        transpose_8(
            input + block * columns.block_step, plan.block_at, min(blocks, <int64_t> TURNED), width,
            cells + block * <int64_t> sizeof(double), slab.tap_step[1])
        block += TURNED


cdef void scatter_double_slab(
        const ScatterPlan* plan, ScatterSlab* slab, const char* input, const int64_t* firsts, const int64_t* ends,
        bint reached, scatter_double_Add add) noexcept nogil:
    cdef const ScatterAxis* rows = &plan.axes[plan.last - 1]
    cdef const ScatterAxis* columns = &plan.axes[plan.last]
    cdef double sums[SLAB]
    cdef char cells[CELL_BYTES]
    cdef int64_t size = slab.end[1] - slab.begin[1]
    cdef bint direct = True and not plan.woven and columns.output_step == sizeof(double)
    cdef int64_t tap[MAX_RANK]
    cdef int64_t first, end, step, number, block, row
    cdef const char* taps
    cdef ScatterRun run
    cdef int d
    slab.low = slab.begin[1]
    slab.length = size
    if plan.woven:
        slab.low = slab.begin[1] // columns.stride * columns.stride
        slab.length = ceil_div(slab.end[1] - slab.low, columns.stride)
        size = slab.length * columns.stride
    slab.sums = slab.output if direct else <char*> sums
    slab.row_step = rows.output_step if direct else size * <int64_t> sizeof(double)
    for row in range(slab.end[0] - slab.begin[0]):
        memset(slab.sums + row * slab.row_step, 0, size * sizeof(double))
    taps_over(rows, slab.begin[0], slab.end[0], &first, &end, &step)
    for d in range(2):
        slab.tap_step[d] = plan.axes[plan.last - 1 + d].tap_step
        slab.block_step[d] = plan.axes[plan.last - 1 + d].block_step
    if plan.turned:
        slab.block_step[1] = sizeof(double)
        slab.block_step[0] = slab.block_step[1] * columns.blocks
        slab.tap_step[1] = slab.block_step[0] * (slab.blocks_end - slab.blocks_begin)
        slab.tap_step[0] = slab.tap_step[1] * columns.window
    run.input_row = slab.block_step[0]
    run.sums_row = rows.stride * slab.row_step
    for d in range(plan.last - 1):
        tap[d] = firsts[d]
    while reached:
        if slab.fresh:
            touch_blocks(plan, slab, input)
        taps = input
        if plan.turned:
            scatter_double_turn(plan, slab, input, cells)
            taps = cells - slab.blocks_begin * slab.block_step[0]
        number = first
        while number < end:
            blocks_at(rows, number, slab.begin[0], slab.end[0], &block, &run.rows)
            run.rows -= block
            if run.rows > 0:
                row = block * rows.stride + number * rows.dilation - slab.begin[0]
                run.sums = slab.sums + row * slab.row_step
                scatter_double_along(
                    plan, slab, taps + number * slab.tap_step[0] + block * slab.block_step[0], &run, add)
            number += step
        d = plan.last - 2
        while d >= 0:
            tap[d] += plan.axes[d].period
            input += plan.axes[d].next_step
            if tap[d] < ends[d]:
                break
            input -= (tap[d] - firsts[d]) // plan.axes[d].period * plan.axes[d].next_step
            tap[d] = firsts[d]
            d -= 1
        reached = d >= 0
    if not direct:
        scatter_double_lay(plan, slab)


cdef int scatter_double_slabs(const void* args, int64_t begin, int64_t end) noexcept nogil:
    cdef const ScatterPlan* plan = <const ScatterPlan*> args
    cdef const ScatterAxis* rows = &plan.axes[plan.last - 1]
    cdef const ScatterAxis* columns = &plan.axes[plan.last]
    cdef const ScatterAxis* axis
    cdef scatter_double_Add add = scatter_double_add_wide if dmlcy_wide() else scatter_double_add
    cdef scatter_double_Weave weave = scatter_double_weave_wide if dmlcy_wide() else scatter_double_weave
    cdef ScatterSlab slab
    cdef int64_t firsts[MAX_RANK]
    cdef int64_t ends[MAX_RANK]
    cdef int64_t number, index, channel, row, column, q
    cdef const char* input
    cdef bint reached
    cdef int d
    for number in range(begin, end):
        index = number
        channel = 0
        if plan.together:
            channel = index % plan.channels
            index //= plan.channels
        column = index % plan.column_slabs * plan.columns
        index //= plan.column_slabs
        row = index % plan.row_slabs * plan.rows
        index //= plan.row_slabs
        slab.begin[0] = rows.start + row
        slab.end[0] = rows.start + min(rows.size, row + plan.rows)
        slab.begin[1] = columns.start + column
        slab.end[1] = columns.start + min(columns.size, column + plan.columns)
        slab.output = plan.output + row * rows.output_step + column * columns.output_step
        input = plan.input
        reached = True
        for d in range(plan.last - 2, -1, -1):
            axis = &plan.axes[d]
            q = index % axis.size
            index //= axis.size
            slab.output += q * axis.output_step
            q += axis.start
            taps_at(axis, q, &firsts[d], &ends[d])
            if firsts[d] < ends[d]:
                input += firsts[d] * axis.tap_step
                input += (q - firsts[d] * axis.dilation) // axis.stride * axis.block_step
            else:
                reached = False
        if not plan.together:
            channel = index % plan.channels
            index //= plan.channels
        slab.output += index * plan.output_steps[0] + channel * plan.output_steps[1]
        input += index * plan.input_steps[0] + channel * plan.input_steps[1]
        find_blocks(plan, &slab)
        slab.fresh = plan.touched and channel == 0
        if plan.apart:
            if not (reached and plan.covered):
                for row in range(slab.end[0] - slab.begin[0]):
                    memset(slab.output + row * rows.output_step, 0, columns.size * sizeof(double))
            if reached and slab.fresh:
                touch_blocks(plan, &slab, input)
            if reached:
                weave(plan, &slab, input)
        else:
            scatter_double_slab(plan, &slab, input, firsts, ends, reached, add)
    return 0


ctypedef void (*scatter_float_Add)(const void* run) noexcept nogil
ctypedef void (*scatter_float_Weave)(const void* plan, const void* slab, const char* input) noexcept nogil


cdef void scatter_float_add "scatter_float_add"(const void* args) noexcept nogil:
    cdef const ScatterRun* run = <const ScatterRun*> args
    cdef bint dense = run.input_step == sizeof(float) and run.sums_step == sizeof(float)
    cdef int64_t block = sizeof(dmlcy_float_block) // sizeof(float)
    cdef int64_t last = run.size - block
    cdef int64_t row, i
    cdef const float* elements
    cdef float* sums
    cdef float* sum
    cdef dmlcy_float_block ending
    for row in range(run.rows):
        elements = <const float*> (run.input + row * run.input_row)
        sums = <float*> (run.sums + row * run.sums_row)
        if dense and last >= 0:
            # What overlaps the block before it is the same, of the sums as they were.
            ending = dmlcy_load_float(sums + last) + dmlcy_load_float(elements + last)
            i = 0
            while i < last:
                dmlcy_store_float(sums + i, dmlcy_load_float(sums + i) + dmlcy_load_float(elements + i))
                i += block
            dmlcy_store_float(sums + last, ending)
            continue
        for i in range(run.size):
            sum = <float*> (<char*> sums + i * run.sums_step)
            sum[0] += ((<const float*> (<const char*> elements + i * run.input_step))[0])


# The slab, where each position takes one element or none: taps are woven into rows, as many as the window is wide.
cdef void scatter_float_weave "scatter_float_weave"(
        const void* plan_, const void* slab_, const char* input) noexcept nogil:
    cdef const ScatterPlan* plan = <const ScatterPlan*> plan_
    cdef const ScatterSlab* slab = <const ScatterSlab*> slab_
    cdef const ScatterAxis* rows = &plan.axes[plan.last - 1]
    cdef const ScatterAxis* columns = &plan.axes[plan.last]
    cdef int64_t width = columns.stride
    cdef int64_t blocks = columns.blocks
    cdef int64_t covered = blocks * width
    cdef bint dense = columns.block_step == sizeof(float)
    cdef int64_t some = sizeof(dmlcy_float_block) // sizeof(float)
    cdef int64_t tap, end, step, block, last, row, i, k
    cdef const char* from_
    cdef char* to
    cdef int64_t at0 = plan.tap_at[min(width - 1, 0)]
    cdef const float* tap0
    cdef int64_t at1 = plan.tap_at[min(width - 1, 1)]
    cdef const float* tap1
    cdef int64_t at2 = plan.tap_at[min(width - 1, 2)]
    cdef const float* tap2
    cdef int64_t at3 = plan.tap_at[min(width - 1, 3)]
    cdef const float* tap3
    cdef const float* elements
    cdef float* out
    taps_over(rows, slab.begin[0], slab.end[0], &tap, &end, &step)
    while tap < end:
        blocks_at(rows, tap, slab.begin[0], slab.end[0], &block, &last)
        from_ = input + tap * rows.tap_step + block * rows.block_step
        to = slab.output + (block * rows.stride + tap * rows.dilation - slab.begin[0]) * rows.output_step
        for row in range(last - block):
            out = <float*> (to + row * rows.stride * rows.output_step)
            if plan.far:            # processors do not foresee so many short runs
                dmlcy_ask_rows(from_ + rows.block_step, columns.tap_step, width, blocks * columns.block_step)
                dmlcy_ask(<const char*> out + rows.stride * rows.output_step, covered * sizeof(float))
            tap0 = <const float*> (from_ + at0)
            tap1 = <const float*> (from_ + at1)
            tap2 = <const float*> (from_ + at2)
            tap3 = <const float*> (from_ + at3)
            if dense and width == 2:
                for i in range(blocks):
                    out[2 * i + 0] = tap0[i] + 0
                    out[2 * i + 1] = tap1[i] + 0
            elif dense and width == 3:
                for i in range(blocks):
                    out[3 * i + 0] = tap0[i] + 0
                    out[3 * i + 1] = tap1[i] + 0
                    out[3 * i + 2] = tap2[i] + 0
            elif dense and width == 4:
                for i in range(blocks):
                    out[4 * i + 0] = tap0[i] + 0
                    out[4 * i + 1] = tap1[i] + 0
                    out[4 * i + 2] = tap2[i] + 0
                    out[4 * i + 3] = tap3[i] + 0
            elif dense:
                weave_4(from_, plan.tap_at, width, blocks, <char*> out)
                for i in range(covered):
                    out[i] = out[i] + 0
            elif width == 2:
                for i in range(blocks):
                    elements = <const float*> (from_ + i * columns.block_step)
                    out[2 * i + 0] = elements[0] + 0
                    out[2 * i + 1] = elements[1] + 0
            elif width == 3:
                for i in range(blocks):
                    elements = <const float*> (from_ + i * columns.block_step)
                    out[3 * i + 0] = elements[0] + 0
                    out[3 * i + 1] = elements[1] + 0
                    out[3 * i + 2] = elements[2] + 0
            elif width == 4:
                for i in range(blocks):
                    elements = <const float*> (from_ + i * columns.block_step)
                    out[4 * i + 0] = elements[0] + 0
                    out[4 * i + 1] = elements[1] + 0
                    out[4 * i + 2] = elements[2] + 0
                    out[4 * i + 3] = elements[3] + 0
            else:
                for i in range(blocks):
                    elements = <const float*> (from_ + i * columns.block_step)
                    k = 0
                    while k <= width - some:
                        dmlcy_store_float(
                            out + i * width + k, dmlcy_load_float(elements + k) + 0)
                        k += some
                    for k in range(k, width):
                        out[i * width + k] = elements[k] + 0
            for i in range(covered, columns.size):
                out[i] = 0
            from_ += rows.block_step
        tap += step


cdef void scatter_float_add_wide "scatter_float_add_wide"(const void* args) noexcept nogil:
    cdef const ScatterRun* run = <const ScatterRun*> args
    cdef bint dense = run.input_step == sizeof(float) and run.sums_step == sizeof(float)
    cdef int64_t block = sizeof(dmlcy_float_block) // sizeof(float)
    cdef int64_t last = run.size - block
    cdef int64_t row, i
    cdef const float* elements
    cdef float* sums
    cdef float* sum
    cdef dmlcy_float_block ending
    for row in range(run.rows):
        elements = <const float*> (run.input + row * run.input_row)
        sums = <float*> (run.sums + row * run.sums_row)
        if dense and last >= 0:
            # What overlaps the block before it is the same, of the sums as they were.
            ending = dmlcy_load_float(sums + last) + dmlcy_load_float(elements + last)
            i = 0
            while i < last:
                dmlcy_store_float(sums + i, dmlcy_load_float(sums + i) + dmlcy_load_float(elements + i))
                i += block
            dmlcy_store_float(sums + last, ending)
            continue
        for i in range(run.size):
            sum = <float*> (<char*> sums + i * run.sums_step)
            sum[0] += ((<const float*> (<const char*> elements + i * run.input_step))[0])


# The slab, where each position takes one element or none: taps are woven into rows, as many as the window is wide.
cdef void scatter_float_weave_wide "scatter_float_weave_wide"(
        const void* plan_, const void* slab_, const char* input) noexcept nogil:
    cdef const ScatterPlan* plan = <const ScatterPlan*> plan_
    cdef const ScatterSlab* slab = <const ScatterSlab*> slab_
    cdef const ScatterAxis* rows = &plan.axes[plan.last - 1]
    cdef const ScatterAxis* columns = &plan.axes[plan.last]
    cdef int64_t width = columns.stride
    cdef int64_t blocks = columns.blocks
    cdef int64_t covered = blocks * width
    cdef bint dense = columns.block_step == sizeof(float)
    cdef int64_t some = sizeof(dmlcy_float_block) // sizeof(float)
    cdef int64_t tap, end, step, block, last, row, i, k
    cdef const char* from_
    cdef char* to
    cdef int64_t at0 = plan.tap_at[min(width - 1, 0)]
    cdef const float* tap0
    cdef int64_t at1 = plan.tap_at[min(width - 1, 1)]
    cdef const float* tap1
    cdef int64_t at2 = plan.tap_at[min(width - 1, 2)]
    cdef const float* tap2
    cdef int64_t at3 = plan.tap_at[min(width - 1, 3)]
    cdef const float* tap3
    cdef const float* elements
    cdef float* out
    taps_over(rows, slab.begin[0], slab.end[0], &tap, &end, &step)
    while tap < end:
        blocks_at(rows, tap, slab.begin[0], slab.end[0], &block, &last)
        from_ = input + tap * rows.tap_step + block * rows.block_step
        to = slab.output + (block * rows.stride + tap * rows.dilation - slab.begin[0]) * rows.output_step
        for row in range(last - block):
            out = <float*> (to + row * rows.stride * rows.output_step)
            if plan.far:            # processors do not foresee so many short runs
                dmlcy_ask_rows(from_ + rows.block_step, columns.tap_step, width, blocks * columns.block_step)
                dmlcy_ask(<const char*> out + rows.stride * rows.output_step, covered * sizeof(float))
            tap0 = <const float*> (from_ + at0)
            tap1 = <const float*> (from_ + at1)
            tap2 = <const float*> (from_ + at2)
            tap3 = <const float*> (from_ + at3)
            if dense and width == 2:
                for i in range(blocks):
                    out[2 * i + 0] = tap0[i] + 0
                    out[2 * i + 1] = tap1[i] + 0
            elif dense and width == 3:
                for i in range(blocks):
                    out[3 * i + 0] = tap0[i] + 0
                    out[3 * i + 1] = tap1[i] + 0
                    out[3 * i + 2] = tap2[i] + 0
            elif dense and width == 4:
                for i in range(blocks):
                    out[4 * i + 0] = tap0[i] + 0
                    out[4 * i + 1] = tap1[i] + 0
                    out[4 * i + 2] = tap2[i] + 0
                    out[4 * i + 3] = tap3[i] + 0
            elif dense:
                weave_4(from_, plan.tap_at, width, blocks, <char*> out)
                for i in range(covered):
                    out[i] = out[i] + 0
            elif width == 2:
                for i in range(blocks):
                    elements = <const float*> (from_ + i * columns.block_step)
                    out[2 * i + 0] = elements[0] + 0
                    out[2 * i + 1] = elements[1] + 0
            elif width == 3:
                for i in range(blocks):
                    elements = <const float*> (from_ + i * columns.block_step)
                    out[3 * i + 0] = elements[0] + 0
                    out[3 * i + 1] = elements[1] + 0
                    out[3 * i + 2] = elements[2] + 0
            elif width == 4:
                for i in range(blocks):
                    elements = <const float*> (from_ + i * columns.block_step)
                    out[4 * i + 0] = elements[0] + 0
                    out[4 * i + 1] = elements[1] + 0
                    out[4 * i + 2] = elements[2] + 0
                    out[4 * i + 3] = elements[3] + 0
            else:
                for i in range(blocks):
                    elements = <const float*> (from_ + i * columns.block_step)
                    k = 0
                    while k <= width - some:
                        dmlcy_store_float(
                            out + i * width + k, dmlcy_load_float(elements + k) + 0)
                        k += some
                    for k in range(k, width):
                        out[i * width + k] = elements[k] + 0
            for i in range(covered, columns.size):
                out[i] = 0
            from_ += rows.block_step
        tap += step


# What a tap of the rows, and one of each axis before them, adds: from its taps of the columns, or, where strides are
# long, from its blocks, the last ones first.
cdef void scatter_float_along(
        const ScatterPlan* plan, const ScatterSlab* slab, const char* input, ScatterRun* run,
        scatter_float_Add add) noexcept nogil:
    cdef const ScatterAxis* columns = &plan.axes[plan.last]
    cdef char* sums = run.sums
    cdef int64_t high = slab.low + slab.length * (columns.stride if plan.woven else 1)
    cdef int64_t first, end, step, number, begin, at
    if columns.stride <= slab.length or plan.woven:
        run.input_step = slab.block_step[1]
        run.sums_step = sizeof(float) * (1 if plan.woven else columns.stride)
        taps_over(columns, slab.low, high, &number, &end, &step)
        while number < end:
            blocks_at(columns, number, slab.low, high, &begin, &run.size)
            run.size -= begin
            run.input = input + number * slab.tap_step[1] + begin * slab.block_step[1]
            at = begin * columns.stride + number * columns.dilation - slab.low
            if plan.woven:
                at = at % columns.stride * slab.length + at // columns.stride
            run.sums = sums + at * <int64_t> sizeof(float)
            if run.size > 0:
                add(run)
            number += step
        return
    run.input_step = slab.tap_step[1]
    run.sums_step = sizeof(float) * columns.dilation
    first = max(0, ceil_div(slab.low - (columns.window - 1) * columns.dilation, columns.stride))
    end = min(columns.blocks, (high - 1) // columns.stride + 1)
    for number in range(end - 1, first - 1, -1):
        at = number * columns.stride - slab.low
        begin = max(0, ceil_div(-at, columns.dilation))
        run.size = min(columns.window, ceil_div(high - slab.low - at, columns.dilation)) - begin
        run.input = input + begin * slab.tap_step[1] + number * slab.block_step[1]
        run.sums = sums + (at + begin * columns.dilation) * <int64_t> sizeof(float)
        if run.size > 0:
            add(run)


# The sums of a slab, put where they belong.
cdef void scatter_float_lay(const ScatterPlan* plan, const ScatterSlab* slab) noexcept nogil:
    cdef const ScatterAxis* columns = &plan.axes[plan.last]
    cdef int64_t size = slab.end[1] - slab.begin[1]
    cdef int64_t class_at[CLASSES]
    cdef float woven[SLAB]
    cdef const float* sums
    cdef const float* line
    cdef char* output
    cdef int64_t row, i
    if plan.woven:
        for i in range(columns.stride):
            class_at[i] = i * slab.length * <int64_t> sizeof(float)
    for row in range(slab.end[0] - slab.begin[0]):
        sums = <const float*> (slab.sums + row * slab.row_step)
        output = slab.output + row * plan.axes[plan.last - 1].output_step
        line = sums
        if plan.woven:
            weave_4(<const char*> line, class_at, columns.stride, slab.length, <char*> woven)
            line = woven + (slab.begin[1] - slab.low)
        if columns.output_step == sizeof(float):
            dmlcy_copy(output, <const char*> line, size * columns.output_step)
        else:
            for i in range(size):
                (<float*> (output + i * columns.output_step))[0] = line[i]


# Some rows of blocks of all taps of rows and columns, as rows of each tap.
cdef void scatter_float_turn(
        const ScatterPlan* plan, const ScatterSlab* slab, const char* input, char* cells) noexcept nogil:
    cdef const ScatterAxis* columns = &plan.axes[plan.last]
    cdef int64_t blocks = slab.tap_step[1] // <int64_t> sizeof(float)
    cdef int64_t width = plan.axes[plan.last - 1].window * columns.window
    cdef int64_t block = 0
    input += slab.blocks_begin * plan.axes[plan.last - 1].block_step
    while block < blocks:
        block = max(0, min(block, blocks - TURNED))
        transpose_4(
            input + block * columns.block_step, plan.block_at, min(blocks, <int64_t> TURNED), width,
            cells + block * <int64_t> sizeof(float), slab.tap_step[1])
        block += TURNED


cdef void scatter_float_slab(
        const ScatterPlan* plan, ScatterSlab* slab, const char* input, const int64_t* firsts, const int64_t* ends,
        bint reached, scatter_float_Add add) noexcept nogil:
    cdef const ScatterAxis* rows = &plan.axes[plan.last - 1]
    cdef const ScatterAxis* columns = &plan.axes[plan.last]
    cdef float sums[SLAB]
    cdef char cells[CELL_BYTES]
    cdef int64_t size = slab.end[1] - slab.begin[1]
    cdef bint direct = True and not plan.woven and columns.output_step == sizeof(float)
    cdef int64_t tap[MAX_RANK]
    cdef int64_t first, end, step, number, block, row
    cdef const char* taps
    cdef ScatterRun run
    cdef int d
    slab.low = slab.begin[1]
    slab.length = size
    if plan.woven:
        slab.low = slab.begin[1] // columns.stride * columns.stride
        slab.length = ceil_div(slab.end[1] - slab.low, columns.stride)
        size = slab.length * columns.stride
    slab.sums = slab.output if direct else <char*> sums
    slab.row_step = rows.output_step if direct else size * <int64_t> sizeof(float)
    for row in range(slab.end[0] - slab.begin[0]):
        memset(slab.sums + row * slab.row_step, 0, size * sizeof(float))
    taps_over(rows, slab.begin[0], slab.end[0], &first, &end, &step)
    for d in range(2):
        slab.tap_step[d] = plan.axes[plan.last - 1 + d].tap_step
        slab.block_step[d] = plan.axes[plan.last - 1 + d].block_step
    if plan.turned:
        slab.block_step[1] = sizeof(float)
        slab.block_step[0] = slab.block_step[1] * columns.blocks
        slab.tap_step[1] = slab.block_step[0] * (slab.blocks_end - slab.blocks_begin)
        slab.tap_step[0] = slab.tap_step[1] * columns.window
    run.input_row = slab.block_step[0]
    run.sums_row = rows.stride * slab.row_step
    for d in range(plan.last - 1):
        tap[d] = firsts[d]
    while reached:
        if slab.fresh:
            touch_blocks(plan, slab, input)
        taps = input
        if plan.turned:
            scatter_float_turn(plan, slab, input, cells)
            taps = cells - slab.blocks_begin * slab.block_step[0]
        number = first
        while number < end:
            blocks_at(rows, number, slab.begin[0], slab.end[0], &block, &run.rows)
            run.rows -= block
            if run.rows > 0:
                row = block * rows.stride + number * rows.dilation - slab.begin[0]
                run.sums = slab.sums + row * slab.row_step
                scatter_float_along(
                    plan, slab, taps + number * slab.tap_step[0] + block * slab.block_step[0], &run, add)
            number += step
        d = plan.last - 2
        while d >= 0:
            tap[d] += plan.axes[d].period
            input += plan.axes[d].next_step
            if tap[d] < ends[d]:
                break
            input -= (tap[d] - firsts[d]) // plan.axes[d].period * plan.axes[d].next_step
            tap[d] = firsts[d]
            d -= 1
        reached = d >= 0
    if not direct:
        scatter_float_lay(plan, slab)


cdef int scatter_float_slabs(const void* args, int64_t begin, int64_t end) noexcept nogil:
    cdef const ScatterPlan* plan = <const ScatterPlan*> args
    cdef const ScatterAxis* rows = &plan.axes[plan.last - 1]
    cdef const ScatterAxis* columns = &plan.axes[plan.last]
    cdef const ScatterAxis* axis
    cdef scatter_float_Add add = scatter_float_add_wide if dmlcy_wide() else scatter_float_add
    cdef scatter_float_Weave weave = scatter_float_weave_wide if dmlcy_wide() else scatter_float_weave
    cdef ScatterSlab slab
    cdef int64_t firsts[MAX_RANK]
    cdef int64_t ends[MAX_RANK]
    cdef int64_t number, index, channel, row, column, q
    cdef const char* input
    cdef bint reached
    cdef int d
    for number in range(begin, end):
        index = number
        channel = 0
        if plan.together:
            channel = index % plan.channels
            index //= plan.channels
        column = index % plan.column_slabs * plan.columns
        index //= plan.column_slabs
        row = index % plan.row_slabs * plan.rows
        index //= plan.row_slabs
        slab.begin[0] = rows.start + row
        slab.end[0] = rows.start + min(rows.size, row + plan.rows)
        slab.begin[1] = columns.start + column
        slab.end[1] = columns.start + min(columns.size, column + plan.columns)
        slab.output = plan.output + row * rows.output_step + column * columns.output_step
        input = plan.input
        reached = True
        for d in range(plan.last - 2, -1, -1):
            axis = &plan.axes[d]
            q = index % axis.size
            index //= axis.size
            slab.output += q * axis.output_step
            q += axis.start
            taps_at(axis, q, &firsts[d], &ends[d])
            if firsts[d] < ends[d]:
                input += firsts[d] * axis.tap_step
                input += (q - firsts[d] * axis.dilation) // axis.stride * axis.block_step
            else:
                reached = False
        if not plan.together:
            channel = index % plan.channels
            index //= plan.channels
        slab.output += index * plan.output_steps[0] + channel * plan.output_steps[1]
        input += index * plan.input_steps[0] + channel * plan.input_steps[1]
        find_blocks(plan, &slab)
        slab.fresh = plan.touched and channel == 0
        if plan.apart:
            if not (reached and plan.covered):
                for row in range(slab.end[0] - slab.begin[0]):
                    memset(slab.output + row * rows.output_step, 0, columns.size * sizeof(float))
            if reached and slab.fresh:
                touch_blocks(plan, &slab, input)
            if reached:
                weave(plan, &slab, input)
        else:
            scatter_float_slab(plan, &slab, input, firsts, ends, reached, add)
    return 0


ctypedef void (*scatter_half_Add)(const void* run) noexcept nogil
ctypedef void (*scatter_half_Weave)(const void* plan, const void* slab, const char* input) noexcept nogil


cdef void scatter_half_add "scatter_half_add"(const void* args) noexcept nogil:
    cdef const ScatterRun* run = <const ScatterRun*> args
    cdef bint dense = run.input_step == sizeof(uint16_t) and run.sums_step == sizeof(float)
    cdef int64_t block = sizeof(dmlcy_float_block) // sizeof(float)
    cdef int64_t last = run.size - block
    cdef int64_t row, i
    cdef const uint16_t* elements
    cdef float* sums
    cdef float* sum
    cdef dmlcy_float_block ending
    for row in range(run.rows):
        elements = <const uint16_t*> (run.input + row * run.input_row)
        sums = <float*> (run.sums + row * run.sums_row)
        if dense and last >= 0:
            # What overlaps the block before it is the same, of the sums as they were.
            ending = dmlcy_load_float(sums + last) + dmlcy_load_half(elements + last)
            i = 0
            while i < last:
                dmlcy_store_float(sums + i, dmlcy_load_float(sums + i) + dmlcy_load_half(elements + i))
                i += block
            dmlcy_store_float(sums + last, ending)
            continue
        for i in range(run.size):
            sum = <float*> (<char*> sums + i * run.sums_step)
            sum[0] += dmlcy_float_of_half((<const uint16_t*> (<const char*> elements + i * run.input_step))[0])


# The slab, where each position takes one element or none: taps are woven into rows, as many as the window is wide.
cdef void scatter_half_weave "scatter_half_weave"(
        const void* plan_, const void* slab_, const char* input) noexcept nogil:
    cdef const ScatterPlan* plan = <const ScatterPlan*> plan_
    cdef const ScatterSlab* slab = <const ScatterSlab*> slab_
    cdef const ScatterAxis* rows = &plan.axes[plan.last - 1]
    cdef const ScatterAxis* columns = &plan.axes[plan.last]
    cdef int64_t width = columns.stride
    cdef int64_t blocks = columns.blocks
    cdef int64_t covered = blocks * width
    cdef bint dense = columns.block_step == sizeof(uint16_t)
    cdef int64_t tap, end, step, block, last, row, i, k
    cdef const char* from_
    cdef char* to
    cdef int64_t at0 = plan.tap_at[min(width - 1, 0)]
    cdef const uint16_t* tap0
    cdef int64_t at1 = plan.tap_at[min(width - 1, 1)]
    cdef const uint16_t* tap1
    cdef int64_t at2 = plan.tap_at[min(width - 1, 2)]
    cdef const uint16_t* tap2
    cdef int64_t at3 = plan.tap_at[min(width - 1, 3)]
    cdef const uint16_t* tap3
    cdef const uint16_t* elements
    cdef uint16_t* out
    taps_over(rows, slab.begin[0], slab.end[0], &tap, &end, &step)
    while tap < end:
        blocks_at(rows, tap, slab.begin[0], slab.end[0], &block, &last)
        from_ = input + tap * rows.tap_step + block * rows.block_step
        to = slab.output + (block * rows.stride + tap * rows.dilation - slab.begin[0]) * rows.output_step
        for row in range(last - block):
            out = <uint16_t*> (to + row * rows.stride * rows.output_step)
            if plan.far:            # processors do not foresee so many short runs
                dmlcy_ask_rows(from_ + rows.block_step, columns.tap_step, width, blocks * columns.block_step)
                dmlcy_ask(<const char*> out + rows.stride * rows.output_step, covered * sizeof(uint16_t))
            tap0 = <const uint16_t*> (from_ + at0)
            tap1 = <const uint16_t*> (from_ + at1)
            tap2 = <const uint16_t*> (from_ + at2)
            tap3 = <const uint16_t*> (from_ + at3)
            if dense and width == 2:
                for i in range(blocks):
                    out[2 * i + 0] = (0 if tap0[i] == 0x8000 else tap0[i])
                    out[2 * i + 1] = (0 if tap1[i] == 0x8000 else tap1[i])
            elif dense and width == 3:
                for i in range(blocks):
                    out[3 * i + 0] = (0 if tap0[i] == 0x8000 else tap0[i])
                    out[3 * i + 1] = (0 if tap1[i] == 0x8000 else tap1[i])
                    out[3 * i + 2] = (0 if tap2[i] == 0x8000 else tap2[i])
            elif dense and width == 4:
                for i in range(blocks):
                    out[4 * i + 0] = (0 if tap0[i] == 0x8000 else tap0[i])
                    out[4 * i + 1] = (0 if tap1[i] == 0x8000 else tap1[i])
                    out[4 * i + 2] = (0 if tap2[i] == 0x8000 else tap2[i])
                    out[4 * i + 3] = (0 if tap3[i] == 0x8000 else tap3[i])
            elif dense:
                weave_2(from_, plan.tap_at, width, blocks, <char*> out)
                for i in range(covered):
                    out[i] = (0 if out[i] == 0x8000 else out[i])
            elif width == 2:
                for i in range(blocks):
                    elements = <const uint16_t*> (from_ + i * columns.block_step)
                    out[2 * i + 0] = (0 if elements[0] == 0x8000 else elements[0])
                    out[2 * i + 1] = (0 if elements[1] == 0x8000 else elements[1])
            elif width == 3:
                for i in range(blocks):
                    elements = <const uint16_t*> (from_ + i * columns.block_step)
                    out[3 * i + 0] = (0 if elements[0] == 0x8000 else elements[0])
                    out[3 * i + 1] = (0 if elements[1] == 0x8000 else elements[1])
                    out[3 * i + 2] = (0 if elements[2] == 0x8000 else elements[2])
            elif width == 4:
                for i in range(blocks):
                    elements = <const uint16_t*> (from_ + i * columns.block_step)
                    out[4 * i + 0] = (0 if elements[0] == 0x8000 else elements[0])
                    out[4 * i + 1] = (0 if elements[1] == 0x8000 else elements[1])
                    out[4 * i + 2] = (0 if elements[2] == 0x8000 else elements[2])
                    out[4 * i + 3] = (0 if elements[3] == 0x8000 else elements[3])
            else:
                for i in range(blocks):
                    elements = <const uint16_t*> (from_ + i * columns.block_step)
                    k = 0
                    for k in range(k, width):
                        out[i * width + k] = (0 if elements[k] == 0x8000 else elements[k])
            for i in range(covered, columns.size):
                out[i] = 0
            from_ += rows.block_step
        tap += step


cdef void scatter_half_add_wide "scatter_half_add_wide"(const void* args) noexcept nogil:
    cdef const ScatterRun* run = <const ScatterRun*> args
    cdef bint dense = run.input_step == sizeof(uint16_t) and run.sums_step == sizeof(float)
    cdef int64_t block = sizeof(dmlcy_float_block) // sizeof(float)
    cdef int64_t last = run.size - block
    cdef int64_t row, i
    cdef const uint16_t* elements
    cdef float* sums
    cdef float* sum
    cdef dmlcy_float_block ending
    for row in range(run.rows):
        elements = <const uint16_t*> (run.input + row * run.input_row)
        sums = <float*> (run.sums + row * run.sums_row)
        if dense and last >= 0:
            # What overlaps the block before it is the same, of the sums as they were.
            ending = dmlcy_load_float(sums + last) + dmlcy_load_half_wide(elements + last)
            i = 0
            while i < last:
                dmlcy_store_float(sums + i, dmlcy_load_float(sums + i) + dmlcy_load_half_wide(elements + i))
                i += block
            dmlcy_store_float(sums + last, ending)
            continue
        for i in range(run.size):
            sum = <float*> (<char*> sums + i * run.sums_step)
            sum[0] += dmlcy_float_of_half((<const uint16_t*> (<const char*> elements + i * run.input_step))[0])


# The slab, where each position takes one element or none: taps are woven into rows, as many as the window is wide.
cdef void scatter_half_weave_wide "scatter_half_weave_wide"(
        const void* plan_, const void* slab_, const char* input) noexcept nogil:
    cdef const ScatterPlan* plan = <const ScatterPlan*> plan_
    cdef const ScatterSlab* slab = <const ScatterSlab*> slab_
    cdef const ScatterAxis* rows = &plan.axes[plan.last - 1]
    cdef const ScatterAxis* columns = &plan.axes[plan.last]
    cdef int64_t width = columns.stride
    cdef int64_t blocks = columns.blocks
    cdef int64_t covered = blocks * width
    cdef bint dense = columns.block_step == sizeof(uint16_t)
    cdef int64_t tap, end, step, block, last, row, i, k
    cdef const char* from_
    cdef char* to
    cdef int64_t at0 = plan.tap_at[min(width - 1, 0)]
    cdef const uint16_t* tap0
    cdef int64_t at1 = plan.tap_at[min(width - 1, 1)]
    cdef const uint16_t* tap1
    cdef int64_t at2 = plan.tap_at[min(width - 1, 2)]
    cdef const uint16_t* tap2
    cdef int64_t at3 = plan.tap_at[min(width - 1, 3)]
    cdef const uint16_t* tap3
    cdef const uint16_t* elements
    cdef uint16_t* out
    taps_over(rows, slab.begin[0], slab.end[0], &tap, &end, &step)
    while tap < end:
        blocks_at(rows, tap, slab.begin[0], slab.end[0], &block, &last)
        from_ = input + tap * rows.tap_step + block * rows.block_step
        to = slab.output + (block * rows.stride + tap * rows.dilation - slab.begin[0]) * rows.output_step
        for row in range(last - block):
            out = <uint16_t*> (to + row * rows.stride * rows.output_step)
            if plan.far:            # processors do not foresee so many short runs
                dmlcy_ask_rows(from_ + rows.block_step, columns.tap_step, width, blocks * columns.block_step)
                dmlcy_ask(<const char*> out + rows.stride * rows.output_step, covered * sizeof(uint16_t))
            tap0 = <const uint16_t*> (from_ + at0)
            tap1 = <const uint16_t*> (from_ + at1)
            tap2 = <const uint16_t*> (from_ + at2)
            tap3 = <const uint16_t*> (from_ + at3)
            if dense and width == 2:
                for i in range(blocks):
                    out[2 * i + 0] = (0 if tap0[i] == 0x8000 else tap0[i])
                    out[2 * i + 1] = (0 if tap1[i] == 0x8000 else tap1[i])
            elif dense and width == 3:
                for i in range(blocks):
                    out[3 * i + 0] = (0 if tap0[i] == 0x8000 else tap0[i])
                    out[3 * i + 1] = (0 if tap1[i] == 0x8000 else tap1[i])
                    out[3 * i + 2] = (0 if tap2[i] == 0x8000 else tap2[i])
            elif dense and width == 4:
                for i in range(blocks):
                    out[4 * i + 0] = (0 if tap0[i] == 0x8000 else tap0[i])
                    out[4 * i + 1] = (0 if tap1[i] == 0x8000 else tap1[i])
                    out[4 * i + 2] = (0 if tap2[i] == 0x8000 else tap2[i])
                    out[4 * i + 3] = (0 if tap3[i] == 0x8000 else tap3[i])
            elif dense:
                weave_2(from_, plan.tap_at, width, blocks, <char*> out)
                for i in range(covered):
                    out[i] = (0 if out[i] == 0x8000 else out[i])
            elif width == 2:
                for i in range(blocks):
                    elements = <const uint16_t*> (from_ + i * columns.block_step)
                    out[2 * i + 0] = (0 if elements[0] == 0x8000 else elements[0])
                    out[2 * i + 1] = (0 if elements[1] == 0x8000 else elements[1])
            elif width == 3:
                for i in range(blocks):
                    elements = <const uint16_t*> (from_ + i * columns.block_step)
                    out[3 * i + 0] = (0 if elements[0] == 0x8000 else elements[0])
                    out[3 * i + 1] = (0 if elements[1] == 0x8000 else elements[1])
                    out[3 * i + 2] = (0 if elements[2] == 0x8000 else elements[2])
            elif width == 4:
                for i in range(blocks):
                    elements = <const uint16_t*> (from_ + i * columns.block_step)
                    out[4 * i + 0] = (0 if elements[0] == 0x8000 else elements[0])
                    out[4 * i + 1] = (0 if elements[1] == 0x8000 else elements[1])
                    out[4 * i + 2] = (0 if elements[2] == 0x8000 else elements[2])
                    out[4 * i + 3] = (0 if elements[3] == 0x8000 else elements[3])
            else:
                for i in range(blocks):
                    elements = <const uint16_t*> (from_ + i * columns.block_step)
                    k = 0
                    for k in range(k, width):
                        out[i * width + k] = (0 if elements[k] == 0x8000 else elements[k])
            for i in range(covered, columns.size):
                out[i] = 0
            from_ += rows.block_step
        tap += step


# What a tap of the rows, and one of each axis before them, adds: from its taps of the columns, or, where strides are
# long, from its blocks, the last ones first.
cdef void scatter_half_along(
        const ScatterPlan* plan, const ScatterSlab* slab, const char* input, ScatterRun* run,
        scatter_half_Add add) noexcept nogil:
    cdef const ScatterAxis* columns = &plan.axes[plan.last]
    cdef char* sums = run.sums
    cdef int64_t high = slab.low + slab.length * (columns.stride if plan.woven else 1)
    cdef int64_t first, end, step, number, begin, at
    if columns.stride <= slab.length or plan.woven:
        run.input_step = slab.block_step[1]
        run.sums_step = sizeof(float) * (1 if plan.woven else columns.stride)
        taps_over(columns, slab.low, high, &number, &end, &step)
        while number < end:
            blocks_at(columns, number, slab.low, high, &begin, &run.size)
            run.size -= begin
            run.input = input + number * slab.tap_step[1] + begin * slab.block_step[1]
            at = begin * columns.stride + number * columns.dilation - slab.low
            if plan.woven:
                at = at % columns.stride * slab.length + at // columns.stride
            run.sums = sums + at * <int64_t> sizeof(float)
            if run.size > 0:
                add(run)
            number += step
        return
    run.input_step = slab.tap_step[1]
    run.sums_step = sizeof(float) * columns.dilation
    first = max(0, ceil_div(slab.low - (columns.window - 1) * columns.dilation, columns.stride))
    end = min(columns.blocks, (high - 1) // columns.stride + 1)
    for number in range(end - 1, first - 1, -1):
        at = number * columns.stride - slab.low
        begin = max(0, ceil_div(-at, columns.dilation))
        run.size = min(columns.window, ceil_div(high - slab.low - at, columns.dilation)) - begin
        run.input = input + begin * slab.tap_step[1] + number * slab.block_step[1]
        run.sums = sums + (at + begin * columns.dilation) * <int64_t> sizeof(float)
        if run.size > 0:
            add(run)


# The sums of a slab, put where they belong.
cdef void scatter_half_lay(const ScatterPlan* plan, const ScatterSlab* slab) noexcept nogil:
    cdef const ScatterAxis* columns = &plan.axes[plan.last]
    cdef int64_t size = slab.end[1] - slab.begin[1]
    cdef int64_t class_at[CLASSES]
    cdef uint16_t woven[SLAB]
    cdef uint16_t narrowed[SLAB]
    cdef const float* sums
    cdef const uint16_t* line
    cdef char* output
    cdef int64_t row, i
    if plan.woven:
        for i in range(columns.stride):
            class_at[i] = i * slab.length * <int64_t> sizeof(uint16_t)
    for row in range(slab.end[0] - slab.begin[0]):
        sums = <const float*> (slab.sums + row * slab.row_step)
        output = slab.output + row * plan.axes[plan.last - 1].output_step
        dmlcy_float_to_half(sums, narrowed, sizeof(uint16_t), slab.row_step // <int64_t> sizeof(float))
        line = narrowed
        if plan.woven:
            weave_2(<const char*> line, class_at, columns.stride, slab.length, <char*> woven)
            line = woven + (slab.begin[1] - slab.low)
        if columns.output_step == sizeof(uint16_t):
            dmlcy_copy(output, <const char*> line, size * columns.output_step)
        else:
            for i in range(size):
                (<uint16_t*> (output + i * columns.output_step))[0] = line[i]


# Some rows of blocks of all taps of rows and columns, as rows of each tap.
cdef void scatter_half_turn(
        const ScatterPlan* plan, const ScatterSlab* slab, const char* input, char* cells) noexcept nogil:
    cdef const ScatterAxis* columns = &plan.axes[plan.last]
    cdef int64_t blocks = slab.tap_step[1] // <int64_t> sizeof(uint16_t)
    cdef int64_t width = plan.axes[plan.last - 1].window * columns.window
    cdef int64_t block = 0
    input += slab.blocks_begin * plan.axes[plan.last - 1].block_step
    while block < blocks:
        block = max(0, min(block, blocks - TURNED))
        transpose_2(
            input + block * columns.block_step, plan.block_at, min(blocks, <int64_t> TURNED), width,
            cells + block * <int64_t> sizeof(uint16_t), slab.tap_step[1])
        block += TURNED


cdef void scatter_half_slab(
        const ScatterPlan* plan, ScatterSlab* slab, const char* input, const int64_t* firsts, const int64_t* ends,
        bint reached, scatter_half_Add add) noexcept nogil:
    cdef const ScatterAxis* rows = &plan.axes[plan.last - 1]
    cdef const ScatterAxis* columns = &plan.axes[plan.last]
    cdef float sums[SLAB]
    cdef char cells[CELL_BYTES]
    cdef int64_t size = slab.end[1] - slab.begin[1]
    cdef bint direct = False and not plan.woven and columns.output_step == sizeof(uint16_t)
    cdef int64_t tap[MAX_RANK]
    cdef int64_t first, end, step, number, block, row
    cdef const char* taps
    cdef ScatterRun run
    cdef int d
    slab.low = slab.begin[1]
    slab.length = size
    if plan.woven:
        slab.low = slab.begin[1] // columns.stride * columns.stride
        slab.length = ceil_div(slab.end[1] - slab.low, columns.stride)
        size = slab.length * columns.stride
    slab.sums = slab.output if direct else <char*> sums
    slab.row_step = rows.output_step if direct else size * <int64_t> sizeof(float)
    for row in range(slab.end[0] - slab.begin[0]):
        memset(slab.sums + row * slab.row_step, 0, size * sizeof(float))
    taps_over(rows, slab.begin[0], slab.end[0], &first, &end, &step)
    for d in range(2):
        slab.tap_step[d] = plan.axes[plan.last - 1 + d].tap_step
        slab.block_step[d] = plan.axes[plan.last - 1 + d].block_step
    if plan.turned:
        slab.block_step[1] = sizeof(uint16_t)
        slab.block_step[0] = slab.block_step[1] * columns.blocks
        slab.tap_step[1] = slab.block_step[0] * (slab.blocks_end - slab.blocks_begin)
        slab.tap_step[0] = slab.tap_step[1] * columns.window
    run.input_row = slab.block_step[0]
    run.sums_row = rows.stride * slab.row_step
    for d in range(plan.last - 1):
        tap[d] = firsts[d]
    while reached:
        if slab.fresh:
            touch_blocks(plan, slab, input)
        taps = input
        if plan.turned:
            scatter_half_turn(plan, slab, input, cells)
            taps = cells - slab.blocks_begin * slab.block_step[0]
        number = first
        while number < end:
            blocks_at(rows, number, slab.begin[0], slab.end[0], &block, &run.rows)
            run.rows -= block
            if run.rows > 0:
                row = block * rows.stride + number * rows.dilation - slab.begin[0]
                run.sums = slab.sums + row * slab.row_step
                scatter_half_along(
                    plan, slab, taps + number * slab.tap_step[0] + block * slab.block_step[0], &run, add)
            number += step
        d = plan.last - 2
        while d >= 0:
            tap[d] += plan.axes[d].period
            input += plan.axes[d].next_step
            if tap[d] < ends[d]:
                break
            input -= (tap[d] - firsts[d]) // plan.axes[d].period * plan.axes[d].next_step
            tap[d] = firsts[d]
            d -= 1
        reached = d >= 0
    if not direct:
        scatter_half_lay(plan, slab)


cdef int scatter_half_slabs(const void* args, int64_t begin, int64_t end) noexcept nogil:
    cdef const ScatterPlan* plan = <const ScatterPlan*> args
    cdef const ScatterAxis* rows = &plan.axes[plan.last - 1]
    cdef const ScatterAxis* columns = &plan.axes[plan.last]
    cdef const ScatterAxis* axis
    cdef scatter_half_Add add = scatter_half_add_wide if dmlcy_wide() else scatter_half_add
    cdef scatter_half_Weave weave = scatter_half_weave_wide if dmlcy_wide() else scatter_half_weave
    cdef ScatterSlab slab
    cdef int64_t firsts[MAX_RANK]
    cdef int64_t ends[MAX_RANK]
    cdef int64_t number, index, channel, row, column, q
    cdef const char* input
    cdef bint reached
    cdef int d
    for number in range(begin, end):
        index = number
        channel = 0
        if plan.together:
            channel = index % plan.channels
            index //= plan.channels
        column = index % plan.column_slabs * plan.columns
        index //= plan.column_slabs
        row = index % plan.row_slabs * plan.rows
        index //= plan.row_slabs
        slab.begin[0] = rows.start + row
        slab.end[0] = rows.start + min(rows.size, row + plan.rows)
        slab.begin[1] = columns.start + column
        slab.end[1] = columns.start + min(columns.size, column + plan.columns)
        slab.output = plan.output + row * rows.output_step + column * columns.output_step
        input = plan.input
        reached = True
        for d in range(plan.last - 2, -1, -1):
            axis = &plan.axes[d]
            q = index % axis.size
            index //= axis.size
            slab.output += q * axis.output_step
            q += axis.start
            taps_at(axis, q, &firsts[d], &ends[d])
            if firsts[d] < ends[d]:
                input += firsts[d] * axis.tap_step
                input += (q - firsts[d] * axis.dilation) // axis.stride * axis.block_step
            else:
                reached = False
        if not plan.together:
            channel = index % plan.channels
            index //= plan.channels
        slab.output += index * plan.output_steps[0] + channel * plan.output_steps[1]
        input += index * plan.input_steps[0] + channel * plan.input_steps[1]
        find_blocks(plan, &slab)
        slab.fresh = plan.touched and channel == 0
        if plan.apart:
            if not (reached and plan.covered):
                for row in range(slab.end[0] - slab.begin[0]):
                    memset(slab.output + row * rows.output_step, 0, columns.size * sizeof(uint16_t))
            if reached and slab.fresh:
                touch_blocks(plan, &slab, input)
            if reached:
                weave(plan, &slab, input)
        else:
            scatter_half_slab(plan, &slab, input, firsts, ends, reached, add)
    return 0


ctypedef void (*scatter_uint64_t_Add)(const void* run) noexcept nogil
ctypedef void (*scatter_uint64_t_Weave)(const void* plan, const void* slab, const char* input) noexcept nogil


cdef void scatter_uint64_t_add "scatter_uint64_t_add"(const void* args) noexcept nogil:
    cdef const ScatterRun* run = <const ScatterRun*> args
    cdef bint dense = run.input_step == sizeof(uint64_t) and run.sums_step == sizeof(uint64_t)
    cdef int64_t block = sizeof(dmlcy_uint64_t_block) // sizeof(uint64_t)
    cdef int64_t last = run.size - block
    cdef int64_t row, i
    cdef const uint64_t* elements
    cdef uint64_t* sums
    cdef uint64_t* sum
    cdef dmlcy_uint64_t_block ending
    for row in range(run.rows):
        elements = <const uint64_t*> (run.input + row * run.input_row)
        sums = <uint64_t*> (run.sums + row * run.sums_row)
        if dense and last >= 0:
            # What overlaps the block before it is the same, of the sums as they were.
            ending = dmlcy_load_uint64_t(sums + last) + dmlcy_load_uint64_t(elements + last)
            i = 0
            while i < last:
                dmlcy_store_uint64_t(sums + i, dmlcy_load_uint64_t(sums + i) + dmlcy_load_uint64_t(elements + i))
                i += block
            dmlcy_store_uint64_t(sums + last, ending)
            continue
        for i in range(run.size):
            sum = <uint64_t*> (<char*> sums + i * run.sums_step)
            sum[0] += ((<const uint64_t*> (<const char*> elements + i * run.input_step))[0])


# The slab, where each position takes one element or none: taps are woven into rows, as many as the window is wide.
cdef void scatter_uint64_t_weave "scatter_uint64_t_weave"(
        const void* plan_, const void* slab_, const char* input) noexcept nogil:
    cdef const ScatterPlan* plan = <const ScatterPlan*> plan_
    cdef const ScatterSlab* slab = <const ScatterSlab*> slab_
    cdef const ScatterAxis* rows = &plan.axes[plan.last - 1]
    cdef const ScatterAxis* columns = &plan.axes[plan.last]
    cdef int64_t width = columns.stride
    cdef int64_t blocks = columns.blocks
    cdef int64_t covered = blocks * width
    cdef bint dense = columns.block_step == sizeof(uint64_t)
    cdef int64_t some = sizeof(dmlcy_uint64_t_block) // sizeof(uint64_t)
    cdef int64_t tap, end, step, block, last, row, i, k
    cdef const char* from_
    cdef char* to
    cdef int64_t at0 = plan.tap_at[min(width - 1, 0)]
    cdef const uint64_t* tap0
    cdef int64_t at1 = plan.tap_at[min(width - 1, 1)]
    cdef const uint64_t* tap1
    cdef int64_t at2 = plan.tap_at[min(width - 1, 2)]
    cdef const uint64_t* tap2
    cdef int64_t at3 = plan.tap_at[min(width - 1, 3)]
    cdef const uint64_t* tap3
    cdef const uint64_t* elements
    cdef uint64_t* out
    taps_over(rows, slab.begin[0], slab.end[0], &tap, &end, &step)
    while tap < end:
        blocks_at(rows, tap, slab.begin[0], slab.end[0], &block, &last)
        from_ = input + tap * rows.tap_step + block * rows.block_step
        to = slab.output + (block * rows.stride + tap * rows.dilation - slab.begin[0]) * rows.output_step
        for row in range(last - block):
            out = <uint64_t*> (to + row * rows.stride * rows.output_step)
            if plan.far:            # processors do not foresee so many short runs
                dmlcy_ask_rows(from_ + rows.block_step, columns.tap_step, width, blocks * columns.block_step)
                dmlcy_ask(<const char*> out + rows.stride * rows.output_step, covered * sizeof(uint64_t))
            tap0 = <const uint64_t*> (from_ + at0)
            tap1 = <const uint64_t*> (from_ + at1)
            tap2 = <const uint64_t*> (from_ + at2)
            tap3 = <const uint64_t*> (from_ + at3)
            if dense and width == 2:
                for i in range(blocks):
                    out[2 * i + 0] = tap0[i]
                    out[2 * i + 1] = tap1[i]
            elif dense and width == 3:
                for i in range(blocks):
                    out[3 * i + 0] = tap0[i]
                    out[3 * i + 1] = tap1[i]
                    out[3 * i + 2] = tap2[i]
            elif dense and width == 4:
                for i in range(blocks):
                    out[4 * i + 0] = tap0[i]
                    out[4 * i + 1] = tap1[i]
                    out[4 * i + 2] = tap2[i]
                    out[4 * i + 3] = tap3[i]
            elif dense:
                weave_8(from_, plan.tap_at, width, blocks, <char*> out)
            elif width == 2:
                for i in range(blocks):
                    elements = <const uint64_t*> (from_ + i * columns.block_step)
                    out[2 * i + 0] = elements[0]
                    out[2 * i + 1] = elements[1]
            elif width == 3:
                for i in range(blocks):
                    elements = <const uint64_t*> (from_ + i * columns.block_step)
                    out[3 * i + 0] = elements[0]
                    out[3 * i + 1] = elements[1]
                    out[3 * i + 2] = elements[2]
            elif width == 4:
                for i in range(blocks):
                    elements = <const uint64_t*> (from_ + i * columns.block_step)
                    out[4 * i + 0] = elements[0]
                    out[4 * i + 1] = elements[1]
                    out[4 * i + 2] = elements[2]
                    out[4 * i + 3] = elements[3]
            else:
                for i in range(blocks):
                    elements = <const uint64_t*> (from_ + i * columns.block_step)
                    k = 0
                    while k <= width - some:
                        dmlcy_store_uint64_t(
                            out + i * width + k, dmlcy_load_uint64_t(elements + k))
                        k += some
                    for k in range(k, width):
                        out[i * width + k] = elements[k]
            for i in range(covered, columns.size):
                out[i] = 0
            from_ += rows.block_step
        tap += step


cdef void scatter_uint64_t_add_wide "scatter_uint64_t_add_wide"(const void* args) noexcept nogil:
    cdef const ScatterRun* run = <const ScatterRun*> args
    cdef bint dense = run.input_step == sizeof(uint64_t) and run.sums_step == sizeof(uint64_t)
    cdef int64_t block = sizeof(dmlcy_uint64_t_block) // sizeof(uint64_t)
    cdef int64_t last = run.size - block
    cdef int64_t row, i
    cdef const uint64_t* elements
    cdef uint64_t* sums
    cdef uint64_t* sum
    cdef dmlcy_uint64_t_block ending
    for row in range(run.rows):
        elements = <const uint64_t*> (run.input + row * run.input_row)
        sums = <uint64_t*> (run.sums + row * run.sums_row)
        if dense and last >= 0:
            # What overlaps the block before it is the same, of the sums as they were.
            ending = dmlcy_load_uint64_t(sums + last) + dmlcy_load_uint64_t(elements + last)
            i = 0
            while i < last:
                dmlcy_store_uint64_t(sums + i, dmlcy_load_uint64_t(sums + i) + dmlcy_load_uint64_t(elements + i))
                i += block
            dmlcy_store_uint64_t(sums + last, ending)
            continue
        for i in range(run.size):
            sum = <uint64_t*> (<char*> sums + i * run.sums_step)
            sum[0] += ((<const uint64_t*> (<const char*> elements + i * run.input_step))[0])


# The slab, where each position takes one element or none: taps are woven into rows, as many as the window is wide.
cdef void scatter_uint64_t_weave_wide "scatter_uint64_t_weave_wide"(
        const void* plan_, const void* slab_, const char* input) noexcept nogil:
    cdef const ScatterPlan* plan = <const ScatterPlan*> plan_
    cdef const ScatterSlab* slab = <const ScatterSlab*> slab_
    cdef const ScatterAxis* rows = &plan.axes[plan.last - 1]
    cdef const ScatterAxis* columns = &plan.axes[plan.last]
    cdef int64_t width = columns.stride
    cdef int64_t blocks = columns.blocks
    cdef int64_t covered = blocks * width
    cdef bint dense = columns.block_step == sizeof(uint64_t)
    cdef int64_t some = sizeof(dmlcy_uint64_t_block) // sizeof(uint64_t)
    cdef int64_t tap, end, step, block, last, row, i, k
    cdef const char* from_
    cdef char* to
    cdef int64_t at0 = plan.tap_at[min(width - 1, 0)]
    cdef const uint64_t* tap0
    cdef int64_t at1 = plan.tap_at[min(width - 1, 1)]
    cdef const uint64_t* tap1
    cdef int64_t at2 = plan.tap_at[min(width - 1, 2)]
    cdef const uint64_t* tap2
    cdef int64_t at3 = plan.tap_at[min(width - 1, 3)]
    cdef const uint64_t* tap3
    cdef const uint64_t* elements
    cdef uint64_t* out
    taps_over(rows, slab.begin[0], slab.end[0], &tap, &end, &step)
    while tap < end:
        blocks_at(rows, tap, slab.begin[0], slab.end[0], &block, &last)
        from_ = input + tap * rows.tap_step + block * rows.block_step
        to = slab.output + (block * rows.stride + tap * rows.dilation - slab.begin[0]) * rows.output_step
        for row in range(last - block):
            out = <uint64_t*> (to + row * rows.stride * rows.output_step)
            if plan.far:            # processors do not foresee so many short runs
                dmlcy_ask_rows(from_ + rows.block_step, columns.tap_step, width, blocks * columns.block_step)
                dmlcy_ask(<const char*> out + rows.stride * rows.output_step, covered * sizeof(uint64_t))
            tap0 = <const uint64_t*> (from_ + at0)
            tap1 = <const uint64_t*> (from_ + at1)
            tap2 = <const uint64_t*> (from_ + at2)
            tap3 = <const uint64_t*> (from_ + at3)
            if dense and width == 2:
                for i in range(blocks):
                    out[2 * i + 0] = tap0[i]
                    out[2 * i + 1] = tap1[i]
            elif dense and width == 3:
                for i in range(blocks):
                    out[3 * i + 0] = tap0[i]
                    out[3 * i + 1] = tap1[i]
                    out[3 * i + 2] = tap2[i]
            elif dense and width == 4:
                for i in range(blocks):
                    out[4 * i + 0] = tap0[i]
                    out[4 * i + 1] = tap1[i]
                    out[4 * i + 2] = tap2[i]
                    out[4 * i + 3] = tap3[i]
            elif dense:
                weave_8(from_, plan.tap_at, width, blocks, <char*> out)
            elif width == 2:
                for i in range(blocks):
                    elements = <const uint64_t*> (from_ + i * columns.block_step)
                    out[2 * i + 0] = elements[0]
                    out[2 * i + 1] = elements[1]
            elif width == 3:
                for i in range(blocks):
                    elements = <const uint64_t*> (from_ + i * columns.block_step)
                    out[3 * i + 0] = elements[0]
                    out[3 * i + 1] = elements[1]
                    out[3 * i + 2] = elements[2]
            elif width == 4:
                for i in range(blocks):
                    elements = <const uint64_t*> (from_ + i * columns.block_step)
                    out[4 * i + 0] = elements[0]
                    out[4 * i + 1] = elements[1]
                    out[4 * i + 2] = elements[2]
                    out[4 * i + 3] = elements[3]
            else:
                for i in range(blocks):
                    elements = <const uint64_t*> (from_ + i * columns.block_step)
                    k = 0
                    while k <= width - some:
                        dmlcy_store_uint64_t(
                            out + i * width + k, dmlcy_load_uint64_t(elements + k))
                        k += some
                    for k in range(k, width):
                        out[i * width + k] = elements[k]
            for i in range(covered, columns.size):
                out[i] = 0
            from_ += rows.block_step
        tap += step


# What a tap of the rows, and one of each axis before them, adds: from its taps of the columns, or, where strides are
# long, from its blocks, the last ones first.
cdef void scatter_uint64_t_along(
        const ScatterPlan* plan, const ScatterSlab* slab, const char* input, ScatterRun* run,
        scatter_uint64_t_Add add) noexcept nogil:
    cdef const ScatterAxis* columns = &plan.axes[plan.last]
    cdef char* sums = run.sums
    cdef int64_t high = slab.low + slab.length * (columns.stride if plan.woven else 1)
    cdef int64_t first, end, step, number, begin, at
    if columns.stride <= slab.length or plan.woven:
        run.input_step = slab.block_step[1]
        run.sums_step = sizeof(uint64_t) * (1 if plan.woven else columns.stride)
        taps_over(columns, slab.low, high, &number, &end, &step)
        while number < end:
            blocks_at(columns, number, slab.low, high, &begin, &run.size)
            run.size -= begin
            run.input = input + number * slab.tap_step[1] + begin * slab.block_step[1]
            at = begin * columns.stride + number * columns.dilation - slab.low
            if plan.woven:
                at = at % columns.stride * slab.length + at // columns.stride
            run.sums = sums + at * <int64_t> sizeof(uint64_t)
            if run.size > 0:
                add(run)
            number += step
        return
    run.input_step = slab.tap_step[1]
    run.sums_step = sizeof(uint64_t) * columns.dilation
    first = max(0, ceil_div(slab.low - (columns.window - 1) * columns.dilation, columns.stride))
    end = min(columns.blocks, (high - 1) // columns.stride + 1)
    for number in range(end - 1, first - 1, -1):
        at = number * columns.stride - slab.low
        begin = max(0, ceil_div(-at, columns.dilation))
        run.size = min(columns.window, ceil_div(high - slab.low - at, columns.dilation)) - begin
        run.input = input + begin * slab.tap_step[1] + number * slab.block_step[1]
        run.sums = sums + (at + begin * columns.dilation) * <int64_t> sizeof(uint64_t)
        if run.size > 0:
            add(run)


# The sums of a slab, put where they belong.
cdef void scatter_uint64_t_lay(const ScatterPlan* plan, const ScatterSlab* slab) noexcept nogil:
    cdef const ScatterAxis* columns = &plan.axes[plan.last]
    cdef int64_t size = slab.end[1] - slab.begin[1]
    cdef int64_t class_at[CLASSES]
    cdef uint64_t woven[SLAB]
    cdef const uint64_t* sums
    cdef const uint64_t* line
    cdef char* output
    cdef int64_t row, i
    if plan.woven:
        for i in range(columns.stride):
            class_at[i] = i * slab.length * <int64_t> sizeof(uint64_t)
    for row in range(slab.end[0] - slab.begin[0]):
        sums = <const uint64_t*> (slab.sums + row * slab.row_step)
        output = slab.output + row * plan.axes[plan.last - 1].output_step
        line = sums
        if plan.woven:
            weave_8(<const char*> line, class_at, columns.stride, slab.length, <char*> woven)
            line = woven + (slab.begin[1] - slab.low)
        if columns.output_step == sizeof(uint64_t):
            dmlcy_copy(output, <const char*> line, size * columns.output_step)
        else:
            for i in range(size):
                (<uint64_t*> (output + i * columns.output_step))[0] = line[i]


# Some rows of blocks of all taps of rows and columns, as rows of each tap.
cdef void scatter_uint64_t_turn(
        const ScatterPlan* plan, const ScatterSlab* slab, const char* input, char* cells) noexcept nogil:
    cdef const ScatterAxis* columns = &plan.axes[plan.last]
    cdef int64_t blocks = slab.tap_step[1] // <int64_t> sizeof(uint64_t)
    cdef int64_t width = plan.axes[plan.last - 1].window * columns.window
    cdef int64_t block = 0
    input += slab.blocks_begin * plan.axes[plan.last - 1].block_step
    while block < blocks:
        block = max(0, min(block, blocks - TURNED))
        transpose_8(
            input + block * columns.block_step, plan.block_at, min(blocks, <int64_t> TURNED), width,
            cells + block * <int64_t> sizeof(uint64_t), slab.tap_step[1])
        block += TURNED


cdef void scatter_uint64_t_slab(
        const ScatterPlan* plan, ScatterSlab* slab, const char* input, const int64_t* firsts, const int64_t* ends,
        bint reached, scatter_uint64_t_Add add) noexcept nogil:
    cdef const ScatterAxis* rows = &plan.axes[plan.last - 1]
    cdef const ScatterAxis* columns = &plan.axes[plan.last]
    cdef uint64_t sums[SLAB]
    cdef char cells[CELL_BYTES]
    cdef int64_t size = slab.end[1] - slab.begin[1]
    cdef bint direct = True and not plan.woven and columns.output_step == sizeof(uint64_t)
    cdef int64_t tap[MAX_RANK]
    cdef int64_t first, end, step, number, block, row
    cdef const char* taps
    cdef ScatterRun run
    cdef int d
    slab.low = slab.begin[1]
    slab.length = size
    if plan.woven:
        slab.low = slab.begin[1] // columns.stride * columns.stride
        slab.length = ceil_div(slab.end[1] - slab.low, columns.stride)
        size = slab.length * columns.stride
    slab.sums = slab.output if direct else <char*> sums
    slab.row_step = rows.output_step if direct else size * <int64_t> sizeof(uint64_t)
    for row in range(slab.end[0] - slab.begin[0]):
        memset(slab.sums + row * slab.row_step, 0, size * sizeof(uint64_t))
    taps_over(rows, slab.begin[0], slab.end[0], &first, &end, &step)
    for d in range(2):
        slab.tap_step[d] = plan.axes[plan.last - 1 + d].tap_step
        slab.block_step[d] = plan.axes[plan.last - 1 + d].block_step
    if plan.turned:
        slab.block_step[1] = sizeof(uint64_t)
        slab.block_step[0] = slab.block_step[1] * columns.blocks
        slab.tap_step[1] = slab.block_step[0] * (slab.blocks_end - slab.blocks_begin)
        slab.tap_step[0] = slab.tap_step[1] * columns.window
    run.input_row = slab.block_step[0]
    run.sums_row = rows.stride * slab.row_step
    for d in range(plan.last - 1):
        tap[d] = firsts[d]
    while reached:
        if slab.fresh:
            touch_blocks(plan, slab, input)
        taps = input
        if plan.turned:
            scatter_uint64_t_turn(plan, slab, input, cells)
            taps = cells - slab.blocks_begin * slab.block_step[0]
        number = first
        while number < end:
            blocks_at(rows, number, slab.begin[0], slab.end[0], &block, &run.rows)
            run.rows -= block
            if run.rows > 0:
                row = block * rows.stride + number * rows.dilation - slab.begin[0]
                run.sums = slab.sums + row * slab.row_step
                scatter_uint64_t_along(
                    plan, slab, taps + number * slab.tap_step[0] + block * slab.block_step[0], &run, add)
            number += step
        d = plan.last - 2
        while d >= 0:
            tap[d] += plan.axes[d].period
            input += plan.axes[d].next_step
            if tap[d] < ends[d]:
                break
            input -= (tap[d] - firsts[d]) // plan.axes[d].period * plan.axes[d].next_step
            tap[d] = firsts[d]
            d -= 1
        reached = d >= 0
    if not direct:
        scatter_uint64_t_lay(plan, slab)


cdef int scatter_uint64_t_slabs(const void* args, int64_t begin, int64_t end) noexcept nogil:
    cdef const ScatterPlan* plan = <const ScatterPlan*> args
    cdef const ScatterAxis* rows = &plan.axes[plan.last - 1]
    cdef const ScatterAxis* columns = &plan.axes[plan.last]
    cdef const ScatterAxis* axis
    cdef scatter_uint64_t_Add add = scatter_uint64_t_add_wide if dmlcy_wide() else scatter_uint64_t_add
    cdef scatter_uint64_t_Weave weave = scatter_uint64_t_weave_wide if dmlcy_wide() else scatter_uint64_t_weave
    cdef ScatterSlab slab
    cdef int64_t firsts[MAX_RANK]
    cdef int64_t ends[MAX_RANK]
    cdef int64_t number, index, channel, row, column, q
    cdef const char* input
    cdef bint reached
    cdef int d
    for number in range(begin, end):
        index = number
        channel = 0
        if plan.together:
            channel = index % plan.channels
            index //= plan.channels
        column = index % plan.column_slabs * plan.columns
        index //= plan.column_slabs
        row = index % plan.row_slabs * plan.rows
        index //= plan.row_slabs
        slab.begin[0] = rows.start + row
        slab.end[0] = rows.start + min(rows.size, row + plan.rows)
        slab.begin[1] = columns.start + column
        slab.end[1] = columns.start + min(columns.size, column + plan.columns)
        slab.output = plan.output + row * rows.output_step + column * columns.output_step
        input = plan.input
        reached = True
        for d in range(plan.last - 2, -1, -1):
            axis = &plan.axes[d]
            q = index % axis.size
            index //= axis.size
            slab.output += q * axis.output_step
            q += axis.start
            taps_at(axis, q, &firsts[d], &ends[d])
            if firsts[d] < ends[d]:
                input += firsts[d] * axis.tap_step
                input += (q - firsts[d] * axis.dilation) // axis.stride * axis.block_step
            else:
                reached = False
        if not plan.together:
            channel = index % plan.channels
            index //= plan.channels
        slab.output += index * plan.output_steps[0] + channel * plan.output_steps[1]
        input += index * plan.input_steps[0] + channel * plan.input_steps[1]
        find_blocks(plan, &slab)
        slab.fresh = plan.touched and channel == 0
        if plan.apart:
            if not (reached and plan.covered):
                for row in range(slab.end[0] - slab.begin[0]):
                    memset(slab.output + row * rows.output_step, 0, columns.size * sizeof(uint64_t))
            if reached and slab.fresh:
                touch_blocks(plan, &slab, input)
            if reached:
                weave(plan, &slab, input)
        else:
            scatter_uint64_t_slab(plan, &slab, input, firsts, ends, reached, add)
    return 0


ctypedef void (*scatter_uint32_t_Add)(const void* run) noexcept nogil
ctypedef void (*scatter_uint32_t_Weave)(const void* plan, const void* slab, const char* input) noexcept nogil


cdef void scatter_uint32_t_add "scatter_uint32_t_add"(const void* args) noexcept nogil:
    cdef const ScatterRun* run = <const ScatterRun*> args
    cdef bint dense = run.input_step == sizeof(uint32_t) and run.sums_step == sizeof(uint32_t)
    cdef int64_t block = sizeof(dmlcy_uint32_t_block) // sizeof(uint32_t)
    cdef int64_t last = run.size - block
    cdef int64_t row, i
    cdef const uint32_t* elements
    cdef uint32_t* sums
    cdef uint32_t* sum
    cdef dmlcy_uint32_t_block ending
    for row in range(run.rows):
        elements = <const uint32_t*> (run.input + row * run.input_row)
        sums = <uint32_t*> (run.sums + row * run.sums_row)
        if dense and last >= 0:
            # What overlaps the block before it is the same, of the sums as they were.
            ending = dmlcy_load_uint32_t(sums + last) + dmlcy_load_uint32_t(elements + last)
            i = 0
            while i < last:
                dmlcy_store_uint32_t(sums + i, dmlcy_load_uint32_t(sums + i) + dmlcy_load_uint32_t(elements + i))
                i += block
            dmlcy_store_uint32_t(sums + last, ending)
            continue
        for i in range(run.size):
            sum = <uint32_t*> (<char*> sums + i * run.sums_step)
            sum[0] += ((<const uint32_t*> (<const char*> elements + i * run.input_step))[0])


# The slab, where each position takes one element or none: taps are woven into rows, as many as the window is wide.
cdef void scatter_uint32_t_weave "scatter_uint32_t_weave"(
        const void* plan_, const void* slab_, const char* input) noexcept nogil:
    cdef const ScatterPlan* plan = <const ScatterPlan*> plan_
    cdef const ScatterSlab* slab = <const ScatterSlab*> slab_
    cdef const ScatterAxis* rows = &plan.axes[plan.last - 1]
    cdef const ScatterAxis* columns = &plan.axes[plan.last]
    cdef int64_t width = columns.stride
    cdef int64_t blocks = columns.blocks
    cdef int64_t covered = blocks * width
    cdef bint dense = columns.block_step == sizeof(uint32_t)
    cdef int64_t some = sizeof(dmlcy_uint32_t_block) // sizeof(uint32_t)
    cdef int64_t tap, end, step, block, last, row, i, k
    cdef const char* from_
    cdef char* to
    cdef int64_t at0 = plan.tap_at[min(width - 1, 0)]
    cdef const uint32_t* tap0
    cdef int64_t at1 = plan.tap_at[min(width - 1, 1)]
    cdef const uint32_t* tap1
    cdef int64_t at2 = plan.tap_at[min(width - 1, 2)]
    cdef const uint32_t* tap2
    cdef int64_t at3 = plan.tap_at[min(width - 1, 3)]
    cdef const uint32_t* tap3
    cdef const uint32_t* elements
    cdef uint32_t* out
    taps_over(rows, slab.begin[0], slab.end[0], &tap, &end, &step)
    while tap < end:
        blocks_at(rows, tap, slab.begin[0], slab.end[0], &block, &last)
        from_ = input + tap * rows.tap_step + block * rows.block_step
        to = slab.output + (block * rows.stride + tap * rows.dilation - slab.begin[0]) * rows.output_step
        for row in range(last - block):
            out = <uint32_t*> (to + row * rows.stride * rows.output_step)
            if plan.far:            # processors do not foresee so many short runs
                dmlcy_ask_rows(from_ + rows.block_step, columns.tap_step, width, blocks * columns.block_step)
                dmlcy_ask(<const char*> out + rows.stride * rows.output_step, covered * sizeof(uint32_t))
            tap0 = <const uint32_t*> (from_ + at0)
            tap1 = <const uint32_t*> (from_ + at1)
            tap2 = <const uint32_t*> (from_ + at2)
            tap3 = <const uint32_t*> (from_ + at3)
            if dense and width == 2:
                for i in range(blocks):
                    out[2 * i + 0] = tap0[i]
                    out[2 * i + 1] = tap1[i]
            elif dense and width == 3:
                for i in range(blocks):
                    out[3 * i + 0] = tap0[i]
                    out[3 * i + 1] = tap1[i]
                    out[3 * i + 2] = tap2[i]
            elif dense and width == 4:
                for i in range(blocks):
                    out[4 * i + 0] = tap0[i]
                    out[4 * i + 1] = tap1[i]
                    out[4 * i + 2] = tap2[i]
                    out[4 * i + 3] = tap3[i]
            elif dense:
                weave_4(from_, plan.tap_at, width, blocks, <char*> out)
            elif width == 2:
                for i in range(blocks):
                    elements = <const uint32_t*> (from_ + i * columns.block_step)
                    out[2 * i + 0] = elements[0]
                    out[2 * i + 1] = elements[1]
            elif width == 3:
                for i in range(blocks):
                    elements = <const uint32_t*> (from_ + i * columns.block_step)
                    out[3 * i + 0] = elements[0]
                    out[3 * i + 1] = elements[1]
                    out[3 * i + 2] = elements[2]
            elif width == 4:
                for i in range(blocks):
                    elements = <const uint32_t*> (from_ + i * columns.block_step)
                    out[4 * i + 0] = elements[0]
                    out[4 * i + 1] = elements[1]
                    out[4 * i + 2] = elements[2]
                    out[4 * i + 3] = elements[3]
            else:
                for i in range(blocks):
                    elements = <const uint32_t*> (from_ + i * columns.block_step)
                    k = 0
                    while k <= width - some:
                        dmlcy_store_uint32_t(
                            out + i * width + k, dmlcy_load_uint32_t(elements + k))
                        k += some
                    for k in range(k, width):
                        out[i * width + k] = elements[k]
            for i in range(covered, columns.size):
                out[i] = 0
            from_ += rows.block_step
        tap += step


cdef void scatter_uint32_t_add_wide "scatter_uint32_t_add_wide"(const void* args) noexcept nogil:
    cdef const ScatterRun* run = <const ScatterRun*> args
    cdef bint dense = run.input_step == sizeof(uint32_t) and run.sums_step == sizeof(uint32_t)
    cdef int64_t block = sizeof(dmlcy_uint32_t_block) // sizeof(uint32_t)
    cdef int64_t last = run.size - block
    cdef int64_t row, i
    cdef const uint32_t* elements
    cdef uint32_t* sums
    cdef uint32_t* sum
    cdef dmlcy_uint32_t_block ending
    for row in range(run.rows):
        elements = <const uint32_t*> (run.input + row * run.input_row)
        sums = <uint32_t*> (run.sums + row * run.sums_row)
        if dense and last >= 0:
            # What overlaps the block before it is the same, of the sums as they were.
            ending = dmlcy_load_uint32_t(sums + last) + dmlcy_load_uint32_t(elements + last)
            i = 0
            while i < last:
                dmlcy_store_uint32_t(sums + i, dmlcy_load_uint32_t(sums + i) + dmlcy_load_uint32_t(elements + i))
                i += block
            dmlcy_store_uint32_t(sums + last, ending)
            continue
        for i in range(run.size):
            sum = <uint32_t*> (<char*> sums + i * run.sums_step)
            sum[0] += ((<const uint32_t*> (<const char*> elements + i * run.input_step))[0])


# The slab, where each position takes one element or none: taps are woven into rows, as many as the window is wide.
cdef void scatter_uint32_t_weave_wide "scatter_uint32_t_weave_wide"(
        const void* plan_, const void* slab_, const char* input) noexcept nogil:
    cdef const ScatterPlan* plan = <const ScatterPlan*> plan_
    cdef const ScatterSlab* slab = <const ScatterSlab*> slab_
    cdef const ScatterAxis* rows = &plan.axes[plan.last - 1]
    cdef const ScatterAxis* columns = &plan.axes[plan.last]
    cdef int64_t width = columns.stride
    cdef int64_t blocks = columns.blocks
    cdef int64_t covered = blocks * width
    cdef bint dense = columns.block_step == sizeof(uint32_t)
    cdef int64_t some = sizeof(dmlcy_uint32_t_block) // sizeof(uint32_t)
    cdef int64_t tap, end, step, block, last, row, i, k
    cdef const char* from_
    cdef char* to
    cdef int64_t at0 = plan.tap_at[min(width - 1, 0)]
    cdef const uint32_t* tap0
    cdef int64_t at1 = plan.tap_at[min(width - 1, 1)]
    cdef const uint32_t* tap1
    cdef int64_t at2 = plan.tap_at[min(width - 1, 2)]
    cdef const uint32_t* tap2
    cdef int64_t at3 = plan.tap_at[min(width - 1, 3)]
    cdef const uint32_t* tap3
    cdef const uint32_t* elements
    cdef uint32_t* out
    taps_over(rows, slab.begin[0], slab.end[0], &tap, &end, &step)
    while tap < end:
        blocks_at(rows, tap, slab.begin[0], slab.end[0], &block, &last)
        from_ = input + tap * rows.tap_step + block * rows.block_step
        to = slab.output + (block * rows.stride + tap * rows.dilation - slab.begin[0]) * rows.output_step
        for row in range(last - block):
            out = <uint32_t*> (to + row * rows.stride * rows.output_step)
            if plan.far:            # processors do not foresee so many short runs
                dmlcy_ask_rows(from_ + rows.block_step, columns.tap_step, width, blocks * columns.block_step)
                dmlcy_ask(<const char*> out + rows.stride * rows.output_step, covered * sizeof(uint32_t))
            tap0 = <const uint32_t*> (from_ + at0)
            tap1 = <const uint32_t*> (from_ + at1)
            tap2 = <const uint32_t*> (from_ + at2)
            tap3 = <const uint32_t*> (from_ + at3)
            if dense and width == 2:
                for i in range(blocks):
                    out[2 * i + 0] = tap0[i]
                    out[2 * i + 1] = tap1[i]
            elif dense and width == 3:
                for i in range(blocks):
                    out[3 * i + 0] = tap0[i]
                    out[3 * i + 1] = tap1[i]
                    out[3 * i + 2] = tap2[i]
            elif dense and width == 4:
                for i in range(blocks):
                    out[4 * i + 0] = tap0[i]
                    out[4 * i + 1] = tap1[i]
                    out[4 * i + 2] = tap2[i]
                    out[4 * i + 3] = tap3[i]
            elif dense:
                weave_4(from_, plan.tap_at, width, blocks, <char*> out)
            elif width == 2:
                for i in range(blocks):
                    elements = <const uint32_t*> (from_ + i * columns.block_step)
                    out[2 * i + 0] = elements[0]
                    out[2 * i + 1] = elements[1]
            elif width == 3:
                for i in range(blocks):
                    elements = <const uint32_t*> (from_ + i * columns.block_step)
                    out[3 * i + 0] = elements[0]
                    out[3 * i + 1] = elements[1]
                    out[3 * i + 2] = elements[2]
            elif width == 4:
                for i in range(blocks):
                    elements = <const uint32_t*> (from_ + i * columns.block_step)
                    out[4 * i + 0] = elements[0]
                    out[4 * i + 1] = elements[1]
                    out[4 * i + 2] = elements[2]
                    out[4 * i + 3] = elements[3]
            else:
                for i in range(blocks):
                    elements = <const uint32_t*> (from_ + i * columns.block_step)
                    k = 0
                    while k <= width - some:
                        dmlcy_store_uint32_t(
                            out + i * width + k, dmlcy_load_uint32_t(elements + k))
                        k += some
                    for k in range(k, width):
                        out[i * width + k] = elements[k]
            for i in range(covered, columns.size):
                out[i] = 0
            from_ += rows.block_step
        tap += step


# What a tap of the rows, and one of each axis before them, adds: from its taps of the columns, or, where strides are
# long, from its blocks, the last ones first.
cdef void scatter_uint32_t_along(
        const ScatterPlan* plan, const ScatterSlab* slab, const char* input, ScatterRun* run,
        scatter_uint32_t_Add add) noexcept nogil:
    cdef const ScatterAxis* columns = &plan.axes[plan.last]
    cdef char* sums = run.sums
    cdef int64_t high = slab.low + slab.length * (columns.stride if plan.woven else 1)
    cdef int64_t first, end, step, number, begin, at
    if columns.stride <= slab.length or plan.woven:
        run.input_step = slab.block_step[1]
        run.sums_step = sizeof(uint32_t) * (1 if plan.woven else columns.stride)
        taps_over(columns, slab.low, high, &number, &end, &step)
        while number < end:
            blocks_at(columns, number, slab.low, high, &begin, &run.size)
            run.size -= begin
            run.input = input + number * slab.tap_step[1] + begin * slab.block_step[1]
            at = begin * columns.stride + number * columns.dilation - slab.low
            if plan.woven:
                at = at % columns.stride * slab.length + at // columns.stride
            run.sums = sums + at * <int64_t> sizeof(uint32_t)
            if run.size > 0:
                add(run)
            number += step
        return
    run.input_step = slab.tap_step[1]
    run.sums_step = sizeof(uint32_t) * columns.dilation
    first = max(0, ceil_div(slab.low - (columns.window - 1) * columns.dilation, columns.stride))
    end = min(columns.blocks, (high - 1) // columns.stride + 1)
    for number in range(end - 1, first - 1, -1):
        at = number * columns.stride - slab.low
        begin = max(0, ceil_div(-at, columns.dilation))
        run.size = min(columns.window, ceil_div(high - slab.low - at, columns.dilation)) - begin
        run.input = input + begin * slab.tap_step[1] + number * slab.block_step[1]
        run.sums = sums + (at + begin * columns.dilation) * <int64_t> sizeof(uint32_t)
        if run.size > 0:
            add(run)


# The sums of a slab, put where they belong.
cdef void scatter_uint32_t_lay(const ScatterPlan* plan, const ScatterSlab* slab) noexcept nogil:
    cdef const ScatterAxis* columns = &plan.axes[plan.last]
    cdef int64_t size = slab.end[1] - slab.begin[1]
    cdef int64_t class_at[CLASSES]
    cdef uint32_t woven[SLAB]
    cdef const uint32_t* sums
    cdef const uint32_t* line
    cdef char* output
    cdef int64_t row, i
    if plan.woven:
        for i in range(columns.stride):
            class_at[i] = i * slab.length * <int64_t> sizeof(uint32_t)
    for row in range(slab.end[0] - slab.begin[0]):
        sums = <const uint32_t*> (slab.sums + row * slab.row_step)
        output = slab.output + row * plan.axes[plan.last - 1].output_step
        line = sums
        if plan.woven:
            weave_4(<const char*> line, class_at, columns.stride, slab.length, <char*> woven)
            line = woven + (slab.begin[1] - slab.low)
        if columns.output_step == sizeof(uint32_t):
            dmlcy_copy(output, <const char*> line, size * columns.output_step)
        else:
            for i in range(size):
                (<uint32_t*> (output + i * columns.output_step))[0] = line[i]


# Some rows of blocks of all taps of rows and columns, as rows of each tap.
cdef void scatter_uint32_t_turn(
        const ScatterPlan* plan, const ScatterSlab* slab, const char* input, char* cells) noexcept nogil:
    cdef const ScatterAxis* columns = &plan.axes[plan.last]
    cdef int64_t blocks = slab.tap_step[1] // <int64_t> sizeof(uint32_t)
    cdef int64_t width = plan.axes[plan.last - 1].window * columns.window
    cdef int64_t block = 0
    input += slab.blocks_begin * plan.axes[plan.last - 1].block_step
    while block < blocks:
        block = max(0, min(block, blocks - TURNED))
        transpose_4(
            input + block * columns.block_step, plan.block_at, min(blocks, <int64_t> TURNED), width,
            cells + block * <int64_t> sizeof(uint32_t), slab.tap_step[1])
        block += TURNED


cdef void scatter_uint32_t_slab(
        const ScatterPlan* plan, ScatterSlab* slab, const char* input, const int64_t* firsts, const int64_t* ends,
        bint reached, scatter_uint32_t_Add add) noexcept nogil:
    cdef const ScatterAxis* rows = &plan.axes[plan.last - 1]
    cdef const ScatterAxis* columns = &plan.axes[plan.last]
    cdef uint32_t sums[SLAB]
    cdef char cells[CELL_BYTES]
    cdef int64_t size = slab.end[1] - slab.begin[1]
    cdef bint direct = True and not plan.woven and columns.output_step == sizeof(uint32_t)
    cdef int64_t tap[MAX_RANK]
    cdef int64_t first, end, step, number, block, row
    cdef const char* taps
    cdef ScatterRun run
    cdef int d
    slab.low = slab.begin[1]
    slab.length = size
    if plan.woven:
        slab.low = slab.begin[1] // columns.stride * columns.stride
        slab.length = ceil_div(slab.end[1] - slab.low, columns.stride)
        size = slab.length * columns.stride
    slab.sums = slab.output if direct else <char*> sums
    slab.row_step = rows.output_step if direct else size * <int64_t> sizeof(uint32_t)
    for row in range(slab.end[0] - slab.begin[0]):
        memset(slab.sums + row * slab.row_step, 0, size * sizeof(uint32_t))
    taps_over(rows, slab.begin[0], slab.end[0], &first, &end, &step)
    for d in range(2):
        slab.tap_step[d] = plan.axes[plan.last - 1 + d].tap_step
        slab.block_step[d] = plan.axes[plan.last - 1 + d].block_step
    if plan.turned:
        slab.block_step[1] = sizeof(uint32_t)
        slab.block_step[0] = slab.block_step[1] * columns.blocks
        slab.tap_step[1] = slab.block_step[0] * (slab.blocks_end - slab.blocks_begin)
        slab.tap_step[0] = slab.tap_step[1] * columns.window
    run.input_row = slab.block_step[0]
    run.sums_row = rows.stride * slab.row_step
    for d in range(plan.last - 1):
        tap[d] = firsts[d]
    while reached:
        if slab.fresh:
            touch_blocks(plan, slab, input)
        taps = input
        if plan.turned:
            scatter_uint32_t_turn(plan, slab, input, cells)
            taps = cells - slab.blocks_begin * slab.block_step[0]
        number = first
        while number < end:
            blocks_at(rows, number, slab.begin[0], slab.end[0], &block, &run.rows)
            run.rows -= block
            if run.rows > 0:
                row = block * rows.stride + number * rows.dilation - slab.begin[0]
                run.sums = slab.sums + row * slab.row_step
                scatter_uint32_t_along(
                    plan, slab, taps + number * slab.tap_step[0] + block * slab.block_step[0], &run, add)
            number += step
        d = plan.last - 2
        while d >= 0:
            tap[d] += plan.axes[d].period
            input += plan.axes[d].next_step
            if tap[d] < ends[d]:
                break
            input -= (tap[d] - firsts[d]) // plan.axes[d].period * plan.axes[d].next_step
            tap[d] = firsts[d]
            d -= 1
        reached = d >= 0
    if not direct:
        scatter_uint32_t_lay(plan, slab)


cdef int scatter_uint32_t_slabs(const void* args, int64_t begin, int64_t end) noexcept nogil:
    cdef const ScatterPlan* plan = <const ScatterPlan*> args
    cdef const ScatterAxis* rows = &plan.axes[plan.last - 1]
    cdef const ScatterAxis* columns = &plan.axes[plan.last]
    cdef const ScatterAxis* axis
    cdef scatter_uint32_t_Add add = scatter_uint32_t_add_wide if dmlcy_wide() else scatter_uint32_t_add
    cdef scatter_uint32_t_Weave weave = scatter_uint32_t_weave_wide if dmlcy_wide() else scatter_uint32_t_weave
    cdef ScatterSlab slab
    cdef int64_t firsts[MAX_RANK]
    cdef int64_t ends[MAX_RANK]
    cdef int64_t number, index, channel, row, column, q
    cdef const char* input
    cdef bint reached
    cdef int d
    for number in range(begin, end):
        index = number
        channel = 0
        if plan.together:
            channel = index % plan.channels
            index //= plan.channels
        column = index % plan.column_slabs * plan.columns
        index //= plan.column_slabs
        row = index % plan.row_slabs * plan.rows
        index //= plan.row_slabs
        slab.begin[0] = rows.start + row
        slab.end[0] = rows.start + min(rows.size, row + plan.rows)
        slab.begin[1] = columns.start + column
        slab.end[1] = columns.start + min(columns.size, column + plan.columns)
        slab.output = plan.output + row * rows.output_step + column * columns.output_step
        input = plan.input
        reached = True
        for d in range(plan.last - 2, -1, -1):
            axis = &plan.axes[d]
            q = index % axis.size
            index //= axis.size
            slab.output += q * axis.output_step
            q += axis.start
            taps_at(axis, q, &firsts[d], &ends[d])
            if firsts[d] < ends[d]:
                input += firsts[d] * axis.tap_step
                input += (q - firsts[d] * axis.dilation) // axis.stride * axis.block_step
            else:
                reached = False
        if not plan.together:
            channel = index % plan.channels
            index //= plan.channels
        slab.output += index * plan.output_steps[0] + channel * plan.output_steps[1]
        input += index * plan.input_steps[0] + channel * plan.input_steps[1]
        find_blocks(plan, &slab)
        slab.fresh = plan.touched and channel == 0
        if plan.apart:
            if not (reached and plan.covered):
                for row in range(slab.end[0] - slab.begin[0]):
                    memset(slab.output + row * rows.output_step, 0, columns.size * sizeof(uint32_t))
            if reached and slab.fresh:
                touch_blocks(plan, &slab, input)
            if reached:
                weave(plan, &slab, input)
        else:
            scatter_uint32_t_slab(plan, &slab, input, firsts, ends, reached, add)
    return 0


ctypedef void (*scatter_uint16_t_Add)(const void* run) noexcept nogil
ctypedef void (*scatter_uint16_t_Weave)(const void* plan, const void* slab, const char* input) noexcept nogil


cdef void scatter_uint16_t_add "scatter_uint16_t_add"(const void* args) noexcept nogil:
    cdef const ScatterRun* run = <const ScatterRun*> args
    cdef bint dense = run.input_step == sizeof(uint16_t) and run.sums_step == sizeof(uint16_t)
    cdef int64_t block = sizeof(dmlcy_uint16_t_block) // sizeof(uint16_t)
    cdef int64_t last = run.size - block
    cdef int64_t row, i
    cdef const uint16_t* elements
    cdef uint16_t* sums
    cdef uint16_t* sum
    cdef dmlcy_uint16_t_block ending
    for row in range(run.rows):
        elements = <const uint16_t*> (run.input + row * run.input_row)
        sums = <uint16_t*> (run.sums + row * run.sums_row)
        if dense and last >= 0:
            # What overlaps the block before it is the same, of the sums as they were.
            ending = dmlcy_load_uint16_t(sums + last) + dmlcy_load_uint16_t(elements + last)
            i = 0
            while i < last:
                dmlcy_store_uint16_t(sums + i, dmlcy_load_uint16_t(sums + i) + dmlcy_load_uint16_t(elements + i))
                i += block
            dmlcy_store_uint16_t(sums + last, ending)
            continue
        for i in range(run.size):
            sum = <uint16_t*> (<char*> sums + i * run.sums_step)
            sum[0] += ((<const uint16_t*> (<const char*> elements + i * run.input_step))[0])


# The slab, where each position takes one element or none: taps are woven into rows, as many as the window is wide.
cdef void scatter_uint16_t_weave "scatter_uint16_t_weave"(
        const void* plan_, const void* slab_, const char* input) noexcept nogil:
    cdef const ScatterPlan* plan = <const ScatterPlan*> plan_
    cdef const ScatterSlab* slab = <const ScatterSlab*> slab_
    cdef const ScatterAxis* rows = &plan.axes[plan.last - 1]
    cdef const ScatterAxis* columns = &plan.axes[plan.last]
    cdef int64_t width = columns.stride
    cdef int64_t blocks = columns.blocks
    cdef int64_t covered = blocks * width
    cdef bint dense = columns.block_step == sizeof(uint16_t)
    cdef int64_t some = sizeof(dmlcy_uint16_t_block) // sizeof(uint16_t)
    cdef int64_t tap, end, step, block, last, row, i, k
    cdef const char* from_
    cdef char* to
    cdef int64_t at0 = plan.tap_at[min(width - 1, 0)]
    cdef const uint16_t* tap0
    cdef int64_t at1 = plan.tap_at[min(width - 1, 1)]
    cdef const uint16_t* tap1
    cdef int64_t at2 = plan.tap_at[min(width - 1, 2)]
    cdef const uint16_t* tap2
    cdef int64_t at3 = plan.tap_at[min(width - 1, 3)]
    cdef const uint16_t* tap3
    cdef const uint16_t* elements
    cdef uint16_t* out
    taps_over(rows, slab.begin[0], slab.end[0], &tap, &end, &step)
    while tap < end:
        blocks_at(rows, tap, slab.begin[0], slab.end[0], &block, &last)
        from_ = input + tap * rows.tap_step + block * rows.block_step
        to = slab.output + (block * rows.stride + tap * rows.dilation - slab.begin[0]) * rows.output_step
        for row in range(last - block):
            out = <uint16_t*> (to + row * rows.stride * rows.output_step)
            if plan.far:            # processors do not foresee so many short runs
                dmlcy_ask_rows(from_ + rows.block_step, columns.tap_step, width, blocks * columns.block_step)
                dmlcy_ask(<const char*> out + rows.stride * rows.output_step, covered * sizeof(uint16_t))
            tap0 = <const uint16_t*> (from_ + at0)
            tap1 = <const uint16_t*> (from_ + at1)
            tap2 = <const uint16_t*> (from_ + at2)
            tap3 = <const uint16_t*> (from_ + at3)
            if dense and width == 2:
                for i in range(blocks):
                    out[2 * i + 0] = tap0[i]
                    out[2 * i + 1] = tap1[i]
            elif dense and width == 3:
                for i in range(blocks):
                    out[3 * i + 0] = tap0[i]
                    out[3 * i + 1] = tap1[i]
                    out[3 * i + 2] = tap2[i]
            elif dense and width == 4:
                for i in range(blocks):
                    out[4 * i + 0] = tap0[i]
                    out[4 * i + 1] = tap1[i]
                    out[4 * i + 2] = tap2[i]
                    out[4 * i + 3] = tap3[i]
            elif dense:
                weave_2(from_, plan.tap_at, width, blocks, <char*> out)
            elif width == 2:
                for i in range(blocks):
                    elements = <const uint16_t*> (from_ + i * columns.block_step)
                    out[2 * i + 0] = elements[0]
                    out[2 * i + 1] = elements[1]
            elif width == 3:
                for i in range(blocks):
                    elements = <const uint16_t*> (from_ + i * columns.block_step)
                    out[3 * i + 0] = elements[0]
                    out[3 * i + 1] = elements[1]
                    out[3 * i + 2] = elements[2]
            elif width == 4:
                for i in range(blocks):
                    elements = <const uint16_t*> (from_ + i * columns.block_step)
                    out[4 * i + 0] = elements[0]
                    out[4 * i + 1] = elements[1]
                    out[4 * i + 2] = elements[2]
                    out[4 * i + 3] = elements[3]
            else:
                for i in range(blocks):
                    elements = <const uint16_t*> (from_ + i * columns.block_step)
                    k = 0
                    while k <= width - some:
                        dmlcy_store_uint16_t(
                            out + i * width + k, dmlcy_load_uint16_t(elements + k))
                        k += some
                    for k in range(k, width):
                        out[i * width + k] = elements[k]
            for i in range(covered, columns.size):
                out[i] = 0
            from_ += rows.block_step
        tap += step


cdef void scatter_uint16_t_add_wide "scatter_uint16_t_add_wide"(const void* args) noexcept nogil:
    cdef const ScatterRun* run = <const ScatterRun*> args
    cdef bint dense = run.input_step == sizeof(uint16_t) and run.sums_step == sizeof(uint16_t)
    cdef int64_t block = sizeof(dmlcy_uint16_t_block) // sizeof(uint16_t)
    cdef int64_t last = run.size - block
    cdef int64_t row, i
    cdef const uint16_t* elements
    cdef uint16_t* sums
    cdef uint16_t* sum
    cdef dmlcy_uint16_t_block ending
    for row in range(run.rows):
        elements = <const uint16_t*> (run.input + row * run.input_row)
        sums = <uint16_t*> (run.sums + row * run.sums_row)
        if dense and last >= 0:
            # What overlaps the block before it is the same, of the sums as they were.
            ending = dmlcy_load_uint16_t(sums + last) + dmlcy_load_uint16_t(elements + last)
            i = 0
            while i < last:
                dmlcy_store_uint16_t(sums + i, dmlcy_load_uint16_t(sums + i) + dmlcy_load_uint16_t(elements + i))
                i += block
            dmlcy_store_uint16_t(sums + last, ending)
            continue
        for i in range(run.size):
            sum = <uint16_t*> (<char*> sums + i * run.sums_step)
            sum[0] += ((<const uint16_t*> (<const char*> elements + i * run.input_step))[0])


# The slab, where each position takes one element or none: taps are woven into rows, as many as the window is wide.
cdef void scatter_uint16_t_weave_wide "scatter_uint16_t_weave_wide"(
        const void* plan_, const void* slab_, const char* input) noexcept nogil:
    cdef const ScatterPlan* plan = <const ScatterPlan*> plan_
    cdef const ScatterSlab* slab = <const ScatterSlab*> slab_
    cdef const ScatterAxis* rows = &plan.axes[plan.last - 1]
    cdef const ScatterAxis* columns = &plan.axes[plan.last]
    cdef int64_t width = columns.stride
    cdef int64_t blocks = columns.blocks
    cdef int64_t covered = blocks * width
    cdef bint dense = columns.block_step == sizeof(uint16_t)
    cdef int64_t some = sizeof(dmlcy_uint16_t_block) // sizeof(uint16_t)
    cdef int64_t tap, end, step, block, last, row, i, k
    cdef const char* from_
    cdef char* to
    cdef int64_t at0 = plan.tap_at[min(width - 1, 0)]
    cdef const uint16_t* tap0
    cdef int64_t at1 = plan.tap_at[min(width - 1, 1)]
    cdef const uint16_t* tap1
    cdef int64_t at2 = plan.tap_at[min(width - 1, 2)]
    cdef const uint16_t* tap2
    cdef int64_t at3 = plan.tap_at[min(width - 1, 3)]
    cdef const uint16_t* tap3
    cdef const uint16_t* elements
    cdef uint16_t* out
    taps_over(rows, slab.begin[0], slab.end[0], &tap, &end, &step)
    while tap < end:
        blocks_at(rows, tap, slab.begin[0], slab.end[0], &block, &last)
        from_ = input + tap * rows.tap_step + block * rows.block_step
        to = slab.output + (block * rows.stride + tap * rows.dilation - slab.begin[0]) * rows.output_step
        for row in range(last - block):
            out = <uint16_t*> (to + row * rows.stride * rows.output_step)
            if plan.far:            # processors do not foresee so many short runs
                dmlcy_ask_rows(from_ + rows.block_step, columns.tap_step, width, blocks * columns.block_step)
                dmlcy_ask(<const char*> out + rows.stride * rows.output_step, covered * sizeof(uint16_t))
            tap0 = <const uint16_t*> (from_ + at0)
            tap1 = <const uint16_t*> (from_ + at1)
            tap2 = <const uint16_t*> (from_ + at2)
            tap3 = <const uint16_t*> (from_ + at3)
            if dense and width == 2:
                for i in range(blocks):
                    out[2 * i + 0] = tap0[i]
                    out[2 * i + 1] = tap1[i]
            elif dense and width == 3:
                for i in range(blocks):
                    out[3 * i + 0] = tap0[i]
                    out[3 * i + 1] = tap1[i]
                    out[3 * i + 2] = tap2[i]
            elif dense and width == 4:
                for i in range(blocks):
                    out[4 * i + 0] = tap0[i]
                    out[4 * i + 1] = tap1[i]
                    out[4 * i + 2] = tap2[i]
                    out[4 * i + 3] = tap3[i]
            elif dense:
                weave_2(from_, plan.tap_at, width, blocks, <char*> out)
            elif width == 2:
                for i in range(blocks):
                    elements = <const uint16_t*> (from_ + i * columns.block_step)
                    out[2 * i + 0] = elements[0]
                    out[2 * i + 1] = elements[1]
            elif width == 3:
                for i in range(blocks):
                    elements = <const uint16_t*> (from_ + i * columns.block_step)
                    out[3 * i + 0] = elements[0]
                    out[3 * i + 1] = elements[1]
                    out[3 * i + 2] = elements[2]
            elif width == 4:
                for i in range(blocks):
                    elements = <const uint16_t*> (from_ + i * columns.block_step)
                    out[4 * i + 0] = elements[0]
                    out[4 * i + 1] = elements[1]
                    out[4 * i + 2] = elements[2]
                    out[4 * i + 3] = elements[3]
            else:
                for i in range(blocks):
                    elements = <const uint16_t*> (from_ + i * columns.block_step)
                    k = 0
                    while k <= width - some:
                        dmlcy_store_uint16_t(
                            out + i * width + k, dmlcy_load_uint16_t(elements + k))
                        k += some
                    for k in range(k, width):
                        out[i * width + k] = elements[k]
            for i in range(covered, columns.size):
                out[i] = 0
            from_ += rows.block_step
        tap += step


# What a tap of the rows, and one of each axis before them, adds: from its taps of the columns, or, where strides are
# long, from its blocks, the last ones first.
cdef void scatter_uint16_t_along(
        const ScatterPlan* plan, const ScatterSlab* slab, const char* input, ScatterRun* run,
        scatter_uint16_t_Add add) noexcept nogil:
    cdef const ScatterAxis* columns = &plan.axes[plan.last]
    cdef char* sums = run.sums
    cdef int64_t high = slab.low + slab.length * (columns.stride if plan.woven else 1)
    cdef int64_t first, end, step, number, begin, at
    if columns.stride <= slab.length or plan.woven:
        run.input_step = slab.block_step[1]
        run.sums_step = sizeof(uint16_t) * (1 if plan.woven else columns.stride)
        taps_over(columns, slab.low, high, &number, &end, &step)
        while number < end:
            blocks_at(columns, number, slab.low, high, &begin, &run.size)
            run.size -= begin
            run.input = input + number * slab.tap_step[1] + begin * slab.block_step[1]
            at = begin * columns.stride + number * columns.dilation - slab.low
            if plan.woven:
                at = at % columns.stride * slab.length + at // columns.stride
            run.sums = sums + at * <int64_t> sizeof(uint16_t)
            if run.size > 0:
                add(run)
            number += step
        return
    run.input_step = slab.tap_step[1]
    run.sums_step = sizeof(uint16_t) * columns.dilation
    first = max(0, ceil_div(slab.low - (columns.window - 1) * columns.dilation, columns.stride))
    end = min(columns.blocks, (high - 1) // columns.stride + 1)
    for number in range(end - 1, first - 1, -1):
        at = number * columns.stride - slab.low
        begin = max(0, ceil_div(-at, columns.dilation))
        run.size = min(columns.window, ceil_div(high - slab.low - at, columns.dilation)) - begin
        run.input = input + begin * slab.tap_step[1] + number * slab.block_step[1]
        run.sums = sums + (at + begin * columns.dilation) * <int64_t> sizeof(uint16_t)
        if run.size > 0:
            add(run)


# The sums of a slab, put where they belong.
cdef void scatter_uint16_t_lay(const ScatterPlan* plan, const ScatterSlab* slab) noexcept nogil:
    cdef const ScatterAxis* columns = &plan.axes[plan.last]
    cdef int64_t size = slab.end[1] - slab.begin[1]
    cdef int64_t class_at[CLASSES]
    cdef uint16_t woven[SLAB]
    cdef const uint16_t* sums
    cdef const uint16_t* line
    cdef char* output
    cdef int64_t row, i
    if plan.woven:
        for i in range(columns.stride):
            class_at[i] = i * slab.length * <int64_t> sizeof(uint16_t)
    for row in range(slab.end[0] - slab.begin[0]):
        sums = <const uint16_t*> (slab.sums + row * slab.row_step)
        output = slab.output + row * plan.axes[plan.last - 1].output_step
        line = sums
        if plan.woven:
            weave_2(<const char*> line, class_at, columns.stride, slab.length, <char*> woven)
            line = woven + (slab.begin[1] - slab.low)
        if columns.output_step == sizeof(uint16_t):
            dmlcy_copy(output, <const char*> line, size * columns.output_step)
        else:
            for i in range(size):
                (<uint16_t*> (output + i * columns.output_step))[0] = line[i]


# Some rows of blocks of all taps of rows and columns, as rows of each tap.
cdef void scatter_uint16_t_turn(
        const ScatterPlan* plan, const ScatterSlab* slab, const char* input, char* cells) noexcept nogil:
    cdef const ScatterAxis* columns = &plan.axes[plan.last]
    cdef int64_t blocks = slab.tap_step[1] // <int64_t> sizeof(uint16_t)
    cdef int64_t width = plan.axes[plan.last - 1].window * columns.window
    cdef int64_t block = 0
    input += slab.blocks_begin * plan.axes[plan.last - 1].block_step
    while block < blocks:
        block = max(0, min(block, blocks - TURNED))
        transpose_2(
            input + block * columns.block_step, plan.block_at, min(blocks, <int64_t> TURNED), width,
            cells + block * <int64_t> sizeof(uint16_t), slab.tap_step[1])
        block += TURNED


cdef void scatter_uint16_t_slab(
        const ScatterPlan* plan, ScatterSlab* slab, const char* input, const int64_t* firsts, const int64_t* ends,
        bint reached, scatter_uint16_t_Add add) noexcept nogil:
    cdef const ScatterAxis* rows = &plan.axes[plan.last - 1]
    cdef const ScatterAxis* columns = &plan.axes[plan.last]
    cdef uint16_t sums[SLAB]
    cdef char cells[CELL_BYTES]
    cdef int64_t size = slab.end[1] - slab.begin[1]
    cdef bint direct = True and not plan.woven and columns.output_step == sizeof(uint16_t)
    cdef int64_t tap[MAX_RANK]
    cdef int64_t first, end, step, number, block, row
    cdef const char* taps
    cdef ScatterRun run
    cdef int d
    slab.low = slab.begin[1]
    slab.length = size
    if plan.woven:
        slab.low = slab.begin[1] // columns.stride * columns.stride
        slab.length = ceil_div(slab.end[1] - slab.low, columns.stride)
        size = slab.length * columns.stride
    slab.sums = slab.output if direct else <char*> sums
    slab.row_step = rows.output_step if direct else size * <int64_t> sizeof(uint16_t)
    for row in range(slab.end[0] - slab.begin[0]):
        memset(slab.sums + row * slab.row_step, 0, size * sizeof(uint16_t))
    taps_over(rows, slab.begin[0], slab.end[0], &first, &end, &step)
    for d in range(2):
        slab.tap_step[d] = plan.axes[plan.last - 1 + d].tap_step
        slab.block_step[d] = plan.axes[plan.last - 1 + d].block_step
    if plan.turned:
        slab.block_step[1] = sizeof(uint16_t)
        slab.block_step[0] = slab.block_step[1] * columns.blocks
        slab.tap_step[1] = slab.block_step[0] * (slab.blocks_end - slab.blocks_begin)
        slab.tap_step[0] = slab.tap_step[1] * columns.window
    run.input_row = slab.block_step[0]
    run.sums_row = rows.stride * slab.row_step
    for d in range(plan.last - 1):
        tap[d] = firsts[d]
    while reached:
        if slab.fresh:
            touch_blocks(plan, slab, input)
        taps = input
        if plan.turned:
            scatter_uint16_t_turn(plan, slab, input, cells)
            taps = cells - slab.blocks_begin * slab.block_step[0]
        number = first
        while number < end:
            blocks_at(rows, number, slab.begin[0], slab.end[0], &block, &run.rows)
            run.rows -= block
            if run.rows > 0:
                row = block * rows.stride + number * rows.dilation - slab.begin[0]
                run.sums = slab.sums + row * slab.row_step
                scatter_uint16_t_along(
                    plan, slab, taps + number * slab.tap_step[0] + block * slab.block_step[0], &run, add)
            number += step
        d = plan.last - 2
        while d >= 0:
            tap[d] += plan.axes[d].period
            input += plan.axes[d].next_step
            if tap[d] < ends[d]:
                break
            input -= (tap[d] - firsts[d]) // plan.axes[d].period * plan.axes[d].next_step
            tap[d] = firsts[d]
            d -= 1
        reached = d >= 0
    if not direct:
        scatter_uint16_t_lay(plan, slab)


cdef int scatter_uint16_t_slabs(const void* args, int64_t begin, int64_t end) noexcept nogil:
    cdef const ScatterPlan* plan = <const ScatterPlan*> args
    cdef const ScatterAxis* rows = &plan.axes[plan.last - 1]
    cdef const ScatterAxis* columns = &plan.axes[plan.last]
    cdef const ScatterAxis* axis
    cdef scatter_uint16_t_Add add = scatter_uint16_t_add_wide if dmlcy_wide() else scatter_uint16_t_add
    cdef scatter_uint16_t_Weave weave = scatter_uint16_t_weave_wide if dmlcy_wide() else scatter_uint16_t_weave
    cdef ScatterSlab slab
    cdef int64_t firsts[MAX_RANK]
    cdef int64_t ends[MAX_RANK]
    cdef int64_t number, index, channel, row, column, q
    cdef const char* input
    cdef bint reached
    cdef int d
    for number in range(begin, end):
        index = number
        channel = 0
        if plan.together:
            channel = index % plan.channels
            index //= plan.channels
        column = index % plan.column_slabs * plan.columns
        index //= plan.column_slabs
        row = index % plan.row_slabs * plan.rows
        index //= plan.row_slabs
        slab.begin[0] = rows.start + row
        slab.end[0] = rows.start + min(rows.size, row + plan.rows)
        slab.begin[1] = columns.start + column
        slab.end[1] = columns.start + min(columns.size, column + plan.columns)
        slab.output = plan.output + row * rows.output_step + column * columns.output_step
        input = plan.input
        reached = True
        for d in range(plan.last - 2, -1, -1):
            axis = &plan.axes[d]
            q = index % axis.size
            index //= axis.size
            slab.output += q * axis.output_step
            q += axis.start
            taps_at(axis, q, &firsts[d], &ends[d])
            if firsts[d] < ends[d]:
                input += firsts[d] * axis.tap_step
                input += (q - firsts[d] * axis.dilation) // axis.stride * axis.block_step
            else:
                reached = False
        if not plan.together:
            channel = index % plan.channels
            index //= plan.channels
        slab.output += index * plan.output_steps[0] + channel * plan.output_steps[1]
        input += index * plan.input_steps[0] + channel * plan.input_steps[1]
        find_blocks(plan, &slab)
        slab.fresh = plan.touched and channel == 0
        if plan.apart:
            if not (reached and plan.covered):
                for row in range(slab.end[0] - slab.begin[0]):
                    memset(slab.output + row * rows.output_step, 0, columns.size * sizeof(uint16_t))
            if reached and slab.fresh:
                touch_blocks(plan, &slab, input)
            if reached:
                weave(plan, &slab, input)
        else:
            scatter_uint16_t_slab(plan, &slab, input, firsts, ends, reached, add)
    return 0


ctypedef void (*scatter_uint8_t_Add)(const void* run) noexcept nogil
ctypedef void (*scatter_uint8_t_Weave)(const void* plan, const void* slab, const char* input) noexcept nogil


cdef void scatter_uint8_t_add "scatter_uint8_t_add"(const void* args) noexcept nogil:
    cdef const ScatterRun* run = <const ScatterRun*> args
    cdef bint dense = run.input_step == sizeof(uint8_t) and run.sums_step == sizeof(uint8_t)
    cdef int64_t block = sizeof(dmlcy_uint8_t_block) // sizeof(uint8_t)
    cdef int64_t last = run.size - block
    cdef int64_t row, i
    cdef const uint8_t* elements
    cdef uint8_t* sums
    cdef uint8_t* sum
    cdef dmlcy_uint8_t_block ending
    for row in range(run.rows):
        elements = <const uint8_t*> (run.input + row * run.input_row)
        sums = <uint8_t*> (run.sums + row * run.sums_row)
        if dense and last >= 0:
            # What overlaps the block before it is the same, of the sums as they were.
            ending = dmlcy_load_uint8_t(sums + last) + dmlcy_load_uint8_t(elements + last)
            i = 0
            while i < last:
                dmlcy_store_uint8_t(sums + i, dmlcy_load_uint8_t(sums + i) + dmlcy_load_uint8_t(elements + i))
                i += block
            dmlcy_store_uint8_t(sums + last, ending)
            continue
        for i in range(run.size):
            sum = <uint8_t*> (<char*> sums + i * run.sums_step)
            sum[0] += ((<const uint8_t*> (<const char*> elements + i * run.input_step))[0])


# The slab, where each position takes one element or none: taps are woven into rows, as many as the window is wide.
cdef void scatter_uint8_t_weave "scatter_uint8_t_weave"(
        const void* plan_, const void* slab_, const char* input) noexcept nogil:
    cdef const ScatterPlan* plan = <const ScatterPlan*> plan_
    cdef const ScatterSlab* slab = <const ScatterSlab*> slab_
    cdef const ScatterAxis* rows = &plan.axes[plan.last - 1]
    cdef const ScatterAxis* columns = &plan.axes[plan.last]
    cdef int64_t width = columns.stride
    cdef int64_t blocks = columns.blocks
    cdef int64_t covered = blocks * width
    cdef bint dense = columns.block_step == sizeof(uint8_t)
    cdef int64_t some = sizeof(dmlcy_uint8_t_block) // sizeof(uint8_t)
    cdef int64_t tap, end, step, block, last, row, i, k
    cdef const char* from_
    cdef char* to
    cdef int64_t at0 = plan.tap_at[min(width - 1, 0)]
    cdef const uint8_t* tap0
    cdef int64_t at1 = plan.tap_at[min(width - 1, 1)]
    cdef const uint8_t* tap1
    cdef int64_t at2 = plan.tap_at[min(width - 1, 2)]
    cdef const uint8_t* tap2
    cdef int64_t at3 = plan.tap_at[min(width - 1, 3)]
    cdef const uint8_t* tap3
    cdef const uint8_t* elements
    cdef uint8_t* out
    taps_over(rows, slab.begin[0], slab.end[0], &tap, &end, &step)
    while tap < end:
        blocks_at(rows, tap, slab.begin[0], slab.end[0], &block, &last)
        from_ = input + tap * rows.tap_step + block * rows.block_step
        to = slab.output + (block * rows.stride + tap * rows.dilation - slab.begin[0]) * rows.output_step
        for row in range(last - block):
            out = <uint8_t*> (to + row * rows.stride * rows.output_step)
            if plan.far:            # processors do not foresee so many short runs
                dmlcy_ask_rows(from_ + rows.block_step, columns.tap_step, width, blocks * columns.block_step)
                dmlcy_ask(<const char*> out + rows.stride * rows.output_step, covered * sizeof(uint8_t))
            tap0 = <const uint8_t*> (from_ + at0)
            tap1 = <const uint8_t*> (from_ + at1)
            tap2 = <const uint8_t*> (from_ + at2)
            tap3 = <const uint8_t*> (from_ + at3)
            if dense and width == 2:
                for i in range(blocks):
                    out[2 * i + 0] = tap0[i]
                    out[2 * i + 1] = tap1[i]
            elif dense and width == 3:
                for i in range(blocks):
                    out[3 * i + 0] = tap0[i]
                    out[3 * i + 1] = tap1[i]
                    out[3 * i + 2] = tap2[i]
            elif dense and width == 4:
                for i in range(blocks):
                    out[4 * i + 0] = tap0[i]
                    out[4 * i + 1] = tap1[i]
                    out[4 * i + 2] = tap2[i]
                    out[4 * i + 3] = tap3[i]
            elif dense:
                weave_1(from_, plan.tap_at, width, blocks, <char*> out)
            elif width == 2:
                for i in range(blocks):
                    elements = <const uint8_t*> (from_ + i * columns.block_step)
                    out[2 * i + 0] = elements[0]
                    out[2 * i + 1] = elements[1]
            elif width == 3:
                for i in range(blocks):
                    elements = <const uint8_t*> (from_ + i * columns.block_step)
                    out[3 * i + 0] = elements[0]
                    out[3 * i + 1] = elements[1]
                    out[3 * i + 2] = elements[2]
            elif width == 4:
                for i in range(blocks):
                    elements = <const uint8_t*> (from_ + i * columns.block_step)
                    out[4 * i + 0] = elements[0]
                    out[4 * i + 1] = elements[1]
                    out[4 * i + 2] = elements[2]
                    out[4 * i + 3] = elements[3]
            else:
                for i in range(blocks):
                    elements = <const uint8_t*> (from_ + i * columns.block_step)
                    k = 0
                    while k <= width - some:
                        dmlcy_store_uint8_t(
                            out + i * width + k, dmlcy_load_uint8_t(elements + k))
                        k += some
                    for k in range(k, width):
                        out[i * width + k] = elements[k]
            for i in range(covered, columns.size):
                out[i] = 0
            from_ += rows.block_step
        tap += step


cdef void scatter_uint8_t_add_wide "scatter_uint8_t_add_wide"(const void* args) noexcept nogil:
    cdef const ScatterRun* run = <const ScatterRun*> args
    cdef bint dense = run.input_step == sizeof(uint8_t) and run.sums_step == sizeof(uint8_t)
    cdef int64_t block = sizeof(dmlcy_uint8_t_block) // sizeof(uint8_t)
    cdef int64_t last = run.size - block
    cdef int64_t row, i
    cdef const uint8_t* elements
    cdef uint8_t* sums
    cdef uint8_t* sum
    cdef dmlcy_uint8_t_block ending
    for row in range(run.rows):
        elements = <const uint8_t*> (run.input + row * run.input_row)
        sums = <uint8_t*> (run.sums + row * run.sums_row)
        if dense and last >= 0:
            # What overlaps the block before it is the same, of the sums as they were.
            ending = dmlcy_load_uint8_t(sums + last) + dmlcy_load_uint8_t(elements + last)
            i = 0
            while i < last:
                dmlcy_store_uint8_t(sums + i, dmlcy_load_uint8_t(sums + i) + dmlcy_load_uint8_t(elements + i))
                i += block
            dmlcy_store_uint8_t(sums + last, ending)
            continue
        for i in range(run.size):
            sum = <uint8_t*> (<char*> sums + i * run.sums_step)
            sum[0] += ((<const uint8_t*> (<const char*> elements + i * run.input_step))[0])


# The slab, where each position takes one element or none: taps are woven into rows, as many as the window is wide.
cdef void scatter_uint8_t_weave_wide "scatter_uint8_t_weave_wide"(
        const void* plan_, const void* slab_, const char* input) noexcept nogil:
    cdef const ScatterPlan* plan = <const ScatterPlan*> plan_
    cdef const ScatterSlab* slab = <const ScatterSlab*> slab_
    cdef const ScatterAxis* rows = &plan.axes[plan.last - 1]
    cdef const ScatterAxis* columns = &plan.axes[plan.last]
    cdef int64_t width = columns.stride
    cdef int64_t blocks = columns.blocks
    cdef int64_t covered = blocks * width
    cdef bint dense = columns.block_step == sizeof(uint8_t)
    cdef int64_t some = sizeof(dmlcy_uint8_t_block) // sizeof(uint8_t)
    cdef int64_t tap, end, step, block, last, row, i, k
    cdef const char* from_
    cdef char* to
    cdef int64_t at0 = plan.tap_at[min(width - 1, 0)]
    cdef const uint8_t* tap0
    cdef int64_t at1 = plan.tap_at[min(width - 1, 1)]
    cdef const uint8_t* tap1
    cdef int64_t at2 = plan.tap_at[min(width - 1, 2)]
    cdef const uint8_t* tap2
    cdef int64_t at3 = plan.tap_at[min(width - 1, 3)]
    cdef const uint8_t* tap3
    cdef const uint8_t* elements
    cdef uint8_t* out
    taps_over(rows, slab.begin[0], slab.end[0], &tap, &end, &step)
    while tap < end:
        blocks_at(rows, tap, slab.begin[0], slab.end[0], &block, &last)
        from_ = input + tap * rows.tap_step + block * rows.block_step
        to = slab.output + (block * rows.stride + tap * rows.dilation - slab.begin[0]) * rows.output_step
        for row in range(last - block):
            out = <uint8_t*> (to + row * rows.stride * rows.output_step)
            if plan.far:            # processors do not foresee so many short runs
                dmlcy_ask_rows(from_ + rows.block_step, columns.tap_step, width, blocks * columns.block_step)
                dmlcy_ask(<const char*> out + rows.stride * rows.output_step, covered * sizeof(uint8_t))
            tap0 = <const uint8_t*> (from_ + at0)
            tap1 = <const uint8_t*> (from_ + at1)
            tap2 = <const uint8_t*> (from_ + at2)
            tap3 = <const uint8_t*> (from_ + at3)
            if dense and width == 2:
                for i in range(blocks):
                    out[2 * i + 0] = tap0[i]
                    out[2 * i + 1] = tap1[i]
            elif dense and width == 3:
                for i in range(blocks):
                    out[3 * i + 0] = tap0[i]
                    out[3 * i + 1] = tap1[i]
                    out[3 * i + 2] = tap2[i]
            elif dense and width == 4:
                for i in range(blocks):
                    out[4 * i + 0] = tap0[i]
                    out[4 * i + 1] = tap1[i]
                    out[4 * i + 2] = tap2[i]
                    out[4 * i + 3] = tap3[i]
            elif dense:
                weave_1(from_, plan.tap_at, width, blocks, <char*> out)
            elif width == 2:
                for i in range(blocks):
                    elements = <const uint8_t*> (from_ + i * columns.block_step)
                    out[2 * i + 0] = elements[0]
                    out[2 * i + 1] = elements[1]
            elif width == 3:
                for i in range(blocks):
                    elements = <const uint8_t*> (from_ + i * columns.block_step)
                    out[3 * i + 0] = elements[0]
                    out[3 * i + 1] = elements[1]
                    out[3 * i + 2] = elements[2]
            elif width == 4:
                for i in range(blocks):
                    elements = <const uint8_t*> (from_ + i * columns.block_step)
                    out[4 * i + 0] = elements[0]
                    out[4 * i + 1] = elements[1]
                    out[4 * i + 2] = elements[2]
                    out[4 * i + 3] = elements[3]
            else:
                for i in range(blocks):
                    elements = <const uint8_t*> (from_ + i * columns.block_step)
                    k = 0
                    while k <= width - some:
                        dmlcy_store_uint8_t(
                            out + i * width + k, dmlcy_load_uint8_t(elements + k))
                        k += some
                    for k in range(k, width):
                        out[i * width + k] = elements[k]
            for i in range(covered, columns.size):
                out[i] = 0
            from_ += rows.block_step
        tap += step


# What a tap of the rows, and one of each axis before them, adds: from its taps of the columns, or, where strides are
# long, from its blocks, the last ones first.
cdef void scatter_uint8_t_along(
        const ScatterPlan* plan, const ScatterSlab* slab, const char* input, ScatterRun* run,
        scatter_uint8_t_Add add) noexcept nogil:
    cdef const ScatterAxis* columns = &plan.axes[plan.last]
    cdef char* sums = run.sums
    cdef int64_t high = slab.low + slab.length * (columns.stride if plan.woven else 1)
    cdef int64_t first, end, step, number, begin, at
    if columns.stride <= slab.length or plan.woven:
        run.input_step = slab.block_step[1]
        run.sums_step = sizeof(uint8_t) * (1 if plan.woven else columns.stride)
        taps_over(columns, slab.low, high, &number, &end, &step)
        while number < end:
            blocks_at(columns, number, slab.low, high, &begin, &run.size)
            run.size -= begin
            run.input = input + number * slab.tap_step[1] + begin * slab.block_step[1]
            at = begin * columns.stride + number * columns.dilation - slab.low
            if plan.woven:
                at = at % columns.stride * slab.length + at // columns.stride
            run.sums = sums + at * <int64_t> sizeof(uint8_t)
            if run.size > 0:
                add(run)
            number += step
        return
    run.input_step = slab.tap_step[1]
    run.sums_step = sizeof(uint8_t) * columns.dilation
    first = max(0, ceil_div(slab.low - (columns.window - 1) * columns.dilation, columns.stride))
    end = min(columns.blocks, (high - 1) // columns.stride + 1)
    for number in range(end - 1, first - 1, -1):
        at = number * columns.stride - slab.low
        begin = max(0, ceil_div(-at, columns.dilation))
        run.size = min(columns.window, ceil_div(high - slab.low - at, columns.dilation)) - begin
        run.input = input + begin * slab.tap_step[1] + number * slab.block_step[1]
        run.sums = sums + (at + begin * columns.dilation) * <int64_t> sizeof(uint8_t)
        if run.size > 0:
            add(run)


# The sums of a slab, put where they belong.
cdef void scatter_uint8_t_lay(const ScatterPlan* plan, const ScatterSlab* slab) noexcept nogil:
    cdef const ScatterAxis* columns = &plan.axes[plan.last]
    cdef int64_t size = slab.end[1] - slab.begin[1]
    cdef int64_t class_at[CLASSES]
    cdef uint8_t woven[SLAB]
    cdef const uint8_t* sums
    cdef const uint8_t* line
    cdef char* output
    cdef int64_t row, i
    if plan.woven:
        for i in range(columns.stride):
            class_at[i] = i * slab.length * <int64_t> sizeof(uint8_t)
    for row in range(slab.end[0] - slab.begin[0]):
        sums = <const uint8_t*> (slab.sums + row * slab.row_step)
        output = slab.output + row * plan.axes[plan.last - 1].output_step
        line = sums
        if plan.woven:
            weave_1(<const char*> line, class_at, columns.stride, slab.length, <char*> woven)
            line = woven + (slab.begin[1] - slab.low)
        if columns.output_step == sizeof(uint8_t):
            dmlcy_copy(output, <const char*> line, size * columns.output_step)
        else:
            for i in range(size):
                (<uint8_t*> (output + i * columns.output_step))[0] = line[i]


# Some rows of blocks of all taps of rows and columns, as rows of each tap.
cdef void scatter_uint8_t_turn(
        const ScatterPlan* plan, const ScatterSlab* slab, const char* input, char* cells) noexcept nogil:
    cdef const ScatterAxis* columns = &plan.axes[plan.last]
    cdef int64_t blocks = slab.tap_step[1] // <int64_t> sizeof(uint8_t)
    cdef int64_t width = plan.axes[plan.last - 1].window * columns.window
    cdef int64_t block = 0
    input += slab.blocks_begin * plan.axes[plan.last - 1].block_step
    while block < blocks:
        block = max(0, min(block, blocks - TURNED))
        transpose_1(
            input + block * columns.block_step, plan.block_at, min(blocks, <int64_t> TURNED), width,
            cells + block * <int64_t> sizeof(uint8_t), slab.tap_step[1])
        block += TURNED


cdef void scatter_uint8_t_slab(
        const ScatterPlan* plan, ScatterSlab* slab, const char* input, const int64_t* firsts, const int64_t* ends,
        bint reached, scatter_uint8_t_Add add) noexcept nogil:
    cdef const ScatterAxis* rows = &plan.axes[plan.last - 1]
    cdef const ScatterAxis* columns = &plan.axes[plan.last]
    cdef uint8_t sums[SLAB]
    cdef char cells[CELL_BYTES]
    cdef int64_t size = slab.end[1] - slab.begin[1]
    cdef bint direct = True and not plan.woven and columns.output_step == sizeof(uint8_t)
    cdef int64_t tap[MAX_RANK]
    cdef int64_t first, end, step, number, block, row
    cdef const char* taps
    cdef ScatterRun run
    cdef int d
    slab.low = slab.begin[1]
    slab.length = size
    if plan.woven:
        slab.low = slab.begin[1] // columns.stride * columns.stride
        slab.length = ceil_div(slab.end[1] - slab.low, columns.stride)
        size = slab.length * columns.stride
    slab.sums = slab.output if direct else <char*> sums
    slab.row_step = rows.output_step if direct else size * <int64_t> sizeof(uint8_t)
    for row in range(slab.end[0] - slab.begin[0]):
        memset(slab.sums + row * slab.row_step, 0, size * sizeof(uint8_t))
    taps_over(rows, slab.begin[0], slab.end[0], &first, &end, &step)
    for d in range(2):
        slab.tap_step[d] = plan.axes[plan.last - 1 + d].tap_step
        slab.block_step[d] = plan.axes[plan.last - 1 + d].block_step
    if plan.turned:
        slab.block_step[1] = sizeof(uint8_t)
        slab.block_step[0] = slab.block_step[1] * columns.blocks
        slab.tap_step[1] = slab.block_step[0] * (slab.blocks_end - slab.blocks_begin)
        slab.tap_step[0] = slab.tap_step[1] * columns.window
    run.input_row = slab.block_step[0]
    run.sums_row = rows.stride * slab.row_step
    for d in range(plan.last - 1):
        tap[d] = firsts[d]
    while reached:
        if slab.fresh:
            touch_blocks(plan, slab, input)
        taps = input
        if plan.turned:
            scatter_uint8_t_turn(plan, slab, input, cells)
            taps = cells - slab.blocks_begin * slab.block_step[0]
        number = first
        while number < end:
            blocks_at(rows, number, slab.begin[0], slab.end[0], &block, &run.rows)
            run.rows -= block
            if run.rows > 0:
                row = block * rows.stride + number * rows.dilation - slab.begin[0]
                run.sums = slab.sums + row * slab.row_step
                scatter_uint8_t_along(
                    plan, slab, taps + number * slab.tap_step[0] + block * slab.block_step[0], &run, add)
            number += step
        d = plan.last - 2
        while d >= 0:
            tap[d] += plan.axes[d].period
            input += plan.axes[d].next_step
            if tap[d] < ends[d]:
                break
            input -= (tap[d] - firsts[d]) // plan.axes[d].period * plan.axes[d].next_step
            tap[d] = firsts[d]
            d -= 1
        reached = d >= 0
    if not direct:
        scatter_uint8_t_lay(plan, slab)


cdef int scatter_uint8_t_slabs(const void* args, int64_t begin, int64_t end) noexcept nogil:
    cdef const ScatterPlan* plan = <const ScatterPlan*> args
    cdef const ScatterAxis* rows = &plan.axes[plan.last - 1]
    cdef const ScatterAxis* columns = &plan.axes[plan.last]
    cdef const ScatterAxis* axis
    cdef scatter_uint8_t_Add add = scatter_uint8_t_add_wide if dmlcy_wide() else scatter_uint8_t_add
    cdef scatter_uint8_t_Weave weave = scatter_uint8_t_weave_wide if dmlcy_wide() else scatter_uint8_t_weave
    cdef ScatterSlab slab
    cdef int64_t firsts[MAX_RANK]
    cdef int64_t ends[MAX_RANK]
    cdef int64_t number, index, channel, row, column, q
    cdef const char* input
    cdef bint reached
    cdef int d
    for number in range(begin, end):
        index = number
        channel = 0
        if plan.together:
            channel = index % plan.channels
            index //= plan.channels
        column = index % plan.column_slabs * plan.columns
        index //= plan.column_slabs
        row = index % plan.row_slabs * plan.rows
        index //= plan.row_slabs
        slab.begin[0] = rows.start + row
        slab.end[0] = rows.start + min(rows.size, row + plan.rows)
        slab.begin[1] = columns.start + column
        slab.end[1] = columns.start + min(columns.size, column + plan.columns)
        slab.output = plan.output + row * rows.output_step + column * columns.output_step
        input = plan.input
        reached = True
        for d in range(plan.last - 2, -1, -1):
            axis = &plan.axes[d]
            q = index % axis.size
            index //= axis.size
            slab.output += q * axis.output_step
            q += axis.start
            taps_at(axis, q, &firsts[d], &ends[d])
            if firsts[d] < ends[d]:
                input += firsts[d] * axis.tap_step
                input += (q - firsts[d] * axis.dilation) // axis.stride * axis.block_step
            else:
                reached = False
        if not plan.together:
            channel = index % plan.channels
            index //= plan.channels
        slab.output += index * plan.output_steps[0] + channel * plan.output_steps[1]
        input += index * plan.input_steps[0] + channel * plan.input_steps[1]
        find_blocks(plan, &slab)
        slab.fresh = plan.touched and channel == 0
        if plan.apart:
            if not (reached and plan.covered):
                for row in range(slab.end[0] - slab.begin[0]):
                    memset(slab.output + row * rows.output_step, 0, columns.size * sizeof(uint8_t))
            if reached and slab.fresh:
                touch_blocks(plan, &slab, input)
            if reached:
                weave(plan, &slab, input)
        else:
            scatter_uint8_t_slab(plan, &slab, input, firsts, ends, reached, add)
    return 0


# Returns 0, or -1 when memory ran out.
cdef int window_scatter(WindowScatter* a, Work work) noexcept nogil:
    cdef int64_t bytes = bytes_of(&a.input) + bytes_of(&a.output)
    cdef ScatterPlan plan
    cdef const ScatterAxis* columns
    cdef int64_t planes, slabs
    plan.input = a.input.data
    plan.output = a.output.data
    plan.channels = a.output.sizes[1]
    plan.input_steps[0] = a.input.strides[0]
    plan.output_steps[0] = a.output.strides[0]
    plan.output_steps[1] = a.output.strides[1]
    collect_axes(&plan, a)
    planes = a.output.sizes[0] * plan.channels * plan.planes
    collect_slabs(&plan, a, planes, bytes)
    columns = &plan.axes[plan.last]
    plan.far = bytes > SERIAL_BYTES and columns.stride * a.input.item >= DMLCY_LINE
    plan.far = plan.far and columns.block_step == a.input.item and columns.blocks * a.input.item < SHORT_RUN
    slabs = planes * plan.row_slabs * plan.column_slabs
    return parallel_for(work, &plan, slabs, slabs if bytes <= SERIAL_BYTES else grain_of(bytes // slabs))


# FOLD

cdef struct Fold:
    Tensor input
    Tensor output
    int64_t output_sizes[MAX_RANK]
    int64_t output_sizes_count
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
    int64_t ones
    int64_t N
    int64_t volume
    int64_t C

# By feature level, the values allowed (bit n: value n): data types, ranks, enum members.
cdef extern from *:
    """
    static const uint32_t dmlcy_FOLD_T[15] = {
        0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0,
        0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0xffe,
    };
    static const uint32_t dmlcy_FOLD_R_RANKS[15] = {
        0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0,
        0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x1f8,
    };
    """
    const uint32_t* FOLD_T "dmlcy_FOLD_T"
    const uint32_t* FOLD_R_RANKS "dmlcy_FOLD_R_RANKS"


# Whether the operator and its inputs hold at the level.
cdef bint fold_inputs_hold(Fold* a, int level) noexcept nogil:
    return (
        level >= LEVEL_6_4
        and tensor_holds(&a.input, FOLD_T[level], FOLD_R_RANKS[level])
    )


# Takes the attributes from Python; 0 where one is not acceptable.
cdef int fold_take(
    Fold* a,
    int level,
    object output_sizes,
    object window_sizes,
    object strides,
    object dilations,
    object start_padding,
    object end_padding,
) except -1:
    if not take_sizes(output_sizes, a.output_sizes, &a.output_sizes_count):
        return 0
    a.spatial = a.output_sizes_count
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
cdef bint fold_holds(Fold* a, int level) noexcept nogil:
    cdef bint overflow = False
    cdef Tensor expected
    cdef int64_t d
    for d in range(a.spatial):
        a.extent[d] = checked_add(checked_mul(a.dilations[d], a.window_sizes[d] - 1, &overflow), 1, &overflow)
    for d in range(a.spatial):
        a.image[d] = a.output_sizes[d]
    for d in range(a.spatial):
        a.padded[d] = a.image[d] + a.start_padding[d] + a.end_padding[d]
    # window_sizes-fits
    for d in range(a.spatial):
        if not (a.extent[d] <= a.padded[d]):
            return False
    a.ones = max(a.input.rank - 3, 0)
    a.N = a.input.sizes[a.ones]
    a.volume = product(a.window_sizes, a.spatial, &overflow)
    a.C = max(a.input.sizes[a.ones + 1] // a.volume, 1)
    a.output.dtype = a.input.dtype
    a.output.item = a.input.item
    a.output.rank = 0
    if not (
        append_size(&a.output, a.N)
        and append_size(&a.output, a.C)
        and append_sizes(&a.output, a.output_sizes, a.output_sizes_count)
        and tensor_holds(&a.output, FOLD_T[level], FOLD_R_RANKS[level])
    ):
        return False
    # input-dimensions
    if not (a.input.rank <= a.output.rank):
        return False
    for d in range(a.spatial):
        a.blocks[d] = floor_div(a.padded[d] - a.extent[d], a.strides[d]) + 1
    expected.rank = 0
    expected.dtype = a.input.dtype
    if not (
        append_size(&expected, a.N)
        and append_size(&expected, checked_mul(a.C, a.volume, &overflow))
        and append_size(&expected, product(a.blocks, a.spatial, &overflow))
        and as_computed(&a.input, &expected)
    ):
        return False
    return not overflow


cdef int fold_run(const Fold* a) noexcept nogil:
    cdef WindowScatter work
    work.input = a.input
    work.output = a.output
    set_rank(&work.input, 3)
    work.spatial = <int>a.spatial
    memcpy(work.window, a.window_sizes, sizeof(work.window))
    memcpy(work.strides, a.strides, sizeof(work.strides))
    memcpy(work.dilations, a.dilations, sizeof(work.dilations))
    memcpy(work.start, a.start_padding, sizeof(work.start))
    memcpy(work.blocks, a.blocks, sizeof(work.blocks))
    if a.input.dtype == FLOAT64:
        return window_scatter(&work, scatter_double_slabs)
    if a.input.dtype == FLOAT32:
        return window_scatter(&work, scatter_float_slabs)
    if a.input.dtype == FLOAT16:
        return window_scatter(&work, scatter_half_slabs)
    if a.input.dtype == INT64 or a.input.dtype == UINT64:
        return window_scatter(&work, scatter_uint64_t_slabs)
    if a.input.dtype == INT32 or a.input.dtype == UINT32:
        return window_scatter(&work, scatter_uint32_t_slabs)
    if a.input.dtype == INT16 or a.input.dtype == UINT16:
        return window_scatter(&work, scatter_uint16_t_slabs)
    return window_scatter(&work, scatter_uint8_t_slabs)


# Runs on checked fields. None: `out` is not acceptable, and nothing was written.
cdef object fold_call(Fold* a, ndarray input_array, object out):
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
        raise RuntimeError("fold(): input was changed during the call")
    if recordings is None:
        input_array = aligned(input_array, &a.input)
    else:
        input_array = packed(input_array, &a.input)
    if is_brief(&a.input) and is_brief(&a.output):
        status = fold_run(a)
    else:
        with nogil:
            status = fold_run(a)
    if status != 0:
        raise MemoryError("fold: no memory for scratch rows")
    write_back(output_array, output_result)
    if recordings is not None:
        from dmlcy._record import keep

        keep(recordings, "FOLD", {
            "input": input_array,
            "output": packed(output_result, &a.output),
            "window_sizes": tuple_of(a.spatial, a.window_sizes),
            "strides": tuple_of(a.spatial, a.strides),
            "dilations": tuple_of(a.spatial, a.dilations),
            "start_padding": tuple_of(a.spatial, a.start_padding),
            "end_padding": tuple_of(a.spatial, a.end_padding),
        })
    return output_array if out is None else out


def fold(
    input,
    *,
    output_sizes,
    window_sizes,
    strides=1,
    dilations=1,
    start_padding=0,
    end_padding=0,
    out=None,
):
    """Sum overlapping columns back into an image (col2im): the adjoint of UNFOLD.

    Parameters
    ----------
    input : array
        The columns: one column per position of the window (a block), and one
        row per channel and window element, as UNFOLD gives them. Rank 3; data
        type FLOAT64, FLOAT32, FLOAT16, INT64, INT32, INT16, INT8, UINT64,
        UINT32, UINT16 or UINT8.
    output_sizes : int or sequence of ints
        Sizes of the spatial axes of the image. The input gives only the total
        number of blocks: 4 by 9 blocks and 6 by 6 blocks look the same. At
        least 1. An int is a sequence of one.
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
        The image, with a batch, channels and 1 to 6 spatial axes S: each
        element is the sum of the column elements that lie on it. FOLD undoes
        UNFOLD if windows do not overlap; if windows overlap, divide the image
        by the FOLD of ones. Its sizes are {N, C, S...}.
        Sizes ``[N, C, *output_sizes]``.
        Data type of ``input``.
        ``out`` itself where it is given.

    Raises
    ------
    InvalidDescError, InvalidDataTypeError, FeatureLevelError
        With every violation in ``.violations``: those of each field (data type,
        rank, range, length), and these:

        ``DML-FOLD-window_sizes-fits``
            window_sizes does not fit. Must hold for d in spatial:
            ``extent[d] <= padded[d]``

        ``DML-FOLD-input-dimensions``
            input has too many dimensions. Must hold:
            ``rank(input) <= rank(output)``

    See Also
    --------
    dmlcy.desc.Fold : Its desc, for ``check`` and ``compile``.

    Notes
    -----
    The formulas read:

    ``spatial = len(output_sizes)``
        Number of spatial axes of the image, the output: all but the batch and
        the channels.
    ``image[d] = output_sizes[d]``
        Size of the image along each spatial axis.
    ``padded[d] = image[d] + start_padding[d] + end_padding[d]``
        Size of each spatial axis after padding.
    ``extent[d] = dilations[d] * (window_sizes[d] - 1) + 1``
        Elements that the window spans along each spatial axis.
    ``blocks[d] = (padded[d] - extent[d]) // strides[d] + 1``
        Number of positions of the window along each spatial axis.
    ``ones = max(rank(input) - 3, 0)``
        Number of ones in front of the sizes of the input.
    ``N = sizes(input)[ones]``
        Batch size.
    ``volume = prod(window_sizes)``
        Elements of a window.
    ``C = max(sizes(input)[ones + 1] // volume, 1)``
        Channels of the image.
    ``over[d] = min(window_sizes[d], blocks[d])``
        Largest number of window positions that cover one element of the image,
        along each spatial axis.

    References
    ----------
    FOLD, feature level 6_4:
    https://learn.microsoft.com/windows/ai/directml/api/ns-directml-dml_fold_operator_desc

    Examples
    --------
    >>> import numpy as np
    >>> import dmlcy as dml
    >>> x = np.arange(36, dtype=np.float32).reshape(1, 9, 4)
    >>> dml.fold(
    ...     x,
    ...     output_sizes=(4, 4),
    ...     window_sizes=(3, 3),
    ...     strides=(1, 1),
    ...     dilations=(1, 1),
    ...     start_padding=(0, 0),
    ...     end_padding=(0, 0),
    ... )
    array([[[[  0.,   5.,  13.,   9.],
             [ 14.,  38.,  54.,  32.],
             [ 38.,  86., 102.,  56.],
             [ 26.,  57.,  65.,  35.]]]], dtype=float32)
    """
    cdef Fold a
    cdef int level = current_level()
    cdef ndarray input_array = as_array(input)
    cdef object result
    if (
        view(input_array, &a.input)
        and a.input.rank == 3
        and fold_inputs_hold(&a, level)
        and fold_take(
            &a, level, output_sizes, window_sizes, strides, dilations, start_padding, end_padding
        )
        and fold_holds(&a, level)
    ):
        result = fold_call(&a, input_array, out)
        if result is not None:
            return result
    from dmlcy._desc.check import refuse

    return refuse("FOLD", {
        "input": input,
        "output_sizes": output_sizes,
        "window_sizes": window_sizes,
        "strides": strides,
        "dilations": dilations,
        "start_padding": start_padding,
        "end_padding": end_padding,
        "out": out,
    }, level)


cdef class FoldOperator(CompiledOperator):
    """FOLD, checked once: called with arrays of the sizes and data types of its desc."""

    cdef Fold fields

    def __cinit__(self, *args, **kwargs):
        self.inputs = 1

    def __init__(self, desc, int level):
        from dmlcy._desc.check import refuse_desc

        cdef Fold a
        cdef Tensor computed
        if not (
            level < LEVELS
            and describe(desc.input, &a.input)
            and fold_inputs_hold(&a, level)
            and fold_take(
                &a,
                level,
                desc.output.sizes[2:],
                desc.window_sizes,
                desc.strides,
                desc.dilations,
                desc.start_padding,
                desc.end_padding,
            )
            and fold_holds(&a, level)
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
        cdef Fold a
        cdef ndarray input_array
        cdef object result
        memcpy(&a, &self.fields, sizeof(a))     # an assignment would copy twice
        input_array = match(<object>inputs[0], &a.input)
        if (
            input_array is not None
        ):
            result = fold_call(&a, input_array, out)
            if result is not None:
                return result
        from dmlcy._desc.check import refuse_call

        return refuse_call(self.desc, {
            "input": <object>inputs[0],
            "out": out,
        })


take_vectorcalls(FoldOperator)
