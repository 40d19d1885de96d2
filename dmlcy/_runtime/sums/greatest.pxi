# The gradient of maxima: each element of the positions goes to the first of the greatest elements of its window.

cdef enum:
    # the most sums of gradients that a band of rows keeps, unless windows are too tall for so few
    BAND_SUMS = 65536
    # the most taps of a window, beyond four for each element of a row, whose positions inside the input are listed
    MOST_TAPS = 64
    PLACE_BITS = 32                 # of a place below a key
    AT_ENDS = 4                     # positions whose elements are looked at one by one

cdef struct Greatest:
    Volume volume
    const SumLoops* loops
    const SampleLoops* samples
    int band                        # the axis that is cut
    int64_t tall
    int64_t bands
    int bits                        # of a column: rows of sums are as long as these have numbers
    int64_t inner                   # sums for each element of that axis
    int64_t input_steps[3]
    bint floats                     # elements of a row of the input are neighbours of FLOAT32
    int64_t tap                     # of the row, the elements of the window that are inside at some position
    int64_t last_tap
    const int64_t* inside           # and for each the first position and the end; NULL: there are too many
    int64_t whole                   # the first position at which all elements of the window are inside, and the end
    int64_t whole_end
    bint far                        # windows have more places than PLACE_BITS can tell apart
    bint direct                     # no windows overlap: elements go to the output themselves
    bint fours                      # and all are of two by two floats side by side, and inside


# The room of a band.
cdef struct GreatestRoom:
    double* sums                    # of the part of the image
    char* target                    # of the channel
    double* gradient                # a row of positions
    int64_t* best                   # the maxima at these positions
    int64_t* placed                 # those of columns
    int32_t* keys
    int32_t* most
    int32_t* rows


# Finds the greatest element of each column under a window, and its row: those of taps, counted from the first ones.
# False: all is padding.
cdef bint find_columns(const Greatest* a, const char* image, const int64_t* first, const int64_t* end,
                       const int64_t* position, const GreatestRoom* room) noexcept nogil:
    cdef const Volume* v = &a.volume
    cdef int64_t size = v.axes[2].size, z, y, row = 0
    cdef const char* source
    if first[0] >= end[0] or first[1] >= end[1]:
        return False
    if a.floats and end[0] - first[0] == 1:
        source = image + (position[0] + first[0] * v.axes[0].dilation) * a.input_steps[0]
        source += (position[1] + first[1] * v.axes[1].dilation) * a.input_steps[1]
        a.loops.columns(
            source, v.axes[1].dilation * a.input_steps[1], <int32_t> (end[1] - first[1]), a.bits, room.placed, size)
        return True
    for z in range(first[0], end[0]):
        for y in range(first[1], end[1]):
            source = image + (position[0] + z * v.axes[0].dilation) * a.input_steps[0]
            source += (position[1] + y * v.axes[1].dilation) * a.input_steps[1]
            if row == 0:
                a.loops.keys(v.given.input.dtype, source, a.input_steps[2], room.most, size)
                memset(room.rows, 0, size * sizeof(int32_t))
            elif a.floats:
                a.loops.greater_floats(<const float*> source, <int32_t> row, room.most, room.rows, size)
            else:
                a.loops.keys(v.given.input.dtype, source, a.input_steps[2], room.keys, size)
                a.loops.greater(room.keys, <int32_t> row, room.most, room.rows, size)
            row += 1
    a.loops.placed(room.most, room.rows, a.bits, room.placed, size)
    return True


# The same at positions first … end-1, of which some have elements outside.
cdef void find_some(const Greatest* a, int64_t first, int64_t end, const GreatestRoom* room) noexcept nogil:
    cdef const Slide* axis = &a.volume.axes[2]
    cdef int64_t tap, begin, stop, i
    for i in range(first, end):
        room.best[i] = INT64_MIN
    if a.inside == NULL or end - first <= AT_ENDS:
        for i in range(first, end):
            taps_inside(axis, i, &begin, &stop)
            for tap in range(begin, stop):
                room.best[i] = max(room.best[i], room.placed[i * axis.stride + tap * axis.dilation - axis.start])
        return
    for tap in range(a.tap, a.last_tap):
        begin = max(a.inside[2 * (tap - a.tap)], first)
        stop = min(a.inside[2 * (tap - a.tap) + 1], end)
        if begin < stop:
            a.loops.most(
                room.placed + (begin * axis.stride + tap * axis.dilation - axis.start), axis.stride, room.best + begin,
                stop - begin)


# Finds the greatest element under each window along a row, of those of columns.
cdef void find_rows(const Greatest* a, const GreatestRoom* room) noexcept nogil:
    cdef const Slide* axis = &a.volume.axes[2]
    find_some(a, 0, a.whole, room)
    if a.whole < a.whole_end:
        a.loops.most_inside(
            room.placed + (a.whole * axis.stride - axis.start), axis.stride, axis.dilation, axis.window,
            room.best + a.whole, a.whole_end - a.whole)
    find_some(a, a.whole_end, axis.count, room)


# Adds a row of positions to what their maxima have. `low` and `high`: the part of the image along the axis of bands.
cdef void add_row(const Greatest* a, const char* image, const char* gradient, int64_t p, int64_t q, int64_t low,
                  int64_t high, const GreatestRoom* room) noexcept nogil:
    cdef const Volume* v = &a.volume
    cdef const Slide* axis = &v.axes[2]
    cdef int64_t first[2]
    cdef int64_t end[2]
    cdef int64_t position[2]
    cdef int64_t i, z, y, height, row, column, low_row
    cdef int64_t mask = (<int64_t> 1 << a.bits) - 1
    position[0] = p * v.axes[0].stride - v.axes[0].start
    position[1] = q * v.axes[1].stride - v.axes[1].start
    taps_inside(&v.axes[0], p, &first[0], &end[0])
    taps_inside(&v.axes[1], q, &first[1], &end[1])
    if not find_columns(a, image, first, end, position, room):
        return
    find_rows(a, room)
    low_row = position[1] + first[1] * v.axes[1].dilation
    if a.direct:
        a.loops.give_floats(
            room.best, a.bits, <const float*> gradient, room.target + low_row * v.image_steps[1],
            v.axes[1].dilation * v.image_steps[1], v.image_steps[2], axis.count)
        return
    a.samples.load(v.given.positions.dtype, gradient, v.position_steps[2], room.gradient, axis.count)
    if a.band == 1 and v.axes[1].dilation == 1 and low <= low_row and low_row + end[1] - first[1] <= high:
        a.loops.give(room.best, room.gradient, room.sums + ((low_row - low) << a.bits), axis.count)
        return
    height = end[1] - first[1]
    for i in range(axis.count):
        if room.best[i] == INT64_MIN:
            continue
        row = <int64_t> (<uint32_t> ~<uint64_t> room.best[i])
        column = row & mask
        row >>= a.bits
        z = y = row
        if a.band == 0:
            z = row // height
            y = row - z * height
            z = position[0] + (first[0] + z) * v.axes[0].dilation
        y = position[1] + (first[1] + y) * v.axes[1].dilation
        if a.band == 0:
            if low <= z < high:
                room.sums[(((z - low) * v.axes[1].size + y) << a.bits) + column] += room.gradient[i]
        elif low <= y < high:
            room.sums[((y - low) << a.bits) + column] += room.gradient[i]


# The whole image of a channel. Elements behind the last window of a row or a column get zeros.
cdef void make_fours(const Greatest* a, const char* image, const char* gradient, char* target) noexcept nogil:
    cdef const Volume* v = &a.volume
    cdef int64_t size = v.axes[2].size, count = v.axes[2].count, q, row
    cdef const char* source
    cdef char* to
    for q in range(v.axes[1].count):
        source = image + 2 * q * a.input_steps[1]
        to = target + 2 * q * v.image_steps[1]
        a.loops.fours(
            <const float*> source, <const float*> (source + a.input_steps[1]),
            <const float*> (gradient + q * v.position_steps[1]), <float*> to, <float*> (to + v.image_steps[1]), count)
        if 2 * count < size:
            memset(to + 2 * count * sizeof(float), 0, (size - 2 * count) * sizeof(float))
            memset(to + v.image_steps[1] + 2 * count * sizeof(float), 0, (size - 2 * count) * sizeof(float))
    for row in range(2 * v.axes[1].count, v.axes[1].size):
        memset(target + row * v.image_steps[1], 0, size * sizeof(float))


# The same for windows of very many places: element by element.
cdef void add_far(const Greatest* a, const char* image, const char* gradient, int64_t p, int64_t q, int64_t low,
                  int64_t high, const GreatestRoom* room) noexcept nogil:
    cdef const Volume* v = &a.volume
    cdef int64_t first[3]
    cdef int64_t end[3]
    cdef int64_t place[3]
    cdef int64_t i, k, m, n, x, y, z, at, most
    cdef const char* source
    cdef int32_t key, best
    place[0] = p * v.axes[0].stride - v.axes[0].start
    place[1] = q * v.axes[1].stride - v.axes[1].start
    taps_inside(&v.axes[0], p, &first[0], &end[0])
    taps_inside(&v.axes[1], q, &first[1], &end[1])
    a.samples.load(v.given.positions.dtype, gradient, v.position_steps[2], room.gradient, v.axes[2].count)
    for i in range(v.axes[2].count):
        place[2] = i * v.axes[2].stride - v.axes[2].start
        taps_inside(&v.axes[2], i, &first[2], &end[2])
        most = -1
        best = 0
        for k in range(first[0], end[0]):
            z = place[0] + k * v.axes[0].dilation
            for m in range(first[1], end[1]):
                y = place[1] + m * v.axes[1].dilation
                for n in range(first[2], end[2]):
                    x = place[2] + n * v.axes[2].dilation
                    source = image + z * a.input_steps[0] + y * a.input_steps[1] + x * a.input_steps[2]
                    a.loops.keys(v.given.input.dtype, source, a.input_steps[2], &key, 1)
                    if most < 0 or key > best:
                        best = key
                        most = ((z * v.axes[1].size + y) << a.bits) + x
        if most >= 0:
            at = most >> a.bits
            z = at // v.axes[1].size if a.band == 0 else at
            if low <= z < high:
                room.sums[most - low * a.inner] += room.gradient[i]


cdef void make_greatest(const Greatest* a, int64_t channel, int64_t low, int64_t high,
                        GreatestRoom* room) noexcept nogil:
    cdef const Volume* v = &a.volume
    cdef const Slide* axis = &v.axes[a.band]
    cdef const char* image = channel_of(v.given.input, channel)
    cdef const char* gradient = channel_of(&v.given.positions, channel)
    cdef const char* row_gradient
    cdef char* target = channel_of(&v.given.image, channel)
    cdef int64_t begin[2]
    cdef int64_t end[2]
    cdef int64_t size = v.axes[2].size, p, q, row
    begin[0] = begin[1] = 0
    end[0] = v.axes[0].count
    end[1] = v.axes[1].count
    begin[a.band] = max(0, ceil_div(low + axis.start - (axis.window - 1) * axis.dilation, axis.stride))
    end[a.band] = min(axis.count, floor_div(high - 1 + axis.start, axis.stride) + 1)
    room.target = target
    if a.fours:
        make_fours(a, image, gradient, target)
        return
    if a.direct:
        for row in range(low, high):
            memset(target + row * v.image_steps[1], 0, size * sizeof(float))
    else:
        memset(room.sums, 0, (high - low) * a.inner * sizeof(double))
    for p in range(begin[0], end[0]):
        for q in range(begin[1], end[1]):
            row_gradient = gradient + p * v.position_steps[0] + q * v.position_steps[1]
            if a.far:
                add_far(a, image, row_gradient, p, q, low, high, room)
            else:
                add_row(a, image, row_gradient, p, q, low, high, room)
    for row in range(0 if a.direct else (high - low) * a.inner >> a.bits):
        p = low + row if a.band == 1 else row % v.axes[1].size
        q = 0 if a.band == 1 else low + row // v.axes[1].size
        a.samples.store(
            v.given.image.dtype, room.sums + (row << a.bits), 0.0, target + q * v.image_steps[0] + p * v.image_steps[1],
            v.image_steps[2], size)


cdef int greatest_bands(const void* args, int64_t begin, int64_t end) noexcept nogil:
    cdef const Greatest* a = <const Greatest*> args
    cdef int64_t size = a.volume.axes[2].size, count = a.volume.axes[2].count, number, low
    cdef size_t bytes = <size_t> (a.tall * a.inner + 2 * count + size) * 8 + <size_t> size * 12
    cdef double* buffer = <double*> malloc(bytes)
    cdef GreatestRoom room
    if buffer == NULL:
        return -1
    room.sums = buffer
    room.gradient = room.sums + a.tall * a.inner
    room.best = <int64_t*> (room.gradient + count)
    room.placed = room.best + count
    room.keys = <int32_t*> (room.placed + size)
    room.most = room.keys + size
    room.rows = room.most + size
    for number in range(begin, end):
        low = number % a.bands * a.tall
        make_greatest(a, number // a.bands, low, min(low + a.tall, a.volume.axes[a.band].size), &room)
    free(buffer)
    return 0


# Whether the rows under a window, each as long as a power of two, have more places than the bits below a key.
cdef inline bint is_far(const Greatest* a) noexcept nogil:
    cdef const Slide* axes = &a.volume.axes[0]
    cdef int64_t most = <int64_t> 1 << max(PLACE_BITS - a.bits, 0)
    cdef int64_t slices = min(axes[0].window, axes[0].size), rows = min(axes[1].window, axes[1].size)
    return a.bits > PLACE_BITS or slices > most // rows


cdef int run_greatest(const WindowSums* a) noexcept nogil:
    cdef Greatest plan
    cdef const Slide* axis
    cdef int64_t* inside
    cdef int64_t tap, extent, items, bytes = a.image.bytes + a.input.bytes + a.positions.bytes
    cdef int d, status
    plan.volume = volume_of(a)
    plan.loops = &dmlcy_sum_loops[dmlcy_level()]
    plan.samples = sample_loops()
    plan.band = 3 - a.spatial
    plan.input_steps[0] = 0
    for d in range(a.spatial):
        plan.input_steps[plan.band + d] = a.input.strides[2 + d]
    plan.floats = a.input.dtype == FLOAT32 and plan.input_steps[2] == a.input.item
    taps_somewhere(&plan.volume.axes[2], &plan.tap, &plan.last_tap)
    axis = &plan.volume.axes[2]
    plan.whole = min(ceil_div(axis.start, axis.stride), axis.count)
    plan.whole_end = floor_div(axis.size - 1 - (axis.window - 1) * axis.dilation + axis.start, axis.stride) + 1
    plan.whole_end = max(plan.whole, min(plan.whole_end, axis.count))
    plan.inside = inside = NULL
    if plan.last_tap - plan.tap <= 4 * plan.volume.axes[2].size + MOST_TAPS:
        plan.inside = inside = <int64_t*> malloc(<size_t> (2 * max(plan.last_tap - plan.tap, 1)) * sizeof(int64_t))
        if inside == NULL:
            return -1
        for tap in range(plan.last_tap - plan.tap):
            positions_inside(&plan.volume.axes[2], plan.tap + tap, &inside[2 * tap], &inside[2 * tap + 1])
    plan.bits = 0
    while (<int64_t> 1 << plan.bits) < plan.volume.axes[2].size:
        plan.bits += 1
    plan.inner = <int64_t> 1 << plan.bits
    if a.spatial == 3:
        plan.inner *= plan.volume.axes[1].size
    plan.far = is_far(&plan)
    axis = &plan.volume.axes[plan.band]
    extent = (axis.window - 1) * axis.dilation + 1
    plan.direct = plan.band == 1 and a.image.dtype == FLOAT32 and plan.volume.image_steps[2] == a.image.item
    plan.direct = plan.direct and plan.volume.position_steps[2] == a.positions.item and extent <= axis.stride
    plan.direct = plan.direct and not plan.far and (a.window[1] - 1) * a.dilations[1] < a.strides[1]
    plan.fours = plan.direct and plan.floats and in_twos(&plan.volume.axes[1]) and in_twos(&plan.volume.axes[2])
    plan.tall = axis.size
    items = a.image.sizes[0] * a.image.sizes[1]
    while plan.tall > 1 and not plan.direct and plan.tall > 2 * extent and (
            plan.tall * plan.inner > BAND_SUMS
            or a.image.bytes > SERIAL_BYTES and items * ceil_div(axis.size, plan.tall) < 8):
        plan.tall = ceil_div(plan.tall, 2)
    plan.bands = ceil_div(axis.size, plan.tall)
    items *= plan.bands
    status = parallel_for(greatest_bands, &plan, items, items if bytes <= SERIAL_BYTES else grain_of(bytes // items))
    free(inside)
    return status
