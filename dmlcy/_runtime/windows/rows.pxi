# Rows of the input become rows of sums.

# Memory of a thread, and the loops that it calls. The pointers are to accumulators, unless a comment says otherwise.
cdef struct WindowScratch:
    const WindowKernel* kernel
    const WindowLoops* loops
    char* sums
    char* slots
    char* spare                     # DMLCY_GROUP rows
    char* phases
    char* results
    char* counts                    # for each result, its divisor or the elements of its window inside the input
    char* finished                  # elements of the output, before they are put in their places
    char none[MOST_BYTES]           # the accumulator of no element, repeated; only where more than SMALL_ROOM is used
    WindowLoad load


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
    if sum.waiting == DMLCY_GROUP:
        flush_rows(sum)


# Takes `count` rows that are `step` bytes apart. Each pass has an even number of rows, so that pairs stay the same.
cdef inline void take_rows(WindowSum* sum, const char* row, int64_t step, int64_t count, int64_t item) noexcept nogil:
    cdef int64_t i
    if count > DMLCY_GROUP and sum.ahead == 0:
        for i in range(DMLCY_GROUP):
            sum.row[i] = row + i * step
        sum.waiting = DMLCY_GROUP
        sum.passes = count // DMLCY_GROUP
        sum.pass_step = DMLCY_GROUP * step // item
        row += sum.passes * DMLCY_GROUP * step
        count -= sum.passes * DMLCY_GROUP
        flush_rows(sum)
        sum.passes = 1
    for i in range(count):
        take_row(sum, row + i * step)
    flush_rows(sum)


# Begins to combine rows: of sums, one after the other, or, where `direct`, of the input.
cdef inline void begin_sum(
        const WindowPlan* plan, const WindowPlace* place, const WindowScratch* scratch, char* target, bint direct,
        WindowSum* sum) noexcept nogil:
    sum.waiting = 0
    sum.passes = 1
    sum.pass_step = 0
    sum.fresh = True
    sum.item = scratch.kernel.item
    sum.ahead = plan.ahead if direct else 0
    if direct:
        sum.loop = scratch.loops.elements
        sum.target = target + place.low * place.run * scratch.kernel.acc
        sum.target_step = plan.pitch * place.run
        sum.line_step = plan.line_elements
        sum.lines = place.lines
        sum.size = (place.high - place.low) * place.run
    else:
        sum.loop = scratch.loops.sums
        sum.target = target
        sum.target_step = sum.line_step = 0
        sum.lines = 1
        sum.size = place.lines * plan.pitch * place.run


# The common numbers of all rows that are loaded between the same columns.
cdef inline void begin_load(const WindowPlan* plan, const WindowPlace* place, WindowScratch* scratch) noexcept nogil:
    cdef WindowLoad* load = &scratch.load
    load.lines = place.lines
    load.line_step = plan.lines.input_step
    load.target_step = plan.pitch * place.run
    load.number_line_step = plan.lines.number_step
    load.width = place.high - place.low
    load.column_step = plan.columns.input_step
    load.number_step = plan.columns.number_step
    load.run = place.run
    load.lane_step = plan.lanes.number_step
    load.lane_at = NULL
    if plan.turned:
        load.lane_at = &plan.lane_at[0]
    load.spare = scratch.finished
    load.attributes = plan.attributes


# A row of every line of the band, as accumulators; `input` is its first column inside the input, `number` its number.
cdef inline void load_band(
        const WindowPlan* plan, const WindowPlace* place, WindowScratch* scratch, const char* input, int64_t number,
        char* target) noexcept nogil:
    cdef WindowSum sum
    if plan.converted:
        begin_sum(plan, place, scratch, target, True, &sum)
        take_row(&sum, input)
        flush_rows(&sum)
        return
    scratch.load.input = input
    scratch.load.number = number
    scratch.load.target = target + place.low * place.run * scratch.kernel.acc
    scratch.loops.load(&scratch.load)


# A row of every line of the band, combined along the remaining axes.
cdef void fill(
        const WindowPlan* plan, const WindowPlace* place, WindowScratch* scratch, const char* input, int64_t number,
        char* target) noexcept nogil:
    cdef int64_t room = plan.line_room * scratch.kernel.acc
    cdef int64_t rows
    cdef int64_t tap[MAX_RANK]
    cdef char* spare
    cdef WindowSum sum
    cdef int n
    if not plan.deep:
        load_band(plan, place, scratch, input, number, target)
        return
    rows = valid_rows(plan, place)
    if rows == 0:
        scratch.kernel.clear(target, room)
        return
    for n in range(plan.axes):
        tap[n] = 0
    begin_sum(plan, place, scratch, target, plan.direct, &sum)
    while True:
        if plan.direct:
            take_row(&sum, input)
        else:
            spare = scratch.spare + sum.waiting * room
            load_band(plan, place, scratch, input, number, spare)
            take_row(&sum, spare)
        rows -= 1
        if rows == 0:
            break
        input += next_row(plan, place, tap, &number)
    flush_rows(&sum)


# Combines the elements under the rows `tap` to `end` of the windows at `count` rows of the output, from `index` on.
cdef void take(
        const WindowPlan* plan, const WindowPlace* place, const WindowScratch* scratch, char* target, int64_t index,
        int64_t count, int64_t tap, int64_t end) noexcept nogil:
    cdef const WindowAxis* rows = &plan.rows
    cdef int64_t row = index * rows.stride + tap * rows.dilation - rows.start
    cdef int64_t step = rows.dilation * rows.input_step
    cdef const char* input = (
        place.input + (place.begin + place.low) * plan.columns.input_step + row * rows.input_step)
    cdef WindowSum sum
    cdef int64_t outer[MAX_RANK]
    cdef int64_t number = 0
    cdef int64_t i
    begin_sum(plan, place, scratch, target, True, &sum)
    if count > 1:
        sum.lines = count
        sum.target_step = place.lines * plan.pitch * place.run
        sum.line_step = plan.row_elements
    if plan.deep:
        for i in range(plan.axes):
            outer[i] = 0
        for _ in range(valid_rows(plan, place)):
            for i in range(end - tap):
                take_row(&sum, input + i * step)
            input += next_row(plan, place, outer, &number)
        flush_rows(&sum)
        return
    if count > 1 and rows.stride == rows.dilation and end - tap == DMLCY_SLIDE and sum.size >= SHORT_ROW:
        sum.loop = scratch.loops.slide
        end = tap + 1
    take_rows(&sum, input, step, end - tap, scratch.kernel.item)


# The sums of the band along all axes but the columns. The sums of padding are the identity.
cdef const char* sum_rows(const WindowPlan* plan, WindowPlace* place, WindowScratch* scratch) noexcept nogil:
    cdef const WindowAxis* rows = &plan.rows
    cdef const char* input = place.input + (place.begin + place.low) * plan.columns.input_step
    cdef int64_t number = place.number + (place.begin + place.low) * plan.columns.number_step
    cdef int64_t line = place.lines * plan.pitch * place.run * scratch.kernel.acc
    cdef int64_t room = plan.line_room * scratch.kernel.acc
    cdef char* target = scratch.sums
    cdef char* slot
    cdef WindowSum sum
    cdef int64_t index = place.row
    cdef int64_t last = place.row + place.rows
    cdef int64_t tap, end, row, n
    if plan.taken and plan.deep and valid_rows(plan, place) == 0:
        scratch.kernel.clear(target, place.rows * line)
        return target
    while plan.taken and index < last:
        valid_taps(rows, index, &tap, &end)
        n = 1
        while place.lines == 1 and end - tap == rows.window and index + n < last and is_whole(rows, index + n):
            n += 1
        if tap == end:
            scratch.kernel.clear(target, line)
        else:
            take(plan, place, scratch, target, index, n, tap, end)
        target += n * line
        index += n
    for index in range(index, last):
        valid_taps(rows, index, &tap, &end)
        begin_sum(plan, place, scratch, target, False, &sum)
        target += line
        if tap == end:
            scratch.kernel.clear(target - line, line)
        else:
            while tap < end:
                row = index * rows.stride + tap * rows.dilation - rows.start
                n = (row if rows.dilation == 1 else tap) & (plan.slots - 1)
                slot = scratch.slots + n * room
                if place.held[n] != row:
                    place.held[n] = row
                    fill(plan, place, scratch, input + row * rows.input_step, number + row * rows.number_step, slot)
                if rows.window == 1 and place.rows == 1:
                    return slot
                take_row(&sum, slot)
                tap += 1
            flush_rows(&sum)
    return scratch.sums
