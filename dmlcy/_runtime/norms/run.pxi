# Units of lines, by threads.

cdef int run_units(const void* args, int64_t begin, int64_t end) noexcept nogil:
    cdef const Plan* to = <const Plan*>args
    cdef char[SMALL] small
    cdef char* memory = small
    cdef char* data[TENSORS]
    cdef Room room
    cdef NormRows rows
    cdef dmlcy_stream stream
    cdef int64_t unit
    cdef int status = 0
    if to.bytes > SMALL:
        memory = <char*>malloc(to.bytes)
        if memory == NULL:
            return -1
    lay_out(to, memory, &room)
    begin_rows(to, &rows)
    if to.streams:
        dmlcy_stream_begin(&stream, to.a.tensors[to.last].data)
        room.stream = &stream
    for unit in range(begin, end):
        rows.lines = find_unit(to, unit, data)
        if to.sides:
            status = do_sides(to, &room, data, &rows)
        elif to.chunks == 1:
            status = do_short(to, &room, data, &rows)
        else:
            status = do_long(to, &room, data, &rows)
        if status != 0:
            break
    if to.streams:
        dmlcy_stream_end(&stream)
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
