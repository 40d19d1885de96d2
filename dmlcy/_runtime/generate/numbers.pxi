# Elements that are numbers of their places.

# The memory in which a thread makes numbers.
cdef struct NumberRoom:
    uint64_t numbers[MADE]
    uint64_t elements[MADE]


cdef void make_elements(const Numbers* numbers, int dtype, int64_t first, int count, char* target,
                        NumberRoom* room) noexcept nogil:
    cdef bint real = dtype == FLOAT32 or dtype == FLOAT16 or dtype == FLOAT64
    if real or numbers.integers == NULL:
        numbers.floats(numbers.fields, first, count, <double*> room.numbers)
        store_numbers(FLOAT64, room.numbers, target, count, dtype)
    else:
        numbers.integers(numbers.fields, first, count, room.numbers)
        store_numbers(INT64, room.numbers, target, count, dtype)


# The element that number 0 gives, as often as it fits a word.
cdef uint64_t word_of(const Numbers* numbers, const Tensor* output) noexcept nogil:
    cdef NumberRoom room
    cdef uint64_t word
    cdef int k
    make_elements(numbers, output.dtype, 0, 1, <char*> &word, &room)
    for k in range(1, <int> sizeof(word) // output.item):
        memcpy(<char*> &word + k * output.item, &word, output.item)
    return word


cdef int run_fill(const Numbers* numbers, const Tensor* output) noexcept nogil:
    cdef uint64_t word = word_of(numbers, output)
    return run_repeat(&word, output)


cdef struct Sequence:
    const Numbers* numbers
    const Tensor* output
    int64_t row                     # elements that follow each other in the output, `step` bytes apart
    int64_t step
    int64_t pieces                  # of a row
    bint streams


# Where row `number` begins.
cdef char* row_at(const Tensor* output, int64_t number) noexcept nogil:
    cdef char* target = output.data
    cdef int d
    for d in range(output.rank - 2, -1, -1):
        target += number % output.sizes[d] * output.strides[d]
        number //= output.sizes[d]
    return target


# Items are pieces of rows.
cdef int make_pieces(const void* args, int64_t begin, int64_t end) noexcept nogil:
    cdef const Sequence* a = <const Sequence*> args
    cdef int item = a.output.item
    cdef bint near = a.step == item
    cdef NumberRoom room
    cdef dmlcy_stream stream
    cdef int64_t piece, row, first
    cdef char* target
    cdef int count
    if a.streams:
        dmlcy_stream_begin(&stream, a.output.data)
    for piece in range(begin, end):
        row = piece // a.pieces
        first = piece % a.pieces * MADE
        count = <int> min(a.row - first, <int64_t> MADE)
        target = (row_at(a.output, row) if row else a.output.data) + first * a.step
        if near and not a.streams:
            make_elements(a.numbers, a.output.dtype, row * a.row + first, count, target, &room)
            continue
        make_elements(a.numbers, a.output.dtype, row * a.row + first, count, <char*> room.elements, &room)
        if near:
            dmlcy_stream_seek(&stream, target)
            dmlcy_stream_put(&stream, <const char*> room.elements, count * item)
        else:
            moves_of(item).copy_strided(<const char*> room.elements, 0, item, target, 0, a.step, 1, count)
    if a.streams:
        dmlcy_stream_end(&stream)
    return 0


cdef int run_sequence(const Numbers* numbers, const Tensor* output) noexcept nogil:
    cdef Sequence work
    cdef int64_t elements = output.bytes // output.item
    work.numbers = numbers
    work.output = output
    work.row = elements if output.dense else output.sizes[output.rank - 1]
    work.step = output.strides[output.rank - 1]
    work.pieces = (work.row + MADE - 1) // MADE
    work.streams = stream_pays(2 * output.bytes) and work.step == output.item and work.row >= MADE
    return parallel_for(make_pieces, &work, elements // work.row * work.pieces,
                        grain_of(min(work.row, <int64_t> MADE) * output.item))
