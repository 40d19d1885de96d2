# Lines with a value at an index.

cdef struct Lines:
    const Tensor* indices
    const Tensor* output
    const char* own                 # the value at an index
    int64_t axis


# The place in a line of so many elements that an index says; -1: none. Negative ones count from the end.
cdef inline int64_t place_of(const char* index, int dtype, int64_t length) noexcept nogil:
    cdef int64_t place
    if dtype == UINT32:
        place = (<const uint32_t*> index)[0]
    elif dtype == INT32:
        place = (<const int32_t*> index)[0]
    else:
        place = (<const int64_t*> index)[0]
        if dtype != INT64 and place < 0:
            return -1
    if place < 0:
        place += length
    return place if 0 <= place < length else -1


# Items are indices.
cdef int mark(const void* args, int64_t begin, int64_t end) noexcept nogil:
    cdef const Lines* a = <const Lines*> args
    cdef const Tensor* indices = a.indices
    cdef int64_t length = a.output.sizes[a.axis], pitch = a.output.strides[a.axis]
    cdef CopyStrided put = moves_of(a.output.item).copy_strided
    cdef int64_t number, rest, at, place
    cdef const char* source
    cdef char* target
    cdef int d
    for number in range(begin, end):
        source = indices.data
        target = a.output.data
        rest = number
        for d in range(indices.rank - 1, -1, -1):
            at = rest % indices.sizes[d]
            rest //= indices.sizes[d]
            source += at * indices.strides[d]
            target += at * a.output.strides[d]
        place = place_of(source, indices.dtype, length)
        if place >= 0:
            put(a.own, 0, 0, target + place * pitch, 0, 0, 1, 1)
    return 0


# Element 1 of a tensor, row by row; it has two or more.
cdef const char* second(const Tensor* values) noexcept nogil:
    cdef int d = values.rank - 1
    while d > 0 and values.sizes[d] == 1:
        d -= 1
    return values.data + values.strides[d]


cdef int run_lines(const Tensor* indices, const Tensor* values, const Tensor* output, int64_t axis) noexcept nogil:
    cdef Lines work
    if run_repeat(values.data, output) != 0:
        return -1
    work.indices = indices
    work.output = output
    work.own = second(values)
    work.axis = axis
    return parallel_for(mark, &work, indices.bytes // indices.item, grain_of(DMLCY_LINE))
