# Adds, weaves, transposes and writes the rows of a slab.


# The rows of blocks that a slab takes.
cdef inline void find_blocks(const ScatterPlan* plan, ScatterSlab* slab) noexcept nogil:
    cdef const ScatterAxis* rows = &plan.axes[plan.last - 1]
    slab.blocks_begin = max(0, ceil_div(slab.begin[0] - (rows.window - 1) * rows.dilation, rows.stride))
    slab.blocks_end = min(rows.blocks, (slab.end[0] - 1) // rows.stride + 1)


# Brings them into the cache, in order, before the channels read them here and there.
cdef void touch_blocks(const ScatterPlan* plan, const ScatterSlab* slab, const char* input) noexcept nogil:
    cdef const ScatterAxis* rows = &plan.axes[plan.last - 1]
    if slab.blocks_end > slab.blocks_begin:
        dmlcy_touch(
            input + slab.blocks_begin * rows.block_step, (slab.blocks_end - slab.blocks_begin) * rows.block_step)


# Makes a slab where each position takes one element or none: weaves the taps of a row, as many as the window is wide.
cdef void scatter_woven(const ScatterPlan* plan, const ScatterSlab* slab, const char* input) noexcept nogil:
    cdef const ScatterAxis* rows = &plan.axes[plan.last - 1]
    cdef const ScatterAxis* columns = &plan.axes[plan.last]
    cdef int64_t covered = columns.blocks * columns.stride * plan.kernel.item
    cdef int64_t rest = columns.size * plan.kernel.item - covered
    cdef bint by_taps = columns.block_step == plan.kernel.item and columns.stride > 4
    cdef int64_t tap, end, step, block, last
    cdef ScatterRows woven
    woven.output_row = rows.stride * rows.output_step
    woven.input_row = rows.block_step
    woven.at = &plan.tap_at[0]
    woven.width = columns.stride
    woven.blocks = columns.blocks
    woven.step = columns.block_step
    taps_over(rows, slab.begin[0], slab.end[0], &tap, &end, &step)
    while tap < end:
        blocks_at(rows, tap, slab.begin[0], slab.end[0], &block, &last)
        woven.input = input + tap * rows.tap_step + block * rows.block_step
        woven.output = slab.output + (block * rows.stride + tap * rows.dilation - slab.begin[0]) * rows.output_step
        tap += step
        woven.rows = last - block
        if not (plan.far or by_taps or rest > 0):
            plan.loops.weave(&woven)
            continue
        woven.rows = 1
        for _ in range(last - block):
            if plan.far:            # processors do not prefetch so many short runs themselves
                dmlcy_ask_rows(
                    woven.input + woven.input_row, columns.tap_step, woven.width, woven.blocks * woven.step)
                dmlcy_ask(woven.output + woven.output_row, covered)
            if not by_taps:
                plan.loops.weave(&woven)
            else:
                plan.moves.transpose(
                    woven.input, plan.tap_at, woven.width, woven.blocks, woven.output, woven.width * plan.kernel.item)
                if plan.loops.alone != NULL:
                    plan.loops.alone(woven.output, woven.blocks * woven.width)
            memset(woven.output + covered, 0, rest)
            woven.input += woven.input_row
            woven.output += woven.output_row


# Adds the elements of a tap of the rows, with one tap of each axis before them. The order is tap by tap of the columns,
# or, where strides are long, block by block, the last block first.
cdef void scatter_along(
        const ScatterPlan* plan, const ScatterSlab* slab, const char* input, ScatterRun* run) noexcept nogil:
    cdef const ScatterAxis* columns = &plan.axes[plan.last]
    cdef char* sums = run.sums
    cdef int64_t high = slab.low + slab.length * (columns.stride if plan.woven else 1)
    cdef int64_t first, end, step, number, begin, at
    if columns.stride <= slab.length or plan.woven:
        run.input_step = slab.block_step[1]
        run.sums_step = plan.kernel.sum * (1 if plan.woven else columns.stride)
        taps_over(columns, slab.low, high, &number, &end, &step)
        while number < end:
            blocks_at(columns, number, slab.low, high, &begin, &run.size)
            run.size -= begin
            run.input = input + number * slab.tap_step[1] + begin * slab.block_step[1]
            at = begin * columns.stride + number * columns.dilation - slab.low
            if plan.woven:
                at = at % columns.stride * slab.length + at // columns.stride
            run.sums = sums + at * plan.kernel.sum
            if run.size > 0:
                plan.loops.add(run)
            number += step
        return
    run.input_step = slab.tap_step[1]
    run.sums_step = plan.kernel.sum * columns.dilation
    first = max(0, ceil_div(slab.low - (columns.window - 1) * columns.dilation, columns.stride))
    end = min(columns.blocks, (high - 1) // columns.stride + 1)
    for number in range(end - 1, first - 1, -1):
        at = number * columns.stride - slab.low
        begin = max(0, ceil_div(-at, columns.dilation))
        run.size = min(columns.window, ceil_div(high - slab.low - at, columns.dilation)) - begin
        run.input = input + begin * slab.tap_step[1] + number * slab.block_step[1]
        run.sums = sums + (at + begin * columns.dilation) * plan.kernel.sum
        if run.size > 0:
            plan.loops.add(run)


# Makes a row of the elements of its classes.
cdef void weave_classes(
        const ScatterPlan* plan, const ScatterSlab* slab, const char* classes, char* row) noexcept nogil:
    cdef int64_t number = plan.axes[plan.last].stride, item = plan.kernel.item
    cdef int64_t class_at[CLASSES]
    if number <= FEW:
        plan.moves.weave(classes, slab.length * item, number, item, slab.length, row)
        return
    list_offsets(0, number, 0, number, slab.length * item, class_at)
    plan.moves.transpose(classes, class_at, number, slab.length, row, number * item)


# Puts the sums of a slab where they belong.
cdef void scatter_lay(const ScatterPlan* plan, const ScatterSlab* slab) noexcept nogil:
    cdef const ScatterAxis* columns = &plan.axes[plan.last]
    cdef int64_t size = slab.end[1] - slab.begin[1]
    cdef int64_t woven[SLAB]
    cdef uint16_t narrowed[SLAB]
    cdef const char* line
    cdef char* output
    cdef int64_t row
    for row in range(slab.end[0] - slab.begin[0]):
        line = slab.sums + row * slab.row_step
        output = slab.output + row * plan.axes[plan.last - 1].output_step
        if plan.kernel.narrow != NULL:
            plan.kernel.narrow(
                <const float*> line, narrowed, plan.kernel.item, slab.row_step // plan.kernel.sum)
            line = <const char*> narrowed
        if plan.woven:
            weave_classes(plan, slab, line, <char*> woven)
            line = <const char*> woven + (slab.begin[1] - slab.low) * plan.kernel.item
        dmlcy_scatter(plan.kernel.item, output, 1, 0, columns.output_step, 0, line, 0, size, 1)


# Transposes some rows of blocks, with all taps of rows and columns: the blocks of each tap become rows.
cdef void scatter_turn(
        const ScatterPlan* plan, const ScatterSlab* slab, const char* input, char* cells) noexcept nogil:
    cdef const ScatterAxis* columns = &plan.axes[plan.last]
    cdef int64_t blocks = slab.tap_step[1] // plan.kernel.item
    cdef int64_t width = plan.axes[plan.last - 1].window * columns.window
    cdef int64_t block = 0
    input += slab.blocks_begin * plan.axes[plan.last - 1].block_step
    while block < blocks:
        block = max(0, min(block, blocks - TURNED))
        plan.moves.transpose(
            input + block * columns.block_step, plan.block_at, min(blocks, <int64_t> TURNED), width,
            cells + block * plan.kernel.item, slab.tap_step[1])
        block += TURNED
