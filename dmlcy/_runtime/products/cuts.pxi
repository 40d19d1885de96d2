# How an output is cut into tiles, and how its sums are made.

# How sums are made, for given sizes.
cdef inline void choose_sums(Products* to) noexcept nogil:
    to.level = dmlcy_product_levels[dmlcy_level()]
    to.chains = DMLCY_SUMS if to.elements < SMALL and to.depth >= DEEP else 1
    to.begun = to.biased and to.c != NULL and to.chains == 1 and to.depth > 0
    to.straight = to.item == sizeof(float) and to.y_step == to.item and (to.c == NULL or to.begun) and (
        to.alpha == 1 and to.fused == NULL)


# Where threads share few tiles, lets each have as many columns as the others, in a tile or two that are enough work.
cdef void even_columns(Products* to, int64_t threads, int64_t work, int64_t enough_work) noexcept nogil:
    cdef int64_t unit = DMLCY_STRIP if to.packed != NULL or to.rows <= FEW else EVEN
    cdef int64_t tiles = max(to.column_tiles, min(work // enough_work, 2 * threads)), wide
    if threads == 1 or tiles == 1 or tiles >= TILES * threads:
        return
    tiles = ceil_div(tiles, threads) * threads
    if to.columns // tiles < EVEN_LEAST:
        tiles = min(threads, to.columns // EVEN_LEAST)
    wide = ceil_div(ceil_div(to.columns, max(tiles, 1)), unit) * unit
    if wide <= WIDE:
        to.wide = wide
        to.column_tiles = ceil_div(to.columns, wide)


# Cuts the output into tiles; so much work is enough for one. Returns their number.
cdef int64_t cut_tiles(Products* to, int64_t batches, int64_t enough_work) noexcept nogil:
    cdef int64_t tiles, work, rows, unit = STEP, least = NARROW, few, threads = ceil_div(thread_limit(), batches)
    if to.rows <= FEW or to.packed != NULL:
        unit = DMLCY_STRIP
        least = 2 * DMLCY_STRIP if to.rows <= FEW else DMLCY_STRIP
    to.row_tiles = ceil_div(to.rows, HIGH)
    rows = ceil_div(to.rows, to.row_tiles)
    to.high = ceil_div(rows, FEW) * FEW
    to.row_tiles = ceil_div(to.rows, to.high)
    work = rows * to.columns * max(to.depth, 1)
    to.wide = max(ceil_div(to.columns, work // WORK + 1), least)
    to.wide = min(ceil_div(to.wide, unit) * unit, <int64_t>WIDE)
    if to.columns > to.wide and 0 < to.columns % to.wide < unit // 2 and to.wide < WIDE:
        to.wide += unit     # no tile of few columns, which would be packed for little
    to.column_tiles = ceil_div(to.columns, to.wide)
    even_columns(to, threads, work, enough_work)
    tiles = batches * to.row_tiles * to.column_tiles
    few = (3 if thread_limit() > SOME_THREADS else 1 if to.column_tiles >= threads else 2) * thread_limit()
    while tiles < few and thread_limit() > 1 and to.high > LOW and work > enough_work:
        to.high = ceil_div(ceil_div(to.high, 2), FEW) * FEW
        to.row_tiles = ceil_div(to.rows, to.high)
        tiles = batches * to.row_tiles * to.column_tiles
    return tiles
