# A strip: the sums of the rows of a tile and some columns, for some k.

# The bytes from the first of some k on to each, in a row of `a` and in a column of a matrix.
cdef void list_places(const Products* to, Tile* tile, int64_t first, int64_t step, int64_t depth) noexcept nogil:
    cdef const ProductImage* image = to.image
    cdef int64_t p, k, tap, channel
    cdef int d
    if image == NULL:
        for p in range(depth):
            tile.a_at[p] = (first + p * step) * to.a_step
            tile.b_at[p] = (first + p * step) * to.b_step
        return
    for p in range(depth):
        k = first + p * step
        channel = k // image.taps
        tap = k % image.taps
        tile.a_at[p] = channel * image.filter_stride
        for d in range(2, -1, -1):
            tile.a_at[p] += tap % image.axes[d].taps * image.axes[d].filter_stride
            tap //= image.axes[d].taps


# The kernel of the most rows.
cdef inline int height_of(const Products* to, int width, int64_t rows) noexcept nogil:
    cdef int h
    for h in range(DMLCY_HEIGHTS):
        if to.level.heights[h] <= rows and to.level.kernels[h][width] != NULL:
            return h
    return DMLCY_HEIGHTS - 1


cdef void pack_rows(const Products* to, Tile* tile, int64_t step, int64_t depth) noexcept nogil:
    cdef int64_t row = 0, height
    while row < tile.rows:
        height = to.level.heights[height_of(to, tile.width, tile.rows - row)]
        to.level.pack(tile.a + (tile.row + row) * to.a_line, to.a_line, height, tile.a_at, step, depth, to.item,
                      tile.packed + row * depth, height)
        row += height


# Packs some columns, with zeros up to `n`.
cdef void pack_columns(const Products* to, Tile* tile, int64_t column, int64_t columns, int64_t n, int64_t first,
                       int64_t step, int64_t depth) noexcept nogil:
    cdef int64_t k
    if columns < n:
        for k in range(depth):
            memset(tile.strips + k * n + columns, 0, (n - columns) * sizeof(float))
    if to.image != NULL:
        to.level.pack_image(to.image, tile.b, tile.runs, tile.run_count, first, step, depth, tile.strips, n)
    else:
        to.level.pack(tile.b + column * to.b_line, to.b_line, columns, tile.b_at, to.b_step if step == 1 else 0, depth,
                      to.item, tile.strips, n)


cdef void multiply(const Products* to, const Tile* tile, int width, int64_t depth, const float* b, int64_t step,
                   const float* source, int64_t source_row, float* target, int64_t target_row) noexcept nogil:
    cdef int64_t row = 0
    cdef int h
    while row < tile.rows:
        # The rows were packed for the kernels of a whole strip.
        h = height_of(to, tile.width, tile.rows - row)
        to.level.kernels[h][width](depth, tile.packed + row * depth, b, step,
                                   NULL if source == NULL else source + row * source_row, source_row,
                                   target + row * target_row, target_row)
        row += to.level.heights[h]
