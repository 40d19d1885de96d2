# The nearest elements: elements only move.

ctypedef fused Word:
    uint8_t
    uint16_t
    uint32_t
    uint64_t

# Elements of rows that are at no regular places.
cdef struct NearestRows:
    const Tensor* input
    const Tensor* output
    int last                        # the axis of the rows
    const int64_t* at[MAX_RANK]     # for each axis, the element of the input at each place; NULL: the same
    bint twice                      # each element of a row is there twice
    int64_t* offsets                # bytes from the start of a row, for each place along it; NULL: the row is copied


# How the elements of an axis follow one another: each `repeats` times, or `step` apart. False: in no such way.
cdef bint is_regular(const ResampleAxis* axis, int64_t* repeats, int64_t* step) noexcept nogil:
    cdef const int64_t* source = axis.taps.source
    cdef int64_t t
    cdef bint repeated = axis.count % axis.size == 0
    cdef bint stepped = True
    repeats[0] = axis.count // axis.size if repeated else 1
    step[0] = source[1] - source[0] if axis.count > 1 else 0
    for t in range(axis.count):
        repeated = repeated and source[t] == t // repeats[0]
        stepped = stepped and source[t] == source[0] + t * step[0]
        if not (repeated or stepped):
            return False
    if not repeated:
        repeats[0] = 1
    return True


# All elements as one move. False: there is none.
cdef bint as_move(const ResamplePlan* plan, Move* work) noexcept nogil:
    cdef const Tensor* input = plan.given.input
    cdef const Tensor* output = plan.given.output
    cdef const ResampleAxis* axis
    cdef int64_t repeats, step
    cdef int d, k = 0
    work.rank = 0
    work.item = input.item
    work.input = input.data
    work.output = output.data
    for d in range(input.rank):
        work.sizes[work.rank] = output.sizes[d]
        work.input_strides[work.rank] = input.strides[d]
        work.output_strides[work.rank] = output.strides[d]
        if k < plan.axes and plan.axis[k].number == d:
            axis = &plan.axis[k]
            k += 1
            if not is_regular(axis, &repeats, &step):
                return False
            if repeats > 1:
                work.sizes[work.rank] = axis.size
                work.output_strides[work.rank] = repeats * output.strides[d]
                work.rank += 1
                work.sizes[work.rank] = repeats
                work.input_strides[work.rank] = 0
                work.output_strides[work.rank] = output.strides[d]
            else:
                work.input += axis.taps.source[0] * input.strides[d]
                work.input_strides[work.rank] = step * input.strides[d]
        work.rank += 1
    return True


cdef void gather_row(const char* source, const int64_t* offsets, Word* target, int64_t step, int64_t n) noexcept nogil:
    cdef int64_t t
    if step == sizeof(Word):
        for t in range(n):
            target[t] = (<const Word*> (source + offsets[t]))[0]
    else:
        for t in range(n):
            (<Word*> (<char*> target + t * step))[0] = (<const Word*> (source + offsets[t]))[0]


cdef void make_row(const NearestRows* a, const char* source, char* target) noexcept nogil:
    cdef int64_t step = a.output.strides[a.last], n = a.output.sizes[a.last]
    if a.twice:
        moves_of(a.output.item).weave(source, 0, 2, 1, a.output.sizes[a.last] // 2, target)
    elif a.offsets == NULL:
        memcpy(target, source, n * a.output.item)
    elif a.output.item == 1:
        gather_row(source, a.offsets, <uint8_t*> target, step, n)
    elif a.output.item == 2:
        gather_row(source, a.offsets, <uint16_t*> target, step, n)
    elif a.output.item == 4:
        gather_row(source, a.offsets, <uint32_t*> target, step, n)
    else:
        gather_row(source, a.offsets, <uint64_t*> target, step, n)


# Where row `number` is, and the one that it is made of; `places` are those of the row along each axis.
cdef void find_row(const NearestRows* a, int64_t number, int64_t* places, const char** source,
                   char** target) noexcept nogil:
    cdef int d
    source[0] = a.input.data
    target[0] = a.output.data
    for d in range(a.last - 1, -1, -1):
        places[d] = number % a.output.sizes[d]
        number //= a.output.sizes[d]
        target[0] += places[d] * a.output.strides[d]
        source[0] += (a.at[d][places[d]] if a.at[d] != NULL else places[d]) * a.input.strides[d]


cdef int nearest_rows(const void* args, int64_t begin, int64_t end) noexcept nogil:
    cdef const NearestRows* a = <const NearestRows*> args
    cdef bint dense = a.output.strides[a.last] == a.output.item
    cdef int64_t bytes = a.output.sizes[a.last] * a.output.item, number, before, place = 0
    cdef int64_t places[MAX_RANK]
    cdef int lines = a.last - 1
    cdef const char* source = NULL
    cdef const char* above = NULL
    cdef char* target = NULL
    cdef char* done = NULL
    for number in range(begin, end):
        if number > begin and place + 1 < a.output.sizes[lines]:    # the next row of the same plane
            before = a.at[lines][place] if a.at[lines] != NULL else place
            place += 1
            target += a.output.strides[lines]
            source += ((a.at[lines][place] if a.at[lines] != NULL else place) - before) * a.input.strides[lines]
        else:
            find_row(a, number, places, &source, &target)
            place = places[lines] if lines >= 0 else 0
        if source == above and dense:
            memcpy(target, done, bytes)
        else:
            make_row(a, source, target)
        above = source
        done = target
    return 0


cdef int run_nearest(const ResamplePlan* plan) noexcept nogil:
    cdef const Tensor* input = plan.given.input
    cdef const Tensor* output = plan.given.output
    cdef Move work
    cdef NearestRows rows
    cdef int64_t t, place, count, size, repeats, step, total = 1
    cdef int d = output.rank - 1, k = 0, status
    rows.twice = plan.axes > 0 and plan.axis[plan.axes - 1].number == d and not stream_pays(input.bytes + output.bytes)
    rows.twice = rows.twice and input.strides[d] == input.item and output.strides[d] == output.item
    rows.twice = rows.twice and input.sizes[d] > 1 and d > 0 and is_regular(&plan.axis[plan.axes - 1], &repeats, &step)
    rows.twice = rows.twice and repeats == 2
    if not rows.twice and as_move(plan, &work):
        return run_move(&work, output.bytes)
    rows.input = input
    rows.output = output
    rows.last = output.rank - 1
    for d in range(output.rank):
        rows.at[d] = NULL
        if k < plan.axes and plan.axis[k].number == d:
            rows.at[d] = plan.axis[k].taps.source
            k += 1
        if d < rows.last:
            total *= output.sizes[d]
    d = rows.last
    rows.offsets = NULL
    count = output.sizes[d]
    if not rows.twice and (rows.at[d] != NULL or input.strides[d] != input.item or output.strides[d] != output.item):
        rows.offsets = new_integers(count)
        if rows.offsets == NULL:
            return -1
        for t in range(count):
            place = rows.at[d][t] if rows.at[d] != NULL else t
            rows.offsets[t] = place * input.strides[d]
    size = 2 * count * output.item
    status = parallel_for(nearest_rows, &rows, total, total if output.bytes <= SERIAL_BYTES else grain_of(size))
    free(rows.offsets)
    return status
