# Lines side by side: elements with the same number in their lines follow one another.

# Copies lines between a tensor and packed elements.
cdef void move_sides(
        const Plan* to, Room* room, int t, char* data, int64_t lines, char* items, bint back) noexcept nogil:
    cdef const LineAxis* fold = &to.lines.fold[0]
    cdef int inner = to.lines.folded - 1
    cdef int64_t size = fold[inner].size
    cdef int64_t step = fold[inner].step[t]
    cdef int64_t apart = to.lines.keep[to.lines.kept - 1].step[t]
    cdef int64_t item = to.a.tensors[t].item
    cdef int64_t pitch = DMLCY_NORM_LANES * item
    cdef Moves moves = moves_of(item)
    cdef bint turned = step == item and apart != item
    cdef int64_t done = 0
    cdef int64_t run, i
    cdef char* place
    cdef char* row
    cdef Walk walk
    cdef bint streamed = to.streams and turned and back and to.lines.folded == 1 and items != room.elements
    if turned:
        for i in range(size if back else lines):
            room.columns[i] = i * (pitch if back else apart)
    begin_walk(&walk, &to.lines, fold, inner, 0)
    while done < to.lines.count:
        place = data + walk.offset[t]
        row = items + done * pitch
        if streamed:
            moves.transpose(row, room.columns, size, lines, room.elements, size * item)
            run = lines if apart == size * item else 1
            for i in range(lines // run):
                dmlcy_stream_seek(room.stream, place + i * apart)
                dmlcy_stream_put(room.stream, room.elements + i * size * item, run * size * item)
        elif turned and back:
            moves.transpose(row, room.columns, size, lines, place, apart)
        elif turned:
            if apart == size * item:    # the lines that are next
                dmlcy_ask(place + lines * apart, lines * apart)
            moves.transpose(place, room.columns, lines, size, row, pitch)
        elif not back:
            moves.gather(place, step, apart, row, pitch, size, lines)
        elif apart == item:
            moves.gather(row, pitch, item, place, step, size, lines)
        else:
            moves.copy_strided(row, pitch, item, place, step, apart, size, lines)
        done += size
        next_walk(&walk)


# Whether the loops take a tensor where it is: not where caches have room for few of the elements of a line.
cdef inline bint is_beside(const Plan* to, int t, int64_t lines) noexcept nogil:
    if to.lines.fold[0].step[t] % PAGE == 0 and to.lines.count > SHORT:
        return False
    return lines == DMLCY_NORM_LANES and to.a.tensors[t].dtype == FLOAT32 and to.lines.folded == 1 and (
        to.lines.keep[to.lines.kept - 1].step[t] == sizeof(float)) and (t != to.last or to.a.fused == NULL)


cdef void take_side(const Plan* to, Room* room, int t, char* data, int64_t lines, NormRows* rows) noexcept nogil:
    cdef const Tensor* tensor = to.a.tensors[t]
    cdef int64_t apart = to.lines.keep[to.lines.kept - 1].step[t]
    cdef int64_t count = to.lines.count * DMLCY_NORM_LANES
    cdef float* target = room.rows[t]
    cdef int64_t line
    rows.rows[t] = target
    rows.steps[t] = 1
    rows.across[t] = DMLCY_NORM_LANES
    if to.place[t] == ONE or to.place[t] == REPEATED:
        rows.across[t] = 0
        for line in range(DMLCY_NORM_LANES):
            target[line] = number_at(tensor, data + min(line, lines - 1) * apart)
    elif is_beside(to, t, lines):
        rows.rows[t] = <float*>data
        rows.across[t] = to.lines.fold[0].step[t] // <int64_t>sizeof(float)
    elif tensor.dtype == FLOAT32:
        if lines < DMLCY_NORM_LANES:
            memset(target, 0, count * sizeof(float))
        move_sides(to, room, t, data, lines, <char*>target, False)
    else:
        if lines < DMLCY_NORM_LANES:
            memset(room.elements, 0, count * tensor.item)
        move_sides(to, room, t, data, lines, room.elements, False)
        dmlcy_half_to_float(<const uint16_t*>room.elements, sizeof(uint16_t), target, count)


# Everything of some lines.
cdef inline int do_sides(const Plan* to, Room* room, char** data, NormRows* rows) noexcept nogil:
    cdef int64_t lines = rows.lines
    cdef int64_t count = to.lines.count * DMLCY_NORM_LANES
    cdef int t
    for t in range(to.last):
        take_side(to, room, t, data[t], lines, rows)
    for t in range(to.last, to.tensors):
        rows.rows[t] = room.rows[t]
        rows.steps[t] = 1
        rows.across[t] = DMLCY_NORM_LANES
        if to.place[t] != ONE and is_beside(to, t, lines):
            rows.rows[t] = <float*>data[t]
            rows.across[t] = to.lines.fold[0].step[t] // <int64_t>sizeof(float)
    to.loop(rows, DMLCY_NORM_SIDE_BY_SIDE, 0)
    give_ends(to, room, data, rows)
    if to.a.fused != NULL and activate(to.a.fused, room.rows[to.last], count) != 0:
        return -1
    for t in range(to.last, to.tensors):
        if rows.rows[t] != room.rows[t] or to.place[t] == ONE:
            continue
        if to.a.tensors[t].dtype == FLOAT32:
            move_sides(to, room, t, data[t], lines, <char*>room.rows[t], True)
        else:
            store_numbers(FLOAT32, room.rows[t], room.elements, count, to.a.tensors[t].dtype)
            move_sides(to, room, t, data[t], lines, room.elements, True)
    return 0
