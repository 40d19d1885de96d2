# The elements of a tile: loaded, computed and stored.

# The elements of rows of an input, one after the other.
cdef inline void gather(
        const Axes* to, int t, const char* source, int64_t rows, int64_t n, char* target) noexcept nogil:
    cdef int64_t[BLOCK] columns
    cdef int item = to.a.tensors[t].item
    cdef int64_t step = to.row_step[t]
    cdef int64_t row_step = to.step[to.axes - 1][t] if rows > 1 else 0
    cdef Moves moves = moves_of(item)
    cdef int64_t column, row
    if step == 0:
        for row in range(rows):
            dmlcy_repeat(target + row * n * item, source + row * row_step, n, item)
    elif row_step == item and step != item:
        dmlcy_ask_rows(source + n * step, step, n, rows * item)     # the tile that is next
        for column in range(n):
            columns[column] = column * step
        moves.transpose(source, columns, n, rows, target, n * item)
    else:
        moves.gather(source, row_step, step, target, n * item, rows, n)


# Puts elements one after the other into rows of an output.
cdef inline void scatter(
        const Axes* to, int t, const char* source, int64_t rows, int64_t n, char* target) noexcept nogil:
    cdef int64_t[LINE] starts
    cdef int item = to.a.tensors[t].item
    cdef int64_t step = to.row_step[t]
    cdef int64_t row_step = to.step[to.axes - 1][t] if rows > 1 else 0
    cdef Moves moves = moves_of(item)
    cdef int64_t row
    if step == item:
        moves.gather(source, n * item, item, target, row_step, rows, n)
    elif row_step == item and rows <= LINE:
        for row in range(rows):
            starts[row] = row * n * item
        moves.transpose(source, starts, rows, n, target, step)
    else:
        moves.copy_strided(source, n * item, item, target, row_step, step, rows, n)


# The elements of an input that a loop takes. Elements that were loaded before, such as the one element of a row, stay.
cdef inline const void* taken(
        const Axes* to, int t, const char* source, int64_t rows, int64_t n, Room* room) noexcept nogil:
    cdef const Tensor* tensor = to.a.tensors[t]
    cdef Loaded* loaded = &room.loaded[t]
    cdef char* numbers = <char*>room.numbers[t]
    cdef const char* elements = source
    if is_packed(to, t, rows, n):
        return source
    if t > 0 and to.steady:
        n = 1
    if loaded.source == source and loaded.rows == rows and (n == loaded.n or (rows == 1 and n < loaded.n)):
        return numbers
    loaded.source = source
    loaded.rows = rows
    loaded.n = n
    if to.number[t] == tensor.dtype:
        gather(to, t, source, rows, n, numbers)
    else:
        if rows > 1 or to.row_step[t] != tensor.item:
            elements = <const char*>room.elements
            gather(to, t, source, rows, n, <char*>room.elements)
        dmlcy_convert_elements(numbers, to.number[t], elements, tensor.dtype, rows * n)
    if t == 0 and to.a.scaled and to.number[t] == FLOAT64:
        dmlcy_scale_doubles(<double*>numbers, rows * n, to.a.scale, to.a.bias, tensor.dtype)
    elif t == 0 and to.a.scaled:
        dmlcy_scale(<float*>numbers, rows * n, to.a.scale, to.a.bias)
    return numbers


# Puts what the row gave into an output. Rows that follow one another are streamed at once.
cdef inline void put(const Axes* to, int t, char* target, int64_t rows, int64_t n, Room* room) noexcept nogil:
    cdef const Tensor* tensor = to.a.tensors[t]
    cdef const char* results = <const char*>room.numbers[t]
    cdef bint straight
    cdef int64_t i
    if rows > 1 and to.row_step[t] == tensor.item and to.step[to.axes - 1][t] == n * tensor.item:
        n *= rows
        rows = 1
    if not to.same[t]:
        straight = rows == 1 and to.row_step[t] == tensor.item and not to.streamed
        dmlcy_convert_elements(
            target if straight else <char*>room.elements, tensor.dtype, results, to.number[t], rows * n)
        if straight:
            return
        results = <const char*>room.elements
    if not to.streamed:
        scatter(to, t, results, rows, n, target)
        return
    for i in range(rows):
        dmlcy_stream_seek(&room.stream, target + (i * to.step[to.axes - 1][t] if rows > 1 else 0))
        dmlcy_stream_put(&room.stream, results + i * n * tensor.item, n * tensor.item)


# The last elements of a row, in room for as many as the loop takes: zeros are behind them.
cdef void call_last(
        const Axes* to, const void* const* inputs, void* const* outputs, int64_t begin, int64_t n) noexcept nogil:
    cdef uint64_t room[TENSORS][DMLCY_LANES]
    cdef const void* sources[TENSORS]
    cdef void* targets[TENSORS]
    cdef const char* source
    cdef int t, item
    for t in range(to.last):
        item = item_of(to.number[t])
        source = <const char*>inputs[t] + begin * item
        sources[t] = room[t]
        dmlcy_fill(<char*>room[t], 0, DMLCY_LANES * item)
        dmlcy_copy(<char*>room[t], source, n * item)
    for t in range(to.last, to.tensors):
        targets[t - to.last] = room[t]
    to.row(sources, targets, DMLCY_LANES, to.a.attributes)
    for t in range(to.last, to.tensors):
        item = item_of(to.number[t])
        dmlcy_copy(<char*>outputs[t - to.last] + begin * item, <const char*>room[t], n * item)


# The loop of a row, and the activation of what it gives. So few elements need no memory.
cdef inline void call_row(const Axes* to, const void* const* inputs, void* const* outputs, int64_t n) noexcept nogil:
    cdef int64_t rest = n & (to.lanes - 1)
    if n > rest:
        to.row(inputs, outputs, n - rest, to.a.attributes)
    if rest:
        call_last(to, inputs, outputs, n - rest, rest)
    if to.a.fused != NULL:
        activate(to.a.fused, <float*>outputs[0], n)


# Computes rows at these places.
cdef inline void compute(
        const Axes* to, const int64_t* offset, int64_t rows, int64_t n, Room* room) noexcept nogil:
    cdef const void* inputs[TENSORS]
    cdef void* outputs[TENSORS]
    cdef bint straight[TENSORS]
    cdef int t
    for t in range(to.last):
        inputs[t] = taken(to, t, to.a.tensors[t].data + offset[t], rows, n, room)
    for t in range(to.last, to.tensors):
        straight[t] = is_packed(to, t, rows, n) and not to.streamed
        outputs[t - to.last] = to.a.tensors[t].data + offset[t] if straight[t] else <char*>room.numbers[t]
    call_row(to, inputs, outputs, rows * n)
    for t in range(to.last, to.tensors):
        if not straight[t]:
            put(to, t, to.a.tensors[t].data + offset[t], rows, n, room)


# Computes the rows of a tile where they are.
cdef void compute_direct(const Axes* to, const int64_t* offset, int64_t rows, int64_t n, Room* room) noexcept nogil:
    cdef const Elements* a = to.a
    cdef const char* begin[TENSORS]
    cdef const void* inputs[TENSORS]
    cdef void* outputs[TENSORS]
    cdef const char* source
    cdef int64_t _row, column, count
    cdef int t
    for t in range(to.tensors):
        begin[t] = a.tensors[t].data + offset[t]
    for _row in range(rows):
        for t in range(to.last):
            inputs[t] = source = begin[t]
            if not to.near[t]:
                inputs[t] = room.numbers[t]
                if room.loaded[t].source != source:
                    room.loaded[t].source = source
                    dmlcy_repeat(<char*>room.numbers[t], source, min(to.length, to.piece), a.tensors[t].item)
        for t in range(to.last, to.tensors):
            outputs[t - to.last] = <char*>begin[t]
        column = 0
        while True:
            count = min(n - column, to.piece)
            call_row(to, inputs, outputs, count)
            column += count
            if column == n:
                break
            for t in range(to.last):
                inputs[t] = <const char*>inputs[t] + count * to.row_step[t]
            for t in range(to.last, to.tensors):
                outputs[t - to.last] = <char*>outputs[t - to.last] + count * a.tensors[t].item
        if rows > 1:
            for t in range(to.tensors):
                begin[t] += to.step[to.axes - 1][t]


# The same of short rows that follow one another in the output: as many as there is room for are stored together.
cdef void compute_streamed(const Axes* to, int64_t* offset, int64_t rows, int64_t n, Room* room) noexcept nogil:
    cdef const void* inputs[TENSORS]
    cdef void* outputs[TENSORS]
    cdef char* target = to.a.tensors[to.last].data + offset[to.last]
    cdef int item = to.a.tensors[to.last].item if to.same[to.last] else item_of(to.number[to.last])
    cdef int64_t row, held = 0
    cdef int t
    for row in range(rows):
        for t in range(to.last):
            inputs[t] = taken(to, t, to.a.tensors[t].data + offset[t], 1, n, room)
            offset[t] += to.step[to.axes - 1][t]
        outputs[0] = <char*>room.numbers[to.last] + held * n * item
        call_row(to, inputs, outputs, n)
        held += 1
        if (held + 1) * n > BLOCK or row == rows - 1:
            put(to, to.last, target, held, n, room)
            target += held * n * to.a.tensors[to.last].item
            held = 0


# The same of rows that are loaded or stored in pieces.
cdef inline void compute_rows(const Axes* to, int64_t* offset, int64_t rows, int64_t n, Room* room) noexcept nogil:
    cdef int64_t begin[TENSORS]
    cdef int64_t _row, column
    cdef int t
    for _row in range(rows):
        memcpy(begin, offset, sizeof(begin))
        column = 0
        while column < n:
            compute(to, begin, 1, min(n - column, to.piece), room)
            for t in range(to.tensors):
                begin[t] += to.piece * to.row_step[t]
            column += to.piece
        for t in range(to.tensors):
            offset[t] += to.step[to.axes - 1][t] if rows > 1 else 0
