# Convolutions: for each group, the filters times the elements under them. Four channels of a part of an image are
# copied as words, with their padding, so that the words under a tap follow one another, row after row. A plane of the
# copy has those of four channels and of one remainder of each axis modulo its step: a phase.

# A spatial axis.
cdef struct WindowAxis:
    int64_t places
    int64_t size
    int64_t step
    int64_t start                   # elements of padding before the first one
    int64_t taps
    int64_t dilation
    int64_t stride                  # bytes between elements of the input
    int64_t filter_stride           # bytes between taps
    int64_t output_stride           # bytes between places
    int64_t phases
    int64_t reach                   # how many more elements of a phase there are than places


cdef struct WindowWork:
    const Integers* a
    const IntegerKernels* kernels
    const IntegerLoops* loops
    Factors factors
    WindowAxis axes[2]
    int64_t channels                # of a group
    int64_t filters
    int64_t taps
    int64_t words                   # of four channels and a tap: all taps of four channels, then the next four
    int64_t some                    # filters of a tile
    int64_t high                    # rows of a tile
    int64_t wide                    # places of a row of a tile
    int64_t filter_tiles
    int64_t row_tiles
    int64_t column_tiles
    bint gathered                   # no part is copied: words are packed for each place, and rows have all places
    int64_t pitch                   # words of a row of the copy
    int64_t plane                   # words
    const char* packed
    bint plain                      # with their zero points
    const int64_t* totals


cdef inline int64_t words_of_filter(const Tensor* filter) noexcept nogil:
    cdef int64_t words = ceil_div(filter.sizes[1], 4)
    cdef int axis
    for axis in range(2, filter.rank):
        words *= filter.sizes[axis]
    return words


cdef struct FilterPack:
    const IntegerKernels* kernels
    const IntegerLoops* loops
    const Tensor* filter
    Entries zeros
    bint plain                      # zero points are not taken from the numbers
    char* to


# The bytes of a filter, in the order of the words; `none` stands for channels that there are not.
cdef void list_filter(const FilterPack* pack, const char* source, int64_t taps, uint8_t none,
                      uint8_t* raw) noexcept nogil:
    cdef const Tensor* filter = pack.filter
    cdef const uint8_t* rows[4]
    cdef int64_t channels = filter.sizes[1], channel, tap, rest, expected = 1, next_channel = filter.strides[1]
    cdef int64_t done = 0
    cdef const char* at
    cdef int axis, j
    cdef bint dense = True
    for axis in range(filter.rank - 1, 1, -1):
        dense = dense and (filter.sizes[axis] == 1 or filter.strides[axis] == expected)
        expected *= filter.sizes[axis]
    if taps == 1 and next_channel == 1:
        memcpy(raw, source, channels)
        memset(raw + channels, none, ceil_div(channels, 4) * 4 - channels)
        return
    if dense and next_channel > 0:
        done = pack.loops.turn_short(
            <const uint8_t*>source, next_channel, channels, taps,
            <const uint8_t*>source + (channels - 1) * next_channel + taps, <uint32_t*>raw)
    for channel in range(done, channels, 4):
        if dense and channel + 4 <= channels:
            for j in range(4):
                rows[j] = <const uint8_t*>source + (channel + j) * next_channel
            pack.loops.turn(rows, taps, 0, <uint32_t*>(raw + channel * taps), 0, 1)
            continue
        for tap in range(taps):
            rest = tap
            at = source + channel * next_channel
            for axis in range(filter.rank - 1, 1, -1):
                at += rest % filter.sizes[axis] * filter.strides[axis]
                rest //= filter.sizes[axis]
            for j in range(4):
                raw[channel * taps + 4 * tap + j] = <uint8_t>at[j * next_channel] if channel + j < channels else none


cdef int pack_filters(const void* args, int64_t begin, int64_t end) noexcept nogil:
    cdef const FilterPack* pack = <const FilterPack*>args
    cdef const Tensor* filter = pack.filter
    cdef int64_t words = words_of_filter(filter), number, row = packed_row(pack.kernels, words)
    cdef int64_t taps = words // ceil_div(filter.sizes[1], 4)
    cdef int64_t* totals = <int64_t*>pack.to
    cdef char* to = pack.to + lined(8 * filter.sizes[0])
    cdef uint8_t* raw = <uint8_t*>malloc(4 * words + 4 * LINE)
    cdef Digit digit = digit_of(filter, 0)
    cdef int mask = row_mask(digit), zero
    if raw == NULL:
        return -1
    for number in range(begin, end):
        zero = 0 if pack.plain else digit_at(&pack.zeros, number, digit) - mask
        list_filter(pack, filter.data + number * filter.strides[0], taps, nothing(pack.kernels, mask, zero), raw)
        totals[number] = take_row(pack.kernels, pack.loops, raw, words, mask, zero, to + number * row)
    free(raw)
    return 0


# Packed filters: their sums, and a row of numbers of each.
cdef int64_t pack_all(FilterPack* pack, const Tensor* filter, char* to) noexcept nogil:
    cdef int64_t words = words_of_filter(filter)
    pack.kernels = kernels_now()
    pack.loops = loops_now()
    pack.filter = filter
    pack.to = to
    if to != NULL and parallel_for(pack_filters, pack, filter.sizes[0], max(CHUNK // (4 * words), 1)):
        return 0
    return lined(8 * filter.sizes[0]) + filter.sizes[0] * packed_row(pack.kernels, words)


cdef int64_t pack_integer_windows(const Tensor* filter, char* to) noexcept nogil:
    cdef FilterPack pack
    pack.zeros = entries_of(NULL, 0)
    pack.plain = True
    return pack_all(&pack, filter, to)


cdef void list_axis(const Integers* a, int own, WindowAxis* axis) noexcept nogil:
    cdef int64_t span
    axis.places = axis.size = axis.step = axis.taps = axis.dilation = 1
    axis.start = axis.stride = axis.filter_stride = axis.output_stride = 0
    if own >= 0:
        axis.places = a.output.sizes[2 + own]
        axis.size = a.left.sizes[2 + own]
        axis.step = a.strides[own]
        axis.start = a.start[own]
        axis.taps = a.right.sizes[2 + own]
        axis.dilation = a.dilations[own]
        axis.stride = a.left.strides[2 + own]
        axis.filter_stride = a.right.strides[2 + own]
        axis.output_stride = a.output.strides[2 + own]
    span = (axis.taps - 1) * axis.dilation
    axis.phases = min(axis.step, span + 1)
    axis.reach = span // axis.step


# The places of the copy at which four channels and a tap begin, in bytes.
cdef void list_words(const WindowWork* work, int64_t* at) noexcept nogil:
    cdef const WindowAxis* axes = &work.axes[0]
    cdef int64_t word, next_channels = axes[0].phases * axes[1].phases * work.plane, first, second, plane, down, along
    if work.gathered:
        for word in range(work.words):
            at[word] = 4 * word * work.kernels.strip
        return
    word = 0
    for first in range(axes[0].taps):
        down = first * axes[0].dilation
        for second in range(axes[1].taps):
            along = second * axes[1].dilation
            plane = down % axes[0].step * axes[1].phases + along % axes[1].step
            at[word] = 4 * (plane * work.plane + down // axes[0].step * work.pitch + along // axes[1].step)
            word += 1
    for word in range(work.taps, work.words):
        at[word] = at[word - work.taps] + 4 * next_channels


# Where there are channels, a row of ones. `room` has place for its bytes.
cdef void list_channels(const WindowWork* work, uint8_t* room, char* to) noexcept nogil:
    cdef int64_t word
    memset(room, 1, 4 * work.words)
    if work.channels % 4:
        for word in range(work.words - work.taps, work.words):
            memset(room + 4 * word + work.channels % 4, 0, 4 - work.channels % 4)
    take_row(work.kernels, work.loops, room, work.words, 0, 0, to)


# A row of words: some elements of four channels, `between` bytes from one to the next.
cdef void copy_words(const WindowWork* work, const uint8_t** rows, int64_t between, int64_t n, uint32_t mask,
                     uint32_t* to, uint32_t* room) noexcept nogil:
    cdef int64_t i, own = (n - 1) * between + 1
    cdef uint32_t found
    if between == 1:
        work.loops.turn(rows, n, mask, to, 0, 1)
        return
    if 1 < between <= STEPS:
        work.loops.turn(rows, own, mask, room, 0, 1)
        for i in range(n):
            to[i] = room[i * between]
        return
    for i in range(n):
        found = rows[0][i * between]
        found |= <uint32_t>rows[1][i * between] << 8
        found |= <uint32_t>rows[2][i * between] << 16
        found |= <uint32_t>rows[3][i * between] << 24
        to[i] = found ^ mask


# Copies what some places need, from the channels of a group on.
cdef void copy_image(const WindowWork* work, const char* source, int64_t row, int64_t rows, int64_t column,
                     int64_t columns, uint32_t padding, uint32_t mask, uint32_t* copy, uint32_t* room) noexcept nogil:
    cdef const WindowAxis* down = &work.axes[0]
    cdef const WindowAxis* along = &work.axes[1]
    cdef const uint8_t* lines[4]
    cdef int64_t channel, first, second, i, j, y, x, low, high, n = columns + along.reach
    cdef int64_t next_channel = work.a.left.strides[1]
    cdef uint32_t* to
    for channel in range(0, work.channels, 4):
        for first in range(down.phases):
            for second in range(along.phases):
                x = column * along.step - along.start + second
                low = min(ceil_div(-x, along.step), n) if x < 0 else 0
                high = min((along.size - 1 - x) // along.step + 1, n) if x < along.size else 0
                high = max(low, high)
                for i in range(rows + down.reach):
                    y = (row + i) * down.step - down.start + first
                    to = copy + i * work.pitch
                    if not 0 <= y < down.size or low == high:
                        for j in range(n):
                            to[j] = padding
                        continue
                    for j in range(low):
                        to[j] = padding
                    for j in range(4):
                        lines[j] = <const uint8_t*>source + y * down.stride + (x + low * along.step) * along.stride
                        lines[j] += min(channel + j, work.channels - 1) * next_channel
                    copy_words(work, lines, along.step * along.stride, high - low, mask, to + low, room)
                    for j in range(high, n):
                        to[j] = padding
                copy += work.plane


# Packs the words of some places, which are counted along all rows, of a group.
cdef void gather_words(const WindowWork* work, const char* source, int64_t first, int64_t places, uint32_t padding,
                       uint32_t mask, uint32_t* to) noexcept nogil:
    cdef const WindowAxis* down = &work.axes[0]
    cdef const WindowAxis* along = &work.axes[1]
    cdef int64_t word, i, tap, channel, y, x, strip = work.kernels.strip, next_channel = work.a.left.strides[1]
    cdef const char* at
    cdef uint32_t found
    cdef int j
    for word in range(work.words):
        channel = word // work.taps * 4
        tap = word % work.taps
        for i in range(places):
            y = (first + i) // along.places * down.step - down.start + tap // along.taps * down.dilation
            x = (first + i) % along.places * along.step - along.start + tap % along.taps * along.dilation
            found = padding
            if 0 <= y < down.size and 0 <= x < along.size:
                at = source + y * down.stride + x * along.stride
                found = 0
                for j in range(4):
                    found |= <uint32_t><uint8_t>at[min(channel + j, work.channels - 1) * next_channel] << 8 * j
                found ^= mask
            to[(i // strip * work.words + word) * strip + i % strip] = found


# Writes the results of some places, which are counted along all rows.
cdef void finish_places(const WindowWork* work, Panel* p, int64_t first, int64_t places, char* y,
                        int64_t y_row) noexcept nogil:
    cdef const WindowAxis* axes = &work.axes[0]
    cdef int64_t done = 0, column, n
    while done < places:
        column = (first + done) % axes[1].places
        n = min(places - done, axes[1].places - column)
        finish(p, done, n, y + (first + done) // axes[1].places * axes[0].output_stride
               + column * axes[1].output_stride, y_row, axes[1].output_stride)
        done += n


# Computes some tiles. -1: memory ran out.
cdef int compute_windows(const void* args, int64_t begin, int64_t end) noexcept nogil:
    cdef const WindowWork* work = <const WindowWork*>args
    cdef const Integers* a = work.a
    cdef const WindowAxis* axes = &work.axes[0]
    cdef Panel p
    cdef int64_t strip = work.kernels.strip, number, rest, filter, filters, group, image, row, rows, column, columns
    cdef int64_t n, i, done
    cdef int64_t flat = ceil_div(work.high * work.pitch, strip) * strip, bytes = 0, turn, own, some
    cdef int64_t held = -1, copied = copied_words(work, flat)
    cdef const char* source
    cdef uint32_t mask = <uint32_t>column_mask(work.factors.column_digit) * <uint32_t>0x01010101
    cdef uint32_t padding = <uint32_t>column_zero(&work.factors, 0) * <uint32_t>0x01010101
    cdef char* memory = NULL
    cdef char* base = NULL
    cdef char* ones
    cdef uint32_t* copy
    cdef uint32_t* room
    cdef char* y
    cdef bint follows = not work.gathered and work.pitch == axes[1].places and axes[0].output_stride == (
        axes[1].output_stride * axes[1].places)
    some = min(flat, max(TOGETHER // (4 * work.some * BLOCK), <int64_t>1) * BLOCK) if follows else flat
    p.kernels = work.kernels
    p.loops = work.loops
    p.factors = &work.factors
    p.words = work.words
    p.depth = work.channels * work.taps
    p.plain = work.plain
    p.a_row = packed_row(p.kernels, p.words)
    for turn in range(2):
        bytes = lay_out(&p, work.some, some, base)
        ones = taken(base, &bytes, p.a_row)
        p.at = <int64_t*>taken(base, &bytes, 8 * p.words)
        room = <uint32_t*>taken(base, &bytes, 4 * STEPS * (work.pitch + 1))
        copy = <uint32_t*>taken(base, &bytes, 4 * max(copied + strip, work.words))
        if turn == 0:
            memory = <char*>malloc(bytes + LINE)
            if memory == NULL:
                return -1
            base = line_from(memory)
    list_words(work, p.at)
    if work.plain:
        list_channels(work, <uint8_t*>copy, ones)
    memset(copy + copied, 0, 4 * strip)
    p.ones = ones
    p.b = <char*>copy
    p.b_strip = 4 * strip * (work.words if work.gathered else 1)
    begin_columns(&p, 0, some)
    for number in range(begin, end):
        rest = number
        filter = rest % work.filter_tiles * work.some
        rest //= work.filter_tiles
        row = rest % work.row_tiles * work.high
        rest //= work.row_tiles
        column = rest % work.column_tiles * work.wide
        rest //= work.column_tiles
        group = rest % a.groups
        image = rest // a.groups
        filters = min(work.some, work.filters - filter)
        source = a.left.data + image * a.left.strides[0] + group * work.channels * a.left.strides[1]
        if work.gathered:
            rows = 1
            columns = min(work.wide, axes[0].places * axes[1].places - column)
        else:
            rows = min(work.high, axes[0].places - row)
            columns = min(work.wide, axes[1].places - column)
        if held != number // work.filter_tiles:
            if work.gathered:
                gather_words(work, source, column, columns, padding, mask, copy)
            else:
                copy_image(work, source, row, rows, column, columns, padding, mask, copy, room)
            held = number // work.filter_tiles
        filter += group * work.filters
        begin_rows(&p, filter, filters)
        p.a = work.packed + filter * p.a_row
        for i in range(filters):
            p.zeros[i] = row_zero(&work.factors, filter + i)
            p.totals[i] = work.totals[filter + i]
        begin_zeros(&p)
        n = (rows - 1) * work.pitch + columns
        y = a.output.data + image * a.output.strides[0] + filter * a.output.strides[1]
        own = a.output.strides[1]
        if follows:
            y += row * axes[0].output_stride
            done = 0
            while done < n:
                p.b = <char*>(copy + done)
                begin_strips(&p)
                add_strips(&p, ceil_div(min(n - done, some), strip), 0)
                finish(&p, 0, min(n - done, some), y + done * axes[1].output_stride, own,
                       axes[1].output_stride)
                done += some
            continue
        begin_strips(&p)
        add_strips(&p, ceil_div(n, strip), 0)
        if work.gathered:
            finish_places(work, &p, column, columns, y, own)
            continue
        y += row * axes[0].output_stride + column * axes[1].output_stride
        for i in range(rows):
            finish(&p, i * work.pitch, columns, y + i * axes[0].output_stride, own, axes[1].output_stride)
    free(memory)
    return 0


# Words of the copy of a tile.
cdef inline int64_t copied_words(const WindowWork* work, int64_t flat) noexcept nogil:
    if work.gathered:
        return flat * work.words
    return ceil_div(work.channels, 4) * work.axes[0].phases * work.axes[1].phases * work.plane


# Cuts the output into tiles. Returns the products of one.
cdef int64_t cut_windows(WindowWork* work, int64_t images) noexcept nogil:
    cdef WindowAxis* axes = &work.axes[0]
    cdef double copied = <double>axes[0].phases * <double>axes[1].phases * <double>(4 * work.channels + 12)
    cdef int64_t planes, near, products, tiles
    work.filter_tiles = ceil_div(work.filters, FILTERS)
    work.some = ceil_div(ceil_div(work.filters, work.filter_tiles), FEW) * FEW
    work.filter_tiles = ceil_div(work.filters, work.some)
    copied *= <double>(1 + axes[0].reach) / 4
    work.wide = min(axes[1].places, <int64_t>PLACES)
    while work.wide > BLOCK and copied * <double>(work.wide + axes[1].reach) > LARGE_COPY:
        work.wide //= 2
    work.wide = ceil_div(axes[1].places, ceil_div(axes[1].places, work.wide))
    work.column_tiles = ceil_div(axes[1].places, work.wide)
    work.pitch = work.wide + axes[1].reach
    work.gathered = copied * <double>work.pitch > LARGE_COPY
    if work.gathered:
        tiles = axes[0].places * axes[1].places
        work.high = work.row_tiles = 1
        work.plane = 0
        work.wide = work.pitch = min(tiles, <int64_t>GATHERED)
        work.column_tiles = ceil_div(tiles, work.wide)
        return work.wide * work.words * 4 * min(work.some, work.filters)
    planes = ceil_div(work.channels, 4) * axes[0].phases * axes[1].phases
    near = NEAR_COPY // (4 * planes * work.pitch) - axes[0].reach
    if work.pitch != axes[1].places:
        near = min(near, NEAR_SUMS // (4 * work.some * work.pitch))
    products = work.pitch * work.words * 4 * min(work.some, work.filters)
    tiles = axes[0].places * work.column_tiles * images * work.filter_tiles * work.a.groups * products // WORK + 1
    near = min(near, ceil_div(axes[0].places * work.column_tiles * images * work.filter_tiles * work.a.groups, tiles))
    work.row_tiles = ceil_div(axes[0].places, min(max(near, 1), axes[0].places))
    work.high = ceil_div(axes[0].places, work.row_tiles)
    work.row_tiles = ceil_div(axes[0].places, work.high)
    work.plane = ceil_div(4 * (work.high + axes[0].reach) * work.pitch, LINE) * LINE
    work.plane = (work.plane // LINE | 1) * LINE // 4
    return work.high * products


cdef int run_integer_windows(const Integers* a) noexcept nogil:
    cdef WindowWork work
    cdef int64_t products, images = a.output.sizes[0]
    cdef int axis, rank = a.output.rank - 2, status
    cdef char* memory = NULL
    cdef char* packed
    cdef FilterPack pack
    work.a = a
    work.kernels = kernels_now()
    work.loops = loops_now()
    list_factors(a, True, &work.factors)
    for axis in range(2):
        list_axis(a, rank - 2 + axis, &work.axes[axis])
    work.channels = a.right.sizes[1]
    work.filters = a.right.sizes[0] // a.groups
    work.taps = work.axes[0].taps * work.axes[1].taps
    work.words = ceil_div(work.channels, 4) * work.taps
    work.factors.long_ = not work.factors.wraps and work.words > EXACT
    products = cut_windows(&work, images)
    packed = <char*>a.right.prepared
    work.plain = work.kernels.item == 1 or packed != NULL
    if packed == NULL:
        pack.zeros = entries_of(a.right_zero, 0)
        pack.plain = work.plain
        memory = <char*>malloc(pack_all(&pack, a.right, NULL) + LINE)
        if memory == NULL or pack_all(&pack, a.right, line_from(memory)) == 0:
            free(memory)
            return -1
        packed = line_from(memory)
    work.totals = <const int64_t*>packed
    work.packed = packed + lined(8 * a.right.sizes[0])
    status = parallel_for(
        compute_windows, &work,
        images * a.groups * work.column_tiles * work.row_tiles * work.filter_tiles, max(WORK // max(products, 1), 1))
    free(memory)
    return status
