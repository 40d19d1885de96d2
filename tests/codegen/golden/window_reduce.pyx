# cython: language_level=3
"""window_reduce: AVERAGE_POOLING."""

from cpython.object cimport PyObject
from libc.stdint cimport int64_t, uint16_t, uint32_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy
from numpy cimport ndarray
from dmlcy._runtime.arguments cimport take_bool, take_uints
from dmlcy._runtime.checks cimport append_size, append_sizes, ceil_div, floor_div, tensor_holds
from dmlcy._runtime.compiled cimport CompiledOperator, as_computed, describe, match, take_vectorcalls, unchanged
from dmlcy._runtime.half cimport dmlcy_float_to_half, dmlcy_half_to_float
from dmlcy._runtime.level cimport current_level
from dmlcy._runtime.recording cimport current_recordings, packed, tuple_of
from dmlcy._runtime.tensor cimport (
    MAX_RANK, Tensor, aligned, as_array, is_brief, new_array, out_array, overlap, overlaps_itself, view, write_back,
)
from dmlcy._runtime.threads cimport Work, grain_of, parallel_for

from dmlcy._check import refuse, refuse_call, refuse_desc
from dmlcy._record import keep

cdef enum:
    LONGEST_BLOCK = 1024            # columns of the input under the windows of a band, or their first taps
    BAND_ELEMENTS = 512             # columns of all lines of a band, if it has more than one
    GROUP = 4                       # rows, or taps, that one pass over a band takes in

# What a loop writes is not what it reads; said so, compilers need no checks for it.
cdef extern from *:
    ctypedef float* float_only "float* __restrict"

cdef struct WindowReduce:
    Tensor input
    Tensor output                   # of the rank of the input
    int spatial                     # axes that are pooled, the last ones
    int64_t window[MAX_RANK]        # these four: one entry per spatial axis
    int64_t strides[MAX_RANK]
    int64_t dilations[MAX_RANK]
    int64_t start[MAX_RANK]
    const void* attributes          # struct of the operator

cdef struct WindowAxis:
    int64_t size                    # elements of the input
    int64_t results                 # elements of the output
    int64_t input_step              # bytes between elements
    int64_t output_step
    int64_t window                  # 1 on an axis that is not pooled
    int64_t stride
    int64_t dilation
    int64_t start

# The output is made in bands: `band` lines of `block` columns. The columns are the last axis that matters, the lines an
# axis that is not pooled, so that all windows of a band have the same elements on the remaining axes. First the rows
# under each window are reduced, column by column, then the columns; a window that is long along the columns is taken
# in parts. So the order of operations depends on sizes only, and scratch memory is small.
cdef struct WindowPlan:
    const char* input
    char* output
    int axes
    WindowAxis axis[MAX_RANK]       # neither lines nor columns
    WindowAxis lines
    WindowAxis columns
    int64_t band
    int64_t block
    int64_t blocks
    int64_t taps                    # taps along the columns in a part
    int64_t pitch                   # from line to line of a band, in columns of the input, padding included
    int64_t result_pitch            # the same in columns of the output
    int64_t step                    # columns of the input between windows
    double volume                   # elements of a window; int64 could overflow
    const void* attributes

# Where a band is.
cdef struct WindowPlace:
    int64_t line
    int64_t lines
    int64_t column                  # columns of the output
    int64_t columns
    int64_t inside                  # from column `inside` to `outside` no window has padding along the columns
    int64_t outside
    int64_t tap                     # taps along the columns, from `tap` to `end_tap`, that meet the input somewhere
    int64_t end_tap
    int64_t index[MAX_RANK]         # of the remaining axes
    int64_t valid[MAX_RANK]         # taps inside the input
    int64_t input[MAX_RANK]         # offset in bytes of the first of them
    int64_t output[MAX_RANK]


# The taps of the window at `index` that are inside the input.
cdef inline void valid_taps(const WindowAxis* axis, int64_t index, int64_t* first, int64_t* end) noexcept nogil:
    cdef int64_t outside = axis.start - index * axis.stride
    first[0] = 0 if outside <= 0 else min(axis.window, ceil_div(outside, axis.dilation))
    outside += axis.size
    end[0] = first[0] if outside <= 0 else max(first[0], min(axis.window, ceil_div(outside, axis.dilation)))


cdef void go_to_columns(const WindowPlan* plan, WindowPlace* place, int64_t column) noexcept nogil:
    cdef const WindowAxis* columns = &plan.columns
    cdef int64_t room = columns.size + columns.start - columns.dilation * (columns.window - 1) - 1
    cdef int64_t ignored
    place.column = column
    place.columns = min(plan.block, columns.results - column)
    place.inside = min(max(ceil_div(columns.start, columns.stride) - column, 0), place.columns)
    place.outside = 0 if room < 0 else room // columns.stride + 1
    place.outside = min(max(place.outside - column, place.inside), place.columns)
    valid_taps(columns, column, &ignored, &place.end_tap)
    valid_taps(columns, column + place.columns - 1, &place.tap, &ignored)
    if place.tap >= place.end_tap:      # padding only
        place.tap = 0
        place.end_tap = 1


cdef inline void go_to_lines(const WindowPlan* plan, WindowPlace* place, int64_t line) noexcept nogil:
    place.line = line
    place.lines = min(plan.band, plan.lines.results - line)


cdef inline void go_to_index(const WindowPlan* plan, WindowPlace* place, int n, int64_t index) noexcept nogil:
    cdef const WindowAxis* axis = &plan.axis[n]
    cdef int64_t first, end
    valid_taps(axis, index, &first, &end)
    place.index[n] = index
    place.valid[n] = end - first
    place.input[n] = (index * axis.stride + first * axis.dilation - axis.start) * axis.input_step
    place.output[n] = index * axis.output_step


# Bands are counted block by block, then along the remaining axes, then line by line.
cdef void go_to_band(const WindowPlan* plan, WindowPlace* place, int64_t number) noexcept nogil:
    cdef int n = plan.axes
    go_to_columns(plan, place, number % plan.blocks * plan.block)
    number //= plan.blocks
    while n > 0:
        n -= 1
        go_to_index(plan, place, n, number % plan.axis[n].results)
        number //= plan.axis[n].results
    go_to_lines(plan, place, number * plan.band)


cdef void go_to_next_band(const WindowPlan* plan, WindowPlace* place) noexcept nogil:
    cdef int n = plan.axes
    if plan.blocks > 1:
        if place.column + plan.block < plan.columns.results:
            go_to_columns(plan, place, place.column + plan.block)
            return
        go_to_columns(plan, place, 0)
    while n > 0:
        n -= 1
        if place.index[n] + 1 < plan.axis[n].results:
            go_to_index(plan, place, n, place.index[n] + 1)
            return
        go_to_index(plan, place, n, 0)
    go_to_lines(plan, place, place.line + plan.band)


# Elements inside the input that a window of the band has on the remaining axes.
cdef inline int64_t valid_rows(const WindowPlan* plan, const WindowPlace* place) noexcept nogil:
    cdef int64_t rows = 1
    cdef int n
    for n in range(plan.axes):
        rows *= place.valid[n]
    return rows


cdef inline const char* first_row(const WindowPlan* plan, const WindowPlace* place) noexcept nogil:
    cdef const char* row = plan.input + place.line * plan.lines.input_step
    cdef int n
    for n in range(plan.axes):
        row += place.input[n]
    return row


cdef inline char* first_result(const WindowPlan* plan, const WindowPlace* place) noexcept nogil:
    cdef char* result = plan.output + place.line * plan.lines.output_step + place.column * plan.columns.output_step
    cdef int n
    for n in range(plan.axes):
        result += place.output[n]
    return result


# Moves `tap` to the next row under the windows, in ascending order; returns the distance in bytes.
cdef inline int64_t next_row(const WindowPlan* plan, const WindowPlace* place, int64_t* tap) noexcept nogil:
    cdef int64_t step
    cdef int64_t distance = 0
    cdef int n = plan.axes
    while n > 0:
        n -= 1
        step = plan.axis[n].dilation * plan.axis[n].input_step
        tap[n] += 1
        if tap[n] < place.valid[n]:
            return distance + step
        tap[n] = 0
        distance -= (place.valid[n] - 1) * step
    return distance


# Whether each index has one element, inside the input: the axis then has a window and a stride of 1.
cdef bint not_pooled(WindowAxis* axis) noexcept nogil:
    if axis.window > 1 or axis.start > 0 or (axis.results - 1) * axis.stride >= axis.size:
        return False
    axis.input_step *= axis.stride
    axis.stride = 1
    axis.size = axis.results
    return True


cdef bint merge(WindowAxis* outer, const WindowAxis* inner) noexcept nogil:
    if outer.input_step != inner.size * inner.input_step or outer.output_step != inner.size * inner.output_step:
        return False
    outer.size *= inner.size
    outer.results = outer.size
    outer.input_step = inner.input_step
    outer.output_step = inner.output_step
    return True


# Fills in the axes, without those that make no difference; neighbours that are not pooled become one where they can.
cdef void plan_axes(const WindowReduce* a, WindowPlan* plan) noexcept nogil:
    cdef int n, spatial
    cdef int64_t first, end
    cdef WindowAxis axis
    plan.volume = 1
    plan.axes = 0
    for n in range(a.input.rank):
        spatial = n - (a.input.rank - a.spatial)
        axis.size = a.input.sizes[n]
        axis.results = a.output.sizes[n]
        axis.input_step = a.input.strides[n]
        axis.output_step = a.output.strides[n]
        axis.window = a.window[spatial] if spatial >= 0 else 1
        axis.stride = a.strides[spatial] if spatial >= 0 else 1
        axis.dilation = a.dilations[spatial] if spatial >= 0 else 1
        axis.start = a.start[spatial] if spatial >= 0 else 0
        plan.volume *= <double> axis.window
        if not_pooled(&axis) and plan.axes > 0 and not_pooled(&plan.axis[plan.axes - 1]):
            if merge(&plan.axis[plan.axes - 1], &axis):
                continue
        valid_taps(&axis, 0, &first, &end)
        if axis.size > 1 or axis.results > 1 or first == end:
            plan.axis[plan.axes] = axis
            plan.axes += 1
    if plan.axes == 0:
        plan.axis[0] = axis
        plan.axes = 1


cdef void plan_bands(WindowPlan* plan) noexcept nogil:
    cdef WindowAxis* columns = &plan.columns
    cdef int n
    cdef int lines = -1
    plan.axes -= 1
    columns[0] = plan.axis[plan.axes]
    for n in range(plan.axes):
        if not_pooled(&plan.axis[n]) and (lines < 0 or plan.axis[n].results >= plan.axis[lines].results):
            lines = n
    if lines < 0:
        plan.lines.results = 1
        plan.lines.input_step = 0
        plan.lines.output_step = 0
    else:
        plan.lines = plan.axis[lines]
        plan.axes -= 1
        for n in range(lines, plan.axes):
            plan.axis[n] = plan.axis[n + 1]

    plan.block = min(columns.results, 1 + LONGEST_BLOCK // columns.stride)
    plan.blocks = ceil_div(columns.results, plan.block)
    plan.block = ceil_div(columns.results, plan.blocks)
    plan.taps = min(columns.window, 1 + LONGEST_BLOCK // columns.dilation)
    plan.pitch = (plan.block - 1) * columns.stride + (plan.taps - 1) * columns.dilation + 1
    plan.step = columns.stride if plan.block > 1 else plan.pitch
    plan.result_pitch = ceil_div(plan.pitch, plan.step)
    plan.pitch = plan.result_pitch * plan.step
    plan.band = max(1, min(plan.lines.results, BAND_ELEMENTS // plan.pitch))


cdef int run_windows(Work work, const WindowReduce* a, int item) noexcept nogil:
    cdef WindowPlan plan
    cdef int64_t total, elements
    cdef int n
    plan.input = a.input.data
    plan.output = a.output.data
    plan.attributes = a.attributes
    plan_axes(a, &plan)
    plan_bands(&plan)
    total = plan.blocks * ceil_div(plan.lines.results, plan.band)
    elements = min(plan.pitch, plan.columns.size)
    for n in range(plan.axes):
        total *= plan.axis[n].results
        elements *= min(plan.axis[n].window, plan.axis[n].size)
    return parallel_for(work, &plan, total, grain_of((elements + plan.block) * plan.band * item))


# average_pooling_FLOAT16

cdef inline float average_pooling_FLOAT16_step(float acc, float x, bint include_padding) noexcept nogil:
    return acc + x


cdef inline float average_pooling_FLOAT16_combine(float acc, float other) noexcept nogil:
    return acc + other


cdef inline float average_pooling_FLOAT16_finish(
        float acc, float count, float volume, bint include_padding) noexcept nogil:
    return acc / <float>(volume if include_padding else max(count, 1))


cdef inline void average_pooling_FLOAT16_clear(float* sums, int64_t size) noexcept nogil:
    cdef int64_t i
    for i in range(size):
        sums[i] = 0


# The row as contiguous float: itself, or a copy in `scratch`.
cdef inline const float* average_pooling_FLOAT16_load(
        const char* row, int64_t step, float* scratch, int64_t size) noexcept nogil:
    dmlcy_half_to_float(<const uint16_t*> row, step, scratch, size)
    return scratch


# Takes `rows` rows into the sums of each line; `fresh`: there are no sums yet.
cdef void average_pooling_FLOAT16_add_rows(
        float_only sums, int64_t pitch, const float** row, int rows, int64_t line_step,
        int64_t lines, int64_t size, bint fresh, bint include_padding) noexcept nogil:
    cdef int64_t i
    cdef float acc
    cdef const float* row0 = row[0]
    cdef const float* row1 = row[1 if rows > 1 else 0]
    cdef const float* row2 = row[2 if rows > 2 else 0]
    cdef const float* row3 = row[3 if rows > 3 else 0]
    for _ in range(lines):
        if rows == 4:
            for i in range(size):
                acc = 0 if fresh else sums[i]
                acc = average_pooling_FLOAT16_step(acc, <float> row0[i], include_padding)
                acc = average_pooling_FLOAT16_step(acc, <float> row1[i], include_padding)
                acc = average_pooling_FLOAT16_step(acc, <float> row2[i], include_padding)
                acc = average_pooling_FLOAT16_step(acc, <float> row3[i], include_padding)
                sums[i] = acc
        elif rows == 3:
            for i in range(size):
                acc = 0 if fresh else sums[i]
                acc = average_pooling_FLOAT16_step(acc, <float> row0[i], include_padding)
                acc = average_pooling_FLOAT16_step(acc, <float> row1[i], include_padding)
                acc = average_pooling_FLOAT16_step(acc, <float> row2[i], include_padding)
                sums[i] = acc
        elif rows == 2:
            for i in range(size):
                acc = 0 if fresh else sums[i]
                acc = average_pooling_FLOAT16_step(acc, <float> row0[i], include_padding)
                acc = average_pooling_FLOAT16_step(acc, <float> row1[i], include_padding)
                sums[i] = acc
        elif rows == 1:
            for i in range(size):
                acc = 0 if fresh else sums[i]
                acc = average_pooling_FLOAT16_step(acc, <float> row0[i], include_padding)
                sums[i] = acc
        sums += pitch
        row0 += line_step
        row1 += line_step
        row2 += line_step
        row3 += line_step


# Reduces, on the remaining axes, `size` columns of the input from `begin` on. Sums of padding stay as they are.
cdef void average_pooling_FLOAT16_reduce_rows(
        const WindowPlan* plan, const WindowPlace* place, int64_t begin, int64_t size, float* sums,
        float* scratch, bint include_padding) noexcept nogil:
    cdef int64_t low = max(begin, 0)
    cdef int64_t width = min(begin + size, plan.columns.size) - low
    cdef int64_t line_step = plan.lines.input_step
    cdef int64_t column_step = plan.columns.input_step
    cdef int64_t lines = 1 if scratch != NULL else place.lines
    cdef int64_t line, rows
    cdef int64_t tap[MAX_RANK]
    cdef const float* row[GROUP]
    cdef const char* input
    cdef int waiting, n
    cdef bint fresh
    if width <= 0:
        return
    sums += low - begin
    line = 0
    while line < place.lines:
        input = first_row(plan, place) + line * line_step + low * column_step
        rows = valid_rows(plan, place)
        if rows == 0:
            average_pooling_FLOAT16_clear(sums, (lines - 1) * plan.pitch + width)
        for n in range(plan.axes):
            tap[n] = 0
        waiting = 0
        fresh = True
        while rows > 0:
            row[waiting] = average_pooling_FLOAT16_load(input, column_step, scratch + waiting * plan.pitch, width)
            waiting += 1
            rows -= 1
            if waiting == GROUP or rows == 0:
                average_pooling_FLOAT16_add_rows(
                    sums, plan.pitch, row, waiting, line_step // <int64_t> sizeof(float), lines, width,
                    fresh, include_padding)
                waiting = 0
                fresh = False
            if rows > 0:
                input += next_row(plan, place, tap)
        sums += plan.pitch * lines
        line += lines


# Takes `taps` taps of each window into the results, which lie as close as the windows; `fresh`: there are none yet.
cdef void average_pooling_FLOAT16_add_taps(
        float_only results, int64_t size, const float* sums, int64_t step, int64_t taps, int64_t dilation,
        bint fresh) noexcept nogil:
    cdef int64_t i, group
    cdef float acc
    while taps > 0:
        group = GROUP if taps >= GROUP else 1
        if group == 1:
            for i in range(size):
                acc = 0 if fresh else results[i]
                results[i] = average_pooling_FLOAT16_combine(acc, sums[i * step])
        elif step == 1:
            for i in range(size):
                acc = 0 if fresh else results[i]
                acc = average_pooling_FLOAT16_combine(acc, sums[i])
                acc = average_pooling_FLOAT16_combine(acc, sums[i + dilation])
                acc = average_pooling_FLOAT16_combine(acc, sums[i + 2 * dilation])
                acc = average_pooling_FLOAT16_combine(acc, sums[i + 3 * dilation])
                results[i] = acc
        elif step == 2:
            for i in range(size):
                acc = 0 if fresh else results[i]
                acc = average_pooling_FLOAT16_combine(acc, sums[i * 2])
                acc = average_pooling_FLOAT16_combine(acc, sums[i * 2 + dilation])
                acc = average_pooling_FLOAT16_combine(acc, sums[i * 2 + 2 * dilation])
                acc = average_pooling_FLOAT16_combine(acc, sums[i * 2 + 3 * dilation])
                results[i] = acc
        else:
            for i in range(size):
                acc = 0 if fresh else results[i]
                acc = average_pooling_FLOAT16_combine(acc, sums[i * step])
                acc = average_pooling_FLOAT16_combine(acc, sums[i * step + dilation])
                acc = average_pooling_FLOAT16_combine(acc, sums[i * step + 2 * dilation])
                acc = average_pooling_FLOAT16_combine(acc, sums[i * step + 3 * dilation])
                results[i] = acc
        taps -= group
        sums += group * dilation
        fresh = False


# Takes the last taps, at most GROUP, of windows of the same count into their results, and finishes them.
cdef void average_pooling_FLOAT16_finish_windows(
        float_only target, int64_t target_step, const float* results, int64_t result_step,
        const float* sums, int64_t step, int64_t taps, int64_t dilation, int64_t size, bint fresh,
        float count, float volume, bint include_padding) noexcept nogil:
    cdef int64_t i
    cdef float acc
    cdef bint near = target_step == 1 and result_step == 1
    if near and step == 1:
        if taps == 4:
            for i in range(size):
                acc = 0 if fresh else results[i]
                acc = average_pooling_FLOAT16_combine(acc, sums[i])
                acc = average_pooling_FLOAT16_combine(acc, sums[i + dilation])
                acc = average_pooling_FLOAT16_combine(acc, sums[i + 2 * dilation])
                acc = average_pooling_FLOAT16_combine(acc, sums[i + 3 * dilation])
                target[i] = average_pooling_FLOAT16_finish(acc, count, volume, include_padding)
        elif taps == 3:
            for i in range(size):
                acc = 0 if fresh else results[i]
                acc = average_pooling_FLOAT16_combine(acc, sums[i])
                acc = average_pooling_FLOAT16_combine(acc, sums[i + dilation])
                acc = average_pooling_FLOAT16_combine(acc, sums[i + 2 * dilation])
                target[i] = average_pooling_FLOAT16_finish(acc, count, volume, include_padding)
        elif taps == 2:
            for i in range(size):
                acc = 0 if fresh else results[i]
                acc = average_pooling_FLOAT16_combine(acc, sums[i])
                acc = average_pooling_FLOAT16_combine(acc, sums[i + dilation])
                target[i] = average_pooling_FLOAT16_finish(acc, count, volume, include_padding)
        elif taps == 1:
            for i in range(size):
                acc = 0 if fresh else results[i]
                acc = average_pooling_FLOAT16_combine(acc, sums[i])
                target[i] = average_pooling_FLOAT16_finish(acc, count, volume, include_padding)
    elif near and step == 2:
        if taps == 4:
            for i in range(size):
                acc = 0 if fresh else results[i]
                acc = average_pooling_FLOAT16_combine(acc, sums[i * 2])
                acc = average_pooling_FLOAT16_combine(acc, sums[i * 2 + dilation])
                acc = average_pooling_FLOAT16_combine(acc, sums[i * 2 + 2 * dilation])
                acc = average_pooling_FLOAT16_combine(acc, sums[i * 2 + 3 * dilation])
                target[i] = average_pooling_FLOAT16_finish(acc, count, volume, include_padding)
        elif taps == 3:
            for i in range(size):
                acc = 0 if fresh else results[i]
                acc = average_pooling_FLOAT16_combine(acc, sums[i * 2])
                acc = average_pooling_FLOAT16_combine(acc, sums[i * 2 + dilation])
                acc = average_pooling_FLOAT16_combine(acc, sums[i * 2 + 2 * dilation])
                target[i] = average_pooling_FLOAT16_finish(acc, count, volume, include_padding)
        elif taps == 2:
            for i in range(size):
                acc = 0 if fresh else results[i]
                acc = average_pooling_FLOAT16_combine(acc, sums[i * 2])
                acc = average_pooling_FLOAT16_combine(acc, sums[i * 2 + dilation])
                target[i] = average_pooling_FLOAT16_finish(acc, count, volume, include_padding)
        elif taps == 1:
            for i in range(size):
                acc = 0 if fresh else results[i]
                acc = average_pooling_FLOAT16_combine(acc, sums[i * 2])
                target[i] = average_pooling_FLOAT16_finish(acc, count, volume, include_padding)
    else:
        if taps == 4:
            for i in range(size):
                acc = 0 if fresh else results[i * result_step]
                acc = average_pooling_FLOAT16_combine(acc, sums[i * step])
                acc = average_pooling_FLOAT16_combine(acc, sums[i * step + dilation])
                acc = average_pooling_FLOAT16_combine(acc, sums[i * step + 2 * dilation])
                acc = average_pooling_FLOAT16_combine(acc, sums[i * step + 3 * dilation])
                target[i * target_step] = average_pooling_FLOAT16_finish(acc, count, volume, include_padding)
        elif taps == 3:
            for i in range(size):
                acc = 0 if fresh else results[i * result_step]
                acc = average_pooling_FLOAT16_combine(acc, sums[i * step])
                acc = average_pooling_FLOAT16_combine(acc, sums[i * step + dilation])
                acc = average_pooling_FLOAT16_combine(acc, sums[i * step + 2 * dilation])
                target[i * target_step] = average_pooling_FLOAT16_finish(acc, count, volume, include_padding)
        elif taps == 2:
            for i in range(size):
                acc = 0 if fresh else results[i * result_step]
                acc = average_pooling_FLOAT16_combine(acc, sums[i * step])
                acc = average_pooling_FLOAT16_combine(acc, sums[i * step + dilation])
                target[i * target_step] = average_pooling_FLOAT16_finish(acc, count, volume, include_padding)
        elif taps == 1:
            for i in range(size):
                acc = 0 if fresh else results[i * result_step]
                acc = average_pooling_FLOAT16_combine(acc, sums[i * step])
                target[i * target_step] = average_pooling_FLOAT16_finish(acc, count, volume, include_padding)


# Makes the results of a band from its sums: along the lines, and column by column where windows have padding.
cdef void average_pooling_FLOAT16_finish_band(
        const WindowPlan* plan, const WindowPlace* place, float* results, const float* sums, int64_t taps,
        bint fresh, float* halves, bint include_padding) noexcept nogil:
    cdef const WindowAxis* columns = &plan.columns
    cdef float rows = <float> valid_rows(plan, place)
    cdef float volume = <float> plan.volume
    cdef int64_t inside = place.inside
    cdef int64_t outside = place.outside
    cdef int64_t i, line, first, end
    cdef int64_t leading = (taps - 1) // GROUP * GROUP
    cdef char* output = first_result(plan, place)
    cdef float* target = halves
    cdef int64_t target_step = 1
    cdef int64_t line_step = plan.result_pitch
    if leading > 0:
        average_pooling_FLOAT16_add_taps(
            results, (place.lines - 1) * plan.result_pitch + place.columns, sums, plan.step, leading, columns.dilation,
            fresh)
        fresh = False
        sums += leading * columns.dilation
        taps -= leading
    if outside - inside < GROUP:
        outside = inside
    if inside < outside:
        for line in range(place.lines):
            average_pooling_FLOAT16_finish_windows(
                target + line * line_step + inside * target_step, target_step,
                results + line * plan.result_pitch + inside, 1,
                sums + line * plan.pitch + inside * plan.step, plan.step, taps, columns.dilation,
                outside - inside, fresh, rows * columns.window, volume, include_padding)
    i = 0
    while i < place.columns:
        if i == inside and inside < outside:
            i = outside
            continue
        valid_taps(columns, place.column + i, &first, &end)
        average_pooling_FLOAT16_finish_windows(
            target + i * target_step, line_step, results + i, plan.result_pitch, sums + i * plan.step, plan.pitch,
            taps, columns.dilation, place.lines, fresh, rows * (end - first), volume, include_padding)
        i += 1
    for line in range(place.lines):
        dmlcy_float_to_half(
            target + line * line_step, <uint16_t*> (output + line * plan.lines.output_step),
            columns.output_step, place.columns)


cdef int average_pooling_FLOAT16_work(const void* args, int64_t begin, int64_t end) noexcept nogil:
    cdef const WindowPlan* plan = <const WindowPlan*> args
    cdef const WindowAxis* columns = &plan.columns
    cdef const AveragePooling* attributes = <const AveragePooling*> plan.attributes
    cdef bint include_padding = attributes.include_padding
    cdef int64_t band = plan.band * plan.pitch
    cdef int64_t filled = columns.size      # column of the input that sums[0] stood for when all were filled
    cdef int64_t column, tap, taps
    cdef float* sums = <float*> malloc(3 * band * sizeof(float))
    cdef float* results = sums + band
    cdef float* scratch = NULL
    cdef bint direct = False
    cdef WindowPlace place
    if not direct:
        scratch = <float*> malloc(GROUP * plan.pitch * sizeof(float))
    if sums == NULL or (scratch == NULL and not direct):
        free(sums)
        free(scratch)
        return -1
    go_to_band(plan, &place, begin)
    while begin < end:
        tap = place.tap
        while tap < place.end_tap:
            taps = min(plan.taps, place.end_tap - tap)
            column = place.column * columns.stride + tap * columns.dilation - columns.start
            if filled != column:
                average_pooling_FLOAT16_clear(sums, band)
                filled = column
            average_pooling_FLOAT16_reduce_rows(
                plan, &place, column, (place.columns - 1) * columns.stride + (taps - 1) * columns.dilation + 1,
                sums, scratch, include_padding)
            if tap + taps < place.end_tap:
                average_pooling_FLOAT16_add_taps(
                    results, (place.lines - 1) * plan.result_pitch + place.columns, sums, plan.step, taps,
                    columns.dilation, tap == place.tap)
            else:
                average_pooling_FLOAT16_finish_band(
                    plan, &place, results, sums, taps, tap == place.tap, results + band, include_padding)
            tap += taps
        begin += 1
        if begin < end:
            go_to_next_band(plan, &place)
    free(sums)
    free(scratch)
    return 0


cdef int average_pooling_FLOAT16(WindowReduce* a) noexcept nogil:
    return run_windows(average_pooling_FLOAT16_work, a, sizeof(uint16_t))


# average_pooling_FLOAT32

cdef inline float average_pooling_FLOAT32_step(float acc, float x, bint include_padding) noexcept nogil:
    return acc + x


cdef inline float average_pooling_FLOAT32_combine(float acc, float other) noexcept nogil:
    return acc + other


cdef inline float average_pooling_FLOAT32_finish(
        float acc, float count, float volume, bint include_padding) noexcept nogil:
    return acc / <float>(volume if include_padding else max(count, 1))


cdef inline void average_pooling_FLOAT32_clear(float* sums, int64_t size) noexcept nogil:
    cdef int64_t i
    for i in range(size):
        sums[i] = 0


# The row as contiguous float: itself, or a copy in `scratch`.
cdef inline const float* average_pooling_FLOAT32_load(
        const char* row, int64_t step, float* scratch, int64_t size) noexcept nogil:
    cdef int64_t i
    if step == sizeof(float):
        return <const float*> row
    for i in range(size):
        scratch[i] = (<const float*> (row + i * step))[0]
    return scratch


# Takes `rows` rows into the sums of each line; `fresh`: there are no sums yet.
cdef void average_pooling_FLOAT32_add_rows(
        float_only sums, int64_t pitch, const float** row, int rows, int64_t line_step,
        int64_t lines, int64_t size, bint fresh, bint include_padding) noexcept nogil:
    cdef int64_t i
    cdef float acc
    cdef const float* row0 = row[0]
    cdef const float* row1 = row[1 if rows > 1 else 0]
    cdef const float* row2 = row[2 if rows > 2 else 0]
    cdef const float* row3 = row[3 if rows > 3 else 0]
    for _ in range(lines):
        if rows == 4:
            for i in range(size):
                acc = 0 if fresh else sums[i]
                acc = average_pooling_FLOAT32_step(acc, <float> row0[i], include_padding)
                acc = average_pooling_FLOAT32_step(acc, <float> row1[i], include_padding)
                acc = average_pooling_FLOAT32_step(acc, <float> row2[i], include_padding)
                acc = average_pooling_FLOAT32_step(acc, <float> row3[i], include_padding)
                sums[i] = acc
        elif rows == 3:
            for i in range(size):
                acc = 0 if fresh else sums[i]
                acc = average_pooling_FLOAT32_step(acc, <float> row0[i], include_padding)
                acc = average_pooling_FLOAT32_step(acc, <float> row1[i], include_padding)
                acc = average_pooling_FLOAT32_step(acc, <float> row2[i], include_padding)
                sums[i] = acc
        elif rows == 2:
            for i in range(size):
                acc = 0 if fresh else sums[i]
                acc = average_pooling_FLOAT32_step(acc, <float> row0[i], include_padding)
                acc = average_pooling_FLOAT32_step(acc, <float> row1[i], include_padding)
                sums[i] = acc
        elif rows == 1:
            for i in range(size):
                acc = 0 if fresh else sums[i]
                acc = average_pooling_FLOAT32_step(acc, <float> row0[i], include_padding)
                sums[i] = acc
        sums += pitch
        row0 += line_step
        row1 += line_step
        row2 += line_step
        row3 += line_step


# Reduces, on the remaining axes, `size` columns of the input from `begin` on. Sums of padding stay as they are.
cdef void average_pooling_FLOAT32_reduce_rows(
        const WindowPlan* plan, const WindowPlace* place, int64_t begin, int64_t size, float* sums,
        float* scratch, bint include_padding) noexcept nogil:
    cdef int64_t low = max(begin, 0)
    cdef int64_t width = min(begin + size, plan.columns.size) - low
    cdef int64_t line_step = plan.lines.input_step
    cdef int64_t column_step = plan.columns.input_step
    cdef int64_t lines = 1 if scratch != NULL else place.lines
    cdef int64_t line, rows
    cdef int64_t tap[MAX_RANK]
    cdef const float* row[GROUP]
    cdef const char* input
    cdef int waiting, n
    cdef bint fresh
    if width <= 0:
        return
    sums += low - begin
    line = 0
    while line < place.lines:
        input = first_row(plan, place) + line * line_step + low * column_step
        rows = valid_rows(plan, place)
        if rows == 0:
            average_pooling_FLOAT32_clear(sums, (lines - 1) * plan.pitch + width)
        for n in range(plan.axes):
            tap[n] = 0
        waiting = 0
        fresh = True
        while rows > 0:
            row[waiting] = average_pooling_FLOAT32_load(input, column_step, scratch + waiting * plan.pitch, width)
            waiting += 1
            rows -= 1
            if waiting == GROUP or rows == 0:
                average_pooling_FLOAT32_add_rows(
                    sums, plan.pitch, row, waiting, line_step // <int64_t> sizeof(float), lines, width,
                    fresh, include_padding)
                waiting = 0
                fresh = False
            if rows > 0:
                input += next_row(plan, place, tap)
        sums += plan.pitch * lines
        line += lines


# Takes `taps` taps of each window into the results, which lie as close as the windows; `fresh`: there are none yet.
cdef void average_pooling_FLOAT32_add_taps(
        float_only results, int64_t size, const float* sums, int64_t step, int64_t taps, int64_t dilation,
        bint fresh) noexcept nogil:
    cdef int64_t i, group
    cdef float acc
    while taps > 0:
        group = GROUP if taps >= GROUP else 1
        if group == 1:
            for i in range(size):
                acc = 0 if fresh else results[i]
                results[i] = average_pooling_FLOAT32_combine(acc, sums[i * step])
        elif step == 1:
            for i in range(size):
                acc = 0 if fresh else results[i]
                acc = average_pooling_FLOAT32_combine(acc, sums[i])
                acc = average_pooling_FLOAT32_combine(acc, sums[i + dilation])
                acc = average_pooling_FLOAT32_combine(acc, sums[i + 2 * dilation])
                acc = average_pooling_FLOAT32_combine(acc, sums[i + 3 * dilation])
                results[i] = acc
        elif step == 2:
            for i in range(size):
                acc = 0 if fresh else results[i]
                acc = average_pooling_FLOAT32_combine(acc, sums[i * 2])
                acc = average_pooling_FLOAT32_combine(acc, sums[i * 2 + dilation])
                acc = average_pooling_FLOAT32_combine(acc, sums[i * 2 + 2 * dilation])
                acc = average_pooling_FLOAT32_combine(acc, sums[i * 2 + 3 * dilation])
                results[i] = acc
        else:
            for i in range(size):
                acc = 0 if fresh else results[i]
                acc = average_pooling_FLOAT32_combine(acc, sums[i * step])
                acc = average_pooling_FLOAT32_combine(acc, sums[i * step + dilation])
                acc = average_pooling_FLOAT32_combine(acc, sums[i * step + 2 * dilation])
                acc = average_pooling_FLOAT32_combine(acc, sums[i * step + 3 * dilation])
                results[i] = acc
        taps -= group
        sums += group * dilation
        fresh = False


# Takes the last taps, at most GROUP, of windows of the same count into their results, and finishes them.
cdef void average_pooling_FLOAT32_finish_windows(
        float_only target, int64_t target_step, const float* results, int64_t result_step,
        const float* sums, int64_t step, int64_t taps, int64_t dilation, int64_t size, bint fresh,
        float count, float volume, bint include_padding) noexcept nogil:
    cdef int64_t i
    cdef float acc
    cdef bint near = target_step == 1 and result_step == 1
    if near and step == 1:
        if taps == 4:
            for i in range(size):
                acc = 0 if fresh else results[i]
                acc = average_pooling_FLOAT32_combine(acc, sums[i])
                acc = average_pooling_FLOAT32_combine(acc, sums[i + dilation])
                acc = average_pooling_FLOAT32_combine(acc, sums[i + 2 * dilation])
                acc = average_pooling_FLOAT32_combine(acc, sums[i + 3 * dilation])
                target[i] = average_pooling_FLOAT32_finish(acc, count, volume, include_padding)
        elif taps == 3:
            for i in range(size):
                acc = 0 if fresh else results[i]
                acc = average_pooling_FLOAT32_combine(acc, sums[i])
                acc = average_pooling_FLOAT32_combine(acc, sums[i + dilation])
                acc = average_pooling_FLOAT32_combine(acc, sums[i + 2 * dilation])
                target[i] = average_pooling_FLOAT32_finish(acc, count, volume, include_padding)
        elif taps == 2:
            for i in range(size):
                acc = 0 if fresh else results[i]
                acc = average_pooling_FLOAT32_combine(acc, sums[i])
                acc = average_pooling_FLOAT32_combine(acc, sums[i + dilation])
                target[i] = average_pooling_FLOAT32_finish(acc, count, volume, include_padding)
        elif taps == 1:
            for i in range(size):
                acc = 0 if fresh else results[i]
                acc = average_pooling_FLOAT32_combine(acc, sums[i])
                target[i] = average_pooling_FLOAT32_finish(acc, count, volume, include_padding)
    elif near and step == 2:
        if taps == 4:
            for i in range(size):
                acc = 0 if fresh else results[i]
                acc = average_pooling_FLOAT32_combine(acc, sums[i * 2])
                acc = average_pooling_FLOAT32_combine(acc, sums[i * 2 + dilation])
                acc = average_pooling_FLOAT32_combine(acc, sums[i * 2 + 2 * dilation])
                acc = average_pooling_FLOAT32_combine(acc, sums[i * 2 + 3 * dilation])
                target[i] = average_pooling_FLOAT32_finish(acc, count, volume, include_padding)
        elif taps == 3:
            for i in range(size):
                acc = 0 if fresh else results[i]
                acc = average_pooling_FLOAT32_combine(acc, sums[i * 2])
                acc = average_pooling_FLOAT32_combine(acc, sums[i * 2 + dilation])
                acc = average_pooling_FLOAT32_combine(acc, sums[i * 2 + 2 * dilation])
                target[i] = average_pooling_FLOAT32_finish(acc, count, volume, include_padding)
        elif taps == 2:
            for i in range(size):
                acc = 0 if fresh else results[i]
                acc = average_pooling_FLOAT32_combine(acc, sums[i * 2])
                acc = average_pooling_FLOAT32_combine(acc, sums[i * 2 + dilation])
                target[i] = average_pooling_FLOAT32_finish(acc, count, volume, include_padding)
        elif taps == 1:
            for i in range(size):
                acc = 0 if fresh else results[i]
                acc = average_pooling_FLOAT32_combine(acc, sums[i * 2])
                target[i] = average_pooling_FLOAT32_finish(acc, count, volume, include_padding)
    else:
        if taps == 4:
            for i in range(size):
                acc = 0 if fresh else results[i * result_step]
                acc = average_pooling_FLOAT32_combine(acc, sums[i * step])
                acc = average_pooling_FLOAT32_combine(acc, sums[i * step + dilation])
                acc = average_pooling_FLOAT32_combine(acc, sums[i * step + 2 * dilation])
                acc = average_pooling_FLOAT32_combine(acc, sums[i * step + 3 * dilation])
                target[i * target_step] = average_pooling_FLOAT32_finish(acc, count, volume, include_padding)
        elif taps == 3:
            for i in range(size):
                acc = 0 if fresh else results[i * result_step]
                acc = average_pooling_FLOAT32_combine(acc, sums[i * step])
                acc = average_pooling_FLOAT32_combine(acc, sums[i * step + dilation])
                acc = average_pooling_FLOAT32_combine(acc, sums[i * step + 2 * dilation])
                target[i * target_step] = average_pooling_FLOAT32_finish(acc, count, volume, include_padding)
        elif taps == 2:
            for i in range(size):
                acc = 0 if fresh else results[i * result_step]
                acc = average_pooling_FLOAT32_combine(acc, sums[i * step])
                acc = average_pooling_FLOAT32_combine(acc, sums[i * step + dilation])
                target[i * target_step] = average_pooling_FLOAT32_finish(acc, count, volume, include_padding)
        elif taps == 1:
            for i in range(size):
                acc = 0 if fresh else results[i * result_step]
                acc = average_pooling_FLOAT32_combine(acc, sums[i * step])
                target[i * target_step] = average_pooling_FLOAT32_finish(acc, count, volume, include_padding)


# Makes the results of a band from its sums: along the lines, and column by column where windows have padding.
cdef void average_pooling_FLOAT32_finish_band(
        const WindowPlan* plan, const WindowPlace* place, float* results, const float* sums, int64_t taps,
        bint fresh, bint include_padding) noexcept nogil:
    cdef const WindowAxis* columns = &plan.columns
    cdef float rows = <float> valid_rows(plan, place)
    cdef float volume = <float> plan.volume
    cdef int64_t inside = place.inside
    cdef int64_t outside = place.outside
    cdef int64_t i, line, first, end
    cdef int64_t leading = (taps - 1) // GROUP * GROUP
    cdef float* target = <float*> first_result(plan, place)
    cdef int64_t target_step = columns.output_step // <int64_t> sizeof(float)
    cdef int64_t line_step = plan.lines.output_step // <int64_t> sizeof(float)
    if leading > 0:
        average_pooling_FLOAT32_add_taps(
            results, (place.lines - 1) * plan.result_pitch + place.columns, sums, plan.step, leading, columns.dilation,
            fresh)
        fresh = False
        sums += leading * columns.dilation
        taps -= leading
    if outside - inside < GROUP:
        outside = inside
    if inside < outside:
        for line in range(place.lines):
            average_pooling_FLOAT32_finish_windows(
                target + line * line_step + inside * target_step, target_step,
                results + line * plan.result_pitch + inside, 1,
                sums + line * plan.pitch + inside * plan.step, plan.step, taps, columns.dilation,
                outside - inside, fresh, rows * columns.window, volume, include_padding)
    i = 0
    while i < place.columns:
        if i == inside and inside < outside:
            i = outside
            continue
        valid_taps(columns, place.column + i, &first, &end)
        average_pooling_FLOAT32_finish_windows(
            target + i * target_step, line_step, results + i, plan.result_pitch, sums + i * plan.step, plan.pitch,
            taps, columns.dilation, place.lines, fresh, rows * (end - first), volume, include_padding)
        i += 1


cdef int average_pooling_FLOAT32_work(const void* args, int64_t begin, int64_t end) noexcept nogil:
    cdef const WindowPlan* plan = <const WindowPlan*> args
    cdef const WindowAxis* columns = &plan.columns
    cdef const AveragePooling* attributes = <const AveragePooling*> plan.attributes
    cdef bint include_padding = attributes.include_padding
    cdef int64_t band = plan.band * plan.pitch
    cdef int64_t filled = columns.size      # column of the input that sums[0] stood for when all were filled
    cdef int64_t column, tap, taps
    cdef float* sums = <float*> malloc(2 * band * sizeof(float))
    cdef float* results = sums + band
    cdef float* scratch = NULL
    cdef bint direct = columns.input_step == sizeof(float)
    cdef WindowPlace place
    if not direct:
        scratch = <float*> malloc(GROUP * plan.pitch * sizeof(float))
    if sums == NULL or (scratch == NULL and not direct):
        free(sums)
        free(scratch)
        return -1
    go_to_band(plan, &place, begin)
    while begin < end:
        tap = place.tap
        while tap < place.end_tap:
            taps = min(plan.taps, place.end_tap - tap)
            column = place.column * columns.stride + tap * columns.dilation - columns.start
            if filled != column:
                average_pooling_FLOAT32_clear(sums, band)
                filled = column
            average_pooling_FLOAT32_reduce_rows(
                plan, &place, column, (place.columns - 1) * columns.stride + (taps - 1) * columns.dilation + 1,
                sums, scratch, include_padding)
            if tap + taps < place.end_tap:
                average_pooling_FLOAT32_add_taps(
                    results, (place.lines - 1) * plan.result_pitch + place.columns, sums, plan.step, taps,
                    columns.dilation, tap == place.tap)
            else:
                average_pooling_FLOAT32_finish_band(
                    plan, &place, results, sums, taps, tap == place.tap, include_padding)
            tap += taps
        begin += 1
        if begin < end:
            go_to_next_band(plan, &place)
    free(sums)
    free(scratch)
    return 0


cdef int average_pooling_FLOAT32(WindowReduce* a) noexcept nogil:
    return run_windows(average_pooling_FLOAT32_work, a, sizeof(float))


# AVERAGE_POOLING

cdef struct AveragePooling:
    Tensor input
    Tensor output
    int64_t strides[MAX_RANK]
    int64_t window_size[MAX_RANK]
    int64_t start_padding[MAX_RANK]
    int64_t end_padding[MAX_RANK]
    bint include_padding
    int64_t spatial
    int64_t padded[MAX_RANK]
    int64_t extent[MAX_RANK]
    int64_t pooled[MAX_RANK]

# By feature level, the values allowed (bit n: value n): data types, ranks, enum members.
cdef uint32_t[15] AVERAGE_POOLING_T = [
    0x6, 0x6, 0x6, 0x6, 0x6, 0x6, 0x6, 0x6,
    0x6, 0x6, 0x6, 0x6, 0x6, 0x6, 0x6,
]
cdef uint32_t[15] AVERAGE_POOLING_R_RANKS = [
    0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30,
    0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30,
]


# Whether the operator and its inputs hold at the level.
cdef bint average_pooling_inputs_hold(AveragePooling* a, int level) noexcept nogil:
    return (
        level >= 0
        and tensor_holds(&a.input, AVERAGE_POOLING_T[level], AVERAGE_POOLING_R_RANKS[level])
    )


# Takes the attributes from Python; 0 where one is not acceptable.
cdef int average_pooling_take(
    AveragePooling* a,
    int level,
    object strides,
    object window_size,
    object start_padding,
    object end_padding,
    object include_padding,
) except -1:
    a.spatial = a.input.rank - 2
    if not take_uints(strides, a.spatial, 1, 4294967295, a.strides):
        return 0
    if not take_uints(window_size, a.spatial, 1, 4294967295, a.window_size):
        return 0
    if not take_uints(start_padding, a.spatial, 0, 4294967295, a.start_padding):
        return 0
    if not take_uints(end_padding, a.spatial, 0, 4294967295, a.end_padding):
        return 0
    if not take_bool(include_padding, &a.include_padding):
        return 0
    return 1


# Computes the lets and the sizes of the output; whether every rule holds. An int64 that overflows does not hold.
cdef bint average_pooling_holds(AveragePooling* a, int level) noexcept nogil:
    cdef int64_t d
    for d in range(a.spatial):
        a.extent[d] = a.window_size[d]
    for d in range(a.spatial):
        a.padded[d] = a.input.sizes[2 + d] + a.start_padding[d] + a.end_padding[d]
    # window_size-fits
    for d in range(a.spatial):
        if not (a.extent[d] <= a.padded[d]):
            return False
    for d in range(a.spatial):
        a.pooled[d] = floor_div(a.padded[d] - a.extent[d], a.strides[d]) + 1
    a.output.dtype = a.input.dtype
    a.output.item = a.input.item
    a.output.rank = 0
    if not append_size(&a.output, a.input.sizes[0]):
        return False
    if not append_size(&a.output, a.input.sizes[1]):
        return False
    if not append_sizes(&a.output, a.pooled, a.spatial):
        return False
    if not tensor_holds(&a.output, AVERAGE_POOLING_T[level], AVERAGE_POOLING_R_RANKS[level]):
        return False
    return True


cdef int average_pooling_run(const AveragePooling* a) noexcept nogil:
    cdef WindowReduce work
    cdef int d
    work.input = a.input
    work.output = a.output
    work.spatial = <int>a.spatial
    memcpy(work.window, a.window_size, sizeof(work.window))
    memcpy(work.strides, a.strides, sizeof(work.strides))
    for d in range(MAX_RANK):
        work.dilations[d] = 1
    memcpy(work.start, a.start_padding, sizeof(work.start))
    work.attributes = a
    if a.input.dtype == 2:
        return average_pooling_FLOAT16(&work)
    return average_pooling_FLOAT32(&work)


# Runs on checked fields. None: `out` is not acceptable, and nothing was written.
cdef object average_pooling_call(AveragePooling* a, ndarray input_array, object out):
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
        raise RuntimeError("average_pooling(): input was changed during the call")
    if recordings is None:
        input_array = aligned(input_array, &a.input)
    else:
        input_array = packed(input_array, &a.input)
    if is_brief(&a.input) and is_brief(&a.output):
        status = average_pooling_run(a)
    else:
        with nogil:
            status = average_pooling_run(a)
    if status != 0:
        raise MemoryError("average_pooling: no memory for scratch rows")
    write_back(output_array, result)
    if recordings is not None:
        keep(recordings, "AVERAGE_POOLING", {
            "input": input_array,
            "output": packed(result, &a.output),
            "strides": tuple_of(a.spatial, a.strides),
            "window_size": tuple_of(a.spatial, a.window_size),
            "start_padding": tuple_of(a.spatial, a.start_padding),
            "end_padding": tuple_of(a.spatial, a.end_padding),
            "include_padding": a.include_padding,
        })
    return output_array if out is None else out


def average_pooling(
    input,
    *,
    window_size,
    strides=1,
    start_padding=0,
    end_padding=0,
    include_padding=False,
    out=None,
):
    """Average the elements of each position of a sliding window.

    Parameters
    ----------
    input : array_like, FLOAT32, FLOAT16; rank 4 to 5
        The tensor to pool, of sizes {N, C, H, W} or {N, C, D, H, W}.
    window_size : int or sequence of spatial ints, at least 1
        Size of the window along each spatial axis.
    strides : int or sequence of spatial ints, at least 1, default 1
        Step of the window along each spatial axis.
    start_padding : int or sequence of spatial ints, default 0
        Padding elements before each spatial axis.
    end_padding : int or sequence of spatial ints, default 0
        Padding elements after each spatial axis.
    include_padding : bool, default False
        Count padding elements in the divisor.
    out : array, optional
        Where the result is written: any layout, the data type and sizes of the result, no memory shared with an input.

    Returns
    -------
    array
        One element per position of the window.
        Sizes ``[sizes(input)[0], sizes(input)[1], *pooled]``.

    Notes
    -----
    spatial = rank(input) - 2
        Number of spatial axes.
    padded[d] = sizes(input)[2 + d] + start_padding[d] + end_padding[d]
        Size of each spatial axis after padding.
    extent[d] = window_size[d]
        Elements that the window spans along each spatial axis.
    pooled[d] = (padded[d] - extent[d]) // strides[d] + 1
        Positions of the window along each spatial axis.

    Raises
    ------
    InvalidDescError, InvalidDataTypeError, FeatureLevelError
        With every violation in ``.violations``: those of each field (data type, rank, range, length), and

        ``DML-AVERAGE_POOLING-window_size-fits``
            window_size does not fit. Must hold for d in spatial:
            ``extent[d] <= padded[d]``

    References
    ----------
    AVERAGE_POOLING, feature level 1_0:
    https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_average_pooling_operator_desc
    """
    cdef AveragePooling a
    cdef int level = current_level()
    cdef ndarray input_array = as_array(input)
    cdef object result
    if (
        view(input_array, &a.input)
        and average_pooling_inputs_hold(&a, level)
        and average_pooling_take(
            &a, level, strides, window_size, start_padding, end_padding, include_padding
        )
        and average_pooling_holds(&a, level)
    ):
        result = average_pooling_call(&a, input_array, out)
        if result is not None:
            return result
    return refuse("AVERAGE_POOLING", {
        "input": input,
        "window_size": window_size,
        "strides": strides,
        "start_padding": start_padding,
        "end_padding": end_padding,
        "include_padding": include_padding,
        "out": out,
    }, level)


cdef class AveragePoolingOperator(CompiledOperator):
    """AVERAGE_POOLING, checked once: called with arrays of the sizes and data types of its desc."""

    cdef AveragePooling fields

    def __cinit__(self, *args, **kwargs):
        self.inputs = 1

    def __init__(self, desc, int level):
        cdef AveragePooling a
        cdef Tensor computed
        if not (
            describe(desc.input, &a.input)
            and average_pooling_inputs_hold(&a, level)
            and average_pooling_take(
                &a, level, desc.strides, desc.window_size, desc.start_padding, desc.end_padding, desc.include_padding
            )
            and average_pooling_holds(&a, level)
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
        cdef AveragePooling a = self.fields
        cdef ndarray input_array = match(<object>inputs[0], &a.input)
        cdef object result
        if (
            input_array is not None
        ):
            result = average_pooling_call(&a, input_array, out)
            if result is not None:
                return result
        return refuse_call(self.desc, {
            "input": <object>inputs[0],
            "out": out,
        })


take_vectorcalls(AveragePoolingOperator)
