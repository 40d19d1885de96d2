# Units of lines: all sweeps over them, and their results.

# Gives a thread its memory, which begins at `memory`.
cdef inline void lay_out(const Plan* to, char* memory, Room* room) noexcept nogil:
    cdef int t
    memory += -<int64_t>memory & (LINE - 1)
    room.states = <double*>memory
    memory += to.height * to.kernel.states * <int64_t>sizeof(double)
    memory += -<int64_t>memory & (LINE - 1)
    room.columns = <int64_t*>memory
    room.column_step = 1
    memory += (to.chunk + LINE) * <int64_t>sizeof(int64_t)
    for t in range(to.tensors):
        room.rows[t] = <float*>memory
        room.repeated[t] = NULL
        if to.place[t] == ONE:
            memory += to.height * <int64_t>sizeof(float)
        elif to.sides or to.place[t] != NEAR:
            memory += to.items * <int64_t>sizeof(float)
    room.elements = memory


# Where the first line of a unit begins in each tensor; returns how many lines the unit has.
cdef inline int64_t find_unit(const Plan* to, int64_t unit, char** data) noexcept nogil:
    cdef const LineAxis* inner = &to.lines.keep[to.lines.kept - 1]
    cdef int64_t first = unit % to.tiles * to.height
    cdef Walk walk
    cdef int t
    begin_walk(&walk, &to.lines, to.lines.keep, to.lines.kept - 1, unit // to.tiles)
    for t in range(to.tensors):
        data[t] = to.a.tensors[t].data + walk.offset[t] + first * inner.step[t]
    return min(inner.size - first, to.height)


# The rows of the inputs that are in a mask.
cdef inline void take_all(
        const Plan* to, Room* room, uint32_t mask, char** data, int64_t first, NormRows* rows) noexcept nogil:
    cdef int t
    for t in range(to.last):
        if mask >> t & 1:
            take_rows(to, room, t, data[t], rows.lines, first, rows.n, rows)


# The results of a chunk of lines, for each element.
cdef inline int give_results(
        const Plan* to, Room* room, char** data, int64_t first, NormRows* rows) noexcept nogil:
    cdef int t
    if activate_rows(to, rows, rows.lines, rows.n) != 0:
        return -1
    for t in range(to.last, to.tensors):
        if to.place[t] != ONE:
            give_rows(to, room, t, data[t], rows.lines, first, rows.n)
    if to.after == NULL:
        return 0
    t = to.last
    return to.after.follow(
        to.after.context, data[t] + first * to.a.tensors[t].item, rows.lines, to.lines.keep[to.lines.kept - 1].step[t],
        rows.n * to.a.tensors[t].item)


cdef inline void give_ends(const Plan* to, Room* room, char** data, NormRows* rows) noexcept nogil:
    cdef int t
    for t in range(to.last, to.tensors):
        if to.place[t] == ONE:
            give_rows(to, room, t, data[t], rows.lines, 0, 1)


# Everything of lines that are one chunk.
cdef inline int do_short(const Plan* to, Room* room, char** data, NormRows* rows) noexcept nogil:
    cdef int t
    take_all(to, room, ~<uint32_t>0, data, 0, rows)
    for t in range(to.last, to.tensors):
        place_rows(to, room, t, data[t], 0, rows.n, rows)
    rows.saved = True
    to.loop(rows, DMLCY_NORM_ALL, 0)
    give_ends(to, room, data, rows)
    return give_results(to, room, data, 0, rows)


# One step for a chunk of lines.
cdef int do_chunk(
        const Plan* to, Room* room, char** data, int64_t chunk, int step, int sweep, NormRows* rows) noexcept nogil:
    cdef int64_t first = chunk * to.chunk
    cdef int t
    rows.n = min(to.lines.count - first, to.chunk)
    rows.first = first
    rows.fresh = chunk == 0 or to.states != NULL
    rows.saved = to.kernel.saves and to.place[to.last] == NEAR
    take_all(to, room, to.kernel.reads[sweep], data, first, rows)
    for t in range(to.last, to.tensors):
        place_rows(to, room, t, data[t], first, rows.n, rows)
    to.loop(rows, step, sweep)
    return give_results(to, room, data, first, rows) if step == DMLCY_NORM_RESULTS else 0


# The results of lines that are one for each line.
cdef inline void do_ends(const Plan* to, Room* room, char** data, NormRows* rows) noexcept nogil:
    cdef int t
    take_all(to, room, to.kernel.single, data, 0, rows)
    for t in range(to.last, to.tensors):
        place_rows(to, room, t, data[t], 0, 1, rows)
    to.loop(rows, DMLCY_NORM_ENDS, 0)
    give_ends(to, room, data, rows)


# Everything of longer lines: each sweep over all chunks.
cdef inline int do_long(const Plan* to, Room* room, char** data, NormRows* rows) noexcept nogil:
    cdef int64_t chunk
    cdef int sweep
    rows.states = room.states
    for sweep in range(to.kernel.sweeps):
        for chunk in range(to.chunks):
            do_chunk(to, room, data, chunk, DMLCY_NORM_SWEEP, sweep, rows)
        to.loop(rows, DMLCY_NORM_FINISH, sweep)
    for chunk in range(to.chunks):
        if do_chunk(to, room, data, chunk, DMLCY_NORM_RESULTS, to.kernel.sweeps, rows) != 0:
            return -1
    do_ends(to, room, data, rows)
    return 0


cdef inline void begin_rows(const Plan* to, NormRows* rows) noexcept nogil:
    rows.first = 0
    rows.n = to.lines.count
    rows.count = <double>to.lines.count
    rows.states = NULL
    rows.others = NULL
    rows.fresh = True
    rows.attributes = to.a.attributes
