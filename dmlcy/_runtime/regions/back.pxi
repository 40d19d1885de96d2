# The gradient of the input: what goes back to the elements that samples are made of, region by region in their order.

cdef struct Back:
    const RegionSamples* given
    const Tensor* input
    const Tensor* gradient
    const Tensor* image
    const SampleLoops* loops
    int64_t regions
    int64_t step                    # channels of an item of the batch that are added to at once
    int64_t blocks

# The room of a region: the elements under it, the gradient of its cells, and sums of rows.
cdef struct BackRoom:
    double* numbers
    double* cells
    double* row


# The gradient of a channel of a region, as numbers.
cdef void load_cells(const Tensor* gradient, const SampleLoops* loops, int64_t region, int64_t channel,
                     double* cells) noexcept nogil:
    cdef const char* source = gradient.data + region * gradient.strides[0] + channel * gradient.strides[1]
    cdef int64_t rows = gradient.sizes[2], columns = gradient.sizes[3], y
    if gradient.strides[2] == columns * gradient.strides[3]:
        loops.load(gradient.dtype, source, gradient.strides[3], cells, rows * columns)
        return
    for y in range(rows):
        loops.load(
            gradient.dtype, source + y * gradient.strides[2], gradient.strides[3], cells + y * columns, columns)


# Of means: each cell along the width, then each along the height.
cdef void share_cells(const Back* a, const AxisTable* tables, const BackRoom* room, double* plane) noexcept nogil:
    cdef const SampleTaps* wide = &tables[1].taps
    cdef const SampleTaps* high = &tables[0].taps
    cdef int64_t columns = tables[1].grid.cells, size = tables[1].grid.size, low = tables[1].low, y, x, k
    cdef int64_t width = tables[1].high - low
    cdef const double* cells = room.cells
    for y in range(tables[0].grid.cells):
        if high.begin[y] < high.begin[y + 1]:
            memset(room.row, 0, width * sizeof(double))
            for x in range(columns):
                for k in range(wide.begin[x], wide.begin[x + 1]):
                    room.row[wide.source[k] - low] += wide.weight[k] * cells[x]
            for k in range(high.begin[y], high.begin[y + 1]):
                a.loops.plus(room.row, high.weight[k], plane + high.source[k] * size + low, width)
        cells += columns


# The greatest sample of a cell, rounded to FLOAT32: the first one of equal ones, row by row. False: there is none, or
# one outside the input is greater.
cdef bint find_winner(const AxisTable* tables, const double* numbers, int64_t y, int64_t x, const Sample** row,
                      const Sample** column) noexcept nogil:
    cdef int64_t width = tables[1].high - tables[1].low, i, j
    cdef float best = 0, value
    row[0] = NULL
    for i in range(tables[0].first_sample[y], tables[0].first_sample[y + 1]):
        for j in range(tables[1].first_sample[x], tables[1].first_sample[x + 1]):
            value = <float> value_of(
                &tables[0].samples[i], &tables[1].samples[j], numbers, width, tables[0].low, tables[1].low)
            if row[0] == NULL or is_above(value, best):
                best = value
                row[0] = &tables[0].samples[i]
                column[0] = &tables[1].samples[j]
    return row[0] != NULL and not (some_outside(tables, y, x) and is_above(0, best))


cdef inline void give(double* plane, int64_t size, int64_t row, int64_t column, double weight,
                      double gradient) noexcept nogil:
    if weight != 0:
        plane[row * size + column] += weight * gradient


# Of maxima: to the elements that the greatest samples are made of.
cdef void win_cells(const AxisTable* tables, const BackRoom* room, double* plane) noexcept nogil:
    cdef int64_t columns = tables[1].grid.cells, size = tables[1].grid.size, y, x
    cdef const Sample* row
    cdef const Sample* column
    cdef double gradient
    for y in range(tables[0].grid.cells):
        for x in range(columns):
            if find_winner(tables, room.numbers, y, x, &row, &column):
                gradient = room.cells[y * columns + x]
                give(plane, size, row.low, column.low, (1 - row.rest) * (1 - column.rest), gradient)
                give(plane, size, row.low, column.high, (1 - row.rest) * column.rest, gradient)
                give(plane, size, row.high, column.low, row.rest * (1 - column.rest), gradient)
                give(plane, size, row.high, column.high, row.rest * column.rest, gradient)


cdef int back_channels(const Back* a, int64_t item, int64_t first, int64_t end, double* planes, AxisTable* tables,
                       double** buffer, int64_t* size) noexcept nogil:
    cdef const Tensor* image = a.image
    cdef int64_t area = image.sizes[2] * image.sizes[3], region, channel, numbers
    cdef int64_t cells = a.gradient.sizes[2] * a.gradient.sizes[3]
    cdef BackRoom room
    cdef double* plane
    for region in range(a.regions):
        if item_of_region(a.given, region) != item:
            continue
        if fill_tables(tables, a.given, region, TAPS if a.given.mean else SAMPLES) != 0:
            return -1
        if is_outside(tables):
            continue
        numbers = 0
        if not a.given.mean:
            numbers = (tables[0].high - tables[0].low) * (tables[1].high - tables[1].low)
        if make_room(buffer, size, numbers + cells + image.sizes[3]) != 0:
            return -1
        room.numbers = buffer[0]
        room.cells = room.numbers + numbers
        room.row = room.cells + cells
        for channel in range(first, end):
            plane = planes + (channel - first) * area
            load_cells(a.gradient, a.loops, region, channel, room.cells)
            if a.given.mean:
                share_cells(a, tables, &room, plane)
                continue
            load_region(
                a.input, a.loops, a.input.data + item * a.input.strides[0] + channel * a.input.strides[1], tables,
                room.numbers)
            win_cells(tables, &room, plane)
    return 0


cdef int back_blocks(const void* args, int64_t begin, int64_t end) noexcept nogil:
    cdef const Back* a = <const Back*> args
    cdef const Tensor* image = a.image
    cdef int64_t height = image.sizes[2], width = image.sizes[3], number, item, first, last, size = 0, channel, y
    cdef double* planes = <double*> malloc(<size_t> (a.step * height * width) * sizeof(double))
    cdef double* buffer = NULL
    cdef AxisTable tables[2]
    cdef Grid grids[2]
    cdef char* target
    cdef int status
    grids[0] = grid_of(a.given, a.gradient.sizes[2], height, a.given.scale_y)
    grids[1] = grid_of(a.given, a.gradient.sizes[3], width, a.given.scale_x)
    status = open_table(&tables[0], &grids[0])
    status |= open_table(&tables[1], &grids[1])
    if planes == NULL:
        status = -1
    for number in range(begin, end if status == 0 else begin):
        item = number // a.blocks
        first = number % a.blocks * a.step
        last = min(first + a.step, image.sizes[1])
        memset(planes, 0, <size_t> (a.step * height * width) * sizeof(double))
        status = back_channels(a, item, first, last, planes, tables, &buffer, &size)
        if status != 0:
            break
        for channel in range(first, last):
            target = image.data + item * image.strides[0] + channel * image.strides[1]
            for y in range(height):
                a.loops.store(
                    image.dtype, planes + ((channel - first) * height + y) * width, 0.0, target + y * image.strides[2],
                    image.strides[3], width)
    free(planes)
    free(buffer)
    close_table(&tables[0])
    close_table(&tables[1])
    return status


cdef int run_regions_back(const RegionSamples* a, const Tensor* input, const Tensor* gradient, const Tensor* image,
                          const Tensor* corners) noexcept nogil:
    cdef Back plan
    cdef int64_t area, items, each
    cdef int status = 0
    plan.given = a
    plan.input = input
    plan.gradient = gradient
    plan.image = image
    plan.loops = sample_loops()
    plan.regions = gradient.sizes[0]
    if image.dtype != 0:
        area = image.sizes[2] * image.sizes[3]
        plan.step = min(max(PLANES // area, 1), image.sizes[1])
        plan.blocks = ceil_div(image.sizes[1], plan.step)
        plan.step = ceil_div(image.sizes[1], plan.blocks)
        plan.blocks = ceil_div(image.sizes[1], plan.step)
        items = image.sizes[0] * plan.blocks
        each = plan.step * area + gradient.bytes * 4 // items
        status = parallel_for(back_blocks, &plan, items, grain_of(each))
    if status == 0 and corners.dtype != 0:
        status = run_corners(&plan, corners)
    return status
