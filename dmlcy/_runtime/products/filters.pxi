# Filters that are packed before the call. The filters are the columns of kernels then, and places are rows. So the
# filters are read in the order of memory, and no vector has places that do not exist. The sums are turned afterwards.

# Whether filters are packed as columns: a function of sizes only, and of how the filters lie.
cdef bint are_columns(const Products* to) noexcept nogil:
    if to.chains > 1 or to.depth == 0 or to.rows == 1:
        return False
    if to.image.taps == 1 and to.columns == to.images and to.images <= FLAT:
        return True
    return to.rows >= ACROSS_UNIT and to.depth >= ACROSS_UNIT and to.columns <= FEW_COLUMNS


# Whether they are packed as rows of floats: those of two bytes would take twice their memory.
cdef inline bint are_gathered(const Products* to) noexcept nogil:
    return (
        to.item == sizeof(float) and not are_columns(to) and not are_plain(to) and to.rows > 1 and to.depth > 0
        and to.chains == 1
    )


# Lets a product have filters that are packed there. Returns the bytes of all groups.
cdef int64_t place_filters(Products* to, const char* packed) noexcept nogil:
    if are_columns(to):
        to.packed = packed
        to.packed_batch[0] = ceil_div(packed_floats(to.rows, to.depth), LINE) * LINE * to.item
        to.packed_batch[1] = 0
        to.across = True
        return to.packed_batch[0] * to.batch[0]
    if are_gathered(to):
        to.floats = <const float*>packed
        to.floats_row = (to.depth // LINE | 1) * LINE + LINE        # an odd number of lines: rows displace no others
        return to.batch[0] * to.rows * to.floats_row * <int64_t>sizeof(float)
    return 0


# Packs the filters of a piece, if memory is given. Returns their bytes; below 0 as columns, without memory.
cdef int64_t pack_piece(const Windows* a, const Piece* piece, char* packed) noexcept nogil:
    cdef ProductImage image
    cdef Products to
    cdef Tile tile
    cdef int64_t bytes, group
    describe_piece(a, piece, &image, &to)
    choose_sums(&to)
    tile.rows = to.rows
    bytes = place_filters(&to, packed)
    if packed == NULL or bytes == 0:
        return -bytes if to.across else bytes
    for group in range(to.batch[0]):
        tile.a = to.a + group * to.a_batch[0]
        if to.across:
            pack_rows(&to, tile.a, packed + group * to.packed_batch[0], to.item)
        else:
            gather_rows(&to, &tile, <float*>packed + group * to.rows * to.floats_row, to.floats_row)
    return bytes


# Packs the filters as the loops take them, if memory is given. Returns their bytes; without memory below 0 if each
# element is packed as it is, in place of the filters.
cdef int64_t pack_filters(const Windows* a, void* packed) noexcept nogil:
    cdef Spatial axes[3]
    cdef ProductAxis shifts[3]
    cdef Products pieces[REMAINDERS]
    cdef ProductImage images[REMAINDERS + 1]
    cdef Merged merged
    cdef Piece piece
    cdef int64_t turn[3]
    cdef int64_t turns[3]
    cdef int64_t bytes = 0, one
    cdef bint whole
    collect_spatial(a, axes)
    if are_merged(a, axes, shifts, &merged):
        merged.pieces = pieces
        describe_remainders(a, axes, shifts, &merged, images)
        return pack_merged(&merged, <float*>packed)
    count_turns(a, axes, turns)
    whole = axes[0].appended == axes[1].appended == axes[2].appended == 0
    for turn[0] in range(turns[0]):
        for turn[1] in range(turns[1]):
            for turn[2] in range(turns[2]):
                take_remainder(a, axes, turn, &piece)
                one = pack_piece(a, &piece, NULL if packed == NULL else <char*>packed + bytes)
                whole = whole and one < 0
                bytes += -one if one < 0 else one
    return -bytes if whole and packed == NULL else bytes


# Cuts the output into tiles whose columns and sums stay near, and into as many as there are threads. Returns their
# number. Each tile packs its columns: so these are cut, but if they are few beside the rows.
cdef int64_t cut_across(Products* to, int64_t batches) noexcept nogil:
    cdef int64_t threads = ceil_div(<int64_t>thread_limit(), batches), unit = FEW
    to.column_tiles = ceil_div(to.columns, ACROSS_WIDE)
    if threads > to.column_tiles and (to.columns >= ACROSS_CUT or to.rows < ACROSS_ROWS):
        to.column_tiles = max(min(threads, to.columns // ACROSS_LEAST), to.column_tiles)
        unit = ACROSS_EVEN
    to.wide = ceil_div(ceil_div(to.columns, to.column_tiles), unit) * unit
    to.column_tiles = ceil_div(to.columns, to.wide)
    to.row_tiles = 1
    if depth_across(to, to.wide) < to.depth:
        to.row_tiles = ceil_div(to.rows, max(ACROSS_SUMS // to.wide, 1))
    if threads > to.column_tiles:
        to.row_tiles = max(to.row_tiles, ceil_div(2 * threads, to.column_tiles))
    to.high = ceil_div(ceil_div(to.rows, to.row_tiles), ACROSS_UNIT) * ACROSS_UNIT
    to.row_tiles = ceil_div(to.rows, to.high)
    return batches * to.row_tiles * to.column_tiles


# The k that are packed at once: all, or some blocks of DMLCY_DEPTH.
cdef inline int64_t depth_across(const Products* to, int64_t columns) noexcept nogil:
    return min(max(ACROSS_COPY // (columns * DMLCY_DEPTH), 1) * DMLCY_DEPTH, to.depth)


cdef void count_across(const Products* to, const Tile* tile, int64_t columns, int64_t* n) noexcept nogil:
    cdef int64_t deep = depth_across(to, columns), rows = rounded_up(tile.rows, to.level.lanes)
    n[0] = deep * columns
    n[1] = min(deep, <int64_t>DMLCY_DEPTH) * DMLCY_STRIP
    n[2] = ACROSS_UNIT * ACROSS + LINE
    n[3] = (min(rows, <int64_t>ACROSS_UNIT) if deep == to.depth else rows) * columns
    n[4] = rows if to.begun else 0


# Packs some columns as rows of `depth` floats.
cdef void turn_columns(const Products* to, Tile* tile, int64_t column, int64_t columns, int64_t first, int64_t depth,
                       float* target) noexcept nogil:
    cdef int64_t n = rounded_up(columns, to.level.lanes)
    if to.image == NULL and to.b_line == to.item and to.item == sizeof(float):
        to.level.turn(tile.b + column * to.b_line + first * to.b_step, to.b_step, depth, columns, target, depth)
        return
    place_strip(to, tile, column, columns)
    pack_columns(to, tile, column, columns, n, first, 1, depth)
    to.level.turn(<const char*>tile.strips, n * sizeof(float), depth, columns, target, depth)


# The sums of the first rows of a tile, a row of n floats for each column, become elements of the output. -1: memory ran
# out.
cdef int finish_across(const Products* to, Tile* tile, float* sums, int64_t n) noexcept nogil:
    cdef int64_t done = 0, columns, pitch
    cdef float* target
    cdef bint made
    while done < tile.columns:
        columns = min(tile.columns - done, <int64_t>ACROSS)
        place_strip(to, tile, tile.column + done, columns)
        target = tile.sums
        pitch = columns
        if to.straight and is_run(tile):
            target = <float*>(tile.y + tile.row * to.y_line + tile.runs[0].to)
            pitch = to.y_line // <int64_t>sizeof(float)
        made = target != tile.sums and (to.strips == 0 or are_alone(to))
        made = made and to.level.are_finite(sums, 0, 1, columns * n)
        if made:
            store_rows(to, sums, 0, <char*>sums, 0, 1, columns * n)
        to.level.turn(<const char*>sums, n * sizeof(float), columns, tile.rows, target, pitch)
        sums += columns * n
        if made:
            pass
        elif target != tile.sums:
            settle(to, tile, target, pitch, target, pitch, tile.row, tile.rows)
        elif finish_strip(to, tile, target, pitch):
            return -1
        done += columns
    return 0


# Packs all columns of a tile, for some k: a row for each, DMLCY_DEPTH of all rows at a time.
cdef void turn_tile(const Products* to, Tile* tile, int64_t first, int64_t deep) noexcept nogil:
    cdef float* target = tile.packed
    cdef int64_t done = 0, depth, column, columns
    while done < deep:
        depth = min(deep - done, <int64_t>DMLCY_DEPTH)
        if to.image == NULL:
            list_places(to, tile, first + done, 1, depth)
        column = 0
        while column < tile.columns:
            columns = min(tile.columns - column, <int64_t>ACROSS)
            turn_columns(to, tile, tile.column + column, columns, first + done, depth, target)
            target += columns * depth
            column += columns
        done += depth


# Adds the products of some k to the sums of the first rows of a tile, a row of n floats for each column.
cdef void add_across(const Products* to, const Tile* tile, int64_t first, int64_t deep, int64_t n, float* begin,
                     float* sums) noexcept nogil:
    cdef const float* left = tile.packed
    cdef int64_t filters = tile.row * to.depth + first * n
    cdef const float* source = sums if first > 0 else begin
    cdef int64_t done = 0, depth, source_row = n if first > 0 else 0
    while done < deep:
        depth = min(deep - done, <int64_t>DMLCY_DEPTH)
        multiply_block(to, tile, left, depth, tile.columns, filters, n, depth, source, source_row, sums, n)
        source = sums
        source_row = n
        left += depth * tile.columns
        filters += depth * n
        done += depth


# Computes a tile whose rows are packed as columns. -1: memory ran out.
cdef int compute_across(const Products* to, Tile* tile) noexcept nogil:
    cdef int64_t deep = depth_across(to, min(to.columns, to.wide)), first = 0
    cdef int64_t strip = to.level.widths[STRIP_WIDTH] * to.level.lanes
    cdef int64_t depth, row, n, top = tile.row, rows = tile.rows
    cdef float* sums
    while first < to.depth:
        depth = min(to.depth - first, deep)
        turn_tile(to, tile, first, depth)
        row = top
        while row < top + rows:
            tile.row = row
            tile.rows = min(top + rows - row, strip)
            n = rounded_up(tile.rows, to.level.lanes)
            sums = tile.held + ((row - top) * tile.columns if deep < to.depth else 0)
            add_across(to, tile, first, depth, n, tile.begin + (row - top) if to.begun else NULL, sums)
            if first + depth == to.depth and finish_across(to, tile, sums, n):
                return -1
            row += strip
        first += depth
    tile.row = top
    tile.rows = rows
    return 0
