# The gradient of maxima: each element of the positions goes to the first of the greatest elements of its window.

cdef enum:
    BAND_SUMS = 65536               # of the image that a band keeps, about

cdef struct Greatest:
    Volume volume
    const SumLoops* loops
    const SampleLoops* samples
    int band                        # the axis that is cut
    int64_t tall
    int64_t bands
    int bits                        # of a column
    int64_t inner                   # elements of the image for each element of that axis


# The room of a band.
cdef struct GreatestRoom:
    double* sums                    # of the part of the image
    double* gradient                # a row of positions
    int64_t* best                   # the maxima at these positions
    int64_t* placed                 # those of columns
    int32_t* keys
    int32_t* most
    int32_t* rows


# Finds the greatest element of each column under a window, and its row: those of taps, counted from the first ones. False:
# all is padding.
cdef bint find_columns(const Greatest* a, const char* image, const int64_t* first, const int64_t* end,
                       const int64_t* position, const GreatestRoom* room) noexcept nogil:
    cdef const Volume* v = &a.volume
    cdef int64_t size = v.axes[2].size, z, y, row = 0
    cdef const char* source
    if first[0] >= end[0] or first[1] >= end[1]:
        return False
    for z in range(first[0], end[0]):
        for y in range(first[1], end[1]):
            source = image + (position[0] + z * v.axes[0].dilation) * v.given.input.strides[v.given.input.rank - 3] \
                * (v.given.spatial == 3)
            source += (position[1] + y * v.axes[1].dilation) * v.given.input.strides[v.given.input.rank - 2]
            if row == 0:
                a.loops.keys(v.given.input.dtype, source, v.given.input.strides[v.given.input.rank - 1], room.most, size)
                memset(room.rows, 0, size * sizeof(int32_t))
            else:
                a.loops.keys(v.given.input.dtype, source, v.given.input.strides[v.given.input.rank - 1], room.keys, size)
                a.loops.greater(room.keys, <int32_t> row, room.most, room.rows, size)
            row += 1
    a.loops.placed(room.most, room.rows, a.bits, room.placed, size)
    return True


# Adds a row of positions to what their maxima have. `low` and `high`: the part of the image along the axis of bands.
cdef void add_row(const Greatest* a, const char* image, const char* gradient, int64_t p, int64_t q, int64_t low,
                  int64_t high, const GreatestRoom* room) noexcept nogil:
    cdef const Volume* v = &a.volume
    cdef const Slide* axis = &v.axes[2]
    cdef int64_t first[2]
    cdef int64_t end[2]
    cdef int64_t position[2]
    cdef int64_t tap, begin, stop, i, z, y, height, row, column, last_tap
    cdef int64_t mask = (<int64_t> 1 << a.bits) - 1
    position[0] = p * v.axes[0].stride - v.axes[0].start
    position[1] = q * v.axes[1].stride - v.axes[1].start
    taps_inside(&v.axes[0], p, &first[0], &end[0])
    taps_inside(&v.axes[1], q, &first[1], &end[1])
    if not find_columns(a, image, first, end, position, room):
        return
    for i in range(axis.count):
        room.best[i] = INT64_MIN
    taps_somewhere(axis, &tap, &last_tap)
    for tap in range(tap, last_tap):
        positions_inside(axis, tap, &begin, &stop)
        if begin < stop:
            a.loops.most(
                room.placed + (begin * axis.stride + tap * axis.dilation - axis.start), axis.stride, room.best + begin,
                stop - begin)
    a.samples.load(v.given.positions.dtype, gradient, v.position_steps[2], room.gradient, axis.count)
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
                room.sums[((z - low) * v.axes[1].size + y) * axis.size + column] += room.gradient[i]
        elif low <= y < high:
            room.sums[(y - low) * axis.size + column] += room.gradient[i]


cdef void make_greatest(const Greatest* a, int64_t channel, int64_t low, int64_t high,
                        const GreatestRoom* room) noexcept nogil:
    cdef const Volume* v = &a.volume
    cdef const Slide* axis = &v.axes[a.band]
    cdef const char* image = channel_of(v.given.input, channel)
    cdef const char* gradient = channel_of(&v.given.positions, channel)
    cdef char* target = channel_of(&v.given.image, channel)
    cdef int64_t begin[2]
    cdef int64_t end[2]
    cdef int64_t size = v.axes[2].size, p, q, row
    begin[0] = begin[1] = 0
    end[0] = v.axes[0].count
    end[1] = v.axes[1].count
    begin[a.band] = max(0, ceil_div(low + axis.start - (axis.window - 1) * axis.dilation, axis.stride))
    end[a.band] = min(axis.count, floor_div(high - 1 + axis.start, axis.stride) + 1)
    memset(room.sums, 0, (high - low) * a.inner * sizeof(double))
    for p in range(begin[0], end[0]):
        for q in range(begin[1], end[1]):
            add_row(
                a, image, gradient + p * v.position_steps[0] + q * v.position_steps[1], p, q, low, high, room)
    for row in range((high - low) * a.inner // size):
        p = low + row if a.band == 1 else row % v.axes[1].size
        q = 0 if a.band == 1 else low + row // v.axes[1].size
        a.samples.store(
            v.given.image.dtype, room.sums + row * size, 0.0, target + q * v.image_steps[0] + p * v.image_steps[1],
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


cdef int run_greatest(const WindowSums* a) noexcept nogil:
    cdef Greatest plan
    cdef const Slide* axis
    cdef int64_t extent, items, bytes = a.image.bytes + a.input.bytes + a.positions.bytes
    plan.volume = volume_of(a)
    plan.loops = &dmlcy_sum_loops[dmlcy_level()]
    plan.samples = sample_loops()
    plan.band = 3 - a.spatial
    plan.bits = 0
    while (<int64_t> 1 << plan.bits) < plan.volume.axes[2].size:
        plan.bits += 1
    plan.inner = plan.volume.axes[2].size
    if a.spatial == 3:
        plan.inner *= plan.volume.axes[1].size
    axis = &plan.volume.axes[plan.band]
    extent = (axis.window - 1) * axis.dilation + 1
    plan.tall = axis.size
    items = a.image.sizes[0] * a.image.sizes[1]
    while plan.tall > 1 and plan.tall > 2 * extent and (
            plan.tall * plan.inner > BAND_SUMS
            or a.image.bytes > SERIAL_BYTES and items * ceil_div(axis.size, plan.tall) < 8):
        plan.tall = ceil_div(plan.tall, 2)
    plan.bands = ceil_div(axis.size, plan.tall)
    items *= plan.bands
    return parallel_for(greatest_bands, &plan, items, items if bytes <= SERIAL_BYTES else grain_of(bytes // items))
