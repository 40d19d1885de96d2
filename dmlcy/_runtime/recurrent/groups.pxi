# Groups of sequences: a direction of some of them, step by step.

# Sums of the gates of some parts, for all steps of a block: what they begin with, and the products with the input.
cdef int multiply_inputs(const void* args, int64_t begin, int64_t end) noexcept nogil:
    cdef const Group* own = <const Group*>args
    cdef const Layer* to = own.to
    cdef int64_t i, part, n, row, rows = own.count * own.rows
    cdef const float* begins
    cdef float* sums
    cdef int gate
    for i in range(begin, end):
        part = i // to.gates
        gate = <int>(i % to.gates)
        n = width_of(to, part)
        sums = gate_of(own, part, gate)
        if to.a.bias != NULL:
            begins = to.begins + (own.direction * to.gates + gate) * to.hidden + part * to.part
            for row in range(rows):
                memcpy(sums + row * n, begins, n * sizeof(float))
        multiply_packed(own.inputs, to.inputs, rows, to.weights + packed_at(to, own.direction, part, gate, to.inputs),
                        n, to.inputs, sums, n, to.a.bias != NULL)
    return 0


cdef int step_parts(const void* args, int64_t begin, int64_t end) noexcept nogil:
    cdef const Group* own = <const Group*>args
    cdef int64_t part
    cdef int status = 0
    for part in range(begin, end):
        if own.to.a.unit == MEMORY_UNIT:
            status = step_memory(own, part)
        elif own.to.a.unit == GATED_UNIT:
            status = begin_gated(own, part)
        else:
            status = step_simple(own, part)
        if status:
            return -1
    return 0


cdef int end_parts(const void* args, int64_t begin, int64_t end) noexcept nogil:
    cdef int64_t part
    for part in range(begin, end):
        if end_gated(<const Group*>args, part):
            return -1
    return 0


# Whether a sequence of the group has the step.
cdef bint is_active(const Group* own) noexcept nogil:
    cdef int64_t row
    for row in range(own.rows):
        if own.step < length_of(own.to, own.first + row):
            return True
    return False


cdef int make_step(Group* own) noexcept nogil:
    cdef const Layer* to = own.to
    cdef int64_t row
    if not is_active(own):
        if to.a.sequence != NULL:
            for row in range(own.rows):
                store_zeros(row_at(to.a.sequence, own.step, own.direction, own.first + row, 0),
                            to.a.sequence.strides[3], to.a.sequence.item, to.hidden)
        return 0
    if parallel_for(step_parts, own, to.parts, 1):
        return -1
    if to.a.unit == GATED_UNIT and parallel_for(end_parts, own, to.parts, 1):
        return -1
    own.states, own.after = own.after, own.states
    return 0


cdef int make_block(Group* own) noexcept nogil:
    cdef const Layer* to = own.to
    cdef int64_t i, row, work = own.count * own.rows * to.part * to.inputs
    for i in range(own.count):
        for row in range(own.rows):
            load_row(to.a.input, 0, own.begin + i, own.first + row, 0,
                     own.inputs + (i * own.rows + row) * to.inputs, to.inputs)
    if parallel_for(multiply_inputs, own, to.parts * to.gates, max(WORK // max(work, 1), 1)):
        return -1
    for i in range(own.count):
        own.step = own.begin + (own.count - 1 - i if own.backward else i)
        if is_stopped(to.watch) or make_step(own):
            to.watch.stopped = True
            return -1
    return 0


# The rows of a tensor of states, or zeros.
cdef void load_states(const Group* own, const Tensor* tensor, int64_t first, int64_t n, float* to) noexcept nogil:
    cdef int64_t row
    for row in range(own.rows):
        if tensor == NULL:
            memset(to + row * n, 0, n * sizeof(float))
        else:
            load_row(tensor, 0, own.direction, own.first + row, first, to + row * n, n)


cdef void store_states(const Group* own, const Tensor* tensor, int64_t first, int64_t n,
                       const float* numbers) noexcept nogil:
    cdef int64_t row
    if tensor == NULL:
        return
    for row in range(own.rows):
        if length_of(own.to, own.first + row) > 0:
            store_row(tensor, 0, own.direction, own.first + row, first, numbers + row * n, n)
        else:
            store_zeros(row_at(tensor, 0, own.direction, own.first + row, first), tensor.strides[3], tensor.item, n)


# All steps of a group.
cdef int make_group(Group* own) noexcept nogil:
    cdef const Layer* to = own.to
    cdef int64_t block, blocks = ceil_div(to.steps, to.block), part, first
    load_states(own, to.a.hidden, 0, to.hidden, own.states)
    if to.a.unit == MEMORY_UNIT:
        for part in range(to.parts):
            first = part * to.part
            load_states(own, to.a.cell, first, width_of(to, part), own.cells + first * own.rows)
    for block in range(blocks):
        own.begin = (blocks - 1 - block if own.backward else block) * to.block
        own.count = min(to.block, to.steps - own.begin)
        if make_block(own):
            return -1
    store_states(own, to.a.last, 0, to.hidden, own.states)
    if to.a.unit == MEMORY_UNIT:
        for part in range(to.parts):
            first = part * to.part
            store_states(own, to.a.last_cell, first, width_of(to, part), own.cells + first * own.rows)
    return 0


cdef int make_groups(const void* args, int64_t begin, int64_t end) noexcept nogil:
    cdef const Layer* to = <const Layer*>args
    cdef Group own
    cdef int64_t n[7]
    cdef int64_t rows = min(to.group, to.batch), total = LINE, i
    cdef float* places[7]
    cdef float* memory
    cdef float* place
    cdef int status = 0
    n[0] = to.block * rows * to.inputs
    n[1] = to.block * rows * to.hidden * to.gates
    for i in range(2, 7):
        n[i] = rows * to.hidden
    for i in range(7):
        n[i] = ceil_div(n[i], LINE) * LINE
        total += n[i]
    memory = <float*>malloc(total * sizeof(float))
    if memory == NULL:
        return -1
    place = memory + (LINE - (<uintptr_t>memory // sizeof(float)) % LINE) % LINE
    for i in range(7):
        places[i] = place
        place += n[i]
    own.to = to
    own.inputs = places[0]
    own.gates = places[1]
    own.cells = places[4]
    own.found = places[5]
    own.beside = places[6]
    for i in range(begin, end):
        own.states = places[2]
        own.after = places[3]
        own.direction = i // to.groups
        own.backward = own.direction == 1 or to.a.backward
        own.first = i % to.groups * to.group
        own.rows = min(to.group, to.batch - own.first)
        status = make_group(&own)
        if status:
            break
    free(memory)
    return status
