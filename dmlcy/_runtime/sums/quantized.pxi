# Means of quantized integers: sums of rows of the image, then of what is under each window along a row.

cdef enum:
    # the most elements along a window that are added one by one; for more, running sums are subtracted
    FEW_TAPS = 8
    MOST_ROWS = 4194304             # whose sum is a number of 32 bits
    BAND_POSITIONS = 4096           # the fewest results of a band of rows of means
    QUOTIENTS = 256                 # the most means that are computed at once, of several rows if these are short

cdef struct Quantized:
    Volume volume
    const SumLoops* loops
    bint is_signed
    bint twos                       # all windows are of two by two elements side by side, and inside
    bint moving                     # rows under the next window are found by those that come and those that go
    int64_t begin                   # elements of the window along a row that are inside at some position
    int64_t end
    int64_t pad                     # sums before the first place of a row
    int64_t at_once                 # positions whose means are computed at once
    const double* counts            # elements under each window along the row
    const double* divisors
    int64_t tall
    int64_t bands


# The room of a band.
cdef struct QuantizedRoom:
    double* columns                 # sums of columns; of more than FEW_TAPS, of all up to each place
    double* sums                    # under each window
    int32_t* whole                  # sums of columns of few rows


# An element of a tensor that has one for all channels or one for each; 0 without a tensor.
cdef inline double entry_of(const Tensor* tensor, int64_t channel) noexcept nogil:
    cdef const char* at = tensor.data
    cdef int axis = min(1, tensor.rank - 1)
    if tensor.dtype == 0:
        return 0
    if tensor.sizes[axis] > 1:
        at += channel * tensor.strides[axis]
    if tensor.dtype == FLOAT32:
        return (<const float*> at)[0]
    if tensor.dtype == INT8:
        return (<const int8_t*> at)[0]
    return (<const uint8_t*> at)[0]


# Adds rows to those under a window, or takes them away: of each slice under it those from `first` to before `end`.
cdef void count_rows(const Quantized* a, const char* image, int64_t z, int64_t slices, int64_t first, int64_t end,
                     int32_t sign, const QuantizedRoom* room) noexcept nogil:
    cdef const Volume* v = &a.volume
    cdef int64_t size = v.axes[2].size, left = MOST_ROWS, k, y
    for k in range(slices):
        y = first
        while y < end:
            a.loops.count(
                a.is_signed, image + (z + k * v.axes[0].dilation) * v.image_steps[0] + y * v.image_steps[1],
                v.image_steps[2], sign, room.whole, size)
            y += v.axes[1].dilation
            left -= 1
            if left == 0:
                a.loops.widen(room.whole, room.columns + a.pad, size)
                memset(room.whole, 0, size * sizeof(int32_t))
                left = MOST_ROWS


# The sums under each window along a row, of those of columns.
cdef void sum_columns(const Quantized* a, const QuantizedRoom* room) noexcept nogil:
    cdef const Slide* axis = &a.volume.axes[2]
    cdef double* columns = room.columns + a.pad
    cdef int64_t tap, first, end, i, place, last
    a.loops.widen(room.whole, columns, axis.size)
    memset(room.sums, 0, axis.count * sizeof(double))
    if a.end - a.begin <= FEW_TAPS:
        for tap in range(a.begin, a.end):
            positions_inside(axis, tap, &first, &end)
            if first < end:
                a.loops.plus(
                    columns + (first * axis.stride + tap * axis.dilation - axis.start), axis.stride, room.sums + first,
                    end - first)
        return
    for i in range(axis.dilation, axis.size):
        columns[i] += columns[i - axis.dilation]
    for i in range(axis.count):
        taps_inside(axis, i, &first, &end)
        if first < end:
            place = i * axis.stride - axis.start
            last = place + (end - 1) * axis.dilation
            place += (first - 1) * axis.dilation
            room.sums[i] = columns[last] - (columns[place] if place >= 0 else 0)


# Means of two by two elements, of several rows at once.
cdef void make_twos(const Quantized* a, const char* image, char* target, int64_t begin, int64_t stop,
                    const QuantizedRoom* room, SumQuotients* work) noexcept nogil:
    cdef const Volume* v = &a.volume
    cdef int64_t count = v.axes[2].count, q = begin, row, rows
    cdef const char* source
    while q < stop:
        rows = min(a.at_once // count, stop - q)
        for row in range(rows):
            source = image + 2 * (q + row) * v.image_steps[1]
            a.loops.twos(a.is_signed, source, source + v.image_steps[1], room.sums + row * count, count)
        work.size = rows * count
        work.target = <uint8_t*> target + q * v.position_steps[1]
        a.loops.quotients(work)
        q += rows


cdef void make_quantized(const Quantized* a, int64_t channel, int64_t p, int64_t begin, int64_t stop,
                         const QuantizedRoom* room) noexcept nogil:
    cdef const Volume* v = &a.volume
    cdef const WindowSums* given = v.given
    cdef const char* image = channel_of(&given.image, channel)
    cdef char* target = channel_of(&given.positions, channel) + p * v.position_steps[0]
    cdef const Slide* axis = &v.axes[1]
    cdef int64_t size = v.axes[2].size, z, first, end, slices, low, high, old_low = 0, old_high = 0, q, place
    cdef int64_t number = channel % given.image.sizes[1]
    cdef double scale = entry_of(given.output_scale, number)
    cdef SumQuotients work
    work.sums = room.sums
    work.counts = a.counts
    work.divisors = a.divisors
    work.scale = entry_of(given.scale, number)
    work.added = entry_of(given.output_zero, number)
    work.least = -128 if given.positions.dtype == INT8 else 0
    work.most = work.least + 255
    work.step = v.position_steps[2]
    work.size = v.axes[2].count
    if a.twos:
        work.taken = 2 * entry_of(given.zero, number)
        work.divisor = 2 * scale
        make_twos(a, image, target, begin, stop, room, &work)
        return
    taps_inside(&v.axes[0], p, &first, &end)
    slices = end - first
    z = p * v.axes[0].stride - v.axes[0].start + first * v.axes[0].dilation
    if a.moving:
        memset(room.whole, 0, size * sizeof(int32_t))
    for q in range(begin, stop):
        taps_inside(axis, q, &first, &end)
        place = q * axis.stride - axis.start
        low = place + first * axis.dilation
        high = place + end * axis.dilation
        memset(room.columns, 0, (a.pad + size) * sizeof(double))
        if a.moving and q > begin:
            count_rows(a, image, z, slices, old_low, min(low, old_high), -1, room)
            count_rows(a, image, z, slices, max(low, old_high), high, 1, room)
        else:
            memset(room.whole, 0, size * sizeof(int32_t))
            count_rows(a, image, z, slices, low, high, 1, room)
        old_low = low
        old_high = high
        sum_columns(a, room)
        work.taken = entry_of(given.zero, number) * <double> (slices * (end - first))
        work.divisor = scale * (
            <double> v.axes[0].window * <double> axis.window if given.counted
            else <double> (max(slices, 1) * max(end - first, 1)))
        work.target = <uint8_t*> target + q * v.position_steps[1]
        a.loops.quotients(&work)


cdef int quantized_bands(const void* args, int64_t begin, int64_t end) noexcept nogil:
    cdef const Quantized* a = <const Quantized*> args
    cdef int64_t size = a.volume.axes[2].size, number, rest, low
    cdef double* buffer = <double*> malloc(<size_t> (a.pad + size + a.at_once) * sizeof(double) + <size_t> size * 4)
    cdef QuantizedRoom room
    if buffer == NULL:
        return -1
    room.columns = buffer
    room.sums = buffer + a.pad + size
    room.whole = <int32_t*> (room.sums + a.at_once)
    for number in range(begin, end):
        low = number % a.bands * a.tall
        rest = number // a.bands
        make_quantized(
            a, rest // a.volume.axes[0].count, rest % a.volume.axes[0].count, low,
            min(low + a.tall, a.volume.axes[1].count), &room)
    free(buffer)
    return 0


cdef int run_quantized(const WindowSums* a) noexcept nogil:
    cdef Quantized plan
    cdef const Slide* axis
    cdef double* tables
    cdef int64_t first, end, i, items, bytes = a.image.bytes + a.positions.bytes
    cdef int status
    plan.volume = volume_of(a)
    plan.loops = &dmlcy_sum_loops[dmlcy_level()]
    plan.is_signed = a.image.dtype == INT8
    axis = &plan.volume.axes[1]
    taps_somewhere(axis, &first, &end)
    plan.moving = axis.stride % axis.dilation == 0 and end - first > 2 * axis.stride // axis.dilation
    plan.moving = plan.moving and plan.volume.axes[0].size * axis.size < MOST_ROWS
    axis = &plan.volume.axes[2]
    taps_somewhere(axis, &plan.begin, &plan.end)
    plan.pad = 0
    plan.twos = a.spatial == 2 and in_twos(&plan.volume.axes[1]) and in_twos(axis)
    plan.twos = plan.twos and plan.volume.image_steps[2] == 1 and plan.volume.position_steps[2] == 1
    plan.at_once = axis.count
    if plan.twos and plan.volume.position_steps[1] == axis.count and axis.count < QUOTIENTS:
        plan.at_once *= QUOTIENTS // axis.count
    tables = <double*> malloc(<size_t> (2 * plan.at_once) * sizeof(double))
    if tables == NULL:
        return -1
    for i in range(plan.at_once):
        taps_inside(axis, i % axis.count, &first, &end)
        tables[i] = <double> (end - first)
        tables[plan.at_once + i] = <double> (axis.window if a.counted else max(end - first, 1))
    plan.counts = tables
    plan.divisors = tables + plan.at_once
    axis = &plan.volume.axes[1]
    plan.tall = max(ceil_div(BAND_POSITIONS, plan.volume.axes[2].count), end_of_band(axis))
    plan.tall = min(plan.tall, axis.count)
    plan.bands = ceil_div(axis.count, plan.tall)
    items = a.image.sizes[0] * a.image.sizes[1] * plan.volume.axes[0].count * plan.bands
    status = parallel_for(quantized_bands, &plan, items, items if bytes <= SERIAL_BYTES else grain_of(bytes // items))
    free(tables)
    return status


# Positions of a band, at least: as many as those whose windows overlap.
cdef inline int64_t end_of_band(const Slide* axis) noexcept nogil:
    return min(axis.count, 4 * ceil_div(min(axis.window * axis.dilation, axis.size), axis.stride))
