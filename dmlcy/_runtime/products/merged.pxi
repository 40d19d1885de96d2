# Convolutions backwards with strides. The sums of all remainders of the places modulo the strides are computed at once,
# from the same packed columns, and become whole rows of the output.

# A place of the input under a tap is a place of a grid, the places of the output divided by the strides, and a shift.
# Columns are those of a filter that has a tap for each shift. Long rows have a column for each element that they read,
# and the shifts of the last axis are steps along these. The sums of some columns are no places then.
cdef struct Merged:
    Products* pieces                # one of each remainder
    const Spatial* axes
    const ProductImage* image       # of all shifts
    int64_t turns[3]                # remainders along each axis
    int64_t count                   # and in all
    int64_t channels
    int64_t part                    # channels that are packed at once
    int64_t strip                   # columns of a strip, at most
    int64_t behind                  # more columns that it reads
    int64_t pitch                   # floats of packed columns
    int64_t strips
    int64_t row                     # the first one of those whose filters are packed
    int64_t rows
    int64_t block                   # rows whose filters are packed at once, at most
    int64_t floats                  # of the filters of a row
    int64_t high                    # rows that are computed at once
    int64_t group
    float* filters                  # of these rows; for each remainder, a row of floats for each row
    int64_t* at                     # for each remainder, floats from the packed columns to the elements of each k


cdef inline int64_t taps_of(const Merged* a, int64_t piece) noexcept nogil:
    return a.pieces[piece].image.taps


# Floats of a row of packed filters: the rows of deep ones would displace one another.
cdef inline int64_t pitch_of(const Merged* a, int64_t piece) noexcept nogil:
    return a.pieces[piece].depth + LINE


# Whether all remainders have taps, and few shifts, and sums that are one chain. Says which shifts there are.
cdef bint are_merged(const Windows* a, const Spatial* axes, ProductAxis* shifts, Merged* merged) noexcept nogil:
    cdef ProductAxis axis
    cdef int64_t rows = a.output.sizes[1] // a.groups, channels = a.input.sizes[1] // a.groups, count = 1
    cdef int64_t taps = 1, places = 1, turns, turn, low, high
    cdef int d
    if not a.backward or rows * channels == 1 or dmlcy_product_levels[dmlcy_level()].spread[0][1] == NULL:
        return False
    for d in range(3):
        turns = min(axes[d].stride, axes[d].output)
        count *= turns
        if count > REMAINDERS:
            return False
        for turn in range(turns):
            take_places(&axes[d], True, turn, &axis)
            if axis.taps == 0:
                return False
            low = lowest_of(&axis)
            high = low + span_of(&axis)
            if turn == 0:
                shifts[d] = axis
                shifts[d].start = low
                shifts[d].taps = high
            shifts[d].start = min(shifts[d].start, low)
            shifts[d].taps = max(shifts[d].taps, high)
        shifts[d].taps += 1 - shifts[d].start
        shifts[d].tap_step = 1
        if shifts[d].taps > axes[d].window:
            return False
        taps *= axes[d].window
        places *= axis.places
    if count == 1 or taps > MERGED_TAPS or places == 1 or rows * places < SMALL:
        return False
    if (channels * taps + count * LINE) * FEW > MERGED_FLOATS:
        return False
    count = shifts[0].taps * shifts[1].taps * shifts[2].taps
    merged.behind = 0
    if shifts[2].taps <= LINE and rows * taps * shifts[2].taps < SHIFTED * count * shifts[2].places:
        merged.behind = shifts[2].taps - 1
        shifts[2].places += merged.behind
        shifts[2].taps = 1
    return True


# Packs the filters of some channels, for all rows and remainders.
cdef int take_merged(const void* args, int64_t begin, int64_t end) noexcept nogil:
    cdef const Merged* a = <const Merged*>args
    cdef const Products* to
    cdef int64_t[MERGED_TAPS] offsets
    cdef int64_t number, row, channel, first, last, piece, tap, taps, stride
    cdef float* filters
    cdef float* target
    cdef const char* source
    cdef const char* own
    for number in range(begin, end):
        first = number * TAKEN
        last = min(first + TAKEN, a.channels)
        filters = a.filters
        for piece in range(a.count):
            to = &a.pieces[piece]
            taps = taps_of(a, piece)
            stride = to.image.filter_stride
            for tap in range(taps):
                offsets[tap] = filter_at(to.image, tap)
            for row in range(a.rows):
                source = to.a + a.group * to.a_batch[0] + (a.row + row) * to.a_line
                source += first * stride
                target = filters + row * pitch_of(a, piece) + first * taps
                if to.item == sizeof(float) and last == first + TAKEN:
                    for tap in range(taps):
                        own = source + offsets[tap]
                        target[tap] = (<const float*>own)[0]
                        target[tap + taps] = (<const float*>(own + stride))[0]
                        target[tap + 2 * taps] = (<const float*>(own + 2 * stride))[0]
                        target[tap + 3 * taps] = (<const float*>(own + 3 * stride))[0]
                    continue
                for channel in range(last - first):
                    for tap in range(taps):
                        target[tap + channel * taps] = dmlcy_element_of(
                            source + channel * stride + offsets[tap], to.item)
            filters += a.rows * pitch_of(a, piece)
    return 0


# The bytes from the first tap of a filter to another one.
cdef inline int64_t filter_at(const ProductImage* image, int64_t tap) noexcept nogil:
    cdef int64_t at = 0
    cdef int d
    for d in range(2, -1, -1):
        at += tap % image.axes[d].taps * image.axes[d].filter_stride
        tap //= image.axes[d].taps
    return at


# Where the elements of each k are, of the channels that are packed at once.
cdef void list_merged(Merged* a) noexcept nogil:
    cdef const ProductImage* image
    cdef const ProductAxis* axis
    cdef int64_t* at = a.at
    cdef int64_t piece, tap, rest, shift, size
    cdef int d
    for piece in range(a.count):
        image = a.pieces[piece].image
        for tap in range(image.taps):
            rest = tap
            at[tap] = 0
            size = a.pitch
            for d in range(2, -1, -1):
                axis = &image.axes[d]
                shift = axis.start + rest % axis.taps * axis.tap_step - a.image.axes[d].start
                at[tap] += shift * (1 if d == 2 and a.behind > 0 else size)
                size *= a.image.axes[d].taps
                rest //= axis.taps
        for tap in range(image.taps, a.part * image.taps):
            at[tap] = at[tap - image.taps] + a.image.taps * a.pitch
        at += a.part * image.taps


# Adds the products of some channels.
cdef void add_merged(const Merged* a, const Tile* tile, int64_t n, int64_t first, int64_t channels) noexcept nogil:
    cdef const Products* to
    cdef const float* filters = a.filters
    cdef const int64_t* at = a.at
    cdef float* sums = tile.sums
    cdef const float* left
    cdef float* target
    cdef int64_t piece, row, column, taps
    cdef int h, width
    for piece in range(a.count):
        to = &a.pieces[piece]
        taps = taps_of(a, piece)
        row = 0
        while row < tile.rows:
            h = spread_height(to, tile.rows - row)
            left = filters + (tile.row - a.row + row) * pitch_of(a, piece) + first * taps
            column = 0
            while column < n:
                width = spread_width(to, h, n - column)
                target = sums + row * a.strip + column
                to.level.spread[h][width](
                    channels * taps, left, pitch_of(a, piece), tile.strips + column, at,
                    target if first > 0 or to.begun else NULL, a.strip, target, a.strip)
                column += columns_of(to, width)
            row += to.level.heights[h]
        filters += a.rows * pitch_of(a, piece)
        at += a.part * taps
        sums += tile.rows * a.strip


# Lets the sums begin with what is added to each row.
cdef void begin_merged(const Merged* a, const Tile* tile) noexcept nogil:
    cdef const Products* to = a.pieces
    cdef int64_t piece, row, i
    cdef float* sums = tile.sums
    cdef float number
    for piece in range(a.count):
        for row in range(tile.rows):
            number = dmlcy_element_of(tile.c + (tile.row + row) * to.c_line, to.item)
            for i in range(a.strip):
                sums[i] = number
            sums += a.strip


# The sums become rows of the output.
cdef void put_merged(const Merged* a, const Tile* tile) noexcept nogil:
    cdef const Products* to = a.pieces
    cdef const ProductRun* run
    cdef int64_t r, first, second, n
    cdef int64_t between = tile.rows * a.strip
    cdef const float* sums
    cdef char* y
    for r in range(tile.run_count):
        run = &tile.runs[r]
        n = min(run.count * a.turns[2], a.axes[2].output - run.place[2] * a.axes[2].stride)
        if n <= 0:
            continue
        for first in range(a.turns[0]):
            if run.place[0] * a.axes[0].stride + first >= a.axes[0].output:
                break
            for second in range(a.turns[1]):
                if run.place[1] * a.axes[1].stride + second >= a.axes[1].output:
                    break
                sums = tile.sums + (first * a.turns[1] + second) * a.turns[2] * between + run.column
                y = tile.y + tile.row * to.y_line + run.to
                y += first * a.axes[0].output_stride + second * a.axes[1].output_stride
                if a.turns[2] == 1:
                    to.level.put_rows(sums, a.strip, tile.rows, n, y, to.y_line, a.axes[2].output_stride, to.item)
                else:
                    to.level.merge_rows(sums, a.strip, tile.rows, between, a.turns[2], n, y, to.y_line,
                                        a.axes[2].output_stride, to.item)
                if to.strips > 0:
                    store_rows(to, <float*>y, to.y_line // <int64_t>sizeof(float), y, to.y_line, tile.rows, n)


# Computes some rows of some strips. -1: memory ran out.
cdef int compute_merged(const void* args, int64_t begin, int64_t end) noexcept nogil:
    cdef const Merged* a = <const Merged*>args
    cdef const Products* to = a.pieces
    cdef Tile tile
    cdef int64_t number, column, n, first, channels, piece
    cdef int64_t packed = a.part * a.image.taps * a.pitch, size = a.count * a.high * a.strip
    cdef float* memory = <float*>malloc((packed + size + LINE) * sizeof(float))
    cdef int status = 0
    if memory == NULL:
        return -1
    tile.strips = memory + (LINE - (<uintptr_t>memory // sizeof(float)) % LINE) % LINE
    tile.sums = tile.strips + packed
    if to.fused != NULL:
        memset(tile.sums, 0, size * sizeof(float))
    tile.b = to.b + a.group * to.b_batch[0]
    tile.y = to.y + a.group * to.y_batch[0]
    tile.c = to.c
    if to.c != NULL:
        tile.c += a.group * to.c_batch[0]
    for number in range(begin, end):
        tile.row = a.row + number // a.strips * a.high
        tile.rows = min(a.high, a.row + a.rows - tile.row)
        column = number % a.strips * a.strip
        n = min(a.strip, to.columns - column)
        tile.run_count = dmlcy_list_runs(a.image, column, min(n + a.behind, to.columns - column), tile.runs)
        if to.begun:
            begin_merged(a, &tile)
        first = 0
        while first < a.channels:
            channels = min(a.part, a.channels - first)
            to.level.pack_image(a.image, tile.b, tile.runs, tile.run_count, first * a.image.taps, 1,
                                channels * a.image.taps, tile.strips, a.pitch)
            add_merged(a, &tile, n, first, channels)
            first += channels
        for piece in range(a.count):
            if not to.level.are_finite(tile.sums + piece * tile.rows * a.strip, a.strip, tile.rows, n):
                tile.a = a.pieces[piece].a + a.group * to.a_batch[0]
                tile.run_count = dmlcy_list_runs(a.pieces[piece].image, column, n, tile.runs)
                tile.first, tile.count = column, n
                mend(&a.pieces[piece], &tile, tile.sums + piece * tile.rows * a.strip, a.strip, tile.row, tile.rows)
        if to.fused != NULL and activate(to.fused, tile.sums, a.count * tile.rows * a.strip):
            status = -1
            break
        tile.run_count = dmlcy_list_runs(a.image, column, n, tile.runs)
        put_merged(a, &tile)
    free(memory)
    return status


# Says how much is computed at once.
cdef void plan_merged(Merged* a) noexcept nogil:
    cdef const Products* to = a.pieces
    cdef int64_t piece, block
    a.strip = MERGED_STRIP if to.columns > MERGED_STRIP // 2 else MERGED_STRIP // 2
    a.strips = ceil_div(to.columns, a.strip)
    a.pitch = a.strip + (LINE if a.behind > 0 else 0)
    a.part = min(max(MERGED_COPY // (a.image.taps * a.pitch), <int64_t>1), a.channels)
    a.floats = 0
    for piece in range(a.count):
        a.floats += pitch_of(a, piece)
    block = min(MERGED_FLOATS // a.floats // FEW * FEW, ceil_div(to.rows, <int64_t>FEW) * FEW)
    a.block = ceil_div(ceil_div(to.rows, ceil_div(to.rows, block)), FEW) * FEW
    a.high = max(ceil_div(a.block, max(PIECES // a.strips, <int64_t>1)), <int64_t>(4 * FEW))
    a.high = min(ceil_div(a.high, FEW) * FEW, min(a.block, MERGED_ROWS // a.count // FEW * FEW))


# Packs the filters of all rows, as many at once as are computed then. Returns their bytes.
cdef int64_t pack_merged(Merged* a, float* packed) noexcept nogil:
    cdef const Products* to = a.pieces
    if packed != NULL:
        for a.group in range(to.batch[0]):
            a.row = 0
            while a.row < to.rows:
                a.rows = min(a.block, to.rows - a.row)
                a.filters = packed + (a.group * to.rows + a.row) * a.floats
                take_merged(a, 0, ceil_div(a.channels, <int64_t>TAKEN))
                a.row += a.rows
    return to.batch[0] * to.rows * a.floats * <int64_t>sizeof(float)


# Computes all rows of all groups; `packed` has all filters, or is NULL. -1: memory ran out.
cdef int run_merged(Merged* a, const float* packed) noexcept nogil:
    cdef const Products* to = a.pieces
    cdef float* memory = NULL
    cdef int64_t elements = 0, piece, work
    cdef int status = 0
    for piece in range(a.count):
        elements += a.part * taps_of(a, piece)
    a.at = <int64_t*>malloc(elements * sizeof(int64_t))
    if packed == NULL:
        memory = <float*>malloc(a.block * a.floats * sizeof(float))
    if a.at == NULL or (memory == NULL and packed == NULL):
        status = -1
    else:
        list_merged(a)
    for a.group in range(to.batch[0]):
        a.row = 0
        while a.row < to.rows and status == 0:
            a.rows = min(a.block, to.rows - a.row)
            if packed != NULL:
                a.filters = <float*>packed + (a.group * to.rows + a.row) * a.floats
            else:
                a.filters = memory
                status = parallel_for(take_merged, a, ceil_div(a.channels, <int64_t>TAKEN),
                                      max(TAKEN_WORK // (TAKEN * a.rows * a.floats // a.channels), 1))
            work = min(a.high, a.rows) * a.floats * min(a.strip, to.columns)
            if status == 0:
                status = parallel_for(
                    compute_merged, a, a.strips * ceil_div(a.rows, a.high), max(enough(WORK) // work, 1))
            a.row += a.rows
    free(a.at)
    free(memory)
    return status
