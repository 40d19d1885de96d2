# Products for other engines, which one thread computes: a matrix is packed once, then multiplied by rows.
# A strip has up to 4 vectors of columns, with zeros behind the last one, and all k of these.

cdef enum:
    STRIP_WIDTH = 2                 # the number of the width of a strip


cdef inline const ProductLevel* current_level() noexcept nogil:
    return dmlcy_product_levels[dmlcy_level()]


cdef inline int64_t rounded_up(int64_t columns, int64_t lanes) noexcept nogil:
    return ceil_div(columns, lanes) * lanes


cdef int64_t packed_floats(int64_t columns, int64_t depth) noexcept nogil:
    return rounded_up(columns, current_level().lanes) * depth


cdef void pack_matrix(const char* b, int64_t column, int64_t step, int64_t item, int64_t columns, int64_t depth,
                      float* packed) noexcept nogil:
    cdef Products to = describe_columns(column, step, item, columns, depth)
    pack_rows(&to, b, <char*>packed, sizeof(float))


# Columns of a matrix as if they were rows.
cdef Products describe_columns(int64_t column, int64_t step, int64_t item, int64_t columns,
                               int64_t depth) noexcept nogil:
    cdef Products to
    to.level = current_level()
    to.image = NULL
    to.item = item
    to.rows = columns
    to.depth = depth
    to.a_line = column
    to.a_step = step
    to.b_step = 0
    return to


# Packs rows of `a` as if they were columns, as elements of so many bytes.
cdef void pack_rows(const Products* to, const char* a, char* packed, int64_t item) noexcept nogil:
    cdef const ProductLevel* level = to.level
    cdef float[SHALLOW * DMLCY_STRIP] numbers
    cdef Tile tile
    cdef int64_t first, k, n, width, left = to.rows, deep = DMLCY_DEPTH if item == sizeof(float) else SHALLOW
    while left > 0:
        n = min(left, level.widths[STRIP_WIDTH] * level.lanes)
        width = rounded_up(n, level.lanes)
        first = 0
        while first < to.depth:
            k = min(to.depth - first, deep)
            list_places(to, &tile, first, 1, k)
            if item == sizeof(float):
                level.pack(a, to.a_line, n, width, tile.a_at, to.a_step, k, to.item, <float*>packed, width)
            else:
                level.pack(a, to.a_line, n, width, tile.a_at, to.a_step, k, to.item, numbers, width)
                dmlcy_narrow(numbers, packed, item, item, k * width)
            packed += k * width * item
            first += k
        a += n * to.a_line
        left -= n


# The sums of some rows and one strip of `width` columns, some vectors, for some k: added to those of `source`, if any.
# The columns are elements of `item` bytes.
cdef void multiply_strip(const ProductLevel* level, const float* a, int64_t a_row, int64_t rows, const void* b,
                         int64_t item, int64_t width, int64_t depth, const float* source, int64_t source_row, float* y,
                         int64_t y_row) noexcept nogil:
    cdef int64_t row = 0, column
    cdef const float* begin = NULL
    cdef const float* columns
    cdef ProductKernel kernel
    cdef int h, w, widest
    while row < rows:
        widest = STRIP_WIDTH
        while widest > 1 and level.kernels[0][widest] == NULL and rows - row >= level.heights[1]:
            widest -= 1
        h = 0
        while level.heights[h] > rows - row or level.kernels[h][widest] == NULL:
            h += 1
        column = 0
        w = widest
        while column < width:
            while level.widths[w] * level.lanes > width - column:
                w -= 1
            if source != NULL:
                begin = source + row * source_row + column
            kernel = level.kernels[h][w] if item == sizeof(float) else level.halves[h][w]
            columns = <const float*>(<const char*>b + column * item)
            kernel(depth, a + row * a_row, a_row, columns, width, begin, source_row, y + row * y_row + column, y_row)
            column += level.widths[w] * level.lanes
        row += level.heights[h]


cdef void multiply_packed(const float* a, int64_t a_row, int64_t rows, const float* packed, int64_t columns,
                          int64_t depth, float* y, int64_t y_row, bint adds) noexcept nogil:
    cdef const ProductLevel* level = current_level()
    cdef float[FEW * DMLCY_STRIP] sums
    cdef int64_t first, n, left = columns, width, k, row, some, i
    if depth == 0 and not adds:
        for row in range(rows):
            memset(y + row * y_row, 0, columns * sizeof(float))
    while left > 0:
        n = min(left, level.widths[STRIP_WIDTH] * level.lanes)
        width = rounded_up(n, level.lanes)
        first = 0
        while first < depth:
            k = min(depth - first, <int64_t>DMLCY_DEPTH)
            if n == width:
                multiply_strip(level, a + first, a_row, rows, packed, sizeof(float), width, k,
                               y if adds or first > 0 else NULL, y_row, y, y_row)
            else:
                row = 0
                while row < rows:
                    some = min(rows - row, <int64_t>FEW)
                    if adds or first > 0:
                        for i in range(some):
                            memset(sums + i * width + n, 0, (width - n) * sizeof(float))
                            memcpy(sums + i * width, y + (row + i) * y_row, n * sizeof(float))
                    multiply_strip(level, a + row * a_row + first, a_row, some, packed, sizeof(float), width, k,
                                   sums if adds or first > 0 else NULL, width, sums, width)
                    for i in range(some):
                        memcpy(y + (row + i) * y_row, sums + i * width, n * sizeof(float))
                    row += some
            packed += k * width
            first += k
        y += n
        left -= n
