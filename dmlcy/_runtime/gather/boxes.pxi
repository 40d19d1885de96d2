# Writes the cells of a box to the output, and makes all boxes.


cdef inline void put(const GatherPlan* plan, dmlcy_stream* stream, const char* source, char* target,
                     int64_t count) noexcept nogil:
    cdef int64_t step = plan.axes[plan.last].block_out_step
    if plan.streams:
        dmlcy_stream_seek(stream, target)
        dmlcy_stream_put(stream, source, count * plan.item)
    elif step == plan.item:
        dmlcy_copy(target, source, count * plan.item)
    else:
        plan.moves.copy_strided(source, 0, plan.item, target, 0, step, 1, count)


# Blocks of a tap follow each other, and so do its lines.
cdef void write_tap(const GatherPlan* plan, const char* cells, int64_t lines, int64_t blocks, char* target,
                    dmlcy_stream* stream) noexcept nogil:
    cdef int64_t y
    if blocks * plan.item == plan.line_pitch and blocks == plan.axes[plan.last].blocks:
        put(plan, stream, cells, target, lines * blocks)
        return
    for y in range(lines):
        put(plan, stream, cells + y * plan.line_pitch, target, blocks)
        target += plan.axes[plan.last - 1].block_out_step


cdef void write_box(const GatherPlan* plan, const Box* box, const char* cells, dmlcy_stream* stream) noexcept nogil:
    cdef const GatherAxis* lines = &plan.axes[plan.last - 1]
    cdef const GatherAxis* axis = &plan.axes[plan.last]
    cdef const char* source
    cdef int64_t channel, ky, kx
    for channel in range(box.channels):
        for ky in range(min(lines.taps, lines.window - box.tap[plan.last - 1])):
            for kx in range(min(axis.taps, axis.window - box.tap[plan.last])):
                source = cells + channel * plan.channel_pitch
                source += ky % lines.slots * plan.line_slot_pitch + ky // lines.slots * lines.shift * plan.line_pitch
                source += kx % axis.slots * plan.slot_pitch + kx // axis.slots * axis.shift * plan.item
                write_tap(plan, source, box.height - lines.reach, box.width - axis.reach, box.target
                          + channel * plan.channel_out_step + ky * lines.tap_out_step + kx * axis.tap_out_step, stream)


# Items are boxes.
cdef int gather_boxes(const void* args, int64_t begin, int64_t end) noexcept nogil:
    cdef const GatherPlan* plan = <const GatherPlan*> args
    cdef char cells[CELL_BYTES]
    cdef dmlcy_stream stream
    cdef Box box
    cdef int64_t number
    if plan.streams:
        dmlcy_stream_begin(&stream, plan.output)
    for number in range(begin, end):
        place(plan, number, &box)
        find_slots(plan, &box)
        fill_cells(plan, &box, box.target if plan.direct else cells)
        if not plan.direct:
            write_box(plan, &box, cells, &stream)
    if plan.streams:
        dmlcy_stream_end(&stream)
    return 0
