# Where a band is, and how to get there.

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
    int64_t counted                 # valid_rows() when the counts were last written; -1: never
    int64_t counted_row             # `row` at that time; -1: the counts hold for any row, as it was `whole`
    int64_t counted_rows            # `rows` at that time
    const char* input               # under the first tap of the remaining axes; row 0, column 0
    char* output                    # row 0, column `column`
    int64_t number                  # index of the element at `input` in the packed input
    int64_t indices_at              # bytes to the indices that belong to `output`
    int64_t valid[MAX_RANK]         # taps of the remaining axes inside the input
    bint doubtful                   # a result of the band is -infinity or -0: `exact` computes the band again


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
    place.tap -= place.tap % DMLCY_GROUP
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


# The last digit of a number whose last digit counts to `size`; the number loses the digit. Mostly there is one value.
cdef inline int64_t take_digit(int64_t* number, int64_t size) noexcept nogil:
    cdef int64_t digit
    if size == 1:
        return 0
    digit = number[0] % size
    number[0] //= size
    return digit


# Bands are counted row by row, then block by block, then along the remaining axes, then line by line.
cdef void go_to_band(const WindowPlan* plan, WindowPlace* place, int64_t number) noexcept nogil:
    cdef const WindowAxis* axis
    cdef int64_t index, lane, first, end
    cdef int64_t column = place.column, run = place.run, lines = place.lines
    cdef int n = plan.axes
    go_to_row(plan, place, take_digit(&number, plan.bands) * plan.tall)
    lane = take_digit(&number, plan.runs) * plan.run
    go_to_columns(plan, place, take_digit(&number, plan.blocks) * plan.block)
    place.run = min(plan.run, plan.lanes.results - lane)
    place.input = plan.input + lane * plan.lanes.input_step
    place.output = plan.output + lane * plan.lanes.output_step + place.column * plan.columns.output_step
    place.number = lane * plan.lanes.number_step
    place.indices_at = lane * plan.lanes.indices_step + place.column * plan.columns.indices_step
    while n > 0:
        n -= 1
        axis = &plan.axis[n]
        index = take_digit(&number, axis.results)
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


# Goes to `taps` taps along the columns, from `tap` on. No row is held then.
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
