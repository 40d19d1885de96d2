# Convolutions of one filter for each channel: channels lie side by side.

cdef inline bint is_depthwise(const Products* to) noexcept nogil:
    cdef const ProductAxis* axes = &to.image.axes[0]
    return (
        to.rows == 1 and to.depth == to.image.taps and 1 < to.depth <= TAPS and to.chains == 1
        and to.batch[0] >= GROUPS and axes[0].taps == 1 and axes[0].places == 1 and axes[0].start == 0
        and (span_of(&axes[1]) + 1) * turned_pitch(to) <= COPY // DMLCY_CHANNELS
    )


# The elements of a row of the input that the places of a row read.
cdef inline int64_t turned_pitch(const Products* to) noexcept nogil:
    cdef const ProductAxis* axis = &to.image.axes[2]
    return (axis.places - 1) * axis.step + span_of(axis) + 1


# Turns rows first … last - 1 of some channels; with zeros where a row has no element.
cdef void turn_rows(const Depthwise* own, const char* source, int64_t channels, int64_t first, int64_t last,
                    float* turned) noexcept nogil:
    cdef const Products* to = own.to
    cdef const ProductAxis* axis = &to.image.axes[2]
    cdef int64_t[DMLCY_DEPTH] at
    cdef int64_t begin = min(max(-own.lowest, <int64_t>0), own.pitch), end = min(axis.size - own.lowest, own.pitch)
    cdef int64_t row, i, n
    cdef const char* line
    end = max(end, begin)
    for i in range(min(end - begin, <int64_t>DMLCY_DEPTH)):
        at[i] = i * axis.stride
    for row in range(first, last):
        line = source + row * to.image.axes[1].stride + own.lowest * axis.stride
        memset(turned, 0, begin * DMLCY_CHANNELS * sizeof(float))
        i = begin
        while i < end:
            n = min(end - i, <int64_t>DMLCY_DEPTH)
            to.level.pack(
                line + i * axis.stride, to.b_batch[0], channels, DMLCY_CHANNELS, at, axis.stride, n, to.item,
                turned + i * DMLCY_CHANNELS, DMLCY_CHANNELS)
            i += n
        memset(turned + end * DMLCY_CHANNELS, 0, (own.pitch - end) * DMLCY_CHANNELS * sizeof(float))
        turned += own.pitch * DMLCY_CHANNELS


# The filters of some channels side by side, tap by tap, and what is added to them.
cdef void turn_filters(const Products* to, Tile* tile, int64_t group, int64_t channels, float* filters,
                       float* begins) noexcept nogil:
    cdef int64_t i, first = 0, depth
    while first < to.depth:
        depth = min(to.depth - first, <int64_t>DMLCY_DEPTH)
        if to.a_step == 0:
            list_places(to, tile, first, 1, depth)
        else:
            for i in range(depth):
                tile.a_at[i] = (first + i) * to.a_step
        to.level.pack(
            to.a + group * to.a_batch[0], to.a_batch[0], channels, DMLCY_CHANNELS, tile.a_at, to.a_step, depth, to.item,
            filters + first * DMLCY_CHANNELS, DMLCY_CHANNELS)
        first += depth
    memset(begins, 0, DMLCY_CHANNELS * sizeof(float))
    if to.c != NULL:
        for i in range(channels):
            begins[i] = dmlcy_element_of(to.c + (group + i) * to.c_batch[0], to.item)


# The sum of one place of a channel.
cdef float exact_place(const Products* to, Tile* tile, int64_t image, int64_t channel, int64_t row,
                       int64_t column) noexcept nogil:
    cdef const ProductAxis* axes = &to.image.axes[0]
    cdef ProductRun* run = &tile.runs[0]
    cdef double result
    run.place[0] = 0
    run.place[1] = row
    run.place[2] = 0
    run.source = image * to.image.image_stride + axes[2].start * axes[2].stride
    run.source += (axes[1].start + row * axes[1].step) * axes[1].stride
    tile.a = to.a + channel * to.a_batch[0]
    tile.b = to.b + channel * to.b_batch[0]
    result = exact_sum(to, tile, 0, run, column)
    if to.c != NULL:
        result += dmlcy_element_of(to.c + channel * to.c_batch[0], to.item)
    return <float>result


# Computes the sums that are no finite numbers again.
cdef void mend_channels(const Depthwise* own, Tile* tile, int64_t image, int64_t group, int64_t channels, int64_t row,
                        int64_t rows) noexcept nogil:
    cdef const Products* to = own.to
    cdef const ProductAxis* axes = &to.image.axes[0]
    cdef float* sums = tile.sums
    cdef int64_t i, j, channel
    for i in range(rows):
        for j in range(axes[2].places):
            for channel in range(channels):
                if not isfinite(sums[channel]):
                    sums[channel] = exact_place(to, tile, image, group + channel, row + i, j)
            sums += DMLCY_CHANNELS


# Turns the sums of some rows back.
cdef void put_channels(const Depthwise* own, const Tile* tile, char* y, int64_t channels, int64_t rows,
                       float* line) noexcept nogil:
    cdef const Products* to = own.to
    cdef const ProductAxis* axes = &to.image.axes[0]
    cdef int64_t places = axes[2].places, n = rows * places, row, channel
    cdef bint joined = axes[1].output_stride == places * to.y_step
    if to.item == sizeof(float) and to.y_step == to.item and joined:
        to.level.turn(<const char*>tile.sums, DMLCY_CHANNELS * sizeof(float), n, channels, <float*>y,
                      to.y_batch[0] // <int64_t>sizeof(float))
        return
    to.level.turn(<const char*>tile.sums, DMLCY_CHANNELS * sizeof(float), n, channels, line, n)
    for channel in range(channels):
        to.level.put_rows(line + channel * n, places, rows, places, y + channel * to.y_batch[0],
                          axes[1].output_stride, to.y_step, to.item)


# Computes some bands of rows. -1: memory ran out.
cdef int compute_channels(const void* args, int64_t begin, int64_t end) noexcept nogil:
    cdef const Depthwise* own = <const Depthwise*>args
    cdef const Products* to = own.to
    cdef const ProductAxis* axes = &to.image.axes[0]
    cdef Tile tile
    cdef int64_t blocks = ceil_div(to.batch[0], DMLCY_CHANNELS), number, group, image, row, rows, i
    cdef int64_t first, last, low, high
    cdef int64_t copied = own.rows * own.pitch * DMLCY_CHANNELS, packed = (to.depth + 1) * DMLCY_CHANNELS
    cdef int64_t results = own.high * axes[2].places * DMLCY_CHANNELS, channels = 0, held = -1, place
    cdef float* memory = <float*>malloc((copied + packed + 2 * results + OVER) * sizeof(float))
    cdef float* turned
    cdef float* filters
    cdef float* begins
    cdef float* line
    cdef const float* source
    cdef char* y
    cdef int status = 0
    cdef bint made
    if memory == NULL:
        return -1
    turned = memory + (LINE - (<uintptr_t>memory // sizeof(float)) % LINE) % LINE
    filters = turned + copied
    begins = filters + to.depth * DMLCY_CHANNELS
    tile.sums = begins + DMLCY_CHANNELS
    line = tile.sums + results
    tile.row = 0
    tile.rows = 1
    for number in range(begin, end):
        group = number % blocks * DMLCY_CHANNELS
        row = number // blocks % own.bands * own.high
        rows = min(own.high, axes[1].places - row)
        image = number // blocks // own.bands
        if group != held:
            channels = min(to.batch[0] - group, <int64_t>DMLCY_CHANNELS)
            turn_filters(to, &tile, group, channels, filters, begins)
            held = group
        # The rows of the input between the first tap and the last one that are inside.
        low = axes[1].start + row * axes[1].step
        high = low + (rows - 1) * axes[1].step + max((axes[1].taps - 1) * axes[1].tap_step, <int64_t>0) + 1
        low += min((axes[1].taps - 1) * axes[1].tap_step, <int64_t>0)
        low = min(max(low, <int64_t>0), axes[1].size)
        high = max(min(high, axes[1].size), low)
        turn_rows(own, to.b + group * to.b_batch[0] + image * to.image.image_stride, channels, low, high, turned)
        for i in range(rows):
            # The taps along the column that are inside follow one another.
            first = 0
            while first < axes[1].taps and not axes[1].low[first] <= row + i < axes[1].high[first]:
                first += 1
            last = first
            while last < axes[1].taps and axes[1].low[last] <= row + i < axes[1].high[last]:
                last += 1
            place = axes[1].start + (row + i) * axes[1].step - low
            source = turned + (place * own.pitch + axes[2].start - own.lowest) * DMLCY_CHANNELS
            to.level.channels(
                source, axes[2].step * DMLCY_CHANNELS, own.at + first * axes[2].taps, (last - first) * axes[2].taps,
                filters + first * axes[2].taps * DMLCY_CHANNELS, begins, axes[2].places,
                tile.sums + i * axes[2].places * DMLCY_CHANNELS)
        if not to.level.are_finite(tile.sums, 0, 1, rows * axes[2].places * DMLCY_CHANNELS):
            mend_channels(own, &tile, image, group, channels, row, rows)
        if to.fused != NULL and activate(to.fused, tile.sums, rows * axes[2].places * DMLCY_CHANNELS):
            status = -1
            break
        y = to.y + group * to.y_batch[0] + image * to.image.output_stride + row * axes[1].output_stride
        made = are_alone(to)
        if made:
            store_rows(to, tile.sums, 0, <char*>tile.sums, 0, 1, rows * axes[2].places * DMLCY_CHANNELS)
        put_channels(own, &tile, y, channels, rows, line)
        if to.strips > 0 and not made:
            store_places(to, y, channels, to.y_batch[0], rows)
        if to.after != NULL and follow_places(to, y, channels, to.y_batch[0], rows):
            status = -1
            break
    free(memory)
    return status


cdef int run_depthwise(Products* to) noexcept nogil:
    cdef const ProductAxis* axes = &to.image.axes[0]
    cdef Depthwise own
    cdef int64_t t, bands, work
    cdef int status
    own.to = to
    own.at = <int64_t*>malloc(to.depth * sizeof(int64_t))
    if own.at == NULL:
        return -1
    own.pitch = turned_pitch(to)
    own.lowest = lowest_of(&axes[2])
    for t in range(to.depth):
        own.at[t] = t // axes[2].taps * axes[1].tap_step * own.pitch + t % axes[2].taps * axes[2].tap_step
        own.at[t] *= DMLCY_CHANNELS
    own.high = (NEAR_COPY // (own.pitch * DMLCY_CHANNELS) - span_of(&axes[1]) - 1) // axes[1].step + 1
    own.high = min(max(own.high, <int64_t>1), axes[1].places)
    if axes[1].places >= BANDS * thread_limit():
        work = axes[1].places * axes[2].places * to.depth * to.batch[0]
        own.high = even_height(axes[1].places, own.high, own.high, min(
            ceil_div(thread_limit(), to.images), work // enough(SPREAD_WORK)))
    own.bands = ceil_div(axes[1].places, own.high)
    own.high = ceil_div(axes[1].places, own.bands)
    to.after = take_epilogue(to.followed, row_of_places(to, own.high))
    own.rows = (own.high - 1) * axes[1].step + span_of(&axes[1]) + 1
    bands = own.bands * ceil_div(to.batch[0], DMLCY_CHANNELS) * to.images
    work = (own.high * axes[2].places * to.depth + 4 * own.rows * own.pitch) * DMLCY_CHANNELS
    status = parallel_for(compute_channels, &own, bands, max(enough(SPREAD_WORK) // work, 1))
    free(own.at)
    return status
