# Writes the lines of the output: copies of lines of the input, and padding.

# Moves the cursor along one outer axis.
cdef inline void place(const PadPlan* plan, PadCursor* cursor, int d, int64_t at) noexcept nogil:
    cdef const PadAxis* axis = &plan.outer[d]
    cdef int64_t p = at - axis.start
    cdef bint outside = p < 0 or p >= axis.n
    if outside and plan.rows.index != NULL:
        p = plan.rows.index(p, axis.n)
        outside = False
    cdef int64_t source = 0 if outside else p * axis.step
    cursor.input += source - cursor.source[d]
    cursor.output += (at - cursor.at[d]) * axis.out_step
    cursor.outsides += <int> outside - <int> cursor.outside[d]
    cursor.at[d] = at
    cursor.source[d] = source
    cursor.outside[d] = outside


# Moves the cursor to the next position of the outer axes, the last one first.
cdef inline void advance(const PadPlan* plan, PadCursor* cursor) noexcept nogil:
    cdef int d = plan.outers - 1
    while d >= 0 and cursor.at[d] + 1 == plan.outer[d].size:
        place(plan, cursor, d, 0)
        d -= 1
    if d >= 0:
        place(plan, cursor, d, cursor.at[d] + 1)


# The line of the input that a line of padding reads.
cdef inline int64_t source_of(const PadPlan* plan, int64_t at) noexcept nogil:
    cdef int64_t number = at if at < plan.rows.line.start else at - plan.rows.line.n
    return plan.sources[number] if number < LINES else plan.rows.index(at - plan.rows.line.start, plan.rows.line.n)


# Writes lines begin … end-1, which are padding; line 0 lies at `output`. Lines that read a line of the input whose row
# has been written already, low … high-1 in the output, copy that row.
cdef void pad_lines(const PadPlan* plan, const PadPiece* piece, const char* input, char* output, dmlcy_stream* stream,
                    int64_t begin, int64_t end, int64_t low, int64_t high) noexcept nogil:
    cdef const PadAxis* line = &plan.rows.line
    cdef int64_t bytes = (piece.before + piece.body + piece.after) * plan.rows.cell
    cdef int64_t at, p
    cdef char* target
    if plan.rows.index == NULL and begin < end:
        plan.write(&plan.rows, piece, stream, end - begin, NULL, output + begin * line.out_step)
        return
    for at in range(begin, end):
        p = source_of(plan, at)
        target = output + at * line.out_step
        if low <= line.start + p < high and plan.rows.row.out_step == plan.rows.cell:
            dmlcy_copy(target, output + (line.start + p) * line.out_step, bytes)
        else:
            plan.write(&plan.rows, piece, stream, 1, input + p * line.step, target)


# Writes lines begin … end-1 at the position of the cursor; line 0 lies at `output`. Streams go from front to back.
cdef void write_lines(const PadPlan* plan, const PadPiece* piece, const PadCursor* cursor, char* output,
                      dmlcy_stream* stream, int64_t begin, int64_t end) noexcept nogil:
    cdef const PadAxis* line = &plan.rows.line
    cdef const char* input = cursor.input
    cdef int64_t low = min(max(line.start, begin), end)
    cdef int64_t high = min(max(line.start + line.n, low), end)
    if cursor.outsides:
        plan.write(&plan.rows, piece, stream, end - begin, NULL, output + begin * line.out_step)
        return
    if stream != NULL or plan.rows.index == NULL:
        pad_lines(plan, piece, input, output, stream, begin, low, 0, 0)
    elif (low - begin) * line.out_step <= ASKED_BYTES:       # prefetched while the body is written
        dmlcy_ask(output + begin * line.out_step, (low - begin) * line.out_step)
    if low < high:
        plan.write(&plan.rows, piece, stream, high - low, input + (low - line.start) * line.step,
                   output + low * line.out_step)
    if stream != NULL or plan.rows.index == NULL:
        pad_lines(plan, piece, input, output, stream, high, end, 0, 0)
    else:
        pad_lines(plan, piece, input, output, NULL, begin, low, low, high)
        pad_lines(plan, piece, input, output, NULL, high, end, low, high)


# The same by way of a buffer, where padding can copy rows: the stream then takes the finished lines.
cdef void buffer_lines(const PadPlan* plan, const PadPiece* piece, const PadCursor* cursor, dmlcy_stream* stream,
                       int64_t begin, int64_t end) noexcept nogil:
    cdef uint64_t buffer[BUFFER]
    cdef int64_t first = begin * plan.rows.line.out_step
    write_lines(plan, piece, cursor, <char*> buffer - first, NULL, begin, end)
    dmlcy_stream_seek(stream, cursor.output + first)
    dmlcy_stream_put(stream, <const char*> buffer, end * plan.rows.line.out_step - first)


# Writes rows begin … end-1 of one piece.
cdef void pad_rows(const PadPlan* plan, const PadPiece* piece, dmlcy_stream* stream, int64_t offset, int64_t begin,
                   int64_t end) noexcept nogil:
    cdef PadCursor cursor
    cdef int64_t first = begin % plan.rows.line.size
    cdef int64_t rest = begin // plan.rows.line.size
    cdef int64_t lines
    cdef int d
    memset(&cursor, 0, sizeof(PadCursor))
    cursor.input = plan.input
    cursor.output = plan.output + offset
    for d in range(plan.outers - 1, -1, -1):
        place(plan, &cursor, d, rest % plan.outer[d].size)
        rest //= plan.outer[d].size
    while begin < end:
        lines = min(plan.rows.line.size - first, end - begin)
        if plan.buffered:
            buffer_lines(plan, piece, &cursor, stream, first, first + lines)
        else:
            write_lines(plan, piece, &cursor, cursor.output, stream, first, first + lines)
        begin += lines
        first = 0
        advance(plan, &cursor)


# Describes positions begin … end-1 of the row.
cdef void set_piece(const PadPlan* plan, PadPiece* piece, int64_t begin, int64_t end) noexcept nogil:
    cdef const PadAxis* row = &plan.rows.row
    cdef int64_t low = min(max(row.start, begin), end)
    cdef int64_t high = min(max(row.start + row.n, begin), end)
    cdef int64_t i
    piece.before = low - begin
    piece.body = high - low
    piece.after = end - high
    piece.first = (low - row.start) * row.step if high > low else 0
    if plan.rows.index == NULL:
        return
    for i in range(piece.before):
        piece.edges[i] = plan.rows.index(begin + i - row.start, row.n) * row.step
    for i in range(piece.after):
        piece.edges[piece.before + i] = plan.rows.index(high + i - row.start, row.n) * row.step


# Items are rows of a piece; all rows of one piece come before those of the next.
cdef int pad_work(const void* args, int64_t begin, int64_t end) noexcept nogil:
    cdef const PadPlan* plan = <const PadPlan*> args
    cdef PadPiece piece
    cdef dmlcy_stream stream
    cdef dmlcy_stream* streamed = &stream if plan.streamed else NULL
    cdef int64_t number, first, stop
    if plan.streamed:
        dmlcy_stream_begin(&stream, plan.output)
    while begin < end:
        number = begin // plan.count
        first = number * plan.count
        stop = min(end, first + plan.count)
        set_piece(plan, &piece, number * plan.piece, min((number + 1) * plan.piece, plan.rows.row.size))
        pad_rows(plan, &piece, streamed, number * plan.piece * plan.rows.row.out_step, begin - first, stop - first)
        begin = stop
    if plan.streamed:
        dmlcy_stream_end(&stream)
    return 0
