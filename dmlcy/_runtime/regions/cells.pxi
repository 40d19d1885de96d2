# Means and maxima of the samples of each cell.

cdef struct Cells:
    const RegionSamples* given
    const Tensor* input
    const Tensor* output
    const SampleLoops* loops
    int64_t step                    # channels that are computed with the tables of a part of a region
    int64_t blocks
    int64_t high                    # parts of a region along the height, and the width
    int64_t wide

# The room of a region: the elements under it, sums of its rows, and its cells.
cdef struct CellRoom:
    double* numbers
    double* rows
    double* cells


# The elements of a channel under a region, as numbers.
cdef void load_region(const Tensor* tensor, const SampleLoops* loops, const char* plane, const AxisTable* tables,
                      double* numbers) noexcept nogil:
    cdef int64_t width = tables[1].high - tables[1].low, y
    for y in range(tables[0].low, tables[0].high):
        loops.load(
            tensor.dtype, plane + y * tensor.strides[2] + tables[1].low * tensor.strides[3], tensor.strides[3],
            numbers + (y - tables[0].low) * width, width)


# The sums of rows for each cell along the height.
cdef void mean_rows(const SampleLoops* loops, const AxisTable* tables, const double* numbers,
                    double* rows) noexcept nogil:
    cdef const SampleTaps* taps = &tables[0].taps
    cdef int64_t width = tables[1].high - tables[1].low, low = tables[0].low, cell, k, end
    for cell in range(tables[0].grid.cells):
        k = taps.begin[cell]
        end = taps.begin[cell + 1]
        if k == end:
            memset(rows, 0, width * sizeof(double))
        elif k + 1 == end:
            loops.times(numbers + (taps.source[k] - low) * width, taps.weight[k], rows, width)
        else:
            loops.blend(
                numbers + (taps.source[k] - low) * width, taps.weight[k],
                numbers + (taps.source[k + 1] - low) * width, taps.weight[k + 1], rows, width)
            for k in range(k + 2, end):
                loops.plus(numbers + (taps.source[k] - low) * width, taps.weight[k], rows, width)
        rows += width


cdef void mean_cells(const Cells* a, const AxisTable* tables, const CellRoom* room) noexcept nogil:
    cdef int64_t width = tables[1].high - tables[1].low, cells = tables[1].grid.cells, y, x
    cdef double inside, each = <double> tables[0].each * <double> tables[1].each
    mean_rows(a.loops, tables, room.numbers, room.rows)
    for y in range(tables[0].grid.cells):
        a.loops.along(
            &tables[1].taps, 0, cells, room.rows + y * width, tables[1].low, room.cells + y * cells)
        for x in range(cells):
            if some_outside(tables, y, x):
                inside = <double> tables[0].inside[y] * <double> tables[1].inside[x]
                room.cells[y * cells + x] += a.given.outside * (1 - inside / each)


# Whether a number is above another one: NaN is below all, +0 is above -0.
cdef inline bint is_above(double a, double b) noexcept nogil:
    if a > b:
        return True
    if a == 0 and b == 0:
        return 1 / a > 1 / b
    return b != b and a == a


# The value of a sample.
cdef inline double value_of(const Sample* row, const Sample* column, const double* numbers, int64_t width, int64_t top,
                            int64_t left) noexcept nogil:
    cdef const double* above = numbers + (row.low - top) * width - left
    cdef const double* below = numbers + (row.high - top) * width - left
    cdef double first = above[column.low], second = above[column.high]
    if row.rest > 0:
        first = (1 - row.rest) * first + row.rest * below[column.low]
        second = (1 - row.rest) * second + row.rest * below[column.high]
    return (1 - column.rest) * first + column.rest * second if column.rest > 0 else first


cdef void greatest_cells(const Cells* a, const AxisTable* tables, const CellRoom* room) noexcept nogil:
    cdef int64_t width = tables[1].high - tables[1].low, cells = tables[1].grid.cells, y, x, i, j
    cdef double best, value
    cdef bint seen
    for y in range(tables[0].grid.cells):
        for x in range(cells):
            best = a.given.outside
            seen = some_outside(tables, y, x)
            for i in range(tables[0].first_sample[y], tables[0].first_sample[y + 1]):
                for j in range(tables[1].first_sample[x], tables[1].first_sample[x + 1]):
                    value = value_of(
                        &tables[0].samples[i], &tables[1].samples[j], room.numbers, width, tables[0].low, tables[1].low)
                    if not seen or is_above(value, best):
                        best = value
                    seen = True
            room.cells[y * cells + x] = best


# Part `number` of all regions along the height, or the width. Its cells, and the region.
cdef inline int64_t part_of(Grid* grid, AxisTable* table, int64_t number, int64_t parts) noexcept nogil:
    grid.first = number % parts * CELLS
    grid.cells = min(grid.all - grid.first, CELLS)
    table.grid = grid[0]
    return number // parts


cdef int region_blocks(const void* args, int64_t begin, int64_t end) noexcept nogil:
    cdef const Cells* a = <const Cells*> args
    cdef const Tensor* input = a.input
    cdef const Tensor* output = a.output
    cdef int64_t rows = 0, columns = 0, number, region = 0, channel, last, old = -1, y
    cdef int64_t size = 0, needed, height, width
    cdef AxisTable tables[2]
    cdef Grid grids[2]
    cdef double* buffer = NULL
    cdef CellRoom room
    cdef const char* plane
    cdef char* target
    cdef int status
    memset(&room, 0, sizeof(room))
    grids[0] = grid_of(a.given, output.sizes[2], input.sizes[2], a.given.scale_y)
    grids[1] = grid_of(a.given, output.sizes[3], input.sizes[3], a.given.scale_x)
    grids[0].cells = min(grids[0].all, CELLS)
    grids[1].cells = min(grids[1].all, CELLS)
    status = open_table(&tables[0], &grids[0])
    status |= open_table(&tables[1], &grids[1])
    for number in range(begin, end if status == 0 else begin):
        if number // a.blocks != old:
            old = number // a.blocks
            region = part_of(&grids[1], &tables[1], old, a.wide)
            region = part_of(&grids[0], &tables[0], region, a.high)
            rows = grids[0].cells
            columns = grids[1].cells
            status = fill_tables(tables, a.given, region, TAPS if a.given.mean else SAMPLES)
            height = tables[0].high - tables[0].low
            width = tables[1].high - tables[1].low
            needed = height * width + rows * width + rows * columns
            if status != 0 or make_room(&buffer, &size, needed) != 0:
                status = -1
                break
            room.numbers = buffer
            room.rows = room.numbers + height * width
            room.cells = room.rows + rows * width
        channel = number % a.blocks * a.step
        last = min(channel + a.step, input.sizes[1])
        for channel in range(channel, last):
            plane = input.data + item_of_region(a.given, region) * input.strides[0] + channel * input.strides[1]
            target = output.data + region * output.strides[0] + channel * output.strides[1]
            target += grids[0].first * output.strides[2] + grids[1].first * output.strides[3]
            load_region(input, a.loops, plane, tables, room.numbers)
            if a.given.mean:
                mean_cells(a, tables, &room)
            else:
                greatest_cells(a, tables, &room)
            if output.strides[2] == columns * output.strides[3]:
                a.loops.store(output.dtype, room.cells, -0.0, target, output.strides[3], rows * columns)
                continue
            for y in range(rows):
                a.loops.store(
                    output.dtype, room.cells + y * columns, -0.0, target + y * output.strides[2], output.strides[3],
                    columns)
    free(buffer)
    close_table(&tables[0])
    close_table(&tables[1])
    return status


cdef int run_regions(const RegionSamples* a, const Tensor* input, const Tensor* output) noexcept nogil:
    cdef Cells plan
    cdef int64_t items
    plan.given = a
    plan.input = input
    plan.output = output
    plan.loops = sample_loops()
    plan.blocks = ceil_div(input.sizes[1], CHANNELS)
    plan.step = ceil_div(input.sizes[1], plan.blocks)
    plan.blocks = ceil_div(input.sizes[1], plan.step)
    plan.high = ceil_div(output.sizes[2], CELLS)
    plan.wide = ceil_div(output.sizes[3], CELLS)
    items = output.sizes[0] * plan.high * plan.wide * plan.blocks
    return parallel_for(region_blocks, &plan, items, grain_of(8 * output.bytes // items))
