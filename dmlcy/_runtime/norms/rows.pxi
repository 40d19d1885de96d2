# Rows of floats: taken from tensors, and given back.

# Copies elements first … first+n-1 of lines between a tensor and packed elements, of which each line has `n`.
cdef void move_items(
        const Plan* to, Room* room, int t, char* data, int64_t lines, int64_t first, int64_t n, char* items,
        bint back) noexcept nogil:
    cdef const LineAxis* fold = &to.lines.fold[0]
    cdef int inner = to.lines.folded - 1
    cdef int64_t size = fold[inner].size
    cdef int64_t step = fold[inner].step[t]
    cdef int64_t apart = to.lines.keep[to.lines.kept - 1].step[t]
    cdef int64_t item = to.a.tensors[t].item
    cdef int64_t pitch = n * item
    cdef int64_t[LINE] starts
    cdef Moves moves = moves_of(item)
    cdef int64_t at = first % size
    cdef int64_t done = 0
    cdef int64_t run, i
    cdef char* place
    cdef char* row
    cdef Walk walk
    cdef bint turned = lines > 1 and apart == item and step != item and lines <= LINE
    begin_walk(&walk, &to.lines, fold, inner, first // size)
    while done < n:
        run = min(size - at, n - done)
        place = data + walk.offset[t] + at * step
        row = items + done * item
        if step == item:
            for i in range(lines):
                if back:
                    memcpy(place + i * apart, row + i * pitch, run * item)
                else:
                    memcpy(row + i * pitch, place + i * apart, run * item)
        elif turned and back:
            for i in range(lines):
                starts[i] = i * pitch
            moves.transpose(row, starts, lines, run, place, step)
        elif turned:
            if room.column_step != step:
                room.column_step = step
                for i in range(to.chunk):
                    room.columns[i] = i * step
            moves.transpose(place, room.columns, run, lines, row, pitch)
        elif back:
            moves.copy_strided(row, pitch, item, place, apart, step, lines, run)
        else:
            moves.gather(place, apart, step, row, pitch, lines, run)
        done += run
        at = 0
        next_walk(&walk)


cdef inline float number_at(const Tensor* tensor, const char* place) noexcept nogil:
    cdef uint16_t half
    if tensor.dtype == FLOAT16:
        memcpy(&half, place, sizeof(half))
        return dmlcy_float_of_half(half)
    return (<const float*>place)[0]


# The rows of an input: elements first … first+n-1 of lines, of which the first one begins at `data`.
cdef void take_rows(
        const Plan* to, Room* room, int t, char* data, int64_t lines, int64_t first, int64_t n, NormRows* rows
        ) noexcept nogil:
    cdef const Tensor* tensor = to.a.tensors[t]
    cdef int64_t apart = to.lines.keep[to.lines.kept - 1].step[t]
    cdef float* target = room.rows[t]
    cdef float number
    cdef int64_t line, i
    cdef int inner
    rows.paces[t] = 1
    if to.place[t] == NEAR:
        rows.rows[t] = <float*>(data + first * tensor.item)
        rows.steps[t] = apart // <int64_t>sizeof(float)
        return
    rows.rows[t] = target
    rows.steps[t] = n
    if to.place[t] == ONE:
        rows.steps[t] = 1
        for line in range(lines):
            target[line] = number_at(tensor, data + line * apart)
    elif to.place[t] == REPEATED:
        n = min(n, DMLCY_NORM_LANES)
        rows.paces[t] = 0
        rows.steps[t] = n
        if apart == 0:
            rows.steps[t] = 0
            lines = 1
        if room.repeated[t] == data and room.repeats[t] == n and room.repeated_rows[t] == lines:
            return
        room.repeated[t] = data
        room.repeats[t] = n
        room.repeated_rows[t] = lines
        for line in range(lines):
            number = number_at(tensor, data + line * apart)
            for i in range(n):
                target[line * n + i] = number
    elif tensor.dtype == FLOAT16:
        inner = to.lines.folded - 1
        if inner == 0 and to.lines.fold[0].step[t] == tensor.item:
            for line in range(lines):
                dmlcy_half_to_float(<const uint16_t*>(data + line * apart) + first, sizeof(uint16_t),
                                    target + line * n, n)
        else:
            move_items(to, room, t, data, lines, first, n, room.elements, False)
            dmlcy_half_to_float(<const uint16_t*>room.elements, sizeof(uint16_t), target, lines * n)
    else:
        move_items(to, room, t, data, lines, first, n, <char*>target, False)


# Where the rows of an output are to be written.
cdef inline void place_rows(
        const Plan* to, Room* room, int t, char* data, int64_t first, int64_t n, NormRows* rows) noexcept nogil:
    if to.place[t] == NEAR:
        rows.rows[t] = <float*>data + first
        rows.steps[t] = to.lines.keep[to.lines.kept - 1].step[t] // <int64_t>sizeof(float)
    else:
        rows.rows[t] = room.rows[t]
        rows.steps[t] = 1 if to.place[t] == ONE else n


# Puts rows into an output.
cdef void give_rows(
        const Plan* to, Room* room, int t, char* data, int64_t lines, int64_t first, int64_t n) noexcept nogil:
    cdef const Tensor* tensor = to.a.tensors[t]
    cdef int64_t apart = to.lines.keep[to.lines.kept - 1].step[t]
    cdef int64_t line
    if to.place[t] == ONE:
        for line in range(lines):
            store_numbers(FLOAT32, room.rows[t] + line, data + line * apart, 1, tensor.dtype)
    elif to.place[t] == PACKED and tensor.dtype == FLOAT32:
        move_items(to, room, t, data, lines, first, n, <char*>room.rows[t], True)
    elif to.place[t] == PACKED:
        if to.lines.folded == 1 and to.lines.fold[0].step[t] == tensor.item:
            for line in range(lines):
                store_numbers(FLOAT32, room.rows[t] + line * n, data + line * apart + first * tensor.item, n,
                              tensor.dtype)
            return
        store_numbers(FLOAT32, room.rows[t], room.elements, lines * n, tensor.dtype)
        move_items(to, room, t, data, lines, first, n, room.elements, True)


# Applies the activation to the elements of the first output.
cdef inline int activate_rows(const Plan* to, const NormRows* rows, int64_t lines, int64_t n) noexcept nogil:
    cdef float* first = rows.rows[to.last]
    cdef int64_t step = rows.steps[to.last]
    cdef int64_t line
    if to.a.fused == NULL:
        return 0
    if step == n or lines == 1:
        return activate(to.a.fused, first, lines * n)
    for line in range(lines):
        if activate(to.a.fused, first + line * step, n) != 0:
            return -1
    return 0
