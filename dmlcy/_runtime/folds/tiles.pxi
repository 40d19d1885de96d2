# The units of work: some lines, or a part of them.

# Stores results of whole lines, the first of which has the number `position`.
cdef void store_results(
        const Plan* to, int64_t position, int64_t n, char* results, Room* room) noexcept nogil:
    cdef FoldArgs args = to.args
    cdef char* numbers = aligned(room.numbers)
    cdef char* target = to.output + position * to.output_item
    if args.tops != NULL:
        args.tops += position
    if to.kernel.finish == NULL:
        store_numbers(to.kernel.gives, results, target, n, to.output_dtype)
    elif to.kernel.gives == to.output_dtype:
        to.kernel.finish(results, target, n, <double>to.lines.count, &args)
    else:
        to.kernel.finish(results, numbers, n, <double>to.lines.count, &args)
        store_numbers(to.kernel.gives, numbers, target, n, to.output_dtype)


# Where the next positions of a walk are.
cdef inline void list_lines(Walk* walk, const char* source, int64_t count, const char** rows) noexcept nogil:
    cdef int last = walk.axes - 1
    cdef int64_t step = walk.axis[last].step[0], size = walk.axis[last].size
    cdef int64_t at = 0, n, i
    while at < count:
        n = min(count - at, size - walk.index[last])
        for i in range(n):
            rows[at + i] = source + walk.offset[0] + i * step
        at += n
        walk.index[last] += n - 1
        walk.offset[0] += (n - 1) * step
        next_walk(walk)


# Folds a part of some lines that lie in rows, from the number `position` on.
cdef void fold_along(
        const Plan* to, int64_t position, int64_t count, int64_t part, char* results, Room* room) noexcept nogil:
    cdef const Lines* lines = &to.lines
    cdef FoldArgs args = to.args
    cdef int64_t first = part * to.part
    cdef int64_t n = min(to.part, lines.count - first)
    cdef int64_t at = 0, i, some, size = item_of(to.take.number)
    cdef int64_t step = lines.fold[0].step[0]
    cdef bint near = lines.folded == 1 and (step == to.take.item or n == 1)
    cdef bint direct = near and to.take.same
    cdef char* numbers = aligned(room.numbers)
    cdef Walk walk
    begin_walk(&walk, lines, lines.keep, lines.kept, position)
    args.base = first
    while at < count:
        some = min(count - at, <int64_t>ROWS)
        if not direct:
            some = min(some, max(TILE // n, <int64_t>1))
        list_lines(&walk, to.input + (first * step if near else 0), some, room.rows)
        if not near:
            for i in range(some):
                gather_line(lines, &to.take, room.rows[i], first, n,
                            (numbers if to.take.same else room.elements) + i * n * to.take.item, room.offsets)
        if not direct:
            if near:
                load_rows(&to.take, room.rows, some, to.take.item, n, room)
            else:
                if not to.take.same:
                    store_numbers(to.take.dtype, room.elements, numbers, some * n, to.take.number)
                for i in range(some):
                    room.rows[i] = numbers + i * n * size
        if to.args.tops != NULL:
            args.tops = to.args.tops + position + at
        to.tile(<const void* const*>room.rows, some, n, &args, results + at * to.kernel.item)
        at += some


# Folds a part of lines that lie in columns: `n` of them, which begin at `source`; the first has the number `position`.
cdef void fold_columns(
        const Plan* to, const char* source, int64_t position, int64_t n, int64_t part, char* results,
        Room* room) noexcept nogil:
    cdef const Lines* lines = &to.lines
    cdef FoldArgs args = to.args
    cdef int64_t step = lines.keep[lines.kept - 1].step[0]
    cdef int64_t count = min(to.part, lines.count - part * to.part)
    cdef int64_t most = ROWS
    cdef int64_t row = 0, some, i
    cdef bint direct = to.take.same and (step == to.take.item or n == 1)
    cdef Walk walk
    if not direct:
        most = min(most, TILE // n) & -<int64_t>DMLCY_FOLD_GROUP
    begin_walk(&walk, lines, lines.fold, lines.folded, part * to.part)
    args.base = part * to.part
    args.room = aligned(room.lanes)
    if to.args.tops != NULL:
        args.tops = to.args.tops + position
    while row < count:
        some = min(count - row, most)
        list_lines(&walk, source, some, room.rows)
        if not direct:
            load_rows(&to.take, room.rows, some, step, n, room)
        args.first = row
        args.begins = row == 0
        args.ends = row + some == count
        to.tile(<const void* const*>room.rows, some, n, &args, results)
        row += some


cdef void fold_part(
        const Plan* to, const char* source, int64_t position, int64_t n, int64_t part, char* results,
        Room* room) noexcept nogil:
    if to.order == ALONG or to.order == UPRIGHT:
        fold_along(to, position, n, part, results, room)
    else:
        fold_columns(to, source, position, n, part, results, room)


cdef void fold_lines(
        const Plan* to, const char* source, int64_t position, int64_t n, char* results, char* more,
        Room* room) noexcept nogil:
    cdef int64_t part
    fold_part(to, source, position, n, 0, results, room)
    for part in range(1, to.parts):
        fold_part(to, source, position, n, part, more, room)
        to.kernel.join(results, more, n)


cdef int work(const void* args, int64_t begin, int64_t end) noexcept nogil:
    cdef const Plan* to = <const Plan*>args
    cdef Room room
    cdef char* results = aligned(room.results)
    cdef char* more = aligned(room.more)
    cdef const LineAxis* last = &to.lines.keep[to.lines.kept - 1]
    cdef const char* source
    cdef int64_t unit, block, part, position, n, column
    cdef Plan careful
    cdef Walk walk
    for unit in range(begin, end):
        block = unit
        part = 0
        if to.partial != NULL:
            part = unit % to.parts
            block = unit // to.parts
        if to.order == ALONG or to.order == UPRIGHT:
            position = block * to.columns
            n = min(to.columns, to.lines.positions - position)
            source = to.input
        else:
            column = block % to.blocks * to.columns
            n = min(to.columns, last.size - column)
            begin_walk(&walk, &to.lines, to.lines.keep, to.lines.kept - 1, block // to.blocks)
            position = block // to.blocks * last.size + column
            source = to.input + walk.offset[0] + column * last.step[0]
        if to.partial != NULL:
            fold_part(to, source, position, n, part,
                      to.partial + (part * to.lines.positions + position) * to.kernel.item, &room)
            continue
        fold_lines(to, source, position, n, results, more, &room)
        if to.kernel.careful != NULL and to.kernel.doubts(results, n):
            take_care(to, &careful)
            fold_lines(&careful, source, position, n, results, more, &room)
            store_results(&careful, position, n, results, &room)
        else:
            store_results(to, position, n, results, &room)
    return 0


# Joins the results of the parts of lines.
cdef int join_parts(const void* args, int64_t begin, int64_t end) noexcept nogil:
    cdef const Plan* to = <const Plan*>args
    cdef Room room
    cdef char* results
    cdef int64_t unit, part, position, n
    for unit in range(begin, end):
        position = unit * COLUMNS
        n = min(<int64_t>COLUMNS, to.lines.positions - position)
        results = to.partial + position * to.kernel.item
        for part in range(1, to.parts):
            to.kernel.join(results, results + part * to.lines.positions * to.kernel.item, n)
        store_results(to, position, n, results, &room)
    return 0
