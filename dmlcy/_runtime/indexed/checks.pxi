# Whether all indices are inside.

# The elements of a tensor: its axes of more than one element, joined.
cdef struct Checked:
    AnyOutside any_outside
    const char* data
    int64_t low
    int64_t high
    int rank
    int64_t sizes[MAX_RANK]
    int64_t steps[MAX_RANK]


# Items are those of the first axis; -1 where an element of them is outside.
cdef int check_part(const void* args, int64_t first, int64_t end) noexcept nogil:
    cdef Checked a = (<const Checked*> args)[0]
    cdef int64_t place[MAX_RANK]
    cdef const char* data = a.data + first * a.steps[0]
    cdef int last = a.rank - 1, d
    a.sizes[0] = end - first
    memset(place, 0, sizeof(place))
    while True:
        if a.any_outside(data, a.sizes[last], a.steps[last], a.low, a.high):
            return -1
        d = last - 1
        while d >= 0:
            place[d] += 1
            data += a.steps[d]
            if place[d] < a.sizes[d]:
                break
            data -= place[d] * a.steps[d]
            place[d] = 0
            d -= 1
        if d < 0:
            return 0


cdef bint elements_inside(const Tensor* tensor, int64_t low, int64_t high, int64_t at, int64_t of) noexcept nogil:
    cdef Checked work
    cdef int64_t size, bytes = tensor.item
    cdef int d
    work.any_outside = dmlcy_outside_rows[dmlcy_wide()][type_of_index(tensor)]
    work.data = tensor.data
    work.low = low
    work.high = high
    work.rank = 0
    for d in range(tensor.rank):
        size = tensor.sizes[d]
        if size == 0:
            return True
        if of > 1 and d == tensor.rank - 1:
            work.data += at * tensor.strides[d]
            size = 1
        if size == 1:
            continue
        bytes *= size
        if work.rank > 0 and work.steps[work.rank - 1] == size * tensor.strides[d]:
            work.sizes[work.rank - 1] *= size
        else:
            work.sizes[work.rank] = size
            work.rank += 1
        work.steps[work.rank - 1] = tensor.strides[d]
    if work.rank == 0:
        work.sizes[0] = work.rank = 1
        work.steps[0] = 0
    size = work.sizes[0]
    return parallel_for(check_part, &work, size, grain_of(bytes // size) if bytes >= CHECKED_BYTES else size) == 0
