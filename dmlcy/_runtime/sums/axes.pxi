# The common numbers of the windows along an axis, and sums of as many rows as a window has positions over an element.

cdef enum:
    # the most rows that are added one by one; for more rows, two partial sums are joined
    FEW_ROWS = 4

cdef struct Slide:
    int64_t size                    # of the image
    int64_t count                   # positions
    int64_t window
    int64_t stride
    int64_t dilation
    int64_t start


cdef inline Slide slide_of(const WindowSums* a, int d) noexcept nogil:
    cdef Slide axis
    axis.size = a.image.sizes[2 + d]
    axis.count = a.positions.sizes[2 + d]
    axis.window = a.window[d]
    axis.stride = a.strides[d]
    axis.dilation = a.dilations[d]
    axis.start = a.start[d]
    return axis


# The elements of the window at a position that are no padding: from the first to before the end.
cdef inline void taps_inside(const Slide* axis, int64_t position, int64_t* first, int64_t* end) noexcept nogil:
    cdef int64_t place = position * axis.stride - axis.start
    first[0] = max(0, ceil_div(-place, axis.dilation))
    end[0] = max(first[0], min(axis.window, floor_div(axis.size - 1 - place, axis.dilation) + 1))


# How many they are, but at least 1.
cdef inline int64_t divisor_at(const Slide* axis, int64_t position) noexcept nogil:
    cdef int64_t first, end
    taps_inside(axis, position, &first, &end)
    return max(end - first, 1)


# Over an element are the windows at the positions up to `last`: `least` of them, or one more if the element is not
# far from where the last one begins. There are none where a position is no position of the tensor.
cdef struct Over:
    int64_t least
    int64_t near                    # elements of a stride over which there is one more; 0: nowhere


cdef inline Over over_of(const Slide* axis) noexcept nogil:
    cdef Over over
    over.least = axis.window // axis.stride
    over.near = axis.window % axis.stride
    return over


# Sums of rows, for elements in ascending order. Sums of `least` rows are made of parts of blocks of so many rows. The
# parts are the rows of a block behind a row, and the rows of the next block before another one. So they cost the same
# for all windows.
cdef struct RowSums:
    const SampleLoops* loops
    const Slide* axis
    Over over
    const double* rows              # of the positions from `low` to before `high`
    int64_t low
    int64_t high
    int64_t inner                   # numbers of a row
    const double* zeros             # a row of them
    double* behind                  # for each row of a block, the sum of it and those after it
    double* before                  # the sum of the rows of a block so far
    int64_t last                    # the position up to which there is one; INT64_MAX: none yet
    double* sum                     # room for a row
    double* more


cdef inline const double* row_at(const RowSums* a, int64_t position) noexcept nogil:
    if a.low <= position < a.high:
        return a.rows + (position - a.low) * a.inner
    return a.zeros


# Rows that are not there count as zeros, and take no time.
cdef void sum_behind(const RowSums* a, int64_t first, int64_t end) noexcept nogil:
    cdef int64_t size = a.over.least, p
    cdef double* row
    first = max(first, a.low)
    end = min(end, a.high)
    if first >= end:
        return
    memcpy(a.behind + (end - 1) % size * a.inner, row_at(a, end - 1), a.inner * sizeof(double))
    for p in range(end - 2, first - 1, -1):
        row = a.behind + p % size * a.inner
        a.loops.sum(row_at(a, p), row + a.inner, row, a.inner)


cdef inline const double* behind_at(const RowSums* a, int64_t position) noexcept nogil:
    if a.low <= position < a.high:
        return a.behind + position % a.over.least * a.inner
    return a.zeros


# Makes the sum of the `least` rows up to a position, which is the one after that of the last call, or the same.
cdef const double* sum_to(RowSums* a, int64_t position) noexcept nogil:
    cdef int64_t size = a.over.least, p, begin
    cdef const double* four[4]
    if size == 0:
        return a.zeros
    if size == 1:
        return row_at(a, position)
    if size <= FEW_ROWS:
        if size == 4:
            for p in range(4):
                four[p] = row_at(a, position - 3 + p)
            a.loops.sum_four(four, a.sum, a.inner)
            return a.sum
        a.loops.sum(row_at(a, position - size + 1), row_at(a, position - size + 2), a.sum, a.inner)
        if size == 3:
            a.loops.add(row_at(a, position), a.sum, a.inner)
        return a.sum
    if position != a.last:
        begin = position - floor_mod(position, size)
        if a.last == INT64_MAX or position == begin:
            sum_behind(a, position - size + 1, begin)
            memcpy(a.before, row_at(a, begin), a.inner * sizeof(double))
            for p in range(max(begin + 1, a.low), min(position + 1, a.high)):
                a.loops.add(row_at(a, p), a.before, a.inner)
        elif position < a.high:
            a.loops.add(row_at(a, position), a.before, a.inner)
        a.last = position
    if floor_mod(position + 1, size) == 0:
        return a.before
    a.loops.sum(behind_at(a, position - size + 1), a.before, a.sum, a.inner)
    return a.sum


# The same for an element that has just these rows over it, written as floats where one pass does. False: it does not.
cdef inline bint slides_to(RowSums* a, int64_t place, float* target) noexcept nogil:
    cdef int64_t position = place + a.axis.start, size = a.over.least, phase
    if size <= FEW_ROWS or a.axis.stride != 1 or a.last != position - 1 or position >= a.high:
        return False
    phase = position % size
    if phase == 0 or phase + 1 == size:
        return False
    a.loops.slide(row_at(a, position), a.before, behind_at(a, position - size + 1), target, a.inner)
    a.last = position
    return True


# The addend of an element of the image: the sum of all rows of positions whose windows are over it.
cdef const double* sum_over(RowSums* a, int64_t place) noexcept nogil:
    cdef int64_t at = place + a.axis.start
    cdef int64_t position = at // a.axis.stride
    cdef const double* found = sum_to(a, position)
    if at - position * a.axis.stride >= a.over.near:
        return found
    if a.over.least == 0:
        return row_at(a, position)
    a.loops.sum(row_at(a, position - a.over.least), found, a.more, a.inner)
    return a.more


# The positions whose windows are over elements first … end-1.
cdef inline void positions_over(const Slide* axis, int64_t first, int64_t end, int64_t* low,
                                int64_t* high) noexcept nogil:
    cdef Over over = over_of(axis)
    low[0] = max(0, (first + axis.start) // axis.stride - over.least)
    high[0] = max(low[0], min(axis.count, (end - 1 + axis.start) // axis.stride + 1))


cdef inline int64_t room_of_sums(const Slide* axis, int64_t inner) noexcept nogil:
    return (min(over_of(axis).least, axis.count) + 4) * inner


# `room` has the numbers of room_of_sums.
cdef inline RowSums row_sums(const SampleLoops* loops, const Slide* axis, const double* rows, int64_t low, int64_t high,
                             int64_t inner, double* room) noexcept nogil:
    cdef RowSums a
    a.loops = loops
    a.axis = axis
    a.over = over_of(axis)
    a.rows = rows
    a.low = low
    a.high = high
    a.inner = inner
    a.last = INT64_MAX
    memset(room, 0, inner * sizeof(double))
    a.zeros = room
    a.sum = room + inner
    a.more = room + 2 * inner
    a.before = room + 3 * inner
    a.behind = room + 4 * inner
    return a
