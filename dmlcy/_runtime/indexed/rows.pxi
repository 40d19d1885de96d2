# How elements move. The indices of some places of the last axis but one become offsets. At each of these is a row of
# elements, along the last axis.

# The state of the walk over the outer axes: whose offsets are at hand, and the output that is streamed.
cdef struct Progress:
    const char* indices
    int64_t first
    int64_t offsets[TOGETHER]
    dmlcy_stream stream


cdef int move_part(const void* args, int64_t first, int64_t end) noexcept nogil:
    cdef Indexed part = (<const Indexed*>args)[0]
    cdef int d = part.shared
    part.sizes[d] = end - first
    part.places += first * part.own[d]
    part.others += first * part.steps[d]
    part.indices += first * part.index_steps[d]
    return move_all(&part)


cdef int move_all(const Indexed* a) noexcept nogil:
    cdef Progress progress
    cdef int64_t at[MOST_AXES]
    cdef int64_t place = 0, other = 0, index = 0, first
    cdef int middle = a.rank - 2, d
    progress.indices = NULL
    if a.streams:
        dmlcy_stream_begin(&progress.stream, a.others)
    memset(at, 0, sizeof(at))
    while True:
        first = 0
        while first < a.sizes[middle]:
            move_rows(a, &progress, a.places + place, a.others + other, a.indices + index, first)
            first += TOGETHER
        d = middle - 1
        while d >= 0:
            at[d] += 1
            place += a.own[d]
            other += a.steps[d]
            index += a.index_steps[d]
            if at[d] < a.sizes[d]:
                break
            place -= at[d] * a.own[d]
            other -= at[d] * a.steps[d]
            index -= at[d] * a.index_steps[d]
            at[d] = 0
            d -= 1
        if d < 0:
            break
    if a.streams:
        dmlcy_stream_end(&progress.stream)
    return 0


cdef void find_offsets(const Indexed* a, int64_t* offsets, const char* indices, int64_t first,
                       int64_t n) noexcept nogil:
    cdef int middle = a.rank - 2, k
    cdef int64_t step = a.index_steps[middle], i
    indices += first * step
    for i in range(n):
        offsets[i] = (first + i) * a.own[middle]
    if a.flat:
        dmlcy_flat_offsets(offsets, n, indices, step, a.index_item, a.coordinates, a.counted, a.place_steps)
        return
    for k in range(a.coordinates):
        dmlcy_offsets_rows[a.index_type](
            offsets, n, indices + k * a.coordinate_step, step, a.counted[k], a.place_steps[k])


cdef void move_rows(const Indexed* a, Progress* progress, char* places, char* others, const char* indices,
                    int64_t first) noexcept nogil:
    cdef int middle = a.rank - 2, last = a.rank - 1
    cdef int64_t n = min(a.sizes[middle] - first, <int64_t>TOGETHER), step = a.steps[middle]
    cdef int64_t row = a.sizes[last] * a.item, i
    cdef int64_t* offsets = progress.offsets
    if a.way == EACH:
        move_elements(a, progress, places + first * a.own[middle], others + first * step,
                      indices + first * a.index_steps[middle], n)
        return
    if a.way == LINES:
        reverse_lines(a, progress, places + first * a.own[middle], others + first * step,
                      indices + first * a.index_steps[middle], n)
        return
    if progress.indices != indices or progress.first != first:
        find_offsets(a, offsets, indices, first, n)
        progress.indices = indices
        progress.first = first
    others += first * step
    if a.streams:
        stream_rows(a, progress, places, others, n)
    elif a.way == ELEMENTS:
        if a.gives:
            dmlcy_give_rows[a.item](places, offsets, others, step, n)
        else:
            dmlcy_take_rows[a.item](places, offsets, others, step, n)
    elif a.way == RUNS and row >= DMLCY_WHOLE:
        if a.gives:
            dmlcy_give_whole_rows[dmlcy_wide()](places, offsets, others, step, row, n)
        else:
            dmlcy_take_whole_rows[dmlcy_wide()](
                places, offsets, others, step, row, n,
                row <= DMLCY_ASKED and a.counted[0] * max(a.place_steps[0], -a.place_steps[0]) > NEAR_BYTES)
    elif a.way == RUNS:
        if a.gives:
            for i in range(n):
                dmlcy_copy(places + offsets[i], others + i * step, row)
        else:
            for i in range(n):
                if i + DMLCY_AHEAD < n:
                    dmlcy_ask(places + offsets[i + DMLCY_AHEAD], row)
                dmlcy_copy(others + i * step, places + offsets[i], row)
    elif a.gives:
        for i in range(n):
            moves_of(a.item).copy_strided(
                others + i * step, 0, a.steps[last], places + offsets[i], 0, a.own[last], 1, a.sizes[last])
    else:
        for i in range(n):
            moves_of(a.item).copy_strided(
                places + offsets[i], 0, a.own[last], others + i * step, 0, a.steps[last], 1, a.sizes[last])


cdef void move_elements(const Indexed* a, Progress* progress, char* places, char* others, const char* indices,
                        int64_t n) noexcept nogil:
    """Elements with one index each."""
    cdef int middle = a.rank - 2
    cdef int64_t own = a.own[middle], index_step = a.index_steps[middle], step = a.steps[middle]
    cdef int64_t size = a.counted[0], place_step = a.place_steps[0], most = DMLCY_ROOM // a.item, i = 0, count
    cdef TakeEach take = dmlcy_take_elements[a.index_type][a.item]
    if a.gives:
        dmlcy_give_elements[a.index_type][a.item](places, own, indices, index_step, size, place_step, others, step, n)
    elif not a.streams:
        take(places, own, indices, index_step, size, place_step, others, step, n)
    else:
        dmlcy_stream_seek(&progress.stream, others)
        while i < n:
            count = min(n - i, most)
            take(places + i * own, own, indices + i * index_step, index_step, size, place_step,
                 dmlcy_stream_room(&progress.stream), a.item, count)
            dmlcy_stream_advance(&progress.stream, count * a.item)
            i += count


cdef void stream_rows(const Indexed* a, Progress* progress, const char* places, char* others, int64_t n) noexcept nogil:
    cdef int middle = a.rank - 2, last = a.rank - 1
    cdef int64_t step = a.steps[middle], row = a.sizes[last], most = DMLCY_ROOM // a.item, i, k, count
    cdef dmlcy_stream* stream = &progress.stream
    cdef const int64_t* offsets = progress.offsets
    if a.way == ELEMENTS:
        dmlcy_stream_seek(stream, others)
        i = 0
        while i < n:
            count = min(n - i, most)
            dmlcy_take_rows[a.item](places, offsets + i, dmlcy_stream_room(stream), a.item, count)
            dmlcy_stream_advance(stream, count * a.item)
            i += count
        return
    for i in range(n):
        if row * a.item <= DMLCY_ASKED and i + DMLCY_AHEAD < n:
            dmlcy_ask(places + offsets[i + DMLCY_AHEAD], row * a.item)
        dmlcy_stream_seek(stream, others + i * step)
        if a.way == RUNS:
            dmlcy_stream_put(stream, places + offsets[i], row * a.item)
            continue
        k = 0
        while k < row:
            count = min(row - k, most)
            moves_of(a.item).gather(
                places + offsets[i] + k * a.own[last], 0, a.own[last], dmlcy_stream_room(stream), 0, 1, count)
            dmlcy_stream_advance(stream, count * a.item)
            k += count
