# Convolutions of few filters for each group, or of long rows: columns are read where a copy of the input has them.

# Whether the input of a convolution is copied; else its columns are packed for each tap.
cdef bint are_spread(Products* to) noexcept nogil:
    cdef const ProductAxis* axis
    cdef int d
    if to.depth > TAPS or to.chains > 1 or to.image.taps < 2:
        return False
    # Sums of places between the rows are made for nothing, and a copy of each phase takes time: packing may take less.
    axis = &to.image.axes[2]
    if to.rows > FILTERS and span_of(axis) // axis.step * to.rows > FILTERS // 2 * axis.places:
        return False
    if to.rows > STEPPED and axis.step > 1:
        return False
    if not are_plain(to) and to.floats == NULL and to.rows * to.depth > TURNED:
        return False
    for d in range(1, 3):
        axis = &to.image.axes[d]
        if axis.step > PHASES:
            return False
    return plan_spread(to, NULL)


# The element of the first tap, or the last one, that comes first, and how far the last one is from it.
cdef inline int64_t lowest_of(const ProductAxis* axis) noexcept nogil:
    return axis.start + min((axis.taps - 1) * axis.tap_step, <int64_t>0)


# How far the first tap and the last one are from each other.
cdef inline int64_t span_of(const ProductAxis* axis) noexcept nogil:
    return (axis.taps - 1) * (axis.tap_step if axis.tap_step >= 0 else -axis.tap_step)


# Rows of a band, at most so many, of which each thread gets as many as the others; else `high`.
cdef int64_t even_height(int64_t places, int64_t high, int64_t most, int64_t threads) noexcept nogil:
    cdef int64_t bands = ceil_div(places, high), found = high, least, each, n
    if threads <= 1 or bands >= 4 * TILES * threads:
        return high
    least = ceil_div(bands, threads) * high
    for n in range(ceil_div(bands, threads), 0, -1):
        each = ceil_div(places, n * threads)
        if each <= most and n * each < least:
            found = each
            least = n * each
    return found


# Plans the copy. False: it would be too large.
cdef bint plan_spread(const Products* to, Spread* spread) noexcept nogil:
    cdef Spread own
    cdef const ProductAxis* axes = &to.image.axes[0]
    cdef int64_t row, planes, work, columns, most, units
    cdef int d
    own.to = to
    for d in range(3):
        own.lowest[d] = lowest_of(&axes[d])
        own.phases[d] = min(axes[d].step, span_of(&axes[d]) + 1)
        own.reach[d] = span_of(&axes[d]) // axes[d].step
    own.phases[0] = 1
    own.channels = to.depth // to.image.taps
    own.pitch = axes[2].places + own.reach[2]
    planes = own.channels * axes[0].taps * own.phases[1] * own.phases[2]
    if own.pitch > COPY or (1 + own.reach[1]) * own.pitch > COPY or (1 + own.reach[1]) * own.pitch * planes > COPY:
        return False
    if spread == NULL:
        return True
    row = own.pitch * to.rows * to.depth
    own.parts = 1
    if to.rows <= FILTERS:
        own.high = max(NEAR_COPY // (own.pitch * planes) - own.reach[1], 1)
        own.high = min(own.high, max(NEAR_COPY // (own.pitch * to.rows), 1), axes[1].places)
    else:
        # Bands that are worth copying, cut where they are too much work for one thread.
        units = axes[0].places * to.batch[0] * to.images
        columns = row * axes[1].places * units
        work = min(max(columns // PIECES, <int64_t>WORK), <int64_t>(4 * WORK))
        most = min(COPY // 4 // (own.pitch * planes) - own.reach[1], COPY // 4 // (own.pitch * to.rows))
        own.high = min(max(min(most, work // row), ceil_div(DMLCY_STRIP, own.pitch)), axes[1].places)
        own.high = even_height(axes[1].places, own.high, min(most, 2 * work // row), min(
            ceil_div(thread_limit(), units), columns // enough(WORK)))
        own.parts = own.high * row // (2 * work) + 1
    own.bands = ceil_div(axes[1].places, own.high)
    own.high = ceil_div(axes[1].places, own.bands)
    own.rows = own.high + own.reach[1]
    own.filters = to.rows if own.parts == 1 else ceil_div(ceil_div(to.rows, own.parts), FEW) * FEW
    own.parts = ceil_div(to.rows, own.filters)
    # Whole vectors make a row of the output, and computing the sums between rows, too, would take much longer.
    columns = rounded_up(own.high * own.pitch - own.reach[2], to.level.lanes)
    own.direct = to.straight and axes[2].places % to.level.lanes == 0 and to.depth <= DMLCY_DEPTH
    own.by_row = axes[2].places % to.level.lanes == 0 and (
        own.direct or columns * BETWEEN > own.high * axes[2].places * (BETWEEN + 1))
    spread[0] = own
    return True


# Where the elements of each k are, and which ones of a row are inside.
cdef void list_spread(Spread* spread) noexcept nogil:
    cdef const ProductAxis* axes = &spread.to.image.axes[0]
    cdef int64_t k, tap, plane, start, place, phase
    cdef int64_t size = spread.rows * spread.pitch
    cdef int d
    for k in range(spread.to.depth):
        tap = k % spread.to.image.taps
        plane = tap // (axes[1].taps * axes[2].taps)
        spread.at[k] = 0
        for d in range(1, 3):
            place = tap // axes[2].taps % axes[1].taps if d == 1 else tap % axes[2].taps
            place = axes[d].start + place * axes[d].tap_step - spread.lowest[d]
            plane = plane * spread.phases[d] + place % axes[d].step
            spread.at[k] += place // axes[d].step * (spread.pitch if d == 1 else 1)
        spread.at[k] += (plane * spread.channels + k // spread.to.image.taps) * size
    for phase in range(spread.phases[2]):
        start = -(spread.lowest[2] + phase)
        spread.first[phase] = min(max(ceil_div(start, axes[2].step) if start > 0 else 0, <int64_t>0), spread.pitch)
        start += axes[2].size - 1
        spread.last[phase] = min(start // axes[2].step + 1, spread.pitch) if start >= 0 else 0


# Copies what some rows of the output need.
cdef void copy_spread(const Spread* spread, const char* source, int64_t plane, int64_t row,
                      float* copy) noexcept nogil:
    cdef const Products* to = spread.to
    cdef const ProductAxis* axes = &to.image.axes[0]
    cdef int64_t size = spread.rows * spread.pitch, between = axes[2].step * axes[2].stride
    cdef int64_t tap, first, second, place, outer, begin, end
    cdef int64_t step = axes[1].step * axes[1].stride
    cdef const char* line
    for tap in range(axes[0].taps):
        outer = axes[0].start + plane * axes[0].step + tap * axes[0].tap_step
        for first in range(spread.phases[1]):
            # The rows that are inside.
            place = spread.lowest[1] + first + row * axes[1].step
            begin = ceil_div(-place, axes[1].step) if place < 0 else 0
            end = ceil_div(axes[1].size - place, axes[1].step) if place < axes[1].size else 0
            if not 0 <= outer < axes[0].size:
                end = 0
            for second in range(spread.phases[2]):
                line = source + outer * axes[0].stride + place * axes[1].stride
                line += (spread.lowest[2] + second) * axes[2].stride
                to.level.fill_rows(
                    line, to.image.channel_stride, spread.channels, step, between, to.item, spread.first[second],
                    spread.last[second], spread.pitch, begin, end, spread.rows, copy)
                copy += spread.channels * size


# The kernel of the most rows, and that of the most vectors that is not too large.
cdef inline int spread_height(const Products* to, int64_t rows) noexcept nogil:
    cdef int h
    for h in range(DMLCY_HEIGHTS):
        if 0 < to.level.heights[h] <= rows and (to.level.spread[h][0] != NULL or to.level.spread[h][1] != NULL):
            return h
    return DMLCY_HEIGHTS - 1


cdef inline int spread_width(const Products* to, int h, int64_t n) noexcept nogil:
    cdef int width = DMLCY_WIDTHS - 1
    while width > 0 and (to.level.spread[h][width] == NULL or (
            columns_of(to, width) >= n + min(to.level.widths[width], 3) * to.level.lanes - to.level.lanes)):
        width -= 1
    return width


# The same of whole vectors: no column behind the last one is computed.
cdef inline int whole_width(const Products* to, int h, int64_t n) noexcept nogil:
    cdef int width = DMLCY_WIDTHS - 1
    while width > 0 and (to.level.spread[h][width] == NULL or columns_of(to, width) > n):
        width -= 1
    return width


# Adds the products of `depth` k to the sums of some columns, rows of which are `pitch` apart.
cdef void add_spread(const Spread* spread, const Tile* tile, int64_t column, int64_t columns, int64_t first,
                     int64_t depth, float* sums, int64_t pitch) noexcept nogil:
    cdef const Products* to = spread.to
    cdef int64_t row = 0, done
    cdef const float* source
    cdef float* target
    cdef int h, width
    while row < tile.rows:
        h = spread_height(to, tile.rows - row)
        done = 0
        while done < columns:
            width = whole_width(to, h, columns - done) if spread.by_row else spread_width(to, h, columns - done)
            source = target = sums + row * pitch + done
            if first == 0:
                source = NULL if tile.begin == NULL else tile.begin + row * tile.strip
            to.level.spread[h][width](
                depth, tile.left + row * tile.left_row + first, tile.left_row, tile.strips + column + done,
                spread.at + first, source, tile.strip if first == 0 else pitch, target, pitch)
            done += columns_of(to, width)
        row += to.level.heights[h]


# Computes the sums of some rows of the output, DMLCY_STRIP columns and DMLCY_DEPTH k at a time.
cdef void sum_spread(const Spread* spread, const Tile* tile, int64_t rows, int64_t between,
                     int64_t pitch) noexcept nogil:
    cdef const Products* to = spread.to
    cdef int64_t line, strip, first = 0, depth, lines = 1, n = rows * spread.pitch - spread.reach[2]
    if spread.by_row:
        lines = rows
        n = spread.pitch - spread.reach[2]
    while first < to.depth:
        depth = min(to.depth - first, <int64_t>DMLCY_DEPTH)
        for line in range(lines):
            for strip in range(ceil_div(n, DMLCY_STRIP)):
                add_spread(spread, tile, line * spread.pitch + strip * DMLCY_STRIP,
                           min(n - strip * DMLCY_STRIP, <int64_t>DMLCY_STRIP), first, depth,
                           tile.sums + line * between + strip * DMLCY_STRIP, pitch)
        first += depth


# Whether all sums are finite; rows of the output are `between` apart.
cdef bint are_spread_finite(const Spread* spread, const Tile* tile, int64_t rows, int64_t between,
                            int64_t pitch) noexcept nogil:
    cdef int64_t line
    if not spread.direct:
        return spread.to.level.are_finite(tile.sums, pitch, tile.rows, rows * spread.pitch - spread.reach[2])
    for line in range(rows):
        if not spread.to.level.are_finite(
                tile.sums + line * between, pitch, tile.rows, spread.to.image.axes[2].places):
            return False
    return True


# Computes the elements that are no finite numbers again.
cdef void mend_spread(const Spread* spread, Tile* tile, int64_t image, int64_t plane, int64_t row, int64_t rows,
                      int64_t between, int64_t pitch) noexcept nogil:
    cdef const Products* to = spread.to
    cdef const ProductAxis* axes = &to.image.axes[0]
    cdef ProductRun* run = &tile.runs[0]
    cdef float* sums
    cdef double result
    cdef int64_t filter, i, j
    for filter in range(tile.rows):
        for i in range(rows):
            sums = tile.sums + filter * pitch + i * between
            if to.level.are_finite(sums, 0, 1, axes[2].places):
                continue
            run.place[0] = plane
            run.place[1] = row + i
            run.place[2] = 0
            run.source = image * to.image.image_stride + (axes[2].start * axes[2].stride)
            run.source += (axes[0].start + plane * axes[0].step) * axes[0].stride
            run.source += (axes[1].start + (row + i) * axes[1].step) * axes[1].stride
            for j in range(axes[2].places):
                if not isfinite(sums[j]):
                    result = exact_sum(to, tile, filter, run, j)
                    if tile.c != NULL:
                        result += dmlcy_element_of(tile.c + filter * to.c_line, to.item)
                    sums[j] = <float>result


# Begins the chains of the columns that one kernel computes.
cdef void list_few_begins(const Products* to, Tile* tile) noexcept nogil:
    cdef int64_t row, i
    cdef float number
    for row in range(tile.rows):
        number = dmlcy_element_of(tile.c + row * to.c_line, to.item)
        for i in range(OVER if row >= tile.rows - 3 else OVER // 2):
            tile.begin[row * OVER + i] = number


# The elements of so many rows of places that follow one another in the output.
cdef inline int64_t row_of_places(const Products* to, int64_t rows) noexcept nogil:
    cdef const ProductAxis* axes = &to.image.axes[0]
    return axes[2].places * (rows if axes[1].output_stride == axes[2].places * to.item else 1)


# Applies what follows to some rows of places of some channels, `line` bytes apart, where they are.
cdef void store_places(const Products* to, char* y, int64_t channels, int64_t line, int64_t rows) noexcept nogil:
    cdef const ProductAxis* axes = &to.image.axes[0]
    cdef int64_t channel, step = axes[1].output_stride
    if step == axes[2].places * to.item:
        store_rows(to, <float*>y, line // <int64_t>sizeof(float), y, line, channels, rows * axes[2].places)
        return
    for channel in range(channels):
        store_rows(to, <float*>(y + channel * line), step // <int64_t>sizeof(float), y + channel * line, step, rows,
                   axes[2].places)


# Lets others work on some rows of places of some channels, `line` bytes apart. -1: memory ran out.
cdef int follow_places(const Products* to, char* y, int64_t channels, int64_t line, int64_t rows) noexcept nogil:
    cdef const ProductAxis* axes = &to.image.axes[0]
    cdef int64_t channel
    if axes[1].output_stride == axes[2].places * to.item:
        return follow_rows(to, y, channels, line, rows * axes[2].places, to.y_step)
    for channel in range(channels):
        if follow_rows(to, y + channel * line, rows, axes[1].output_stride, axes[2].places, to.y_step):
            return -1
    return 0


# The sums of some rows become elements of the output. -1: memory ran out.
cdef int put_spread(const Spread* spread, const Tile* tile, int64_t rows, int64_t pitch) noexcept nogil:
    cdef const Products* to = spread.to
    cdef const ProductAxis* axes = &to.image.axes[0]
    cdef int64_t filter
    if to.fused != NULL and activate(to.fused, tile.sums, tile.rows * pitch):
        return -1
    for filter in range(tile.rows):
        if to.strips > 0:
            store_rows(to, tile.sums + filter * pitch, spread.pitch, tile.y + filter * to.y_line, axes[1].output_stride,
                       rows, axes[2].places)
            continue
        to.level.put_rows(
            tile.sums + filter * pitch, spread.pitch, rows, axes[2].places, tile.y + filter * to.y_line,
            axes[1].output_stride, to.y_step, to.item)
    return 0


# Computes some filters at some bands of rows. -1: memory ran out.
cdef int compute_spread(const void* args, int64_t begin, int64_t end) noexcept nogil:
    cdef const Spread* spread = <const Spread*>args
    cdef const Products* to = spread.to
    cdef const ProductAxis* axes = &to.image.axes[0]
    cdef Tile tile
    cdef int64_t pitch = spread.high * spread.pitch + OVER, between = spread.pitch
    cdef int64_t number, rest, group, image, plane, row, rows, part
    cdef int64_t planes = spread.channels * axes[0].taps * spread.phases[1] * spread.phases[2], held = -1, first
    cdef int64_t copied = planes * spread.rows * spread.pitch + OVER
    cdef int64_t packed = 0 if are_plain(to) or to.floats != NULL else spread.filters * to.depth
    cdef int64_t sums = 0 if spread.direct else spread.filters * pitch
    cdef float* memory = <float*>malloc((copied + packed + sums + spread.filters * OVER) * sizeof(float))
    cdef int status = 0
    if memory == NULL:
        return -1
    tile.strips = memory
    tile.packed = memory + copied
    tile.sums = tile.packed + packed
    tile.begin = tile.sums + sums if to.begun else NULL
    tile.strip = OVER
    tile.row = 0
    memset(memory + copied - OVER, 0, OVER * sizeof(float))
    if spread.by_row:
        memset(tile.sums, 0, sums * sizeof(float))
    if spread.direct:
        pitch = to.y_line // <int64_t>sizeof(float)
        between = axes[1].output_stride // <int64_t>sizeof(float)
    for number in range(begin, end):
        part = number % spread.parts
        rest = number // spread.parts
        row = rest % spread.bands * spread.high
        rows = min(spread.high, axes[1].places - row)
        rest //= spread.bands
        plane = rest % axes[0].places
        rest //= axes[0].places
        group = rest % to.batch[0]
        image = rest // to.batch[0]
        first = part * spread.filters
        tile.rows = min(spread.filters, to.rows - first)
        tile.a = to.a + group * to.a_batch[0] + first * to.a_line
        tile.floats = to.floats
        if to.floats != NULL:
            tile.floats += (group * to.rows + first) * to.floats_row
        tile.b = to.b + group * to.b_batch[0]
        tile.c = to.c
        if to.c != NULL:
            tile.c += group * to.c_batch[0] + first * to.c_line
        if group * spread.parts + part != held:
            take_filters(to, &tile)
            if to.begun:
                list_few_begins(to, &tile)
            held = group * spread.parts + part
        copy_spread(spread, tile.b + image * to.image.image_stride, plane, row, tile.strips)
        tile.y = to.y + group * to.y_batch[0] + image * to.image.output_stride + plane * axes[0].output_stride
        tile.y += first * to.y_line + row * axes[1].output_stride
        if spread.direct:
            tile.sums = <float*>tile.y
        sum_spread(spread, &tile, rows, between, pitch)
        if not are_spread_finite(spread, &tile, rows, between, pitch):
            mend_spread(spread, &tile, image, plane, row, rows, between, pitch)
        if not spread.direct and put_spread(spread, &tile, rows, pitch):
            status = -1
            break
        if spread.direct and to.strips > 0:
            store_places(to, tile.y, tile.rows, to.y_line, rows)
        if to.after != NULL and follow_places(to, tile.y, tile.rows, to.y_line, rows):
            status = -1
            break
    free(memory)
    return status


# The filters of a group, a row of floats for each.
cdef void take_filters(const Products* to, Tile* tile) noexcept nogil:
    if tile.floats != NULL:
        tile.left = tile.floats
        tile.left_row = to.floats_row
        return
    tile.left = <const float*>tile.a
    tile.left_row = to.a_line // <int64_t>sizeof(float)
    if are_plain(to):
        return
    tile.left = tile.packed
    tile.left_row = to.depth
    gather_rows(to, tile, tile.packed, to.depth)


# The rows of a tile as floats, `pitch` apart.
cdef void gather_rows(const Products* to, Tile* tile, float* target, int64_t pitch) noexcept nogil:
    cdef int64_t first = 0, depth, row, k
    if to.a_step == to.item:
        for row in range(tile.rows):
            dmlcy_widen(tile.a + row * to.a_line, to.item, to.item, target + row * pitch, to.depth)
        return
    while first < to.depth:
        depth = min(to.depth - first, <int64_t>DMLCY_DEPTH)
        list_places(to, tile, first, 1, depth)
        for row in range(tile.rows):
            for k in range(depth):
                target[row * pitch + first + k] = dmlcy_element_of(tile.a + row * to.a_line + tile.a_at[k], to.item)
        first += depth


cdef int run_spread(Products* to) noexcept nogil:
    cdef Spread spread
    cdef int64_t bands, work
    cdef int status
    plan_spread(to, &spread)
    to.after = take_epilogue(to.followed, row_of_places(to, spread.high))
    spread.at = <int64_t*>malloc(to.depth * sizeof(int64_t))
    if spread.at == NULL:
        return -1
    list_spread(&spread)
    bands = spread.parts * spread.bands * to.image.axes[0].places * to.batch[0] * to.images
    work = spread.high * spread.pitch * to.depth * spread.filters + spread.rows * spread.pitch * to.depth
    status = parallel_for(compute_spread, &spread, bands, max(enough(SPREAD_WORK) // work, 1))
    free(spread.at)
    return status
