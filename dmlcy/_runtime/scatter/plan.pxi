# Describes the axes, and cuts the output into slabs.


cdef void collect_axes(ScatterPlan* plan, const WindowScatter* a) noexcept nogil:
    cdef int64_t taps = a.input.strides[1]
    cdef int64_t blocks = a.input.strides[2]
    cdef int64_t rest, divisor
    cdef ScatterAxis* axis
    cdef int from_[MAX_RANK]
    cdef int count = 0, d, k
    for d in range(a.spatial):
        if a.output.sizes[2 + d] > 1 or a.window[d] > 1 or a.blocks[d] > 1 or a.start[d] > 0:
            from_[count] = d
            count += 1
    plan.last = max(count, 2) - 1   # there are rows and columns, if only one of each
    plan.planes = 1
    for k in range(plan.last, -1, -1):
        d = k - (plan.last + 1 - count)
        d = from_[d] if d >= 0 else -1
        axis = &plan.axes[k]
        axis.size = a.output.sizes[2 + d] if d >= 0 else 1
        axis.output_step = a.output.strides[2 + d] if d >= 0 else a.output.item
        axis.window = a.window[d] if d >= 0 else 1
        axis.stride = a.strides[d] if d >= 0 else 1
        axis.dilation = a.dilations[d] if d >= 0 else 1
        axis.start = a.start[d] if d >= 0 else 0
        axis.blocks = a.blocks[d] if d >= 0 else 1
        axis.tap_step = taps
        axis.block_step = blocks
        taps *= axis.window
        blocks *= axis.blocks
        if k < plan.last - 1:
            plan.planes *= axis.size
        axis.common = axis.stride
        rest = axis.dilation
        while rest > 0:
            divisor = rest
            rest = axis.common % rest
            axis.common = divisor
        axis.period = axis.stride // axis.common
        axis.inverse = inverse_of(axis.dilation // axis.common % axis.period, axis.period)
        axis.next_step = 0
        if axis.period < axis.window:
            axis.next_step = axis.period * axis.tap_step - axis.dilation // axis.common * axis.block_step
    plan.input_steps[1] = taps


# Whether windows touch each other along an axis and cover it, without padding.
cdef bint side_by_side(const ScatterAxis* axis) noexcept nogil:
    return axis.stride == axis.window and axis.dilation == 1 and axis.start == 0


cdef void collect_slabs(ScatterPlan* plan, const WindowScatter* a, int64_t planes, int64_t bytes) noexcept nogil:
    cdef const ScatterAxis* rows = &plan.axes[plan.last - 1]
    cdef const ScatterAxis* columns = &plan.axes[plan.last]
    cdef int64_t reach = (rows.window - 1) * rows.dilation
    cdef int64_t length, most = 0
    cdef int d
    plan.apart = side_by_side(columns) and 1 < columns.stride <= CLASSES
    plan.apart = plan.apart and columns.blocks * columns.stride <= columns.size
    plan.apart = plan.apart and columns.output_step == a.output.item
    plan.apart = plan.apart and a.input.item in (columns.block_step, columns.tap_step)
    for d in range(plan.last):
        plan.apart = plan.apart and plan.axes[d].period >= plan.axes[d].window
    plan.covered = side_by_side(rows) and rows.blocks * rows.stride >= rows.size
    for d in range(<int> min(columns.window, CLASSES)):
        plan.tap_at[d] = d * columns.tap_step
    plan.woven = False
    if plan.apart:
        plan.columns = length = columns.size
        plan.rows = PLANE // length
    else:
        plan.columns = even(columns.size, SLAB - 2 * CLASSES)
        plan.woven = 1 < columns.stride <= min(CLASSES, plan.columns)
        length = plan.columns + (2 * columns.stride if plan.woven else 0)
        plan.rows = SLAB // length
        if plan.rows < rows.stride:
            plan.rows = 1
    plan.column_slabs = ceil_div(columns.size, plan.columns)
    plan.together = 0 < columns.tap_step < columns.block_step
    plan.turned = plan.touched = False
    if plan.together:
        plan.rows = min(plan.rows, max(1, NEAR_BYTES // (columns.blocks * columns.block_step)) * rows.stride)
        if plan.apart and rows.window * columns.window * a.input.item < DMLCY_LINE:
            plan.rows = rows.stride     # channels share lines, of which the first cache holds but one row
    if plan.together and columns.tap_step == a.input.item and columns.blocks > 1:
        plan.touched = bytes > SERIAL_BYTES and columns.block_step == plan.channels * plan.input_steps[1]
        most = CELL_BYTES // (rows.window * columns.window * columns.blocks * a.input.item) * rows.stride - reach
        plan.turned = not plan.apart and plan.column_slabs == 1 and most >= max(reach, rows.stride)
        plan.turned = plan.turned and rows.window * columns.window > 1
    if plan.turned:
        plan.rows = min(plan.rows, most)
        list_offsets(0, TURNED, 0, TURNED, columns.block_step, plan.block_at)
    plan.rows = even(rows.size, max(1, plan.rows))
    if bytes > SERIAL_BYTES:
        while plan.rows > 1 and planes * plan.column_slabs * ceil_div(rows.size, plan.rows) < SLABS:
            plan.rows = ceil_div(plan.rows, 2)
    plan.row_slabs = ceil_div(rows.size, plan.rows)


# The number whose product with `value` is 1 modulo `modulus`, with which it has no divisor in common.
cdef int64_t inverse_of(int64_t value, int64_t modulus) noexcept nogil:
    cdef int64_t a = value, b = modulus
    cdef int64_t x = 1, y = 0
    cdef int64_t quotient, before
    while a > 1:
        quotient = b // a
        before = a
        a = b % a
        b = before
        before = x
        x = y - quotient * x
        y = before
    return floor_mod(x, modulus)
