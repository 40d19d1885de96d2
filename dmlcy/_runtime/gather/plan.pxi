# Chooses the size of a box, and which of its elements are transposed.


cdef int64_t common_divisor(int64_t a, int64_t b) noexcept nogil:
    cdef int64_t rest
    while b:
        rest = a % b
        a = b
        b = rest
    return a


# `apart`: no two taps share a slot.
cdef void take_taps(GatherAxis* axis, int64_t taps, bint apart) noexcept nogil:
    axis.taps = taps
    axis.slots = taps if apart else min(taps, axis.stride // common_divisor(axis.stride, axis.dilation))
    axis.shift = axis.slots * axis.dilation // axis.stride
    axis.reach = (taps - 1) // axis.slots * axis.shift


cdef void collect_axes(GatherPlan* plan, const WindowGather* a) noexcept nogil:
    cdef GatherAxis* axis = plan.axes
    cdef int64_t taps = 1, blocks = 1
    cdef int d
    if a.spatial == 1:
        axis.n = axis.window = axis.stride = axis.dilation = axis.blocks = 1
        axis.step = axis.start = 0
        axis += 1
    for d in range(a.spatial):
        axis.n = a.input.sizes[2 + d]
        axis.step = a.input.strides[2 + d]
        axis.window = a.window[d]
        axis.stride = a.strides[d]
        axis.dilation = a.dilations[d]
        axis.start = a.start[d]
        axis.blocks = a.blocks[d]
        axis += 1
    plan.last = max(a.spatial, 2) - 1
    for d in range(plan.last, -1, -1):
        axis = &plan.axes[d]
        axis.tap_out_step = taps * a.output.strides[1]
        axis.block_out_step = blocks * a.output.strides[2]
        axis.piece = 1
        take_taps(axis, 1, False)
        taps *= axis.window
        blocks *= axis.blocks
    plan.channel_out_step = taps * a.output.strides[1]


# Bytes of a slot, when there are `most` for the cells. Without cells, that much of the input stays in the cache.
cdef int64_t slot_bytes(const GatherPlan* plan, int64_t most) noexcept nogil:
    if plan.direct:
        return CELL_BYTES
    return most // (plan.group * plan.axes[plan.last].slots * plan.axes[plan.last - 1].slots) - 3 * DMLCY_LINE


# Whether enough blocks of the last axis fit into the cells.
cdef bint fits(GatherPlan* plan, int64_t line_taps, int64_t taps, int64_t most) noexcept nogil:
    cdef GatherAxis* lines = &plan.axes[plan.last - 1]
    cdef GatherAxis* axis = &plan.axes[plan.last]
    # Where lines are short, slots without elements between their lines: a tap's lines are one run.
    cdef bint short = (plan.turn == TURN_NOTHING and line_taps > 1
                       and axis.blocks * plan.item <= (SHORT_LINE // 2 if plan.streams else SHORT_LINE))
    take_taps(lines, line_taps, plan.direct)
    take_taps(axis, taps, plan.direct or short or plan.turn == TURN_TAPS)
    axis.piece = min(slot_bytes(plan, most) // plan.item // (1 + lines.reach) - axis.reach, axis.blocks)
    return axis.piece >= min(axis.blocks, <int64_t> LEAST_BLOCKS)


# How many lines of the last axis but one fit.
cdef int64_t fitting_lines(const GatherPlan* plan, int64_t most) noexcept nogil:
    cdef const GatherAxis* lines = &plan.axes[plan.last - 1]
    return max(min(slot_bytes(plan, most) // plan.line_pitch - lines.reach, lines.blocks), 1)


# Whether fewer channels, in more lines, are better: when the lines serve few blocks, or are short runs of the output.
cdef bint has_few_lines(const GatherPlan* plan, int64_t count) noexcept nogil:
    cdef const GatherAxis* lines = &plan.axes[plan.last - 1]
    return count < lines.blocks and (count < 2 * lines.reach or count * plan.line_pitch < LONG_RUN)


# Slots an odd number of cache lines apart spread over the whole cache.
cdef int64_t odd_lines(int64_t bytes) noexcept nogil:
    return ((bytes + DMLCY_LINE - 1) // DMLCY_LINE | 1) * DMLCY_LINE


# Whether no two taps read the same element.
cdef bint is_apart(const GatherAxis* axis) noexcept nogil:
    return axis.stride >= (axis.window - 1) * axis.dilation + 1


# Whether gathering the elements of a tap is fast.
cdef bint has_known_step(const GatherPlan* plan) noexcept nogil:
    cdef const GatherAxis* axis = &plan.axes[plan.last]
    return magnitude(axis.stride * axis.step) <= KNOWN_STEP * plan.item


cdef void choose_turn(GatherPlan* plan) noexcept nogil:
    cdef const GatherAxis* axis = &plan.axes[plan.last]
    cdef bint turns = axis.window > 1 and axis.dilation == 1 and (is_apart(axis) or axis.window > axis.blocks)
    plan.group = 1
    plan.turn = TURN_NOTHING
    plan.gapped = False
    if plan.channel_step == plan.item and axis.step != plan.item and plan.channels > 1:
        plan.turn = TURN_CHANNELS
        plan.group = even(plan.channels, DMLCY_LINE // plan.item)
        if turns and plan.channels * plan.item < 16 and axis.step == plan.channels * plan.item:
            plan.turn = TURN_TAPS
    elif turns and (axis.step == plan.item or not has_known_step(plan)):
        plan.turn = TURN_TAPS
        plan.gapped = axis.step != plan.item


# Whether taps are copied without cells.
cdef bint is_direct(const GatherPlan* plan) noexcept nogil:
    cdef const GatherAxis* axis = &plan.axes[plan.last]
    if plan.streams or plan.group > 1 or axis.block_out_step != plan.item:
        return False
    return (plan.turn == TURN_TAPS or has_known_step(plan)
            or is_apart(axis) and is_apart(&plan.axes[plan.last - 1]))


cdef void choose_boxes(GatherPlan* plan) noexcept nogil:
    cdef GatherAxis* lines = &plan.axes[plan.last - 1]
    cdef GatherAxis* axis = &plan.axes[plan.last]
    cdef int64_t taps = min(axis.window, <int64_t> SLOTS)
    cdef int64_t most
    plan.direct = is_direct(plan)
    most = NEAR_BYTES if plan.group == 1 and not plan.streams else CELL_BYTES
    if not fits(plan, lines.window, taps, most):
        most = CELL_BYTES
        if not fits(plan, lines.window, taps, most) and not fits(plan, 1, taps, most):
            fits(plan, 1, 1, most)
    axis.piece = even(axis.blocks, axis.piece)
    plan.line_pitch = (axis.piece + axis.reach) * plan.item
    while plan.turn == TURN_CHANNELS and plan.group * plan.item > 16 and has_few_lines(plan, fitting_lines(plan, most)):
        plan.group = (plan.group + 1) // 2
    lines.piece = even(lines.blocks, fitting_lines(plan, most))
    plan.slot_pitch = odd_lines((lines.piece + lines.reach) * plan.line_pitch)
    plan.line_slot_pitch = plan.slot_pitch * axis.slots
    plan.channel_pitch = odd_lines(plan.line_slot_pitch * lines.slots)
    if plan.turn == TURN_TAPS and plan.group > 1:
        plan.channel_pitch = plan.slot_pitch
        plan.slot_pitch *= plan.group
        plan.line_slot_pitch *= plan.group
    if plan.direct:
        plan.channel_pitch = plan.channel_out_step
        plan.line_pitch = lines.block_out_step
        plan.slot_pitch = axis.tap_out_step
        plan.line_slot_pitch = lines.tap_out_step


# Whether boxes write enough bytes at a time: each time, a cache line at both ends is incomplete.
cdef bint has_long_runs(const GatherPlan* plan) noexcept nogil:
    cdef const GatherAxis* lines = &plan.axes[plan.last - 1]
    cdef const GatherAxis* axis = &plan.axes[plan.last]
    cdef int64_t run = axis.piece * plan.item
    if axis.piece == axis.blocks:
        run *= lines.piece
        if lines.piece == lines.blocks and lines.tap_out_step == axis.window * run:
            run *= axis.window
    return run >= LONG_RUN
