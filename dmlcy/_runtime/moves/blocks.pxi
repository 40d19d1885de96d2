# Copies a block, in each of the ways that a plan can choose, and all blocks.

# Writes a line whose planes are contiguous.
cdef inline void write_line(const MovePlan* plan, const char* planes, int64_t pitch, int64_t count, char* target,
                            dmlcy_stream* stream) noexcept nogil:
    cdef int64_t grain = plan.block.grain.size * plan.item
    cdef int64_t few = plan.block.few.size
    cdef int64_t some
    if not plan.streams:
        if few == 1:
            dmlcy_copy(target, planes, count * grain)
        else:
            plan.weave(planes, pitch, few, grain, count, target)
        return
    dmlcy_stream_seek(stream, target)
    if few == 1:
        dmlcy_stream_put(stream, planes, count * grain)
        return
    while count:
        some = min(count, DMLCY_ROOM // (few * grain))
        plan.weave(planes, pitch, few, grain, some, dmlcy_stream_room(stream))
        dmlcy_stream_advance(stream, some * few * grain)
        planes += some * grain
        count -= some


# Lines of `within` go `pitch` bytes apart, and groups of them `line_pitch`.
cdef inline void copy_lines(const Block* block, int64_t run, const char* source, char* target, int64_t pitch,
                            int64_t line_pitch) noexcept nogil:
    if block.within.size == 1:
        dmlcy_copy_rows(source, block.line.step, target, line_pitch, run, block.line.size)
        return
    for _ in range(block.line.size):
        dmlcy_copy_rows(source, block.within.step, target, pitch, run, block.within.size)
        source += block.line.step
        target += line_pitch


cdef void copy_runs(const MovePlan* plan, const Block* block, const char* source, char* target, char* cells,
                    dmlcy_stream* stream) noexcept nogil:
    cdef int64_t run = block.row.size * plan.item
    cdef int64_t j
    if not plan.streams:
        copy_lines(block, run, source, target, block.within.out_step, block.line.out_step)
        return
    if plan.packs:
        copy_lines(block, run, source, cells, run, block.within.size * run)
        dmlcy_stream_seek(stream, target)
        dmlcy_stream_put(stream, cells, block.line.size * block.within.size * run)
        return
    for _ in range(block.line.size):
        for j in range(block.within.size):
            dmlcy_stream_seek(stream, target + j * block.within.out_step)
            dmlcy_stream_put(stream, source + j * block.within.step, run)
        source += block.line.step
        target += block.line.out_step


cdef void fill_rows(const MovePlan* plan, const Block* block, const char* source, char* target,
                    dmlcy_stream* stream) noexcept nogil:
    cdef int64_t run = block.row.size * plan.item
    cdef uint64_t word
    for _ in range(block.line.size):
        plan.moves.gather(source, 0, 0, <char*> &word, 0, 1, sizeof(word) // plan.item)
        if not plan.streams:
            dmlcy_fill(target, word, run)
        else:
            dmlcy_stream_seek(stream, target)
            dmlcy_stream_fill(stream, word, run)
        source += block.line.step
        target += block.line.out_step


cdef void weave_rows(const MovePlan* plan, const Block* block, const char* source, char* target,
                     dmlcy_stream* stream) noexcept nogil:
    for _ in range(block.line.size):
        write_line(plan, source, block.few.step, block.row.size, target, stream)
        source += block.line.step
        target += block.line.out_step


cdef void gather_rows(const MovePlan* plan, const Block* block, const char* source, char* target, char* cells,
                      dmlcy_stream* stream) noexcept nogil:
    cdef int64_t k, line
    if block.few.size == 1 and not plan.streams:
        plan.moves.gather(source, block.line.step, block.row.step, target, block.line.out_step, block.line.size,
                          block.row.size)
        return
    for k in range(block.few.size):     # plane by plane, for their lines may follow each other
        plan.moves.gather(source + k * block.few.step, block.line.step, block.row.step,
                          cells + k * block.line.size * plan.pitch, plan.pitch, block.line.size, block.row.size)
    for line in range(block.line.size):
        write_line(plan, cells + line * plan.pitch, block.line.size * plan.pitch, block.row.size,
                   target + line * block.line.out_step, stream)


# `rows` are the offsets of the elements of a plane. Lines that are near each other, in an output that stays in the
# cache, are written at once: those further apart could take the same places of the cache.
cdef void turn_rows(const MovePlan* plan, const Block* block, const char* source, char* target, const int64_t* rows,
                    char* cells, dmlcy_stream* stream) noexcept nogil:
    cdef int64_t height = block.row.size * block.grain.size
    cdef int64_t width = block.line.size * block.within.size * block.few.size
    cdef int64_t j
    if width == block.line.size and width * block.line.out_step <= NEAR_BYTES and not plan.far:
        plan.moves.transpose(source, rows, height, width, target, block.line.out_step)
        return
    plan.moves.transpose(source, rows, height, width, cells, plan.pitch)
    for _ in range(block.line.size):
        for j in range(block.within.size):
            write_line(plan, cells + j * plan.within_planes * plan.pitch, plan.few_planes * plan.pitch, block.row.size,
                       target + j * block.within.out_step, stream)
        cells += block.within.size * block.few.size * plan.pitch
        target += block.line.out_step


# `rows` are the offsets of the positions.
cdef void split_rows(const MovePlan* plan, const Block* block, const char* source, char* target, const int64_t* rows,
                     char* cells, dmlcy_stream* stream) noexcept nogil:
    cdef int64_t run = block.row.size * plan.item
    cdef int64_t k, line
    if not plan.streams:
        for _ in range(block.line.size):
            plan.moves.transpose(source, rows, block.row.size, block.few.size, target, block.few.out_step)
            source += block.line.step
            target += block.line.out_step
        return
    for line in range(block.line.size):
        plan.moves.transpose(source + line * block.line.step, rows, block.row.size, block.few.size, cells + line * run,
                             plan.pitch)
    for k in range(block.few.size):
        for line in range(block.line.size):
            dmlcy_stream_seek(stream, target + k * block.few.out_step + line * block.line.out_step)
            dmlcy_stream_put(stream, cells + k * plan.pitch + line * run, run)


# Transposes a tile per line; `rows` are the offsets of the `height` rows of a tile. Its columns are those of `within`,
# and the same again for each of `few`. Columns of `grain` alone are lines of the output, which are written one by one,
# and the next ones asked for. Of others, the first rows of all tiles come first. The last rows and columns overlap.
cdef void turn_tiles(const MovePlan* plan, const Block* block, const char* source, char* target,
                     const int64_t* rows) noexcept nogil:
    cdef const MoveAxis* few = &block.few
    cdef const MoveAxis* within = &block.within
    cdef int64_t tile_rows[SIDE * TILES]
    cdef int64_t places[FEW * FEW]
    cdef int64_t item = plan.item, side = SIDE // item
    cdef int64_t height = block.row.size * block.grain.size
    cdef int64_t width = few.size * within.size
    cdef int64_t cols = dmlcy_turned_columns(item, height, width)
    cdef int64_t i, j, k, tile, some, begin
    cdef char* ahead
    if cols == 0:
        for tile in range(block.line.size):
            for k in range(few.size):
                plan.moves.transpose(
                    source + tile * block.line.step + k * few.step, rows, height, within.size,
                    target + tile * block.line.out_step + k * few.out_step, within.out_step)
        return
    list_offsets(0, min(width, <int64_t> FEW * FEW), few.out_step, within.size, within.out_step, places)
    if block.row.size == 1 and height > side:
        for _ in range(block.line.size):
            j = 0
            while j < width:
                j = min(j, width - cols)
                if plan.far:
                    ahead = target if j + cols < width else target + block.line.out_step
                    begin = j + cols if j + cols < width else 0
                    for k in range(begin, min(begin + cols, width)):
                        dmlcy_ask(ahead + places[k], height * item)
                i = 0
                while i < height:
                    i = min(i, height - side)
                    some = (height - i) // side * side
                    plan.moves.turn_tiles(
                        source + j * item, rows + i, some, cols, target + i * item, places + j, 16)
                    i += some
                j += cols
            source += block.line.step
            target += block.line.out_step
        return
    i = 0
    while i < height:
        i = min(i, height - side)
        for tile in range(block.line.size):
            for k in range(side):
                tile_rows[tile * side + k] = rows[i + k] + tile * block.line.step
        j = 0
        while j < width:
            j = min(j, width - cols)
            begin = j if few.size > 1 else 0    # else columns lie equally far apart
            plan.moves.turn_tiles(
                source + j * item, tile_rows, block.line.size * side, cols,
                target + (j - begin) * within.out_step + i * item, places + begin, block.line.out_step)
            j += cols
        i += side


cdef void copy_strided(const MovePlan* plan, const Block* block, const char* source, char* target) noexcept nogil:
    cdef bint swap = block.row.size < block.line.size
    cdef const MoveAxis* outer = &block.row if swap else &block.line
    cdef const MoveAxis* inner = &block.line if swap else &block.row
    plan.moves.copy_strided(
        source, outer.step, inner.step, target, outer.out_step, inner.out_step, outer.size, inner.size)


# Items are blocks.
cdef int move_blocks(const void* args, int64_t begin, int64_t end) noexcept nogil:
    cdef const MovePlan* plan = <const MovePlan*> args
    cdef const char* source = plan.input
    cdef char* target = plan.output
    cdef char cells[CELL_BYTES]
    cdef int64_t rows[ROWS]
    cdef int64_t at[MAX_AXES + 2]
    cdef int64_t rest = begin
    cdef Block block = plan.block
    cdef dmlcy_stream stream
    cdef int d
    for d in range(plan.outers - 1, -1, -1):
        at[d] = rest % plan.outer[d].size
        rest //= plan.outer[d].size
        source += at[d] * plan.outer[d].step
        target += at[d] * plan.outer[d].out_step
    if plan.way == TURN_ROWS or plan.way == TURN_TILES:
        list_offsets(0, plan.row_piece * block.grain.size, block.row.step, block.grain.size, block.grain.step, rows)
    elif plan.way == SPLIT_ROWS:
        list_offsets(0, plan.row_piece, block.row.step, 1, 0, rows)
    if plan.streams:
        dmlcy_stream_begin(&stream, target)
    for _ in range(begin, end):
        block.row.size = min(plan.row_piece, plan.block.row.size - at[plan.row_axis] * plan.row_piece)
        block.line.size = min(plan.line_piece, plan.block.line.size - at[plan.line_axis] * plan.line_piece)
        if plan.way == COPY_RUNS:
            copy_runs(plan, &block, source, target, cells, &stream)
        elif plan.way == FILL_ROWS:
            fill_rows(plan, &block, source, target, &stream)
        elif plan.way == WEAVE_ROWS:
            weave_rows(plan, &block, source, target, &stream)
        elif plan.way == GATHER_ROWS:
            gather_rows(plan, &block, source, target, cells, &stream)
        elif plan.way == TURN_ROWS:
            if plan.touches and at[plan.line_axis] == 0:
                dmlcy_touch(source, (block.row.size - 1) * block.row.step + plan.item)
            turn_rows(plan, &block, source, target, rows, cells, &stream)
        elif plan.way == TURN_TILES:
            turn_tiles(plan, &block, source, target, rows)
        elif plan.way == SPLIT_ROWS:
            split_rows(plan, &block, source, target, rows, cells, &stream)
        else:
            copy_strided(plan, &block, source, target)
        d = plan.outers - 1
        while d >= 0 and at[d] + 1 == plan.outer[d].size:
            source -= at[d] * plan.outer[d].step
            target -= at[d] * plan.outer[d].out_step
            at[d] = 0
            d -= 1
        if d >= 0:
            source += plan.outer[d].step
            target += plan.outer[d].out_step
            at[d] += 1
    if plan.streams:
        dmlcy_stream_end(&stream)
    return 0
