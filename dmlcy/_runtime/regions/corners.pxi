# The gradient of the regions: how much their means or maxima change with each corner, added up over the channels.

cdef struct Corners:
    const Back* back
    const Tensor* corners

# The room of a region: the elements under it, sums of rows and of columns for each cell, and the gradient of the cells.
cdef struct CornerRoom:
    double* numbers
    double* rows
    double* columns
    double* cells


# Of means: the sums of rows change with the columns of the samples, those of columns with the rows.
cdef void move_means(const Back* a, const AxisTable* tables, const CornerRoom* room, double* sums) noexcept nogil:
    cdef int64_t height = tables[0].high - tables[0].low, width = tables[1].high - tables[1].low
    cdef int64_t rows = tables[0].grid.cells, columns = tables[1].grid.cells, y, x
    mean_rows(a.loops, tables, room.numbers, room.rows)
    for y in range(height):
        a.loops.along(
            &tables[1].taps, 0, columns, room.numbers + y * width, tables[1].low, room.columns + y * columns)
    for y in range(rows):
        for x in range(columns):
            add_moves(
                &tables[1], x, room.rows + y * width, 1, room.cells[y * columns + x], sums)
            add_moves(&tables[0], y, room.columns + x, columns, room.cells[y * columns + x], sums + 1)


# A cell moves with the start and the end of its region: `line` has the elements from the first one of the table on.
# Elements without weight do not count.
cdef inline void add_moves(const AxisTable* table, int64_t cell, const double* line, int64_t step, double gradient,
                           double* sums) noexcept nogil:
    cdef double start = 0, end = 0, change
    cdef const Slope* slope
    cdef int64_t k
    for k in range(table.first_slope[cell], table.first_slope[cell + 1]):
        slope = &table.slopes[k]
        change = line[(slope.low + 1 - table.low) * step] - line[(slope.low - table.low) * step]
        if slope.start != 0:
            start += change * slope.start
        if slope.end != 0:
            end += change * slope.end
    sums[0] += start * gradient
    sums[2] += end * gradient


cdef inline double between_two(double first, double second, double rest) noexcept nogil:
    return (1 - rest) * first + rest * second if rest > 0 else first


# Of maxima: each changes as its sample does.
cdef void move_winners(const AxisTable* tables, const CornerRoom* room, double* sums) noexcept nogil:
    cdef int64_t width = tables[1].high - tables[1].low, columns = tables[1].grid.cells, y, x
    cdef const Sample* row
    cdef const Sample* column
    cdef const double* above
    cdef const double* below
    cdef double gradient, change
    for y in range(tables[0].grid.cells):
        for x in range(columns):
            if not find_winner(tables, room.numbers, y, x, &row, &column):
                continue
            gradient = room.cells[y * columns + x]
            above = room.numbers + (row.low - tables[0].low) * width - tables[1].low
            below = room.numbers + (row.high - tables[0].low) * width - tables[1].low
            change = 0
            if column.rest > 0:
                change = between_two(
                    above[column.high] - above[column.low], below[column.high] - below[column.low], row.rest)
            sums[0] += change * (1 - column.way) * gradient
            sums[2] += change * column.way * gradient
            change = 0
            if row.rest > 0:
                change = between_two(
                    below[column.low] - above[column.low], below[column.high] - above[column.high], column.rest)
            sums[1] += change * (1 - row.way) * gradient
            sums[3] += change * row.way * gradient


cdef int corner_regions(const void* args, int64_t begin, int64_t end) noexcept nogil:
    cdef const Corners* work = <const Corners*> args
    cdef const Back* a = work.back
    cdef const Tensor* corners = work.corners
    cdef const Tensor* input = a.input
    cdef int64_t rows = a.gradient.sizes[2], columns = a.gradient.sizes[3], region, channel, height, width, size = 0
    cdef int rank = corners.rank, status, k
    cdef double* buffer = NULL
    cdef double sums[4]
    cdef AxisTable tables[2]
    cdef Grid grids[2]
    cdef CornerRoom room
    grids[0] = grid_of(a.given, rows, input.sizes[2], a.given.scale_y)
    grids[1] = grid_of(a.given, columns, input.sizes[3], a.given.scale_x)
    status = open_table(&tables[0], &grids[0])
    status |= open_table(&tables[1], &grids[1])
    for region in range(begin, end if status == 0 else begin):
        memset(sums, 0, sizeof(sums))
        status = fill_tables(tables, a.given, region, TAPS | SLOPES if a.given.mean else SAMPLES)
        height = tables[0].high - tables[0].low
        width = tables[1].high - tables[1].low
        if status != 0 or make_room(
                &buffer, &size, height * width + rows * width + height * columns + rows * columns) != 0:
            status = -1
            break
        room.numbers = buffer
        room.rows = room.numbers + height * width
        room.columns = room.rows + rows * width
        room.cells = room.columns + height * columns
        for channel in range(0 if is_outside(tables) or not a.given.linear else input.sizes[1]):
            load_cells(a.gradient, a.loops, region, channel, room.cells)
            load_region(
                input, a.loops, input.data + item_of_region(a.given, region) * input.strides[0]
                + channel * input.strides[1], tables, room.numbers)
            if a.given.mean:
                move_means(a, tables, &room, sums)
            else:
                move_winners(tables, &room, sums)
        for k in range(4):
            sums[k] = sums[k] * (<double> grids[1].scale if k % 2 == 0 else <double> grids[0].scale)
        a.loops.store(
            corners.dtype, sums, 0.0, corners.data + region * corners.strides[rank - 2], corners.strides[rank - 1], 4)
    free(buffer)
    close_table(&tables[0])
    close_table(&tables[1])
    return status


cdef int run_corners(const Back* a, const Tensor* corners) noexcept nogil:
    cdef Corners work
    work.back = a
    work.corners = corners
    return parallel_for(corner_regions, &work, a.regions, grain_of(16 * a.gradient.bytes // a.regions))
