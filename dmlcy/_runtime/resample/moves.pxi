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
    if a.offsets == NULL:
        memcpy(target, source, n * a.output.item)
    elif a.output.item == 1:
        gather_row(source, a.offsets, <uint8_t*> target, step, n)
    elif a.output.item == 2:
        gather_row(source, a.offsets, <uint16_t*> target, step, n)
    elif a.output.item == 4:
        gather_row(source, a.offsets, <uint32_t*> target, step, n)
    else:
        gather_row(source, a.offsets, <uint64_t*> target, step, n)


cdef int nearest_rows(const void* args, int64_t begin, int64_t end) noexcept nogil:
    cdef const NearestRows* a = <const NearestRows*> args
    cdef bint dense = a.output.strides[a.last] == a.output.item
    cdef const char* source
    cdef const char* above = NULL
    cdef char* target
    cdef char* done = NULL
    cdef int64_t number, rest, place
    cdef int d
    for number in range(begin, end):
        rest = number
        source = a.input.data
        target = a.output.data
        for d in range(a.last - 1, -1, -1):
            place = rest % a.output.sizes[d]
            rest //= a.output.sizes[d]
            target += place * a.output.strides[d]
            source += (a.at[d][place] if a.at[d] != NULL else place) * a.input.strides[d]
        if source == above and dense:
            memcpy(target, done, a.output.sizes[a.last] * a.output.item)
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
    cdef int64_t t, place, count, size, total = 1
    cdef int d, k = 0, status
    if as_move(plan, &work):
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
    if rows.at[d] != NULL or input.strides[d] != input.item or output.strides[d] != output.item:
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
