# cython: language_level=3
"""window_reduce: AVERAGE_POOLING."""

from cpython.object cimport PyObject
from libc.stdint cimport INT64_MAX, int64_t, uint16_t, uint32_t, uintptr_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy
from numpy cimport ndarray
from dmlcy._runtime.arguments cimport take_bool, take_uints
from dmlcy._runtime.blocks cimport (
    dmlcy_each_float, dmlcy_float_block, dmlcy_load_float, dmlcy_load_half, dmlcy_load_half_wide, dmlcy_store_float,
    dmlcy_store_half, dmlcy_store_half_wide,
)
from dmlcy._runtime.checks cimport append_size, append_sizes, ceil_div, floor_div, tensor_holds
from dmlcy._runtime.compiled cimport CompiledOperator, as_computed, describe, match, take_vectorcalls, unchanged
from dmlcy._runtime.half cimport dmlcy_float_of_half, dmlcy_half_of_float, dmlcy_half_to_float
from dmlcy._runtime.level cimport current_level
from dmlcy._runtime.moves cimport dmlcy_ask, dmlcy_turn_2, dmlcy_turn_4, DMLCY_TURNS
from dmlcy._runtime.recording cimport current_recordings, packed, tuple_of
from dmlcy._runtime.copy cimport dmlcy_copy
from dmlcy._runtime.isa cimport dmlcy_wide
from dmlcy._runtime.tensor cimport (
    FLOAT16, MAX_RANK, Tensor, aligned, as_array, bytes_of, is_brief, new_array, out_array, overlap, overlaps_itself,
    view, write_back,
)
from dmlcy._runtime.threads cimport SERIAL_BYTES, Work, grain_of, parallel_for

cdef enum:
    LEVEL_1_0 = 0
    LEVELS = 15


cdef enum:
    BLOCK = 32                      # bytes of the blocks of blocks.h, and elements, at most
    GROUP = 8                       # rows that one pass combines
    SLIDE = 3                       # rows of windows that loops of their own slide down
    SLOTS = 2 * GROUP               # rows that are kept for the windows that follow, at most
    LONGEST_ROW = 1024              # columns of the input under the windows of a block, or under their first taps
    LONGEST_RUN = 4096              # the same, times lanes
    FEWEST_LANES = 8
    MOST_LANES = 128
    BAND_ELEMENTS = 2048            # columns of all rows and lines of a band, if it has more than one
    FEWEST_ROWS = 4                 # of a band, if it has more than one
    BANDS = 64                      # that all threads are busy with
    UNDER_BAND = 4096               # elements under a row of windows of all its lines, if it has more than one
    LINE = 16                       # accumulators; rows of them begin at the start of a cache line
    HALVES = 256                    # that are converted at once
    SHORT_ROW = 32                  # elements; shorter rows are first put one after the other
    SMALL_ROOM = 1024               # accumulators that a thread keeps without asking for memory
    FEW_COLUMNS = 20                # of the input: lanes do better, though their elements are apart
    TURNED_LANES = 32               # that are then taken side by side
    SERIAL_SUMS = 6 * 1024 * 1024   # that one thread has made before another one has woken up
    RESULT_SUMS = 8                 # what a result costs besides, in sums
    TURN_SUMS = 12                  # what it costs to turn an element or a result
    FOLDED = 64                     # elements that are left of a row under one window before the last step
    FOLDED_BAND = 16384             # elements of a band of such rows
    MOST_TAPS = 32                  # of windows that are taken whole, lane by lane
    MOST_SHARED = 10                # windows that an element is under, if they are

# isa.h says what becomes of functions that are declared so: they take a WindowSum or a WindowFinish.
cdef extern from "isa.h" nogil:
    """
    static void sum_float_wide(void const *) DMLCY_WIDE;
    static void sum_float_near_wide(void const *) DMLCY_WIDE;
    static void sum_float_slide_wide(void const *) DMLCY_WIDE;
    static void sum_half_wide(void const *) DMLCY_WIDE;
    static void sum_half_slide_wide(void const *) DMLCY_WIDE;
    static void average_pooling_FLOAT16_finish_wide(void const *) DMLCY_WIDE;
    static void average_pooling_FLOAT32_finish_wide(void const *) DMLCY_WIDE;
    """

cdef struct WindowReduce:
    Tensor input
    Tensor output                   # of the rank of the input
    int spatial                     # axes that are pooled, the last ones
    int64_t window[MAX_RANK]        # these four: one entry per spatial axis
    int64_t strides[MAX_RANK]
    int64_t dilations[MAX_RANK]
    int64_t start[MAX_RANK]
    Tensor indices                  # where each maximum stands in the packed input; data type 0: nobody asks
    const void* attributes          # struct of the operator

cdef struct WindowAxis:
    int64_t size                    # elements of the input
    int64_t results                 # elements of the output
    int64_t input_step              # bytes between elements
    int64_t output_step
    int64_t indices_step
    int64_t number_step             # elements between them, if the input were packed
    int64_t window                  # 1 on an axis that is not pooled
    int64_t stride
    int64_t dilation
    int64_t start

# What is under a window is combined axis after axis: first the outer ones, which makes rows; then `rows`, which makes a
# row of sums; then `columns`, the last axis that matters. On each axis neighbours are combined in pairs, then the pairs
# in ascending order. Pairs of columns begin at an even tap, padding being the identity; elsewhere they begin at the
# first tap inside the input; where taps of columns lie more than LONGEST_ROW apart there are no pairs. So the order
# depends on sizes only.
#
# The output is made in bands: `tall` rows of `block` columns, times `run` lanes, times `band` lines. Lanes and lines
# are axes that are not pooled: lanes are neighbours in memory where columns are not, lines share the work of a loop.
# Every axis but the columns is combined by adding whole rows, and the columns too: where windows step by more than one
# column and there are no lanes, the sums are first split into phases, so that a tap is a row that begins somewhere in
# a phase.
cdef struct WindowPlan:
    const char* input
    char* output
    char* indices
    int indices_item                # bytes of an index; 0: nobody asks
    bint beside                     # lanes are neighbours in all tensors: windows are taken whole, row by row
    int axes
    bint deep                       # one of `axis` is pooled
    bint filled                     # for certain, there is an element under each window
    bint folds                      # elements are accumulators, and are combined in any order
    bint folded                     # what is under a window is one row of neighbours
    WindowAxis axis[MAX_RANK]       # none of the following
    WindowAxis lines
    WindowAxis rows
    WindowAxis columns
    WindowAxis lanes
    int64_t tall
    int64_t bands                   # that follow each other along the rows
    int64_t band
    int64_t run
    int64_t runs
    int64_t block
    int64_t blocks
    int64_t taps                    # taps along the columns that are taken at once
    int64_t pitch                   # columns of the input of a line, padding included: a multiple of `step`
    int64_t result_pitch            # pitch / step
    int64_t step                    # columns of the input between windows
    int64_t phase_step              # to the next tap
    int64_t index_step
    int64_t room                    # for the sums of a band
    int64_t line_room               # for those of one row of it
    int64_t slots                   # a power of two
    bint turned                     # columns of the input are neighbours in memory, lanes are not
    int64_t lane_at[TURNED_LANES]   # where they are then
    bint direct                     # rows of the input are long and contiguous, their elements accumulators
    bint taken                      # and are combined at once
    int64_t ahead                   # bytes from the rows of a band to those of the next one, if they come from memory
    bint flat                       # so are rows of the output
    double volume                   # elements of a window; int64 could overflow
    double shared                   # windows that an element is under
    const void* attributes

# Where a band is.
cdef struct WindowPlace:
    int64_t lines
    int64_t run
    int64_t column                  # of the output
    int64_t columns
    bint padded                     # some windows have padding along the columns
    int64_t tap                     # taps along the columns, from `tap` to `end_tap`, that meet the input somewhere
    int64_t end_tap
    int64_t row                     # of the output
    int64_t rows
    bint whole                      # no window has padding along the rows
    int64_t part                    # the first of the taps along the columns that are being taken; -1: none yet
    int64_t begin                   # column of the input that a row of sums begins with
    int64_t low                     # columns of such a row, from `low` to `high`, that are inside the input
    int64_t high
    int64_t held[SLOTS]             # row of the input that a slot holds; -1: none
    int64_t counted                 # what valid_rows() was when elements were last counted; -1: never
    int64_t counted_row             # and `row`; -1: any, as `whole`
    int64_t counted_rows            # and `rows`
    const char* input               # under the first tap of the remaining axes; row 0, column 0
    char* output                    # row 0, column `column`
    int64_t number                  # of the element at `input`, if the input were packed
    int64_t indices_at              # bytes to the indices that belong to `output`
    int64_t valid[MAX_RANK]         # taps of the remaining axes inside the input
    bint doubtful                   # a result of the band is


ctypedef void (*WindowLoop)(const void* args) noexcept nogil

# Rows that wait to be combined into the target.
cdef struct WindowSum:
    WindowLoop loop
    void* target
    int64_t target_step             # elements between lines
    int64_t line_step               # the same of the rows
    int64_t lines
    int64_t passes                  # how often all this is repeated
    int64_t pass_step               # elements to the rows of the next pass
    int64_t size
    int64_t item                    # bytes of an element
    int64_t ahead                   # bytes from a row to the one that will be needed a band later; 0: all are near
    bint fresh                      # there is nothing in the target yet
    int64_t waiting
    const void* row[GROUP]

cdef struct WindowFinish:
    char* target
    const void* results
    const void* counts
    int64_t size
    int64_t lines
    int64_t target_step             # bytes between lines
    int64_t line_step               # elements between lines of results, and of counts
    int64_t taps                    # along the columns, that are still to be combined: 1 or SLIDE
    int64_t tap_step                # elements between them
    double volume
    const void* attributes
    bint doubtful                   # a result may be another number: the band is computed again, exactly

# Windows that follow each other along the columns and have the same taps inside the input.
cdef struct WindowLanes:
    const char* input
    char* output
    char* indices
    int64_t columns
    int64_t input_step              # bytes from window to window
    int64_t output_step
    int64_t indices_step
    int indices_item
    int64_t lanes                   # a block of them, or more
    uint32_t number                 # of the element at `input`, if the input were packed
    uint32_t number_step            # from window to window
    uint32_t lane_step              # from lane to lane
    int taps
    int64_t at[MOST_TAPS]           # bytes from `input` to the elements under a tap
    uint32_t numbers[MOST_TAPS]     # from `number` to theirs


cdef inline void flush_rows(WindowSum* sum) noexcept nogil:
    cdef int64_t line, n
    if sum.waiting > 0:
        if sum.ahead > 0:
            for line in range(sum.lines):
                for n in range(sum.waiting):
                    dmlcy_ask(
                        <const char*> sum.row[n] + line * sum.line_step * sum.item + sum.ahead, sum.size * sum.item)
        sum.loop(sum)
        sum.waiting = 0
        sum.fresh = False


cdef inline void take_row(WindowSum* sum, const void* row) noexcept nogil:
    sum.row[sum.waiting] = row
    sum.waiting += 1
    if sum.waiting == GROUP:
        flush_rows(sum)


# Takes `count` rows that are `step` bytes apart; an even number in each of many passes.
cdef inline void take_rows(WindowSum* sum, const char* row, int64_t step, int64_t count, int64_t item) noexcept nogil:
    cdef int64_t i
    if count > GROUP and sum.ahead == 0:
        for i in range(GROUP):
            sum.row[i] = row + i * step
        sum.waiting = GROUP
        sum.passes = count // GROUP
        sum.pass_step = GROUP * step // item
        row += sum.passes * GROUP * step
        count -= sum.passes * GROUP
        flush_rows(sum)
        sum.passes = 1
    for i in range(count):
        take_row(sum, row + i * step)
    flush_rows(sum)


# The taps of the window at `index` that are inside the input.
cdef inline void valid_taps(const WindowAxis* axis, int64_t index, int64_t* first, int64_t* end) noexcept nogil:
    cdef int64_t outside = axis.start - index * axis.stride
    first[0] = 0
    end[0] = axis.window
    if outside > 0:
        first[0] = min(axis.window, ceil_div(outside, axis.dilation))
    outside += axis.size
    if outside <= (axis.window - 1) * axis.dilation:
        end[0] = first[0] if outside <= 0 else max(first[0], ceil_div(outside, axis.dilation))


# Whether no tap at `index` is outside the input.
cdef inline bint is_whole(const WindowAxis* axis, int64_t index) noexcept nogil:
    cdef int64_t first = index * axis.stride - axis.start
    return first >= 0 and first + (axis.window - 1) * axis.dilation < axis.size


cdef void go_to_columns(const WindowPlan* plan, WindowPlace* place, int64_t column) noexcept nogil:
    cdef const WindowAxis* columns = &plan.columns
    cdef int64_t low_end, high_tap
    place.column = column
    place.columns = min(plan.block, columns.results - column)
    valid_taps(columns, column, &high_tap, &place.end_tap)
    low_end = place.end_tap
    place.padded = high_tap > 0
    valid_taps(columns, column + place.columns - 1, &place.tap, &low_end)
    place.padded = place.padded or low_end < columns.window
    place.tap -= place.tap % GROUP
    if place.tap >= place.end_tap:      # padding only
        place.tap = 0
        place.end_tap = 1


cdef inline void go_to_row(const WindowPlan* plan, WindowPlace* place, int64_t row) noexcept nogil:
    cdef int64_t first, end, last_first, last_end
    place.row = row
    place.rows = min(plan.tall, plan.rows.results - row)
    valid_taps(&plan.rows, row, &first, &end)
    valid_taps(&plan.rows, row + place.rows - 1, &last_first, &last_end)
    place.whole = first == 0 and last_first == 0 and end == plan.rows.window and last_end == plan.rows.window


# Bands are counted row by row, then block by block, then along the remaining axes, then line by line.
cdef void go_to_band(const WindowPlan* plan, WindowPlace* place, int64_t number) noexcept nogil:
    cdef const WindowAxis* axis
    cdef int64_t index, lane, first, end
    cdef int64_t column = place.column, run = place.run, lines = place.lines
    cdef int n = plan.axes
    go_to_row(plan, place, number % plan.bands * plan.tall)
    number //= plan.bands
    lane = number % plan.runs * plan.run
    number //= plan.runs
    go_to_columns(plan, place, number % plan.blocks * plan.block)
    number //= plan.blocks
    place.run = min(plan.run, plan.lanes.results - lane)
    place.input = plan.input + lane * plan.lanes.input_step
    place.output = plan.output + lane * plan.lanes.output_step + place.column * plan.columns.output_step
    place.number = lane * plan.lanes.number_step
    place.indices_at = lane * plan.lanes.indices_step + place.column * plan.columns.indices_step
    while n > 0:
        n -= 1
        axis = &plan.axis[n]
        index = number % axis.results
        number //= axis.results
        valid_taps(axis, index, &first, &end)
        place.valid[n] = end - first
        first = index * axis.stride + first * axis.dilation - axis.start
        place.input += first * axis.input_step
        place.output += index * axis.output_step
        place.number += first * axis.number_step
        place.indices_at += index * axis.indices_step
    number *= plan.band
    place.lines = min(plan.band, plan.lines.results - number)
    place.input += number * plan.lines.input_step
    place.output += number * plan.lines.output_step
    place.number += number * plan.lines.number_step
    place.indices_at += number * plan.lines.indices_step
    if place.column != column or place.run != run or place.lines != lines:
        place.part = place.counted = -1
    elif not plan.taken:
        place.part = -1


# To `taps` taps along the columns from `tap` on.
cdef void go_to_part(const WindowPlan* plan, WindowPlace* place, int64_t tap, int64_t taps) noexcept nogil:
    cdef const WindowAxis* columns = &plan.columns
    cdef int64_t size = (place.columns - 1) * columns.stride + (taps - 1) * columns.dilation + 1
    cdef int n
    place.part = tap
    place.begin = place.column * columns.stride + tap * columns.dilation - columns.start
    place.low = min(max(-place.begin, 0), size)
    place.high = max(min(size, columns.size - place.begin), place.low)
    for n in range(SLOTS):
        place.held[n] = -1


# Elements inside the input that a window of the band has on the remaining axes.
cdef inline int64_t valid_rows(const WindowPlan* plan, const WindowPlace* place) noexcept nogil:
    cdef int64_t rows = 1
    cdef int n
    for n in range(plan.axes):
        rows *= place.valid[n]
    return rows


# Moves `tap` to the next row under the windows, in ascending order; returns the distance in bytes. `number` moves too.
cdef inline int64_t next_row(
        const WindowPlan* plan, const WindowPlace* place, int64_t* tap, int64_t* number) noexcept nogil:
    cdef int64_t steps
    cdef int64_t distance = 0
    cdef int n = plan.axes
    while n > 0:
        n -= 1
        steps = plan.axis[n].dilation
        tap[n] += 1
        if tap[n] == place.valid[n]:
            tap[n] = 0
            steps *= 1 - place.valid[n]
        distance += steps * plan.axis[n].input_step
        number[0] += steps * plan.axis[n].number_step
        if tap[n] > 0:
            break
    return distance


# The taps of the windows at a column, from `tap` to `end_tap` along the columns, in ascending order.
cdef void find_taps(
        const WindowPlan* plan, const WindowPlace* place, int64_t column, int64_t tap, int64_t end_tap,
        WindowLanes* lanes) noexcept nogil:
    cdef const WindowAxis* rows = &plan.rows
    cdef const WindowAxis* columns = &plan.columns
    cdef int64_t outer[MAX_RANK]
    cdef int64_t input = 0
    cdef int64_t number = 0
    cdef int64_t first, end, row_tap, row, column_tap, at
    cdef int n
    valid_taps(rows, place.row, &first, &end)
    for n in range(plan.axes):
        outer[n] = 0
    lanes.taps = 0
    for _ in range(valid_rows(plan, place)):
        for row_tap in range(first, end):
            row = place.row * rows.stride + row_tap * rows.dilation - rows.start
            for column_tap in range(tap, end_tap):
                at = column * columns.stride + column_tap * columns.dilation - columns.start
                lanes.at[lanes.taps] = input + row * rows.input_step + at * columns.input_step
                lanes.numbers[lanes.taps] = <uint32_t> (number + row * rows.number_step + at * columns.number_step)
                lanes.taps += 1
        input += next_row(plan, place, outer, &number)


# A row of windows, those with the same taps at once.
cdef void take_lanes(const WindowPlan* plan, const WindowPlace* place, WindowLoop loop) noexcept nogil:
    cdef const WindowAxis* columns = &plan.columns
    cdef int64_t column = 0
    cdef int64_t tap, end_tap, next_tap, next_end
    cdef WindowLanes lanes
    lanes.input = place.input
    lanes.output = place.output + place.row * plan.rows.output_step
    lanes.indices = plan.indices + place.indices_at + place.row * plan.rows.indices_step
    lanes.input_step = columns.stride * columns.input_step
    lanes.output_step = columns.output_step
    lanes.indices_step = columns.indices_step
    lanes.indices_item = plan.indices_item
    lanes.lanes = place.run
    lanes.number = <uint32_t> place.number
    lanes.number_step = <uint32_t> (columns.stride * columns.number_step)
    lanes.lane_step = <uint32_t> plan.lanes.number_step
    valid_taps(columns, 0, &tap, &end_tap)
    while column < columns.results:
        find_taps(plan, place, column, tap, end_tap, &lanes)
        lanes.columns = 0
        next_tap = tap
        next_end = end_tap
        while next_tap == tap and next_end == end_tap and column + lanes.columns < columns.results:
            lanes.columns += 1
            valid_taps(columns, column + lanes.columns, &next_tap, &next_end)
        loop(&lanes)
        column += lanes.columns
        lanes.output += lanes.columns * lanes.output_step
        lanes.indices += lanes.columns * lanes.indices_step
        tap = next_tap
        end_tap = next_end


# Whether each index has one element, inside the input: the axis then has a window and a stride of 1.
cdef bint not_pooled(WindowAxis* axis) noexcept nogil:
    if axis.window > 1 or axis.start > 0 or (axis.results - 1) * axis.stride >= axis.size:
        return False
    axis.input_step *= axis.stride
    axis.number_step *= axis.stride
    axis.stride = 1
    axis.size = axis.results
    return True


cdef bint merge(WindowAxis* outer, const WindowAxis* inner) noexcept nogil:
    if outer.input_step != inner.size * inner.input_step or outer.output_step != inner.size * inner.output_step:
        return False
    if outer.number_step != inner.size * inner.number_step or outer.indices_step != inner.size * inner.indices_step:
        return False
    outer.size *= inner.size
    outer.results = outer.size
    outer.input_step = inner.input_step
    outer.output_step = inner.output_step
    outer.indices_step = inner.indices_step
    outer.number_step = inner.number_step
    return True


# Whether one window has all elements of the axis under it.
cdef inline bint spanned(const WindowAxis* axis) noexcept nogil:
    return axis.results == 1 and axis.dilation == 1 and axis.start + axis.size <= axis.window


cdef bint merge_spanned(WindowAxis* outer, const WindowAxis* inner) noexcept nogil:
    if not spanned(outer) or not spanned(inner) or outer.input_step != inner.size * inner.input_step:
        return False
    outer.size *= inner.size
    outer.window = outer.size
    outer.start = 0
    outer.input_step = inner.input_step
    outer.number_step = inner.number_step
    return True


# Whether it is certain that there is an element under each window.
cdef inline bint covers(const WindowAxis* axis) noexcept nogil:
    cdef int64_t last = (axis.results - 1) * axis.stride - axis.start
    return axis.start <= (axis.window - 1) * axis.dilation and axis.dilation <= axis.size and last < axis.size


# Fills in the axes, without those that make no difference; neighbours become one where they can.
cdef void plan_axes(const WindowReduce* a, WindowPlan* plan) noexcept nogil:
    cdef int n, spatial
    cdef int64_t first, end
    cdef int64_t number = 1
    cdef int64_t numbers[MAX_RANK]
    cdef WindowAxis axis
    plan.volume = 1
    plan.shared = 1
    plan.filled = True
    plan.axes = 0
    for n in range(a.input.rank - 1, -1, -1):
        numbers[n] = number
        number *= a.input.sizes[n]
    for n in range(a.input.rank):
        spatial = n - (a.input.rank - a.spatial)
        axis.size = a.input.sizes[n]
        axis.results = a.output.sizes[n]
        axis.input_step = a.input.strides[n]
        axis.output_step = a.output.strides[n]
        # Where no indices are asked for, they do not keep axes from becoming one.
        axis.indices_step = a.indices.strides[n] if a.indices.dtype else axis.output_step
        axis.number_step = numbers[n] if a.indices.dtype else axis.input_step
        axis.window = a.window[spatial] if spatial >= 0 else 1
        axis.stride = a.strides[spatial] if spatial >= 0 else 1
        axis.dilation = a.dilations[spatial] if spatial >= 0 else 1
        axis.start = a.start[spatial] if spatial >= 0 else 0
        plan.volume *= <double> axis.window
        plan.shared *= <double> axis.window / <double> axis.stride
        plan.filled = plan.filled and covers(&axis)
        if not_pooled(&axis) and plan.axes > 0 and not_pooled(&plan.axis[plan.axes - 1]):
            if merge(&plan.axis[plan.axes - 1], &axis):
                continue
        valid_taps(&axis, 0, &first, &end)
        if axis.size > 1 or axis.results > 1 or first == end:
            plan.axis[plan.axes] = axis
            plan.axes += 1
    if plan.folds and plan.axes > 0 and plan.axis[plan.axes - 1].input_step == a.input.item:
        while plan.axes > 1 and merge_spanned(&plan.axis[plan.axes - 2], &plan.axis[plan.axes - 1]):
            plan.axes -= 1


# Takes an axis out of the remaining ones; -1: one that makes no difference.
cdef WindowAxis take_axis(WindowPlan* plan, int number) noexcept nogil:
    cdef WindowAxis axis
    cdef int n
    if number < 0:
        axis.size = axis.results = axis.window = axis.stride = axis.dilation = 1
        axis.input_step = axis.output_step = axis.indices_step = axis.number_step = axis.start = 0
        return axis
    axis = plan.axis[number]
    plan.axes -= 1
    for n in range(number, plan.axes):
        plan.axis[n] = plan.axis[n + 1]
    return axis


cdef int find_rows(WindowPlan* plan) noexcept nogil:
    cdef int n = plan.axes - 1
    while n >= 0 and not_pooled(&plan.axis[n]):
        n -= 1
    return n


cdef int find_lanes(WindowPlan* plan, int64_t item) noexcept nogil:
    cdef int n = plan.axes - 1
    cdef bint turned = plan.columns.input_step == item
    if turned and plan.columns.size > FEW_COLUMNS:
        return -1
    while n >= 0:
        if not_pooled(&plan.axis[n]) and plan.axis[n].results >= FEWEST_LANES:
            if turned or plan.axis[n].input_step == item:
                return n
        n -= 1
    return n


cdef int find_lines(WindowPlan* plan) noexcept nogil:
    cdef int n
    cdef int found = -1
    for n in range(plan.axes):
        if not_pooled(&plan.axis[n]) and (found < 0 or plan.axis[n].results >= plan.axis[found].results):
            found = n
    return found


# Accumulators that a row of so many takes up.
cdef inline int64_t room_of(int64_t sums) noexcept nogil:
    return ceil_div(sums, LINE) * LINE


# Whether results of neighbouring columns, lanes included, are neighbours in memory.
cdef inline bint packed_columns(
        const WindowPlan* plan, int64_t column_step, int64_t lane_step, int64_t item) noexcept nogil:
    return column_step == plan.run * item and (plan.lanes.results == 1 or lane_step == item)


cdef void plan_bands(WindowPlan* plan, int64_t item, bint own) noexcept nogil:
    cdef const WindowAxis* columns = &plan.columns
    cdef int64_t longest = LONGEST_ROW
    cdef int64_t lane, under
    plan.columns = take_axis(plan, plan.axes - 1)
    plan.folded = find_rows(plan) < 0
    plan.rows = take_axis(plan, find_rows(plan))
    plan.lanes = take_axis(plan, find_lanes(plan, item))
    plan.lines = take_axis(plan, find_lines(plan))
    plan.deep = find_rows(plan) >= 0

    plan.run = plan.lanes.results
    plan.folded = plan.folded and plan.folds and plan.run == 1 and spanned(columns) and columns.size >= FOLDED
    plan.folded = plan.folded and columns.input_step == item
    plan.turned = plan.run > 1 and columns.input_step == item
    plan.beside = dmlcy_wide() and plan.filled and plan.volume <= MOST_TAPS and plan.shared <= MOST_SHARED
    plan.beside = plan.beside and plan.run * item >= BLOCK and not plan.turned and plan.lanes.input_step == item
    plan.beside = plan.beside and plan.lanes.output_step == item and plan.lanes.indices_step == plan.indices_item
    if plan.turned:
        plan.run = min(plan.run, TURNED_LANES)
        for lane in range(plan.run):
            plan.lane_at[lane] = lane * plan.lanes.input_step
    if plan.beside:
        longest = INT64_MAX // 2
    elif plan.run > 1:
        if plan.run * min(columns.size, GROUP) > LONGEST_RUN:
            plan.run = MOST_LANES
        longest = LONGEST_RUN // plan.run
    plan.runs = ceil_div(plan.lanes.results, plan.run)
    plan.block = min(columns.results, 1 + longest // columns.stride)
    plan.blocks = ceil_div(columns.results, plan.block)
    plan.block = ceil_div(columns.results, plan.blocks)
    plan.taps = columns.window
    if plan.folded:
        plan.taps = 1
    elif columns.dilation >= max(columns.size, <int64_t> 2) or columns.dilation > LONGEST_ROW:
        plan.taps = 1               # what is between them is more than a block; in any layout, as it changes the order
    elif (plan.taps - 1) * columns.dilation > longest:
        plan.taps = min(plan.taps, max(GROUP, longest // columns.dilation // GROUP * GROUP))
    plan.pitch = (plan.block - 1) * columns.stride + (plan.taps - 1) * columns.dilation + 1
    plan.step = columns.stride if plan.block > 1 else plan.pitch
    plan.phase_step = columns.dilation % plan.step if plan.run == 1 else 0
    plan.index_step = columns.dilation // plan.step if plan.run == 1 else columns.dilation
    plan.result_pitch = ceil_div(plan.pitch, plan.step)
    plan.pitch = plan.result_pitch * plan.step
    plan.direct = own and plan.run == plan.lanes.results and columns.input_step == plan.run * item
    plan.direct = plan.direct and min(plan.pitch, columns.size) * plan.run >= SHORT_ROW
    plan.taken = plan.direct and (not plan.deep or plan.folds and plan.rows.window <= plan.rows.stride)
    plan.tall = min(plan.rows.results, BAND_ELEMENTS // (plan.pitch * plan.run))
    if plan.tall < FEWEST_ROWS:
        plan.tall = 1
    plan.band = max(1, min(plan.lines.results, BAND_ELEMENTS // (plan.pitch * plan.run * plan.tall)))
    under = plan.pitch * plan.run * min(plan.rows.window, plan.rows.size)
    if not plan.taken or not spanned(&plan.rows):       # it is needed once more
        plan.band = min(plan.band, UNDER_BAND // under)
    elif plan.lines.results * under > SERIAL_SUMS:
        plan.band = min(plan.band, plan.lines.results // BANDS)
    plan.band = max(1, plan.band)
    if plan.beside:
        plan.band = plan.tall = 1
    elif plan.folded:
        plan.band = max(1, min(plan.lines.results, FOLDED_BAND // columns.size))
    plan.bands = ceil_div(plan.rows.results, plan.tall)
    plan.tall = ceil_div(plan.rows.results, plan.bands)
    plan.line_room = room_of(plan.band * plan.pitch * plan.run)
    plan.room = room_of(plan.tall * plan.band * plan.pitch * plan.run)
    plan.slots = 1
    while plan.slots < min(plan.rows.window, GROUP if plan.rows.window > SLOTS else SLOTS):
        plan.slots *= 2
    plan.flat = packed_columns(plan, columns.output_step, plan.lanes.output_step, item)


# `own`: elements are accumulators as they are; `folds`: and are combined in any order.
cdef int run_windows(Work work, const WindowReduce* a, int64_t item, bint own, bint folds) noexcept nogil:
    cdef WindowPlan plan
    cdef const WindowAxis* rows = &plan.rows
    cdef int64_t total, row, results, elements
    cdef double sums                # of a band; int64 could overflow
    cdef int n
    plan.input = a.input.data
    plan.output = a.output.data
    plan.indices = a.indices.data
    plan.indices_item = a.indices.item if a.indices.dtype else 0
    plan.attributes = a.attributes
    plan.folds = folds
    plan_axes(a, &plan)
    plan_bands(&plan, item, own)
    plan.ahead = 0
    if bytes_of(&a.input) > SERIAL_BYTES:
        plan.ahead = plan.tall * min(rows.stride, rows.size) * rows.input_step
        if rows.window > GROUP:     # of several planes that follow each other processors see what comes
            plan.ahead = GROUP * rows.dilation * rows.input_step if plan.band == 1 else 0
        elif plan.bands == 1:
            plan.ahead = plan.band * plan.lines.input_step
    total = plan.bands * plan.runs * plan.blocks * ceil_div(plan.lines.results, plan.band)
    row = (plan.block - 1) * plan.columns.stride + (plan.columns.window - 1) * plan.columns.dilation + 1
    row = min(row, plan.columns.size) * plan.run * plan.band * plan.tall
    results = plan.block * plan.run * plan.band * plan.tall
    elements = row * min(rows.window if rows.results == 1 else min(rows.window, rows.stride), rows.size)
    for n in range(plan.axes):
        total *= plan.axis[n].results
        elements *= min(plan.axis[n].window, plan.axis[n].size)
    sums = <double> elements if plan.deep else 0
    sums += <double> row * min(rows.window, rows.size)
    sums += <double> results * ((1 if plan.folded else min(plan.columns.window, plan.columns.size)) + RESULT_SUMS)
    if plan.turned:
        sums += <double> (elements + results) * TURN_SUMS
    if total * sums <= SERIAL_SUMS:
        return parallel_for(work, &plan, total, total)
    return parallel_for(work, &plan, total, grain_of((elements + results) * item))


# Puts every `step`-th of `size` times `step` columns into one phase, the columns behind them into the next ones.
cdef void split_float(
        float* phases, int64_t pitch, const float* sums, int64_t step, int64_t used, int64_t size) noexcept nogil:
    cdef int64_t i, phase
    if step == 2:
        for i in range(size):
            phases[i] = sums[2 * i]
            phases[pitch + i] = sums[2 * i + 1]
        return
    for phase in range(used):
        for i in range(size):
            phases[phase * pitch + i] = sums[i * step + phase]


# Takes `run` lanes of `width` columns in, lane by lane; they become neighbours.
cdef void turn_float(
        const char* input, const int64_t* lane_at, float* target, int64_t width, int64_t run) noexcept nogil:
    cdef int64_t item = sizeof(float)
    cdef int64_t side = 16 // item
    cdef int64_t turned = run // side * side if DMLCY_TURNS and width > 1 and width * item >= 8 else 0
    cdef int64_t column = 0
    cdef int64_t lane
    while side > width:
        side //= 2
    while turned > 0 and column < width:
        column = min(column, width - side)
        dmlcy_turn_4(
            input + column * item, lane_at, turned, side, <char*> (target + column * run), run * item)
        column += side
    for lane in range(turned, run):
        for column in range(width):
            target[column * run + lane] = (<const float*> (input + lane_at[lane]))[column]


# Puts a block of results back, as many lanes as columns.
cdef inline void turn_back_float(
        char* output, int64_t lane_step, const float* results, int64_t run) noexcept nogil:
    cdef int64_t column_at[4]
    cdef int64_t column
    for column in range(4):
        column_at[column] = column * run * 4
    dmlcy_turn_4(<const char*> results, column_at, 4, 4, output, lane_step)


# Puts a line of results, `columns` times `run`, where it belongs.
cdef void scatter_float(
        char* output, int64_t column_step, int64_t lane_step, const float* results, int64_t columns,
        int64_t run) noexcept nogil:
    cdef int64_t column, lane
    cdef int64_t item = sizeof(float)
    cdef int64_t side = 16 // item
    if run == 1 and column_step == item:
        dmlcy_copy(output, <const char*> results, columns * item)
    elif run == 1:
        for column in range(columns):
            (<float*> (output + column * column_step))[0] = results[column]
    elif lane_step == item:
        for column in range(columns):
            dmlcy_copy(output + column * column_step, <const char*> (results + column * run), run * item)
    else:
        lane = 0
        while DMLCY_TURNS and column_step == item and columns >= side and run - lane >= side:
            column = 0
            while column < columns:
                column = min(column, columns - side)
                turn_back_float(
                    output + lane * lane_step + column * item, lane_step, results + column * run + lane, run)
                column += side
            lane += side
        for lane in range(lane, run):
            for column in range(columns):
                (<float*> (output + lane * lane_step + column * column_step))[0] = results[column * run + lane]


# Takes `run` lanes of `width` columns in, lane by lane; they become neighbours.
cdef void turn_uint16_t(
        const char* input, const int64_t* lane_at, uint16_t* target, int64_t width, int64_t run) noexcept nogil:
    cdef int64_t item = sizeof(uint16_t)
    cdef int64_t side = 16 // item
    cdef int64_t turned = run // side * side if DMLCY_TURNS and width > 1 and width * item >= 8 else 0
    cdef int64_t column = 0
    cdef int64_t lane
    while side > width:
        side //= 2
    while turned > 0 and column < width:
        column = min(column, width - side)
        dmlcy_turn_2(
            input + column * item, lane_at, turned, side, <char*> (target + column * run), run * item)
        column += side
    for lane in range(turned, run):
        for column in range(width):
            target[column * run + lane] = (<const uint16_t*> (input + lane_at[lane]))[column]


# Puts a block of results back, as many lanes as columns.
cdef inline void turn_back_uint16_t(
        char* output, int64_t lane_step, const uint16_t* results, int64_t run) noexcept nogil:
    cdef int64_t column_at[8]
    cdef int64_t column
    for column in range(8):
        column_at[column] = column * run * 2
    dmlcy_turn_2(<const char*> results, column_at, 8, 8, output, lane_step)


# Puts a line of results, `columns` times `run`, where it belongs.
cdef void scatter_uint16_t(
        char* output, int64_t column_step, int64_t lane_step, const uint16_t* results, int64_t columns,
        int64_t run) noexcept nogil:
    cdef int64_t column, lane
    cdef int64_t item = sizeof(uint16_t)
    cdef int64_t side = 16 // item
    if run == 1 and column_step == item:
        dmlcy_copy(output, <const char*> results, columns * item)
    elif run == 1:
        for column in range(columns):
            (<uint16_t*> (output + column * column_step))[0] = results[column]
    elif lane_step == item:
        for column in range(columns):
            dmlcy_copy(output + column * column_step, <const char*> (results + column * run), run * item)
    else:
        lane = 0
        while DMLCY_TURNS and column_step == item and columns >= side and run - lane >= side:
            column = 0
            while column < columns:
                column = min(column, columns - side)
                turn_back_uint16_t(
                    output + lane * lane_step + column * item, lane_step, results + column * run + lane, run)
                column += side
            lane += side
        for lane in range(lane, run):
            for column in range(columns):
                (<uint16_t*> (output + lane * lane_step + column * column_step))[0] = results[column * run + lane]


# Combines rows into the target.
cdef void sum_float_short(
        const WindowSum* sum, float* target, int64_t moved, bint fresh) noexcept nogil:
    cdef float other
    cdef int64_t i
    cdef int n
    for i in range(sum.size):
        for n in range(0, sum.waiting, 2):
            other = ((<const float*> sum.row[n])[moved + i])
            if n + 1 < sum.waiting:
                other = other + ((<const float*> sum.row[n + 1])[moved + i])
            target[i] = other if fresh and n == 0 else target[i] + other


cdef void sum_float "sum_float"(const void* args) noexcept nogil:
    cdef const WindowSum* sum = <const WindowSum*> args
    cdef int64_t size = sizeof(dmlcy_float_block) // sizeof(float)
    cdef int64_t last = sum.size - size
    cdef int64_t line, number, moved, i
    cdef float* target
    cdef dmlcy_float_block acc, end
    cdef bint fresh
    cdef const float* row0
    cdef const float* row1
    cdef const float* row2
    cdef const float* row3
    cdef const float* row4
    cdef const float* row5
    cdef const float* row6
    cdef const float* row7
    for line in range(sum.lines):
        target = <float*> sum.target + line * sum.target_step
        for number in range(sum.passes):
            fresh = sum.fresh and number == 0
            moved = line * sum.line_step + number * sum.pass_step
            if last < 0:
                sum_float_short(sum, target, moved, fresh)
            elif sum.waiting == 1:
                row0 = <const float*> sum.row[0] + moved
                if fresh:
                    i = 0
                    while i < last:
                        acc = dmlcy_load_float(row0 + i)
                        dmlcy_store_float(target + i, acc)
                        i += size
                    end = dmlcy_load_float(row0 + last)
                    dmlcy_store_float(target + last, end)
                else:
                    end = dmlcy_load_float(target + last)
                    i = 0
                    while i < last:
                        acc = dmlcy_load_float(target + i)
                        acc = acc + dmlcy_load_float(row0 + i)
                        dmlcy_store_float(target + i, acc)
                        i += size
                    end = end + dmlcy_load_float(row0 + last)
                    dmlcy_store_float(target + last, end)
            elif sum.waiting == 2:
                row0 = <const float*> sum.row[0] + moved
                row1 = <const float*> sum.row[1] + moved
                if fresh:
                    i = 0
                    while i < last:
                        acc = (dmlcy_load_float(row0 + i) + dmlcy_load_float(row1 + i))
                        dmlcy_store_float(target + i, acc)
                        i += size
                    end = (dmlcy_load_float(row0 + last) + dmlcy_load_float(row1 + last))
                    dmlcy_store_float(target + last, end)
                else:
                    end = dmlcy_load_float(target + last)
                    i = 0
                    while i < last:
                        acc = dmlcy_load_float(target + i)
                        acc = acc + (dmlcy_load_float(row0 + i) + dmlcy_load_float(row1 + i))
                        dmlcy_store_float(target + i, acc)
                        i += size
                    end = end + (dmlcy_load_float(row0 + last) + dmlcy_load_float(row1 + last))
                    dmlcy_store_float(target + last, end)
            elif sum.waiting == 3:
                row0 = <const float*> sum.row[0] + moved
                row1 = <const float*> sum.row[1] + moved
                row2 = <const float*> sum.row[2] + moved
                if fresh:
                    i = 0
                    while i < last:
                        acc = (dmlcy_load_float(row0 + i) + dmlcy_load_float(row1 + i))
                        acc = acc + dmlcy_load_float(row2 + i)
                        dmlcy_store_float(target + i, acc)
                        i += size
                    end = (dmlcy_load_float(row0 + last) + dmlcy_load_float(row1 + last))
                    end = end + dmlcy_load_float(row2 + last)
                    dmlcy_store_float(target + last, end)
                else:
                    end = dmlcy_load_float(target + last)
                    i = 0
                    while i < last:
                        acc = dmlcy_load_float(target + i)
                        acc = acc + (dmlcy_load_float(row0 + i) + dmlcy_load_float(row1 + i))
                        acc = acc + dmlcy_load_float(row2 + i)
                        dmlcy_store_float(target + i, acc)
                        i += size
                    end = end + (dmlcy_load_float(row0 + last) + dmlcy_load_float(row1 + last))
                    end = end + dmlcy_load_float(row2 + last)
                    dmlcy_store_float(target + last, end)
            elif sum.waiting == 4:
                row0 = <const float*> sum.row[0] + moved
                row1 = <const float*> sum.row[1] + moved
                row2 = <const float*> sum.row[2] + moved
                row3 = <const float*> sum.row[3] + moved
                if fresh:
                    i = 0
                    while i < last:
                        acc = (dmlcy_load_float(row0 + i) + dmlcy_load_float(row1 + i))
                        acc = acc + (dmlcy_load_float(row2 + i) + dmlcy_load_float(row3 + i))
                        dmlcy_store_float(target + i, acc)
                        i += size
                    end = (dmlcy_load_float(row0 + last) + dmlcy_load_float(row1 + last))
                    end = end + (dmlcy_load_float(row2 + last) + dmlcy_load_float(row3 + last))
                    dmlcy_store_float(target + last, end)
                else:
                    end = dmlcy_load_float(target + last)
                    i = 0
                    while i < last:
                        acc = dmlcy_load_float(target + i)
                        acc = acc + (dmlcy_load_float(row0 + i) + dmlcy_load_float(row1 + i))
                        acc = acc + (dmlcy_load_float(row2 + i) + dmlcy_load_float(row3 + i))
                        dmlcy_store_float(target + i, acc)
                        i += size
                    end = end + (dmlcy_load_float(row0 + last) + dmlcy_load_float(row1 + last))
                    end = end + (dmlcy_load_float(row2 + last) + dmlcy_load_float(row3 + last))
                    dmlcy_store_float(target + last, end)
            elif sum.waiting == 5:
                row0 = <const float*> sum.row[0] + moved
                row1 = <const float*> sum.row[1] + moved
                row2 = <const float*> sum.row[2] + moved
                row3 = <const float*> sum.row[3] + moved
                row4 = <const float*> sum.row[4] + moved
                if fresh:
                    i = 0
                    while i < last:
                        acc = (dmlcy_load_float(row0 + i) + dmlcy_load_float(row1 + i))
                        acc = acc + (dmlcy_load_float(row2 + i) + dmlcy_load_float(row3 + i))
                        acc = acc + dmlcy_load_float(row4 + i)
                        dmlcy_store_float(target + i, acc)
                        i += size
                    end = (dmlcy_load_float(row0 + last) + dmlcy_load_float(row1 + last))
                    end = end + (dmlcy_load_float(row2 + last) + dmlcy_load_float(row3 + last))
                    end = end + dmlcy_load_float(row4 + last)
                    dmlcy_store_float(target + last, end)
                else:
                    end = dmlcy_load_float(target + last)
                    i = 0
                    while i < last:
                        acc = dmlcy_load_float(target + i)
                        acc = acc + (dmlcy_load_float(row0 + i) + dmlcy_load_float(row1 + i))
                        acc = acc + (dmlcy_load_float(row2 + i) + dmlcy_load_float(row3 + i))
                        acc = acc + dmlcy_load_float(row4 + i)
                        dmlcy_store_float(target + i, acc)
                        i += size
                    end = end + (dmlcy_load_float(row0 + last) + dmlcy_load_float(row1 + last))
                    end = end + (dmlcy_load_float(row2 + last) + dmlcy_load_float(row3 + last))
                    end = end + dmlcy_load_float(row4 + last)
                    dmlcy_store_float(target + last, end)
            elif sum.waiting == 6:
                row0 = <const float*> sum.row[0] + moved
                row1 = <const float*> sum.row[1] + moved
                row2 = <const float*> sum.row[2] + moved
                row3 = <const float*> sum.row[3] + moved
                row4 = <const float*> sum.row[4] + moved
                row5 = <const float*> sum.row[5] + moved
                if fresh:
                    i = 0
                    while i < last:
                        acc = (dmlcy_load_float(row0 + i) + dmlcy_load_float(row1 + i))
                        acc = acc + (dmlcy_load_float(row2 + i) + dmlcy_load_float(row3 + i))
                        acc = acc + (dmlcy_load_float(row4 + i) + dmlcy_load_float(row5 + i))
                        dmlcy_store_float(target + i, acc)
                        i += size
                    end = (dmlcy_load_float(row0 + last) + dmlcy_load_float(row1 + last))
                    end = end + (dmlcy_load_float(row2 + last) + dmlcy_load_float(row3 + last))
                    end = end + (dmlcy_load_float(row4 + last) + dmlcy_load_float(row5 + last))
                    dmlcy_store_float(target + last, end)
                else:
                    end = dmlcy_load_float(target + last)
                    i = 0
                    while i < last:
                        acc = dmlcy_load_float(target + i)
                        acc = acc + (dmlcy_load_float(row0 + i) + dmlcy_load_float(row1 + i))
                        acc = acc + (dmlcy_load_float(row2 + i) + dmlcy_load_float(row3 + i))
                        acc = acc + (dmlcy_load_float(row4 + i) + dmlcy_load_float(row5 + i))
                        dmlcy_store_float(target + i, acc)
                        i += size
                    end = end + (dmlcy_load_float(row0 + last) + dmlcy_load_float(row1 + last))
                    end = end + (dmlcy_load_float(row2 + last) + dmlcy_load_float(row3 + last))
                    end = end + (dmlcy_load_float(row4 + last) + dmlcy_load_float(row5 + last))
                    dmlcy_store_float(target + last, end)
            elif sum.waiting == 7:
                row0 = <const float*> sum.row[0] + moved
                row1 = <const float*> sum.row[1] + moved
                row2 = <const float*> sum.row[2] + moved
                row3 = <const float*> sum.row[3] + moved
                row4 = <const float*> sum.row[4] + moved
                row5 = <const float*> sum.row[5] + moved
                row6 = <const float*> sum.row[6] + moved
                if fresh:
                    i = 0
                    while i < last:
                        acc = (dmlcy_load_float(row0 + i) + dmlcy_load_float(row1 + i))
                        acc = acc + (dmlcy_load_float(row2 + i) + dmlcy_load_float(row3 + i))
                        acc = acc + (dmlcy_load_float(row4 + i) + dmlcy_load_float(row5 + i))
                        acc = acc + dmlcy_load_float(row6 + i)
                        dmlcy_store_float(target + i, acc)
                        i += size
                    end = (dmlcy_load_float(row0 + last) + dmlcy_load_float(row1 + last))
                    end = end + (dmlcy_load_float(row2 + last) + dmlcy_load_float(row3 + last))
                    end = end + (dmlcy_load_float(row4 + last) + dmlcy_load_float(row5 + last))
                    end = end + dmlcy_load_float(row6 + last)
                    dmlcy_store_float(target + last, end)
                else:
                    end = dmlcy_load_float(target + last)
                    i = 0
                    while i < last:
                        acc = dmlcy_load_float(target + i)
                        acc = acc + (dmlcy_load_float(row0 + i) + dmlcy_load_float(row1 + i))
                        acc = acc + (dmlcy_load_float(row2 + i) + dmlcy_load_float(row3 + i))
                        acc = acc + (dmlcy_load_float(row4 + i) + dmlcy_load_float(row5 + i))
                        acc = acc + dmlcy_load_float(row6 + i)
                        dmlcy_store_float(target + i, acc)
                        i += size
                    end = end + (dmlcy_load_float(row0 + last) + dmlcy_load_float(row1 + last))
                    end = end + (dmlcy_load_float(row2 + last) + dmlcy_load_float(row3 + last))
                    end = end + (dmlcy_load_float(row4 + last) + dmlcy_load_float(row5 + last))
                    end = end + dmlcy_load_float(row6 + last)
                    dmlcy_store_float(target + last, end)
            elif sum.waiting == 8:
                row0 = <const float*> sum.row[0] + moved
                row1 = <const float*> sum.row[1] + moved
                row2 = <const float*> sum.row[2] + moved
                row3 = <const float*> sum.row[3] + moved
                row4 = <const float*> sum.row[4] + moved
                row5 = <const float*> sum.row[5] + moved
                row6 = <const float*> sum.row[6] + moved
                row7 = <const float*> sum.row[7] + moved
                if fresh:
                    i = 0
                    while i < last:
                        acc = (dmlcy_load_float(row0 + i) + dmlcy_load_float(row1 + i))
                        acc = acc + (dmlcy_load_float(row2 + i) + dmlcy_load_float(row3 + i))
                        acc = acc + (dmlcy_load_float(row4 + i) + dmlcy_load_float(row5 + i))
                        acc = acc + (dmlcy_load_float(row6 + i) + dmlcy_load_float(row7 + i))
                        dmlcy_store_float(target + i, acc)
                        i += size
                    end = (dmlcy_load_float(row0 + last) + dmlcy_load_float(row1 + last))
                    end = end + (dmlcy_load_float(row2 + last) + dmlcy_load_float(row3 + last))
                    end = end + (dmlcy_load_float(row4 + last) + dmlcy_load_float(row5 + last))
                    end = end + (dmlcy_load_float(row6 + last) + dmlcy_load_float(row7 + last))
                    dmlcy_store_float(target + last, end)
                else:
                    end = dmlcy_load_float(target + last)
                    i = 0
                    while i < last:
                        acc = dmlcy_load_float(target + i)
                        acc = acc + (dmlcy_load_float(row0 + i) + dmlcy_load_float(row1 + i))
                        acc = acc + (dmlcy_load_float(row2 + i) + dmlcy_load_float(row3 + i))
                        acc = acc + (dmlcy_load_float(row4 + i) + dmlcy_load_float(row5 + i))
                        acc = acc + (dmlcy_load_float(row6 + i) + dmlcy_load_float(row7 + i))
                        dmlcy_store_float(target + i, acc)
                        i += size
                    end = end + (dmlcy_load_float(row0 + last) + dmlcy_load_float(row1 + last))
                    end = end + (dmlcy_load_float(row2 + last) + dmlcy_load_float(row3 + last))
                    end = end + (dmlcy_load_float(row4 + last) + dmlcy_load_float(row5 + last))
                    end = end + (dmlcy_load_float(row6 + last) + dmlcy_load_float(row7 + last))
                    dmlcy_store_float(target + last, end)


cdef void sum_float_wide "sum_float_wide"(const void* args) noexcept nogil:
    cdef const WindowSum* sum = <const WindowSum*> args
    cdef int64_t size = sizeof(dmlcy_float_block) // sizeof(float)
    cdef int64_t last = sum.size - size
    cdef int64_t line, number, moved, i
    cdef float* target
    cdef dmlcy_float_block acc, end
    cdef bint fresh
    cdef const float* row0
    cdef const float* row1
    cdef const float* row2
    cdef const float* row3
    cdef const float* row4
    cdef const float* row5
    cdef const float* row6
    cdef const float* row7
    for line in range(sum.lines):
        target = <float*> sum.target + line * sum.target_step
        for number in range(sum.passes):
            fresh = sum.fresh and number == 0
            moved = line * sum.line_step + number * sum.pass_step
            if last < 0:
                sum_float_short(sum, target, moved, fresh)
            elif sum.waiting == 1:
                row0 = <const float*> sum.row[0] + moved
                if fresh:
                    i = 0
                    while i < last:
                        acc = dmlcy_load_float(row0 + i)
                        dmlcy_store_float(target + i, acc)
                        i += size
                    end = dmlcy_load_float(row0 + last)
                    dmlcy_store_float(target + last, end)
                else:
                    end = dmlcy_load_float(target + last)
                    i = 0
                    while i < last:
                        acc = dmlcy_load_float(target + i)
                        acc = acc + dmlcy_load_float(row0 + i)
                        dmlcy_store_float(target + i, acc)
                        i += size
                    end = end + dmlcy_load_float(row0 + last)
                    dmlcy_store_float(target + last, end)
            elif sum.waiting == 2:
                row0 = <const float*> sum.row[0] + moved
                row1 = <const float*> sum.row[1] + moved
                if fresh:
                    i = 0
                    while i < last:
                        acc = (dmlcy_load_float(row0 + i) + dmlcy_load_float(row1 + i))
                        dmlcy_store_float(target + i, acc)
                        i += size
                    end = (dmlcy_load_float(row0 + last) + dmlcy_load_float(row1 + last))
                    dmlcy_store_float(target + last, end)
                else:
                    end = dmlcy_load_float(target + last)
                    i = 0
                    while i < last:
                        acc = dmlcy_load_float(target + i)
                        acc = acc + (dmlcy_load_float(row0 + i) + dmlcy_load_float(row1 + i))
                        dmlcy_store_float(target + i, acc)
                        i += size
                    end = end + (dmlcy_load_float(row0 + last) + dmlcy_load_float(row1 + last))
                    dmlcy_store_float(target + last, end)
            elif sum.waiting == 3:
                row0 = <const float*> sum.row[0] + moved
                row1 = <const float*> sum.row[1] + moved
                row2 = <const float*> sum.row[2] + moved
                if fresh:
                    i = 0
                    while i < last:
                        acc = (dmlcy_load_float(row0 + i) + dmlcy_load_float(row1 + i))
                        acc = acc + dmlcy_load_float(row2 + i)
                        dmlcy_store_float(target + i, acc)
                        i += size
                    end = (dmlcy_load_float(row0 + last) + dmlcy_load_float(row1 + last))
                    end = end + dmlcy_load_float(row2 + last)
                    dmlcy_store_float(target + last, end)
                else:
                    end = dmlcy_load_float(target + last)
                    i = 0
                    while i < last:
                        acc = dmlcy_load_float(target + i)
                        acc = acc + (dmlcy_load_float(row0 + i) + dmlcy_load_float(row1 + i))
                        acc = acc + dmlcy_load_float(row2 + i)
                        dmlcy_store_float(target + i, acc)
                        i += size
                    end = end + (dmlcy_load_float(row0 + last) + dmlcy_load_float(row1 + last))
                    end = end + dmlcy_load_float(row2 + last)
                    dmlcy_store_float(target + last, end)
            elif sum.waiting == 4:
                row0 = <const float*> sum.row[0] + moved
                row1 = <const float*> sum.row[1] + moved
                row2 = <const float*> sum.row[2] + moved
                row3 = <const float*> sum.row[3] + moved
                if fresh:
                    i = 0
                    while i < last:
                        acc = (dmlcy_load_float(row0 + i) + dmlcy_load_float(row1 + i))
                        acc = acc + (dmlcy_load_float(row2 + i) + dmlcy_load_float(row3 + i))
                        dmlcy_store_float(target + i, acc)
                        i += size
                    end = (dmlcy_load_float(row0 + last) + dmlcy_load_float(row1 + last))
                    end = end + (dmlcy_load_float(row2 + last) + dmlcy_load_float(row3 + last))
                    dmlcy_store_float(target + last, end)
                else:
                    end = dmlcy_load_float(target + last)
                    i = 0
                    while i < last:
                        acc = dmlcy_load_float(target + i)
                        acc = acc + (dmlcy_load_float(row0 + i) + dmlcy_load_float(row1 + i))
                        acc = acc + (dmlcy_load_float(row2 + i) + dmlcy_load_float(row3 + i))
                        dmlcy_store_float(target + i, acc)
                        i += size
                    end = end + (dmlcy_load_float(row0 + last) + dmlcy_load_float(row1 + last))
                    end = end + (dmlcy_load_float(row2 + last) + dmlcy_load_float(row3 + last))
                    dmlcy_store_float(target + last, end)
            elif sum.waiting == 5:
                row0 = <const float*> sum.row[0] + moved
                row1 = <const float*> sum.row[1] + moved
                row2 = <const float*> sum.row[2] + moved
                row3 = <const float*> sum.row[3] + moved
                row4 = <const float*> sum.row[4] + moved
                if fresh:
                    i = 0
                    while i < last:
                        acc = (dmlcy_load_float(row0 + i) + dmlcy_load_float(row1 + i))
                        acc = acc + (dmlcy_load_float(row2 + i) + dmlcy_load_float(row3 + i))
                        acc = acc + dmlcy_load_float(row4 + i)
                        dmlcy_store_float(target + i, acc)
                        i += size
                    end = (dmlcy_load_float(row0 + last) + dmlcy_load_float(row1 + last))
                    end = end + (dmlcy_load_float(row2 + last) + dmlcy_load_float(row3 + last))
                    end = end + dmlcy_load_float(row4 + last)
                    dmlcy_store_float(target + last, end)
                else:
                    end = dmlcy_load_float(target + last)
                    i = 0
                    while i < last:
                        acc = dmlcy_load_float(target + i)
                        acc = acc + (dmlcy_load_float(row0 + i) + dmlcy_load_float(row1 + i))
                        acc = acc + (dmlcy_load_float(row2 + i) + dmlcy_load_float(row3 + i))
                        acc = acc + dmlcy_load_float(row4 + i)
                        dmlcy_store_float(target + i, acc)
                        i += size
                    end = end + (dmlcy_load_float(row0 + last) + dmlcy_load_float(row1 + last))
                    end = end + (dmlcy_load_float(row2 + last) + dmlcy_load_float(row3 + last))
                    end = end + dmlcy_load_float(row4 + last)
                    dmlcy_store_float(target + last, end)
            elif sum.waiting == 6:
                row0 = <const float*> sum.row[0] + moved
                row1 = <const float*> sum.row[1] + moved
                row2 = <const float*> sum.row[2] + moved
                row3 = <const float*> sum.row[3] + moved
                row4 = <const float*> sum.row[4] + moved
                row5 = <const float*> sum.row[5] + moved
                if fresh:
                    i = 0
                    while i < last:
                        acc = (dmlcy_load_float(row0 + i) + dmlcy_load_float(row1 + i))
                        acc = acc + (dmlcy_load_float(row2 + i) + dmlcy_load_float(row3 + i))
                        acc = acc + (dmlcy_load_float(row4 + i) + dmlcy_load_float(row5 + i))
                        dmlcy_store_float(target + i, acc)
                        i += size
                    end = (dmlcy_load_float(row0 + last) + dmlcy_load_float(row1 + last))
                    end = end + (dmlcy_load_float(row2 + last) + dmlcy_load_float(row3 + last))
                    end = end + (dmlcy_load_float(row4 + last) + dmlcy_load_float(row5 + last))
                    dmlcy_store_float(target + last, end)
                else:
                    end = dmlcy_load_float(target + last)
                    i = 0
                    while i < last:
                        acc = dmlcy_load_float(target + i)
                        acc = acc + (dmlcy_load_float(row0 + i) + dmlcy_load_float(row1 + i))
                        acc = acc + (dmlcy_load_float(row2 + i) + dmlcy_load_float(row3 + i))
                        acc = acc + (dmlcy_load_float(row4 + i) + dmlcy_load_float(row5 + i))
                        dmlcy_store_float(target + i, acc)
                        i += size
                    end = end + (dmlcy_load_float(row0 + last) + dmlcy_load_float(row1 + last))
                    end = end + (dmlcy_load_float(row2 + last) + dmlcy_load_float(row3 + last))
                    end = end + (dmlcy_load_float(row4 + last) + dmlcy_load_float(row5 + last))
                    dmlcy_store_float(target + last, end)
            elif sum.waiting == 7:
                row0 = <const float*> sum.row[0] + moved
                row1 = <const float*> sum.row[1] + moved
                row2 = <const float*> sum.row[2] + moved
                row3 = <const float*> sum.row[3] + moved
                row4 = <const float*> sum.row[4] + moved
                row5 = <const float*> sum.row[5] + moved
                row6 = <const float*> sum.row[6] + moved
                if fresh:
                    i = 0
                    while i < last:
                        acc = (dmlcy_load_float(row0 + i) + dmlcy_load_float(row1 + i))
                        acc = acc + (dmlcy_load_float(row2 + i) + dmlcy_load_float(row3 + i))
                        acc = acc + (dmlcy_load_float(row4 + i) + dmlcy_load_float(row5 + i))
                        acc = acc + dmlcy_load_float(row6 + i)
                        dmlcy_store_float(target + i, acc)
                        i += size
                    end = (dmlcy_load_float(row0 + last) + dmlcy_load_float(row1 + last))
                    end = end + (dmlcy_load_float(row2 + last) + dmlcy_load_float(row3 + last))
                    end = end + (dmlcy_load_float(row4 + last) + dmlcy_load_float(row5 + last))
                    end = end + dmlcy_load_float(row6 + last)
                    dmlcy_store_float(target + last, end)
                else:
                    end = dmlcy_load_float(target + last)
                    i = 0
                    while i < last:
                        acc = dmlcy_load_float(target + i)
                        acc = acc + (dmlcy_load_float(row0 + i) + dmlcy_load_float(row1 + i))
                        acc = acc + (dmlcy_load_float(row2 + i) + dmlcy_load_float(row3 + i))
                        acc = acc + (dmlcy_load_float(row4 + i) + dmlcy_load_float(row5 + i))
                        acc = acc + dmlcy_load_float(row6 + i)
                        dmlcy_store_float(target + i, acc)
                        i += size
                    end = end + (dmlcy_load_float(row0 + last) + dmlcy_load_float(row1 + last))
                    end = end + (dmlcy_load_float(row2 + last) + dmlcy_load_float(row3 + last))
                    end = end + (dmlcy_load_float(row4 + last) + dmlcy_load_float(row5 + last))
                    end = end + dmlcy_load_float(row6 + last)
                    dmlcy_store_float(target + last, end)
            elif sum.waiting == 8:
                row0 = <const float*> sum.row[0] + moved
                row1 = <const float*> sum.row[1] + moved
                row2 = <const float*> sum.row[2] + moved
                row3 = <const float*> sum.row[3] + moved
                row4 = <const float*> sum.row[4] + moved
                row5 = <const float*> sum.row[5] + moved
                row6 = <const float*> sum.row[6] + moved
                row7 = <const float*> sum.row[7] + moved
                if fresh:
                    i = 0
                    while i < last:
                        acc = (dmlcy_load_float(row0 + i) + dmlcy_load_float(row1 + i))
                        acc = acc + (dmlcy_load_float(row2 + i) + dmlcy_load_float(row3 + i))
                        acc = acc + (dmlcy_load_float(row4 + i) + dmlcy_load_float(row5 + i))
                        acc = acc + (dmlcy_load_float(row6 + i) + dmlcy_load_float(row7 + i))
                        dmlcy_store_float(target + i, acc)
                        i += size
                    end = (dmlcy_load_float(row0 + last) + dmlcy_load_float(row1 + last))
                    end = end + (dmlcy_load_float(row2 + last) + dmlcy_load_float(row3 + last))
                    end = end + (dmlcy_load_float(row4 + last) + dmlcy_load_float(row5 + last))
                    end = end + (dmlcy_load_float(row6 + last) + dmlcy_load_float(row7 + last))
                    dmlcy_store_float(target + last, end)
                else:
                    end = dmlcy_load_float(target + last)
                    i = 0
                    while i < last:
                        acc = dmlcy_load_float(target + i)
                        acc = acc + (dmlcy_load_float(row0 + i) + dmlcy_load_float(row1 + i))
                        acc = acc + (dmlcy_load_float(row2 + i) + dmlcy_load_float(row3 + i))
                        acc = acc + (dmlcy_load_float(row4 + i) + dmlcy_load_float(row5 + i))
                        acc = acc + (dmlcy_load_float(row6 + i) + dmlcy_load_float(row7 + i))
                        dmlcy_store_float(target + i, acc)
                        i += size
                    end = end + (dmlcy_load_float(row0 + last) + dmlcy_load_float(row1 + last))
                    end = end + (dmlcy_load_float(row2 + last) + dmlcy_load_float(row3 + last))
                    end = end + (dmlcy_load_float(row4 + last) + dmlcy_load_float(row5 + last))
                    end = end + (dmlcy_load_float(row6 + last) + dmlcy_load_float(row7 + last))
                    dmlcy_store_float(target + last, end)


# Combines rows into the target.
cdef void sum_half_short(
        const WindowSum* sum, float* target, int64_t moved, bint fresh) noexcept nogil:
    cdef float other
    cdef int64_t i
    cdef int n
    for i in range(sum.size):
        for n in range(0, sum.waiting, 2):
            other = dmlcy_float_of_half((<const uint16_t*> sum.row[n])[moved + i])
            if n + 1 < sum.waiting:
                other = other + dmlcy_float_of_half((<const uint16_t*> sum.row[n + 1])[moved + i])
            target[i] = other if fresh and n == 0 else target[i] + other


cdef void sum_half "sum_half"(const void* args) noexcept nogil:
    cdef const WindowSum* sum = <const WindowSum*> args
    cdef int64_t size = sizeof(dmlcy_float_block) // sizeof(float)
    cdef int64_t last = sum.size - size
    cdef int64_t line, number, moved, i
    cdef float* target
    cdef dmlcy_float_block acc, end
    cdef bint fresh
    cdef const uint16_t* row0
    cdef const uint16_t* row1
    cdef const uint16_t* row2
    cdef const uint16_t* row3
    cdef const uint16_t* row4
    cdef const uint16_t* row5
    cdef const uint16_t* row6
    cdef const uint16_t* row7
    for line in range(sum.lines):
        target = <float*> sum.target + line * sum.target_step
        for number in range(sum.passes):
            fresh = sum.fresh and number == 0
            moved = line * sum.line_step + number * sum.pass_step
            if last < 0:
                sum_half_short(sum, target, moved, fresh)
            elif sum.waiting == 1:
                row0 = <const uint16_t*> sum.row[0] + moved
                if fresh:
                    i = 0
                    while i < last:
                        acc = dmlcy_load_half(row0 + i)
                        dmlcy_store_float(target + i, acc)
                        i += size
                    end = dmlcy_load_half(row0 + last)
                    dmlcy_store_float(target + last, end)
                else:
                    end = dmlcy_load_float(target + last)
                    i = 0
                    while i < last:
                        acc = dmlcy_load_float(target + i)
                        acc = acc + dmlcy_load_half(row0 + i)
                        dmlcy_store_float(target + i, acc)
                        i += size
                    end = end + dmlcy_load_half(row0 + last)
                    dmlcy_store_float(target + last, end)
            elif sum.waiting == 2:
                row0 = <const uint16_t*> sum.row[0] + moved
                row1 = <const uint16_t*> sum.row[1] + moved
                if fresh:
                    i = 0
                    while i < last:
                        acc = (dmlcy_load_half(row0 + i) + dmlcy_load_half(row1 + i))
                        dmlcy_store_float(target + i, acc)
                        i += size
                    end = (dmlcy_load_half(row0 + last) + dmlcy_load_half(row1 + last))
                    dmlcy_store_float(target + last, end)
                else:
                    end = dmlcy_load_float(target + last)
                    i = 0
                    while i < last:
                        acc = dmlcy_load_float(target + i)
                        acc = acc + (dmlcy_load_half(row0 + i) + dmlcy_load_half(row1 + i))
                        dmlcy_store_float(target + i, acc)
                        i += size
                    end = end + (dmlcy_load_half(row0 + last) + dmlcy_load_half(row1 + last))
                    dmlcy_store_float(target + last, end)
            elif sum.waiting == 3:
                row0 = <const uint16_t*> sum.row[0] + moved
                row1 = <const uint16_t*> sum.row[1] + moved
                row2 = <const uint16_t*> sum.row[2] + moved
                if fresh:
                    i = 0
                    while i < last:
                        acc = (dmlcy_load_half(row0 + i) + dmlcy_load_half(row1 + i))
                        acc = acc + dmlcy_load_half(row2 + i)
                        dmlcy_store_float(target + i, acc)
                        i += size
                    end = (dmlcy_load_half(row0 + last) + dmlcy_load_half(row1 + last))
                    end = end + dmlcy_load_half(row2 + last)
                    dmlcy_store_float(target + last, end)
                else:
                    end = dmlcy_load_float(target + last)
                    i = 0
                    while i < last:
                        acc = dmlcy_load_float(target + i)
                        acc = acc + (dmlcy_load_half(row0 + i) + dmlcy_load_half(row1 + i))
                        acc = acc + dmlcy_load_half(row2 + i)
                        dmlcy_store_float(target + i, acc)
                        i += size
                    end = end + (dmlcy_load_half(row0 + last) + dmlcy_load_half(row1 + last))
                    end = end + dmlcy_load_half(row2 + last)
                    dmlcy_store_float(target + last, end)
            elif sum.waiting == 4:
                row0 = <const uint16_t*> sum.row[0] + moved
                row1 = <const uint16_t*> sum.row[1] + moved
                row2 = <const uint16_t*> sum.row[2] + moved
                row3 = <const uint16_t*> sum.row[3] + moved
                if fresh:
                    i = 0
                    while i < last:
                        acc = (dmlcy_load_half(row0 + i) + dmlcy_load_half(row1 + i))
                        acc = acc + (dmlcy_load_half(row2 + i) + dmlcy_load_half(row3 + i))
                        dmlcy_store_float(target + i, acc)
                        i += size
                    end = (dmlcy_load_half(row0 + last) + dmlcy_load_half(row1 + last))
                    end = end + (dmlcy_load_half(row2 + last) + dmlcy_load_half(row3 + last))
                    dmlcy_store_float(target + last, end)
                else:
                    end = dmlcy_load_float(target + last)
                    i = 0
                    while i < last:
                        acc = dmlcy_load_float(target + i)
                        acc = acc + (dmlcy_load_half(row0 + i) + dmlcy_load_half(row1 + i))
                        acc = acc + (dmlcy_load_half(row2 + i) + dmlcy_load_half(row3 + i))
                        dmlcy_store_float(target + i, acc)
                        i += size
                    end = end + (dmlcy_load_half(row0 + last) + dmlcy_load_half(row1 + last))
                    end = end + (dmlcy_load_half(row2 + last) + dmlcy_load_half(row3 + last))
                    dmlcy_store_float(target + last, end)
            elif sum.waiting == 5:
                row0 = <const uint16_t*> sum.row[0] + moved
                row1 = <const uint16_t*> sum.row[1] + moved
                row2 = <const uint16_t*> sum.row[2] + moved
                row3 = <const uint16_t*> sum.row[3] + moved
                row4 = <const uint16_t*> sum.row[4] + moved
                if fresh:
                    i = 0
                    while i < last:
                        acc = (dmlcy_load_half(row0 + i) + dmlcy_load_half(row1 + i))
                        acc = acc + (dmlcy_load_half(row2 + i) + dmlcy_load_half(row3 + i))
                        acc = acc + dmlcy_load_half(row4 + i)
                        dmlcy_store_float(target + i, acc)
                        i += size
                    end = (dmlcy_load_half(row0 + last) + dmlcy_load_half(row1 + last))
                    end = end + (dmlcy_load_half(row2 + last) + dmlcy_load_half(row3 + last))
                    end = end + dmlcy_load_half(row4 + last)
                    dmlcy_store_float(target + last, end)
                else:
                    end = dmlcy_load_float(target + last)
                    i = 0
                    while i < last:
                        acc = dmlcy_load_float(target + i)
                        acc = acc + (dmlcy_load_half(row0 + i) + dmlcy_load_half(row1 + i))
                        acc = acc + (dmlcy_load_half(row2 + i) + dmlcy_load_half(row3 + i))
                        acc = acc + dmlcy_load_half(row4 + i)
                        dmlcy_store_float(target + i, acc)
                        i += size
                    end = end + (dmlcy_load_half(row0 + last) + dmlcy_load_half(row1 + last))
                    end = end + (dmlcy_load_half(row2 + last) + dmlcy_load_half(row3 + last))
                    end = end + dmlcy_load_half(row4 + last)
                    dmlcy_store_float(target + last, end)
            elif sum.waiting == 6:
                row0 = <const uint16_t*> sum.row[0] + moved
                row1 = <const uint16_t*> sum.row[1] + moved
                row2 = <const uint16_t*> sum.row[2] + moved
                row3 = <const uint16_t*> sum.row[3] + moved
                row4 = <const uint16_t*> sum.row[4] + moved
                row5 = <const uint16_t*> sum.row[5] + moved
                if fresh:
                    i = 0
                    while i < last:
                        acc = (dmlcy_load_half(row0 + i) + dmlcy_load_half(row1 + i))
                        acc = acc + (dmlcy_load_half(row2 + i) + dmlcy_load_half(row3 + i))
                        acc = acc + (dmlcy_load_half(row4 + i) + dmlcy_load_half(row5 + i))
                        dmlcy_store_float(target + i, acc)
                        i += size
                    end = (dmlcy_load_half(row0 + last) + dmlcy_load_half(row1 + last))
                    end = end + (dmlcy_load_half(row2 + last) + dmlcy_load_half(row3 + last))
                    end = end + (dmlcy_load_half(row4 + last) + dmlcy_load_half(row5 + last))
                    dmlcy_store_float(target + last, end)
                else:
                    end = dmlcy_load_float(target + last)
                    i = 0
                    while i < last:
                        acc = dmlcy_load_float(target + i)
                        acc = acc + (dmlcy_load_half(row0 + i) + dmlcy_load_half(row1 + i))
                        acc = acc + (dmlcy_load_half(row2 + i) + dmlcy_load_half(row3 + i))
                        acc = acc + (dmlcy_load_half(row4 + i) + dmlcy_load_half(row5 + i))
                        dmlcy_store_float(target + i, acc)
                        i += size
                    end = end + (dmlcy_load_half(row0 + last) + dmlcy_load_half(row1 + last))
                    end = end + (dmlcy_load_half(row2 + last) + dmlcy_load_half(row3 + last))
                    end = end + (dmlcy_load_half(row4 + last) + dmlcy_load_half(row5 + last))
                    dmlcy_store_float(target + last, end)
            elif sum.waiting == 7:
                row0 = <const uint16_t*> sum.row[0] + moved
                row1 = <const uint16_t*> sum.row[1] + moved
                row2 = <const uint16_t*> sum.row[2] + moved
                row3 = <const uint16_t*> sum.row[3] + moved
                row4 = <const uint16_t*> sum.row[4] + moved
                row5 = <const uint16_t*> sum.row[5] + moved
                row6 = <const uint16_t*> sum.row[6] + moved
                if fresh:
                    i = 0
                    while i < last:
                        acc = (dmlcy_load_half(row0 + i) + dmlcy_load_half(row1 + i))
                        acc = acc + (dmlcy_load_half(row2 + i) + dmlcy_load_half(row3 + i))
                        acc = acc + (dmlcy_load_half(row4 + i) + dmlcy_load_half(row5 + i))
                        acc = acc + dmlcy_load_half(row6 + i)
                        dmlcy_store_float(target + i, acc)
                        i += size
                    end = (dmlcy_load_half(row0 + last) + dmlcy_load_half(row1 + last))
                    end = end + (dmlcy_load_half(row2 + last) + dmlcy_load_half(row3 + last))
                    end = end + (dmlcy_load_half(row4 + last) + dmlcy_load_half(row5 + last))
                    end = end + dmlcy_load_half(row6 + last)
                    dmlcy_store_float(target + last, end)
                else:
                    end = dmlcy_load_float(target + last)
                    i = 0
                    while i < last:
                        acc = dmlcy_load_float(target + i)
                        acc = acc + (dmlcy_load_half(row0 + i) + dmlcy_load_half(row1 + i))
                        acc = acc + (dmlcy_load_half(row2 + i) + dmlcy_load_half(row3 + i))
                        acc = acc + (dmlcy_load_half(row4 + i) + dmlcy_load_half(row5 + i))
                        acc = acc + dmlcy_load_half(row6 + i)
                        dmlcy_store_float(target + i, acc)
                        i += size
                    end = end + (dmlcy_load_half(row0 + last) + dmlcy_load_half(row1 + last))
                    end = end + (dmlcy_load_half(row2 + last) + dmlcy_load_half(row3 + last))
                    end = end + (dmlcy_load_half(row4 + last) + dmlcy_load_half(row5 + last))
                    end = end + dmlcy_load_half(row6 + last)
                    dmlcy_store_float(target + last, end)
            elif sum.waiting == 8:
                row0 = <const uint16_t*> sum.row[0] + moved
                row1 = <const uint16_t*> sum.row[1] + moved
                row2 = <const uint16_t*> sum.row[2] + moved
                row3 = <const uint16_t*> sum.row[3] + moved
                row4 = <const uint16_t*> sum.row[4] + moved
                row5 = <const uint16_t*> sum.row[5] + moved
                row6 = <const uint16_t*> sum.row[6] + moved
                row7 = <const uint16_t*> sum.row[7] + moved
                if fresh:
                    i = 0
                    while i < last:
                        acc = (dmlcy_load_half(row0 + i) + dmlcy_load_half(row1 + i))
                        acc = acc + (dmlcy_load_half(row2 + i) + dmlcy_load_half(row3 + i))
                        acc = acc + (dmlcy_load_half(row4 + i) + dmlcy_load_half(row5 + i))
                        acc = acc + (dmlcy_load_half(row6 + i) + dmlcy_load_half(row7 + i))
                        dmlcy_store_float(target + i, acc)
                        i += size
                    end = (dmlcy_load_half(row0 + last) + dmlcy_load_half(row1 + last))
                    end = end + (dmlcy_load_half(row2 + last) + dmlcy_load_half(row3 + last))
                    end = end + (dmlcy_load_half(row4 + last) + dmlcy_load_half(row5 + last))
                    end = end + (dmlcy_load_half(row6 + last) + dmlcy_load_half(row7 + last))
                    dmlcy_store_float(target + last, end)
                else:
                    end = dmlcy_load_float(target + last)
                    i = 0
                    while i < last:
                        acc = dmlcy_load_float(target + i)
                        acc = acc + (dmlcy_load_half(row0 + i) + dmlcy_load_half(row1 + i))
                        acc = acc + (dmlcy_load_half(row2 + i) + dmlcy_load_half(row3 + i))
                        acc = acc + (dmlcy_load_half(row4 + i) + dmlcy_load_half(row5 + i))
                        acc = acc + (dmlcy_load_half(row6 + i) + dmlcy_load_half(row7 + i))
                        dmlcy_store_float(target + i, acc)
                        i += size
                    end = end + (dmlcy_load_half(row0 + last) + dmlcy_load_half(row1 + last))
                    end = end + (dmlcy_load_half(row2 + last) + dmlcy_load_half(row3 + last))
                    end = end + (dmlcy_load_half(row4 + last) + dmlcy_load_half(row5 + last))
                    end = end + (dmlcy_load_half(row6 + last) + dmlcy_load_half(row7 + last))
                    dmlcy_store_float(target + last, end)


cdef void sum_half_wide "sum_half_wide"(const void* args) noexcept nogil:
    cdef const WindowSum* sum = <const WindowSum*> args
    cdef int64_t size = sizeof(dmlcy_float_block) // sizeof(float)
    cdef int64_t last = sum.size - size
    cdef int64_t line, number, moved, i
    cdef float* target
    cdef dmlcy_float_block acc, end
    cdef bint fresh
    cdef const uint16_t* row0
    cdef const uint16_t* row1
    cdef const uint16_t* row2
    cdef const uint16_t* row3
    cdef const uint16_t* row4
    cdef const uint16_t* row5
    cdef const uint16_t* row6
    cdef const uint16_t* row7
    for line in range(sum.lines):
        target = <float*> sum.target + line * sum.target_step
        for number in range(sum.passes):
            fresh = sum.fresh and number == 0
            moved = line * sum.line_step + number * sum.pass_step
            if last < 0:
                sum_half_short(sum, target, moved, fresh)
            elif sum.waiting == 1:
                row0 = <const uint16_t*> sum.row[0] + moved
                if fresh:
                    i = 0
                    while i < last:
                        acc = dmlcy_load_half_wide(row0 + i)
                        dmlcy_store_float(target + i, acc)
                        i += size
                    end = dmlcy_load_half_wide(row0 + last)
                    dmlcy_store_float(target + last, end)
                else:
                    end = dmlcy_load_float(target + last)
                    i = 0
                    while i < last:
                        acc = dmlcy_load_float(target + i)
                        acc = acc + dmlcy_load_half_wide(row0 + i)
                        dmlcy_store_float(target + i, acc)
                        i += size
                    end = end + dmlcy_load_half_wide(row0 + last)
                    dmlcy_store_float(target + last, end)
            elif sum.waiting == 2:
                row0 = <const uint16_t*> sum.row[0] + moved
                row1 = <const uint16_t*> sum.row[1] + moved
                if fresh:
                    i = 0
                    while i < last:
                        acc = (dmlcy_load_half_wide(row0 + i) + dmlcy_load_half_wide(row1 + i))
                        dmlcy_store_float(target + i, acc)
                        i += size
                    end = (dmlcy_load_half_wide(row0 + last) + dmlcy_load_half_wide(row1 + last))
                    dmlcy_store_float(target + last, end)
                else:
                    end = dmlcy_load_float(target + last)
                    i = 0
                    while i < last:
                        acc = dmlcy_load_float(target + i)
                        acc = acc + (dmlcy_load_half_wide(row0 + i) + dmlcy_load_half_wide(row1 + i))
                        dmlcy_store_float(target + i, acc)
                        i += size
                    end = end + (dmlcy_load_half_wide(row0 + last) + dmlcy_load_half_wide(row1 + last))
                    dmlcy_store_float(target + last, end)
            elif sum.waiting == 3:
                row0 = <const uint16_t*> sum.row[0] + moved
                row1 = <const uint16_t*> sum.row[1] + moved
                row2 = <const uint16_t*> sum.row[2] + moved
                if fresh:
                    i = 0
                    while i < last:
                        acc = (dmlcy_load_half_wide(row0 + i) + dmlcy_load_half_wide(row1 + i))
                        acc = acc + dmlcy_load_half_wide(row2 + i)
                        dmlcy_store_float(target + i, acc)
                        i += size
                    end = (dmlcy_load_half_wide(row0 + last) + dmlcy_load_half_wide(row1 + last))
                    end = end + dmlcy_load_half_wide(row2 + last)
                    dmlcy_store_float(target + last, end)
                else:
                    end = dmlcy_load_float(target + last)
                    i = 0
                    while i < last:
                        acc = dmlcy_load_float(target + i)
                        acc = acc + (dmlcy_load_half_wide(row0 + i) + dmlcy_load_half_wide(row1 + i))
                        acc = acc + dmlcy_load_half_wide(row2 + i)
                        dmlcy_store_float(target + i, acc)
                        i += size
                    end = end + (dmlcy_load_half_wide(row0 + last) + dmlcy_load_half_wide(row1 + last))
                    end = end + dmlcy_load_half_wide(row2 + last)
                    dmlcy_store_float(target + last, end)
            elif sum.waiting == 4:
                row0 = <const uint16_t*> sum.row[0] + moved
                row1 = <const uint16_t*> sum.row[1] + moved
                row2 = <const uint16_t*> sum.row[2] + moved
                row3 = <const uint16_t*> sum.row[3] + moved
                if fresh:
                    i = 0
                    while i < last:
                        acc = (dmlcy_load_half_wide(row0 + i) + dmlcy_load_half_wide(row1 + i))
                        acc = acc + (dmlcy_load_half_wide(row2 + i) + dmlcy_load_half_wide(row3 + i))
                        dmlcy_store_float(target + i, acc)
                        i += size
                    end = (dmlcy_load_half_wide(row0 + last) + dmlcy_load_half_wide(row1 + last))
                    end = end + (dmlcy_load_half_wide(row2 + last) + dmlcy_load_half_wide(row3 + last))
                    dmlcy_store_float(target + last, end)
                else:
                    end = dmlcy_load_float(target + last)
                    i = 0
                    while i < last:
                        acc = dmlcy_load_float(target + i)
                        acc = acc + (dmlcy_load_half_wide(row0 + i) + dmlcy_load_half_wide(row1 + i))
                        acc = acc + (dmlcy_load_half_wide(row2 + i) + dmlcy_load_half_wide(row3 + i))
                        dmlcy_store_float(target + i, acc)
                        i += size
                    end = end + (dmlcy_load_half_wide(row0 + last) + dmlcy_load_half_wide(row1 + last))
                    end = end + (dmlcy_load_half_wide(row2 + last) + dmlcy_load_half_wide(row3 + last))
                    dmlcy_store_float(target + last, end)
            elif sum.waiting == 5:
                row0 = <const uint16_t*> sum.row[0] + moved
                row1 = <const uint16_t*> sum.row[1] + moved
                row2 = <const uint16_t*> sum.row[2] + moved
                row3 = <const uint16_t*> sum.row[3] + moved
                row4 = <const uint16_t*> sum.row[4] + moved
                if fresh:
                    i = 0
                    while i < last:
                        acc = (dmlcy_load_half_wide(row0 + i) + dmlcy_load_half_wide(row1 + i))
                        acc = acc + (dmlcy_load_half_wide(row2 + i) + dmlcy_load_half_wide(row3 + i))
                        acc = acc + dmlcy_load_half_wide(row4 + i)
                        dmlcy_store_float(target + i, acc)
                        i += size
                    end = (dmlcy_load_half_wide(row0 + last) + dmlcy_load_half_wide(row1 + last))
                    end = end + (dmlcy_load_half_wide(row2 + last) + dmlcy_load_half_wide(row3 + last))
                    end = end + dmlcy_load_half_wide(row4 + last)
                    dmlcy_store_float(target + last, end)
                else:
                    end = dmlcy_load_float(target + last)
                    i = 0
                    while i < last:
                        acc = dmlcy_load_float(target + i)
                        acc = acc + (dmlcy_load_half_wide(row0 + i) + dmlcy_load_half_wide(row1 + i))
                        acc = acc + (dmlcy_load_half_wide(row2 + i) + dmlcy_load_half_wide(row3 + i))
                        acc = acc + dmlcy_load_half_wide(row4 + i)
                        dmlcy_store_float(target + i, acc)
                        i += size
                    end = end + (dmlcy_load_half_wide(row0 + last) + dmlcy_load_half_wide(row1 + last))
                    end = end + (dmlcy_load_half_wide(row2 + last) + dmlcy_load_half_wide(row3 + last))
                    end = end + dmlcy_load_half_wide(row4 + last)
                    dmlcy_store_float(target + last, end)
            elif sum.waiting == 6:
                row0 = <const uint16_t*> sum.row[0] + moved
                row1 = <const uint16_t*> sum.row[1] + moved
                row2 = <const uint16_t*> sum.row[2] + moved
                row3 = <const uint16_t*> sum.row[3] + moved
                row4 = <const uint16_t*> sum.row[4] + moved
                row5 = <const uint16_t*> sum.row[5] + moved
                if fresh:
                    i = 0
                    while i < last:
                        acc = (dmlcy_load_half_wide(row0 + i) + dmlcy_load_half_wide(row1 + i))
                        acc = acc + (dmlcy_load_half_wide(row2 + i) + dmlcy_load_half_wide(row3 + i))
                        acc = acc + (dmlcy_load_half_wide(row4 + i) + dmlcy_load_half_wide(row5 + i))
                        dmlcy_store_float(target + i, acc)
                        i += size
                    end = (dmlcy_load_half_wide(row0 + last) + dmlcy_load_half_wide(row1 + last))
                    end = end + (dmlcy_load_half_wide(row2 + last) + dmlcy_load_half_wide(row3 + last))
                    end = end + (dmlcy_load_half_wide(row4 + last) + dmlcy_load_half_wide(row5 + last))
                    dmlcy_store_float(target + last, end)
                else:
                    end = dmlcy_load_float(target + last)
                    i = 0
                    while i < last:
                        acc = dmlcy_load_float(target + i)
                        acc = acc + (dmlcy_load_half_wide(row0 + i) + dmlcy_load_half_wide(row1 + i))
                        acc = acc + (dmlcy_load_half_wide(row2 + i) + dmlcy_load_half_wide(row3 + i))
                        acc = acc + (dmlcy_load_half_wide(row4 + i) + dmlcy_load_half_wide(row5 + i))
                        dmlcy_store_float(target + i, acc)
                        i += size
                    end = end + (dmlcy_load_half_wide(row0 + last) + dmlcy_load_half_wide(row1 + last))
                    end = end + (dmlcy_load_half_wide(row2 + last) + dmlcy_load_half_wide(row3 + last))
                    end = end + (dmlcy_load_half_wide(row4 + last) + dmlcy_load_half_wide(row5 + last))
                    dmlcy_store_float(target + last, end)
            elif sum.waiting == 7:
                row0 = <const uint16_t*> sum.row[0] + moved
                row1 = <const uint16_t*> sum.row[1] + moved
                row2 = <const uint16_t*> sum.row[2] + moved
                row3 = <const uint16_t*> sum.row[3] + moved
                row4 = <const uint16_t*> sum.row[4] + moved
                row5 = <const uint16_t*> sum.row[5] + moved
                row6 = <const uint16_t*> sum.row[6] + moved
                if fresh:
                    i = 0
                    while i < last:
                        acc = (dmlcy_load_half_wide(row0 + i) + dmlcy_load_half_wide(row1 + i))
                        acc = acc + (dmlcy_load_half_wide(row2 + i) + dmlcy_load_half_wide(row3 + i))
                        acc = acc + (dmlcy_load_half_wide(row4 + i) + dmlcy_load_half_wide(row5 + i))
                        acc = acc + dmlcy_load_half_wide(row6 + i)
                        dmlcy_store_float(target + i, acc)
                        i += size
                    end = (dmlcy_load_half_wide(row0 + last) + dmlcy_load_half_wide(row1 + last))
                    end = end + (dmlcy_load_half_wide(row2 + last) + dmlcy_load_half_wide(row3 + last))
                    end = end + (dmlcy_load_half_wide(row4 + last) + dmlcy_load_half_wide(row5 + last))
                    end = end + dmlcy_load_half_wide(row6 + last)
                    dmlcy_store_float(target + last, end)
                else:
                    end = dmlcy_load_float(target + last)
                    i = 0
                    while i < last:
                        acc = dmlcy_load_float(target + i)
                        acc = acc + (dmlcy_load_half_wide(row0 + i) + dmlcy_load_half_wide(row1 + i))
                        acc = acc + (dmlcy_load_half_wide(row2 + i) + dmlcy_load_half_wide(row3 + i))
                        acc = acc + (dmlcy_load_half_wide(row4 + i) + dmlcy_load_half_wide(row5 + i))
                        acc = acc + dmlcy_load_half_wide(row6 + i)
                        dmlcy_store_float(target + i, acc)
                        i += size
                    end = end + (dmlcy_load_half_wide(row0 + last) + dmlcy_load_half_wide(row1 + last))
                    end = end + (dmlcy_load_half_wide(row2 + last) + dmlcy_load_half_wide(row3 + last))
                    end = end + (dmlcy_load_half_wide(row4 + last) + dmlcy_load_half_wide(row5 + last))
                    end = end + dmlcy_load_half_wide(row6 + last)
                    dmlcy_store_float(target + last, end)
            elif sum.waiting == 8:
                row0 = <const uint16_t*> sum.row[0] + moved
                row1 = <const uint16_t*> sum.row[1] + moved
                row2 = <const uint16_t*> sum.row[2] + moved
                row3 = <const uint16_t*> sum.row[3] + moved
                row4 = <const uint16_t*> sum.row[4] + moved
                row5 = <const uint16_t*> sum.row[5] + moved
                row6 = <const uint16_t*> sum.row[6] + moved
                row7 = <const uint16_t*> sum.row[7] + moved
                if fresh:
                    i = 0
                    while i < last:
                        acc = (dmlcy_load_half_wide(row0 + i) + dmlcy_load_half_wide(row1 + i))
                        acc = acc + (dmlcy_load_half_wide(row2 + i) + dmlcy_load_half_wide(row3 + i))
                        acc = acc + (dmlcy_load_half_wide(row4 + i) + dmlcy_load_half_wide(row5 + i))
                        acc = acc + (dmlcy_load_half_wide(row6 + i) + dmlcy_load_half_wide(row7 + i))
                        dmlcy_store_float(target + i, acc)
                        i += size
                    end = (dmlcy_load_half_wide(row0 + last) + dmlcy_load_half_wide(row1 + last))
                    end = end + (dmlcy_load_half_wide(row2 + last) + dmlcy_load_half_wide(row3 + last))
                    end = end + (dmlcy_load_half_wide(row4 + last) + dmlcy_load_half_wide(row5 + last))
                    end = end + (dmlcy_load_half_wide(row6 + last) + dmlcy_load_half_wide(row7 + last))
                    dmlcy_store_float(target + last, end)
                else:
                    end = dmlcy_load_float(target + last)
                    i = 0
                    while i < last:
                        acc = dmlcy_load_float(target + i)
                        acc = acc + (dmlcy_load_half_wide(row0 + i) + dmlcy_load_half_wide(row1 + i))
                        acc = acc + (dmlcy_load_half_wide(row2 + i) + dmlcy_load_half_wide(row3 + i))
                        acc = acc + (dmlcy_load_half_wide(row4 + i) + dmlcy_load_half_wide(row5 + i))
                        acc = acc + (dmlcy_load_half_wide(row6 + i) + dmlcy_load_half_wide(row7 + i))
                        dmlcy_store_float(target + i, acc)
                        i += size
                    end = end + (dmlcy_load_half_wide(row0 + last) + dmlcy_load_half_wide(row1 + last))
                    end = end + (dmlcy_load_half_wide(row2 + last) + dmlcy_load_half_wide(row3 + last))
                    end = end + (dmlcy_load_half_wide(row4 + last) + dmlcy_load_half_wide(row5 + last))
                    end = end + (dmlcy_load_half_wide(row6 + last) + dmlcy_load_half_wide(row7 + last))
                    dmlcy_store_float(target + last, end)


# Combines a row with itself: two neighbours for each element of the target, or three, of which one is the next one's.
cdef void sum_float_near "sum_float_near"(const void* args) noexcept nogil:
    cdef const WindowSum* sum = <const WindowSum*> args
    cdef const float* row = <const float*> sum.row[0]
    cdef float* target = <float*> sum.target
    cdef int64_t i
    if sum.waiting == 2:
        for i in range(sum.size):
            target[i] = row[2 * i] + row[2 * i + 1]
        return
    for i in range(sum.size):
        target[i] = (row[2 * i] + row[2 * i + 1]) + row[2 * i + 2]


# Combines a row with itself: two neighbours for each element of the target, or three, of which one is the next one's.
cdef void sum_float_near_wide "sum_float_near_wide"(const void* args) noexcept nogil:
    cdef const WindowSum* sum = <const WindowSum*> args
    cdef const float* row = <const float*> sum.row[0]
    cdef float* target = <float*> sum.target
    cdef int64_t i
    if sum.waiting == 2:
        for i in range(sum.size):
            target[i] = row[2 * i] + row[2 * i + 1]
        return
    for i in range(sum.size):
        target[i] = (row[2 * i] + row[2 * i + 1]) + row[2 * i + 2]


# Combines 3 rows into each line of the target. From line to line they move by one: each element is taken once.
cdef void sum_float_slide "sum_float_slide"(const void* args) noexcept nogil:
    cdef const WindowSum* sum = <const WindowSum*> args
    cdef int64_t size = sizeof(dmlcy_float_block) // sizeof(float)
    cdef int64_t line_step = sum.line_step
    cdef int64_t target_step = sum.target_step
    cdef int64_t last = sum.size - size
    cdef int64_t at, i = 0
    cdef const float* row
    cdef float* target
    cdef dmlcy_float_block first, second, third
    while i < last + size:
        at = min(i, last)
        row = <const float*> sum.row[0] + at
        target = <float*> sum.target + at
        first = dmlcy_load_float(row + 0)
        second = dmlcy_load_float(row + line_step)
        row += 2 * line_step
        for _ in range(sum.lines):
            third = dmlcy_load_float(row + 0)
            first = first + second
            dmlcy_store_float(target, first + third)
            first = second
            second = third
            row += line_step
            target += target_step
        i += size


# Combines 3 rows into each line of the target. From line to line they move by one: each element is taken once.
cdef void sum_float_slide_wide "sum_float_slide_wide"(const void* args) noexcept nogil:
    cdef const WindowSum* sum = <const WindowSum*> args
    cdef int64_t size = sizeof(dmlcy_float_block) // sizeof(float)
    cdef int64_t line_step = sum.line_step
    cdef int64_t target_step = sum.target_step
    cdef int64_t last = sum.size - size
    cdef int64_t at, i = 0
    cdef const float* row
    cdef float* target
    cdef dmlcy_float_block first, second, third
    while i < last + size:
        at = min(i, last)
        row = <const float*> sum.row[0] + at
        target = <float*> sum.target + at
        first = dmlcy_load_float(row + 0)
        second = dmlcy_load_float(row + line_step)
        row += 2 * line_step
        for _ in range(sum.lines):
            third = dmlcy_load_float(row + 0)
            first = first + second
            dmlcy_store_float(target, first + third)
            first = second
            second = third
            row += line_step
            target += target_step
        i += size


# Combines 3 rows into each line of the target. From line to line they move by one: each element is taken once.
cdef void sum_half_slide "sum_half_slide"(const void* args) noexcept nogil:
    cdef const WindowSum* sum = <const WindowSum*> args
    cdef int64_t size = sizeof(dmlcy_float_block) // sizeof(float)
    cdef int64_t line_step = sum.line_step
    cdef int64_t target_step = sum.target_step
    cdef int64_t last = sum.size - size
    cdef int64_t at, i = 0
    cdef const uint16_t* row
    cdef float* target
    cdef dmlcy_float_block first, second, third
    while i < last + size:
        at = min(i, last)
        row = <const uint16_t*> sum.row[0] + at
        target = <float*> sum.target + at
        first = dmlcy_load_half(row + 0)
        second = dmlcy_load_half(row + line_step)
        row += 2 * line_step
        for _ in range(sum.lines):
            third = dmlcy_load_half(row + 0)
            first = first + second
            dmlcy_store_float(target, first + third)
            first = second
            second = third
            row += line_step
            target += target_step
        i += size


# Combines 3 rows into each line of the target. From line to line they move by one: each element is taken once.
cdef void sum_half_slide_wide "sum_half_slide_wide"(const void* args) noexcept nogil:
    cdef const WindowSum* sum = <const WindowSum*> args
    cdef int64_t size = sizeof(dmlcy_float_block) // sizeof(float)
    cdef int64_t line_step = sum.line_step
    cdef int64_t target_step = sum.target_step
    cdef int64_t last = sum.size - size
    cdef int64_t at, i = 0
    cdef const uint16_t* row
    cdef float* target
    cdef dmlcy_float_block first, second, third
    while i < last + size:
        at = min(i, last)
        row = <const uint16_t*> sum.row[0] + at
        target = <float*> sum.target + at
        first = dmlcy_load_half_wide(row + 0)
        second = dmlcy_load_half_wide(row + line_step)
        row += 2 * line_step
        for _ in range(sum.lines):
            third = dmlcy_load_half_wide(row + 0)
            first = first + second
            dmlcy_store_float(target, first + third)
            first = second
            second = third
            row += line_step
            target += target_step
        i += size


# average_pooling_FLOAT16

cdef struct average_pooling_FLOAT16_Scratch:
    WindowLoop add_sums
    WindowLoop add_near
    WindowLoop add_elements         # where `direct`
    WindowLoop slide_elements
    WindowLoop finish
    float* sums
    float* slots
    float* spare              # GROUP rows
    float* phases
    float* results
    float* counts             # of each result: its divisor
    uint16_t* finished


cdef inline float average_pooling_FLOAT16_first(float x, bint include_padding) noexcept nogil:
    return x


cdef inline float average_pooling_FLOAT16_divisor(float count, float volume, bint include_padding) noexcept nogil:
    return volume if include_padding else max(count, 1)


cdef inline void average_pooling_FLOAT16_clear(float* sums, int64_t size) noexcept nogil:
    cdef int64_t i
    for i in range(size):
        sums[i] = 0


cdef void average_pooling_FLOAT16_finish "average_pooling_FLOAT16_finish"(
        const void* args) noexcept nogil:
    cdef const WindowFinish* finish = <const WindowFinish*> args
    cdef const float* results = <const float*> finish.results
    cdef const float* counts = <const float*> finish.counts
    cdef float init = 0
    cdef uint16_t* target
    cdef int64_t line, i
    cdef int64_t step = finish.tap_step
    cdef float acc
    cdef int64_t size = sizeof(dmlcy_float_block) // sizeof(float)
    cdef int64_t last = finish.size - size
    cdef int64_t at
    cdef dmlcy_float_block each
    cdef dmlcy_float_block inits = dmlcy_each_float(init)
    for line in range(finish.lines):
        target = <uint16_t*> (finish.target + line * finish.target_step)
        if finish.taps == 1 and last < 0:
            for i in range(finish.size):
                acc = results[i]
                target[i] = dmlcy_half_of_float((init + acc) / counts[i])
        elif finish.taps == 1:
            i = 0
            while i < finish.size:
                at = min(i, last)
                each = dmlcy_load_float(results + at)
                dmlcy_store_half(target + at, (inits + each) / dmlcy_load_float(counts + at))
                i += size
        elif finish.taps == 3 and last < 0:
            for i in range(finish.size):
                acc = results[i] + results[step + i]
                acc = acc + results[2 * step + i]
                target[i] = dmlcy_half_of_float((init + acc) / counts[i])
        elif finish.taps == 3:
            i = 0
            while i < finish.size:
                at = min(i, last)
                each = dmlcy_load_float(results + at) + dmlcy_load_float(results + step + at)
                each = each + dmlcy_load_float(results + 2 * step + at)
                dmlcy_store_half(target + at, (inits + each) / dmlcy_load_float(counts + at))
                i += size
        results += finish.line_step
        counts += finish.line_step


cdef void average_pooling_FLOAT16_finish_wide "average_pooling_FLOAT16_finish_wide"(
        const void* args) noexcept nogil:
    cdef const WindowFinish* finish = <const WindowFinish*> args
    cdef const float* results = <const float*> finish.results
    cdef const float* counts = <const float*> finish.counts
    cdef float init = 0
    cdef uint16_t* target
    cdef int64_t line, i
    cdef int64_t step = finish.tap_step
    cdef float acc
    cdef int64_t size = sizeof(dmlcy_float_block) // sizeof(float)
    cdef int64_t last = finish.size - size
    cdef int64_t at
    cdef dmlcy_float_block each
    cdef dmlcy_float_block inits = dmlcy_each_float(init)
    for line in range(finish.lines):
        target = <uint16_t*> (finish.target + line * finish.target_step)
        if finish.taps == 1 and last < 0:
            for i in range(finish.size):
                acc = results[i]
                target[i] = dmlcy_half_of_float((init + acc) / counts[i])
        elif finish.taps == 1:
            i = 0
            while i < finish.size:
                at = min(i, last)
                each = dmlcy_load_float(results + at)
                dmlcy_store_half_wide(target + at, (inits + each) / dmlcy_load_float(counts + at))
                i += size
        elif finish.taps == 3 and last < 0:
            for i in range(finish.size):
                acc = results[i] + results[step + i]
                acc = acc + results[2 * step + i]
                target[i] = dmlcy_half_of_float((init + acc) / counts[i])
        elif finish.taps == 3:
            i = 0
            while i < finish.size:
                at = min(i, last)
                each = dmlcy_load_float(results + at) + dmlcy_load_float(results + step + at)
                each = each + dmlcy_load_float(results + 2 * step + at)
                dmlcy_store_half_wide(target + at, (inits + each) / dmlcy_load_float(counts + at))
                i += size
        results += finish.line_step
        counts += finish.line_step


# Elements as accumulators.
cdef inline void average_pooling_FLOAT16_load(
        const char* input, int64_t step, float* target, int64_t size, bint include_padding) noexcept nogil:
    dmlcy_half_to_float(<const uint16_t*> input, step, target, size)


# Begins to combine rows: of sums, one after the other, or, where `direct`, of the input.
cdef inline void average_pooling_FLOAT16_begin_sum(
        const WindowPlan* plan, const WindowPlace* place, const average_pooling_FLOAT16_Scratch* scratch, float* target,
        bint direct, WindowSum* sum) noexcept nogil:
    sum.waiting = 0
    sum.passes = 1
    sum.pass_step = 0
    sum.fresh = True
    sum.item = sizeof(uint16_t)
    sum.ahead = plan.ahead if direct else 0
    if direct:
        sum.loop = scratch.add_elements
        sum.target = target + place.low * place.run
        sum.target_step = plan.pitch * place.run
        sum.line_step = plan.lines.input_step // <int64_t> sizeof(uint16_t)
        sum.lines = place.lines
        sum.size = (place.high - place.low) * place.run
    else:
        sum.loop = scratch.add_sums
        sum.target = target
        sum.target_step = sum.line_step = 0
        sum.lines = 1
        sum.size = place.lines * plan.pitch * place.run


# A row of every line of the band, as accumulators; `input` is its first column inside the input.
cdef void average_pooling_FLOAT16_load_band(
        const WindowPlan* plan, const WindowPlace* place, const average_pooling_FLOAT16_Scratch* scratch,
        const char* input, float* target) noexcept nogil:
    cdef int64_t run = place.run
    cdef int64_t width = place.high - place.low
    cdef int64_t step = plan.columns.input_step
    cdef int64_t item = sizeof(uint16_t)
    cdef int64_t i
    cdef bint include_padding = (<const AveragePooling*> plan.attributes).include_padding
    cdef WindowSum sum
    if step == run * item and not plan.turned:
        average_pooling_FLOAT16_begin_sum(plan, place, scratch, target, True, &sum)
        take_row(&sum, input)
        flush_rows(&sum)
        return
    target += place.low * run
    for _ in range(place.lines):
        if run == 1:
            average_pooling_FLOAT16_load(input, step, target, width, include_padding)
        elif plan.turned:
            turn_uint16_t(input, plan.lane_at, <uint16_t*> scratch.finished, width, run)
            average_pooling_FLOAT16_load(<const char*> scratch.finished, item, target, width * run, include_padding)
        elif step == run * item:
            average_pooling_FLOAT16_load(input, item, target, width * run, include_padding)
        else:
            for i in range(width):
                average_pooling_FLOAT16_load(
                    input + i * step, item, target + i * run, run, include_padding)
        input += plan.lines.input_step
        target += plan.pitch * run


# A row of every line of the band, combined along the remaining axes.
cdef void average_pooling_FLOAT16_fill(
        const WindowPlan* plan, const WindowPlace* place, const average_pooling_FLOAT16_Scratch* scratch,
        const char* input, float* target) noexcept nogil:
    cdef int64_t rows = valid_rows(plan, place)
    cdef int64_t tap[MAX_RANK]
    cdef int64_t number = 0
    cdef float* spare
    cdef WindowSum sum
    cdef int n
    if not plan.deep:
        average_pooling_FLOAT16_load_band(plan, place, scratch, input, target)
        return
    if rows == 0:
        average_pooling_FLOAT16_clear(target, plan.line_room)
        return
    for n in range(plan.axes):
        tap[n] = 0
    average_pooling_FLOAT16_begin_sum(plan, place, scratch, target, plan.direct, &sum)
    while True:
        if plan.direct:
            take_row(&sum, input)
        else:
            spare = scratch.spare + sum.waiting * plan.line_room
            average_pooling_FLOAT16_load_band(plan, place, scratch, input, spare)
            take_row(&sum, spare)
        rows -= 1
        if rows == 0:
            break
        input += next_row(plan, place, tap, &number)
    flush_rows(&sum)


# Combines the elements under the rows `tap` to `end` of the windows at so many rows of the output.
cdef void average_pooling_FLOAT16_take(
        const WindowPlan* plan, const WindowPlace* place, const average_pooling_FLOAT16_Scratch* scratch, float* target,
        int64_t index, int64_t count, int64_t tap, int64_t end) noexcept nogil:
    cdef const WindowAxis* rows = &plan.rows
    cdef int64_t row = index * rows.stride + tap * rows.dilation - rows.start
    cdef int64_t step = rows.dilation * rows.input_step
    cdef const char* input = (
        place.input + (place.begin + place.low) * plan.columns.input_step + row * rows.input_step)
    cdef WindowSum sum
    average_pooling_FLOAT16_begin_sum(plan, place, scratch, target, True, &sum)
    if count > 1:
        sum.lines = count
        sum.target_step = place.lines * plan.pitch * place.run
        sum.line_step = rows.stride * rows.input_step // <int64_t> sizeof(uint16_t)
    if count > 1 and rows.stride == rows.dilation and end - tap == SLIDE and sum.size >= SHORT_ROW:
        sum.loop = scratch.slide_elements
        end = tap + 1
    take_rows(&sum, input, step, end - tap, sizeof(uint16_t))


# The sums of the band along all axes but the columns. Those of padding are the identity.
cdef const float* average_pooling_FLOAT16_sum_rows(
        const WindowPlan* plan, WindowPlace* place, const average_pooling_FLOAT16_Scratch* scratch) noexcept nogil:
    cdef const WindowAxis* rows = &plan.rows
    cdef const char* input = place.input + (place.begin + place.low) * plan.columns.input_step
    cdef int64_t line = place.lines * plan.pitch * place.run
    cdef float* target = scratch.sums
    cdef float* slot
    cdef WindowSum sum
    cdef int64_t index = place.row
    cdef int64_t last = place.row + place.rows
    cdef int64_t tap, end, row, n
    if plan.taken and plan.deep and valid_rows(plan, place) == 0:
        average_pooling_FLOAT16_clear(target, place.rows * line)
        return target
    while plan.taken and index < last:
        valid_taps(rows, index, &tap, &end)
        n = 1
        while place.lines == 1 and end - tap == rows.window and index + n < last and is_whole(rows, index + n):
            n += 1
        if tap == end:
            average_pooling_FLOAT16_clear(target, line)
        else:
            average_pooling_FLOAT16_take(plan, place, scratch, target, index, n, tap, end)
        target += n * line
        index += n
    for index in range(index, last):
        valid_taps(rows, index, &tap, &end)
        average_pooling_FLOAT16_begin_sum(plan, place, scratch, target, False, &sum)
        target += line
        if tap == end:
            average_pooling_FLOAT16_clear(target - line, line)
        else:
            while tap < end:
                row = index * rows.stride + tap * rows.dilation - rows.start
                n = (row if rows.dilation == 1 else tap) & (plan.slots - 1)
                slot = scratch.slots + n * plan.line_room
                if place.held[n] != row:
                    place.held[n] = row
                    average_pooling_FLOAT16_fill(
                        plan, place, scratch, input + row * rows.input_step, slot)
                if rows.window == 1 and place.rows == 1:
                    return slot
                take_row(&sum, slot)
                tap += 1
            flush_rows(&sum)
    return scratch.sums


# Combines the sums under `taps` taps along the columns; the results of a line lie `result_pitch` columns apart.
cdef const float* average_pooling_FLOAT16_sum_columns(
        const WindowPlan* plan, const WindowPlace* place, const average_pooling_FLOAT16_Scratch* scratch,
        const float* sums, int64_t taps, bint last) noexcept nogil:
    cdef int64_t run = place.run
    cdef int64_t size = place.rows * place.lines * plan.result_pitch
    cdef int64_t pitch = run
    cdef int64_t phase = 0
    cdef WindowSum sum
    average_pooling_FLOAT16_begin_sum(plan, place, scratch, scratch.results, False, &sum)
    sum.fresh = place.part == place.tap
    sum.size = (size - plan.result_pitch + place.columns) * run
    if plan.run > 1 and plan.step > 1:
        sum.lines = sum.size // run
        sum.size = sum.target_step = run
        sum.line_step = plan.step * run
    elif plan.step == 2 and 2 <= taps <= 3 and plan.columns.dilation == 1 and sum.fresh and last:
        sum.row[0] = sums
        sum.waiting = taps
        scratch.add_near(&sum)
        return scratch.results
    elif plan.step > 1 and size > 1:
        pitch = room_of(size)
        split_float(
            scratch.phases, pitch, sums, plan.step, min(plan.step, (taps - 1) * plan.columns.dilation + 1), size)
        sums = scratch.phases
    if taps == 1 and last and sum.fresh and sum.lines == 1:
        return sums
    for _ in range(taps):
        take_row(&sum, sums + phase * pitch)
        phase += plan.phase_step
        sums += plan.index_step * run
        if phase >= plan.step:
            phase -= plan.step
            sums += run
    flush_rows(&sum)
    return scratch.results


# Counts the elements of each window of a row of a line that has `rows` rows inside the input. Where there is padding
# along the columns it changes a few windows at both ends.
cdef void average_pooling_FLOAT16_count_line(
        const WindowPlan* plan, const WindowPlace* place, float* counts, int64_t rows) noexcept nogil:
    cdef int64_t run = place.run
    cdef int64_t window = plan.columns.window
    cdef float count = <float> (rows * window)
    cdef int64_t first, end, i, n, at
    cdef float volume = <float> plan.volume
    cdef bint include_padding = (<const AveragePooling*> plan.attributes).include_padding
    count = average_pooling_FLOAT16_divisor(count, volume, include_padding)
    for n in range(plan.result_pitch * run):
        counts[n] = count
    if not place.padded:
        return
    for side in range(2):
        for i in range(place.columns):
            at = place.columns - 1 - i if side else i
            valid_taps(&plan.columns, place.column + at, &first, &end)
            if end - first == window:
                break
            count = <float> (rows * (end - first))
            count = average_pooling_FLOAT16_divisor(count, volume, include_padding)
            for n in range(at * run, (at + 1) * run):
                counts[n] = count


cdef void average_pooling_FLOAT16_count(
        const WindowPlan* plan, WindowPlace* place, const average_pooling_FLOAT16_Scratch* scratch) noexcept nogil:
    cdef int64_t size = plan.result_pitch * place.run
    cdef int64_t depth = valid_rows(plan, place)
    cdef int64_t row = -1 if place.whole else place.row
    cdef int64_t before = -1
    cdef float* counts = scratch.counts
    cdef int64_t index, first, end
    if place.counted == depth and place.counted_row == row and place.rows <= place.counted_rows:
        return
    place.counted = depth
    place.counted_row = row
    place.counted_rows = place.rows
    for index in range(place.row, place.row + place.rows):
        valid_taps(&plan.rows, index, &first, &end)
        for _ in range(place.lines):
            if end - first == before:
                dmlcy_copy(<char*> counts, <const char*> (counts - size), size * <int64_t> sizeof(float))
            else:
                before = end - first
                average_pooling_FLOAT16_count_line(plan, place, counts, depth * before)
            counts += size


cdef void average_pooling_FLOAT16_put_output(
        const WindowPlan* plan, WindowPlace* place, const average_pooling_FLOAT16_Scratch* scratch,
        const float* results, int64_t taps) noexcept nogil:
    cdef int64_t run = place.run
    cdef int64_t columns = place.columns
    cdef int64_t lines = place.lines
    cdef int64_t rows = place.rows
    cdef int64_t pitch = plan.result_pitch
    cdef int64_t line_step = plan.lines.output_step
    cdef int64_t row_step = plan.rows.output_step
    cdef int64_t column_step = plan.columns.output_step
    cdef char* output = place.output + place.row * row_step
    cdef uint16_t* finished = <uint16_t*> scratch.finished
    cdef bint flat = plan.flat
    cdef WindowFinish finish
    cdef int64_t row, line
    average_pooling_FLOAT16_count(plan, place, scratch)
    finish.counts = scratch.counts
    if lines == 1:
        lines = rows
        line_step = row_step
        rows = 1
    if pitch == columns and line_step == columns * column_step:
        columns *= lines
        pitch = columns
        lines = 1
    finish.results = results
    finish.line_step = pitch * run
    finish.taps = taps
    finish.tap_step = plan.index_step * run
    finish.volume = plan.volume
    finish.attributes = plan.attributes
    if flat and columns * run >= SHORT_ROW:
        finish.size = columns * run
        finish.lines = lines
        finish.target_step = line_step
        for row in range(rows):
            finish.target = output + row * row_step
            finish.results = results + row * lines * pitch * run
            finish.counts = scratch.counts + row * lines * pitch * run
            scratch.finish(&finish)
        return
    finish.target = <char*> finished
    finish.size = ((rows * lines - 1) * pitch + columns) * run
    finish.lines = 1
    finish.target_step = 0
    scratch.finish(&finish)
    for row in range(rows):
        for line in range(lines):
            scatter_uint16_t(
                output + row * row_step + line * line_step, column_step, plan.lanes.output_step,
                finished + (row * lines + line) * pitch * run, columns, run)


# Columns of padding are the identity wherever elements are put between them.
cdef void average_pooling_FLOAT16_begin_part(
        const WindowPlan* plan, WindowPlace* place, const average_pooling_FLOAT16_Scratch* scratch,
        int64_t tap, int64_t taps) noexcept nogil:
    cdef int64_t size = plan.pitch * place.run
    cdef int64_t lines = place.lines
    cdef int64_t room = plan.line_room
    cdef float* row = scratch.sums
    cdef float* line
    cdef int64_t n
    go_to_part(plan, place, tap, taps)
    if scratch.phases - row <= SMALL_ROOM:      # quicker at once
        average_pooling_FLOAT16_clear(row, scratch.phases - row)
        return
    if plan.taken:
        lines *= plan.tall
        room = plan.room
    else:
        row = scratch.slots
    while row < scratch.phases:
        for n in range(lines):
            line = row + n * size
            average_pooling_FLOAT16_clear(line, place.low * place.run)
            average_pooling_FLOAT16_clear(line + place.high * place.run, size - place.high * place.run)
        row += room


cdef void average_pooling_FLOAT16_band(
        const WindowPlan* plan, WindowPlace* place, const average_pooling_FLOAT16_Scratch* scratch) noexcept nogil:
    cdef int64_t tap = place.tap
    cdef int64_t taps
    cdef const float* sums = NULL
    while tap < place.end_tap:
        taps = min(plan.taps, place.end_tap - tap)
        if place.part != tap:
            average_pooling_FLOAT16_begin_part(plan, place, scratch, tap, taps)
        sums = average_pooling_FLOAT16_sum_rows(plan, place, scratch)
        if plan.step == 1 and taps == SLIDE and place.end_tap - place.tap == SLIDE:
            average_pooling_FLOAT16_put_output(plan, place, scratch, sums, SLIDE)
            return
        sums = average_pooling_FLOAT16_sum_columns(plan, place, scratch, sums, taps, tap + taps == place.end_tap)
        tap += taps
    average_pooling_FLOAT16_put_output(plan, place, scratch, sums, 1)


cdef int average_pooling_FLOAT16_work(const void* args, int64_t begin, int64_t end) noexcept nogil:
    cdef const WindowPlan* plan = <const WindowPlan*> args
    cdef int64_t slots = 0 if plan.taken else plan.slots
    cdef int64_t spare = GROUP if plan.deep and not plan.direct else 0
    cdef int64_t phases = plan.room + plan.step * LINE if plan.step > 1 and plan.run == 1 else 0
    cdef int64_t room = 4 * plan.room + (slots + spare) * plan.line_room + phases
    cdef bint wide = dmlcy_wide()
    cdef float small[SMALL_ROOM + LINE]
    cdef float* memory = small
    cdef average_pooling_FLOAT16_Scratch scratch
    cdef WindowPlace place
    scratch.add_sums = sum_float_wide if wide else sum_float
    scratch.add_near = sum_float_near_wide if wide else sum_float_near
    scratch.add_elements = sum_half_wide if wide else sum_half
    scratch.slide_elements = sum_half_slide_wide if wide else sum_half_slide
    scratch.finish = average_pooling_FLOAT16_finish_wide if wide else average_pooling_FLOAT16_finish
    if room > SMALL_ROOM:
        memory = <float*> malloc((room + LINE) * sizeof(float))
    if memory == NULL:
        return -1
    scratch.sums = memory + (LINE - <uintptr_t> memory // sizeof(float) % LINE)
    scratch.slots = scratch.sums + plan.room
    scratch.spare = scratch.slots + slots * plan.line_room
    scratch.phases = scratch.spare + spare * plan.line_room
    scratch.results = scratch.phases + phases
    scratch.counts = scratch.results + plan.room
    scratch.finished = <uint16_t*> (scratch.counts + plan.room)
    place.run = 0                   # nowhere yet
    place.doubtful = False
    go_to_band(plan, &place, begin)
    while True:
        average_pooling_FLOAT16_band(plan, &place, &scratch)
        begin += 1
        if begin == end:
            break
        if place.row + place.rows < plan.rows.results:
            go_to_row(plan, &place, place.row + place.rows)
        else:
            go_to_band(plan, &place, begin)
    if room > SMALL_ROOM:
        free(memory)
    return 0


cdef int average_pooling_FLOAT16(WindowReduce* a) noexcept nogil:
    return run_windows(average_pooling_FLOAT16_work, a, sizeof(uint16_t), True, False)


# average_pooling_FLOAT32

cdef struct average_pooling_FLOAT32_Scratch:
    WindowLoop add_sums
    WindowLoop add_near
    WindowLoop add_elements         # where `direct`
    WindowLoop slide_elements
    WindowLoop finish
    float* sums
    float* slots
    float* spare              # GROUP rows
    float* phases
    float* results
    float* counts             # of each result: its divisor
    float* finished


cdef inline float average_pooling_FLOAT32_first(float x, bint include_padding) noexcept nogil:
    return x


cdef inline float average_pooling_FLOAT32_divisor(float count, float volume, bint include_padding) noexcept nogil:
    return volume if include_padding else max(count, 1)


cdef inline void average_pooling_FLOAT32_clear(float* sums, int64_t size) noexcept nogil:
    cdef int64_t i
    for i in range(size):
        sums[i] = 0


cdef void average_pooling_FLOAT32_finish "average_pooling_FLOAT32_finish"(
        const void* args) noexcept nogil:
    cdef const WindowFinish* finish = <const WindowFinish*> args
    cdef const float* results = <const float*> finish.results
    cdef const float* counts = <const float*> finish.counts
    cdef float init = 0
    cdef float* target
    cdef int64_t line, i
    cdef int64_t step = finish.tap_step
    cdef float acc
    cdef int64_t size = sizeof(dmlcy_float_block) // sizeof(float)
    cdef int64_t last = finish.size - size
    cdef int64_t at
    cdef dmlcy_float_block each
    cdef dmlcy_float_block inits = dmlcy_each_float(init)
    for line in range(finish.lines):
        target = <float*> (finish.target + line * finish.target_step)
        if finish.taps == 1 and last < 0:
            for i in range(finish.size):
                acc = results[i]
                target[i] = (init + acc) / counts[i]
        elif finish.taps == 1:
            i = 0
            while i < finish.size:
                at = min(i, last)
                each = dmlcy_load_float(results + at)
                dmlcy_store_float(target + at, (inits + each) / dmlcy_load_float(counts + at))
                i += size
        elif finish.taps == 3 and last < 0:
            for i in range(finish.size):
                acc = results[i] + results[step + i]
                acc = acc + results[2 * step + i]
                target[i] = (init + acc) / counts[i]
        elif finish.taps == 3:
            i = 0
            while i < finish.size:
                at = min(i, last)
                each = dmlcy_load_float(results + at) + dmlcy_load_float(results + step + at)
                each = each + dmlcy_load_float(results + 2 * step + at)
                dmlcy_store_float(target + at, (inits + each) / dmlcy_load_float(counts + at))
                i += size
        results += finish.line_step
        counts += finish.line_step


cdef void average_pooling_FLOAT32_finish_wide "average_pooling_FLOAT32_finish_wide"(
        const void* args) noexcept nogil:
    cdef const WindowFinish* finish = <const WindowFinish*> args
    cdef const float* results = <const float*> finish.results
    cdef const float* counts = <const float*> finish.counts
    cdef float init = 0
    cdef float* target
    cdef int64_t line, i
    cdef int64_t step = finish.tap_step
    cdef float acc
    cdef int64_t size = sizeof(dmlcy_float_block) // sizeof(float)
    cdef int64_t last = finish.size - size
    cdef int64_t at
    cdef dmlcy_float_block each
    cdef dmlcy_float_block inits = dmlcy_each_float(init)
    for line in range(finish.lines):
        target = <float*> (finish.target + line * finish.target_step)
        if finish.taps == 1 and last < 0:
            for i in range(finish.size):
                acc = results[i]
                target[i] = (init + acc) / counts[i]
        elif finish.taps == 1:
            i = 0
            while i < finish.size:
                at = min(i, last)
                each = dmlcy_load_float(results + at)
                dmlcy_store_float(target + at, (inits + each) / dmlcy_load_float(counts + at))
                i += size
        elif finish.taps == 3 and last < 0:
            for i in range(finish.size):
                acc = results[i] + results[step + i]
                acc = acc + results[2 * step + i]
                target[i] = (init + acc) / counts[i]
        elif finish.taps == 3:
            i = 0
            while i < finish.size:
                at = min(i, last)
                each = dmlcy_load_float(results + at) + dmlcy_load_float(results + step + at)
                each = each + dmlcy_load_float(results + 2 * step + at)
                dmlcy_store_float(target + at, (inits + each) / dmlcy_load_float(counts + at))
                i += size
        results += finish.line_step
        counts += finish.line_step


# Elements as accumulators.
cdef inline void average_pooling_FLOAT32_load(
        const char* input, int64_t step, float* target, int64_t size, bint include_padding) noexcept nogil:
    cdef int64_t i
    if step == sizeof(float):
        dmlcy_copy(<char*> target, input, size * step)
    else:
        for i in range(size):
            target[i] = average_pooling_FLOAT32_first(((<const float*> (input + i * step))[0]), include_padding)


# Begins to combine rows: of sums, one after the other, or, where `direct`, of the input.
cdef inline void average_pooling_FLOAT32_begin_sum(
        const WindowPlan* plan, const WindowPlace* place, const average_pooling_FLOAT32_Scratch* scratch, float* target,
        bint direct, WindowSum* sum) noexcept nogil:
    sum.waiting = 0
    sum.passes = 1
    sum.pass_step = 0
    sum.fresh = True
    sum.item = sizeof(float)
    sum.ahead = plan.ahead if direct else 0
    if direct:
        sum.loop = scratch.add_elements
        sum.target = target + place.low * place.run
        sum.target_step = plan.pitch * place.run
        sum.line_step = plan.lines.input_step // <int64_t> sizeof(float)
        sum.lines = place.lines
        sum.size = (place.high - place.low) * place.run
    else:
        sum.loop = scratch.add_sums
        sum.target = target
        sum.target_step = sum.line_step = 0
        sum.lines = 1
        sum.size = place.lines * plan.pitch * place.run


# A row of every line of the band, as accumulators; `input` is its first column inside the input.
cdef void average_pooling_FLOAT32_load_band(
        const WindowPlan* plan, const WindowPlace* place, const average_pooling_FLOAT32_Scratch* scratch,
        const char* input, float* target) noexcept nogil:
    cdef int64_t run = place.run
    cdef int64_t width = place.high - place.low
    cdef int64_t step = plan.columns.input_step
    cdef int64_t item = sizeof(float)
    cdef int64_t i
    cdef bint include_padding = (<const AveragePooling*> plan.attributes).include_padding
    target += place.low * run
    for _ in range(place.lines):
        if run == 1:
            average_pooling_FLOAT32_load(input, step, target, width, include_padding)
        elif plan.turned:
            turn_float(input, plan.lane_at, target, width, run)
        elif step == run * item:
            average_pooling_FLOAT32_load(input, item, target, width * run, include_padding)
        else:
            for i in range(width):
                average_pooling_FLOAT32_load(
                    input + i * step, item, target + i * run, run, include_padding)
        input += plan.lines.input_step
        target += plan.pitch * run


# A row of every line of the band, combined along the remaining axes.
cdef void average_pooling_FLOAT32_fill(
        const WindowPlan* plan, const WindowPlace* place, const average_pooling_FLOAT32_Scratch* scratch,
        const char* input, float* target) noexcept nogil:
    cdef int64_t rows = valid_rows(plan, place)
    cdef int64_t tap[MAX_RANK]
    cdef int64_t number = 0
    cdef float* spare
    cdef WindowSum sum
    cdef int n
    if not plan.deep:
        average_pooling_FLOAT32_load_band(plan, place, scratch, input, target)
        return
    if rows == 0:
        average_pooling_FLOAT32_clear(target, plan.line_room)
        return
    for n in range(plan.axes):
        tap[n] = 0
    average_pooling_FLOAT32_begin_sum(plan, place, scratch, target, plan.direct, &sum)
    while True:
        if plan.direct:
            take_row(&sum, input)
        else:
            spare = scratch.spare + sum.waiting * plan.line_room
            average_pooling_FLOAT32_load_band(plan, place, scratch, input, spare)
            take_row(&sum, spare)
        rows -= 1
        if rows == 0:
            break
        input += next_row(plan, place, tap, &number)
    flush_rows(&sum)


# Combines the elements under the rows `tap` to `end` of the windows at so many rows of the output.
cdef void average_pooling_FLOAT32_take(
        const WindowPlan* plan, const WindowPlace* place, const average_pooling_FLOAT32_Scratch* scratch, float* target,
        int64_t index, int64_t count, int64_t tap, int64_t end) noexcept nogil:
    cdef const WindowAxis* rows = &plan.rows
    cdef int64_t row = index * rows.stride + tap * rows.dilation - rows.start
    cdef int64_t step = rows.dilation * rows.input_step
    cdef const char* input = (
        place.input + (place.begin + place.low) * plan.columns.input_step + row * rows.input_step)
    cdef WindowSum sum
    average_pooling_FLOAT32_begin_sum(plan, place, scratch, target, True, &sum)
    if count > 1:
        sum.lines = count
        sum.target_step = place.lines * plan.pitch * place.run
        sum.line_step = rows.stride * rows.input_step // <int64_t> sizeof(float)
    if count > 1 and rows.stride == rows.dilation and end - tap == SLIDE and sum.size >= SHORT_ROW:
        sum.loop = scratch.slide_elements
        end = tap + 1
    take_rows(&sum, input, step, end - tap, sizeof(float))


# The sums of the band along all axes but the columns. Those of padding are the identity.
cdef const float* average_pooling_FLOAT32_sum_rows(
        const WindowPlan* plan, WindowPlace* place, const average_pooling_FLOAT32_Scratch* scratch) noexcept nogil:
    cdef const WindowAxis* rows = &plan.rows
    cdef const char* input = place.input + (place.begin + place.low) * plan.columns.input_step
    cdef int64_t line = place.lines * plan.pitch * place.run
    cdef float* target = scratch.sums
    cdef float* slot
    cdef WindowSum sum
    cdef int64_t index = place.row
    cdef int64_t last = place.row + place.rows
    cdef int64_t tap, end, row, n
    if plan.taken and plan.deep and valid_rows(plan, place) == 0:
        average_pooling_FLOAT32_clear(target, place.rows * line)
        return target
    while plan.taken and index < last:
        valid_taps(rows, index, &tap, &end)
        n = 1
        while place.lines == 1 and end - tap == rows.window and index + n < last and is_whole(rows, index + n):
            n += 1
        if tap == end:
            average_pooling_FLOAT32_clear(target, line)
        else:
            average_pooling_FLOAT32_take(plan, place, scratch, target, index, n, tap, end)
        target += n * line
        index += n
    for index in range(index, last):
        valid_taps(rows, index, &tap, &end)
        average_pooling_FLOAT32_begin_sum(plan, place, scratch, target, False, &sum)
        target += line
        if tap == end:
            average_pooling_FLOAT32_clear(target - line, line)
        else:
            while tap < end:
                row = index * rows.stride + tap * rows.dilation - rows.start
                n = (row if rows.dilation == 1 else tap) & (plan.slots - 1)
                slot = scratch.slots + n * plan.line_room
                if place.held[n] != row:
                    place.held[n] = row
                    average_pooling_FLOAT32_fill(
                        plan, place, scratch, input + row * rows.input_step, slot)
                if rows.window == 1 and place.rows == 1:
                    return slot
                take_row(&sum, slot)
                tap += 1
            flush_rows(&sum)
    return scratch.sums


# Combines the sums under `taps` taps along the columns; the results of a line lie `result_pitch` columns apart.
cdef const float* average_pooling_FLOAT32_sum_columns(
        const WindowPlan* plan, const WindowPlace* place, const average_pooling_FLOAT32_Scratch* scratch,
        const float* sums, int64_t taps, bint last) noexcept nogil:
    cdef int64_t run = place.run
    cdef int64_t size = place.rows * place.lines * plan.result_pitch
    cdef int64_t pitch = run
    cdef int64_t phase = 0
    cdef WindowSum sum
    average_pooling_FLOAT32_begin_sum(plan, place, scratch, scratch.results, False, &sum)
    sum.fresh = place.part == place.tap
    sum.size = (size - plan.result_pitch + place.columns) * run
    if plan.run > 1 and plan.step > 1:
        sum.lines = sum.size // run
        sum.size = sum.target_step = run
        sum.line_step = plan.step * run
    elif plan.step == 2 and 2 <= taps <= 3 and plan.columns.dilation == 1 and sum.fresh and last:
        sum.row[0] = sums
        sum.waiting = taps
        scratch.add_near(&sum)
        return scratch.results
    elif plan.step > 1 and size > 1:
        pitch = room_of(size)
        split_float(
            scratch.phases, pitch, sums, plan.step, min(plan.step, (taps - 1) * plan.columns.dilation + 1), size)
        sums = scratch.phases
    if taps == 1 and last and sum.fresh and sum.lines == 1:
        return sums
    for _ in range(taps):
        take_row(&sum, sums + phase * pitch)
        phase += plan.phase_step
        sums += plan.index_step * run
        if phase >= plan.step:
            phase -= plan.step
            sums += run
    flush_rows(&sum)
    return scratch.results


# Counts the elements of each window of a row of a line that has `rows` rows inside the input. Where there is padding
# along the columns it changes a few windows at both ends.
cdef void average_pooling_FLOAT32_count_line(
        const WindowPlan* plan, const WindowPlace* place, float* counts, int64_t rows) noexcept nogil:
    cdef int64_t run = place.run
    cdef int64_t window = plan.columns.window
    cdef float count = <float> (rows * window)
    cdef int64_t first, end, i, n, at
    cdef float volume = <float> plan.volume
    cdef bint include_padding = (<const AveragePooling*> plan.attributes).include_padding
    count = average_pooling_FLOAT32_divisor(count, volume, include_padding)
    for n in range(plan.result_pitch * run):
        counts[n] = count
    if not place.padded:
        return
    for side in range(2):
        for i in range(place.columns):
            at = place.columns - 1 - i if side else i
            valid_taps(&plan.columns, place.column + at, &first, &end)
            if end - first == window:
                break
            count = <float> (rows * (end - first))
            count = average_pooling_FLOAT32_divisor(count, volume, include_padding)
            for n in range(at * run, (at + 1) * run):
                counts[n] = count


cdef void average_pooling_FLOAT32_count(
        const WindowPlan* plan, WindowPlace* place, const average_pooling_FLOAT32_Scratch* scratch) noexcept nogil:
    cdef int64_t size = plan.result_pitch * place.run
    cdef int64_t depth = valid_rows(plan, place)
    cdef int64_t row = -1 if place.whole else place.row
    cdef int64_t before = -1
    cdef float* counts = scratch.counts
    cdef int64_t index, first, end
    if place.counted == depth and place.counted_row == row and place.rows <= place.counted_rows:
        return
    place.counted = depth
    place.counted_row = row
    place.counted_rows = place.rows
    for index in range(place.row, place.row + place.rows):
        valid_taps(&plan.rows, index, &first, &end)
        for _ in range(place.lines):
            if end - first == before:
                dmlcy_copy(<char*> counts, <const char*> (counts - size), size * <int64_t> sizeof(float))
            else:
                before = end - first
                average_pooling_FLOAT32_count_line(plan, place, counts, depth * before)
            counts += size


cdef void average_pooling_FLOAT32_put_output(
        const WindowPlan* plan, WindowPlace* place, const average_pooling_FLOAT32_Scratch* scratch,
        const float* results, int64_t taps) noexcept nogil:
    cdef int64_t run = place.run
    cdef int64_t columns = place.columns
    cdef int64_t lines = place.lines
    cdef int64_t rows = place.rows
    cdef int64_t pitch = plan.result_pitch
    cdef int64_t line_step = plan.lines.output_step
    cdef int64_t row_step = plan.rows.output_step
    cdef int64_t column_step = plan.columns.output_step
    cdef char* output = place.output + place.row * row_step
    cdef float* finished = <float*> scratch.finished
    cdef bint flat = plan.flat
    cdef WindowFinish finish
    cdef int64_t row, line
    average_pooling_FLOAT32_count(plan, place, scratch)
    finish.counts = scratch.counts
    if lines == 1:
        lines = rows
        line_step = row_step
        rows = 1
    if pitch == columns and line_step == columns * column_step:
        columns *= lines
        pitch = columns
        lines = 1
    finish.results = results
    finish.line_step = pitch * run
    finish.taps = taps
    finish.tap_step = plan.index_step * run
    finish.volume = plan.volume
    finish.attributes = plan.attributes
    if flat and columns * run >= SHORT_ROW:
        finish.size = columns * run
        finish.lines = lines
        finish.target_step = line_step
        for row in range(rows):
            finish.target = output + row * row_step
            finish.results = results + row * lines * pitch * run
            finish.counts = scratch.counts + row * lines * pitch * run
            scratch.finish(&finish)
        return
    finish.target = <char*> finished
    finish.size = ((rows * lines - 1) * pitch + columns) * run
    finish.lines = 1
    finish.target_step = 0
    scratch.finish(&finish)
    for row in range(rows):
        for line in range(lines):
            scatter_float(
                output + row * row_step + line * line_step, column_step, plan.lanes.output_step,
                finished + (row * lines + line) * pitch * run, columns, run)


# Columns of padding are the identity wherever elements are put between them.
cdef void average_pooling_FLOAT32_begin_part(
        const WindowPlan* plan, WindowPlace* place, const average_pooling_FLOAT32_Scratch* scratch,
        int64_t tap, int64_t taps) noexcept nogil:
    cdef int64_t size = plan.pitch * place.run
    cdef int64_t lines = place.lines
    cdef int64_t room = plan.line_room
    cdef float* row = scratch.sums
    cdef float* line
    cdef int64_t n
    go_to_part(plan, place, tap, taps)
    if scratch.phases - row <= SMALL_ROOM:      # quicker at once
        average_pooling_FLOAT32_clear(row, scratch.phases - row)
        return
    if plan.taken:
        lines *= plan.tall
        room = plan.room
    else:
        row = scratch.slots
    while row < scratch.phases:
        for n in range(lines):
            line = row + n * size
            average_pooling_FLOAT32_clear(line, place.low * place.run)
            average_pooling_FLOAT32_clear(line + place.high * place.run, size - place.high * place.run)
        row += room


cdef void average_pooling_FLOAT32_band(
        const WindowPlan* plan, WindowPlace* place, const average_pooling_FLOAT32_Scratch* scratch) noexcept nogil:
    cdef int64_t tap = place.tap
    cdef int64_t taps
    cdef const float* sums = NULL
    while tap < place.end_tap:
        taps = min(plan.taps, place.end_tap - tap)
        if place.part != tap:
            average_pooling_FLOAT32_begin_part(plan, place, scratch, tap, taps)
        sums = average_pooling_FLOAT32_sum_rows(plan, place, scratch)
        if plan.step == 1 and taps == SLIDE and place.end_tap - place.tap == SLIDE:
            average_pooling_FLOAT32_put_output(plan, place, scratch, sums, SLIDE)
            return
        sums = average_pooling_FLOAT32_sum_columns(plan, place, scratch, sums, taps, tap + taps == place.end_tap)
        tap += taps
    average_pooling_FLOAT32_put_output(plan, place, scratch, sums, 1)


cdef int average_pooling_FLOAT32_work(const void* args, int64_t begin, int64_t end) noexcept nogil:
    cdef const WindowPlan* plan = <const WindowPlan*> args
    cdef int64_t slots = 0 if plan.taken else plan.slots
    cdef int64_t spare = GROUP if plan.deep and not plan.direct else 0
    cdef int64_t phases = plan.room + plan.step * LINE if plan.step > 1 and plan.run == 1 else 0
    cdef int64_t room = 4 * plan.room + (slots + spare) * plan.line_room + phases
    cdef bint wide = dmlcy_wide()
    cdef float small[SMALL_ROOM + LINE]
    cdef float* memory = small
    cdef average_pooling_FLOAT32_Scratch scratch
    cdef WindowPlace place
    scratch.add_sums = sum_float_wide if wide else sum_float
    scratch.add_near = sum_float_near_wide if wide else sum_float_near
    scratch.add_elements = sum_float_wide if wide else sum_float
    scratch.slide_elements = sum_float_slide_wide if wide else sum_float_slide
    scratch.finish = average_pooling_FLOAT32_finish_wide if wide else average_pooling_FLOAT32_finish
    if room > SMALL_ROOM:
        memory = <float*> malloc((room + LINE) * sizeof(float))
    if memory == NULL:
        return -1
    scratch.sums = memory + (LINE - <uintptr_t> memory // sizeof(float) % LINE)
    scratch.slots = scratch.sums + plan.room
    scratch.spare = scratch.slots + slots * plan.line_room
    scratch.phases = scratch.spare + spare * plan.line_room
    scratch.results = scratch.phases + phases
    scratch.counts = scratch.results + plan.room
    scratch.finished = <float*> (scratch.counts + plan.room)
    place.run = 0                   # nowhere yet
    place.doubtful = False
    go_to_band(plan, &place, begin)
    while True:
        average_pooling_FLOAT32_band(plan, &place, &scratch)
        begin += 1
        if begin == end:
            break
        if place.row + place.rows < plan.rows.results:
            go_to_row(plan, &place, place.row + place.rows)
        else:
            go_to_band(plan, &place, begin)
    if room > SMALL_ROOM:
        free(memory)
    return 0


cdef int average_pooling_FLOAT32(WindowReduce* a) noexcept nogil:
    return run_windows(average_pooling_FLOAT32_work, a, sizeof(float), True, False)


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
cdef extern from *:
    """
    static const uint32_t dmlcy_AVERAGE_POOLING_T[15] = {
        0x6, 0x6, 0x6, 0x6, 0x6, 0x6, 0x6, 0x6,
        0x6, 0x6, 0x6, 0x6, 0x6, 0x6, 0x6,
    };
    static const uint32_t dmlcy_AVERAGE_POOLING_R_RANKS[15] = {
        0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30,
        0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30,
    };
    """
    const uint32_t* AVERAGE_POOLING_T "dmlcy_AVERAGE_POOLING_T"
    const uint32_t* AVERAGE_POOLING_R_RANKS "dmlcy_AVERAGE_POOLING_R_RANKS"


# Whether the operator and its inputs hold at the level.
cdef bint average_pooling_inputs_hold(AveragePooling* a, int level) noexcept nogil:
    return (
        level >= LEVEL_1_0
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
    if not (
        append_size(&a.output, a.input.sizes[0])
        and append_size(&a.output, a.input.sizes[1])
        and append_sizes(&a.output, a.pooled, a.spatial)
        and tensor_holds(&a.output, AVERAGE_POOLING_T[level], AVERAGE_POOLING_R_RANKS[level])
    ):
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
    work.indices.dtype = 0
    if a.input.dtype == FLOAT16:
        return average_pooling_FLOAT16(&work)
    return average_pooling_FLOAT32(&work)


# Runs on checked fields. None: `out` is not acceptable, and nothing was written.
cdef object average_pooling_call(AveragePooling* a, ndarray input_array, object out):
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
    write_back(output_array, output_result)
    if recordings is not None:
        from dmlcy._record import keep

        keep(recordings, "AVERAGE_POOLING", {
            "input": input_array,
            "output": packed(output_result, &a.output),
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
    """Average the elements in each sliding window (average pooling).

    Parameters
    ----------
    input : array
        The tensor to pool. Its sizes are {N, C, H, W} or {N, C, D, H, W}. Rank
        4 to 5; data type FLOAT32 or FLOAT16.
    window_size : int or sequence of ints
        Size of the window along each spatial axis. At least 1. A sequence has
        ``spatial`` entries.
    strides : int or sequence of ints, default 1
        Step of the window along each spatial axis. At least 1. A sequence has
        ``spatial`` entries.
    start_padding : int or sequence of ints, default 0
        Number of padding elements at the start of each spatial axis. A sequence
        has ``spatial`` entries.
    end_padding : int or sequence of ints, default 0
        Number of padding elements at the end of each spatial axis. A sequence
        has ``spatial`` entries.
    include_padding : bool, default False
        Count padding elements in the divisor.
    out : array, optional
        Where the result is written: any layout, the data type and sizes of the
        result, no memory shared with an input.

    Returns
    -------
    numpy.ndarray
        One element per position of the window.
        Sizes ``[sizes(input)[0], sizes(input)[1], *pooled]``.
        Data type of ``input``.
        ``out`` itself where it is given.

    Raises
    ------
    InvalidDescError, InvalidDataTypeError, FeatureLevelError
        With every violation in ``.violations``: those of each field (data type,
        rank, range, length), and these:

        ``DML-AVERAGE_POOLING-window_size-fits``
            window_size does not fit. Must hold for d in spatial:
            ``extent[d] <= padded[d]``

    See Also
    --------
    dmlcy.desc.AveragePooling : Its desc, for ``check`` and ``compile``.

    Notes
    -----
    The formulas read:

    ``spatial = rank(input) - 2``
        Number of spatial axes of the input: all but the batch and the channels.
    ``padded[d] = sizes(input)[2 + d] + start_padding[d] + end_padding[d]``
        Size of each spatial axis after padding.
    ``extent[d] = window_size[d]``
        Elements that the window spans along each spatial axis.
    ``pooled[d] = (padded[d] - extent[d]) // strides[d] + 1``
        Number of positions of the window along each spatial axis.

    References
    ----------
    AVERAGE_POOLING, feature level 1_0:
    https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_average_pooling_operator_desc

    Examples
    --------
    >>> import numpy as np
    >>> import dmlcy as dml
    >>> x = np.arange(1, 10, dtype=np.float32).reshape(1, 1, 3, 3)
    >>> dml.average_pooling(x, window_size=(2, 2))
    array([[[[3., 4.],
             [6., 7.]]]], dtype=float32)
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
    from dmlcy._desc.check import refuse

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
        from dmlcy._desc.check import refuse_desc

        cdef AveragePooling a
        cdef Tensor computed
        if not (
            level < LEVELS
            and describe(desc.input, &a.input)
            and average_pooling_inputs_hold(&a, level)
            and average_pooling_take(
                &a,
                level,
                desc.strides,
                desc.window_size,
                desc.start_padding,
                desc.end_padding,
                desc.include_padding,
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
        cdef AveragePooling a
        cdef ndarray input_array
        cdef object result
        memcpy(&a, &self.fields, sizeof(a))     # an assignment would copy twice
        input_array = match(<object>inputs[0], &a.input)
        if (
            input_array is not None
        ):
            result = average_pooling_call(&a, input_array, out)
            if result is not None:
                return result
        from dmlcy._desc.check import refuse_call

        return refuse_call(self.desc, {
            "input": <object>inputs[0],
            "out": out,
        })


take_vectorcalls(AveragePoolingOperator)
