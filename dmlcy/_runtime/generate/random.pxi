# Random numbers of Philox.

cdef extern from "philox.h" nogil:
    ctypedef struct dmlcy_philox_state:
        pass

    void dmlcy_philox_begin(dmlcy_philox_state* state, const uint32_t* words) noexcept
    void dmlcy_philox_counter(const dmlcy_philox_state* state, uint64_t more, uint32_t* words) noexcept
    void dmlcy_philox(const dmlcy_philox_state* state, uint64_t first, uint32_t* numbers, int64_t count) noexcept
    void dmlcy_philox_wide(const dmlcy_philox_state* state, uint64_t first, uint32_t* numbers, int64_t count) noexcept

cdef enum:
    WORDS = 6                       # of a state: a counter, and a key behind it
    NUMBERS = 4                     # of each counter

cdef struct Random:
    dmlcy_philox_state state
    const Tensor* output
    int64_t elements
    bint streams


cdef void make_numbers(const Random* a, int64_t first, uint32_t* numbers, int64_t count) noexcept nogil:
    """The numbers of all counters that some numbers need, of which the first one begins a counter."""
    if dmlcy_wide():
        dmlcy_philox_wide(&a.state, <uint64_t> first // NUMBERS, numbers, (count + NUMBERS - 1) // NUMBERS)
    else:
        dmlcy_philox(&a.state, <uint64_t> first // NUMBERS, numbers, (count + NUMBERS - 1) // NUMBERS)


# Elements of an output row by row, which need not follow each other.
cdef void put_numbers(const Tensor* output, int64_t first, const uint32_t* numbers, int64_t count) noexcept nogil:
    cdef int64_t row = output.sizes[output.rank - 1], step = output.strides[output.rank - 1]
    cdef int64_t column = first % row, part
    cdef char* target
    while count > 0:
        part = min(row - column, count)
        target = row_at(output, first // row) + column * step
        moves_of(output.item).copy_strided(<const char*> numbers, 0, output.item, target, 0, step, 1, part)
        first += part
        numbers += part
        count -= part
        column = 0


# Items are MADE numbers each.
cdef int make_random(const void* args, int64_t begin, int64_t end) noexcept nogil:
    cdef const Random* a = <const Random*> args
    cdef uint32_t room[MADE]
    cdef dmlcy_stream stream
    cdef int64_t piece, first, count
    cdef char* target
    if a.streams:
        dmlcy_stream_begin(&stream, a.output.data)
    for piece in range(begin, end):
        first = piece * MADE
        count = min(a.elements - first, <int64_t> MADE)
        target = a.output.data + first * a.output.item
        if a.output.dense and not a.streams and count == MADE:
            make_numbers(a, first, <uint32_t*> target, count)
            continue
        make_numbers(a, first, room, count)
        if a.streams:
            dmlcy_stream_seek(&stream, target)
            dmlcy_stream_put(&stream, <const char*> room, count * a.output.item)
        elif a.output.dense:
            memcpy(target, room, count * a.output.item)
        else:
            put_numbers(a.output, first, room, count)
    if a.streams:
        dmlcy_stream_end(&stream)
    return 0


cdef int run_random(const Tensor* state, const Tensor* output, const Tensor* following) noexcept nogil:
    cdef Random work
    cdef int64_t step = state.strides[state.rank - 1], pitch
    cdef uint32_t words[WORDS]
    cdef int k
    for k in range(WORDS):
        words[k] = (<const uint32_t*> (state.data + k * step))[0]
    dmlcy_philox_begin(&work.state, words)
    work.output = output
    work.elements = output.bytes // output.item
    work.streams = output.dense and stream_pays(2 * output.bytes)
    if parallel_for(make_random, &work, (work.elements - 1) // MADE + 1, grain_of(MADE * output.item)) != 0:
        return -1
    if following.dtype == 0:
        return 0
    pitch = following.strides[following.rank - 1]
    dmlcy_philox_counter(&work.state, <uint64_t> (work.elements - 1) // NUMBERS + 1, words)
    for k in range(WORDS):
        (<uint32_t*> (following.data + k * pitch))[0] = words[k]
    return 0
