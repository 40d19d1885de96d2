# The axes that are gone through.

cdef void begin(Indexed* a, const Tensor* places, const Tensor* indices, const Tensor* others,
                bint gives) noexcept nogil:
    a.places = places.data
    a.others = others.data
    a.indices = indices.data
    a.item = places.item
    a.index_item = indices.item
    a.index_type = type_of_index(indices)
    a.gives = gives
    a.flat = False
    a.way = EACH
    a.rank = a.coordinates = 0
    a.coordinate_step = 0


cdef void add_axis(Indexed* a, int64_t size, int64_t own, int64_t step, int64_t index_step) noexcept nogil:
    a.sizes[a.rank] = size
    a.own[a.rank] = own
    a.steps[a.rank] = step
    a.index_steps[a.rank] = index_step
    a.rank += 1


cdef void add_coordinate(Indexed* a, int64_t size, int64_t step) noexcept nogil:
    a.counted[a.coordinates] = size
    a.place_steps[a.coordinates] = step
    a.coordinates += 1


cdef bint follows(const Indexed* a, int axis, int64_t size, int64_t own, int64_t step,
                  int64_t index_step) noexcept nogil:
    """Whether an inner axis continues another one in all tensors."""
    return a.own[axis] == size * own and a.steps[axis] == size * step and a.index_steps[axis] == size * index_step


# Axes of one element go away, and axes that continue each other become one. The elements of the last axis then lie
# where one index says, though there may be only one of them. There is an axis in front of it.
cdef void join_axes(Indexed* a) noexcept nogil:
    cdef int d, count = a.rank
    a.rank = 0
    for d in range(count):
        if a.sizes[d] == 1:
            continue
        if a.rank > 0 and follows(a, a.rank - 1, a.sizes[d], a.own[d], a.steps[d], a.index_steps[d]):
            a.sizes[a.rank - 1] *= a.sizes[d]
            a.own[a.rank - 1] = a.own[d]
            a.steps[a.rank - 1] = a.steps[d]
            a.index_steps[a.rank - 1] = a.index_steps[d]
        else:
            add_axis(a, a.sizes[d], a.own[d], a.steps[d], a.index_steps[d])
    if a.rank == 0 or a.index_steps[a.rank - 1] != 0 or a.way == LINES:
        add_axis(a, 1, a.item, a.item, 0)
    if a.rank == 1:
        add_axis(a, a.sizes[0], a.own[0], a.steps[0], 0)
        a.sizes[0] = 1


# Whether the rows of indices that are gone through are always the same one.
cdef bint repeats(const Indexed* a) noexcept nogil:
    cdef int d
    for d in range(a.rank - 2):
        if a.index_steps[d] != 0:
            return False
    return a.rank > 2 and a.sizes[a.rank - 2] <= TOGETHER


# How the elements of the last two axes move.
cdef void choose_way(Indexed* a) noexcept nogil:
    cdef int last = a.rank - 1
    if a.way == LINES:
        return
    if a.sizes[last] > 1:
        a.way = RUNS if a.own[last] == a.item and a.steps[last] == a.item else STRIDED
    else:
        a.way = EACH if a.coordinates == 1 and not a.flat and not repeats(a) else ELEMENTS


# The axis that threads share: of an output to which elements are given, one whose places no index can name twice.
cdef void share_axis(Indexed* a) noexcept nogil:
    cdef int d
    a.shared = a.rank - 1
    for d in range(a.rank - 1):
        if a.gives and a.own[d] == 0:
            continue
        if a.sizes[d] >= LEAST_PIECES or a.sizes[d] > a.sizes[a.shared]:
            a.shared = d
            if a.sizes[d] >= LEAST_PIECES:
                return


# The elements of an input, to some of which others go then. An output may lie exactly over it.
cdef int copy(const Tensor* input, const Tensor* output) noexcept nogil:
    return 0 if input.data == output.data else run_copy(input, output)


cdef int clear(const Tensor* output) noexcept nogil:
    """All elements become 0."""
    cdef int64_t zero = 0
    if output.dense:
        memset(output.data, 0, output.bytes)
        return 0
    return run_repeat(&zero, output)
