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
    int nearest
    int last                        # the axis of the rows
    const ResampleAxis* axis[MAX_RANK]  # for each axis; NULL: the elements keep their places
    int64_t* at[MAX_RANK]           # and the elements of the input at all places; NULL: they are found one by one
    bint twice                      # each element of a row is there twice
    int64_t* offsets                # bytes from the start of a row, for each place along it; NULL: the row is copied
    int64_t wide                    # places of a piece of a row
    int64_t rows


# The element of the input at a place.
cdef inline int64_t source_of(const ResampleAxis* axis, int nearest, int64_t place) noexcept nogil:
    return place if axis == NULL else nearest_of(&axis.places, nearest, place)


cdef inline int64_t source_along(const NearestRows* a, int d, int64_t place) noexcept nogil:
    return a.at[d][place] if a.at[d] != NULL else source_of(a.axis[d], a.nearest, place)


# How the elements of an axis follow one another: each `repeats` times, or `step` apart. False: in no such way.
cdef bint is_regular(const ResampleAxis* axis, int nearest, int64_t* repeats, int64_t* step) noexcept nogil:
    cdef int64_t t, source, first = source_of(axis, nearest, 0)
    cdef bint repeated = axis.count % axis.size == 0
    cdef bint stepped = True
    repeats[0] = axis.count // axis.size if repeated else 1
    step[0] = source_of(axis, nearest, 1) - first if axis.count > 1 else 0
    for t in range(axis.count):
        source = source_of(axis, nearest, t)
        repeated = repeated and source == t // repeats[0]
        stepped = stepped and source == first + t * step[0]
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
            if not is_regular(axis, plan.given.nearest, &repeats, &step):
                return False
            if repeats > 1:
                work.sizes[work.rank] = axis.size
                work.output_strides[work.rank] = repeats * output.strides[d]
                work.rank += 1
                work.sizes[work.rank] = repeats
                work.input_strides[work.rank] = 0
                work.output_strides[work.rank] = output.strides[d]
            else:
                work.input += source_of(axis, plan.given.nearest, 0) * input.strides[d]
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


# A row, or so many places of it.
cdef void make_row(const NearestRows* a, const int64_t* offsets, int64_t n, const char* source,
                   char* target) noexcept nogil:
    cdef int64_t step = a.output.strides[a.last]
    if a.twice:
        moves_of(a.output.item).weave(source, 0, 2, 1, n // 2, target)
    elif offsets == NULL:
        memcpy(target, source, n * a.output.item)
    elif a.output.item == 1:
        gather_row(source, offsets, <uint8_t*> target, step, n)
    elif a.output.item == 2:
        gather_row(source, offsets, <uint16_t*> target, step, n)
    elif a.output.item == 4:
        gather_row(source, offsets, <uint32_t*> target, step, n)
    else:
        gather_row(source, offsets, <uint64_t*> target, step, n)


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
        source[0] += source_along(a, d, places[d]) * a.input.strides[d]


cdef void find_offsets(const NearestRows* a, int64_t first, int64_t count, int64_t* offsets) noexcept nogil:
    cdef int64_t t
    for t in range(count):
        offsets[t] = source_of(a.axis[a.last], a.nearest, first + t) * a.input.strides[a.last]


cdef int nearest_rows(const void* args, int64_t begin, int64_t end) noexcept nogil:
    cdef const NearestRows* a = <const NearestRows*> args
    cdef bint dense = a.output.strides[a.last] == a.output.item
    cdef int64_t number, element = 0, next_element, place = 0, first = 0, count = 0, until = begin
    cdef int64_t places[MAX_RANK]
    cdef int64_t some[LONG]
    cdef const int64_t* offsets = a.offsets
    cdef int lines = a.last - 1
    cdef const char* source = NULL
    cdef const char* above = NULL
    cdef char* target = NULL
    cdef char* done = NULL
    for number in range(begin, end):
        if number == until:                                         # the next places of all rows
            until = (number // a.rows + 1) * a.rows
            first = number // a.rows * a.wide
            count = min(a.wide, a.output.sizes[a.last] - first)
            source = NULL
            above = NULL
            if a.wide < a.output.sizes[a.last]:
                find_offsets(a, first, count, some)
                offsets = some
        if source != NULL and place + 1 < a.output.sizes[lines]:    # the next row of the same plane
            place += 1
            next_element = source_along(a, lines, place)
            target += a.output.strides[lines]
            source += (next_element - element) * a.input.strides[lines]
            element = next_element
        else:
            find_row(a, number % a.rows, places, &source, &target)
            target += first * a.output.strides[a.last]
            if lines >= 0:
                place = places[lines]
                element = source_along(a, lines, place)
        if source == above and dense:
            memcpy(target, done, count * a.output.item)
        else:
            make_row(a, offsets, count, source, target)
        above = source
        done = target
    return 0


# The elements at the places of each axis that has few, and the offsets of those of a row. With room, they are found.
cdef int64_t find_places(NearestRows* a, int64_t* room) noexcept nogil:
    cdef int64_t words = 0, t
    cdef int d
    for d in range(a.last + 1):
        if (a.axis[d] == NULL if d < a.last else a.offsets == NULL) or a.output.sizes[d] > TABLE_TAPS:
            continue
        if room != NULL and d == a.last:
            a.offsets = room + words
            find_offsets(a, 0, a.output.sizes[d], a.offsets)
        elif room != NULL:
            a.at[d] = room + words
            for t in range(a.output.sizes[d]):
                a.at[d][t] = source_of(a.axis[d], a.nearest, t)
        words += a.output.sizes[d]
    return words


cdef int run_nearest(const ResamplePlan* plan) noexcept nogil:
    cdef const Tensor* input = plan.given.input
    cdef const Tensor* output = plan.given.output
    cdef Move work
    cdef NearestRows rows
    cdef int64_t count, grain, repeats, step, items
    cdef int64_t none = 0
    cdef int64_t* room
    cdef int d = output.rank - 1, k = 0, status
    rows.twice = plan.axes > 0 and plan.axis[plan.axes - 1].number == d and not stream_pays(input.bytes + output.bytes)
    rows.twice = rows.twice and input.strides[d] == input.item and output.strides[d] == output.item
    rows.twice = rows.twice and input.sizes[d] > 1 and d > 0
    rows.twice = rows.twice and is_regular(&plan.axis[plan.axes - 1], plan.given.nearest, &repeats, &step)
    rows.twice = rows.twice and repeats == 2
    if not rows.twice and as_move(plan, &work):
        return run_move(&work, output.bytes)
    rows.input = input
    rows.output = output
    rows.nearest = plan.given.nearest
    rows.last = d
    rows.rows = 1
    for d in range(output.rank):
        rows.axis[d] = NULL
        rows.at[d] = NULL
        if k < plan.axes and plan.axis[k].number == d:
            rows.axis[d] = &plan.axis[k]
            k += 1
        if d < rows.last:
            rows.rows *= output.sizes[d]
    d = rows.last
    rows.offsets = NULL
    rows.wide = count = output.sizes[d]
    if not rows.twice and (rows.axis[d] != NULL or input.strides[d] != input.item or output.strides[d] != output.item):
        rows.offsets = &none        # there will be some
        if count > TABLE_TAPS:
            rows.wide = LONG
    room = <int64_t*> new_numbers(find_places(&rows, NULL))
    if room == NULL:
        return -1
    find_places(&rows, room)
    items = rows.rows * ceil_div(count, rows.wide)
    grain = grain_of(2 * rows.wide * output.item)
    if rows.wide < count:           # offsets are found again in each part
        grain *= 4
    status = parallel_for(nearest_rows, &rows, items, items if output.bytes <= SERIAL_BYTES else grain)
    free(room)
    return status
