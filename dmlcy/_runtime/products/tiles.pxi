# Tiles of the output, which threads share: strip by strip, DMLCY_DEPTH products of each sum at a time.

# Finds the tile of a number, and its matrices.
cdef void find_tile(const Products* to, Tile* tile, int64_t number) noexcept nogil:
    cdef int64_t index
    cdef int axis
    tile.row = number % to.row_tiles * to.high
    tile.rows = min(to.high, to.rows - tile.row)
    number //= to.row_tiles
    tile.column = number % to.column_tiles * to.wide
    tile.columns = min(to.wide, to.columns - tile.column)
    number //= to.column_tiles
    tile.a = to.a
    tile.b = to.b
    tile.packed_b = to.packed
    tile.floats = to.floats
    tile.c = to.c
    tile.y = to.y
    for axis in range(to.batch_axes - 1, -1, -1):
        index = number % to.batch[axis]
        number //= to.batch[axis]
        tile.a += index * to.a_batch[axis]
        tile.b += index * to.b_batch[axis]
        if to.packed != NULL:
            tile.packed_b += index * to.packed_batch[axis]
        if to.floats != NULL and axis == 0:
            tile.floats += index * to.rows * to.floats_row
        tile.y += index * to.y_batch[axis]
        if tile.c != NULL:
            tile.c += index * to.c_batch[axis]


# The widest strips that one kernel computes for all rows; else those of the highest kernel.
cdef int width_of(const Products* to, int64_t rows) noexcept nogil:
    cdef int width = DMLCY_WIDTHS - 1, h = 0
    while width > 1:
        h = 0
        while to.level.kernels[h][width] == NULL:
            h += 1
        if rows <= to.level.heights[h]:
            return width
        width -= 1
    return width


# Where the columns of a strip are.
cdef void place_strip(const Products* to, Tile* tile, int64_t column, int64_t columns) noexcept nogil:
    tile.first = column
    tile.count = columns
    if to.image != NULL:
        tile.run_count = dmlcy_list_runs(to.image, column, columns, tile.runs)
        return
    tile.run_count = 1
    tile.runs[0].column = 0
    tile.runs[0].count = columns
    tile.runs[0].to = column * to.y_step


# Whether the columns of a strip follow one another in the output.
cdef inline bint is_run(const Tile* tile) noexcept nogil:
    cdef int64_t r
    for r in range(1, tile.run_count):
        if tile.runs[r].to != tile.runs[r - 1].to + tile.runs[r - 1].count * <int64_t>sizeof(float):
            return False
    return True


# Whether kernels may read the columns of a matrix where they are: not often, or they are near.
cdef inline bint are_near(const Products* to, const Tile* tile) noexcept nogil:
    return to.image == NULL and to.item == sizeof(float) and to.b_line == to.item and (
        tile.rows <= FLAT or 0 < to.b_step * min(to.depth, <int64_t>DMLCY_DEPTH) <= NEAR_BYTES)


cdef inline int64_t columns_of(const Products* to, int width) noexcept nogil:
    return to.level.widths[width] * to.level.lanes


# The narrowest strip that takes so many columns, or the one of the number `width`.
cdef inline int fitting(const Products* to, int width, int64_t columns) noexcept nogil:
    while width > 0 and columns <= columns_of(to, width - 1):
        width -= 1
    return width


# Whether kernels can take the rows as they are.
cdef inline bint are_plain(const Products* to) noexcept nogil:
    return to.a_step == to.item and to.item == sizeof(float)


# Whether these rows are packed nevertheless: they are long, so that they displace one another in the nearest cache.
cdef inline bint are_displaced(const Products* to, int64_t rows, int64_t columns) noexcept nogil:
    return rows > FLAT and columns > DISPLACING and to.depth > DMLCY_DEPTH


cdef inline void prepare(const Products* to, Tile* tile, int64_t first, int64_t step, int64_t depth) noexcept nogil:
    list_places(to, tile, first, step, depth)
    take_rows(to, tile, first, step, depth)


# The width of a next strip. `some`: its last vector has so many columns, and only these are read and written.
cdef inline int next_width(const Products* to, const Tile* tile, int64_t left, int64_t* some) noexcept nogil:
    cdef int width = tile.width
    some[0] = 0
    if left >= tile.strip:
        return width
    if not to.straight or to.level.some[0][0] == NULL:
        return fitting(to, width, left)
    while width > 0 and columns_of(to, width) > left:
        width -= 1
    if left < 2 * to.level.lanes and left != to.level.lanes:
        width = 0 if left < to.level.lanes else 1
        some[0] = left % to.level.lanes
    return width


# The sums of some rows and a packed strip, for some k, which begins with an element. Elements of two bytes become
# floats in the kernels, or before where the level has no such kernels.
cdef inline void multiply_block(const Products* to, const Tile* tile, const float* a, int64_t a_row, int64_t rows,
                                int64_t at, int64_t n, int64_t depth, const float* source, int64_t source_row,
                                float* target, int64_t target_row) noexcept nogil:
    cdef const void* b = tile.packed_b + at * to.item
    cdef int64_t item = to.item
    if item != sizeof(float) and to.level.halves[0][0] == NULL:
        dmlcy_widen(<const char*>b, item, item, tile.strips, depth * n)
        b = tile.strips
        item = sizeof(float)
    multiply_strip(to.level, a, a_row, rows, b, item, n, depth, source, source_row, target, target_row)


# The same as `multiply`, of packed columns, which begin with an element.
cdef void multiply_rows(const Products* to, const Tile* tile, int64_t depth, int64_t at, int64_t n,
                        const float* source, int64_t source_row, float* target, int64_t target_row) noexcept nogil:
    cdef int64_t row = 0, rows
    if not tile.settles:
        multiply_block(to, tile, tile.left, tile.left_row, tile.rows, at, n, depth, source, source_row, target,
                       target_row)
        return
    while row < tile.rows:
        rows = min(tile.rows - row, <int64_t>FEW)
        multiply_block(to, tile, tile.left + row * tile.left_row, tile.left_row, rows, at, n, depth, source, source_row,
                       tile.near, DMLCY_STRIP)
        if source != NULL:
            source += rows * source_row
        settle(to, tile, tile.near, DMLCY_STRIP, target + row * target_row, target_row, tile.row + row, rows)
        row += rows


# Computes a tile; each sum is one chain. -1: memory ran out.
cdef int compute_tile(const Products* to, Tile* tile) noexcept nogil:
    cdef int64_t first = 0, depth, column, columns, n, done, step, row_step, source_row, some
    cdef const float* b
    cdef const float* source
    cdef float* held
    cdef float* target
    cdef int width
    cdef bint last = False, near, straight = are_near(to, tile)
    cdef int64_t deep = DMLCY_DEPTH
    if to.packed != NULL:
        pass
    elif straight and tile.rows <= FLAT and tile.columns > tile.strip:
        deep = SHALLOW
    elif tile.width == 2:
        deep = DMLCY_DEPTH // 2
    while not last:
        depth = min(to.depth - first, deep)
        last = first + depth == to.depth
        prepare(to, tile, first, 1, depth)
        done = 0
        while done < tile.columns:
            column = tile.column + done
            if to.packed != NULL:
                columns = min(tile.columns - done, tile.strip)
                n = rounded_up(columns, to.level.lanes)
                width = some = 0
            else:
                width = next_width(to, tile, tile.columns - done, &some)
                n = columns_of(to, width)
                columns = min(tile.columns - done, n)
            step = n
            place_strip(to, tile, column, columns)
            near = to.straight and (columns == n or some > 0) and is_run(tile)
            if not near:
                some = 0
            b = tile.strips
            if to.packed != NULL:
                pass
            elif straight and (columns == n or some > 0):
                b = <const float*>(tile.b + column * to.b_line + first * to.b_step)
                step = to.b_step // <int64_t>sizeof(float)
            else:
                pack_columns(to, tile, column, columns, n, first, 1, depth)
            if near:
                held = target = <float*>(tile.y + tile.row * to.y_line + tile.runs[0].to)
                row_step = to.y_line // <int64_t>sizeof(float)
            else:
                held = tile.held + (0 if to.straight and to.image == NULL else done * tile.rows)
                target = tile.sums if last else held
                row_step = n
            tile.settles = last and near and (to.strips > 0 or (to.packed == NULL and to.level.last[0][0] != NULL))
            source = held if first > 0 else begin_of(to, tile, done)
            source_row = row_step if first > 0 else tile.begin_row
            if to.packed != NULL:
                multiply_rows(to, tile, depth, column * to.depth + first * n, n, source, source_row, target, row_step)
            else:
                multiply(to, tile, width, depth, b, step, some, source, source_row, target, row_step)
            if last and near and not tile.settles:
                mend(to, tile, target, row_step, tile.row, tile.rows)
            elif last and not near and finish_strip(to, tile, target, n):
                return -1
            done += columns
        first += depth
    return 0


# The kernel of the most rows that turns columns.
cdef inline int turned_height(const Products* to, int64_t rows) noexcept nogil:
    cdef int h
    for h in range(DMLCY_HEIGHTS):
        if to.level.turned[h] != NULL and to.level.heights[h] <= rows:
            return h
    return -1


# Whether rows are few, and columns lie along k: these are turned as they are multiplied.
cdef bint are_turned(const Products* to, const Tile* tile) noexcept nogil:
    cdef int h = turned_height(to, HIGH)
    return (
        h >= 0 and tile.rows <= to.level.heights[h] and to.image == NULL and to.item == sizeof(float)
        and to.b_step == to.item and to.b_line != to.item
    )


# Computes a tile of such a product. -1: memory ran out.
cdef int compute_turned(const Products* to, Tile* tile) noexcept nogil:
    cdef int64_t first = 0, depth, done, columns, row, row_step, source_row
    cdef const float* source
    cdef const float* b
    cdef float* target
    cdef int h
    cdef bint last = False, whole = to.straight and (not to.begun or to.by_column)
    while not last:
        depth = to.depth if are_plain(to) else min(to.depth - first, <int64_t>DMLCY_DEPTH)
        last = first + depth == to.depth
        prepare(to, tile, first, 1, min(depth, <int64_t>DMLCY_DEPTH))
        done = 0
        while done < tile.columns:
            columns = tile.columns if whole else min(tile.columns - done, tile.strip)
            place_strip(to, tile, tile.column + done, columns)
            b = <const float*>(tile.b + (tile.column + done) * to.b_line + first * to.b_step)
            if whole:
                target = <float*>(tile.y + tile.row * to.y_line + tile.runs[0].to)
                row_step = to.y_line // <int64_t>sizeof(float)
            else:
                target = tile.held + done * tile.rows if to.depth > depth else tile.sums
                row_step = columns
            source = begin_of(to, tile, done)
            source_row = tile.begin_row
            if first > 0:
                source = target
                source_row = row_step
            row = 0
            while row < tile.rows:
                h = turned_height(to, tile.rows - row)
                to.level.turned[h](
                    depth, tile.left + row * tile.left_row, tile.left_row, b, to.b_line // <int64_t>sizeof(float),
                    columns, source, source_row, target + row * row_step, row_step)
                row += to.level.heights[h]
                if source != NULL:
                    source += to.level.heights[h] * source_row
            if last and whole:
                settle(to, tile, target, row_step, target, row_step, tile.row, tile.rows)
            elif last and finish_strip(to, tile, target, row_step):
                return -1
            done += columns
        first += depth
    return 0


# Whether there is one row, and the columns lie side by side.
cdef inline bint is_row(const Products* to, const Tile* tile) noexcept nogil:
    return (
        tile.rows == 1 and to.straight and to.image == NULL and to.b_line == to.item and tile.columns > tile.strip
        and to.b_step != 0
    )


# Computes a tile of such a product.
cdef void compute_row(const Products* to, Tile* tile) noexcept nogil:
    cdef int64_t first = 0, depth, i
    cdef float* y = <float*>(tile.y + tile.row * to.y_line + tile.column * to.y_step)
    if to.begun:
        for i in range(tile.columns):
            y[i] = tile.begin[i if to.by_column else 0]
    while first < to.depth:
        depth = to.depth if are_plain(to) else min(to.depth - first, <int64_t>DMLCY_DEPTH)
        prepare(to, tile, first, 1, min(depth, <int64_t>DMLCY_DEPTH))
        to.level.row(
            depth, tile.left, <const float*>(tile.b + tile.column * to.b_line + first * to.b_step),
            to.b_step // <int64_t>sizeof(float), tile.columns, y if first > 0 or to.begun else NULL, y)
        first += depth
    place_strip(to, tile, tile.column, tile.columns)
    settle(to, tile, y, 0, y, 0, tile.row, 1)


# Computes sums without products: places that a filter does not reach. -1: memory ran out.
cdef int compute_zeros(const Products* to, Tile* tile) noexcept nogil:
    cdef int64_t column, columns, number
    for number in range(ceil_div(tile.columns, tile.strip)):
        column = tile.column + number * tile.strip
        columns = min(tile.column + tile.columns - column, tile.strip)
        place_strip(to, tile, column, columns)
        memset(tile.sums, 0, tile.rows * tile.strip * sizeof(float))
        if finish_strip(to, tile, tile.sums, tile.strip):
            return -1
    return 0


# Begins the chains of a strip with what is added to each row; or to each column, and zeros up to a whole strip.
cdef void list_begins(const Products* to, Tile* tile) noexcept nogil:
    cdef int64_t row, i
    cdef float number
    tile.begin_row = 0 if to.by_column else tile.strip
    if to.by_column:
        dmlcy_widen(tile.c + tile.column * to.c_step, to.c_step, to.item, tile.begin, tile.columns)
        i = ceil_div(tile.columns, tile.strip) * tile.strip
        memset(tile.begin + tile.columns, 0, (i - tile.columns) * sizeof(float))
        return
    if to.across:
        dmlcy_widen(tile.c + tile.row * to.c_line, to.c_line, to.item, tile.begin, tile.rows)
        i = rounded_up(tile.rows, to.level.lanes)
        memset(tile.begin + tile.rows, 0, (i - tile.rows) * sizeof(float))
        return
    for row in range(tile.rows):
        number = dmlcy_element_of(tile.c + (tile.row + row) * to.c_line, to.item)
        for i in range(tile.strip):
            tile.begin[row * tile.strip + i] = number


# The numbers that the chains begin with, of the strip that is so many columns behind the first one of a tile.
cdef inline float* begin_of(const Products* to, const Tile* tile, int64_t done) noexcept nogil:
    return tile.begin + done if to.begun and to.by_column else tile.begin


# The floats that tiles need: rows and columns that are packed, sums, sums that wait for more, and what chains begin
# with.
cdef void count_floats(const Products* to, const Tile* tile, int64_t columns, int64_t* n) noexcept nogil:
    cdef int64_t depth = min(to.depth, <int64_t>DMLCY_DEPTH), sums = tile.rows * tile.strip
    cdef bint turned = are_turned(to, tile)
    cdef bint whole = to.straight and to.image == NULL and to.packed == NULL and to.level.some[0][0] != NULL
    n[0] = 0
    if to.floats != NULL and to.chains == 1:
        pass
    elif not are_plain(to) or (to.chains > 1 and not are_dots(to)):
        n[0] = tile.rows * depth
    elif are_displaced(to, tile.rows, columns):
        n[0] = tile.rows * (depth + LINE)
    n[1] = depth * tile.strip
    if to.packed != NULL and to.item != sizeof(float):
        pass
    elif are_dots(to) or (to.chains == 1 and (turned or (whole and are_near(to, tile)))):
        n[1] = 0
    n[2] = sums
    if whole and not (turned and to.begun and not to.by_column) and to.chains == 1 and to.depth > 0:
        n[2] = 0
    n[3] = 0
    if to.chains > 1:
        n[3] = sums if are_dots(to) else DMLCY_SUMS * sums
    elif n[2] > 0 and to.depth > SHALLOW:
        n[3] = sums * (1 if to.straight and to.image == NULL else ceil_div(columns, tile.strip))
    n[4] = 0
    if to.begun:
        n[4] = ceil_div(columns, tile.strip) * tile.strip if to.by_column else sums


# Computes some tiles. -1: memory ran out.
cdef int compute_tiles(const void* args, int64_t begin, int64_t end) noexcept nogil:
    cdef const Products* to = <const Products*>args
    cdef float[ROOM] room
    cdef Tile tile
    cdef float* memory = NULL
    cdef int64_t n[5]
    cdef int64_t columns = min(to.columns, to.wide), total = LINE + (FEW * DMLCY_STRIP if to.strips > 0 else 0)
    cdef int i, status = 0
    tile.rows = min(to.rows, to.high)
    tile.width = fitting(to, width_of(to, tile.rows), columns)
    if tile.width == 3 and (to.image != NULL or to.b_line != to.item or to.item != sizeof(float)):
        tile.width = 2      # packed columns stay near
    if to.packed != NULL:
        tile.width = STRIP_WIDTH
    tile.strip = columns_of(to, tile.width)
    if to.across:
        count_across(to, &tile, columns, n)
    else:
        count_floats(to, &tile, columns, n)
    for i in range(5):
        n[i] = ceil_div(n[i], LINE) * LINE
        total += n[i]
    if total > ROOM:
        memory = <float*>malloc(total * sizeof(float))
        if memory == NULL:
            return -1
    tile.packed = memory
    if memory == NULL:
        tile.packed = room
    tile.packed += (LINE - (<uintptr_t>tile.packed // sizeof(float)) % LINE) % LINE
    tile.strips = tile.packed + n[0]
    tile.sums = tile.strips + n[1]
    tile.held = tile.sums + n[2]
    tile.begin = tile.held + n[3] if to.begun else NULL
    tile.near = tile.held + n[3] + n[4]
    tile.settles = False
    for i in range(begin, end):
        find_tile(to, &tile, i)
        if to.begun:
            list_begins(to, &tile)
        if to.across:
            status = compute_across(to, &tile)
        elif to.depth == 0:
            status = compute_zeros(to, &tile)
        elif to.chains > 1:
            status = compute_small(to, &tile)
        elif to.packed != NULL:
            status = compute_tile(to, &tile)
        elif are_turned(to, &tile):
            status = compute_turned(to, &tile)
        elif is_row(to, &tile):
            compute_row(to, &tile)
        else:
            status = compute_tile(to, &tile)
        if status == 0 and to.after != NULL:
            status = follow_rows(to, tile.y + tile.row * to.y_line, tile.rows, to.y_line, tile.columns, to.y_step)
        if status != 0:
            break
    free(memory)
    return status


# Computes the output tile by tile. -1: memory ran out.
cdef int run_products(Products* to) noexcept nogil:
    cdef int64_t batches = 1, tiles, work, enough_work = enough(WORK)
    cdef int axis
    choose_sums(to)
    for axis in range(to.batch_axes):
        batches *= to.batch[axis]
    tiles = cut_across(to, batches) if to.across else cut_tiles(to, batches, enough_work)
    # Parts of rows that are far apart would displace one another before what follows them could run.
    to.after = NULL
    if to.image == NULL and to.column_tiles == 1 and to.y_line == to.columns * to.item and to.y_step == to.item:
        to.after = take_epilogue(to.followed, to.rows * to.columns)
    if to.packed == NULL and to.row_tiles == 1 and to.column_tiles == 1 and are_tiny(to):
        work = to.rows * to.columns * to.depth
        return parallel_for(compute_tiny, to, tiles, max(enough(TINY_WORK) // (work + TINY_CALL), 1))
    work = min(to.high, to.rows) * min(to.wide, to.columns) * max(to.depth, 1)
    return parallel_for(compute_tiles, to, tiles, max(enough_work // max(work, 1), 1))
