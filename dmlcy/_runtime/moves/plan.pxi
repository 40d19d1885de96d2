# Chooses the axes of a block, its size, and how it is copied.

# Transposes: axes that follow each other in the input become planes and lines, until they are a cache line together.
cdef void choose_turn(MovePlan* plan) noexcept nogil:
    cdef Block* block = &plan.block
    cdef bint outside = block.few.size > 1 and block.few.step != plan.item      # `within` is the inner one of the two
    cdef int64_t width = plan.item if outside else block.few.size * plan.item
    plan.way = TURN_ROWS
    block.line = take_axis(plan, axis_of_step(plan, width))
    if outside or (block.line.size > 1 and block.line.size * width < 2 * DMLCY_LINE):
        block.within = block.line
        block.line = take_axis(plan, axis_of_step(plan, block.within.size * block.few.size * plan.item))
    plan.few_planes = block.within.size if outside else 1
    plan.within_planes = 1 if outside else block.few.size
    if block.few.size == 1 and block.row.size == 1:
        block.row = block.grain
        block.grain = take_axis(plan, -1)
    sort_by_input(plan)


# Whether planes of two axes, the inner ones of the output, follow each other both in the input and in the output. Or
# whether planes of the inner one do so, those of two short axes in turn.
cdef bint makes_tiles(const MovePlan* plan, const MoveAxis* inner, int next, int near) noexcept nogil:
    cdef int64_t plane = inner.size
    cdef int64_t width
    cdef int far
    if next < 0 or near < 0:
        return False
    if near == next:
        width = plan.outer[near].size * plan.item
        far = axis_of_step(plan, width)
        return (far >= 0 and plan.outer[near].size <= FEW and plan.outer[far].size <= FEW
                and width * plan.outer[far].size == inner.step and NARROW <= inner.step
                and NARROW <= plane * plan.item and plane <= ROWS and plane * inner.step <= NEAR_BYTES)
    plane *= plan.outer[next].size
    return plane <= ROWS and plan.outer[near].out_step == plane * plan.item


# Lines of runs: short ones follow each other in the input, or in the output.
cdef void choose_within(MovePlan* plan) noexcept nogil:
    cdef int64_t run = plan.block.row.size * plan.item
    cdef int last = plan.outers - 1
    cdef int near = axis_of_step(plan, run) if plan.item < run < DMLCY_LINE else -1
    if near >= 0 and plan.outer[near].size * run <= BLOCK_BYTES:
        plan.block.within = take_axis(plan, near)
    elif last > 0 and plan.outer[last].size * run <= NEAR_BYTES:
        plan.block.within = take_axis(plan, last)


# Chooses the axes of a block, and how it is copied.
cdef void choose_block(MovePlan* plan) noexcept nogil:
    cdef Block* block = &plan.block
    cdef int64_t item = plan.item
    cdef MoveAxis inner = take_axis(plan, plan.outers - 1)
    cdef int next = axis_of_out_step(plan, inner.size * item)       # follows `inner` in the output
    cdef int near = axis_of_step(plan, item)                        # contiguous in the input
    block.row = block.few = block.grain = block.line = block.within = take_axis(plan, -1)
    if inner.size > 1 and inner.out_step != item:
        plan.way = COPY_STRIDED
        block.row = inner
        sort_by_input(plan)
    elif inner.size == 1 or inner.step == item:
        plan.way = COPY_RUNS
        block.row = inner
        if inner.size * item <= SHORT_RUN and next >= 0 and axis_of_step(plan, inner.size * item) >= 0:
            block.few = inner
            block.row = take_axis(plan, next)
            choose_turn(plan)
            return
        choose_within(plan)
    elif inner.step == 0 and inner.size * item >= DMLCY_LINE:
        plan.way = FILL_ROWS
        block.row = inner
    elif near < 0:
        plan.way = GATHER_ROWS
        block.row = inner
        if inner.size <= FEW and next >= 0:
            block.few = inner
            block.row = take_axis(plan, next)
        if magnitude(block.row.step) > DMLCY_LINE:
            sort_by_input(plan)
        elif block.row.size * block.few.size * item >= APART_RUN:
            block.line = take_axis(plan, axis_of_step(plan, block.row.size * block.row.step))
    elif near == next and inner.size <= FEW and (plan.outer[near].size >= FEW or inner.size == 3):
        plan.way = WEAVE_ROWS
        block.few = inner
        block.row = take_axis(plan, next)
    elif plan.outer[near].size <= FEW < inner.size and inner.step == plan.outer[near].size * item:
        plan.way = SPLIT_ROWS
        block.row = inner
        block.few = take_axis(plan, near)
        sort_by_input(plan)
    elif makes_tiles(plan, &inner, next, near):
        plan.way = TURN_TILES
        block.grain = inner
        if near == next:
            block.within = take_axis(plan, near)
            block.few = take_axis(plan, axis_of_step(plan, block.within.size * item))
        else:
            block.row = take_axis(plan, next)
            block.within = take_axis(plan, axis_of_step(plan, item))
    elif near != next and inner.size <= FEW and inner.step == plan.outer[near].size * item and inner.step < NARROW:
        block.few = inner
        block.row = take_axis(plan, next)
        choose_turn(plan)
        return
    else:
        block.grain = inner
        if near == next and plan.outer[next].size <= FEW and plan.outer[next].size * inner.size * item <= DMLCY_ROOM:
            block.few = take_axis(plan, next)
            block.row = take_axis(plan, axis_of_out_step(plan, block.few.size * inner.size * item))
        elif near != next and 2 * inner.size <= ROWS:
            block.row = take_axis(plan, next)
        choose_turn(plan)
        return
    if block.line.size == 1:
        block.line = take_axis(plan, plan.outers - 1)


# Chooses how much of its axes a block is.
cdef void choose_pieces(MovePlan* plan) noexcept nogil:
    cdef const Block* block = &plan.block
    cdef int64_t position = block.few.size * block.grain.size * plan.item
    cdef int64_t width = block.few.size * block.within.size
    cdef bint far = plan.way == COPY_STRIDED or (plan.way == GATHER_ROWS and magnitude(block.row.step) > DMLCY_LINE)
    cdef int64_t row = BLOCK_BYTES // position
    if far:
        row = STRIDED_POSITIONS
    elif plan.way == GATHER_ROWS:
        row = NEAR_BYTES // position
    elif plan.way == SPLIT_ROWS:
        row = min(<int64_t> ROWS, CELL_BYTES // 2 // position)
    elif plan.way == TURN_ROWS:
        # As many lines as a cache line has elements fit the cells.
        row = min(<int64_t> ROWS, CELL_BYTES // 2 // max(width * plan.item, <int64_t> DMLCY_LINE)) // block.grain.size
    plan.row_piece = even(block.row.size, min(max(row, <int64_t> 1), block.row.size))
    # Planes an odd number of cache lines apart spread over the whole cache.
    plan.pitch = ((plan.row_piece * block.grain.size * plan.item + DMLCY_LINE - 1) // DMLCY_LINE | 1) * DMLCY_LINE
    if plan.way == TURN_ROWS:
        plan.line_piece = max(DMLCY_LINE // (width * plan.item), <int64_t> 1)
        while 2 * plan.line_piece * width * plan.pitch <= NEAR_BYTES and plan.line_piece < block.line.size:
            plan.line_piece *= 2
        # Where the planes are much of what lies between two positions, it pays to read all of it in order first.
        plan.touches = (4 * width * block.line.size * plan.item >= block.row.step
                        and NEAR_BYTES < plan.row_piece * block.row.step <= TOUCHED_BYTES)
    elif plan.way == GATHER_ROWS:
        plan.line_piece = CELL_BYTES // 2 // (block.few.size * plan.pitch)
    elif plan.way == TURN_TILES:
        plan.line_piece = max(NEAR_BYTES // (plan.row_piece * position * block.within.size), <int64_t> 1)
        plan.line_piece = min(plan.line_piece, <int64_t> TILES)
    elif plan.way == SPLIT_ROWS:
        plan.line_piece = max(CELL_BYTES // 2 // (plan.row_piece * position), <int64_t> 1)
        plan.pitch = ((plan.line_piece * plan.row_piece * plan.item + DMLCY_LINE - 1) // DMLCY_LINE | 1) * DMLCY_LINE
    else:
        plan.line_piece = max(BLOCK_BYTES // (plan.row_piece * position * block.within.size), <int64_t> 1)
    plan.line_piece = min(plan.line_piece, block.line.size)


# Adds the outer axis that counts the pieces of a block's axis.
cdef void cut(MovePlan* plan, int to, const MoveAxis* axis, int64_t piece) noexcept nogil:
    cdef int d = plan.outers
    while d > to:
        plan.outer[d] = plan.outer[d - 1]
        d -= 1
    plan.outer[to].size = ceil_div(axis.size, piece)
    plan.outer[to].step = axis.step * piece
    plan.outer[to].out_step = axis.out_step * piece
    plan.outers += 1


cdef void cut_blocks(MovePlan* plan) noexcept nogil:
    cdef const Block* block = &plan.block
    cdef bint far = plan.way == COPY_STRIDED or (plan.way == GATHER_ROWS and magnitude(block.row.step) > DMLCY_LINE)
    cdef int to = plan.outers
    if far:
        to = 0
    elif plan.way == TURN_ROWS:
        while to > 0 and magnitude(plan.outer[to - 1].step) < magnitude(block.row.step):
            to -= 1
    plan.row_axis = to
    cut(plan, to, &block.row, plan.row_piece)
    plan.line_axis = plan.outers
    cut(plan, plan.line_axis, &block.line, plan.line_piece)


# Whether the lines of a block, each of `run` bytes, follow each other in the output, and fit cells.
cdef bint are_packed(const MovePlan* plan, int64_t run) noexcept nogil:
    cdef const Block* block = &plan.block
    cdef int64_t lines = block.within.size * run
    return (plan.row_piece == block.row.size and (block.within.size == 1 or block.within.out_step == run)
            and (block.line.size == 1 or block.line.out_step == lines)
            and LONG_RUN <= plan.line_piece * lines <= CELL_BYTES)
