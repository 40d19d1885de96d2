# One query for each head of keys: keys and values are read once, where they are.

# Some keys or values as floats, where they are or in a room of so many; `step` is from one to the next, in floats.
cdef const float* rows_near(const Heads* to, int role, const Block* block, int64_t first, int64_t n, float* room,
                            int64_t* step) noexcept nogil:
    cdef const Rows* rows = rows_of(to, role, first < block.earlier)
    cdef bint apart = first < block.earlier < first + n
    if to.bytes == sizeof(float) and rows.element == sizeof(float) and to.biases == NULL and not apart:
        step[0] = rows.row // <int64_t>sizeof(float)
        return <const float*>at(rows, block.item, block.head, first if first < block.earlier else first - block.earlier)
    step[0] = to.size[role]
    take_rows(to, role, block.item, block.head, block.earlier, first, n, room)
    return room


# The results of one block of keys.
cdef void add_single(const Heads* to, Block* block, int64_t first, int64_t n, float* room,
                     uint8_t* special) noexcept nogil:
    cdef int64_t part, begin, some, step, i
    cdef const float* rows
    if first == 0:
        memset(block.results, 0, to.size[VALUE] * sizeof(float))
    special[0] = False
    for part in range(ceil_div(n, SOME)):
        begin = part * SOME
        some = min(n - begin, <int64_t>SOME)
        rows = rows_near(to, KEY, block, first + begin, some, room, &step)
        to.level.dots(block.queries, rows, step, some, to.size[KEY], block.scores + begin)
        rows = rows_near(to, VALUE, block, first + begin, some, room, &step)
        if to.level.find_special(rows, step, some, to.size[VALUE], special + 1 + begin):
            special[0] = True
    weigh_row(to, block, 0, first, n, list_shared(to, block, first, n), special)
    for part in range(ceil_div(n, SOME)):
        begin = part * SOME
        some = min(n - begin, <int64_t>SOME)
        rows = rows_near(to, VALUE, block, first + begin, some, room, &step)
        if not special[0]:
            to.level.add_rows(block.scores + begin, rows, step, some, to.size[VALUE], block.results)
            continue
        for i in range(some):
            if not special[1 + begin + i]:
                to.level.add_rows(block.scores + begin + i, rows + i * step, step, 1, to.size[VALUE], block.results)


# Computes some heads. -1: memory ran out.
cdef int compute_singles(const void* args, int64_t begin, int64_t end) noexcept nogil:
    cdef const Heads* to = <const Heads*>args
    cdef int64_t number, first
    cdef float* room = <float*>malloc(SOME * max(to.size[KEY], to.size[VALUE]) * sizeof(float) + to.wide + 1)
    cdef Block block
    cdef char* memory = lay_out(to, &block)
    if room == NULL or memory == NULL:
        free(room)
        free(memory)
        return -1
    for number in range(begin, end):
        place_block(to, &block, number)
        take_queries(to, &block)
        first = 0
        while first < seen_by(to, &block, 0):
            add_single(to, &block, first, min(seen_by(to, &block, 0) - first, to.wide), room,
                       <uint8_t*>(room + SOME * max(to.size[KEY], to.size[VALUE])))
            first += to.wide
        give_results(to, &block)
    free(room)
    free(memory)
    return 0
