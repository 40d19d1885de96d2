# cython: language_level=3
"""window_scatter: FOLD."""

from cpython.object cimport PyObject
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy
from numpy cimport ndarray
from dmlcy._runtime.arguments cimport take_sizes, take_uints
from dmlcy._runtime.blocks cimport (
    dmlcy_double_block, dmlcy_each_double, dmlcy_each_float, dmlcy_each_uint16_t, dmlcy_each_uint32_t,
    dmlcy_each_uint64_t, dmlcy_each_uint8_t, dmlcy_float_block, dmlcy_load_double, dmlcy_load_float, dmlcy_load_half,
    dmlcy_load_half_wide, dmlcy_load_uint16_t, dmlcy_load_uint32_t, dmlcy_load_uint64_t, dmlcy_load_uint8_t,
    dmlcy_store_double, dmlcy_store_float, dmlcy_store_uint16_t, dmlcy_store_uint32_t, dmlcy_store_uint64_t,
    dmlcy_store_uint8_t, dmlcy_uint16_t_block, dmlcy_uint32_t_block, dmlcy_uint64_t_block, dmlcy_uint8_t_block,
)
from dmlcy._runtime.checks cimport (
    append_size, append_sizes, ceil_div, checked_add, checked_mul, floor_div, floor_mod, product, tensor_holds,
)
from dmlcy._runtime.compiled cimport CompiledOperator, as_computed, describe, match, take_vectorcalls, unchanged
from dmlcy._runtime.half cimport dmlcy_float_of_half, dmlcy_float_to_half, dmlcy_half_of_float
from dmlcy._runtime.level cimport current_level
from dmlcy._runtime.moves cimport (
    dmlcy_split_3_1, dmlcy_split_3_2, dmlcy_split_3_4, dmlcy_turn_1, dmlcy_turn_2, dmlcy_turn_4, dmlcy_turn_8,
    DMLCY_TURNS,
)
from dmlcy._runtime.recording cimport current_recordings, packed, tuple_of
from dmlcy._runtime.copy cimport dmlcy_copy
from dmlcy._runtime.isa cimport dmlcy_wide
from dmlcy._runtime.tensor cimport (
    MAX_RANK, Tensor, aligned, as_array, bytes_of, is_brief, new_array, out_array, overlap, overlaps_itself, set_rank,
    view, write_back,
)
from dmlcy._runtime.threads cimport SERIAL_BYTES, Work, grain_of, parallel_for


# Adding columns where the window that they come from lies. Each element of the output takes its elements of the input,
# in the order of the window elements ("taps"), row-major: nothing is written twice, and no thread waits for another.
#
# A row of the output is made at once. Along it, positions whose distance is a multiple of the stride lie under the same
# taps: they are a class. To the elements of a class that follow each other a tap adds elements of the input that follow
# each other, positions of the window ("blocks"). So for a class a tap is a run of the input, and runs are added side
# by side.

cdef enum:
    RUNS = 32                       # that are added at once
    MOST = 1024                     # elements of a row that are made at once
    CLASSES = 64                    # of a row that is woven of them, at most

# isa.h says what becomes of functions that are declared so: they take a ScatterSum.
cdef extern from "isa.h" nogil:
    """
    static void scatter_double_add_wide(void const *, double *) DMLCY_WIDE;
    static void scatter_float_add_wide(void const *, float *) DMLCY_WIDE;
    static void scatter_half_add_wide(void const *, float *) DMLCY_WIDE;
    static void scatter_uint64_t_add_wide(void const *, uint64_t *) DMLCY_WIDE;
    static void scatter_uint32_t_add_wide(void const *, uint32_t *) DMLCY_WIDE;
    static void scatter_uint16_t_add_wide(void const *, uint16_t *) DMLCY_WIDE;
    static void scatter_uint8_t_add_wide(void const *, uint8_t *) DMLCY_WIDE;
    """

cdef struct WindowScatter:
    Tensor input                    # N, C * prod(window), prod(blocks)
    Tensor output                   # N, C, then the spatial axes
    int spatial                     # 1 to 6
    int64_t window[MAX_RANK]        # by spatial axis
    int64_t strides[MAX_RANK]
    int64_t dilations[MAX_RANK]
    int64_t start[MAX_RANK]
    int64_t blocks[MAX_RANK]

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
    int64_t back                    # blocks from one such tap back to the next one
    int64_t next_step               # bytes from what the one gives to a position to what the next one gives

cdef struct ScatterPlan:
    const char* input
    char* output
    int64_t channels
    int64_t input_steps[2]          # bytes between items of the batch, and between channels
    int64_t output_steps[2]
    int last                        # the last of the axes
    ScatterAxis axes[MAX_RANK]
    int64_t rows                    # of a channel
    bint side_by_side               # along a row windows touch each other, without padding
    int64_t tap_at[CLASSES]         # then: bytes from the first tap of a row to each

# Where elements of a class lie under a tap: position rest + n * stride of the padded axis takes block n + shift.
cdef struct ScatterClass:
    bint reached                    # by some tap
    int64_t tap                     # the first one; the others follow at each period
    int64_t shift

# Runs that wait to be added.
cdef struct ScatterSum:
    int count
    bint fresh                      # nothing has been added yet
    int64_t size                    # elements
    int64_t step                    # bytes of the input between them
    const char* run[RUNS]
    int64_t begin[RUNS]             # of the elements, those that a run has
    int64_t end[RUNS]


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


# The class of the positions that lie `rest` behind a multiple of the stride.
cdef void go_to_class(const ScatterAxis* axis, int64_t rest, ScatterClass* found) noexcept nogil:
    found.tap = first_tap(axis, rest)
    found.shift = 0
    found.reached = rest % axis.common == 0 and found.tap < axis.window
    if found.reached:
        found.shift = (rest - found.tap * axis.dilation) // axis.stride


cdef void collect_axes(ScatterPlan* plan, const WindowScatter* a) noexcept nogil:
    cdef int64_t taps = a.input.strides[1]
    cdef int64_t blocks = a.input.strides[2]
    cdef int64_t rest, divisor
    cdef ScatterAxis* axis
    cdef int d
    plan.last = a.spatial - 1
    plan.rows = 1
    for d in range(plan.last, -1, -1):
        axis = &plan.axes[d]
        axis.size = a.output.sizes[2 + d]
        axis.output_step = a.output.strides[2 + d]
        axis.window = a.window[d]
        axis.stride = a.strides[d]
        axis.dilation = a.dilations[d]
        axis.start = a.start[d]
        axis.blocks = a.blocks[d]
        axis.tap_step = taps
        axis.block_step = blocks
        taps *= axis.window
        blocks *= axis.blocks
        if d < plan.last:
            plan.rows *= axis.size
        axis.common = axis.stride
        rest = axis.dilation
        while rest > 0:
            divisor = rest
            rest = axis.common % rest
            axis.common = divisor
        axis.period = axis.stride // axis.common
        axis.inverse = inverse_of(axis.dilation // axis.common % axis.period, axis.period)
        axis.back = axis.dilation // axis.common
        axis.next_step = 0
        if axis.period < axis.window:
            axis.next_step = axis.period * axis.tap_step - axis.back * axis.block_step
    plan.input_steps[1] = taps
    axis = &plan.axes[plan.last]
    plan.side_by_side = (
        axis.stride == axis.window and 1 < axis.stride <= CLASSES and axis.dilation == 1 and axis.start == 0
        and axis.blocks * axis.stride <= axis.size)
    for d in range(<int> min(axis.window, CLASSES)):
        plan.tap_at[d] = d * axis.tap_step


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

ctypedef void (*Gather)(const char* source, int64_t row_step, int64_t step, char* target, int64_t pitch, int64_t rows,
                        int64_t count) noexcept nogil
ctypedef void (*Transpose)(const char* source, const int64_t* rows, int64_t height, int64_t width, char* target,
                           int64_t pitch) noexcept nogil

# The loops for one size of elements.
cdef struct Moves:
    Gather gather
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


ctypedef void (*scatter_double_Add)(const void* sum, double* sums) noexcept nogil


# Puts results where they belong: of accumulators, or of elements.
cdef void scatter_double_put(char* output, int64_t step, const double* sums, int64_t size) noexcept nogil:
    cdef int64_t i
    for i in range(size):
        (<double*> (output + i * step))[0] = (sums[i])


cdef void scatter_double_lay(char* output, int64_t step, const double* line, int64_t size) noexcept nogil:
    cdef int64_t i
    if step == sizeof(double):
        dmlcy_copy(output, <const char*> line, size * step)
        return
    for i in range(size):
        (<double*> (output + i * step))[0] = line[i]


# Adds runs whose elements are apart, or short ones.
cdef void scatter_double_apart(const ScatterSum* sum, double* sums, int64_t begin, int64_t end) noexcept nogil:
    cdef int64_t i
    cdef const char* run
    cdef int n
    if sum.fresh:
        for i in range(begin, end):
            sums[i] = 0
    for n in range(sum.count):
        run = sum.run[n]
        for i in range(max(begin, sum.begin[n]), min(end, sum.end[n])):
            sums[i] += ((<const double*> (run + i * sum.step))[0])


cdef void scatter_double_add "scatter_double_add"(const void* args, double* sums) noexcept nogil:
    cdef const ScatterSum* sum = <const ScatterSum*> args
    cdef int64_t block = sizeof(dmlcy_double_block) // sizeof(double)
    cdef int64_t begin = 0
    cdef int64_t end = sum.size
    cdef int64_t i
    cdef dmlcy_double_block a, b, c, d
    cdef const double* run
    cdef int n
    for n in range(sum.count):
        begin = max(begin, sum.begin[n])
        end = min(end, sum.end[n])
    if sum.step != sizeof(double) or end - begin < block:
        scatter_double_apart(sum, sums, 0, sum.size)
        return
    scatter_double_apart(sum, sums, 0, begin)
    scatter_double_apart(sum, sums, end, sum.size)
    i = begin
    while i + 4 * block <= end:
        if sum.fresh:
            a = b = c = d = dmlcy_each_double(0)
        else:
            a = dmlcy_load_double(sums + i)
            b = dmlcy_load_double(sums + i + block)
            c = dmlcy_load_double(sums + i + 2 * block)
            d = dmlcy_load_double(sums + i + 3 * block)
        for n in range(sum.count):
            run = <const double*> sum.run[n] + i
            a = a + dmlcy_load_double(run)
            b = b + dmlcy_load_double(run + block)
            c = c + dmlcy_load_double(run + 2 * block)
            d = d + dmlcy_load_double(run + 3 * block)
        dmlcy_store_double(sums + i, a)
        dmlcy_store_double(sums + i + block, b)
        dmlcy_store_double(sums + i + 2 * block, c)
        dmlcy_store_double(sums + i + 3 * block, d)
        i += 4 * block
    while i + block <= end:
        a = dmlcy_each_double(0) if sum.fresh else dmlcy_load_double(sums + i)
        for n in range(sum.count):
            a = a + dmlcy_load_double(<const double*> sum.run[n] + i)
        dmlcy_store_double(sums + i, a)
        i += block
    if i < end and sum.fresh:           # some elements a second time
        i = end - block
        a = dmlcy_each_double(0)
        for n in range(sum.count):
            a = a + dmlcy_load_double(<const double*> sum.run[n] + i)
        dmlcy_store_double(sums + i, a)
    elif i < end:
        scatter_double_apart(sum, sums, i, end)


cdef void scatter_double_add_wide "scatter_double_add_wide"(const void* args, double* sums) noexcept nogil:
    cdef const ScatterSum* sum = <const ScatterSum*> args
    cdef int64_t block = sizeof(dmlcy_double_block) // sizeof(double)
    cdef int64_t begin = 0
    cdef int64_t end = sum.size
    cdef int64_t i
    cdef dmlcy_double_block a, b, c, d
    cdef const double* run
    cdef int n
    for n in range(sum.count):
        begin = max(begin, sum.begin[n])
        end = min(end, sum.end[n])
    if sum.step != sizeof(double) or end - begin < block:
        scatter_double_apart(sum, sums, 0, sum.size)
        return
    scatter_double_apart(sum, sums, 0, begin)
    scatter_double_apart(sum, sums, end, sum.size)
    i = begin
    while i + 4 * block <= end:
        if sum.fresh:
            a = b = c = d = dmlcy_each_double(0)
        else:
            a = dmlcy_load_double(sums + i)
            b = dmlcy_load_double(sums + i + block)
            c = dmlcy_load_double(sums + i + 2 * block)
            d = dmlcy_load_double(sums + i + 3 * block)
        for n in range(sum.count):
            run = <const double*> sum.run[n] + i
            a = a + dmlcy_load_double(run)
            b = b + dmlcy_load_double(run + block)
            c = c + dmlcy_load_double(run + 2 * block)
            d = d + dmlcy_load_double(run + 3 * block)
        dmlcy_store_double(sums + i, a)
        dmlcy_store_double(sums + i + block, b)
        dmlcy_store_double(sums + i + 2 * block, c)
        dmlcy_store_double(sums + i + 3 * block, d)
        i += 4 * block
    while i + block <= end:
        a = dmlcy_each_double(0) if sum.fresh else dmlcy_load_double(sums + i)
        for n in range(sum.count):
            a = a + dmlcy_load_double(<const double*> sum.run[n] + i)
        dmlcy_store_double(sums + i, a)
        i += block
    if i < end and sum.fresh:           # some elements a second time
        i = end - block
        a = dmlcy_each_double(0)
        for n in range(sum.count):
            a = a + dmlcy_load_double(<const double*> sum.run[n] + i)
        dmlcy_store_double(sums + i, a)
    elif i < end:
        scatter_double_apart(sum, sums, i, end)


# Elements of a class in a row of the output, from position `low` + n * stride on; `tap` are the taps of the other axes.
cdef void scatter_double_class(
        const ScatterPlan* plan, const ScatterClass* found, int64_t begin, int64_t size, const char* input,
        const int64_t* firsts, const int64_t* ends, bint reached, ScatterSum* sum, scatter_double_Add add,
        double* sums) noexcept nogil:
    cdef const ScatterAxis* columns = &plan.axes[plan.last]
    cdef int64_t tap[MAX_RANK]
    cdef int64_t t, block, skipped
    cdef const char* from_
    cdef int d
    sum.count = 0
    sum.fresh = True
    sum.size = size
    for d in range(plan.last):
        tap[d] = firsts[d]
    while reached:
        t = found.tap
        block = begin + found.shift
        if block >= columns.blocks:
            skipped = ceil_div(block - columns.blocks + 1, columns.back)
            t += skipped * columns.period
            block -= skipped * columns.back
        from_ = input + t * columns.tap_step + block * columns.block_step
        while t < columns.window and block + size > 0:
            if sum.count == RUNS:
                add(sum, sums)
                sum.count = 0
                sum.fresh = False
            sum.run[sum.count] = from_
            sum.begin[sum.count] = max(0, -block)
            sum.end[sum.count] = min(size, columns.blocks - block)
            sum.count += 1
            t += columns.period
            block -= columns.back
            from_ += columns.next_step
        d = plan.last - 1
        while d >= 0:
            tap[d] += plan.axes[d].period
            input += plan.axes[d].next_step
            if tap[d] < ends[d]:
                break
            input -= (tap[d] - firsts[d]) // plan.axes[d].period * plan.axes[d].next_step
            tap[d] = firsts[d]
            d -= 1
        reached = d >= 0
    add(sum, sums)


# A row under windows that lie side by side: each position takes one element, or none.
cdef void scatter_double_side_by_side(const ScatterPlan* plan, const char* input, char* output) noexcept nogil:
    cdef const ScatterAxis* columns = &plan.axes[plan.last]
    cdef double* row = <double*> output
    cdef int64_t covered = columns.blocks * columns.stride
    cdef int64_t i
    weave_8(input, plan.tap_at, columns.stride, columns.blocks, output)
    for i in range(covered):            # of -0
        row[i] += 0
    for i in range(covered, columns.size):
        row[i] = 0


# A row of the output, of all classes: so many elements of each, then these in turn.
cdef void scatter_double_woven(
        const ScatterPlan* plan, const ScatterClass* classes, const char* input, const int64_t* firsts,
        const int64_t* ends, bint reached, ScatterSum* sum, scatter_double_Add add, char* output) noexcept nogil:
    cdef const ScatterAxis* columns = &plan.axes[plan.last]
    cdef int64_t stride = columns.stride
    cdef int64_t n = columns.start // stride
    cdef int64_t last = ceil_div(columns.start + columns.size, stride)
    cdef int64_t class_at[CLASSES]
    cdef double sums[MOST]
    cdef double line[MOST]
    cdef int64_t size, rest, q, low, high
    while n < last:
        size = min(last - n, MOST // stride)
        for rest in range(stride):
            class_at[rest] = rest * size * <int64_t> sizeof(double)
            scatter_double_class(
                plan, &classes[rest], n, size, input, firsts, ends, reached and classes[rest].reached, sum, add,
                sums + rest * size)
        weave_8(
            <const char*> sums, class_at, stride, size, <char*> line)
        q = n * stride
        low = max(columns.start, q)
        high = min(columns.start + columns.size, q + size * stride)
        scatter_double_lay(
            output + (low - columns.start) * columns.output_step, columns.output_step, line + (low - q), high - low)
        n += size


cdef int scatter_double_rows(const void* args, int64_t begin, int64_t end) noexcept nogil:
    cdef const ScatterPlan* plan = <const ScatterPlan*> args
    cdef const ScatterAxis* columns = &plan.axes[plan.last]
    cdef const ScatterAxis* axis
    cdef bint flat = columns.output_step == sizeof(double)
    cdef bint direct = True and columns.stride == 1 and flat
    cdef bint side_by_side = plan.side_by_side and flat and columns.block_step == sizeof(double)
    cdef scatter_double_Add add = scatter_double_add_wide if dmlcy_wide() else scatter_double_add
    cdef ScatterClass classes[CLASSES]
    cdef double sums[MOST]
    cdef ScatterSum sum
    cdef ScatterClass found
    cdef int64_t firsts[MAX_RANK]
    cdef int64_t ends[MAX_RANK]
    cdef int64_t number, index, row, q, n, last, size, column
    cdef const char* input
    cdef char* output
    cdef bint reached, once
    cdef int d
    sum.step = columns.block_step
    for q in range(min(columns.stride, CLASSES)):
        go_to_class(columns, q, &classes[q])
    for number in range(begin, end):
        row = number % plan.rows
        index = number // plan.rows
        input = plan.input + index // plan.channels * plan.input_steps[0] + index % plan.channels * plan.input_steps[1]
        output = plan.output + index // plan.channels * plan.output_steps[0]
        output += index % plan.channels * plan.output_steps[1]
        reached = once = True
        for d in range(plan.last - 1, -1, -1):
            axis = &plan.axes[d]
            q = row % axis.size
            row //= axis.size
            output += q * axis.output_step
            q += axis.start
            taps_at(axis, q, &firsts[d], &ends[d])
            once = once and firsts[d] + axis.period >= ends[d]
            if firsts[d] < ends[d]:
                input += firsts[d] * axis.tap_step
                input += (q - firsts[d] * axis.dilation) // axis.stride * axis.block_step
            else:
                reached = False
        if side_by_side and once and reached:
            scatter_double_side_by_side(plan, input, output)
            continue
        if 1 < columns.stride <= CLASSES:
            scatter_double_woven(plan, classes, input, firsts, ends, reached, &sum, add, output)
            continue
        for q in range(columns.start, columns.start + min(columns.stride, columns.size)):
            go_to_class(columns, q % columns.stride, &found)
            n = q // columns.stride
            last = ceil_div(columns.start + columns.size - q % columns.stride, columns.stride)
            while n < last:
                size = min(last - n, MOST)
                column = (q % columns.stride + n * columns.stride - columns.start) * columns.output_step
                if direct:
                    scatter_double_class(
                        plan, &found, n, size, input, firsts, ends, reached and found.reached, &sum, add,
                        <double*> (output + column))
                else:
                    scatter_double_class(
                        plan, &found, n, size, input, firsts, ends, reached and found.reached, &sum, add, sums)
                    scatter_double_put(output + column, columns.stride * columns.output_step, sums, size)
                n += size
    return 0


ctypedef void (*scatter_float_Add)(const void* sum, float* sums) noexcept nogil


# Puts results where they belong: of accumulators, or of elements.
cdef void scatter_float_put(char* output, int64_t step, const float* sums, int64_t size) noexcept nogil:
    cdef int64_t i
    for i in range(size):
        (<float*> (output + i * step))[0] = (sums[i])


cdef void scatter_float_lay(char* output, int64_t step, const float* line, int64_t size) noexcept nogil:
    cdef int64_t i
    if step == sizeof(float):
        dmlcy_copy(output, <const char*> line, size * step)
        return
    for i in range(size):
        (<float*> (output + i * step))[0] = line[i]


# Adds runs whose elements are apart, or short ones.
cdef void scatter_float_apart(const ScatterSum* sum, float* sums, int64_t begin, int64_t end) noexcept nogil:
    cdef int64_t i
    cdef const char* run
    cdef int n
    if sum.fresh:
        for i in range(begin, end):
            sums[i] = 0
    for n in range(sum.count):
        run = sum.run[n]
        for i in range(max(begin, sum.begin[n]), min(end, sum.end[n])):
            sums[i] += ((<const float*> (run + i * sum.step))[0])


cdef void scatter_float_add "scatter_float_add"(const void* args, float* sums) noexcept nogil:
    cdef const ScatterSum* sum = <const ScatterSum*> args
    cdef int64_t block = sizeof(dmlcy_float_block) // sizeof(float)
    cdef int64_t begin = 0
    cdef int64_t end = sum.size
    cdef int64_t i
    cdef dmlcy_float_block a, b, c, d
    cdef const float* run
    cdef int n
    for n in range(sum.count):
        begin = max(begin, sum.begin[n])
        end = min(end, sum.end[n])
    if sum.step != sizeof(float) or end - begin < block:
        scatter_float_apart(sum, sums, 0, sum.size)
        return
    scatter_float_apart(sum, sums, 0, begin)
    scatter_float_apart(sum, sums, end, sum.size)
    i = begin
    while i + 4 * block <= end:
        if sum.fresh:
            a = b = c = d = dmlcy_each_float(0)
        else:
            a = dmlcy_load_float(sums + i)
            b = dmlcy_load_float(sums + i + block)
            c = dmlcy_load_float(sums + i + 2 * block)
            d = dmlcy_load_float(sums + i + 3 * block)
        for n in range(sum.count):
            run = <const float*> sum.run[n] + i
            a = a + dmlcy_load_float(run)
            b = b + dmlcy_load_float(run + block)
            c = c + dmlcy_load_float(run + 2 * block)
            d = d + dmlcy_load_float(run + 3 * block)
        dmlcy_store_float(sums + i, a)
        dmlcy_store_float(sums + i + block, b)
        dmlcy_store_float(sums + i + 2 * block, c)
        dmlcy_store_float(sums + i + 3 * block, d)
        i += 4 * block
    while i + block <= end:
        a = dmlcy_each_float(0) if sum.fresh else dmlcy_load_float(sums + i)
        for n in range(sum.count):
            a = a + dmlcy_load_float(<const float*> sum.run[n] + i)
        dmlcy_store_float(sums + i, a)
        i += block
    if i < end and sum.fresh:           # some elements a second time
        i = end - block
        a = dmlcy_each_float(0)
        for n in range(sum.count):
            a = a + dmlcy_load_float(<const float*> sum.run[n] + i)
        dmlcy_store_float(sums + i, a)
    elif i < end:
        scatter_float_apart(sum, sums, i, end)


cdef void scatter_float_add_wide "scatter_float_add_wide"(const void* args, float* sums) noexcept nogil:
    cdef const ScatterSum* sum = <const ScatterSum*> args
    cdef int64_t block = sizeof(dmlcy_float_block) // sizeof(float)
    cdef int64_t begin = 0
    cdef int64_t end = sum.size
    cdef int64_t i
    cdef dmlcy_float_block a, b, c, d
    cdef const float* run
    cdef int n
    for n in range(sum.count):
        begin = max(begin, sum.begin[n])
        end = min(end, sum.end[n])
    if sum.step != sizeof(float) or end - begin < block:
        scatter_float_apart(sum, sums, 0, sum.size)
        return
    scatter_float_apart(sum, sums, 0, begin)
    scatter_float_apart(sum, sums, end, sum.size)
    i = begin
    while i + 4 * block <= end:
        if sum.fresh:
            a = b = c = d = dmlcy_each_float(0)
        else:
            a = dmlcy_load_float(sums + i)
            b = dmlcy_load_float(sums + i + block)
            c = dmlcy_load_float(sums + i + 2 * block)
            d = dmlcy_load_float(sums + i + 3 * block)
        for n in range(sum.count):
            run = <const float*> sum.run[n] + i
            a = a + dmlcy_load_float(run)
            b = b + dmlcy_load_float(run + block)
            c = c + dmlcy_load_float(run + 2 * block)
            d = d + dmlcy_load_float(run + 3 * block)
        dmlcy_store_float(sums + i, a)
        dmlcy_store_float(sums + i + block, b)
        dmlcy_store_float(sums + i + 2 * block, c)
        dmlcy_store_float(sums + i + 3 * block, d)
        i += 4 * block
    while i + block <= end:
        a = dmlcy_each_float(0) if sum.fresh else dmlcy_load_float(sums + i)
        for n in range(sum.count):
            a = a + dmlcy_load_float(<const float*> sum.run[n] + i)
        dmlcy_store_float(sums + i, a)
        i += block
    if i < end and sum.fresh:           # some elements a second time
        i = end - block
        a = dmlcy_each_float(0)
        for n in range(sum.count):
            a = a + dmlcy_load_float(<const float*> sum.run[n] + i)
        dmlcy_store_float(sums + i, a)
    elif i < end:
        scatter_float_apart(sum, sums, i, end)


# Elements of a class in a row of the output, from position `low` + n * stride on; `tap` are the taps of the other axes.
cdef void scatter_float_class(
        const ScatterPlan* plan, const ScatterClass* found, int64_t begin, int64_t size, const char* input,
        const int64_t* firsts, const int64_t* ends, bint reached, ScatterSum* sum, scatter_float_Add add,
        float* sums) noexcept nogil:
    cdef const ScatterAxis* columns = &plan.axes[plan.last]
    cdef int64_t tap[MAX_RANK]
    cdef int64_t t, block, skipped
    cdef const char* from_
    cdef int d
    sum.count = 0
    sum.fresh = True
    sum.size = size
    for d in range(plan.last):
        tap[d] = firsts[d]
    while reached:
        t = found.tap
        block = begin + found.shift
        if block >= columns.blocks:
            skipped = ceil_div(block - columns.blocks + 1, columns.back)
            t += skipped * columns.period
            block -= skipped * columns.back
        from_ = input + t * columns.tap_step + block * columns.block_step
        while t < columns.window and block + size > 0:
            if sum.count == RUNS:
                add(sum, sums)
                sum.count = 0
                sum.fresh = False
            sum.run[sum.count] = from_
            sum.begin[sum.count] = max(0, -block)
            sum.end[sum.count] = min(size, columns.blocks - block)
            sum.count += 1
            t += columns.period
            block -= columns.back
            from_ += columns.next_step
        d = plan.last - 1
        while d >= 0:
            tap[d] += plan.axes[d].period
            input += plan.axes[d].next_step
            if tap[d] < ends[d]:
                break
            input -= (tap[d] - firsts[d]) // plan.axes[d].period * plan.axes[d].next_step
            tap[d] = firsts[d]
            d -= 1
        reached = d >= 0
    add(sum, sums)


# A row under windows that lie side by side: each position takes one element, or none.
cdef void scatter_float_side_by_side(const ScatterPlan* plan, const char* input, char* output) noexcept nogil:
    cdef const ScatterAxis* columns = &plan.axes[plan.last]
    cdef float* row = <float*> output
    cdef int64_t covered = columns.blocks * columns.stride
    cdef int64_t i
    weave_4(input, plan.tap_at, columns.stride, columns.blocks, output)
    for i in range(covered):            # of -0
        row[i] += 0
    for i in range(covered, columns.size):
        row[i] = 0


# A row of the output, of all classes: so many elements of each, then these in turn.
cdef void scatter_float_woven(
        const ScatterPlan* plan, const ScatterClass* classes, const char* input, const int64_t* firsts,
        const int64_t* ends, bint reached, ScatterSum* sum, scatter_float_Add add, char* output) noexcept nogil:
    cdef const ScatterAxis* columns = &plan.axes[plan.last]
    cdef int64_t stride = columns.stride
    cdef int64_t n = columns.start // stride
    cdef int64_t last = ceil_div(columns.start + columns.size, stride)
    cdef int64_t class_at[CLASSES]
    cdef float sums[MOST]
    cdef float line[MOST]
    cdef int64_t size, rest, q, low, high
    while n < last:
        size = min(last - n, MOST // stride)
        for rest in range(stride):
            class_at[rest] = rest * size * <int64_t> sizeof(float)
            scatter_float_class(
                plan, &classes[rest], n, size, input, firsts, ends, reached and classes[rest].reached, sum, add,
                sums + rest * size)
        weave_4(
            <const char*> sums, class_at, stride, size, <char*> line)
        q = n * stride
        low = max(columns.start, q)
        high = min(columns.start + columns.size, q + size * stride)
        scatter_float_lay(
            output + (low - columns.start) * columns.output_step, columns.output_step, line + (low - q), high - low)
        n += size


cdef int scatter_float_rows(const void* args, int64_t begin, int64_t end) noexcept nogil:
    cdef const ScatterPlan* plan = <const ScatterPlan*> args
    cdef const ScatterAxis* columns = &plan.axes[plan.last]
    cdef const ScatterAxis* axis
    cdef bint flat = columns.output_step == sizeof(float)
    cdef bint direct = True and columns.stride == 1 and flat
    cdef bint side_by_side = plan.side_by_side and flat and columns.block_step == sizeof(float)
    cdef scatter_float_Add add = scatter_float_add_wide if dmlcy_wide() else scatter_float_add
    cdef ScatterClass classes[CLASSES]
    cdef float sums[MOST]
    cdef ScatterSum sum
    cdef ScatterClass found
    cdef int64_t firsts[MAX_RANK]
    cdef int64_t ends[MAX_RANK]
    cdef int64_t number, index, row, q, n, last, size, column
    cdef const char* input
    cdef char* output
    cdef bint reached, once
    cdef int d
    sum.step = columns.block_step
    for q in range(min(columns.stride, CLASSES)):
        go_to_class(columns, q, &classes[q])
    for number in range(begin, end):
        row = number % plan.rows
        index = number // plan.rows
        input = plan.input + index // plan.channels * plan.input_steps[0] + index % plan.channels * plan.input_steps[1]
        output = plan.output + index // plan.channels * plan.output_steps[0]
        output += index % plan.channels * plan.output_steps[1]
        reached = once = True
        for d in range(plan.last - 1, -1, -1):
            axis = &plan.axes[d]
            q = row % axis.size
            row //= axis.size
            output += q * axis.output_step
            q += axis.start
            taps_at(axis, q, &firsts[d], &ends[d])
            once = once and firsts[d] + axis.period >= ends[d]
            if firsts[d] < ends[d]:
                input += firsts[d] * axis.tap_step
                input += (q - firsts[d] * axis.dilation) // axis.stride * axis.block_step
            else:
                reached = False
        if side_by_side and once and reached:
            scatter_float_side_by_side(plan, input, output)
            continue
        if 1 < columns.stride <= CLASSES:
            scatter_float_woven(plan, classes, input, firsts, ends, reached, &sum, add, output)
            continue
        for q in range(columns.start, columns.start + min(columns.stride, columns.size)):
            go_to_class(columns, q % columns.stride, &found)
            n = q // columns.stride
            last = ceil_div(columns.start + columns.size - q % columns.stride, columns.stride)
            while n < last:
                size = min(last - n, MOST)
                column = (q % columns.stride + n * columns.stride - columns.start) * columns.output_step
                if direct:
                    scatter_float_class(
                        plan, &found, n, size, input, firsts, ends, reached and found.reached, &sum, add,
                        <float*> (output + column))
                else:
                    scatter_float_class(
                        plan, &found, n, size, input, firsts, ends, reached and found.reached, &sum, add, sums)
                    scatter_float_put(output + column, columns.stride * columns.output_step, sums, size)
                n += size
    return 0


ctypedef void (*scatter_half_Add)(const void* sum, float* sums) noexcept nogil


# Puts results where they belong: of accumulators, or of elements.
cdef void scatter_half_put(char* output, int64_t step, const float* sums, int64_t size) noexcept nogil:
    cdef int64_t i
    for i in range(size):
        (<uint16_t*> (output + i * step))[0] = dmlcy_half_of_float(sums[i])


cdef void scatter_half_lay(char* output, int64_t step, const uint16_t* line, int64_t size) noexcept nogil:
    cdef int64_t i
    if step == sizeof(uint16_t):
        dmlcy_copy(output, <const char*> line, size * step)
        return
    for i in range(size):
        (<uint16_t*> (output + i * step))[0] = line[i]


# Adds runs whose elements are apart, or short ones.
cdef void scatter_half_apart(const ScatterSum* sum, float* sums, int64_t begin, int64_t end) noexcept nogil:
    cdef int64_t i
    cdef const char* run
    cdef int n
    if sum.fresh:
        for i in range(begin, end):
            sums[i] = 0
    for n in range(sum.count):
        run = sum.run[n]
        for i in range(max(begin, sum.begin[n]), min(end, sum.end[n])):
            sums[i] += dmlcy_float_of_half((<const uint16_t*> (run + i * sum.step))[0])


cdef void scatter_half_add "scatter_half_add"(const void* args, float* sums) noexcept nogil:
    cdef const ScatterSum* sum = <const ScatterSum*> args
    cdef int64_t block = sizeof(dmlcy_float_block) // sizeof(float)
    cdef int64_t begin = 0
    cdef int64_t end = sum.size
    cdef int64_t i
    cdef dmlcy_float_block a, b, c, d
    cdef const uint16_t* run
    cdef int n
    for n in range(sum.count):
        begin = max(begin, sum.begin[n])
        end = min(end, sum.end[n])
    if sum.step != sizeof(uint16_t) or end - begin < block:
        scatter_half_apart(sum, sums, 0, sum.size)
        return
    scatter_half_apart(sum, sums, 0, begin)
    scatter_half_apart(sum, sums, end, sum.size)
    i = begin
    while i + 4 * block <= end:
        if sum.fresh:
            a = b = c = d = dmlcy_each_float(0)
        else:
            a = dmlcy_load_float(sums + i)
            b = dmlcy_load_float(sums + i + block)
            c = dmlcy_load_float(sums + i + 2 * block)
            d = dmlcy_load_float(sums + i + 3 * block)
        for n in range(sum.count):
            run = <const uint16_t*> sum.run[n] + i
            a = a + dmlcy_load_half(run)
            b = b + dmlcy_load_half(run + block)
            c = c + dmlcy_load_half(run + 2 * block)
            d = d + dmlcy_load_half(run + 3 * block)
        dmlcy_store_float(sums + i, a)
        dmlcy_store_float(sums + i + block, b)
        dmlcy_store_float(sums + i + 2 * block, c)
        dmlcy_store_float(sums + i + 3 * block, d)
        i += 4 * block
    while i + block <= end:
        a = dmlcy_each_float(0) if sum.fresh else dmlcy_load_float(sums + i)
        for n in range(sum.count):
            a = a + dmlcy_load_half(<const uint16_t*> sum.run[n] + i)
        dmlcy_store_float(sums + i, a)
        i += block
    if i < end and sum.fresh:           # some elements a second time
        i = end - block
        a = dmlcy_each_float(0)
        for n in range(sum.count):
            a = a + dmlcy_load_half(<const uint16_t*> sum.run[n] + i)
        dmlcy_store_float(sums + i, a)
    elif i < end:
        scatter_half_apart(sum, sums, i, end)


cdef void scatter_half_add_wide "scatter_half_add_wide"(const void* args, float* sums) noexcept nogil:
    cdef const ScatterSum* sum = <const ScatterSum*> args
    cdef int64_t block = sizeof(dmlcy_float_block) // sizeof(float)
    cdef int64_t begin = 0
    cdef int64_t end = sum.size
    cdef int64_t i
    cdef dmlcy_float_block a, b, c, d
    cdef const uint16_t* run
    cdef int n
    for n in range(sum.count):
        begin = max(begin, sum.begin[n])
        end = min(end, sum.end[n])
    if sum.step != sizeof(uint16_t) or end - begin < block:
        scatter_half_apart(sum, sums, 0, sum.size)
        return
    scatter_half_apart(sum, sums, 0, begin)
    scatter_half_apart(sum, sums, end, sum.size)
    i = begin
    while i + 4 * block <= end:
        if sum.fresh:
            a = b = c = d = dmlcy_each_float(0)
        else:
            a = dmlcy_load_float(sums + i)
            b = dmlcy_load_float(sums + i + block)
            c = dmlcy_load_float(sums + i + 2 * block)
            d = dmlcy_load_float(sums + i + 3 * block)
        for n in range(sum.count):
            run = <const uint16_t*> sum.run[n] + i
            a = a + dmlcy_load_half_wide(run)
            b = b + dmlcy_load_half_wide(run + block)
            c = c + dmlcy_load_half_wide(run + 2 * block)
            d = d + dmlcy_load_half_wide(run + 3 * block)
        dmlcy_store_float(sums + i, a)
        dmlcy_store_float(sums + i + block, b)
        dmlcy_store_float(sums + i + 2 * block, c)
        dmlcy_store_float(sums + i + 3 * block, d)
        i += 4 * block
    while i + block <= end:
        a = dmlcy_each_float(0) if sum.fresh else dmlcy_load_float(sums + i)
        for n in range(sum.count):
            a = a + dmlcy_load_half_wide(<const uint16_t*> sum.run[n] + i)
        dmlcy_store_float(sums + i, a)
        i += block
    if i < end and sum.fresh:           # some elements a second time
        i = end - block
        a = dmlcy_each_float(0)
        for n in range(sum.count):
            a = a + dmlcy_load_half_wide(<const uint16_t*> sum.run[n] + i)
        dmlcy_store_float(sums + i, a)
    elif i < end:
        scatter_half_apart(sum, sums, i, end)


# Elements of a class in a row of the output, from position `low` + n * stride on; `tap` are the taps of the other axes.
cdef void scatter_half_class(
        const ScatterPlan* plan, const ScatterClass* found, int64_t begin, int64_t size, const char* input,
        const int64_t* firsts, const int64_t* ends, bint reached, ScatterSum* sum, scatter_half_Add add,
        float* sums) noexcept nogil:
    cdef const ScatterAxis* columns = &plan.axes[plan.last]
    cdef int64_t tap[MAX_RANK]
    cdef int64_t t, block, skipped
    cdef const char* from_
    cdef int d
    sum.count = 0
    sum.fresh = True
    sum.size = size
    for d in range(plan.last):
        tap[d] = firsts[d]
    while reached:
        t = found.tap
        block = begin + found.shift
        if block >= columns.blocks:
            skipped = ceil_div(block - columns.blocks + 1, columns.back)
            t += skipped * columns.period
            block -= skipped * columns.back
        from_ = input + t * columns.tap_step + block * columns.block_step
        while t < columns.window and block + size > 0:
            if sum.count == RUNS:
                add(sum, sums)
                sum.count = 0
                sum.fresh = False
            sum.run[sum.count] = from_
            sum.begin[sum.count] = max(0, -block)
            sum.end[sum.count] = min(size, columns.blocks - block)
            sum.count += 1
            t += columns.period
            block -= columns.back
            from_ += columns.next_step
        d = plan.last - 1
        while d >= 0:
            tap[d] += plan.axes[d].period
            input += plan.axes[d].next_step
            if tap[d] < ends[d]:
                break
            input -= (tap[d] - firsts[d]) // plan.axes[d].period * plan.axes[d].next_step
            tap[d] = firsts[d]
            d -= 1
        reached = d >= 0
    add(sum, sums)


# A row under windows that lie side by side: each position takes one element, or none.
cdef void scatter_half_side_by_side(const ScatterPlan* plan, const char* input, char* output) noexcept nogil:
    cdef const ScatterAxis* columns = &plan.axes[plan.last]
    cdef uint16_t* row = <uint16_t*> output
    cdef int64_t covered = columns.blocks * columns.stride
    cdef int64_t i
    weave_2(input, plan.tap_at, columns.stride, columns.blocks, output)
    for i in range(covered):            # as 0 + -0
        row[i] = 0 if row[i] == 0x8000 else row[i]
    for i in range(covered, columns.size):
        row[i] = 0


# A row of the output, of all classes: so many elements of each, then these in turn.
cdef void scatter_half_woven(
        const ScatterPlan* plan, const ScatterClass* classes, const char* input, const int64_t* firsts,
        const int64_t* ends, bint reached, ScatterSum* sum, scatter_half_Add add, char* output) noexcept nogil:
    cdef const ScatterAxis* columns = &plan.axes[plan.last]
    cdef int64_t stride = columns.stride
    cdef int64_t n = columns.start // stride
    cdef int64_t last = ceil_div(columns.start + columns.size, stride)
    cdef int64_t class_at[CLASSES]
    cdef float sums[MOST]
    cdef uint16_t line[MOST]
    cdef uint16_t narrowed[MOST]
    cdef int64_t size, rest, q, low, high
    while n < last:
        size = min(last - n, MOST // stride)
        for rest in range(stride):
            class_at[rest] = rest * size * <int64_t> sizeof(uint16_t)
            scatter_half_class(
                plan, &classes[rest], n, size, input, firsts, ends, reached and classes[rest].reached, sum, add,
                sums + rest * size)
        dmlcy_float_to_half(sums, narrowed, sizeof(uint16_t), size * stride)
        weave_2(
            <const char*> narrowed, class_at, stride, size, <char*> line)
        q = n * stride
        low = max(columns.start, q)
        high = min(columns.start + columns.size, q + size * stride)
        scatter_half_lay(
            output + (low - columns.start) * columns.output_step, columns.output_step, line + (low - q), high - low)
        n += size


cdef int scatter_half_rows(const void* args, int64_t begin, int64_t end) noexcept nogil:
    cdef const ScatterPlan* plan = <const ScatterPlan*> args
    cdef const ScatterAxis* columns = &plan.axes[plan.last]
    cdef const ScatterAxis* axis
    cdef bint flat = columns.output_step == sizeof(uint16_t)
    cdef bint direct = False and columns.stride == 1 and flat
    cdef bint side_by_side = plan.side_by_side and flat and columns.block_step == sizeof(uint16_t)
    cdef scatter_half_Add add = scatter_half_add_wide if dmlcy_wide() else scatter_half_add
    cdef ScatterClass classes[CLASSES]
    cdef float sums[MOST]
    cdef ScatterSum sum
    cdef ScatterClass found
    cdef int64_t firsts[MAX_RANK]
    cdef int64_t ends[MAX_RANK]
    cdef int64_t number, index, row, q, n, last, size, column
    cdef const char* input
    cdef char* output
    cdef bint reached, once
    cdef int d
    sum.step = columns.block_step
    for q in range(min(columns.stride, CLASSES)):
        go_to_class(columns, q, &classes[q])
    for number in range(begin, end):
        row = number % plan.rows
        index = number // plan.rows
        input = plan.input + index // plan.channels * plan.input_steps[0] + index % plan.channels * plan.input_steps[1]
        output = plan.output + index // plan.channels * plan.output_steps[0]
        output += index % plan.channels * plan.output_steps[1]
        reached = once = True
        for d in range(plan.last - 1, -1, -1):
            axis = &plan.axes[d]
            q = row % axis.size
            row //= axis.size
            output += q * axis.output_step
            q += axis.start
            taps_at(axis, q, &firsts[d], &ends[d])
            once = once and firsts[d] + axis.period >= ends[d]
            if firsts[d] < ends[d]:
                input += firsts[d] * axis.tap_step
                input += (q - firsts[d] * axis.dilation) // axis.stride * axis.block_step
            else:
                reached = False
        if side_by_side and once and reached:
            scatter_half_side_by_side(plan, input, output)
            continue
        if 1 < columns.stride <= CLASSES:
            scatter_half_woven(plan, classes, input, firsts, ends, reached, &sum, add, output)
            continue
        for q in range(columns.start, columns.start + min(columns.stride, columns.size)):
            go_to_class(columns, q % columns.stride, &found)
            n = q // columns.stride
            last = ceil_div(columns.start + columns.size - q % columns.stride, columns.stride)
            while n < last:
                size = min(last - n, MOST)
                column = (q % columns.stride + n * columns.stride - columns.start) * columns.output_step
                if direct:
                    scatter_half_class(
                        plan, &found, n, size, input, firsts, ends, reached and found.reached, &sum, add,
                        <float*> (output + column))
                else:
                    scatter_half_class(
                        plan, &found, n, size, input, firsts, ends, reached and found.reached, &sum, add, sums)
                    scatter_half_put(output + column, columns.stride * columns.output_step, sums, size)
                n += size
    return 0


ctypedef void (*scatter_uint64_t_Add)(const void* sum, uint64_t* sums) noexcept nogil


# Puts results where they belong: of accumulators, or of elements.
cdef void scatter_uint64_t_put(char* output, int64_t step, const uint64_t* sums, int64_t size) noexcept nogil:
    cdef int64_t i
    for i in range(size):
        (<uint64_t*> (output + i * step))[0] = (sums[i])


cdef void scatter_uint64_t_lay(char* output, int64_t step, const uint64_t* line, int64_t size) noexcept nogil:
    cdef int64_t i
    if step == sizeof(uint64_t):
        dmlcy_copy(output, <const char*> line, size * step)
        return
    for i in range(size):
        (<uint64_t*> (output + i * step))[0] = line[i]


# Adds runs whose elements are apart, or short ones.
cdef void scatter_uint64_t_apart(const ScatterSum* sum, uint64_t* sums, int64_t begin, int64_t end) noexcept nogil:
    cdef int64_t i
    cdef const char* run
    cdef int n
    if sum.fresh:
        for i in range(begin, end):
            sums[i] = 0
    for n in range(sum.count):
        run = sum.run[n]
        for i in range(max(begin, sum.begin[n]), min(end, sum.end[n])):
            sums[i] += ((<const uint64_t*> (run + i * sum.step))[0])


cdef void scatter_uint64_t_add "scatter_uint64_t_add"(const void* args, uint64_t* sums) noexcept nogil:
    cdef const ScatterSum* sum = <const ScatterSum*> args
    cdef int64_t block = sizeof(dmlcy_uint64_t_block) // sizeof(uint64_t)
    cdef int64_t begin = 0
    cdef int64_t end = sum.size
    cdef int64_t i
    cdef dmlcy_uint64_t_block a, b, c, d
    cdef const uint64_t* run
    cdef int n
    for n in range(sum.count):
        begin = max(begin, sum.begin[n])
        end = min(end, sum.end[n])
    if sum.step != sizeof(uint64_t) or end - begin < block:
        scatter_uint64_t_apart(sum, sums, 0, sum.size)
        return
    scatter_uint64_t_apart(sum, sums, 0, begin)
    scatter_uint64_t_apart(sum, sums, end, sum.size)
    i = begin
    while i + 4 * block <= end:
        if sum.fresh:
            a = b = c = d = dmlcy_each_uint64_t(0)
        else:
            a = dmlcy_load_uint64_t(sums + i)
            b = dmlcy_load_uint64_t(sums + i + block)
            c = dmlcy_load_uint64_t(sums + i + 2 * block)
            d = dmlcy_load_uint64_t(sums + i + 3 * block)
        for n in range(sum.count):
            run = <const uint64_t*> sum.run[n] + i
            a = a + dmlcy_load_uint64_t(run)
            b = b + dmlcy_load_uint64_t(run + block)
            c = c + dmlcy_load_uint64_t(run + 2 * block)
            d = d + dmlcy_load_uint64_t(run + 3 * block)
        dmlcy_store_uint64_t(sums + i, a)
        dmlcy_store_uint64_t(sums + i + block, b)
        dmlcy_store_uint64_t(sums + i + 2 * block, c)
        dmlcy_store_uint64_t(sums + i + 3 * block, d)
        i += 4 * block
    while i + block <= end:
        a = dmlcy_each_uint64_t(0) if sum.fresh else dmlcy_load_uint64_t(sums + i)
        for n in range(sum.count):
            a = a + dmlcy_load_uint64_t(<const uint64_t*> sum.run[n] + i)
        dmlcy_store_uint64_t(sums + i, a)
        i += block
    if i < end and sum.fresh:           # some elements a second time
        i = end - block
        a = dmlcy_each_uint64_t(0)
        for n in range(sum.count):
            a = a + dmlcy_load_uint64_t(<const uint64_t*> sum.run[n] + i)
        dmlcy_store_uint64_t(sums + i, a)
    elif i < end:
        scatter_uint64_t_apart(sum, sums, i, end)


cdef void scatter_uint64_t_add_wide "scatter_uint64_t_add_wide"(const void* args, uint64_t* sums) noexcept nogil:
    cdef const ScatterSum* sum = <const ScatterSum*> args
    cdef int64_t block = sizeof(dmlcy_uint64_t_block) // sizeof(uint64_t)
    cdef int64_t begin = 0
    cdef int64_t end = sum.size
    cdef int64_t i
    cdef dmlcy_uint64_t_block a, b, c, d
    cdef const uint64_t* run
    cdef int n
    for n in range(sum.count):
        begin = max(begin, sum.begin[n])
        end = min(end, sum.end[n])
    if sum.step != sizeof(uint64_t) or end - begin < block:
        scatter_uint64_t_apart(sum, sums, 0, sum.size)
        return
    scatter_uint64_t_apart(sum, sums, 0, begin)
    scatter_uint64_t_apart(sum, sums, end, sum.size)
    i = begin
    while i + 4 * block <= end:
        if sum.fresh:
            a = b = c = d = dmlcy_each_uint64_t(0)
        else:
            a = dmlcy_load_uint64_t(sums + i)
            b = dmlcy_load_uint64_t(sums + i + block)
            c = dmlcy_load_uint64_t(sums + i + 2 * block)
            d = dmlcy_load_uint64_t(sums + i + 3 * block)
        for n in range(sum.count):
            run = <const uint64_t*> sum.run[n] + i
            a = a + dmlcy_load_uint64_t(run)
            b = b + dmlcy_load_uint64_t(run + block)
            c = c + dmlcy_load_uint64_t(run + 2 * block)
            d = d + dmlcy_load_uint64_t(run + 3 * block)
        dmlcy_store_uint64_t(sums + i, a)
        dmlcy_store_uint64_t(sums + i + block, b)
        dmlcy_store_uint64_t(sums + i + 2 * block, c)
        dmlcy_store_uint64_t(sums + i + 3 * block, d)
        i += 4 * block
    while i + block <= end:
        a = dmlcy_each_uint64_t(0) if sum.fresh else dmlcy_load_uint64_t(sums + i)
        for n in range(sum.count):
            a = a + dmlcy_load_uint64_t(<const uint64_t*> sum.run[n] + i)
        dmlcy_store_uint64_t(sums + i, a)
        i += block
    if i < end and sum.fresh:           # some elements a second time
        i = end - block
        a = dmlcy_each_uint64_t(0)
        for n in range(sum.count):
            a = a + dmlcy_load_uint64_t(<const uint64_t*> sum.run[n] + i)
        dmlcy_store_uint64_t(sums + i, a)
    elif i < end:
        scatter_uint64_t_apart(sum, sums, i, end)


# Elements of a class in a row of the output, from position `low` + n * stride on; `tap` are the taps of the other axes.
cdef void scatter_uint64_t_class(
        const ScatterPlan* plan, const ScatterClass* found, int64_t begin, int64_t size, const char* input,
        const int64_t* firsts, const int64_t* ends, bint reached, ScatterSum* sum, scatter_uint64_t_Add add,
        uint64_t* sums) noexcept nogil:
    cdef const ScatterAxis* columns = &plan.axes[plan.last]
    cdef int64_t tap[MAX_RANK]
    cdef int64_t t, block, skipped
    cdef const char* from_
    cdef int d
    sum.count = 0
    sum.fresh = True
    sum.size = size
    for d in range(plan.last):
        tap[d] = firsts[d]
    while reached:
        t = found.tap
        block = begin + found.shift
        if block >= columns.blocks:
            skipped = ceil_div(block - columns.blocks + 1, columns.back)
            t += skipped * columns.period
            block -= skipped * columns.back
        from_ = input + t * columns.tap_step + block * columns.block_step
        while t < columns.window and block + size > 0:
            if sum.count == RUNS:
                add(sum, sums)
                sum.count = 0
                sum.fresh = False
            sum.run[sum.count] = from_
            sum.begin[sum.count] = max(0, -block)
            sum.end[sum.count] = min(size, columns.blocks - block)
            sum.count += 1
            t += columns.period
            block -= columns.back
            from_ += columns.next_step
        d = plan.last - 1
        while d >= 0:
            tap[d] += plan.axes[d].period
            input += plan.axes[d].next_step
            if tap[d] < ends[d]:
                break
            input -= (tap[d] - firsts[d]) // plan.axes[d].period * plan.axes[d].next_step
            tap[d] = firsts[d]
            d -= 1
        reached = d >= 0
    add(sum, sums)


# A row under windows that lie side by side: each position takes one element, or none.
cdef void scatter_uint64_t_side_by_side(const ScatterPlan* plan, const char* input, char* output) noexcept nogil:
    cdef const ScatterAxis* columns = &plan.axes[plan.last]
    cdef uint64_t* row = <uint64_t*> output
    cdef int64_t covered = columns.blocks * columns.stride
    cdef int64_t i
    weave_8(input, plan.tap_at, columns.stride, columns.blocks, output)
    for i in range(covered, columns.size):
        row[i] = 0


# A row of the output, of all classes: so many elements of each, then these in turn.
cdef void scatter_uint64_t_woven(
        const ScatterPlan* plan, const ScatterClass* classes, const char* input, const int64_t* firsts,
        const int64_t* ends, bint reached, ScatterSum* sum, scatter_uint64_t_Add add, char* output) noexcept nogil:
    cdef const ScatterAxis* columns = &plan.axes[plan.last]
    cdef int64_t stride = columns.stride
    cdef int64_t n = columns.start // stride
    cdef int64_t last = ceil_div(columns.start + columns.size, stride)
    cdef int64_t class_at[CLASSES]
    cdef uint64_t sums[MOST]
    cdef uint64_t line[MOST]
    cdef int64_t size, rest, q, low, high
    while n < last:
        size = min(last - n, MOST // stride)
        for rest in range(stride):
            class_at[rest] = rest * size * <int64_t> sizeof(uint64_t)
            scatter_uint64_t_class(
                plan, &classes[rest], n, size, input, firsts, ends, reached and classes[rest].reached, sum, add,
                sums + rest * size)
        weave_8(
            <const char*> sums, class_at, stride, size, <char*> line)
        q = n * stride
        low = max(columns.start, q)
        high = min(columns.start + columns.size, q + size * stride)
        scatter_uint64_t_lay(
            output + (low - columns.start) * columns.output_step, columns.output_step, line + (low - q), high - low)
        n += size


cdef int scatter_uint64_t_rows(const void* args, int64_t begin, int64_t end) noexcept nogil:
    cdef const ScatterPlan* plan = <const ScatterPlan*> args
    cdef const ScatterAxis* columns = &plan.axes[plan.last]
    cdef const ScatterAxis* axis
    cdef bint flat = columns.output_step == sizeof(uint64_t)
    cdef bint direct = True and columns.stride == 1 and flat
    cdef bint side_by_side = plan.side_by_side and flat and columns.block_step == sizeof(uint64_t)
    cdef scatter_uint64_t_Add add = scatter_uint64_t_add_wide if dmlcy_wide() else scatter_uint64_t_add
    cdef ScatterClass classes[CLASSES]
    cdef uint64_t sums[MOST]
    cdef ScatterSum sum
    cdef ScatterClass found
    cdef int64_t firsts[MAX_RANK]
    cdef int64_t ends[MAX_RANK]
    cdef int64_t number, index, row, q, n, last, size, column
    cdef const char* input
    cdef char* output
    cdef bint reached, once
    cdef int d
    sum.step = columns.block_step
    for q in range(min(columns.stride, CLASSES)):
        go_to_class(columns, q, &classes[q])
    for number in range(begin, end):
        row = number % plan.rows
        index = number // plan.rows
        input = plan.input + index // plan.channels * plan.input_steps[0] + index % plan.channels * plan.input_steps[1]
        output = plan.output + index // plan.channels * plan.output_steps[0]
        output += index % plan.channels * plan.output_steps[1]
        reached = once = True
        for d in range(plan.last - 1, -1, -1):
            axis = &plan.axes[d]
            q = row % axis.size
            row //= axis.size
            output += q * axis.output_step
            q += axis.start
            taps_at(axis, q, &firsts[d], &ends[d])
            once = once and firsts[d] + axis.period >= ends[d]
            if firsts[d] < ends[d]:
                input += firsts[d] * axis.tap_step
                input += (q - firsts[d] * axis.dilation) // axis.stride * axis.block_step
            else:
                reached = False
        if side_by_side and once and reached:
            scatter_uint64_t_side_by_side(plan, input, output)
            continue
        if 1 < columns.stride <= CLASSES:
            scatter_uint64_t_woven(plan, classes, input, firsts, ends, reached, &sum, add, output)
            continue
        for q in range(columns.start, columns.start + min(columns.stride, columns.size)):
            go_to_class(columns, q % columns.stride, &found)
            n = q // columns.stride
            last = ceil_div(columns.start + columns.size - q % columns.stride, columns.stride)
            while n < last:
                size = min(last - n, MOST)
                column = (q % columns.stride + n * columns.stride - columns.start) * columns.output_step
                if direct:
                    scatter_uint64_t_class(
                        plan, &found, n, size, input, firsts, ends, reached and found.reached, &sum, add,
                        <uint64_t*> (output + column))
                else:
                    scatter_uint64_t_class(
                        plan, &found, n, size, input, firsts, ends, reached and found.reached, &sum, add, sums)
                    scatter_uint64_t_put(output + column, columns.stride * columns.output_step, sums, size)
                n += size
    return 0


ctypedef void (*scatter_uint32_t_Add)(const void* sum, uint32_t* sums) noexcept nogil


# Puts results where they belong: of accumulators, or of elements.
cdef void scatter_uint32_t_put(char* output, int64_t step, const uint32_t* sums, int64_t size) noexcept nogil:
    cdef int64_t i
    for i in range(size):
        (<uint32_t*> (output + i * step))[0] = (sums[i])


cdef void scatter_uint32_t_lay(char* output, int64_t step, const uint32_t* line, int64_t size) noexcept nogil:
    cdef int64_t i
    if step == sizeof(uint32_t):
        dmlcy_copy(output, <const char*> line, size * step)
        return
    for i in range(size):
        (<uint32_t*> (output + i * step))[0] = line[i]


# Adds runs whose elements are apart, or short ones.
cdef void scatter_uint32_t_apart(const ScatterSum* sum, uint32_t* sums, int64_t begin, int64_t end) noexcept nogil:
    cdef int64_t i
    cdef const char* run
    cdef int n
    if sum.fresh:
        for i in range(begin, end):
            sums[i] = 0
    for n in range(sum.count):
        run = sum.run[n]
        for i in range(max(begin, sum.begin[n]), min(end, sum.end[n])):
            sums[i] += ((<const uint32_t*> (run + i * sum.step))[0])


cdef void scatter_uint32_t_add "scatter_uint32_t_add"(const void* args, uint32_t* sums) noexcept nogil:
    cdef const ScatterSum* sum = <const ScatterSum*> args
    cdef int64_t block = sizeof(dmlcy_uint32_t_block) // sizeof(uint32_t)
    cdef int64_t begin = 0
    cdef int64_t end = sum.size
    cdef int64_t i
    cdef dmlcy_uint32_t_block a, b, c, d
    cdef const uint32_t* run
    cdef int n
    for n in range(sum.count):
        begin = max(begin, sum.begin[n])
        end = min(end, sum.end[n])
    if sum.step != sizeof(uint32_t) or end - begin < block:
        scatter_uint32_t_apart(sum, sums, 0, sum.size)
        return
    scatter_uint32_t_apart(sum, sums, 0, begin)
    scatter_uint32_t_apart(sum, sums, end, sum.size)
    i = begin
    while i + 4 * block <= end:
        if sum.fresh:
            a = b = c = d = dmlcy_each_uint32_t(0)
        else:
            a = dmlcy_load_uint32_t(sums + i)
            b = dmlcy_load_uint32_t(sums + i + block)
            c = dmlcy_load_uint32_t(sums + i + 2 * block)
            d = dmlcy_load_uint32_t(sums + i + 3 * block)
        for n in range(sum.count):
            run = <const uint32_t*> sum.run[n] + i
            a = a + dmlcy_load_uint32_t(run)
            b = b + dmlcy_load_uint32_t(run + block)
            c = c + dmlcy_load_uint32_t(run + 2 * block)
            d = d + dmlcy_load_uint32_t(run + 3 * block)
        dmlcy_store_uint32_t(sums + i, a)
        dmlcy_store_uint32_t(sums + i + block, b)
        dmlcy_store_uint32_t(sums + i + 2 * block, c)
        dmlcy_store_uint32_t(sums + i + 3 * block, d)
        i += 4 * block
    while i + block <= end:
        a = dmlcy_each_uint32_t(0) if sum.fresh else dmlcy_load_uint32_t(sums + i)
        for n in range(sum.count):
            a = a + dmlcy_load_uint32_t(<const uint32_t*> sum.run[n] + i)
        dmlcy_store_uint32_t(sums + i, a)
        i += block
    if i < end and sum.fresh:           # some elements a second time
        i = end - block
        a = dmlcy_each_uint32_t(0)
        for n in range(sum.count):
            a = a + dmlcy_load_uint32_t(<const uint32_t*> sum.run[n] + i)
        dmlcy_store_uint32_t(sums + i, a)
    elif i < end:
        scatter_uint32_t_apart(sum, sums, i, end)


cdef void scatter_uint32_t_add_wide "scatter_uint32_t_add_wide"(const void* args, uint32_t* sums) noexcept nogil:
    cdef const ScatterSum* sum = <const ScatterSum*> args
    cdef int64_t block = sizeof(dmlcy_uint32_t_block) // sizeof(uint32_t)
    cdef int64_t begin = 0
    cdef int64_t end = sum.size
    cdef int64_t i
    cdef dmlcy_uint32_t_block a, b, c, d
    cdef const uint32_t* run
    cdef int n
    for n in range(sum.count):
        begin = max(begin, sum.begin[n])
        end = min(end, sum.end[n])
    if sum.step != sizeof(uint32_t) or end - begin < block:
        scatter_uint32_t_apart(sum, sums, 0, sum.size)
        return
    scatter_uint32_t_apart(sum, sums, 0, begin)
    scatter_uint32_t_apart(sum, sums, end, sum.size)
    i = begin
    while i + 4 * block <= end:
        if sum.fresh:
            a = b = c = d = dmlcy_each_uint32_t(0)
        else:
            a = dmlcy_load_uint32_t(sums + i)
            b = dmlcy_load_uint32_t(sums + i + block)
            c = dmlcy_load_uint32_t(sums + i + 2 * block)
            d = dmlcy_load_uint32_t(sums + i + 3 * block)
        for n in range(sum.count):
            run = <const uint32_t*> sum.run[n] + i
            a = a + dmlcy_load_uint32_t(run)
            b = b + dmlcy_load_uint32_t(run + block)
            c = c + dmlcy_load_uint32_t(run + 2 * block)
            d = d + dmlcy_load_uint32_t(run + 3 * block)
        dmlcy_store_uint32_t(sums + i, a)
        dmlcy_store_uint32_t(sums + i + block, b)
        dmlcy_store_uint32_t(sums + i + 2 * block, c)
        dmlcy_store_uint32_t(sums + i + 3 * block, d)
        i += 4 * block
    while i + block <= end:
        a = dmlcy_each_uint32_t(0) if sum.fresh else dmlcy_load_uint32_t(sums + i)
        for n in range(sum.count):
            a = a + dmlcy_load_uint32_t(<const uint32_t*> sum.run[n] + i)
        dmlcy_store_uint32_t(sums + i, a)
        i += block
    if i < end and sum.fresh:           # some elements a second time
        i = end - block
        a = dmlcy_each_uint32_t(0)
        for n in range(sum.count):
            a = a + dmlcy_load_uint32_t(<const uint32_t*> sum.run[n] + i)
        dmlcy_store_uint32_t(sums + i, a)
    elif i < end:
        scatter_uint32_t_apart(sum, sums, i, end)


# Elements of a class in a row of the output, from position `low` + n * stride on; `tap` are the taps of the other axes.
cdef void scatter_uint32_t_class(
        const ScatterPlan* plan, const ScatterClass* found, int64_t begin, int64_t size, const char* input,
        const int64_t* firsts, const int64_t* ends, bint reached, ScatterSum* sum, scatter_uint32_t_Add add,
        uint32_t* sums) noexcept nogil:
    cdef const ScatterAxis* columns = &plan.axes[plan.last]
    cdef int64_t tap[MAX_RANK]
    cdef int64_t t, block, skipped
    cdef const char* from_
    cdef int d
    sum.count = 0
    sum.fresh = True
    sum.size = size
    for d in range(plan.last):
        tap[d] = firsts[d]
    while reached:
        t = found.tap
        block = begin + found.shift
        if block >= columns.blocks:
            skipped = ceil_div(block - columns.blocks + 1, columns.back)
            t += skipped * columns.period
            block -= skipped * columns.back
        from_ = input + t * columns.tap_step + block * columns.block_step
        while t < columns.window and block + size > 0:
            if sum.count == RUNS:
                add(sum, sums)
                sum.count = 0
                sum.fresh = False
            sum.run[sum.count] = from_
            sum.begin[sum.count] = max(0, -block)
            sum.end[sum.count] = min(size, columns.blocks - block)
            sum.count += 1
            t += columns.period
            block -= columns.back
            from_ += columns.next_step
        d = plan.last - 1
        while d >= 0:
            tap[d] += plan.axes[d].period
            input += plan.axes[d].next_step
            if tap[d] < ends[d]:
                break
            input -= (tap[d] - firsts[d]) // plan.axes[d].period * plan.axes[d].next_step
            tap[d] = firsts[d]
            d -= 1
        reached = d >= 0
    add(sum, sums)


# A row under windows that lie side by side: each position takes one element, or none.
cdef void scatter_uint32_t_side_by_side(const ScatterPlan* plan, const char* input, char* output) noexcept nogil:
    cdef const ScatterAxis* columns = &plan.axes[plan.last]
    cdef uint32_t* row = <uint32_t*> output
    cdef int64_t covered = columns.blocks * columns.stride
    cdef int64_t i
    weave_4(input, plan.tap_at, columns.stride, columns.blocks, output)
    for i in range(covered, columns.size):
        row[i] = 0


# A row of the output, of all classes: so many elements of each, then these in turn.
cdef void scatter_uint32_t_woven(
        const ScatterPlan* plan, const ScatterClass* classes, const char* input, const int64_t* firsts,
        const int64_t* ends, bint reached, ScatterSum* sum, scatter_uint32_t_Add add, char* output) noexcept nogil:
    cdef const ScatterAxis* columns = &plan.axes[plan.last]
    cdef int64_t stride = columns.stride
    cdef int64_t n = columns.start // stride
    cdef int64_t last = ceil_div(columns.start + columns.size, stride)
    cdef int64_t class_at[CLASSES]
    cdef uint32_t sums[MOST]
    cdef uint32_t line[MOST]
    cdef int64_t size, rest, q, low, high
    while n < last:
        size = min(last - n, MOST // stride)
        for rest in range(stride):
            class_at[rest] = rest * size * <int64_t> sizeof(uint32_t)
            scatter_uint32_t_class(
                plan, &classes[rest], n, size, input, firsts, ends, reached and classes[rest].reached, sum, add,
                sums + rest * size)
        weave_4(
            <const char*> sums, class_at, stride, size, <char*> line)
        q = n * stride
        low = max(columns.start, q)
        high = min(columns.start + columns.size, q + size * stride)
        scatter_uint32_t_lay(
            output + (low - columns.start) * columns.output_step, columns.output_step, line + (low - q), high - low)
        n += size


cdef int scatter_uint32_t_rows(const void* args, int64_t begin, int64_t end) noexcept nogil:
    cdef const ScatterPlan* plan = <const ScatterPlan*> args
    cdef const ScatterAxis* columns = &plan.axes[plan.last]
    cdef const ScatterAxis* axis
    cdef bint flat = columns.output_step == sizeof(uint32_t)
    cdef bint direct = True and columns.stride == 1 and flat
    cdef bint side_by_side = plan.side_by_side and flat and columns.block_step == sizeof(uint32_t)
    cdef scatter_uint32_t_Add add = scatter_uint32_t_add_wide if dmlcy_wide() else scatter_uint32_t_add
    cdef ScatterClass classes[CLASSES]
    cdef uint32_t sums[MOST]
    cdef ScatterSum sum
    cdef ScatterClass found
    cdef int64_t firsts[MAX_RANK]
    cdef int64_t ends[MAX_RANK]
    cdef int64_t number, index, row, q, n, last, size, column
    cdef const char* input
    cdef char* output
    cdef bint reached, once
    cdef int d
    sum.step = columns.block_step
    for q in range(min(columns.stride, CLASSES)):
        go_to_class(columns, q, &classes[q])
    for number in range(begin, end):
        row = number % plan.rows
        index = number // plan.rows
        input = plan.input + index // plan.channels * plan.input_steps[0] + index % plan.channels * plan.input_steps[1]
        output = plan.output + index // plan.channels * plan.output_steps[0]
        output += index % plan.channels * plan.output_steps[1]
        reached = once = True
        for d in range(plan.last - 1, -1, -1):
            axis = &plan.axes[d]
            q = row % axis.size
            row //= axis.size
            output += q * axis.output_step
            q += axis.start
            taps_at(axis, q, &firsts[d], &ends[d])
            once = once and firsts[d] + axis.period >= ends[d]
            if firsts[d] < ends[d]:
                input += firsts[d] * axis.tap_step
                input += (q - firsts[d] * axis.dilation) // axis.stride * axis.block_step
            else:
                reached = False
        if side_by_side and once and reached:
            scatter_uint32_t_side_by_side(plan, input, output)
            continue
        if 1 < columns.stride <= CLASSES:
            scatter_uint32_t_woven(plan, classes, input, firsts, ends, reached, &sum, add, output)
            continue
        for q in range(columns.start, columns.start + min(columns.stride, columns.size)):
            go_to_class(columns, q % columns.stride, &found)
            n = q // columns.stride
            last = ceil_div(columns.start + columns.size - q % columns.stride, columns.stride)
            while n < last:
                size = min(last - n, MOST)
                column = (q % columns.stride + n * columns.stride - columns.start) * columns.output_step
                if direct:
                    scatter_uint32_t_class(
                        plan, &found, n, size, input, firsts, ends, reached and found.reached, &sum, add,
                        <uint32_t*> (output + column))
                else:
                    scatter_uint32_t_class(
                        plan, &found, n, size, input, firsts, ends, reached and found.reached, &sum, add, sums)
                    scatter_uint32_t_put(output + column, columns.stride * columns.output_step, sums, size)
                n += size
    return 0


ctypedef void (*scatter_uint16_t_Add)(const void* sum, uint16_t* sums) noexcept nogil


# Puts results where they belong: of accumulators, or of elements.
cdef void scatter_uint16_t_put(char* output, int64_t step, const uint16_t* sums, int64_t size) noexcept nogil:
    cdef int64_t i
    for i in range(size):
        (<uint16_t*> (output + i * step))[0] = (sums[i])


cdef void scatter_uint16_t_lay(char* output, int64_t step, const uint16_t* line, int64_t size) noexcept nogil:
    cdef int64_t i
    if step == sizeof(uint16_t):
        dmlcy_copy(output, <const char*> line, size * step)
        return
    for i in range(size):
        (<uint16_t*> (output + i * step))[0] = line[i]


# Adds runs whose elements are apart, or short ones.
cdef void scatter_uint16_t_apart(const ScatterSum* sum, uint16_t* sums, int64_t begin, int64_t end) noexcept nogil:
    cdef int64_t i
    cdef const char* run
    cdef int n
    if sum.fresh:
        for i in range(begin, end):
            sums[i] = 0
    for n in range(sum.count):
        run = sum.run[n]
        for i in range(max(begin, sum.begin[n]), min(end, sum.end[n])):
            sums[i] += ((<const uint16_t*> (run + i * sum.step))[0])


cdef void scatter_uint16_t_add "scatter_uint16_t_add"(const void* args, uint16_t* sums) noexcept nogil:
    cdef const ScatterSum* sum = <const ScatterSum*> args
    cdef int64_t block = sizeof(dmlcy_uint16_t_block) // sizeof(uint16_t)
    cdef int64_t begin = 0
    cdef int64_t end = sum.size
    cdef int64_t i
    cdef dmlcy_uint16_t_block a, b, c, d
    cdef const uint16_t* run
    cdef int n
    for n in range(sum.count):
        begin = max(begin, sum.begin[n])
        end = min(end, sum.end[n])
    if sum.step != sizeof(uint16_t) or end - begin < block:
        scatter_uint16_t_apart(sum, sums, 0, sum.size)
        return
    scatter_uint16_t_apart(sum, sums, 0, begin)
    scatter_uint16_t_apart(sum, sums, end, sum.size)
    i = begin
    while i + 4 * block <= end:
        if sum.fresh:
            a = b = c = d = dmlcy_each_uint16_t(0)
        else:
            a = dmlcy_load_uint16_t(sums + i)
            b = dmlcy_load_uint16_t(sums + i + block)
            c = dmlcy_load_uint16_t(sums + i + 2 * block)
            d = dmlcy_load_uint16_t(sums + i + 3 * block)
        for n in range(sum.count):
            run = <const uint16_t*> sum.run[n] + i
            a = a + dmlcy_load_uint16_t(run)
            b = b + dmlcy_load_uint16_t(run + block)
            c = c + dmlcy_load_uint16_t(run + 2 * block)
            d = d + dmlcy_load_uint16_t(run + 3 * block)
        dmlcy_store_uint16_t(sums + i, a)
        dmlcy_store_uint16_t(sums + i + block, b)
        dmlcy_store_uint16_t(sums + i + 2 * block, c)
        dmlcy_store_uint16_t(sums + i + 3 * block, d)
        i += 4 * block
    while i + block <= end:
        a = dmlcy_each_uint16_t(0) if sum.fresh else dmlcy_load_uint16_t(sums + i)
        for n in range(sum.count):
            a = a + dmlcy_load_uint16_t(<const uint16_t*> sum.run[n] + i)
        dmlcy_store_uint16_t(sums + i, a)
        i += block
    if i < end and sum.fresh:           # some elements a second time
        i = end - block
        a = dmlcy_each_uint16_t(0)
        for n in range(sum.count):
            a = a + dmlcy_load_uint16_t(<const uint16_t*> sum.run[n] + i)
        dmlcy_store_uint16_t(sums + i, a)
    elif i < end:
        scatter_uint16_t_apart(sum, sums, i, end)


cdef void scatter_uint16_t_add_wide "scatter_uint16_t_add_wide"(const void* args, uint16_t* sums) noexcept nogil:
    cdef const ScatterSum* sum = <const ScatterSum*> args
    cdef int64_t block = sizeof(dmlcy_uint16_t_block) // sizeof(uint16_t)
    cdef int64_t begin = 0
    cdef int64_t end = sum.size
    cdef int64_t i
    cdef dmlcy_uint16_t_block a, b, c, d
    cdef const uint16_t* run
    cdef int n
    for n in range(sum.count):
        begin = max(begin, sum.begin[n])
        end = min(end, sum.end[n])
    if sum.step != sizeof(uint16_t) or end - begin < block:
        scatter_uint16_t_apart(sum, sums, 0, sum.size)
        return
    scatter_uint16_t_apart(sum, sums, 0, begin)
    scatter_uint16_t_apart(sum, sums, end, sum.size)
    i = begin
    while i + 4 * block <= end:
        if sum.fresh:
            a = b = c = d = dmlcy_each_uint16_t(0)
        else:
            a = dmlcy_load_uint16_t(sums + i)
            b = dmlcy_load_uint16_t(sums + i + block)
            c = dmlcy_load_uint16_t(sums + i + 2 * block)
            d = dmlcy_load_uint16_t(sums + i + 3 * block)
        for n in range(sum.count):
            run = <const uint16_t*> sum.run[n] + i
            a = a + dmlcy_load_uint16_t(run)
            b = b + dmlcy_load_uint16_t(run + block)
            c = c + dmlcy_load_uint16_t(run + 2 * block)
            d = d + dmlcy_load_uint16_t(run + 3 * block)
        dmlcy_store_uint16_t(sums + i, a)
        dmlcy_store_uint16_t(sums + i + block, b)
        dmlcy_store_uint16_t(sums + i + 2 * block, c)
        dmlcy_store_uint16_t(sums + i + 3 * block, d)
        i += 4 * block
    while i + block <= end:
        a = dmlcy_each_uint16_t(0) if sum.fresh else dmlcy_load_uint16_t(sums + i)
        for n in range(sum.count):
            a = a + dmlcy_load_uint16_t(<const uint16_t*> sum.run[n] + i)
        dmlcy_store_uint16_t(sums + i, a)
        i += block
    if i < end and sum.fresh:           # some elements a second time
        i = end - block
        a = dmlcy_each_uint16_t(0)
        for n in range(sum.count):
            a = a + dmlcy_load_uint16_t(<const uint16_t*> sum.run[n] + i)
        dmlcy_store_uint16_t(sums + i, a)
    elif i < end:
        scatter_uint16_t_apart(sum, sums, i, end)


# Elements of a class in a row of the output, from position `low` + n * stride on; `tap` are the taps of the other axes.
cdef void scatter_uint16_t_class(
        const ScatterPlan* plan, const ScatterClass* found, int64_t begin, int64_t size, const char* input,
        const int64_t* firsts, const int64_t* ends, bint reached, ScatterSum* sum, scatter_uint16_t_Add add,
        uint16_t* sums) noexcept nogil:
    cdef const ScatterAxis* columns = &plan.axes[plan.last]
    cdef int64_t tap[MAX_RANK]
    cdef int64_t t, block, skipped
    cdef const char* from_
    cdef int d
    sum.count = 0
    sum.fresh = True
    sum.size = size
    for d in range(plan.last):
        tap[d] = firsts[d]
    while reached:
        t = found.tap
        block = begin + found.shift
        if block >= columns.blocks:
            skipped = ceil_div(block - columns.blocks + 1, columns.back)
            t += skipped * columns.period
            block -= skipped * columns.back
        from_ = input + t * columns.tap_step + block * columns.block_step
        while t < columns.window and block + size > 0:
            if sum.count == RUNS:
                add(sum, sums)
                sum.count = 0
                sum.fresh = False
            sum.run[sum.count] = from_
            sum.begin[sum.count] = max(0, -block)
            sum.end[sum.count] = min(size, columns.blocks - block)
            sum.count += 1
            t += columns.period
            block -= columns.back
            from_ += columns.next_step
        d = plan.last - 1
        while d >= 0:
            tap[d] += plan.axes[d].period
            input += plan.axes[d].next_step
            if tap[d] < ends[d]:
                break
            input -= (tap[d] - firsts[d]) // plan.axes[d].period * plan.axes[d].next_step
            tap[d] = firsts[d]
            d -= 1
        reached = d >= 0
    add(sum, sums)


# A row under windows that lie side by side: each position takes one element, or none.
cdef void scatter_uint16_t_side_by_side(const ScatterPlan* plan, const char* input, char* output) noexcept nogil:
    cdef const ScatterAxis* columns = &plan.axes[plan.last]
    cdef uint16_t* row = <uint16_t*> output
    cdef int64_t covered = columns.blocks * columns.stride
    cdef int64_t i
    weave_2(input, plan.tap_at, columns.stride, columns.blocks, output)
    for i in range(covered, columns.size):
        row[i] = 0


# A row of the output, of all classes: so many elements of each, then these in turn.
cdef void scatter_uint16_t_woven(
        const ScatterPlan* plan, const ScatterClass* classes, const char* input, const int64_t* firsts,
        const int64_t* ends, bint reached, ScatterSum* sum, scatter_uint16_t_Add add, char* output) noexcept nogil:
    cdef const ScatterAxis* columns = &plan.axes[plan.last]
    cdef int64_t stride = columns.stride
    cdef int64_t n = columns.start // stride
    cdef int64_t last = ceil_div(columns.start + columns.size, stride)
    cdef int64_t class_at[CLASSES]
    cdef uint16_t sums[MOST]
    cdef uint16_t line[MOST]
    cdef int64_t size, rest, q, low, high
    while n < last:
        size = min(last - n, MOST // stride)
        for rest in range(stride):
            class_at[rest] = rest * size * <int64_t> sizeof(uint16_t)
            scatter_uint16_t_class(
                plan, &classes[rest], n, size, input, firsts, ends, reached and classes[rest].reached, sum, add,
                sums + rest * size)
        weave_2(
            <const char*> sums, class_at, stride, size, <char*> line)
        q = n * stride
        low = max(columns.start, q)
        high = min(columns.start + columns.size, q + size * stride)
        scatter_uint16_t_lay(
            output + (low - columns.start) * columns.output_step, columns.output_step, line + (low - q), high - low)
        n += size


cdef int scatter_uint16_t_rows(const void* args, int64_t begin, int64_t end) noexcept nogil:
    cdef const ScatterPlan* plan = <const ScatterPlan*> args
    cdef const ScatterAxis* columns = &plan.axes[plan.last]
    cdef const ScatterAxis* axis
    cdef bint flat = columns.output_step == sizeof(uint16_t)
    cdef bint direct = True and columns.stride == 1 and flat
    cdef bint side_by_side = plan.side_by_side and flat and columns.block_step == sizeof(uint16_t)
    cdef scatter_uint16_t_Add add = scatter_uint16_t_add_wide if dmlcy_wide() else scatter_uint16_t_add
    cdef ScatterClass classes[CLASSES]
    cdef uint16_t sums[MOST]
    cdef ScatterSum sum
    cdef ScatterClass found
    cdef int64_t firsts[MAX_RANK]
    cdef int64_t ends[MAX_RANK]
    cdef int64_t number, index, row, q, n, last, size, column
    cdef const char* input
    cdef char* output
    cdef bint reached, once
    cdef int d
    sum.step = columns.block_step
    for q in range(min(columns.stride, CLASSES)):
        go_to_class(columns, q, &classes[q])
    for number in range(begin, end):
        row = number % plan.rows
        index = number // plan.rows
        input = plan.input + index // plan.channels * plan.input_steps[0] + index % plan.channels * plan.input_steps[1]
        output = plan.output + index // plan.channels * plan.output_steps[0]
        output += index % plan.channels * plan.output_steps[1]
        reached = once = True
        for d in range(plan.last - 1, -1, -1):
            axis = &plan.axes[d]
            q = row % axis.size
            row //= axis.size
            output += q * axis.output_step
            q += axis.start
            taps_at(axis, q, &firsts[d], &ends[d])
            once = once and firsts[d] + axis.period >= ends[d]
            if firsts[d] < ends[d]:
                input += firsts[d] * axis.tap_step
                input += (q - firsts[d] * axis.dilation) // axis.stride * axis.block_step
            else:
                reached = False
        if side_by_side and once and reached:
            scatter_uint16_t_side_by_side(plan, input, output)
            continue
        if 1 < columns.stride <= CLASSES:
            scatter_uint16_t_woven(plan, classes, input, firsts, ends, reached, &sum, add, output)
            continue
        for q in range(columns.start, columns.start + min(columns.stride, columns.size)):
            go_to_class(columns, q % columns.stride, &found)
            n = q // columns.stride
            last = ceil_div(columns.start + columns.size - q % columns.stride, columns.stride)
            while n < last:
                size = min(last - n, MOST)
                column = (q % columns.stride + n * columns.stride - columns.start) * columns.output_step
                if direct:
                    scatter_uint16_t_class(
                        plan, &found, n, size, input, firsts, ends, reached and found.reached, &sum, add,
                        <uint16_t*> (output + column))
                else:
                    scatter_uint16_t_class(
                        plan, &found, n, size, input, firsts, ends, reached and found.reached, &sum, add, sums)
                    scatter_uint16_t_put(output + column, columns.stride * columns.output_step, sums, size)
                n += size
    return 0


ctypedef void (*scatter_uint8_t_Add)(const void* sum, uint8_t* sums) noexcept nogil


# Puts results where they belong: of accumulators, or of elements.
cdef void scatter_uint8_t_put(char* output, int64_t step, const uint8_t* sums, int64_t size) noexcept nogil:
    cdef int64_t i
    for i in range(size):
        (<uint8_t*> (output + i * step))[0] = (sums[i])


cdef void scatter_uint8_t_lay(char* output, int64_t step, const uint8_t* line, int64_t size) noexcept nogil:
    cdef int64_t i
    if step == sizeof(uint8_t):
        dmlcy_copy(output, <const char*> line, size * step)
        return
    for i in range(size):
        (<uint8_t*> (output + i * step))[0] = line[i]


# Adds runs whose elements are apart, or short ones.
cdef void scatter_uint8_t_apart(const ScatterSum* sum, uint8_t* sums, int64_t begin, int64_t end) noexcept nogil:
    cdef int64_t i
    cdef const char* run
    cdef int n
    if sum.fresh:
        for i in range(begin, end):
            sums[i] = 0
    for n in range(sum.count):
        run = sum.run[n]
        for i in range(max(begin, sum.begin[n]), min(end, sum.end[n])):
            sums[i] += ((<const uint8_t*> (run + i * sum.step))[0])


cdef void scatter_uint8_t_add "scatter_uint8_t_add"(const void* args, uint8_t* sums) noexcept nogil:
    cdef const ScatterSum* sum = <const ScatterSum*> args
    cdef int64_t block = sizeof(dmlcy_uint8_t_block) // sizeof(uint8_t)
    cdef int64_t begin = 0
    cdef int64_t end = sum.size
    cdef int64_t i
    cdef dmlcy_uint8_t_block a, b, c, d
    cdef const uint8_t* run
    cdef int n
    for n in range(sum.count):
        begin = max(begin, sum.begin[n])
        end = min(end, sum.end[n])
    if sum.step != sizeof(uint8_t) or end - begin < block:
        scatter_uint8_t_apart(sum, sums, 0, sum.size)
        return
    scatter_uint8_t_apart(sum, sums, 0, begin)
    scatter_uint8_t_apart(sum, sums, end, sum.size)
    i = begin
    while i + 4 * block <= end:
        if sum.fresh:
            a = b = c = d = dmlcy_each_uint8_t(0)
        else:
            a = dmlcy_load_uint8_t(sums + i)
            b = dmlcy_load_uint8_t(sums + i + block)
            c = dmlcy_load_uint8_t(sums + i + 2 * block)
            d = dmlcy_load_uint8_t(sums + i + 3 * block)
        for n in range(sum.count):
            run = <const uint8_t*> sum.run[n] + i
            a = a + dmlcy_load_uint8_t(run)
            b = b + dmlcy_load_uint8_t(run + block)
            c = c + dmlcy_load_uint8_t(run + 2 * block)
            d = d + dmlcy_load_uint8_t(run + 3 * block)
        dmlcy_store_uint8_t(sums + i, a)
        dmlcy_store_uint8_t(sums + i + block, b)
        dmlcy_store_uint8_t(sums + i + 2 * block, c)
        dmlcy_store_uint8_t(sums + i + 3 * block, d)
        i += 4 * block
    while i + block <= end:
        a = dmlcy_each_uint8_t(0) if sum.fresh else dmlcy_load_uint8_t(sums + i)
        for n in range(sum.count):
            a = a + dmlcy_load_uint8_t(<const uint8_t*> sum.run[n] + i)
        dmlcy_store_uint8_t(sums + i, a)
        i += block
    if i < end and sum.fresh:           # some elements a second time
        i = end - block
        a = dmlcy_each_uint8_t(0)
        for n in range(sum.count):
            a = a + dmlcy_load_uint8_t(<const uint8_t*> sum.run[n] + i)
        dmlcy_store_uint8_t(sums + i, a)
    elif i < end:
        scatter_uint8_t_apart(sum, sums, i, end)


cdef void scatter_uint8_t_add_wide "scatter_uint8_t_add_wide"(const void* args, uint8_t* sums) noexcept nogil:
    cdef const ScatterSum* sum = <const ScatterSum*> args
    cdef int64_t block = sizeof(dmlcy_uint8_t_block) // sizeof(uint8_t)
    cdef int64_t begin = 0
    cdef int64_t end = sum.size
    cdef int64_t i
    cdef dmlcy_uint8_t_block a, b, c, d
    cdef const uint8_t* run
    cdef int n
    for n in range(sum.count):
        begin = max(begin, sum.begin[n])
        end = min(end, sum.end[n])
    if sum.step != sizeof(uint8_t) or end - begin < block:
        scatter_uint8_t_apart(sum, sums, 0, sum.size)
        return
    scatter_uint8_t_apart(sum, sums, 0, begin)
    scatter_uint8_t_apart(sum, sums, end, sum.size)
    i = begin
    while i + 4 * block <= end:
        if sum.fresh:
            a = b = c = d = dmlcy_each_uint8_t(0)
        else:
            a = dmlcy_load_uint8_t(sums + i)
            b = dmlcy_load_uint8_t(sums + i + block)
            c = dmlcy_load_uint8_t(sums + i + 2 * block)
            d = dmlcy_load_uint8_t(sums + i + 3 * block)
        for n in range(sum.count):
            run = <const uint8_t*> sum.run[n] + i
            a = a + dmlcy_load_uint8_t(run)
            b = b + dmlcy_load_uint8_t(run + block)
            c = c + dmlcy_load_uint8_t(run + 2 * block)
            d = d + dmlcy_load_uint8_t(run + 3 * block)
        dmlcy_store_uint8_t(sums + i, a)
        dmlcy_store_uint8_t(sums + i + block, b)
        dmlcy_store_uint8_t(sums + i + 2 * block, c)
        dmlcy_store_uint8_t(sums + i + 3 * block, d)
        i += 4 * block
    while i + block <= end:
        a = dmlcy_each_uint8_t(0) if sum.fresh else dmlcy_load_uint8_t(sums + i)
        for n in range(sum.count):
            a = a + dmlcy_load_uint8_t(<const uint8_t*> sum.run[n] + i)
        dmlcy_store_uint8_t(sums + i, a)
        i += block
    if i < end and sum.fresh:           # some elements a second time
        i = end - block
        a = dmlcy_each_uint8_t(0)
        for n in range(sum.count):
            a = a + dmlcy_load_uint8_t(<const uint8_t*> sum.run[n] + i)
        dmlcy_store_uint8_t(sums + i, a)
    elif i < end:
        scatter_uint8_t_apart(sum, sums, i, end)


# Elements of a class in a row of the output, from position `low` + n * stride on; `tap` are the taps of the other axes.
cdef void scatter_uint8_t_class(
        const ScatterPlan* plan, const ScatterClass* found, int64_t begin, int64_t size, const char* input,
        const int64_t* firsts, const int64_t* ends, bint reached, ScatterSum* sum, scatter_uint8_t_Add add,
        uint8_t* sums) noexcept nogil:
    cdef const ScatterAxis* columns = &plan.axes[plan.last]
    cdef int64_t tap[MAX_RANK]
    cdef int64_t t, block, skipped
    cdef const char* from_
    cdef int d
    sum.count = 0
    sum.fresh = True
    sum.size = size
    for d in range(plan.last):
        tap[d] = firsts[d]
    while reached:
        t = found.tap
        block = begin + found.shift
        if block >= columns.blocks:
            skipped = ceil_div(block - columns.blocks + 1, columns.back)
            t += skipped * columns.period
            block -= skipped * columns.back
        from_ = input + t * columns.tap_step + block * columns.block_step
        while t < columns.window and block + size > 0:
            if sum.count == RUNS:
                add(sum, sums)
                sum.count = 0
                sum.fresh = False
            sum.run[sum.count] = from_
            sum.begin[sum.count] = max(0, -block)
            sum.end[sum.count] = min(size, columns.blocks - block)
            sum.count += 1
            t += columns.period
            block -= columns.back
            from_ += columns.next_step
        d = plan.last - 1
        while d >= 0:
            tap[d] += plan.axes[d].period
            input += plan.axes[d].next_step
            if tap[d] < ends[d]:
                break
            input -= (tap[d] - firsts[d]) // plan.axes[d].period * plan.axes[d].next_step
            tap[d] = firsts[d]
            d -= 1
        reached = d >= 0
    add(sum, sums)


# A row under windows that lie side by side: each position takes one element, or none.
cdef void scatter_uint8_t_side_by_side(const ScatterPlan* plan, const char* input, char* output) noexcept nogil:
    cdef const ScatterAxis* columns = &plan.axes[plan.last]
    cdef uint8_t* row = <uint8_t*> output
    cdef int64_t covered = columns.blocks * columns.stride
    cdef int64_t i
    weave_1(input, plan.tap_at, columns.stride, columns.blocks, output)
    for i in range(covered, columns.size):
        row[i] = 0


# A row of the output, of all classes: so many elements of each, then these in turn.
cdef void scatter_uint8_t_woven(
        const ScatterPlan* plan, const ScatterClass* classes, const char* input, const int64_t* firsts,
        const int64_t* ends, bint reached, ScatterSum* sum, scatter_uint8_t_Add add, char* output) noexcept nogil:
    cdef const ScatterAxis* columns = &plan.axes[plan.last]
    cdef int64_t stride = columns.stride
    cdef int64_t n = columns.start // stride
    cdef int64_t last = ceil_div(columns.start + columns.size, stride)
    cdef int64_t class_at[CLASSES]
    cdef uint8_t sums[MOST]
    cdef uint8_t line[MOST]
    cdef int64_t size, rest, q, low, high
    while n < last:
        size = min(last - n, MOST // stride)
        for rest in range(stride):
            class_at[rest] = rest * size * <int64_t> sizeof(uint8_t)
            scatter_uint8_t_class(
                plan, &classes[rest], n, size, input, firsts, ends, reached and classes[rest].reached, sum, add,
                sums + rest * size)
        weave_1(
            <const char*> sums, class_at, stride, size, <char*> line)
        q = n * stride
        low = max(columns.start, q)
        high = min(columns.start + columns.size, q + size * stride)
        scatter_uint8_t_lay(
            output + (low - columns.start) * columns.output_step, columns.output_step, line + (low - q), high - low)
        n += size


cdef int scatter_uint8_t_rows(const void* args, int64_t begin, int64_t end) noexcept nogil:
    cdef const ScatterPlan* plan = <const ScatterPlan*> args
    cdef const ScatterAxis* columns = &plan.axes[plan.last]
    cdef const ScatterAxis* axis
    cdef bint flat = columns.output_step == sizeof(uint8_t)
    cdef bint direct = True and columns.stride == 1 and flat
    cdef bint side_by_side = plan.side_by_side and flat and columns.block_step == sizeof(uint8_t)
    cdef scatter_uint8_t_Add add = scatter_uint8_t_add_wide if dmlcy_wide() else scatter_uint8_t_add
    cdef ScatterClass classes[CLASSES]
    cdef uint8_t sums[MOST]
    cdef ScatterSum sum
    cdef ScatterClass found
    cdef int64_t firsts[MAX_RANK]
    cdef int64_t ends[MAX_RANK]
    cdef int64_t number, index, row, q, n, last, size, column
    cdef const char* input
    cdef char* output
    cdef bint reached, once
    cdef int d
    sum.step = columns.block_step
    for q in range(min(columns.stride, CLASSES)):
        go_to_class(columns, q, &classes[q])
    for number in range(begin, end):
        row = number % plan.rows
        index = number // plan.rows
        input = plan.input + index // plan.channels * plan.input_steps[0] + index % plan.channels * plan.input_steps[1]
        output = plan.output + index // plan.channels * plan.output_steps[0]
        output += index % plan.channels * plan.output_steps[1]
        reached = once = True
        for d in range(plan.last - 1, -1, -1):
            axis = &plan.axes[d]
            q = row % axis.size
            row //= axis.size
            output += q * axis.output_step
            q += axis.start
            taps_at(axis, q, &firsts[d], &ends[d])
            once = once and firsts[d] + axis.period >= ends[d]
            if firsts[d] < ends[d]:
                input += firsts[d] * axis.tap_step
                input += (q - firsts[d] * axis.dilation) // axis.stride * axis.block_step
            else:
                reached = False
        if side_by_side and once and reached:
            scatter_uint8_t_side_by_side(plan, input, output)
            continue
        if 1 < columns.stride <= CLASSES:
            scatter_uint8_t_woven(plan, classes, input, firsts, ends, reached, &sum, add, output)
            continue
        for q in range(columns.start, columns.start + min(columns.stride, columns.size)):
            go_to_class(columns, q % columns.stride, &found)
            n = q // columns.stride
            last = ceil_div(columns.start + columns.size - q % columns.stride, columns.stride)
            while n < last:
                size = min(last - n, MOST)
                column = (q % columns.stride + n * columns.stride - columns.start) * columns.output_step
                if direct:
                    scatter_uint8_t_class(
                        plan, &found, n, size, input, firsts, ends, reached and found.reached, &sum, add,
                        <uint8_t*> (output + column))
                else:
                    scatter_uint8_t_class(
                        plan, &found, n, size, input, firsts, ends, reached and found.reached, &sum, add, sums)
                    scatter_uint8_t_put(output + column, columns.stride * columns.output_step, sums, size)
                n += size
    return 0


# Returns 0, or -1 when memory ran out.
cdef int window_scatter(WindowScatter* a, Work work) noexcept nogil:
    cdef int64_t bytes = bytes_of(&a.input) + bytes_of(&a.output)
    cdef ScatterPlan plan
    cdef int64_t rows
    plan.input = a.input.data
    plan.output = a.output.data
    plan.channels = a.output.sizes[1]
    plan.input_steps[0] = a.input.strides[0]
    plan.output_steps[0] = a.output.strides[0]
    plan.output_steps[1] = a.output.strides[1]
    collect_axes(&plan, a)
    rows = a.output.sizes[0] * plan.channels * plan.rows
    return parallel_for(work, &plan, rows, rows if bytes <= SERIAL_BYTES else grain_of(bytes // rows))


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
cdef uint32_t[15] FOLD_T = [
    0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0,
    0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0xffe,
]
cdef uint32_t[15] FOLD_R_RANKS = [
    0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0,
    0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x1f8,
]


# Whether the operator and its inputs hold at the level.
cdef bint fold_inputs_hold(Fold* a, int level) noexcept nogil:
    return (
        level >= 14
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
    if not append_size(&a.output, a.N):
        return False
    if not append_size(&a.output, a.C):
        return False
    if not append_sizes(&a.output, a.output_sizes, a.output_sizes_count):
        return False
    if not tensor_holds(&a.output, FOLD_T[level], FOLD_R_RANKS[level]):
        return False
    # input-dimensions
    if not (a.input.rank <= a.output.rank):
        return False
    for d in range(a.spatial):
        a.blocks[d] = floor_div(a.padded[d] - a.extent[d], a.strides[d]) + 1
    expected.rank = 0
    if not append_size(&expected, a.N):
        return False
    if not append_size(&expected, checked_mul(a.C, a.volume, &overflow)):
        return False
    if not append_size(&expected, product(a.blocks, a.spatial, &overflow)):
        return False
    expected.dtype = a.input.dtype
    if not as_computed(&a.input, &expected):
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
    if a.input.dtype == 9:
        return window_scatter(&work, scatter_double_rows)
    if a.input.dtype == 1:
        return window_scatter(&work, scatter_float_rows)
    if a.input.dtype == 2:
        return window_scatter(&work, scatter_half_rows)
    if a.input.dtype == 11 or a.input.dtype == 10:
        return window_scatter(&work, scatter_uint64_t_rows)
    if a.input.dtype == 6 or a.input.dtype == 3:
        return window_scatter(&work, scatter_uint32_t_rows)
    if a.input.dtype == 7 or a.input.dtype == 4:
        return window_scatter(&work, scatter_uint16_t_rows)
    return window_scatter(&work, scatter_uint8_t_rows)


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
    """Add columns where the window that they come from lies: the adjoint of
    UNFOLD.

    Parameters
    ----------
    input : array_like
        One column per block and one row per channel and window element. Rank 3;
        data type FLOAT64, FLOAT32, FLOAT16, INT64, INT32, INT16, INT8, UINT64,
        UINT32, UINT16 or UINT8.
    output_sizes : int or sequence of ints
        Sizes of the spatial axes of the image. At least 1. An int is a sequence
        of one.
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
        Zeros before each spatial axis of the image. A sequence has ``spatial``
        entries.
    end_padding : int or sequence of ints, default 0
        Zeros after each spatial axis of the image. A sequence has ``spatial``
        entries.
    out : array, optional
        Where the result is written: any layout, the data type and sizes of the
        result, no memory shared with an input.

    Returns
    -------
    numpy.ndarray
        The image, of sizes {N, C, S...} with 1 to 6 spatial axes S: sums of the
        elements that lie on each other.
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
        Number of spatial axes.
    ``image[d] = output_sizes[d]``
        Size of the image along each spatial axis.
    ``padded[d] = image[d] + start_padding[d] + end_padding[d]``
        Size of each spatial axis after padding.
    ``extent[d] = dilations[d] * (window_sizes[d] - 1) + 1``
        Elements that the window spans along each spatial axis.
    ``blocks[d] = (padded[d] - extent[d]) // strides[d] + 1``
        Positions of the window along each spatial axis.
    ``ones = max(rank(input) - 3, 0)``
        Ones in front of the sizes of the input.
    ``N = sizes(input)[ones]``
        Batch size.
    ``volume = prod(window_sizes)``
        Elements of a window.
    ``C = max(sizes(input)[ones + 1] // volume, 1)``
        Channels of the image.
    ``over[d] = min(window_sizes[d], blocks[d])``
        Positions of the window that one element of the image lies under along
        each spatial axis, at most.

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
    from dmlcy._check import refuse

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
        from dmlcy._check import refuse_desc

        cdef Fold a
        cdef Tensor computed
        if not (
            level < 15
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
        from dmlcy._check import refuse_call

        return refuse_call(self.desc, {
            "input": <object>inputs[0],
            "out": out,
        })


take_vectorcalls(FoldOperator)
