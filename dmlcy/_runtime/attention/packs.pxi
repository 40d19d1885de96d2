# Keys and values: they are packed for products, and become the outputs of all keys and values.

# Some keys or values of an item and a head as floats, with what is added to those of this run.
cdef void take_rows(const Heads* to, int role, int64_t item, int64_t head, int64_t earlier, int64_t first, int64_t n,
                    float* target) noexcept nogil:
    cdef int64_t size = to.size[role], i
    cdef const Rows* rows
    cdef const char* source
    for i in range(first, first + n):
        rows = rows_of(to, role, i < earlier)
        source = at(rows, item, head, i if i < earlier else i - earlier)
        widen(source, rows.element, to.bytes, target, size)
        if i >= earlier and to.biases != NULL:
            to.level.prepare(target, to.bias[role] + head * size, 1, size)
        target += size


# Packs the values of a block. Infinite values and NaN become 0, and their keys are marked.
cdef void pack_values(const Heads* to, float* rows, int64_t n, float* packed, uint8_t* special) noexcept nogil:
    cdef int64_t size = to.size[VALUE], i, j
    cdef float* row
    special[0] = not to.level.are_finite(rows, n * size)
    if special[0]:
        for i in range(n):
            row = rows + i * size
            special[1 + i] = not to.level.are_finite(row, size)
            for j in range(size):
                if not isfinite(row[j]):
                    row[j] = 0
    pack_matrix(<const char*>rows, sizeof(float), size * sizeof(float), sizeof(float), size, n, packed)


# Packs some blocks of keys and values: first those of one unit.
cdef int pack_blocks(const void* args, int64_t begin, int64_t end) noexcept nogil:
    cdef const Heads* to = <const Heads*>args
    cdef float* room = NULL
    cdef float* packed
    cdef uint8_t* special
    cdef const Rows* rows
    cdef const char* source
    cdef int64_t number, item, head, earlier, keys, first, n
    cdef int role
    cdef bint near
    for number in range(begin, end):
        item = (to.unit + number // to.blocks) // to.a.key_heads
        head = (to.unit + number // to.blocks) % to.a.key_heads
        earlier = earlier_of(to, item)
        keys = earlier + to.a.key_sequence
        first = number % to.blocks * to.wide
        n = min(keys - first, to.wide)
        if n <= 0:
            continue
        packed = to.packed + number * (to.floats[KEY] + to.floats[VALUE])
        special = to.special + number * (to.wide + 1)
        for role in range(ROLES):
            near = to.biases == NULL and (first >= earlier or first + n <= earlier)
            if near:
                rows = rows_of(to, role, first < earlier)
                source = at(rows, item, head, first if first < earlier else first - earlier)
                if role == KEY:
                    pack_matrix(source, rows.row, rows.element, to.bytes, n, to.size[KEY], packed)
                    continue
                pack_matrix(source, rows.element, rows.row, to.bytes, to.size[VALUE], n, packed + to.floats[KEY])
                special[0] = False
                if to.level.are_finite(packed + to.floats[KEY], packed_floats(to.size[VALUE], n)):
                    continue
            if room == NULL:
                room = <float*>malloc(to.wide * max(to.size[KEY], to.size[VALUE]) * sizeof(float))
                if room == NULL:
                    return -1
            take_rows(to, role, item, head, earlier, first, n, room)
            if role == KEY:
                pack_matrix(<const char*>room, to.size[KEY] * sizeof(float), sizeof(float), sizeof(float), n,
                            to.size[KEY], packed)
            else:
                pack_values(to, room, n, packed + to.floats[KEY], special)
    free(room)
    return 0


# Copies elements without a look at them.
cdef inline void copy_row(const char* source, int64_t step, char* to, int64_t pitch, int64_t bytes,
                          int64_t n) noexcept nogil:
    cdef int64_t i
    if step == bytes and pitch == bytes:
        memcpy(to, source, n * bytes)
    elif bytes == 2:
        for i in range(n):
            (<uint16_t*>(to + i * pitch))[0] = (<const uint16_t*>(source + i * step))[0]
    else:
        for i in range(n):
            (<float*>(to + i * pitch))[0] = (<const float*>(source + i * step))[0]


# The keys or values of all runs, then zeros: some blocks of them, of a role after those of the other.
cdef int give_present(const void* args, int64_t begin, int64_t end) noexcept nogil:
    cdef const Heads* to = <const Heads*>args
    cdef int64_t blocks = ceil_div(to.room, to.wide), units = to.a.batch * to.a.key_heads
    cdef int64_t number, item, head, earlier, key, i
    cdef const Rows* rows
    cdef const Rows* target
    cdef char* place
    cdef float zero = 0
    cdef int role
    cdef float* room = <float*>malloc(max(to.size[KEY], to.size[VALUE]) * sizeof(float))
    if room == NULL:
        return -1
    for number in range(begin, end):
        role = number // (blocks * units)
        target = &to.present[role]
        if target.data == NULL:
            continue
        item = number // blocks % units // to.a.key_heads
        head = number // blocks % units % to.a.key_heads
        earlier = earlier_of(to, item)
        for key in range(number % blocks * to.wide, min((number % blocks + 1) * to.wide, to.room)):
            place = <char*>at(target, item, head, key)
            if key >= earlier + to.a.key_sequence:
                copy_row(<const char*>&zero, 0, place, target.element, to.bytes, to.size[role])
                continue
            if key >= earlier and to.biases != NULL:
                take_rows(to, role, item, head, earlier, key, 1, room)
                narrow(room, place, target.element, to.bytes, to.size[role])
                continue
            rows = rows_of(to, role, key < earlier)
            copy_row(at(rows, item, head, key if key < earlier else key - earlier), rows.element, place,
                     target.element, to.bytes, to.size[role])
    free(room)
    return 0
