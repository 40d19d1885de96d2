# One step of a part of the units of a group.

# The units of a part.
cdef inline int64_t width_of(const Layer* to, int64_t part) noexcept nogil:
    return min(to.part, to.hidden - part * to.part)


# Where the packed matrix of a direction, a part and a gate begins, in floats.
cdef inline int64_t packed_at(const Layer* to, int64_t direction, int64_t part, int gate,
                              int64_t depth) noexcept nogil:
    cdef int64_t each = packed_floats(to.part, depth), last = packed_floats(width_of(to, to.parts - 1), depth)
    return (direction * (each * (to.parts - 1) + last) + part * each) * to.gates + (
        gate * (last if part == to.parts - 1 else each))


# The numbers of a gate of a part: rows of all steps of the block.
cdef inline float* gate_of(const Group* own, int64_t part, int gate) noexcept nogil:
    cdef int64_t rows = own.to.block * own.rows
    return own.gates + (part * own.to.part * own.to.gates + gate * width_of(own.to, part)) * rows


# The same of a step.
cdef inline float* gate_at(const Group* own, int64_t part, int gate) noexcept nogil:
    return gate_of(own, part, gate) + (own.step - own.begin) * own.rows * width_of(own.to, part)


# Adds the products of rows of states with the matrix of a gate.
cdef inline void add_states(const Group* own, const float* states, int64_t part, int gate, float* to,
                            bint adds) noexcept nogil:
    cdef const Layer* layer = own.to
    cdef int64_t n = width_of(layer, part)
    multiply_packed(
        states, layer.hidden, own.rows, layer.recurrences + packed_at(layer, own.direction, part, gate, layer.hidden),
        n, layer.hidden, to, n, adds)


# Each step begins with the matrix with which the one before it ended, and which is still near.
cdef inline int gate_in_turn(const Group* own, int i, int count) noexcept nogil:
    return count - 1 - i if own.step % 2 else i


cdef inline const Activation* function_of(const Group* own, int number) noexcept nogil:
    return own.to.a.activations + own.direction * own.to.functions + number


# The states after the step, which are found row by row, and their outputs.
cdef void finish_rows(const Group* own, int64_t first, int64_t n, const float* found) noexcept nogil:
    cdef const Layer* to = own.to
    cdef const Tensor* sequence = to.a.sequence
    cdef int64_t row
    cdef float* after
    for row in range(own.rows):
        after = own.after + row * to.hidden + first
        if own.step < length_of(to, own.first + row):
            memcpy(after, found + row * n, n * sizeof(float))
            if sequence != NULL:
                store_row(sequence, own.step, own.direction, own.first + row, first, after, n)
        else:
            memcpy(after, own.states + row * to.hidden + first, n * sizeof(float))
            if sequence != NULL:
                store_zeros(row_at(sequence, own.step, own.direction, own.first + row, first), sequence.strides[3],
                            sequence.item, n)


cdef int step_simple(const Group* own, int64_t part) noexcept nogil:
    cdef int64_t first = part * own.to.part, n = width_of(own.to, part)
    cdef float* sums = gate_at(own, part, 0)
    add_states(own, own.states, part, 0, sums, True)
    mend(own, 0, first, n, sums, own.states, NULL, NULL, NULL)
    if activate(function_of(own, 0), sums, own.rows * n):
        return -1
    finish_rows(own, first, n, sums)
    return 0


# The products of the state with the matrix of the gate h, which the gate r is multiplied by.
cdef void multiply_behind(const Group* own, int64_t part, int64_t n) noexcept nogil:
    cdef const Layer* to = own.to
    cdef int64_t first = part * to.part, row
    cdef float* products = own.beside + first * own.rows
    if to.a.bias != NULL:
        for row in range(own.rows):
            memcpy(products + row * n, to.behind + own.direction * to.hidden + first, n * sizeof(float))
    add_states(own, own.states, part, 2, products, to.a.bias != NULL)


# The gates z and r, and what r is multiplied by: the state, or the product of the state.
cdef int begin_gated(const Group* own, int64_t part) noexcept nogil:
    cdef const Layer* to = own.to
    cdef int64_t first = part * to.part, n = width_of(to, part), row
    cdef float* sums
    cdef int gate, i, count = 3 if to.a.reset_after else 2
    for i in range(count):
        gate = gate_in_turn(own, i, count)
        if gate == 2:
            multiply_behind(own, part, n)
        else:
            add_states(own, own.states, part, gate, gate_at(own, part, gate), True)
    for gate in range(2):
        sums = gate_at(own, part, gate)
        mend(own, gate, first, n, sums, own.states, NULL, NULL, NULL)
        if activate(function_of(own, 0), sums, own.rows * n):
            return -1
    if not to.a.reset_after:
        sums = gate_at(own, part, 1)
        for row in range(own.rows):
            to.loops.multiply(sums + row * n, own.states + row * to.hidden + first,
                              own.beside + row * to.hidden + first, n)
    return 0


# The gate h, and the state.
cdef int end_gated(const Group* own, int64_t part) noexcept nogil:
    cdef const Layer* to = own.to
    cdef int64_t first = part * to.part, n = width_of(to, part), row
    cdef float* sums = gate_at(own, part, 2)
    cdef const float* update = gate_at(own, part, 0)
    cdef const float* reset = gate_at(own, part, 1)
    cdef float* found = own.found + first * own.rows
    if to.a.reset_after:
        to.loops.add_products(sums, reset, own.beside + first * own.rows, own.rows * n)
        mend(own, 2, first, n, sums, own.states, reset, NULL, NULL)
    else:
        add_states(own, own.beside, part, 2, sums, True)
        mend(own, 2, first, n, sums, own.beside, NULL, NULL, NULL)
    if activate(function_of(own, 1), sums, own.rows * n):
        return -1
    for row in range(own.rows):
        to.loops.coupled(update + row * n, own.states + row * to.hidden + first, sums + row * n, found + row * n, n)
    finish_rows(own, first, n, found)
    return 0


# A gate of a unit with memory, whose sums are there. `number`: of its peepholes, which see some cells; -1: none.
cdef int finish_gate(const Group* own, int64_t part, int gate, int number, const float* seen) noexcept nogil:
    cdef const Layer* to = own.to
    cdef int64_t first = part * to.part, n = width_of(to, part), row
    cdef float* sums = gate_at(own, part, gate)
    cdef const float* peepholes = NULL
    if number < 0 or to.a.peephole == NULL:
        seen = NULL
    else:
        peepholes = to.peepholes + (own.direction * 3 + number) * to.hidden + first
        for row in range(own.rows):
            to.loops.add_products(sums + row * n, peepholes, seen + row * n, n)
    mend(own, gate, first, n, sums, own.states, NULL, peepholes, seen)
    if to.a.limited:
        to.loops.limit(sums, to.a.limit, own.rows * n)
    return activate(function_of(own, 1 if gate == 3 else 0), sums, own.rows * n)


cdef int step_memory(const Group* own, int64_t part) noexcept nogil:
    cdef const Layer* to = own.to
    cdef int64_t first = part * to.part, n = width_of(to, part), row
    cdef const float* enters = gate_at(own, part, 0)
    cdef const float* leaves = gate_at(own, part, 1)
    cdef const float* new = gate_at(own, part, 3)
    cdef float* cells = own.cells + first * own.rows
    cdef float* found = own.found + first * own.rows
    cdef int i, gate
    for i in range(4):
        gate = gate_in_turn(own, i, 4)
        if gate != 2 or not to.a.coupled:
            add_states(own, own.states, part, gate, gate_at(own, part, gate), True)
    if finish_gate(own, part, 0, 0, cells) or finish_gate(own, part, 3, -1, NULL):
        return -1
    if to.a.coupled:
        to.loops.coupled(enters, new, cells, found, own.rows * n)
    elif finish_gate(own, part, 2, 2, cells):
        return -1
    else:
        to.loops.cells(enters, gate_at(own, part, 2), new, cells, found, own.rows * n)
    if finish_gate(own, part, 1, 1, found):
        return -1
    for row in range(own.rows):
        if own.step < length_of(to, own.first + row):
            memcpy(cells + row * n, found + row * n, n * sizeof(float))
    if activate(function_of(own, 2), found, own.rows * n):
        return -1
    to.loops.multiply(leaves, found, found, own.rows * n)
    finish_rows(own, first, n, found)
    return 0
