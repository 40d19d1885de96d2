# Windows that are taken whole, row by row: where lanes are neighbours in all tensors, and indices are asked for.
#
# Each lane of a block has its greatest element and the mark of it in registers, while the loop goes through the taps.
# Neighbouring windows have the same taps, except windows with padding.

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


cdef int make_lanes(const WindowPlan* plan, int64_t begin, int64_t end) noexcept nogil:
    cdef WindowPlace place
    cdef int64_t number
    place.run = 0                   # nowhere yet
    for number in range(begin, end):
        go_to_band(plan, &place, number)
        take_lanes(plan, &place, plan.kernel.loops[1].lanes)
    return 0
