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
    memory += to.chunk * <int64_t>sizeof(int64_t)
    for t in range(to.tensors):
        room.rows[t] = <float*>memory
        room.repeated[t] = NULL
        if to.place[t] == ONE:
            memory += to.height * <int64_t>sizeof(float)
        elif to.place[t] != NEAR:
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
    return 0


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


cdef int run_units(const void* args, int64_t begin, int64_t end) noexcept nogil:
    cdef const Plan* to = <const Plan*>args
    cdef char[SMALL] small
    cdef char* memory = small
    cdef char* data[TENSORS]
    cdef Room room
    cdef NormRows rows
    cdef int64_t unit
    cdef int status = 0
    if to.bytes > SMALL:
        memory = <char*>malloc(to.bytes)
        if memory == NULL:
            return -1
    lay_out(to, memory, &room)
    begin_rows(to, &rows)
    for unit in range(begin, end):
        rows.lines = find_unit(to, unit, data)
        status = do_short(to, &room, data, &rows) if to.chunks == 1 else do_long(to, &room, data, &rows)
        if status != 0:
            break
    if memory != small:
        free(memory)
    return status


# ---- threads share the chunks of long lines ----

# One step for some chunks of units: the number of a chunk counts those of the units before.
cdef int work_on_chunks(const void* args, int64_t begin, int64_t end) noexcept nogil:
    cdef const Plan* to = <const Plan*>args
    cdef int64_t states = to.height * to.kernel.states
    cdef char* data[TENSORS]
    cdef Room room
    cdef NormRows rows
    cdef int64_t number
    cdef int status = 0
    cdef char* memory = <char*>malloc(to.bytes)
    if memory == NULL:
        return -1
    lay_out(to, memory, &room)
    begin_rows(to, &rows)
    for number in range(begin, end):
        rows.lines = find_unit(to, number // to.chunks, data)
        # The joined states of a unit are those of its first chunk.
        rows.states = to.states + number * states
        if to.step == DMLCY_NORM_RESULTS:
            rows.states = to.states + number // to.chunks * to.chunks * states
        elif to.sweep > 0:
            memcpy(rows.states, to.states + (to.units * to.chunks + number // to.chunks) * states,
                   states * sizeof(double))
        status = do_chunk(to, &room, data, number % to.chunks, to.step, to.sweep, &rows)
        if status != 0:
            break
    free(memory)
    return status


# Joins the states of the chunks of each unit, and keeps the result behind those of all chunks, too.
cdef void join_chunks(Plan* to) noexcept nogil:
    cdef int64_t states = to.height * to.kernel.states
    cdef char* data[TENSORS]
    cdef NormRows rows
    cdef int64_t unit, chunk
    begin_rows(to, &rows)
    for unit in range(to.units):
        rows.lines = find_unit(to, unit, data)
        rows.states = to.states + unit * to.chunks * states
        for chunk in range(1, to.chunks):
            rows.others = rows.states + chunk * states
            to.loop(&rows, DMLCY_NORM_JOIN, to.sweep)
        to.loop(&rows, DMLCY_NORM_FINISH, to.sweep)
        memcpy(to.states + (to.units * to.chunks + unit) * states, rows.states, states * sizeof(double))


cdef int run_chunks(Plan* to, int64_t element) noexcept nogil:
    cdef int64_t total = to.units * to.chunks
    cdef int64_t grain = grain_of(element * to.height * to.chunk)
    cdef int64_t states = to.height * to.kernel.states
    cdef char* data[TENSORS]
    cdef Room room
    cdef NormRows rows
    cdef int64_t unit
    cdef int status = 0
    cdef char* memory = <char*>malloc(to.bytes)
    to.states = <double*>malloc((total + to.units) * states * sizeof(double))
    if memory == NULL or to.states == NULL:
        free(memory)
        free(to.states)
        return -1
    to.step = DMLCY_NORM_SWEEP
    for to.sweep in range(to.kernel.sweeps):
        if status == 0:
            status = parallel_for(work_on_chunks, to, total, grain)
            if status == 0:
                join_chunks(to)
    if status == 0:
        to.step = DMLCY_NORM_RESULTS
        to.sweep = to.kernel.sweeps
        status = parallel_for(work_on_chunks, to, total, grain)
    if status == 0:
        lay_out(to, memory, &room)
        begin_rows(to, &rows)
        for unit in range(to.units):
            rows.lines = find_unit(to, unit, data)
            rows.states = to.states + unit * to.chunks * states
            do_ends(to, &room, data, &rows)
    free(memory)
    free(to.states)
    return status
