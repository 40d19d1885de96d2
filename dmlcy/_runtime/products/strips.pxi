# A strip: the sums of the rows of a tile and some columns, for some k.

# The bytes from the first of some k on to each, in a row of `a` and in a column of a matrix.
cdef void list_places(const Products* to, Tile* tile, int64_t first, int64_t step, int64_t depth) noexcept nogil:
    cdef const ProductImage* image = to.image
    cdef int64_t p, k, tap
    cdef int64_t a_at = first * to.a_step, b_at = first * to.b_step
    cdef int d
    if image == NULL or to.a_step != 0:
        for p in range(depth):
            tile.a_at[p] = a_at
            tile.b_at[p] = b_at
            a_at += step * to.a_step
            b_at += step * to.b_step
        return
    for p in range(depth):
        k = first + p * step
        tap = k % image.taps
        tile.a_at[p] = k // image.taps * image.filter_stride
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


# Lets the kernels have the rows of a tile, for some k.
cdef void take_rows(const Products* to, Tile* tile, int64_t first, int64_t step, int64_t depth) noexcept nogil:
    cdef const char* a = tile.a + tile.row * to.a_line
    cdef float[HIGH] numbers
    cdef int64_t row, p, none = 0
    if step == 1 and tile.floats != NULL:
        tile.left = tile.floats + tile.row * to.floats_row + first
        tile.left_row = to.floats_row
        return
    if step == 1 and are_plain(to):
        if are_displaced(to, tile.rows, tile.columns):
            tile.left = tile.packed
            tile.left_row = depth + LINE
            for row in range(tile.rows):
                memcpy(tile.packed + row * tile.left_row, a + row * to.a_line + tile.a_at[0], depth * sizeof(float))
            return
        tile.left = <const float*>(a + tile.a_at[0])
        tile.left_row = to.a_line // <int64_t>sizeof(float)
        return
    tile.left = tile.packed
    tile.left_row = depth
    if step == 1 and to.a_line == to.item and to.a_step != 0 and to.a_step != to.item:
        # Lines are elements of one k; side by side are those of one row, DMLCY_DEPTH at once.
        row = 0
        while row < tile.rows:
            to.level.pack(a + tile.a_at[0] + row * to.a_line, to.a_step, depth, depth, &none, to.a_line,
                          min(tile.rows - row, <int64_t>DMLCY_DEPTH), to.item, tile.packed + row * depth, depth)
            row += DMLCY_DEPTH
        return
    if to.a_line == to.item:
        for p in range(depth):
            dmlcy_widen(a + tile.a_at[p], to.item, to.item, numbers, tile.rows)
            for row in range(tile.rows):
                tile.packed[row * depth + p] = numbers[row]
        return
    for row in range(tile.rows):
        if step == 1 and to.a_step == to.item:
            dmlcy_widen(a + row * to.a_line + tile.a_at[0], to.item, to.item, tile.packed + row * depth, depth)
            continue
        for p in range(depth):
            tile.packed[row * depth + p] = dmlcy_element_of(a + row * to.a_line + tile.a_at[p], to.item)


# Packs some columns, with zeros up to `n`.
cdef void pack_columns(const Products* to, Tile* tile, int64_t column, int64_t columns, int64_t n, int64_t first,
                       int64_t step, int64_t depth) noexcept nogil:
    if to.image == NULL:
        to.level.pack(tile.b + column * to.b_line, to.b_line, columns, n, tile.b_at, to.b_step if step == 1 else 0,
                      depth, to.item, tile.strips, n)
    else:
        to.level.pack_image(to.image, tile.b, tile.runs, tile.run_count, first, step, depth, tile.strips, n)


# The kernel that limits its sums; and one that does not.
cdef inline ProductLast last_kernel(const Products* to, int h, int width, int64_t some) noexcept nogil:
    return to.level.last_some[h][width] if some > 0 else to.level.last[h][width]


cdef inline void multiply_once(
        const Products* to, int h, int width, int64_t depth, const float* a, int64_t a_row, const float* b,
        int64_t step, int64_t some, const float* source, int64_t source_row, float* y, int64_t y_row) noexcept nogil:
    if some > 0:
        to.level.some[h][width](depth, a, a_row, b, step, some, source, source_row, y, y_row)
    else:
        to.level.kernels[h][width](depth, a, a_row, b, step, source, source_row, y, y_row)


# `some`: of the last vector, only so many columns are read and written; 0: all. The last sums may become elements of
# the output, at `target`, while they are near.
cdef void multiply(const Products* to, const Tile* tile, int width, int64_t depth, const float* b, int64_t step,
                   int64_t some, const float* source, int64_t source_row, float* target,
                   int64_t target_row) noexcept nogil:
    cdef int64_t row = 0, rows
    cdef int h
    cdef const float* left
    cdef float* y
    while row < tile.rows:
        h = height_of(to, width, tile.rows - row)
        rows = to.level.heights[h]
        left = tile.left + row * tile.left_row
        y = target + row * target_row
        if tile.settles and to.limited and width < 2 and to.level.last[h][width] != NULL:
            if last_kernel(to, h, width, some)(
                    depth, left, tile.left_row, b, step, some, to.limits, source, source_row, y, target_row):
                settle(to, tile, y, target_row, y, target_row, tile.row + row, rows)
        elif tile.settles and to.strips > 0:
            multiply_once(to, h, width, depth, left, tile.left_row, b, step, some, source, source_row, tile.near,
                          DMLCY_STRIP)
            settle(to, tile, tile.near, DMLCY_STRIP, y, target_row, tile.row + row, rows)
        else:
            multiply_once(to, h, width, depth, left, tile.left_row, b, step, some, source, source_row, y, target_row)
            if tile.settles:
                mend(to, tile, y, target_row, tile.row + row, rows)
        row += rows
        if source != NULL:
            source += rows * source_row
