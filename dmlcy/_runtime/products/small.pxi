# Small matrices: those whose sums are several chains, and many that one kernel or a few compute.

# Whether matrices are computed from where they are to where they go, with nothing beside the kernels.
cdef bint are_tiny(const Products* to) noexcept nogil:
    cdef int64_t lanes = to.level.lanes
    return (
        to.straight and to.image == NULL and not to.begun and to.chains == 1 and 0 < to.depth <= DMLCY_DEPTH
        and are_plain(to) and to.b_line == to.item and to.rows * to.columns * to.depth <= TINY
        and to.rows <= HIGH and to.b_step * to.depth <= NEAR_BYTES
        and (to.columns % lanes == 0 or to.level.some[0][0] != NULL)
    )


# Computes a matrix, strip by strip of up to two vectors.
cdef void compute_one(const Products* to, Tile* tile) noexcept nogil:
    cdef int64_t done = 0, left, some, lanes = to.level.lanes
    cdef int64_t y_row = to.y_line // <int64_t>sizeof(float), b_row = to.b_step // <int64_t>sizeof(float)
    cdef float* y = <float*>tile.y
    cdef int width
    while done < to.columns:
        left = to.columns - done
        width = 1 if left > lanes and (left >= columns_of(to, 1) or to.level.some[0][0] != NULL) else 0
        some = left - (columns_of(to, width) - lanes)
        multiply(to, tile, width, to.depth, <const float*>tile.b + done, b_row, some if some < lanes else 0, NULL, 0,
                 y + done, y_row)
        done += columns_of(to, width)
    place_strip(to, tile, 0, to.columns)
    if y_row == to.columns and to.level.are_finite(y, 0, 1, to.rows * to.columns):
        store_rows(to, y, 0, tile.y, 0, 1, to.rows * to.columns)
    else:
        settle(to, tile, y, y_row, y, y_row, 0, to.rows)


# Computes some matrices.
cdef int compute_tiny(const void* args, int64_t begin, int64_t end) noexcept nogil:
    cdef const Products* to = <const Products*>args
    cdef Tile tile
    cdef int64_t[MAX_RANK] index
    cdef int64_t number = begin
    cdef int axis
    tile.a = to.a
    tile.b = to.b
    tile.c = NULL
    tile.y = to.y
    tile.row = 0
    tile.rows = to.rows
    tile.settles = False
    tile.left_row = to.a_line // <int64_t>sizeof(float)
    for axis in range(to.batch_axes - 1, -1, -1):
        index[axis] = number % to.batch[axis]
        number //= to.batch[axis]
        tile.a += index[axis] * to.a_batch[axis]
        tile.b += index[axis] * to.b_batch[axis]
        tile.y += index[axis] * to.y_batch[axis]
    for number in range(begin, end):
        tile.left = <const float*>tile.a
        compute_one(to, &tile)
        if to.after != NULL and follow_rows(to, tile.y, to.rows, to.y_line, to.columns, to.y_step):
            return -1
        for axis in range(to.batch_axes - 1, -1, -1):
            index[axis] += 1
            tile.a += to.a_batch[axis]
            tile.b += to.b_batch[axis]
            tile.y += to.y_batch[axis]
            if index[axis] < to.batch[axis]:
                break
            index[axis] = 0
            tile.a -= to.batch[axis] * to.a_batch[axis]
            tile.b -= to.batch[axis] * to.b_batch[axis]
            tile.y -= to.batch[axis] * to.y_batch[axis]
    return 0


# Whether the k of rows and columns follow one another: sums are dot products then.
cdef inline bint are_dots(const Products* to) noexcept nogil:
    return to.chains > 1 and to.image == NULL and are_plain(to) and to.b_step == to.item


# The sums of DMLCY_SUMS chains each, joined pairwise.
cdef void join_chains(float* chains, int64_t n) noexcept nogil:
    cdef int64_t half = DMLCY_SUMS // 2, i
    while half > 0:
        for i in range(half * n):
            chains[i] += chains[half * n + i]
        half //= 2


# Computes a tile of a small matrix. -1: memory ran out.
cdef int compute_small(const Products* to, Tile* tile) noexcept nogil:
    cdef int64_t column, columns, n, number, chain, first, depth, row, i
    cdef int width
    cdef float* sums
    for number in range(ceil_div(tile.columns, tile.strip)):
        column = tile.column + number * tile.strip
        columns = min(tile.column + tile.columns - column, tile.strip)
        width = fitting(to, tile.width, columns)
        n = columns_of(to, width)
        place_strip(to, tile, column, columns)
        if are_dots(to):
            for row in range(tile.rows):
                to.level.dots(
                    <const float*>(tile.a + row * to.a_line), <const float*>(tile.b + column * to.b_line),
                    to.b_line // <int64_t>sizeof(float), to.depth, columns, tile.held + row * n)
                for i in range(columns, n):
                    tile.held[row * n + i] = 0
        else:
            for chain in range(DMLCY_SUMS):
                sums = tile.held + chain * tile.rows * n
                first = chain
                while first < to.depth:
                    depth = min(ceil_div(to.depth - first, DMLCY_SUMS), <int64_t>DMLCY_DEPTH)
                    prepare(to, tile, first, DMLCY_SUMS, depth)
                    pack_columns(to, tile, column, columns, n, first, DMLCY_SUMS, depth)
                    multiply(to, tile, width, depth, tile.strips, n, 0, NULL if first == chain else sums, n, sums, n)
                    first += depth * DMLCY_SUMS
            join_chains(tile.held, tile.rows * n)
        if finish_strip(to, tile, tile.held, n):
            return -1
    return 0
