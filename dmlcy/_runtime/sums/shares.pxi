# The gradient of means: each element of the positions is spread over its window in equal parts.

cdef enum:
    # the most numbers of a band of rows, unless windows are too tall for so few: the second-level cache holds them
    BAND_NUMBERS = 32768

# How the elements along a row of positions are added for each element of a row of the image.
cdef struct RowTable:
    bint paired                     # none has more than two
    SamplePairs pairs
    int64_t pad                     # zeros before a row of positions
    int64_t length                  # of a row with zeros before and behind it
    bint straight                   # sums of neighbours are neighbours
    int64_t* at                     # where the sum for each element begins
    int64_t* also                   # and one more position, or one of the zeros

cdef struct Shares:
    const WindowSums* given
    const SampleLoops* loops
    Slide axes[3]                   # depth, height, width; without a depth, it is 1
    const double* parts[3]          # 1 / divisor, at each position
    double part                     # of all, if padding counts
    RowTable table
    int64_t image_steps[3]
    int64_t position_steps[3]
    int64_t tall                    # rows of a band; of a volume, slices
    int64_t bands
    int64_t rows_room
    int64_t slices_room
    int64_t image_step              # between channels
    int64_t position_step


cdef int make_row_table(RowTable* table, const Slide* axis) noexcept nogil:
    cdef Over over = over_of(axis)
    cdef int64_t most = over.least + (over.near > 0), blocks = ceil_div(axis.size, PAIR_BLOCK)
    cdef int64_t places = blocks * PAIR_BLOCK, x, at, position, first, second, b, i
    cdef SamplePairs* pairs = &table.pairs
    memset(table, 0, sizeof(RowTable))
    table.paired = most <= 2
    # A window that is longer than the positions is as good as one that has them all.
    table.pad = min(over.least, axis.count) + 1
    table.length = 2 * table.pad + axis.count + 1
    if table.paired:
        pairs.base = <int64_t*> malloc(<size_t> blocks * sizeof(int64_t))
        pairs.low = <int64_t*> malloc(<size_t> places * sizeof(int64_t))
        pairs.high = <int64_t*> malloc(<size_t> places * sizeof(int64_t))
        pairs.first = <double*> malloc(<size_t> places * sizeof(double))
        pairs.second = <double*> malloc(<size_t> places * sizeof(double))
        if not (pairs.base and pairs.low and pairs.high and pairs.first and pairs.second):
            return -1
    else:
        table.at = <int64_t*> malloc(<size_t> places * sizeof(int64_t))
        table.also = <int64_t*> malloc(<size_t> places * sizeof(int64_t))
        if not (table.at and table.also):
            return -1
    pairs.near = True
    table.straight = axis.stride == 1
    for x in range(places):
        at = x + axis.start
        position = at // axis.stride
        second = position - over.least if at - position * axis.stride < over.near else -1
        first = position - over.least + 1
        if not table.paired:
            if over.least > axis.count and first <= 0:
                first = min(position, axis.count - 1) - axis.count
            table.at[x] = min(first, axis.count) + table.pad
            table.straight = table.straight and table.at[x] == table.at[0] + x
            table.also[x] = (second if 0 <= second < axis.count else -1) + table.pad
            continue
        # Two elements, or one and a zero behind the row, or two zeros.
        if over.least == 0:
            first = axis.count
        elif over.least == 2:
            second = position
        first = first if 0 <= first < axis.count else axis.count
        second = second if 0 <= second < axis.count else axis.count
        pairs.low[x] = min(first, second)
        pairs.high[x] = max(first, second)
        pairs.first[x] = pairs.second[x] = 1
    if table.paired:
        for b in range(blocks):
            pairs.base[b] = pairs.low[b * PAIR_BLOCK]
            for i in range(b * PAIR_BLOCK, (b + 1) * PAIR_BLOCK):
                pairs.base[b] = min(pairs.base[b], pairs.low[i])
            for i in range(b * PAIR_BLOCK, (b + 1) * PAIR_BLOCK):
                pairs.low[i] -= pairs.base[b]
                pairs.high[i] -= pairs.base[b]
                pairs.near = pairs.near and pairs.high[i] < PAIR_ROOM
    return 0


cdef void free_row_table(RowTable* table) noexcept nogil:
    free(table.pairs.base)
    free(table.pairs.low)
    free(table.pairs.high)
    free(table.pairs.first)
    free(table.pairs.second)
    free(table.at)
    free(table.also)


# Numbers that spread_row needs, beside those of the row.
cdef inline int64_t row_room(const Shares* a) noexcept nogil:
    return 4 * (a.table.length + a.table.pad) + 2 * PAIR_ROOM


# A row of positions, which begins behind `pad` zeros and ends before as many, becomes a row of the image. `room` has
# two rows of sums and the sum of some of them, whose ends are zeros.
cdef void spread_row(const Shares* a, double* row, double* room, double* target) noexcept nogil:
    cdef const Slide* axis = &a.axes[2]
    cdef const RowTable* table = &a.table
    cdef int64_t length = table.length, each = length + table.pad, reach = 1, done = 0, k
    cdef int64_t least = min(over_of(axis).least, axis.count + 1)
    cdef const double* sums = row
    cdef double* total = room + 2 * each
    cdef const double* found
    if table.paired:
        a.loops.along_pairs(&table.pairs, 0, ceil_div(axis.size, PAIR_BLOCK), row + table.pad, 0, target)
        return
    found = NULL
    k = 0
    while True:
        if least & reach:
            if done == 0:
                found = sums
            elif found != total:
                a.loops.sum(found, sums + done, total, length)
                found = total
            else:
                a.loops.add(sums + done, total, length)
            done += reach
        if 2 * reach > least:
            break
        # The sum found so far is one of the rows of sums, which the next row but one replaces.
        if found == room + k * each:
            memcpy(total, found, length * sizeof(double))
            found = total
        a.loops.sum(sums, sums + reach, room + k * each, length)
        sums = room + k * each
        k = 1 - k
        reach *= 2
    if table.straight:
        memcpy(target, found + table.at[0], axis.size * sizeof(double))
        return
    a.loops.take(found, table.at, row, table.also, target, axis.size)


# Makes rows of the image of rows of positions, and stores them.
cdef void make_slice(const Shares* a, const double* rows, int64_t low, int64_t high, int64_t first, int64_t end,
                     char* image, double* room) noexcept nogil:
    cdef const Slide* axis = &a.axes[2]
    cdef RowSums sums = row_sums(a.loops, &a.axes[1], rows, low, high, axis.size, room)
    cdef bint floats = a.given.image.dtype == FLOAT32 and a.image_steps[2] == a.given.image.item
    cdef char* target
    cdef int64_t y
    for y in range(first, end):
        target = image + y * a.image_steps[1]
        if not (floats and slides_to(&sums, y, <float*> target)):
            a.loops.store(a.given.image.dtype, sum_over(&sums, y), 0.0, target, a.image_steps[2], axis.size)


# A row of positions with its parts.
cdef inline void load_row(const Shares* a, const char* source, double weight, double* target) noexcept nogil:
    a.loops.load(a.given.positions.dtype, source, a.position_steps[2], target, a.axes[2].count)
    a.loops.scale(a.parts[2], weight, target, a.axes[2].count)


cdef void make_flat_band(const Shares* a, const char* positions, char* image, int64_t first, int64_t end,
                         double* buffer) noexcept nogil:
    cdef double* line = buffer
    cdef double* room = line + row_room(a)
    cdef double* rows = room + room_of_sums(&a.axes[1], a.axes[2].size)
    cdef double* row = line + 3 * (a.table.length + a.table.pad)
    cdef int64_t low, high, p
    positions_over(&a.axes[1], first, end, &low, &high)
    for p in range(low, high):
        load_row(a, positions + p * a.position_steps[1], a.part * a.parts[1][p], row + a.table.pad)
        spread_row(a, row, line, rows + (p - low) * a.axes[2].size)
    make_slice(a, rows, low, high, first, end, image, room)


cdef void make_deep_band(const Shares* a, const char* positions, char* image, int64_t first, int64_t end,
                         double* buffer) noexcept nogil:
    cdef int64_t columns = a.axes[2].count, size = a.axes[1].count * columns, low, high, p, q, z
    cdef int64_t top, bottom
    cdef double* line = buffer
    cdef double* room = line + row_room(a)
    cdef double* rows = room + room_of_sums(&a.axes[1], a.axes[2].size)
    cdef double* deep = rows + a.rows_room
    cdef double* slices = deep + room_of_sums(&a.axes[0], size)
    cdef double* row = line + 3 * (a.table.length + a.table.pad)
    cdef const double* found
    cdef RowSums sums
    positions_over(&a.axes[0], first, end, &low, &high)
    positions_over(&a.axes[1], 0, a.axes[1].size, &top, &bottom)
    for p in range(low, high):
        for q in range(a.axes[1].count):
            load_row(
                a, positions + p * a.position_steps[0] + q * a.position_steps[1],
                a.part * a.parts[0][p] * a.parts[1][q], slices + (p - low) * size + q * columns)
    sums = row_sums(a.loops, &a.axes[0], slices, low, high, size, deep)
    for z in range(first, end):
        found = sum_over(&sums, z)
        for q in range(top, bottom):
            memcpy(row + a.table.pad, found + q * columns, columns * sizeof(double))
            spread_row(a, row, line, rows + (q - top) * a.axes[2].size)
        make_slice(a, rows, top, bottom, 0, a.axes[1].size, image + z * a.image_steps[0], room)


cdef int share_bands(const void* args, int64_t begin, int64_t end) noexcept nogil:
    cdef const Shares* a = <const Shares*> args
    cdef const WindowSums* given = a.given
    cdef bint deep = given.spatial == 3
    cdef const Slide* axis = &a.axes[0 if deep else 1]
    cdef int64_t size = row_room(a) + room_of_sums(&a.axes[1], a.axes[2].size) + a.rows_room + a.slices_room
    cdef int64_t number, rest, first, last, channel
    cdef double* buffer = <double*> malloc(<size_t> size * sizeof(double))
    cdef const char* positions
    cdef char* image
    if buffer == NULL:
        return -1
    memset(buffer, 0, <size_t> row_room(a) * sizeof(double))
    for number in range(begin, end):
        first = number % a.bands * a.tall
        last = min(first + a.tall, axis.size)
        rest = number // a.bands
        channel = rest % given.image.sizes[1]
        rest //= given.image.sizes[1]
        positions = given.positions.data + rest * given.positions.strides[0] + channel * given.positions.strides[1]
        image = given.image.data + rest * given.image.strides[0] + channel * given.image.strides[1]
        if deep:
            make_deep_band(a, positions, image, first, last, buffer)
        else:
            make_flat_band(a, positions, image, first, last, buffer)
    free(buffer)
    return 0


# How many rows of positions a band of so many rows of the image needs, at most.
cdef inline int64_t rows_over(const Slide* axis, int64_t tall) noexcept nogil:
    return min(axis.count, over_of(axis).least + tall // axis.stride + 2)


cdef int run_shares(const WindowSums* a) noexcept nogil:
    cdef Shares plan
    cdef const Slide* axis
    cdef double* parts
    cdef int64_t total = 0, each, planes, bytes, q
    cdef int lead = 3 - a.spatial, d, k, status
    plan.given = a
    plan.loops = sample_loops()
    plan.part = 1
    plan.axes[0].size = plan.axes[0].count = plan.axes[0].window = plan.axes[0].stride = 1
    plan.axes[0].dilation = 1
    plan.axes[0].start = 0
    plan.image_steps[0] = plan.position_steps[0] = 0
    for d in range(a.spatial):
        k = lead + d
        plan.axes[k] = slide_of(a, d)
        plan.image_steps[k] = a.image.strides[2 + d]
        plan.position_steps[k] = a.positions.strides[2 + d]
    for k in range(3):
        total += plan.axes[k].count
    parts = <double*> malloc(<size_t> total * sizeof(double))
    if parts == NULL:
        return -1
    total = 0
    for k in range(3):
        axis = &plan.axes[k]
        plan.parts[k] = parts + total
        for q in range(axis.count):
            parts[total + q] = 1 / <double> (axis.window if a.counted else divisor_at(axis, q))
        total += axis.count
    status = make_row_table(&plan.table, &plan.axes[2])
    if status == 0:
        axis = &plan.axes[lead]
        each = plan.axes[2].size if a.spatial == 2 else plan.axes[1].count * plan.axes[2].count
        plan.tall = axis.size
        planes = a.image.sizes[0] * a.image.sizes[1]
        while plan.tall > axis.stride and plan.tall > 1 and plan.tall > over_of(axis).least // 2 and (
                rows_over(axis, plan.tall) * each > BAND_NUMBERS
                or a.image.bytes > SERIAL_BYTES and planes * ceil_div(axis.size, plan.tall) < 8):
            plan.tall = ceil_div(plan.tall, 2)
        plan.bands = ceil_div(axis.size, plan.tall)
        plan.rows_room = rows_over(&plan.axes[1], plan.tall if a.spatial == 2 else plan.axes[1].size)
        plan.rows_room = plan.rows_room * plan.axes[2].size + 2 * PAIR_ROOM
        plan.slices_room = 0
        if a.spatial == 3:
            plan.slices_room = rows_over(axis, plan.tall) * each + room_of_sums(axis, each)
        planes *= plan.bands
        bytes = a.image.bytes + a.positions.bytes
        each = planes if bytes <= SERIAL_BYTES else grain_of(bytes // planes)
        status = parallel_for(share_bands, &plan, planes, each)
    free_row_table(&plan.table)
    free(parts)
    return status
