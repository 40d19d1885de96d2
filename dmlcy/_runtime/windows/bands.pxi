# All bands, one after the other.

# Begins with `taps` taps from `tap` on: in all rows that elements are put into, the columns of padding become the
# identity.
cdef void begin_part(
        const WindowPlan* plan, WindowPlace* place, WindowScratch* scratch, int64_t tap, int64_t taps) noexcept nogil:
    cdef int64_t acc = scratch.kernel.acc
    cdef int64_t size = plan.pitch * place.run * acc
    cdef int64_t lines = place.lines
    cdef int64_t room = plan.line_room * acc
    cdef char* row = scratch.sums
    cdef char* line
    cdef int64_t low, high, n
    go_to_part(plan, place, tap, taps)
    begin_load(plan, place, scratch)
    if scratch.phases - row <= SMALL_ROOM * acc:        # to clear all is quicker than to clear both sides of each row
        scratch.kernel.clear(row, scratch.phases - row)
        return
    if plan.taken:
        lines *= plan.tall
        room = plan.room * acc
    else:
        row = scratch.slots
    low = place.low * place.run * acc
    high = place.high * place.run * acc
    while row < scratch.phases:
        for n in range(lines):
            line = row + n * size
            dmlcy_repeat(line, scratch.none, low)
            dmlcy_repeat(line + high, scratch.none, size - high)
        row += room


cdef void make_band(const WindowPlan* plan, WindowPlace* place, WindowScratch* scratch) noexcept nogil:
    cdef int64_t tap = place.tap
    cdef int64_t taps
    cdef const char* sums = NULL
    if plan.folded:
        put_output(plan, place, scratch, fold_rows(plan, place, scratch), 1)
        return
    while tap < place.end_tap:
        taps = min(plan.taps, place.end_tap - tap)
        if place.part != tap:
            begin_part(plan, place, scratch, tap, taps)
        sums = sum_rows(plan, place, scratch)
        if plan.step == 1 and taps == DMLCY_SLIDE and place.end_tap - place.tap == taps and not scratch.kernel.placed:
            put_output(plan, place, scratch, sums, DMLCY_SLIDE)
            return
        sums = sum_columns(plan, place, scratch, sums, taps, tap + taps == place.end_tap)
        tap += taps
    put_output(plan, place, scratch, sums, 1)
    if plan.indices_item > 0:
        put_indices(plan, place, scratch, sums)


# Makes the bands from begin[0] to `end`. 1: a band is doubtful, and begin[0] is its number; -1: memory ran out.
cdef int make_some(
        const WindowPlan* plan, const WindowKernel* kernel, int64_t* begin, int64_t end) noexcept nogil:
    cdef int64_t acc = kernel.acc
    cdef int64_t line = LINE * acc
    cdef int64_t slots = 0 if plan.taken else plan.slots * plan.line_room
    cdef int64_t spare = DMLCY_GROUP * plan.line_room if plan.deep and not plan.direct else 0
    cdef int64_t phases = plan.room + plan.step * LINE if plan.step > 1 and plan.run == 1 else 0
    cdef int64_t room = (3 if kernel.count == NULL else 4) * plan.room + slots + spare + phases
    cdef char small[(SMALL_ROOM + LINE) * MOST_BYTES]
    cdef char* memory = small
    cdef WindowScratch scratch
    cdef WindowPlace place
    if room > SMALL_ROOM:
        memory = <char*> malloc((room + LINE) * acc)
        kernel.clear(scratch.none, MOST_BYTES)
    if memory == NULL:
        return -1
    scratch.kernel = kernel
    scratch.loops = &kernel.loops[dmlcy_wide()]
    scratch.sums = memory + (line - <int64_t> (<uintptr_t> memory & (line - 1)))
    scratch.slots = scratch.sums + plan.room * acc
    scratch.spare = scratch.slots + slots * acc
    scratch.phases = scratch.spare + spare * acc
    scratch.results = scratch.phases + phases * acc
    scratch.counts = scratch.results + plan.room * acc
    scratch.finished = scratch.counts if kernel.count == NULL else scratch.counts + plan.room * acc
    place.run = 0                   # nowhere yet
    place.doubtful = False
    go_to_band(plan, &place, begin[0])
    while True:
        make_band(plan, &place, &scratch)
        if place.doubtful:
            break
        begin[0] += 1
        if begin[0] == end:
            break
        if place.row + place.rows < plan.rows.results:
            go_to_row(plan, &place, place.row + place.rows)
        else:
            go_to_band(plan, &place, begin[0])
    if room > SMALL_ROOM:
        free(memory)
    return 1 if place.doubtful else 0


cdef int make_bands(const void* args, int64_t begin, int64_t end) noexcept nogil:
    cdef const WindowPlan* plan = <const WindowPlan*> args
    cdef const WindowKernel* kernel = plan.kernel
    cdef int left = 1
    if plan.beside:
        return make_lanes(plan, begin, end)
    if kernel.exact == NULL or not dmlcy_ignores_subnormals():
        left = make_some(plan, kernel, &begin, end)
    return make_some(plan, kernel.exact, &begin, end) if left == 1 else left


cdef int run_windows(const WindowKernel* kernel, const WindowReduce* a) noexcept nogil:
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
    plan.kernel = kernel
    plan_axes(a, &plan)
    plan_bands(&plan)
    plan.ahead = 0
    if a.input.bytes > SERIAL_BYTES and (plan.folded or row_bytes(&plan) < FORESEEN_BYTES):
        plan.ahead = plan.tall * min(rows.stride, rows.size) * rows.input_step
        if plan.folded:
            plan.ahead = rows.input_step if a.input.bytes > FAR_BYTES else 0
        elif rows.window > DMLCY_GROUP:     # planes that follow each other are read in order: no prefetch is needed
            plan.ahead = DMLCY_GROUP * rows.dilation * rows.input_step if plan.band == 1 else 0
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
    sums += <double> elements * ELEMENT_SUMS
    if plan.turned:
        sums += <double> (elements + results) * TURN_SUMS
    if plan.beside:
        sums = <double> results * (plan.volume * TAKE_SUMS + RESULT_SUMS)
    if is_serial(<int64_t> min(total * sums / SUMS, <double> INT64_MAX / 2)):
        return parallel_for(make_bands, &plan, total, total)
    elements = max((elements + results) * kernel.item, 1)
    return parallel_for(make_bands, &plan, total, max(enough(BAND_BYTES) // elements, 1))
