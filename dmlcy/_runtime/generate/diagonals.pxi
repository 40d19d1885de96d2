# Matrices with an element on some diagonals.

# Elements of zeros: each row is a part of one line, which begins one element before that of the row above.
cdef int run_bands(const Numbers* numbers, Filled filled, const Tensor* output) noexcept nogil:
    cdef int item = output.item, row = output.rank - 2
    cdef int64_t rows = output.sizes[row], columns = output.sizes[row + 1]
    cdef uint64_t word = word_of(numbers, output)
    cdef char* line = <char*> malloc((rows + columns - 1) * item)
    cdef Move work
    cdef int64_t k
    cdef int d, status
    if line == NULL:
        return -1
    memset(line, 0, (rows + columns - 1) * item)
    for k in range(rows + columns - 1):
        if filled(numbers.fields, k - (rows - 1)):
            memcpy(line + k * item, &word, item)
    work.rank = output.rank
    work.item = item
    work.input = line + (rows - 1) * item
    work.output = output.data
    for d in range(output.rank):
        work.sizes[d] = output.sizes[d]
        work.input_strides[d] = 0
        work.output_strides[d] = output.strides[d]
    work.input_strides[row] = -item
    work.input_strides[row + 1] = item
    status = run_move(&work, output.bytes)
    free(line)
    return status


cdef struct Diagonals:
    const Tensor* under
    const Tensor* output
    uint64_t word
    int64_t* ends                   # of parts of diagonals in turn: kept, filled, kept, …; the last end is behind all
    int64_t parts
    bint streams


# Copies a part of a row, or fills it where there is no source.
cdef inline void write_part(const Diagonals* a, const char* source, char* target, int64_t count,
                            dmlcy_stream* stream) noexcept nogil:
    cdef int item = a.output.item, column = a.output.rank - 1
    cdef int64_t step = a.under.strides[column], pitch = a.output.strides[column]
    if pitch != item or (source != NULL and step != item):
        if source == NULL:
            source = <const char*> &a.word
            step = 0
        moves_of(item).copy_strided(source, 0, step, target, 0, pitch, 1, count)
    elif a.streams and source == NULL:
        dmlcy_stream_fill(stream, a.word, count * item)
    elif a.streams:
        dmlcy_stream_put(stream, source, count * item)
    elif source == NULL:
        dmlcy_fill(target, a.word, count * item)
    else:
        dmlcy_copy_rows(source, 0, target, 0, count * item, 1)


# Items are rows.
cdef int write_rows(const void* args, int64_t begin, int64_t end) noexcept nogil:
    cdef const Diagonals* a = <const Diagonals*> args
    cdef int last = a.output.rank - 1
    cdef int64_t rows = a.output.sizes[last - 1], columns = a.output.sizes[last]
    cdef int64_t step = a.under.strides[last], pitch = a.output.strides[last]
    cdef dmlcy_stream stream
    cdef const char* source
    cdef char* target
    cdef int64_t row, number, column, stop, part
    if a.streams:
        dmlcy_stream_begin(&stream, a.output.data)
    for number in range(begin, end):
        row = number % rows
        source = row_at(a.under, number)
        target = row_at(a.output, number)
        if a.streams:
            dmlcy_stream_seek(&stream, target)
        column = 0
        for part in range(a.parts):
            stop = min(a.ends[part] + row, columns)
            if stop > column:
                write_part(
                    a, <const char*> NULL if part % 2 else <const char*> (source + column * step),
                    target + column * pitch, stop - column, &stream)
                column = stop
    if a.streams:
        dmlcy_stream_end(&stream)
    return 0


cdef int run_diagonals(const Numbers* numbers, Filled filled, const Tensor* under, const Tensor* output) noexcept nogil:
    cdef Diagonals work
    cdef int last = output.rank - 1
    cdef int64_t rows = output.sizes[last - 1], columns = output.sizes[last]
    cdef int64_t d
    cdef int status
    if under == NULL or under.dtype == 0:
        return run_bands(numbers, filled, output)
    work.under = under
    work.output = output
    work.word = word_of(numbers, output)
    work.ends = <int64_t*> malloc((rows + columns + 1) * sizeof(int64_t))
    if work.ends == NULL:
        return -1
    work.parts = 0
    for d in range(1 - rows, columns):
        if filled(numbers.fields, d) != (work.parts % 2 != 0):
            work.ends[work.parts] = d
            work.parts += 1
    work.ends[work.parts] = columns
    work.parts += 1
    work.streams = (stream_pays(2 * output.bytes) and under.strides[last] == output.item
                    and output.strides[last] == output.item and columns * output.item >= LONG_RUN)
    status = parallel_for(write_rows, &work, output.bytes // (columns * output.item),
                          grain_of(columns * output.item))
    free(work.ends)
    return status
