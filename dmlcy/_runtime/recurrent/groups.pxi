# Groups of sequences: a direction of some of them, step by step; those of a team at the same time.

# Rows of the input of some groups, for all steps of their blocks.
cdef int load_inputs(const void* args, int64_t begin, int64_t end) noexcept nogil:
    cdef const Team* team = <const Team*>args
    cdef const Layer* to = team.to
    cdef const Group* own
    cdef int64_t number, i, row
    for number in range(begin, end):
        own = team.groups + number
        for i in range(own.count):
            for row in range(own.rows):
                load_row(to.a.input, 0, own.begin + i, own.first + row, 0,
                         own.inputs + (i * own.rows + row) * to.inputs, to.inputs)
    return 0


# Sums of the gates of some parts, for all steps of a block: what they begin with, and the products with the input.
cdef int multiply_inputs(const void* args, int64_t begin, int64_t end) noexcept nogil:
    cdef const Team* team = <const Team*>args
    cdef const Layer* to = team.to
    cdef const Group* own
    cdef int64_t i, part, n, row, rows
    cdef const float* begins
    cdef float* sums
    cdef int gate
    for i in range(begin, end):
        own = team.groups + i // (to.parts * to.gates)
        part = i // to.gates % to.parts
        gate = <int>(i % to.gates)
        rows = own.count * own.rows
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
    cdef const Team* team = <const Team*>args
    cdef const Group* own
    cdef int64_t i, part
    cdef int status = 0
    for i in range(begin, end):
        own = team.groups + i // team.to.parts
        part = i % team.to.parts
        if not own.active:
            continue
        if team.to.a.unit == MEMORY_UNIT:
            status = step_memory(own, part)
        elif team.to.a.unit == GATED_UNIT:
            status = begin_gated(own, part)
        else:
            status = step_simple(own, part)
        if status:
            return -1
    return 0


cdef int end_parts(const void* args, int64_t begin, int64_t end) noexcept nogil:
    cdef const Team* team = <const Team*>args
    cdef const Group* own
    cdef int64_t i
    for i in range(begin, end):
        own = team.groups + i // team.to.parts
        if own.active and end_gated(own, i % team.to.parts):
            return -1
    return 0


# Whether a sequence of the group has the step.
cdef bint is_active(const Group* own) noexcept nogil:
    cdef int64_t row
    for row in range(own.rows):
        if own.step < length_of(own.to, own.first + row):
            return True
    return False


# Takes the step that is number `i` of a group's block, and says whether there is something to compute.
cdef bint take_step(Group* own, int64_t i) noexcept nogil:
    cdef const Layer* to = own.to
    cdef int64_t row
    if i >= own.count:
        return False
    own.step = own.begin + (own.count - 1 - i if own.backward else i)
    if is_active(own):
        return True
    if to.a.sequence != NULL:
        for row in range(own.rows):
            store_zeros(row_at(to.a.sequence, own.step, own.direction, own.first + row, 0),
                        to.a.sequence.strides[3], to.a.sequence.item, to.hidden)
    return False


cdef int make_step(const Team* team, int64_t i) noexcept nogil:
    cdef const Layer* to = team.to
    cdef Group* own
    cdef int64_t number
    cdef bint is_any = False
    for number in range(team.count):
        own = team.groups + number
        own.active = take_step(own, i)
        is_any = is_any or own.active
    if not is_any:
        return 0
    if parallel_for(step_parts, team, team.count * to.parts, 1):
        return -1
    if to.a.unit == GATED_UNIT and parallel_for(end_parts, team, team.count * to.parts, 1):
        return -1
    for number in range(team.count):
        own = team.groups + number
        if own.active:
            own.states, own.after = own.after, own.states
    return 0


cdef int make_block(const Team* team) noexcept nogil:
    cdef const Layer* to = team.to
    cdef int64_t i, work = team.groups[0].count * team.groups[0].rows * to.part * to.inputs
    if parallel_for(load_inputs, team, team.count, 1):
        return -1
    if parallel_for(multiply_inputs, team, team.count * to.parts * to.gates, max(WORK // max(work, 1), 1)):
        return -1
    for i in range(min(to.block, to.steps)):
        if is_stopped(to.watch) or make_step(team, i):
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


# Reads the states before the first step of a group.
cdef void begin_group(const Group* own) noexcept nogil:
    cdef const Layer* to = own.to
    cdef int64_t part, first
    load_states(own, to.a.hidden, 0, to.hidden, own.states)
    if to.a.unit == MEMORY_UNIT:
        for part in range(to.parts):
            first = part * to.part
            load_states(own, to.a.cell, first, width_of(to, part), own.cells + first * own.rows)


# Writes the states behind the last step of a group.
cdef void end_group(const Group* own) noexcept nogil:
    cdef const Layer* to = own.to
    cdef int64_t part, first
    store_states(own, to.a.last, 0, to.hidden, own.states)
    if to.a.unit == MEMORY_UNIT:
        for part in range(to.parts):
            first = part * to.part
            store_states(own, to.a.last_cell, first, width_of(to, part), own.cells + first * own.rows)


# All steps of a team.
cdef int make_team(const Team* team) noexcept nogil:
    cdef const Layer* to = team.to
    cdef Group* own
    cdef int64_t number, block, blocks = ceil_div(to.steps, to.block)
    for number in range(team.count):
        begin_group(team.groups + number)
    for block in range(blocks):
        for number in range(team.count):
            own = team.groups + number
            own.begin = (blocks - 1 - block if own.backward else block) * to.block
            own.count = min(to.block, to.steps - own.begin)
        if make_block(team):
            return -1
    for number in range(team.count):
        end_group(team.groups + number)
    return 0


# Gives a group its number and its memory, which begins at `place`.
cdef void begin_memory(Group* own, const Layer* to, int64_t number, float* place, const int64_t* n) noexcept nogil:
    own.to = to
    own.direction = number // to.groups
    own.backward = own.direction == 1 or to.a.backward
    own.first = number % to.groups * to.group
    own.rows = min(to.group, to.batch - own.first)
    own.inputs = place
    own.gates = own.inputs + n[0]
    own.states = own.gates + n[1]
    own.after = own.states + n[2]
    own.cells = own.after + n[2]
    own.found = own.cells + n[2]
    own.beside = own.found + n[2]


# Teams, one after the other in the same memory.
cdef int make_teams(const void* args, int64_t begin, int64_t end) noexcept nogil:
    cdef const Layer* to = <const Layer*>args
    cdef Team team
    cdef int64_t n[3]
    cdef int64_t rows = min(to.group, to.batch), all = to.groups * to.directions, floats, i, number
    cdef void* memory
    cdef float* place
    cdef int status = 0
    n[0] = to.block * rows * to.inputs
    n[1] = to.block * rows * to.hidden * to.gates
    n[2] = rows * to.hidden
    for i in range(3):
        n[i] = ceil_div(n[i], LINE) * LINE
    floats = n[0] + n[1] + 5 * n[2]
    memory = malloc(to.team * (sizeof(Group) + floats * sizeof(float)) + LINE * sizeof(float))
    if memory == NULL:
        return -1
    place = <float*>memory
    place += (LINE - (<uintptr_t>memory // sizeof(float)) % LINE) % LINE
    team.to = to
    team.groups = <Group*>(place + to.team * floats)
    for i in range(begin, end):
        team.count = min(to.team, all - i * to.team)
        for number in range(team.count):
            begin_memory(team.groups + number, to, i * to.team + number, place + number * floats, n)
        status = make_team(&team)
        if status:
            break
    free(memory)
    return status
