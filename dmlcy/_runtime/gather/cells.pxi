# Fills the cells of a box from the input.


# Positions low … high-1 of a slot, in `count` lines that follow each other.
cdef inline void copy_lines(const GatherPlan* plan, const Slot* slot, int64_t low, int64_t high, const char* lines,
                            int64_t count, char* target) noexcept nogil:
    cdef const GatherAxis* axis = &plan.axes[plan.last]
    if high > low:
        plan.moves.gather(lines + (slot.origin + low * axis.stride) * axis.step,
                          plan.axes[plan.last - 1].stride * plan.axes[plan.last - 1].step, axis.stride * axis.step,
                          target + low * plan.item, plan.line_pitch, count, high - low)


cdef void clear_lines(const GatherPlan* plan, int64_t low, int64_t high, int64_t count, char* target) noexcept nogil:
    cdef int64_t q
    if low == high:
        return
    if high - low <= FEW:
        for q in range(low, high):
            plan.moves.clear(target + q * plan.item, plan.line_pitch, count)
        return
    for q in range(count):
        memset(target + q * plan.line_pitch + low * plan.item, 0, (high - low) * plan.item)


# One slot in `count` lines that follow each other.
cdef void fill_slot(const GatherPlan* plan, const Slot* slot, int64_t width, const char* lines, int64_t count,
                    char* target) noexcept nogil:
    cdef const GatherAxis* axis = &plan.axes[plan.last]
    cdef int64_t step = plan.axes[plan.last - 1].stride * plan.axes[plan.last - 1].step
    cdef int64_t gap = slot.low + width - slot.high
    if (axis.stride == 1 and axis.n == width and step == width * axis.step and plan.line_pitch == width * plan.item
            and gap * JOIN_GAP <= width):
        plan.moves.gather(lines + (slot.origin + slot.low) * axis.step, 0, axis.step, target + slot.low * plan.item, 0,
                          1, count * width - gap)
    else:
        copy_lines(plan, slot, slot.low, slot.high, lines, count, target)
    clear_lines(plan, 0, slot.low, count, target)
    clear_lines(plan, slot.high, width, count, target)


# Positions low … high-1 of all slots of `count` lines: no more of them than ROWS, and one line unless all are inside.
# Gaps between the elements of the input are closed first.
cdef void turn_positions(const GatherPlan* plan, Box* box, int64_t low, int64_t high, const char* lines, int64_t count,
                         char* target) noexcept nogil:
    cdef const GatherAxis* axis = &plan.axes[plan.last]
    cdef char dense[DENSE_BYTES]
    cdef int64_t step = plan.axes[plan.last - 1].stride * plan.axes[plan.last - 1].step
    cdef int64_t size = (high - low - 1) * axis.stride + box.slots
    lines += (box.slot[0].origin + low * axis.stride) * axis.step
    if plan.gapped:
        plan.moves.gather(lines, step, axis.step, dense, size * plan.item, count, size)
        lines = dense
    plan.moves.transpose(lines, box.rows, count * (high - low), box.slots * plan.group, target + low * plan.item,
                         plan.channel_pitch if plan.group > 1 else plan.slot_pitch)


# Positions that turn_positions takes at once.
cdef int64_t most_positions(const GatherPlan* plan) noexcept nogil:
    cdef const GatherAxis* axis = &plan.axes[plan.last]
    if not plan.gapped:
        return ROWS
    return min((DENSE_BYTES // plan.item - axis.slots) // axis.stride + 1, <int64_t> ROWS)


# All slots of some lines, where taps are transposed, or taps and channels that lie together.
cdef void turn_taps(const GatherPlan* plan, Box* box, const char* lines, int64_t count, char* target) noexcept nogil:
    cdef const GatherAxis* axis = &plan.axes[plan.last]
    cdef int64_t step = plan.axes[plan.last - 1].stride * plan.axes[plan.last - 1].step
    cdef int64_t dense_step = ((box.width - 1) * axis.stride + box.slots) * plan.item
    cdef int64_t most = most_positions(plan)
    cdef const char* next_tap = lines + plan.axes[plan.last - 1].dilation * plan.axes[plan.last - 1].step
    cdef const char* next_target = target + plan.line_slot_pitch
    cdef int64_t begin = (box.slot[0].origin + box.low * axis.stride) * axis.step
    cdef int64_t end = begin + (box.high - box.low) * axis.stride * axis.step
    cdef int64_t low, some = 1
    cdef bint last
    # Lines that follow each other are one, unless a line alone is split faster.
    if (box.low == 0 and box.high == box.width and plan.line_pitch == box.width * plan.item
            and box.slots * plan.group * plan.item >= 16):
        some = max(min(min(DENSE_BYTES // dense_step, most // box.width), count), <int64_t> 1)
    list_offsets(0, min(some * box.width, most), dense_step if plan.gapped else step, box.width if some > 1 else most,
                 axis.stride * plan.group * plan.item, box.rows)
    while count > 0:
        some = min(some, count)
        if plan.far:                # processors do not prefetch so many short runs themselves
            last = some == count
            dmlcy_ask_rows((next_tap if last else lines + some * step) + begin, step, some, end - begin)
            if plan.direct:
                dmlcy_ask_rows(next_target if last else target + some * plan.line_pitch, plan.slot_pitch, box.slots,
                               some * box.width * plan.item)
        low = box.low
        while low < box.high:
            turn_positions(plan, box, low, min(low + most, box.high), lines, some, target)
            low += most
        lines += some * step
        target += some * plan.line_pitch
        count -= some


# The positions that are inside in some slots only.
cdef void fill_edges(const GatherPlan* plan, const Box* box, const char* lines, int64_t count,
                     char* target) noexcept nogil:
    cdef int64_t low = box.low, high = max(box.low, box.high)
    cdef const Slot* slot
    cdef int64_t s
    if low == 0 and high == box.width:
        return
    for _ in range(box.channels):
        for s in range(box.slots):
            slot = &box.slot[s]
            copy_lines(plan, slot, slot.low, min(low, slot.high), lines, count, target + s * plan.slot_pitch)
            copy_lines(plan, slot, max(high, slot.low), slot.high, lines, count, target + s * plan.slot_pitch)
            clear_lines(plan, 0, slot.low, count, target + s * plan.slot_pitch)
            clear_lines(plan, slot.high, box.width, count, target + s * plan.slot_pitch)
        lines += plan.channel_step
        target += plan.channel_pitch


# All slots of some lines, where channels are transposed.
cdef void turn_channels(const GatherPlan* plan, const Box* box, const char* lines, int64_t count,
                        char* target) noexcept nogil:
    cdef const GatherAxis* axis = &plan.axes[plan.last]
    cdef const Slot* slot
    cdef int64_t s, q
    for _ in range(count):
        if box.first and box.high > box.low and 0 < axis.step <= plan.channels * plan.item:
            dmlcy_touch(lines + (box.slot[0].origin + box.low * axis.stride) * axis.step,
                        (box.high - box.low - 1) * axis.stride * axis.step + plan.channels * plan.item)
        for s in range(box.slots):
            slot = &box.slot[s]
            q = slot.low
            while q < slot.high:
                plan.moves.transpose(lines + (slot.origin + q * axis.stride) * axis.step, box.rows,
                                     min(slot.high - q, <int64_t> ROWS), box.channels,
                                     target + s * plan.slot_pitch + q * plan.item, plan.channel_pitch)
                q += ROWS
        lines += plan.axes[plan.last - 1].stride * plan.axes[plan.last - 1].step
        target += plan.line_pitch
    target -= count * plan.line_pitch
    for _ in range(box.channels):
        for s in range(box.slots):
            clear_lines(plan, 0, box.slot[s].low, count, target + s * plan.slot_pitch)
            clear_lines(plan, box.slot[s].high, box.width, count, target + s * plan.slot_pitch)
        target += plan.channel_pitch


# Clears lines low … high-1 of all channels and slots.
cdef void clear_slots(const GatherPlan* plan, const Box* box, int64_t low, int64_t high, char* target) noexcept nogil:
    cdef int64_t channel, s
    if low == high:
        return
    for channel in range(box.channels):
        for s in range(box.slots):
            clear_lines(plan, 0, box.width, high - low, target + channel * plan.channel_pitch + s * plan.slot_pitch
                        + low * plan.line_pitch)


cdef void fill_cells(const GatherPlan* plan, Box* box, char* cells) noexcept nogil:
    cdef const GatherAxis* axis = &plan.axes[plan.last - 1]
    cdef const char* source
    cdef char* target
    cdef int64_t s, q, next_run
    cdef Slot lines
    for s in range(axis.slots):
        lines = find_slot(axis, box.tap[plan.last - 1] + s, box.block[plan.last - 1], box.height)
        if not box.inside:
            lines.low = lines.high = box.height
        clear_slots(plan, box, 0, lines.low, cells)
        clear_slots(plan, box, lines.high, box.height, cells)
        source = box.source + (lines.origin + lines.low * axis.stride) * axis.step
        target = cells + lines.low * plan.line_pitch
        if lines.high == lines.low:
            pass
        elif plan.turn == TURN_NOTHING:
            for q in range(box.slots):
                next_run = plan.line_slot_pitch if q + 1 == box.slots else (q + 1) * plan.slot_pitch
                dmlcy_ask(target + next_run, plan.asked)
                fill_slot(plan, &box.slot[q], box.width, source, lines.high - lines.low, target + q * plan.slot_pitch)
        elif plan.turn == TURN_TAPS:
            turn_taps(plan, box, source, lines.high - lines.low, target)
            fill_edges(plan, box, source, lines.high - lines.low, target)
        else:
            turn_channels(plan, box, source, lines.high - lines.low, target)
        cells += plan.line_slot_pitch
