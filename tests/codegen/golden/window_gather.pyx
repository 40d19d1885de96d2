# cython: language_level=3
"""window_gather: UNFOLD."""

from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset
from numpy cimport ndarray
from dmlcy._runtime.arguments cimport take_uints
from dmlcy._runtime.checks cimport append_size, checked_add, checked_mul, floor_div, magnitude, product, tensor_holds
from dmlcy._runtime.compiled cimport as_computed, describe, match, unchanged
from dmlcy._runtime.level cimport current_level
from dmlcy._runtime.recording cimport current_recordings, packed, tuple_of
from dmlcy._runtime.tensor cimport (
    MAX_RANK, Tensor, aligned, as_array, new_array, out_array, overlap, overlaps_itself, set_rank, view, write_back,
)
from dmlcy._runtime.threads cimport grain_of, parallel_for

from dmlcy._check import refuse, refuse_call, refuse_desc
from dmlcy._record import keep

# Copying the elements under a sliding window: one row per channel and window element ("tap"), one column per position
# of the window ("block"). What lies outside the input is zero.

cdef struct WindowGather:
    Tensor input                    # N, C, then the spatial axes
    Tensor output                   # N, C * prod(window), prod(blocks)
    int spatial                     # 1 to 6
    int64_t window[MAX_RANK]        # by spatial axis
    int64_t strides[MAX_RANK]
    int64_t dilations[MAX_RANK]
    int64_t start[MAX_RANK]
    int64_t blocks[MAX_RANK]

cdef enum:
    SEGMENT_BYTES = 65536           # of the input, that stay in the cache for all channels and taps
    JOIN_GAP = 8                    # lines are copied as one when at most one part in this many is padding
    TOUCHED_BYTES = 64              # that reading one element moves, at most

cdef struct GatherAxis:
    int64_t n                       # elements of the input
    int64_t step                    # bytes
    int64_t window
    int64_t stride
    int64_t dilation
    int64_t start
    int64_t blocks

# Some of the blocks or taps of one axis; number k is at position origin + k * advance of the input.
cdef struct Range:
    int64_t origin
    int64_t advance
    int64_t count
    int64_t low                     # low … high-1 are inside the input
    int64_t high

# Two axes of the output: lines, and the elements of a line.
cdef struct Lines:
    int64_t count
    int64_t step                    # bytes, in the input
    int64_t out_step
    int64_t size                    # elements of a line
    int64_t low                     # low … high-1 come from the input
    int64_t high
    int64_t item_step
    int64_t item_out_step
    bint joined                     # a line begins where the one before it ends, in the input too

ctypedef void (*CopyLines)(const Lines* lines, const char* source, char* target) noexcept nogil
ctypedef void (*ClearLines)(const Lines* lines, char* target) noexcept nogil

cdef struct GatherPlan:
    const char* input
    char* output
    int64_t item
    int64_t channels
    int64_t batch_step              # bytes, in the input
    int64_t channel_step
    int64_t batch_out_step
    int64_t row_out_step
    int64_t block_out_step
    GatherAxis axes[MAX_RANK]       # the spatial axes; there are two at least
    int last                        # number of the last one
    int64_t volume                  # taps
    int64_t outer_taps              # taps of all axes but the last
    int64_t lines                   # blocks of all axes but the last
    int64_t segment                 # lines that one item writes, at most
    int64_t segments
    bint along_taps                 # the inner loop runs along the taps of the last axis, not along its blocks
    CopyLines copy
    ClearLines clear

cdef inline void clear_1(char* target, int64_t out_step, int64_t count) noexcept nogil:
    cdef int64_t i
    if count == 0:
        return
    if out_step == 1:
        memset(target, 0, count * 1)
    else:
        for i in range(count):
            (<uint8_t*> (target + i * out_step))[0] = 0

cdef inline void copy_1(const char* source, int64_t step, char* target, int64_t out_step,
                        int64_t count) noexcept nogil:
    cdef int64_t i
    if step == 1 and out_step == 1:
        memcpy(target, source, count * 1)
    elif step == 2 and out_step == 1:
        for i in range(count):
            (<uint8_t*> target)[i] = (<const uint8_t*> source)[2 * i]
    elif step == 3 and out_step == 1:
        for i in range(count):
            (<uint8_t*> target)[i] = (<const uint8_t*> source)[3 * i]
    elif step == 4 and out_step == 1:
        for i in range(count):
            (<uint8_t*> target)[i] = (<const uint8_t*> source)[4 * i]
    elif out_step == 1:
        for i in range(count):
            (<uint8_t*> target)[i] = (<const uint8_t*> (source + i * step))[0]
    else:
        for i in range(count):
            (<uint8_t*> (target + i * out_step))[0] = (<const uint8_t*> (source + i * step))[0]

cdef void clear_lines_1(const Lines* lines, char* target) noexcept nogil:
    cdef int64_t i
    if lines.out_step == lines.size * lines.item_out_step:
        clear_1(target, lines.item_out_step, lines.count * lines.size)
        return
    for i in range(lines.count):
        clear_1(target + i * lines.out_step, lines.item_out_step, lines.size)

# `source` is where element `low` of the first line comes from.
cdef void copy_lines_1(const Lines* lines, const char* source, char* target) noexcept nogil:
    cdef int64_t low = lines.low, high = lines.high, step = lines.item_step, out_step = lines.item_out_step
    cdef int64_t i
    if lines.joined and (low + lines.size - high) * JOIN_GAP <= lines.size:
        copy_1(source, step, target + low * out_step, out_step, (lines.count - 1) * lines.size + high - low)
        for i in range(low):
            clear_1(target + i * out_step, lines.out_step, lines.count)
        for i in range(high, lines.size):
            clear_1(target + i * out_step, lines.out_step, lines.count)
        return
    for _ in range(lines.count):
        clear_1(target, out_step, low)
        copy_1(source, step, target + low * out_step, out_step, high - low)
        clear_1(target + high * out_step, out_step, lines.size - high)
        source += lines.step
        target += lines.out_step

cdef inline void clear_2(char* target, int64_t out_step, int64_t count) noexcept nogil:
    cdef int64_t i
    if count == 0:
        return
    if out_step == 2:
        memset(target, 0, count * 2)
    else:
        for i in range(count):
            (<uint16_t*> (target + i * out_step))[0] = 0

cdef inline void copy_2(const char* source, int64_t step, char* target, int64_t out_step,
                        int64_t count) noexcept nogil:
    cdef int64_t i
    if step == 2 and out_step == 2:
        memcpy(target, source, count * 2)
    elif step == 4 and out_step == 2:
        for i in range(count):
            (<uint16_t*> target)[i] = (<const uint16_t*> source)[2 * i]
    elif step == 6 and out_step == 2:
        for i in range(count):
            (<uint16_t*> target)[i] = (<const uint16_t*> source)[3 * i]
    elif step == 8 and out_step == 2:
        for i in range(count):
            (<uint16_t*> target)[i] = (<const uint16_t*> source)[4 * i]
    elif out_step == 2:
        for i in range(count):
            (<uint16_t*> target)[i] = (<const uint16_t*> (source + i * step))[0]
    else:
        for i in range(count):
            (<uint16_t*> (target + i * out_step))[0] = (<const uint16_t*> (source + i * step))[0]

cdef void clear_lines_2(const Lines* lines, char* target) noexcept nogil:
    cdef int64_t i
    if lines.out_step == lines.size * lines.item_out_step:
        clear_2(target, lines.item_out_step, lines.count * lines.size)
        return
    for i in range(lines.count):
        clear_2(target + i * lines.out_step, lines.item_out_step, lines.size)

# `source` is where element `low` of the first line comes from.
cdef void copy_lines_2(const Lines* lines, const char* source, char* target) noexcept nogil:
    cdef int64_t low = lines.low, high = lines.high, step = lines.item_step, out_step = lines.item_out_step
    cdef int64_t i
    if lines.joined and (low + lines.size - high) * JOIN_GAP <= lines.size:
        copy_2(source, step, target + low * out_step, out_step, (lines.count - 1) * lines.size + high - low)
        for i in range(low):
            clear_2(target + i * out_step, lines.out_step, lines.count)
        for i in range(high, lines.size):
            clear_2(target + i * out_step, lines.out_step, lines.count)
        return
    for _ in range(lines.count):
        clear_2(target, out_step, low)
        copy_2(source, step, target + low * out_step, out_step, high - low)
        clear_2(target + high * out_step, out_step, lines.size - high)
        source += lines.step
        target += lines.out_step

cdef inline void clear_4(char* target, int64_t out_step, int64_t count) noexcept nogil:
    cdef int64_t i
    if count == 0:
        return
    if out_step == 4:
        memset(target, 0, count * 4)
    else:
        for i in range(count):
            (<uint32_t*> (target + i * out_step))[0] = 0

cdef inline void copy_4(const char* source, int64_t step, char* target, int64_t out_step,
                        int64_t count) noexcept nogil:
    cdef int64_t i
    if step == 4 and out_step == 4:
        memcpy(target, source, count * 4)
    elif step == 8 and out_step == 4:
        for i in range(count):
            (<uint32_t*> target)[i] = (<const uint32_t*> source)[2 * i]
    elif step == 12 and out_step == 4:
        for i in range(count):
            (<uint32_t*> target)[i] = (<const uint32_t*> source)[3 * i]
    elif step == 16 and out_step == 4:
        for i in range(count):
            (<uint32_t*> target)[i] = (<const uint32_t*> source)[4 * i]
    elif out_step == 4:
        for i in range(count):
            (<uint32_t*> target)[i] = (<const uint32_t*> (source + i * step))[0]
    else:
        for i in range(count):
            (<uint32_t*> (target + i * out_step))[0] = (<const uint32_t*> (source + i * step))[0]

cdef void clear_lines_4(const Lines* lines, char* target) noexcept nogil:
    cdef int64_t i
    if lines.out_step == lines.size * lines.item_out_step:
        clear_4(target, lines.item_out_step, lines.count * lines.size)
        return
    for i in range(lines.count):
        clear_4(target + i * lines.out_step, lines.item_out_step, lines.size)

# `source` is where element `low` of the first line comes from.
cdef void copy_lines_4(const Lines* lines, const char* source, char* target) noexcept nogil:
    cdef int64_t low = lines.low, high = lines.high, step = lines.item_step, out_step = lines.item_out_step
    cdef int64_t i
    if lines.joined and (low + lines.size - high) * JOIN_GAP <= lines.size:
        copy_4(source, step, target + low * out_step, out_step, (lines.count - 1) * lines.size + high - low)
        for i in range(low):
            clear_4(target + i * out_step, lines.out_step, lines.count)
        for i in range(high, lines.size):
            clear_4(target + i * out_step, lines.out_step, lines.count)
        return
    for _ in range(lines.count):
        clear_4(target, out_step, low)
        copy_4(source, step, target + low * out_step, out_step, high - low)
        clear_4(target + high * out_step, out_step, lines.size - high)
        source += lines.step
        target += lines.out_step

cdef inline void clear_8(char* target, int64_t out_step, int64_t count) noexcept nogil:
    cdef int64_t i
    if count == 0:
        return
    if out_step == 8:
        memset(target, 0, count * 8)
    else:
        for i in range(count):
            (<uint64_t*> (target + i * out_step))[0] = 0

cdef inline void copy_8(const char* source, int64_t step, char* target, int64_t out_step,
                        int64_t count) noexcept nogil:
    cdef int64_t i
    if step == 8 and out_step == 8:
        memcpy(target, source, count * 8)
    elif step == 16 and out_step == 8:
        for i in range(count):
            (<uint64_t*> target)[i] = (<const uint64_t*> source)[2 * i]
    elif step == 24 and out_step == 8:
        for i in range(count):
            (<uint64_t*> target)[i] = (<const uint64_t*> source)[3 * i]
    elif step == 32 and out_step == 8:
        for i in range(count):
            (<uint64_t*> target)[i] = (<const uint64_t*> source)[4 * i]
    elif out_step == 8:
        for i in range(count):
            (<uint64_t*> target)[i] = (<const uint64_t*> (source + i * step))[0]
    else:
        for i in range(count):
            (<uint64_t*> (target + i * out_step))[0] = (<const uint64_t*> (source + i * step))[0]

cdef void clear_lines_8(const Lines* lines, char* target) noexcept nogil:
    cdef int64_t i
    if lines.out_step == lines.size * lines.item_out_step:
        clear_8(target, lines.item_out_step, lines.count * lines.size)
        return
    for i in range(lines.count):
        clear_8(target + i * lines.out_step, lines.item_out_step, lines.size)

# `source` is where element `low` of the first line comes from.
cdef void copy_lines_8(const Lines* lines, const char* source, char* target) noexcept nogil:
    cdef int64_t low = lines.low, high = lines.high, step = lines.item_step, out_step = lines.item_out_step
    cdef int64_t i
    if lines.joined and (low + lines.size - high) * JOIN_GAP <= lines.size:
        copy_8(source, step, target + low * out_step, out_step, (lines.count - 1) * lines.size + high - low)
        for i in range(low):
            clear_8(target + i * out_step, lines.out_step, lines.count)
        for i in range(high, lines.size):
            clear_8(target + i * out_step, lines.out_step, lines.count)
        return
    for _ in range(lines.count):
        clear_8(target, out_step, low)
        copy_8(source, step, target + low * out_step, out_step, high - low)
        clear_8(target + high * out_step, out_step, lines.size - high)
        source += lines.step
        target += lines.out_step

# Which of `count` positions, from `origin` on and `advance` apart, are inside an axis of n elements.
cdef Range find_range(int64_t origin, int64_t advance, int64_t count, int64_t n) noexcept nogil:
    cdef Range r
    r.origin = origin
    r.advance = advance
    r.count = count
    r.low = 0 if origin >= 0 else min((-origin + advance - 1) // advance, count)
    r.high = 0 if origin >= n else min((n - origin + advance - 1) // advance, count)
    r.low = min(r.low, r.high)
    return r

cdef inline Range blocks_of_tap(const GatherAxis* axis, int64_t tap) noexcept nogil:
    return find_range(tap * axis.dilation - axis.start, axis.stride, axis.blocks, axis.n)

cdef inline Range taps_of_block(const GatherAxis* axis, int64_t block) noexcept nogil:
    return find_range(block * axis.stride - axis.start, axis.dilation, axis.window, axis.n)

# Offset in the input of position k, which must be inside.
cdef inline int64_t offset_of(const GatherAxis* axis, const Range* r, int64_t k) noexcept nogil:
    return (r.origin + k * r.advance) * axis.step

# Writes lines y … y+count-1 of the last but one axis, of which `inside` says where they come from.
cdef void gather_lines(const GatherPlan* plan, const Range* inside, int64_t y, int64_t count, Lines lines,
                       const char* source, char* target) noexcept nogil:
    cdef const GatherAxis* axis = &plan.axes[plan.last - 1]
    cdef int64_t low = min(max(inside.low, y), y + count)
    cdef int64_t high = min(max(inside.high, low), y + count)
    if low > y:
        lines.count = low - y
        plan.clear(&lines, target)
    if high > low:
        lines.count = high - low
        plan.copy(&lines, source + offset_of(axis, inside, low), target + (low - y) * lines.out_step)
    if y + count > high:
        lines.count = y + count - high
        plan.clear(&lines, target + (high - y) * lines.out_step)

# Writes lines first … first+count-1 of all axes but the last; `inside` has the ranges of those axes.
cdef void gather_segment(const GatherPlan* plan, const Range* inside, int64_t first, int64_t count, const Lines* lines,
                         const char* source, char* target) noexcept nogil:
    cdef int64_t height = plan.axes[plan.last - 1].blocks
    cdef int64_t y, here, rest, block
    cdef const char* plane
    cdef bint whole
    cdef Range nothing
    cdef int d
    memset(&nothing, 0, sizeof(Range))
    while count > 0:
        y = first % height
        here = min(height - y, count)
        rest = first // height
        plane = source
        whole = lines.high > lines.low
        for d in range(plan.last - 2, -1, -1):
            block = rest % inside[d].count
            rest //= inside[d].count
            if inside[d].low <= block < inside[d].high:
                plane += offset_of(&plan.axes[d], &inside[d], block)
            else:
                whole = False
        gather_lines(plan, &inside[plan.last - 1] if whole else &nothing, y, here, lines[0], plane, target)
        target += here * lines.out_step
        first += here
        count -= here

# Writes a segment of the lines for all taps of the last axis.
cdef void gather_taps(const GatherPlan* plan, const Range* inside, int64_t first, int64_t count, const char* source,
                      char* target) noexcept nogil:
    cdef const GatherAxis* axis = &plan.axes[plan.last]
    cdef int64_t across = axis.blocks if plan.along_taps else axis.window
    cdef int64_t out_step = plan.block_out_step if plan.along_taps else plan.row_out_step
    cdef Range r
    cdef Lines lines
    cdef int64_t k
    lines.step = plan.axes[plan.last - 1].stride * plan.axes[plan.last - 1].step
    lines.out_step = axis.blocks * plan.block_out_step
    lines.item_out_step = plan.row_out_step if plan.along_taps else plan.block_out_step
    for k in range(across):
        r = taps_of_block(axis, k) if plan.along_taps else blocks_of_tap(axis, k)
        lines.size = r.count
        lines.low = r.low
        lines.high = r.high
        lines.item_step = r.advance * axis.step
        lines.joined = (r.count == axis.n and plan.axes[plan.last - 1].stride == 1 and r.advance == 1
                        and lines.step == axis.n * axis.step and lines.out_step == r.count * lines.item_out_step)
        gather_segment(plan, inside, first, count, &lines,
                       source + offset_of(axis, &r, r.low) if r.high > r.low else source, target + k * out_step)

# Items are, from the slowest: batch, segment, channel, taps of all axes but the last.
cdef int gather_items(const void* args, int64_t begin, int64_t end) noexcept nogil:
    cdef const GatherPlan* plan = <const GatherPlan*> args
    cdef Range inside[MAX_RANK]
    cdef int64_t item, rest, taps, channel, first, row
    cdef int d
    for item in range(begin, end):
        taps = item % plan.outer_taps
        rest = item // plan.outer_taps
        channel = rest % plan.channels
        rest //= plan.channels
        first = rest % plan.segments * plan.segment
        rest //= plan.segments
        row = channel * plan.volume + taps * plan.axes[plan.last].window
        for d in range(plan.last - 1, -1, -1):
            inside[d] = blocks_of_tap(&plan.axes[d], taps % plan.axes[d].window)
            taps //= plan.axes[d].window
        gather_taps(plan, inside, first, min(plan.segment, plan.lines - first),
                    plan.input + rest * plan.batch_step + channel * plan.channel_step,
                    plan.output + rest * plan.batch_out_step + row * plan.row_out_step
                    + first * plan.axes[plan.last].blocks * plan.block_out_step)
    return 0

cdef void collect_axes(GatherPlan* plan, const WindowGather* a) noexcept nogil:
    cdef GatherAxis* axis = plan.axes
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

cdef void choose_segments(GatherPlan* plan) noexcept nogil:
    cdef const GatherAxis* axis = &plan.axes[plan.last]
    cdef int64_t advance = axis.dilation if plan.along_taps else axis.stride
    cdef int64_t reads = max(min(advance, TOUCHED_BYTES) * magnitude(axis.step), plan.item)
    cdef int64_t line = min(reads, <int64_t> TOUCHED_BYTES) * max(axis.blocks, axis.window)
    plan.segment = min(max(SEGMENT_BYTES // line, <int64_t> 1), plan.lines)
    plan.segments = (plan.lines + plan.segment - 1) // plan.segment

cdef void choose_lines(GatherPlan* plan, int item) noexcept nogil:
    if item == 1:
        plan.copy = copy_lines_1
        plan.clear = clear_lines_1
    if item == 2:
        plan.copy = copy_lines_2
        plan.clear = clear_lines_2
    if item == 4:
        plan.copy = copy_lines_4
        plan.clear = clear_lines_4
    if item == 8:
        plan.copy = copy_lines_8
        plan.clear = clear_lines_8

# Returns 0, or -1 when memory ran out.
cdef int window_gather(WindowGather* a) noexcept nogil:
    cdef GatherPlan plan
    cdef const GatherAxis* axis
    cdef int64_t items, bytes
    cdef int d
    memset(&plan, 0, sizeof(GatherPlan))
    plan.input = a.input.data
    plan.output = a.output.data
    plan.item = a.input.item
    plan.channels = a.input.sizes[1]
    plan.batch_step = a.input.strides[0]
    plan.channel_step = a.input.strides[1]
    plan.batch_out_step = a.output.strides[0]
    plan.row_out_step = a.output.strides[1]
    plan.block_out_step = a.output.strides[2]
    collect_axes(&plan, a)
    plan.lines = plan.outer_taps = 1
    for d in range(plan.last):
        plan.lines *= plan.axes[d].blocks
        plan.outer_taps *= plan.axes[d].window
    axis = &plan.axes[plan.last]
    plan.volume = plan.outer_taps * axis.window
    plan.along_taps = axis.window > axis.blocks
    choose_segments(&plan)
    choose_lines(&plan, a.input.item)
    items = a.input.sizes[0] * plan.segments * plan.channels * plan.outer_taps
    bytes = plan.segment * axis.blocks * axis.window * plan.item
    return parallel_for(gather_items, &plan, items, grain_of(bytes))


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
cdef uint32_t[15] UNFOLD_T = [
    0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0,
    0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0xffe,
]
cdef uint32_t[15] UNFOLD_R_RANKS = [
    0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0,
    0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x1f8,
]


# Whether the operator and its inputs hold at the level.
cdef bint unfold_inputs_hold(Unfold* a, int level) noexcept nogil:
    return (
        level >= 14
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
    if not append_size(&a.output, a.N):
        return False
    if not append_size(&a.output, checked_mul(a.C, a.volume, &overflow)):
        return False
    if not append_size(&a.output, product(a.blocks, a.spatial, &overflow)):
        return False
    if not tensor_holds(&a.output, UNFOLD_T[level], UNFOLD_R_RANKS[level]):
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
        raise RuntimeError("unfold(): input was changed during the call")
    if recordings is None:
        input_array = aligned(input_array, &a.input)
    else:
        input_array = packed(input_array, &a.input)
    with nogil:
        status = unfold_run(a)
    if status != 0:
        raise MemoryError("unfold: no memory for scratch rows")
    write_back(output_array, result)
    if recordings is not None:
        keep(recordings, "UNFOLD", {
            "input": input_array,
            "output": packed(result, &a.output),
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
    """Copy each position of a sliding window into a column.

    Parameters
    ----------
    input : array_like, FLOAT64, FLOAT32, FLOAT16, INT64, INT32, INT16, INT8, UINT64, UINT32, UINT16, UINT8; rank 3 to 8
        The image, of sizes {N, C, S...} with 1 to 6 spatial axes S.
    window_sizes : int or sequence of spatial ints, at least 1
        Size of the window along each spatial axis.
    strides : int or sequence of spatial ints, at least 1, default 1
        Step of the window along each spatial axis.
    dilations : int or sequence of spatial ints, at least 1, default 1
        Distance between the elements of a window along each spatial axis.
    start_padding : int or sequence of spatial ints, default 0
        Zeros before each spatial axis of the image.
    end_padding : int or sequence of spatial ints, default 0
        Zeros after each spatial axis of the image.
    out : array, optional
        Where the result is written: any layout, the data type and sizes of the result, no memory shared with an input.

    Returns
    -------
    array
        One column per block and one row per channel and window element.
        Sizes ``[N, C * volume, prod(blocks)]``.

    Notes
    -----
    spatial = rank(input) - 2
        Number of spatial axes.
    image[d] = sizes(input)[2 + d]
        Size of the image along each spatial axis.
    padded[d] = image[d] + start_padding[d] + end_padding[d]
        Size of each spatial axis after padding.
    extent[d] = dilations[d] * (window_sizes[d] - 1) + 1
        Elements that the window spans along each spatial axis.
    blocks[d] = (padded[d] - extent[d]) // strides[d] + 1
        Positions of the window along each spatial axis.
    N = sizes(input)[0]
        Batch size.
    C = sizes(input)[1]
        Channels of the image.
    volume = prod(window_sizes)
        Elements of a window.

    Raises
    ------
    InvalidDescError, InvalidDataTypeError, FeatureLevelError
        With every violation in ``.violations``: those of each field (data type, rank, range, length), and

        ``DML-UNFOLD-window_sizes-fits``
            window_sizes does not fit. Must hold for d in spatial:
            ``extent[d] <= padded[d]``
        ``DML-UNFOLD-output-dimensions``
            output has too many dimensions. Must hold:
            ``rank(output) <= rank(input)``

    References
    ----------
    UNFOLD, feature level 6_4:
    https://learn.microsoft.com/windows/ai/directml/api/ns-directml-dml_unfold_operator_desc
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
    return refuse("UNFOLD", {
        "input": input,
        "window_sizes": window_sizes,
        "strides": strides,
        "dilations": dilations,
        "start_padding": start_padding,
        "end_padding": end_padding,
        "out": out,
    }, level)


cdef class UnfoldOperator:
    """UNFOLD, checked once: called with arrays of the sizes and data types of its desc."""

    cdef Unfold fields
    cdef readonly object desc
    cdef int level

    def __init__(self, desc, int level):
        cdef Unfold a
        cdef Tensor computed
        if not (
            describe(desc.input, &a.input)
            and unfold_inputs_hold(&a, level)
            and unfold_take(
                &a, level, desc.window_sizes, desc.strides, desc.dilations, desc.start_padding, desc.end_padding
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
        cdef Unfold a = self.fields
        cdef ndarray input_array = match(input, &a.input)
        cdef object result
        if (
            input_array is not None
        ):
            result = unfold_call(&a, input_array, out)
            if result is not None:
                return result
        return refuse_call(self.desc, {
            "input": input,
            "out": out,
        })

    def __reduce__(self):
        return type(self), (self.desc, self.level)

    def __repr__(self):
        return f"compile({self.desc!r})"
