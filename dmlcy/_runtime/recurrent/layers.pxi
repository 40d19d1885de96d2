# Layers: matrices are packed, then groups of sequences are computed.

# Packs the matrices of a part and a gate, of the input and of the state, where there are not packed ones already.
cdef int pack_some(const void* args, int64_t begin, int64_t end) noexcept nogil:
    cdef const Layer* to = <const Layer*>args
    cdef const Tensor* matrix
    cdef int64_t i, direction, part, depth
    cdef float* packed
    cdef int gate
    cdef bint of_state
    for i in range(begin, end):
        of_state = i % 2
        gate = <int>(i // 2 % to.gates)
        part = i // 2 // to.gates % to.parts
        direction = i // 2 // to.gates // to.parts
        matrix = to.a.recurrence if of_state else to.a.weight
        if matrix.prepared != NULL:
            continue
        packed = to.recurrences if of_state else to.weights
        depth = matrix.sizes[3]
        pack_matrix(
            row_at(matrix, 0, direction, gate * to.hidden + part * to.part, 0), matrix.strides[2], matrix.strides[3],
            matrix.item, width_of(to, part), depth, packed + packed_at(to, direction, part, gate, depth))
    return 0


# Reads biases and peepholes.
cdef void load_vectors(const Layer* to) noexcept nogil:
    cdef const Tensor* bias = to.a.bias
    cdef int64_t direction, n = to.gates * to.hidden, own = n, i
    cdef float* begins
    cdef const char* source
    for direction in range(to.directions):
        if to.a.peephole != NULL:
            load_row(to.a.peephole, 0, 0, direction, 0, to.peepholes + direction * 3 * to.hidden, 3 * to.hidden)
        if bias == NULL:
            continue
        begins = to.begins + direction * n
        load_row(bias, 0, 0, direction, 0, begins, n)
        if to.a.unit == GATED_UNIT and to.a.reset_after:
            own = 2 * to.hidden
            load_row(bias, 0, 0, direction, n + own, to.behind + direction * to.hidden, to.hidden)
        source = row_at(bias, 0, 0, direction, n)
        for i in range(own):
            begins[i] += element_of(source + i * bias.strides[3], bias.item)


# Cuts a layer, for any number of threads. The bits of results do not depend on how.
cdef void cut_layer(Layer* to) noexcept nogil:
    cdef int64_t matrix = to.gates * to.hidden * to.hidden
    to.group = to.batch
    if to.batch >= 2 * SOME:
        to.group = SOME
    elif to.batch >= 2 * FEW:
        to.group = FEW
    to.groups = ceil_div(to.batch, to.group)
    to.parts = min(max(to.group * matrix // STEP_WORK, <int64_t>1), ceil_div(to.hidden, PART))
    to.part = ceil_div(ceil_div(to.hidden, to.parts), PART) * PART
    to.parts = ceil_div(to.hidden, to.part)
    to.team = 1
    cut_block(to)


cdef void cut_block(Layer* to) noexcept nogil:
    cdef int64_t rows = max(BLOCK // (to.gates * to.hidden), <int64_t>ROWS)
    to.block = min(to.steps, ceil_div(rows, to.group))


# Makes a team of all groups where threads would wait for the last groups. The packed matrices stay the same.
cdef void cut_for_threads(Layer* to) noexcept nogil:
    cdef int64_t threads = threads_here()
    if threads == 1 or to.parts == 1 or to.groups * to.directions >= MANY * threads:
        return
    if to.group > FEW and to.groups * to.directions * to.parts < MANY * threads:
        to.group = FEW
        to.groups = ceil_div(to.batch, to.group)
        cut_block(to)
    to.team = to.groups * to.directions


# The sizes of a layer, and how it is cut.
cdef void begin_layer(const Recurrent* a, Layer* to) noexcept nogil:
    to.a = a
    to.loops = dmlcy_gate_loops[dmlcy_level()]
    to.functions = 3 if a.unit == MEMORY_UNIT else 2 if a.unit == GATED_UNIT else 1
    to.gates = 4 if a.unit == MEMORY_UNIT else 3 if a.unit == GATED_UNIT else 1
    to.directions = a.weight.sizes[1]
    to.steps = a.input.sizes[1]
    to.batch = a.input.sizes[2]
    to.inputs = a.input.sizes[3]
    to.hidden = a.recurrence.sizes[3]
    cut_layer(to)


cdef int64_t prepare_recurrent(const Recurrent* a, bint of_state, void* packed) noexcept nogil:
    cdef Layer to
    cdef int64_t i
    begin_layer(a, &to)
    if packed != NULL:
        to.weights = to.recurrences = <float*>packed
        for i in range(to.gates * to.parts * to.directions):
            pack_some(&to, 2 * i + of_state, 2 * i + of_state + 1)
    return packed_at(&to, to.directions, 0, 0, to.hidden if of_state else to.inputs) * <int64_t>sizeof(float)


cdef int run_recurrent(const Recurrent* a) noexcept nogil:
    cdef Layer to
    cdef Watch watch
    cdef int64_t n[5]
    cdef int64_t total = LINE, work, i
    cdef float* memory
    cdef float* places[5]
    cdef float* place
    cdef int status
    begin_layer(a, &to)
    cut_for_threads(&to)
    n[0] = 0 if a.weight.prepared != NULL else packed_at(&to, to.directions, 0, 0, to.inputs)
    n[1] = 0 if a.recurrence.prepared != NULL else packed_at(&to, to.directions, 0, 0, to.hidden)
    n[2] = to.directions * to.gates * to.hidden if a.bias != NULL else 0
    n[3] = to.directions * to.hidden if a.bias != NULL else 0
    n[4] = to.directions * 3 * to.hidden if a.peephole != NULL else 0
    for i in range(5):
        n[i] = ceil_div(n[i], LINE) * LINE
        total += n[i]
    memory = <float*>malloc(total * sizeof(float))
    if memory == NULL:
        return -1
    place = memory + (LINE - (<uintptr_t>memory // sizeof(float)) % LINE) % LINE
    for i in range(5):
        places[i] = place
        place += n[i]
    to.weights = places[0] if a.weight.prepared == NULL else <float*>a.weight.prepared
    to.recurrences = places[1] if a.recurrence.prepared == NULL else <float*>a.recurrence.prepared
    to.begins = places[2]
    to.behind = places[3]
    to.peepholes = places[4]
    to.watch = &watch
    start_watch(&watch)
    load_vectors(&to)
    work = to.part * max(to.inputs, to.hidden)
    hold_threads()      # they wait for each other at each step
    status = parallel_for(pack_some, &to, 2 * to.gates * to.parts * to.directions, max(WORK // 16 // work, <int64_t>1))
    work = to.steps * to.group * to.gates * to.hidden * (to.inputs + to.hidden)
    if status == 0:
        status = parallel_for(make_teams, &to, ceil_div(to.groups * to.directions, to.team),
                              max(WORK // work, <int64_t>1))
    let_threads_go()
    free(memory)
    return status
