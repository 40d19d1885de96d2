# Chooses the axes of the rows and lines, the size of a piece, and the loop that writes its rows.

# The axes of more than one position, the one with the largest step of the output first.
cdef int collect_axes(const Pad* a, PadAxis* axes) noexcept nogil:
    cdef PadAxis axis
    cdef int count = 0
    cdef int d, to
    for d in range(a.output.rank):
        if a.output.sizes[d] == 1:
            continue
        axis.n = a.input.sizes[d]
        axis.size = a.output.sizes[d]
        axis.start = a.start[d]
        axis.step = a.input.strides[d]
        axis.out_step = a.output.strides[d]
        to = count
        while to > 0 and magnitude(axes[to - 1].out_step) < magnitude(axis.out_step):
            axes[to] = axes[to - 1]
            to -= 1
        axes[to] = axis
        count += 1
    return count


# Joins axes that lie one after the other in both tensors; the inner one must not be padded. The outer one may be when
# padding is a value: an index map counts positions of its own axis.
cdef int merge_axes(PadAxis* axes, int count, bint mapped) noexcept nogil:
    cdef PadAxis* outer
    cdef PadAxis inner
    cdef int kept = 0
    cdef int d
    for d in range(count):
        inner = axes[d]
        if kept > 0:
            outer = &axes[kept - 1]
            if (inner.n == inner.size and (not mapped or outer.n == outer.size)
                    and outer.step == inner.n * inner.step and outer.out_step == inner.n * inner.out_step):
                outer.n *= inner.n
                outer.size *= inner.n
                outer.start *= inner.n
                outer.step = inner.step
                outer.out_step = inner.out_step
                continue
        axes[kept] = inner
        kept += 1
    return kept


# Takes axis d out of the outer axes.
cdef PadAxis take_axis(PadPlan* plan, int d) noexcept nogil:
    cdef PadAxis axis = plan.outer[d]
    plan.outers -= 1
    while d < plan.outers:
        plan.outer[d] = plan.outer[d + 1]
        d += 1
    return axis


# An axis of one position.
cdef PadAxis unit_axis(int64_t step) noexcept nogil:
    cdef PadAxis axis
    axis.n = axis.size = 1
    axis.start = 0
    axis.step = axis.out_step = step
    return axis


cdef int longest_axis(const PadPlan* plan) noexcept nogil:
    cdef int longest = plan.outers - 1
    cdef int d
    for d in range(plan.outers):
        if plan.outer[d].size > plan.outer[longest].size:
            longest = d
    return longest


# Chooses the row, and what moves together at each of its positions.
cdef void choose_row(PadPlan* plan, int item) noexcept nogil:
    cdef PadAxis last
    plan.rows.cell = item
    if plan.outers == 0:
        plan.rows.row = unit_axis(item)
        return
    last = plan.outer[plan.outers - 1]
    if last.step != item or last.out_step != item:
        plan.rows.row = take_axis(plan, longest_axis(plan) if last.size < SHORT else plan.outers - 1)
        return
    plan.rows.row = take_axis(plan, plan.outers - 1)
    if plan.rows.index != NULL and plan.outers > 0 and last.n == last.size and last.n * item <= CELL_BYTES:
        plan.rows.cell = last.n * item
        plan.rows.row = take_axis(plan, plan.outers - 1)


# Sorts the outer axes so that the next row reads the cache lines that this row has read. If these lines stay in the
# cache for all rows of the last axis, the order of the output is kept, in which rows can be copied.
cdef void sort_by_input(PadPlan* plan) noexcept nogil:
    cdef PadAxis axis
    cdef int d, to
    if plan.outers > 0 and plan.outer[plan.outers - 1].n * plan.rows.row.n <= CACHED:
        return
    for d in range(1, plan.outers):
        axis = plan.outer[d]
        to = d
        while to > 0 and magnitude(plan.outer[to - 1].step) < magnitude(axis.step):
            plan.outer[to] = plan.outer[to - 1]
            to -= 1
        plan.outer[to] = axis


cdef void choose_lines(PadPlan* plan, int item) noexcept nogil:
    cdef PadAxis* line = &plan.rows.line
    cdef int64_t i, at
    line[0] = unit_axis(0) if plan.outers == 0 else take_axis(plan, plan.outers - 1)
    plan.rows.turned = line.step == item and plan.rows.row.step != item and plan.rows.row.out_step == item
    if plan.rows.index != NULL:
        for i in range(min(line.size - line.n, <int64_t> LINES)):
            at = i if i < line.start else i + line.n
            plan.sources[i] = plan.rows.index(at - line.start, line.n)


# Whether each row, and each step of an outer axis, begins in the output where the one before ends.
cdef bint follows(const PadPlan* plan) noexcept nogil:
    cdef int64_t end = plan.rows.row.size * plan.rows.cell
    cdef int d
    if plan.rows.row.out_step != plan.rows.cell or (plan.rows.line.size > 1 and plan.rows.line.out_step != end):
        return False
    end *= plan.rows.line.size
    for d in range(plan.outers - 1, -1, -1):
        if plan.outer[d].out_step != end:
            return False
        end *= plan.outer[d].size
    return True


cdef void choose_piece(PadPlan* plan) noexcept nogil:
    cdef int64_t padding = plan.rows.row.size - plan.rows.row.n
    if plan.rows.row.step != plan.rows.cell and magnitude(plan.rows.line.step) < magnitude(plan.rows.row.step):
        plan.piece = STRIDED_POSITIONS
    elif plan.rows.index != NULL and padding > EDGE_POSITIONS:
        plan.piece = EDGE_POSITIONS
    else:
        plan.piece = max(PIECE_BYTES // plan.rows.cell, <int64_t> EDGE_POSITIONS)
    plan.piece = min(plan.piece, plan.rows.row.size)


# A buffer pays where most lines are padding, however short: while it is streamed, no input is read.
cdef void choose_writer(PadPlan* plan, const Pad* a) noexcept nogil:
    cdef int item = a.input.item
    plan.rows.dense = follows(plan)
    plan.streamed = plan.rows.dense and not plan.rows.turned and stream_pays(a.input.bytes + a.output.bytes)
    plan.buffered = (plan.streamed and plan.rows.line.n <= plan.rows.line.size // 2 and plan.piece == plan.rows.row.size
                     and plan.rows.line.size * plan.rows.line.out_step <= 8 * BUFFER)
    plan.streamed &= plan.buffered or plan.rows.row.size * plan.rows.cell >= LONG_ROW
    if plan.rows.cell != item:
        plan.write = rows_of_cells
    else:
        plan.write = dmlcy_pad_stream if plan.streamed and not plan.buffered else dmlcy_pad_rows[item]


# Rows per chunk of work: all rows where they are written before another thread has woken up. Else, where planes of
# lines are small, whole planes, so that padding copies rows of the same thread.
cdef int64_t rows_per_chunk(const PadPlan* plan) noexcept nogil:
    cdef int64_t rows = grain_of(plan.piece * plan.rows.cell)
    cdef int64_t cost = plan.rows.cell if plan.rows.row.step == plan.rows.cell else STRIDED_COST
    if is_serial(plan.count * plan.rows.row.size * cost):
        return plan.count * ceil_div(plan.rows.row.size, plan.piece)
    return ceil_div(rows, plan.rows.line.size) * plan.rows.line.size if rows >= plan.rows.line.size else rows
