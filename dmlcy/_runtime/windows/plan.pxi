# How the output is cut into bands, and which way they are made.

cdef struct WindowPlan:
    const char* input
    char* output
    char* indices
    int indices_item                # bytes of an index; 0: not asked for
    const WindowKernel* kernel
    bint beside                     # lanes are neighbours in all tensors: windows are taken whole, row by row
    int axes                        # entries of `axis`
    bint deep                       # one of `axis` is pooled
    bint filled                     # for certain, there is an element under each window
    bint folded                     # a line is under one window, and is made a result at once
    WindowAxis axis[MAX_RANK]       # the remaining axes: none of the following
    WindowAxis lines
    WindowAxis rows
    WindowAxis columns
    WindowAxis lanes
    int64_t tall                    # rows of the output in a band
    int64_t bands                   # bands that follow each other along the rows
    int64_t band                    # lines in a band
    int64_t run                     # lanes in a band
    int64_t runs                    # bands that follow each other along the lanes
    int64_t block                   # columns of the output in a band
    int64_t blocks                  # bands that follow each other along the columns
    int64_t taps                    # taps along the columns that are taken at once
    int64_t pitch                   # columns of the input of a line, padding included: a multiple of `step`
    int64_t result_pitch            # pitch / step
    int64_t step                    # columns of the input between windows
    int64_t phase_step              # from the phase of a tap to that of the next tap, modulo `step`
    int64_t index_step              # columns from a tap to the next tap: of a phase, if there are phases
    int64_t room                    # accumulators: for the sums of a band
    int64_t line_room               # accumulators: for the sums of one row of all lines of a band
    int64_t slots                   # rows that are kept: a power of two
    bint turned                     # columns of the input are neighbours in memory, lanes are not
    int64_t lane_at[TURNED_LANES]   # where `turned`: bytes to each lane
    bint converted                  # rows are loaded by the loop that combines elements, which converts them
    bint direct                     # rows of the input are long and contiguous, and `elements` combines them
    bint taken                      # `direct`, and all rows under a window are combined at once: no row is kept
    int64_t ahead                   # bytes from the rows of a band to the rows to prefetch; 0: no prefetch
    int64_t line_elements           # elements of the input between lines, where `direct`
    int64_t row_elements            # and between the first rows of neighbouring windows
    double volume                   # elements of a window; int64 could overflow
    double shared                   # windows that an element is under
    const void* attributes


# Fills in the axes, without axes that make no difference; neighbours become one where they can.
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
        if spatial < 0 and a.input.sizes[n] == 1:       # it makes no difference
            continue
        axis.size = a.input.sizes[n]
        axis.results = a.output.sizes[n]
        axis.input_step = a.input.strides[n]
        axis.output_step = a.output.strides[n]
        # Without indices, these steps equal others, so that they never keep two axes from being merged.
        axis.indices_step = a.indices.strides[n] if a.indices.dtype else axis.output_step
        axis.number_step = numbers[n] if a.indices.dtype else axis.input_step
        axis.window = a.window[spatial] if spatial >= 0 else 1
        axis.stride = a.strides[spatial] if spatial >= 0 else 1
        axis.dilation = a.dilations[spatial] if spatial >= 0 else 1
        axis.start = a.start[spatial] if spatial >= 0 else 0
        if axis.window > 1 or axis.stride > 1:
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
    if plan.kernel.folds and plan.axes > 0 and plan.axis[plan.axes - 1].input_step == a.input.item:
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


# Whether what is under a window has a loop of its own: a row that is combined in any order, or a plane.
cdef bint is_folded(const WindowPlan* plan) noexcept nogil:
    cdef const WindowAxis* rows = &plan.rows
    cdef const WindowAxis* columns = &plan.columns
    cdef int64_t row = columns.size * plan.kernel.item
    if plan.deep or not plan.kernel.own or not spanned(rows) or not spanned(columns):
        return False
    if columns.input_step != plan.kernel.item:
        return False
    if plan.kernel.folds:
        return rows.size == 1 and columns.size >= DMLCY_FOLDED
    if rows.size == 1 or rows.input_step < row or columns.start > 0:
        return False
    return DMLCY_FEWEST_FOLDED <= columns.size <= DMLCY_MOST_FOLDED


# Accumulators that a row of so many takes up.
cdef inline int64_t room_of(int64_t sums) noexcept nogil:
    return ceil_div(sums, LINE) * LINE


# Whether results of neighbouring columns, lanes included, are neighbours in memory.
cdef inline bint packed_columns(
        const WindowPlan* plan, int64_t column_step, int64_t lane_step, int64_t item) noexcept nogil:
    return column_step == plan.run * item and (plan.lanes.results == 1 or lane_step == item)


# The bytes of the input that a row of a band spans, lanes included.
cdef inline int64_t row_bytes(const WindowPlan* plan) noexcept nogil:
    return min(plan.pitch, plan.columns.size) * plan.run * plan.kernel.item


# A quotient that needs no division.
cdef inline int64_t elements_of(int64_t bytes, int64_t item) noexcept nogil:
    return bytes // 4 if item == 4 else bytes // 2 if item == 2 else bytes // 8 if item == 8 else bytes


# So many of `count` as fit where there is room for `room`, each taking `size`: mostly all, and no division is needed.
cdef inline int64_t fitting(int64_t count, int64_t room, int64_t size) noexcept nogil:
    if count <= room and size <= room and count * size <= room:
        return count
    return min(count, room // size)


cdef void plan_bands(WindowPlan* plan) noexcept nogil:
    cdef int64_t item = plan.kernel.item
    cdef const WindowAxis* columns = &plan.columns
    cdef int64_t longest = LONGEST_ROW
    cdef int64_t lane, under
    plan.columns = take_axis(plan, plan.axes - 1)
    plan.rows = take_axis(plan, find_rows(plan))
    plan.deep = find_rows(plan) >= 0
    plan.folded = is_folded(plan)
    plan.lanes = take_axis(plan, -1 if plan.folded else find_lanes(plan, item))
    plan.lines = take_axis(plan, find_lines(plan))

    plan.run = plan.lanes.results
    plan.turned = plan.run > 1 and columns.input_step == item
    plan.beside = dmlcy_wide() and plan.filled and plan.volume <= DMLCY_MOST_TAPS and plan.shared <= MOST_SHARED
    plan.beside = plan.beside and plan.run * item >= BLOCK and not plan.turned and plan.lanes.input_step == item
    plan.beside = plan.beside and plan.lanes.output_step == item and plan.lanes.indices_step == plan.indices_item
    if plan.turned:
        plan.run = min(plan.run, TURNED_LANES)
        for lane in range(plan.run):
            plan.lane_at[lane] = lane * plan.lanes.input_step
    if plan.beside:
        longest = INT64_MAX // 2
    elif plan.run > 1:
        if plan.run * min(columns.size, DMLCY_GROUP) > LONGEST_RUN:
            plan.run = MOST_LANES
        longest = LONGEST_RUN // plan.run
    plan.runs = ceil_div(plan.lanes.results, plan.run)
    plan.block = min(columns.results, 1 + floor_div(longest, columns.stride))
    plan.blocks = ceil_div(columns.results, plan.block)
    plan.block = ceil_div(columns.results, plan.blocks)
    plan.taps = columns.window
    if plan.folded:
        plan.taps = 1
    elif columns.dilation >= max(columns.size, <int64_t> 2) or columns.dilation > LONGEST_ROW:
        plan.taps = 1               # taps are farther apart than a block; in any layout, as it changes the order
    elif (plan.taps - 1) * columns.dilation > longest:
        plan.taps = min(plan.taps, max(DMLCY_GROUP, longest // columns.dilation // DMLCY_GROUP * DMLCY_GROUP))
    plan.pitch = (plan.block - 1) * columns.stride + (plan.taps - 1) * columns.dilation + 1
    plan.step = columns.stride if plan.block > 1 else plan.pitch
    plan.index_step = columns.dilation
    plan.phase_step = take_digit(&plan.index_step, plan.step) if plan.run == 1 else 0
    plan.result_pitch = ceil_div(plan.pitch, plan.step)
    plan.pitch = plan.result_pitch * plan.step
    plan.direct = plan.kernel.own and plan.run == plan.lanes.results and columns.input_step == plan.run * item
    plan.direct = plan.direct and (plan.lines.results == 1 or min(plan.pitch, columns.size) * plan.run >= SHORT_ROW)
    plan.taken = plan.direct and (not plan.deep or plan.kernel.folds and plan.rows.window <= plan.rows.stride)
    plan.tall = fitting(plan.rows.results, BAND_ELEMENTS, plan.pitch * plan.run)
    if plan.tall < min(plan.rows.results, FEWEST_ROWS):
        plan.tall = 1
    plan.band = max(1, fitting(plan.lines.results, BAND_ELEMENTS, plan.pitch * plan.run * plan.tall))
    under = plan.pitch * plan.run * min(plan.rows.window, plan.rows.size)
    if not plan.taken or not spanned(&plan.rows):       # a row of the input is needed by several windows
        plan.band = fitting(plan.band, UNDER_BAND, under)
    elif plan.lines.results * under > SERIAL_SUMS:
        plan.band = min(plan.band, plan.lines.results // BANDS)
    plan.band = max(1, plan.band)
    if plan.beside:
        plan.band = plan.tall = 1
    elif plan.folded:
        plan.band = max(1, min(plan.lines.results, FOLDED_BAND // (plan.rows.size * columns.size)))
    plan.bands = ceil_div(plan.rows.results, plan.tall)
    plan.tall = ceil_div(plan.rows.results, plan.bands)
    plan.line_room = room_of(plan.band * plan.pitch * plan.run)
    plan.room = room_of(plan.tall * plan.band * plan.pitch * plan.run)
    plan.slots = 1
    while plan.slots < min(plan.rows.window, DMLCY_GROUP if plan.rows.window > SLOTS else SLOTS):
        plan.slots *= 2
    plan.converted = plan.kernel.converted and not plan.turned and plan.run == plan.lanes.results
    plan.converted = plan.converted and columns.input_step == plan.run * item
    if plan.direct or plan.converted:
        plan.line_elements = elements_of(plan.lines.input_step, item)
        plan.row_elements = elements_of(plan.rows.stride * plan.rows.input_step, item)
