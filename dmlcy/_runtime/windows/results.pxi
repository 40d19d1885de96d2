# Results become elements of the output, and are put where they belong.

# Writes the counts of a row of the output, whose windows have `rows` rows inside the input. Padding along the columns
# changes only a few windows at both ends.
cdef void count_line(
        const WindowPlan* plan, const WindowPlace* place, const WindowKernel* kernel, char* counts,
        int64_t rows) noexcept nogil:
    cdef int64_t run = place.run
    cdef int64_t window = plan.columns.window
    cdef int64_t begin = 0, stop = place.columns    # columns without counts of their own
    cdef int64_t first, end
    kernel.count(counts, plan.result_pitch * run, rows * window, plan.volume, plan.attributes)
    if not place.padded:
        return
    while begin < stop:
        valid_taps(&plan.columns, place.column + begin, &first, &end)
        if end - first == window:
            break
        kernel.count(counts + begin * run * kernel.acc, run, rows * (end - first), plan.volume, plan.attributes)
        begin += 1
    while begin < stop:
        valid_taps(&plan.columns, place.column + stop - 1, &first, &end)
        if end - first == window:
            break
        stop -= 1
        kernel.count(counts + stop * run * kernel.acc, run, rows * (end - first), plan.volume, plan.attributes)


cdef void count_taps(const WindowPlan* plan, WindowPlace* place, const WindowScratch* scratch) noexcept nogil:
    cdef int64_t size = plan.result_pitch * place.run * scratch.kernel.acc
    cdef int64_t depth = valid_rows(plan, place)
    cdef int64_t row = -1 if place.whole else place.row
    cdef int64_t before = -1
    cdef char* counts = scratch.counts
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
                dmlcy_copy(counts, counts - size, size)
            else:
                before = end - first
                count_line(plan, place, scratch.kernel, counts, depth * before)
            counts += size


# Where results go: bytes between elements of the output, or of the indices.
cdef struct WindowTarget:
    WindowLoop loop
    char* output
    int64_t item
    int64_t row_step
    int64_t line_step
    int64_t column_step
    int64_t lane_step


cdef void put(
        const WindowPlan* plan, WindowPlace* place, const WindowScratch* scratch, const WindowTarget* target,
        const char* results, int64_t taps) noexcept nogil:
    cdef int64_t acc = scratch.kernel.acc
    cdef int64_t run = place.run
    cdef int64_t columns = place.columns
    cdef int64_t lines = place.lines
    cdef int64_t rows = place.rows
    cdef int64_t pitch = plan.result_pitch
    cdef int64_t line_step = target.line_step
    cdef int64_t row_step = target.row_step
    cdef char* finished = scratch.finished
    cdef WindowFinish finish
    cdef int64_t row
    cdef bint apart
    if lines == 1:
        lines = rows
        line_step = row_step
        rows = 1
    if pitch == columns and line_step == columns * target.column_step:
        columns *= lines
        pitch = columns
        lines = 1
    finish.results = results
    finish.counts = scratch.counts
    finish.line_step = pitch * run
    finish.taps = taps
    finish.tap_step = plan.index_step * run
    finish.volume = plan.volume
    finish.attributes = plan.attributes
    finish.doubtful = False
    # Between short rows there may be padding only, whose result is doubtful.
    apart = columns * run >= SHORT_ROW or (columns < pitch and scratch.kernel.exact != NULL)
    if apart and packed_columns(plan, target.column_step, target.lane_step, target.item):
        finish.size = columns * run
        finish.lines = lines
        finish.target_step = line_step
        for row in range(rows):
            finish.target = target.output + row * row_step
            finish.results = results + row * lines * pitch * run * acc
            finish.counts = scratch.counts + row * lines * pitch * run * acc
            target.loop(&finish)
            place.doubtful = place.doubtful or finish.doubtful
        return
    finish.target = finished
    finish.size = ((rows * lines - 1) * pitch + columns) * run
    finish.lines = 1
    finish.target_step = 0
    target.loop(&finish)
    place.doubtful = place.doubtful or finish.doubtful
    for row in range(rows):
        dmlcy_scatter(
            target.item, target.output + row * row_step, lines, line_step, target.column_step, target.lane_step,
            finished + row * lines * pitch * run * target.item, pitch * run, columns, run)


cdef void put_output(
        const WindowPlan* plan, WindowPlace* place, const WindowScratch* scratch, const char* results,
        int64_t taps) noexcept nogil:
    cdef WindowTarget target
    if scratch.kernel.count != NULL:
        count_taps(plan, place, scratch)
    target.loop = scratch.loops.finish
    target.output = place.output + place.row * plan.rows.output_step
    target.item = scratch.kernel.item
    target.row_step = plan.rows.output_step
    target.line_step = plan.lines.output_step
    target.column_step = plan.columns.output_step
    target.lane_step = plan.lanes.output_step
    put(plan, place, scratch, &target, results, taps)


cdef void put_indices(
        const WindowPlan* plan, WindowPlace* place, const WindowScratch* scratch, const char* results) noexcept nogil:
    cdef WindowTarget target
    target.loop = scratch.loops.indices[plan.indices_item == 8]
    target.output = plan.indices + place.indices_at + place.row * plan.rows.indices_step
    target.item = plan.indices_item
    target.row_step = plan.rows.indices_step
    target.line_step = plan.lines.indices_step
    target.column_step = plan.columns.indices_step
    target.lane_step = plan.lanes.indices_step
    put(plan, place, scratch, &target, results, 1)
