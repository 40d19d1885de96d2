# Whether all indices are inside.

cdef bint elements_inside(const Tensor* tensor, int64_t low, int64_t high, int64_t at, int64_t of) noexcept nogil:
    cdef AnyOutside any_outside = dmlcy_outside_rows[dmlcy_wide()][type_of_index(tensor)]
    cdef int64_t sizes[MAX_RANK]
    cdef int64_t steps[MAX_RANK]
    cdef int64_t place[MAX_RANK]
    cdef const char* data = tensor.data
    cdef int64_t size
    cdef int rank = 0, d
    for d in range(tensor.rank):
        size = tensor.sizes[d]
        if size == 0:
            return True
        if of > 1 and d == tensor.rank - 1:
            data += at * tensor.strides[d]
            size = 1
        if size == 1:
            continue
        if rank > 0 and steps[rank - 1] == size * tensor.strides[d]:
            sizes[rank - 1] *= size
        else:
            sizes[rank] = size
            rank += 1
        steps[rank - 1] = tensor.strides[d]
    if rank == 0:
        sizes[0] = rank = 1
        steps[0] = 0
    memset(place, 0, sizeof(place))
    while True:
        if any_outside(data, sizes[rank - 1], steps[rank - 1], low, high):
            return False
        d = rank - 2
        while d >= 0:
            place[d] += 1
            data += steps[d]
            if place[d] < sizes[d]:
                break
            data -= place[d] * steps[d]
            place[d] = 0
            d -= 1
        if d < 0:
            return True
