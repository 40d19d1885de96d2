# Where the samples of a region are along an axis: in FLOAT32, step by step; and what they are made of.

# The common tables of all regions along an axis.
cdef struct Grid:
    int64_t all                     # cells of the output
    int64_t cells                   # of which a table has so many, from the first one on
    int64_t first
    int64_t size                    # of the input
    float scale
    float before
    float after
    int64_t least
    int64_t most
    bint corners
    bint linear

# A sample: `rest` behind element `low`, with the next one `high`. `way`: of the region from its start to its end.
cdef struct Sample:
    int64_t low
    int64_t high
    double rest
    double way

# How much the samples of a cell that are between two elements move with the start and the end of the region.
cdef struct Slope:
    int64_t low
    double start
    double end

# A region along an axis. Each table has, for each cell, where its entries begin, and an end.
cdef struct AxisTable:
    Grid grid
    int64_t each                    # samples of a cell, inside the input or not
    int64_t* inside                 # of those of each cell
    SampleTaps taps                 # of which the mean of a cell is made
    int64_t* first_sample
    Sample* samples                 # of which one is the greatest of a cell
    int64_t* first_slope
    Slope* slopes
    int64_t rooms[3]                # entries that each table has memory for
    int64_t low                     # the elements that samples are made of: from this one to before the next
    int64_t high

cdef enum:
    TAPS = 1
    SAMPLES = 2
    SLOPES = 4


cdef inline Grid grid_of(const RegionSamples* a, int64_t cells, int64_t size, double scale) noexcept nogil:
    cdef Grid grid
    grid.all = cells
    grid.cells = cells
    grid.first = 0
    grid.size = size
    grid.scale = <float> scale
    grid.before = <float> a.before
    grid.after = <float> a.after
    grid.least = a.least
    grid.most = a.most
    grid.corners = a.corners
    grid.linear = a.linear
    return grid


# -1: memory ran out; close_table may be called all the same.
cdef int open_table(AxisTable* table, const Grid* grid) noexcept nogil:
    cdef size_t bytes = <size_t> (grid.cells + 1) * sizeof(int64_t)
    memset(table, 0, sizeof(AxisTable))
    table.grid = grid[0]
    table.inside = <int64_t*> malloc(bytes)
    table.taps.begin = <int64_t*> malloc(bytes)
    table.first_sample = <int64_t*> malloc(bytes)
    table.first_slope = <int64_t*> malloc(bytes)
    return 0 if table.inside and table.taps.begin and table.first_sample and table.first_slope else -1


cdef void close_table(AxisTable* table) noexcept nogil:
    free(table.inside)
    free(table.taps.begin)
    free(table.taps.source)
    free(table.taps.weight)
    free(table.first_sample)
    free(table.samples)
    free(table.first_slope)
    free(table.slopes)


# Memory for one more entry. -1: there is none.
cdef int grow(void** entries, size_t size, int64_t room) noexcept nogil:
    cdef void* found = realloc(entries[0], <size_t> room * size)
    if found == NULL:
        return -1
    entries[0] = found
    return 0


cdef inline int64_t more_than(int64_t room) noexcept nogil:
    return 2 * room + 64


cdef int add_tap(AxisTable* table, int64_t begin, int64_t* count, int64_t source, double weight) noexcept nogil:
    cdef int64_t k
    for k in range(count[0] - 1, max(begin, count[0] - 4) - 1, -1):     # samples are in order
        if table.taps.source[k] == source:
            table.taps.weight[k] += weight
            return 0
    if count[0] == table.rooms[0]:
        table.rooms[0] = more_than(count[0])
        if grow(<void**> &table.taps.source, sizeof(int64_t), table.rooms[0]) != 0 \
                or grow(<void**> &table.taps.weight, sizeof(double), table.rooms[0]) != 0:
            return -1
    table.taps.source[count[0]] = source
    table.taps.weight[count[0]] = weight
    count[0] += 1
    return 0


# Of many samples between the same elements, the first and the last one: no other one has an extreme value.
cdef int add_sample(AxisTable* table, int64_t begin, int64_t* count, const Sample* sample) noexcept nogil:
    cdef int64_t k = count[0]
    if k - begin >= 2 and table.samples[k - 1].low == sample.low and table.samples[k - 2].low == sample.low:
        table.samples[k - 1] = sample[0]
        return 0
    if k == table.rooms[1]:
        table.rooms[1] = more_than(k)
        if grow(<void**> &table.samples, sizeof(Sample), table.rooms[1]) != 0:
            return -1
    table.samples[k] = sample[0]
    count[0] = k + 1
    return 0


cdef inline int signs_of(double number) noexcept nogil:
    return (number > 0) - (number < 0)


cdef int add_slope(AxisTable* table, int64_t begin, int64_t* count, const Sample* sample) noexcept nogil:
    cdef int64_t k = count[0]
    cdef double each = <double> table.each
    if k > begin and table.slopes[k - 1].low == sample.low and signs_of(table.slopes[k - 1].start) == signs_of(
            1 - sample.way) and signs_of(table.slopes[k - 1].end) == signs_of(sample.way):
        table.slopes[k - 1].start += (1 - sample.way) / each
        table.slopes[k - 1].end += sample.way / each
        return 0
    if k == table.rooms[2]:
        table.rooms[2] = more_than(k)
        if grow(<void**> &table.slopes, sizeof(Slope), table.rooms[2]) != 0:
            return -1
    table.slopes[k].low = sample.low
    table.slopes[k].start = (1 - sample.way) / each
    table.slopes[k].end = sample.way / each
    count[0] = k + 1
    return 0


cdef inline float place_at(const Grid* grid, int64_t number, float after, float step, float first) noexcept nogil:
    cdef float place = <float> number
    place = place - after
    place = place * step
    place = place + first
    return place - grid.before


# The first number of a sample whose place, in ascending order, is at least -1; or is beyond the size.
cdef int64_t first_beyond(const Grid* grid, int64_t total, float after, float step, float first,
                          bint end) noexcept nogil:
    cdef int64_t low = 0, high = total, middle
    cdef float place
    while low < high:
        middle = low + (high - low) // 2
        place = place_at(grid, middle, after, step, first)
        if place > <float> grid.size if end else place >= -1:
            high = middle
        else:
            low = middle + 1
    return low


# Finds the samples of the region between two places, which are not scaled yet. -1: memory ran out.
cdef int fill_table(AxisTable* table, float start, float end, int asked) noexcept nogil:
    cdef const Grid* grid = &table.grid
    cdef float first = start * grid.scale
    cdef float last = end * grid.scale
    cdef float length = last - first
    cdef float ratio = ceilf(length / <float> grid.all)
    cdef float after = grid.after, step, at
    cdef int64_t total, steps, begin, stop, i, cell, own = 0
    cdef int64_t counts[3]
    cdef int64_t begins[3]
    cdef double place
    cdef bint middle
    cdef Sample sample
    if not ratio > grid.least:
        table.each = grid.least
    elif <double> ratio >= <double> grid.most:
        table.each = grid.most
    else:
        table.each = <int64_t> ratio
    total = grid.all * table.each
    middle = grid.corners and total == 1
    if grid.corners:
        after = -0.5 if middle else 0
    steps = total - 1 if grid.corners and not middle else total
    step = length / <float> steps
    begin = 0
    stop = total
    if total > MANY and step > 0:
        begin = first_beyond(grid, total, after, step, first, False)
        stop = max(begin, first_beyond(grid, total, after, step, first, True))
    begin = max(begin, grid.first * table.each)
    stop = min(stop, (grid.first + grid.cells) * table.each)
    counts[0] = counts[1] = counts[2] = 0
    table.low = grid.size
    table.high = 0
    i = begin
    cell = 0
    for cell in range(grid.cells):
        begins[0] = table.taps.begin[cell] = counts[0]
        begins[1] = table.first_sample[cell] = counts[1]
        begins[2] = table.first_slope[cell] = counts[2]
        own = 0
        while i < stop and i < (grid.first + cell + 1) * table.each:
            at = place_at(grid, i, after, step, first)
            i += 1
            if not (at >= -1 and at <= <float> grid.size):
                continue
            own += 1
            place = at
            place = min(max(place, <double> 0), <double> (grid.size - 1))
            sample.way = (<double> (i - 1) - <double> after) / <double> steps
            if grid.linear:
                sample.low = <int64_t> place
                sample.rest = place - <double> sample.low
            else:
                sample.low = <int64_t> ceil(place - 0.5)
                sample.rest = 0
            sample.high = sample.low + (sample.rest > 0)
            table.low = min(table.low, sample.low)
            table.high = max(table.high, sample.high + 1)
            if asked & TAPS:
                if add_tap(table, begins[0], &counts[0], sample.low, (1 - sample.rest) / <double> table.each) != 0:
                    return -1
                if sample.rest > 0 and add_tap(
                        table, begins[0], &counts[0], sample.high, sample.rest / <double> table.each) != 0:
                    return -1
            if asked & SAMPLES and add_sample(table, begins[1], &counts[1], &sample) != 0:
                return -1
            if asked & SLOPES and sample.rest > 0 and add_slope(table, begins[2], &counts[2], &sample) != 0:
                return -1
        table.inside[cell] = own
    table.taps.begin[grid.cells] = counts[0]
    table.first_sample[grid.cells] = counts[1]
    table.first_slope[grid.cells] = counts[2]
    table.low = min(table.low, table.high)
    return 0


# A number of a tensor of floats.
cdef inline float float_at(const Tensor* tensor, const char* at) noexcept nogil:
    return dmlcy_float_of_half((<const uint16_t*> at)[0]) if tensor.dtype == FLOAT16 else (<const float*> at)[0]


cdef inline int64_t item_of_region(const RegionSamples* a, int64_t region) noexcept nogil:
    cdef const char* at = a.items.data + region * a.items.strides[a.items.rank - 1]
    return (<const uint32_t*> at)[0] if a.items.dtype == UINT32 else <int64_t> (<const uint64_t*> at)[0]


# Finds the samples of a region along the height (0) and the width (1). -1: memory ran out.
cdef int fill_tables(AxisTable* tables, const RegionSamples* a, int64_t region, int asked) noexcept nogil:
    cdef int rank = a.regions.rank, k
    cdef float corner[4]
    for k in range(4):
        corner[k] = float_at(
            a.regions, a.regions.data + region * a.regions.strides[rank - 2] + k * a.regions.strides[rank - 1])
    if fill_table(&tables[1], corner[0], corner[2], asked) != 0:
        return -1
    return fill_table(&tables[0], corner[1], corner[3], asked)


cdef inline bint is_outside(const AxisTable* tables) noexcept nogil:
    return tables[0].low >= tables[0].high or tables[1].low >= tables[1].high


# Whether some samples of a cell are outside the input.
cdef inline bint some_outside(const AxisTable* tables, int64_t row, int64_t column) noexcept nogil:
    return tables[0].inside[row] < tables[0].each or tables[1].inside[column] < tables[1].each


# Room of numbers that lasts for many regions. -1: memory ran out.
cdef inline int make_room(double** room, int64_t* size, int64_t needed) noexcept nogil:
    if needed <= size[0]:
        return 0
    size[0] = needed + needed // 2
    free(room[0])
    room[0] = <double*> malloc(<size_t> size[0] * sizeof(double))
    if room[0] == NULL:
        size[0] = 0
        return -1
    return 0
