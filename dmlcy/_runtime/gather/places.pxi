# Where a box is, and what its slots read.


cdef Slot find_slot(const GatherAxis* axis, int64_t tap, int64_t block, int64_t count) noexcept nogil:
    cdef Slot slot
    cdef int64_t rest
    slot.origin = tap * axis.dilation + block * axis.stride - axis.start
    rest = axis.n - slot.origin
    slot.low = 0 if slot.origin >= 0 else min(ceil_div(-slot.origin, axis.stride), count)
    slot.high = 0 if rest <= 0 else min(ceil_div(rest, axis.stride), count)
    slot.low = min(slot.low, slot.high)
    return slot


# Takes one part off the number of a box: the first of `piece` elements.
cdef int64_t next_part(int64_t* number, int64_t size, int64_t piece) noexcept nogil:
    cdef int64_t pieces = ceil_div(size, piece)
    cdef int64_t part
    if pieces == 1:
        return 0
    part = number[0] % pieces * piece
    number[0] //= pieces
    return part


# Blocks are the fastest part of a box's number, then taps, channels and batches; where several channels are read at
# once, they come before the blocks.
cdef void place(const GatherPlan* plan, int64_t number, Box* box) noexcept nogil:
    cdef const GatherAxis* axis
    cdef int64_t channel = 0, position
    cdef int d
    if plan.group > 1:
        channel = next_part(&number, plan.channels, plan.group)
    for d in range(plan.last, -1, -1):
        box.block[d] = next_part(&number, plan.axes[d].blocks, plan.axes[d].piece)
    for d in range(plan.last, -1, -1):
        box.tap[d] = next_part(&number, plan.axes[d].window, plan.axes[d].taps)
    if plan.group == 1:
        channel = next_part(&number, plan.channels, 1)
    box.channels = min(plan.group, plan.channels - channel)
    box.first = channel == 0
    box.source = plan.input + number * plan.batch_step + channel * plan.channel_step
    box.target = plan.output + number * plan.batch_out_step + channel * plan.channel_out_step
    box.inside = True
    for d in range(plan.last + 1):
        axis = &plan.axes[d]
        box.target += box.tap[d] * axis.tap_out_step + box.block[d] * axis.block_out_step
        if d < plan.last - 1:
            position = box.tap[d] * axis.dilation + box.block[d] * axis.stride - axis.start
            box.source += position * axis.step
            box.inside = box.inside and 0 <= position < axis.n
    axis = &plan.axes[plan.last - 1]
    box.height = min(axis.piece, axis.blocks - box.block[plan.last - 1]) + axis.reach
    axis = &plan.axes[plan.last]
    box.width = min(axis.piece, axis.blocks - box.block[plan.last]) + axis.reach
    box.slots = min(axis.slots, axis.window - box.tap[plan.last])


# Finds what the slots of the last axis read.
cdef void find_slots(const GatherPlan* plan, Box* box) noexcept nogil:
    cdef const GatherAxis* axis = &plan.axes[plan.last]
    cdef Slot* slot
    cdef int64_t s, q
    box.low = 0
    box.high = box.width
    for s in range(box.slots):
        slot = &box.slot[s]
        slot[0] = find_slot(axis, box.tap[plan.last] + s, box.block[plan.last], box.width)
        box.low = max(box.low, slot.low)
        box.high = min(box.high, slot.high)
    if plan.turn == TURN_CHANNELS:
        for q in range(min(box.width, <int64_t> ROWS)):
            box.rows[q] = q * axis.stride * axis.step
