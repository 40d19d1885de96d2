# Makes a slab, and all slabs.


cdef void scatter_slab(
        const ScatterPlan* plan, ScatterSlab* slab, const char* input, const int64_t* firsts, const int64_t* ends,
        bint reached) noexcept nogil:
    cdef const ScatterAxis* rows = &plan.axes[plan.last - 1]
    cdef const ScatterAxis* columns = &plan.axes[plan.last]
    cdef int64_t sums[SLAB]         # of the widest type
    cdef char cells[CELL_BYTES]
    cdef int64_t size = slab.end[1] - slab.begin[1]
    cdef bint direct = plan.kernel.narrow == NULL and not plan.woven and columns.output_step == plan.kernel.item
    cdef int64_t tap[MAX_RANK]
    cdef int64_t first, end, step, number, block, row
    cdef const char* taps
    cdef ScatterRun run
    cdef int d
    slab.low = slab.begin[1]
    slab.length = size
    if plan.woven:
        slab.low = slab.begin[1] // columns.stride * columns.stride
        slab.length = ceil_div(slab.end[1] - slab.low, columns.stride)
        size = slab.length * columns.stride
    slab.sums = slab.output if direct else <char*> sums
    slab.row_step = rows.output_step if direct else size * plan.kernel.sum
    for row in range(slab.end[0] - slab.begin[0]):
        memset(slab.sums + row * slab.row_step, 0, size * plan.kernel.sum)
    taps_over(rows, slab.begin[0], slab.end[0], &first, &end, &step)
    for d in range(2):
        slab.tap_step[d] = plan.axes[plan.last - 1 + d].tap_step
        slab.block_step[d] = plan.axes[plan.last - 1 + d].block_step
    if plan.turned:
        slab.block_step[1] = plan.kernel.item
        slab.block_step[0] = slab.block_step[1] * columns.blocks
        slab.tap_step[1] = slab.block_step[0] * (slab.blocks_end - slab.blocks_begin)
        slab.tap_step[0] = slab.tap_step[1] * columns.window
    run.input_row = slab.block_step[0]
    run.sums_row = rows.stride * slab.row_step
    for d in range(plan.last - 1):
        tap[d] = firsts[d]
    while reached:
        if slab.fresh:
            touch_blocks(plan, slab, input)
        taps = input
        if plan.turned:
            scatter_turn(plan, slab, input, cells)
            taps = cells - slab.blocks_begin * slab.block_step[0]
        number = first
        while number < end:
            blocks_at(rows, number, slab.begin[0], slab.end[0], &block, &run.rows)
            run.rows -= block
            if run.rows > 0:
                row = block * rows.stride + number * rows.dilation - slab.begin[0]
                run.sums = slab.sums + row * slab.row_step
                scatter_along(
                    plan, slab, taps + number * slab.tap_step[0] + block * slab.block_step[0], &run)
            number += step
        d = plan.last - 2
        while d >= 0:
            tap[d] += plan.axes[d].period
            input += plan.axes[d].next_step
            if tap[d] < ends[d]:
                break
            input -= (tap[d] - firsts[d]) // plan.axes[d].period * plan.axes[d].next_step
            tap[d] = firsts[d]
            d -= 1
        reached = d >= 0
    if not direct:
        scatter_lay(plan, slab)


cdef int scatter_slabs(const void* args, int64_t begin, int64_t end) noexcept nogil:
    cdef const ScatterPlan* plan = <const ScatterPlan*> args
    cdef const ScatterAxis* rows = &plan.axes[plan.last - 1]
    cdef const ScatterAxis* columns = &plan.axes[plan.last]
    cdef const ScatterAxis* axis
    cdef ScatterSlab slab
    cdef int64_t firsts[MAX_RANK]
    cdef int64_t ends[MAX_RANK]
    cdef int64_t number, index, channel, row, column, q
    cdef const char* input
    cdef bint reached
    cdef int d
    for number in range(begin, end):
        index = number
        channel = 0
        if plan.together:
            channel = index % plan.channels
            index //= plan.channels
        column = index % plan.column_slabs * plan.columns
        index //= plan.column_slabs
        row = index % plan.row_slabs * plan.rows
        index //= plan.row_slabs
        slab.begin[0] = rows.start + row
        slab.end[0] = rows.start + min(rows.size, row + plan.rows)
        slab.begin[1] = columns.start + column
        slab.end[1] = columns.start + min(columns.size, column + plan.columns)
        slab.output = plan.output + row * rows.output_step + column * columns.output_step
        input = plan.input
        reached = True
        for d in range(plan.last - 2, -1, -1):
            axis = &plan.axes[d]
            q = index % axis.size
            index //= axis.size
            slab.output += q * axis.output_step
            q += axis.start
            taps_at(axis, q, &firsts[d], &ends[d])
            if firsts[d] < ends[d]:
                input += firsts[d] * axis.tap_step
                input += (q - firsts[d] * axis.dilation) // axis.stride * axis.block_step
            else:
                reached = False
        if not plan.together:
            channel = index % plan.channels
            index //= plan.channels
        slab.output += index * plan.output_steps[0] + channel * plan.output_steps[1]
        input += index * plan.input_steps[0] + channel * plan.input_steps[1]
        find_blocks(plan, &slab)
        slab.fresh = plan.touched and channel == 0
        if plan.apart:
            if not (reached and plan.covered):
                for row in range(slab.end[0] - slab.begin[0]):
                    memset(slab.output + row * rows.output_step, 0, columns.size * plan.kernel.item)
            if reached and slab.fresh:
                touch_blocks(plan, &slab, input)
            if reached:
                scatter_woven(plan, &slab, input)
        else:
            scatter_slab(plan, &slab, input, firsts, ends, reached)
    return 0
