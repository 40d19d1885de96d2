# A block of queries: it takes the blocks of keys and values one after another. The sums and results so far are those
# for the greatest score so far; a greater one scales them.

# How many of all keys a query has weights for.
cdef inline int64_t seen_by(const Heads* to, const Block* block, int64_t row) noexcept nogil:
    if not is_there(to.a.lengths):
        return block.keys
    return min(block.keys, block.earlier + block.first + row + 1)


# The masks of some keys, if they are the same for all queries. Otherwise False: they are listed for each.
cdef inline bint list_shared(const Heads* to, const Block* block, int64_t first, int64_t n) noexcept nogil:
    if to.a.masks == MASKS_NONE or (to.a.masks == MASKS_EACH and to.mask.row != 0):
        return False
    list_masks(to, block, 0, first, n)
    return True


# Whether values that are infinite or NaN may have a weight, in double.
cdef bint has_special(const uint8_t* special, const float* scores, int64_t n, float greatest) noexcept nogil:
    cdef int64_t i
    if special[0]:
        for i in range(n):
            if special[1 + i] and not scores[i] - greatest < -WEIGHTLESS:
                return True
    return False


# The scores of a row become weights, and the results so far are scaled.
cdef void weigh_row(const Heads* to, Block* block, int64_t row, int64_t first, int64_t n, bint masks,
                    const uint8_t* special) noexcept nogil:
    cdef float* scores = block.scores + row * block.pitch
    cdef float* results = block.results + row * to.size[VALUE]
    cdef const float* added = NULL
    cdef int64_t seen = min(seen_by(to, block, row) - first, n)
    cdef float greatest, factor
    if seen <= 0:
        memset(scores, 0, n * sizeof(float))
        return
    if to.added.data != NULL:
        added = list_added(to, block, row, first, seen)
    if to.a.masks == MASKS_EACH and to.mask.row != 0:
        list_masks(to, block, row, first, seen)
        masks = True
    greatest = to.level.greatest(scores, added, block.masks if masks else NULL, seen)
    if first == 0:
        block.again[row] = has_special(special, scores, seen, greatest)
        block.sums[row] = to.level.weigh(scores, greatest, seen)
        block.greatest[row] = greatest
    else:
        if greatest > block.greatest[row]:
            factor = to.level.weight(block.greatest[row] - greatest)
            block.greatest[row] = greatest
            block.sums[row] *= factor
            to.level.scale(results, factor, to.size[VALUE])
        block.again[row] |= has_special(special, scores, seen, block.greatest[row])
        block.sums[row] += to.level.weigh(scores, block.greatest[row], seen)
    if seen < n:
        memset(scores + seen, 0, (n - seen) * sizeof(float))


cdef void take_queries(const Heads* to, Block* block) noexcept nogil:
    cdef int64_t size = to.size[KEY], row
    cdef float* target = block.queries
    cdef const float* bias = NULL
    if to.biases != NULL:
        bias = to.biases + block.head * size
    for row in range(block.rows):
        widen(at(&to.query, block.item, block.head, block.first + row), to.query.element, to.bytes, target, size)
        to.level.prepare(target, bias, to.a.scale, size)
        target += size


cdef void give_results(const Heads* to, Block* block) noexcept nogil:
    cdef int64_t size = to.size[VALUE], row
    cdef float* results = block.results
    for row in range(block.rows):
        if block.again[row] or not isfinite(block.sums[row]) or not to.level.are_finite(results, size):
            compute_exact(to, block, row, seen_by(to, block, row), results)
        else:
            to.level.divide(results, block.sums[row], size)
        narrow(results, <char*>at(&to.output, block.item, block.head, block.first + row), to.output.element, to.bytes,
               size)
        results += size


cdef void compute_block(const Heads* to, Block* block) noexcept nogil:
    cdef int64_t unit = block.item * to.a.key_heads + block.head // to.shared - to.unit
    cdef int64_t number, first = 0, n, row, place
    cdef const float* packed
    cdef bint masks
    take_queries(to, block)
    for number in range(to.blocks):
        n = min(seen_by(to, block, block.rows - 1) - first, to.wide)
        if n <= 0:
            break
        n = min(block.keys - first, to.wide)
        place = unit * to.blocks + number
        packed = to.packed + place * (to.floats[KEY] + to.floats[VALUE])
        multiply_packed(block.queries, to.size[KEY], block.rows, packed, n, to.size[KEY], block.scores, block.pitch,
                        False)
        masks = list_shared(to, block, first, n)
        for row in range(block.rows):
            weigh_row(to, block, row, first, n, masks, to.special + place * (to.wide + 1))
        multiply_packed(block.scores, block.pitch, block.rows, packed + to.floats[KEY], to.size[VALUE], n,
                        block.results, to.size[VALUE], first > 0)
        first += n
    give_results(to, block)


cdef inline int64_t in_lines(int64_t floats) noexcept nogil:
    return ceil_div(floats, LINE) * LINE


# The memory of a thread. NULL: memory ran out.
cdef char* lay_out(const Heads* to, Block* block) noexcept nogil:
    cdef int64_t rows = min(to.a.sequence, <int64_t>QUERIES)
    cdef int64_t n[6]
    cdef int64_t total = LINE
    cdef char* memory
    cdef int i
    block.pitch = in_lines(to.wide) + DMLCY_SCORE_ROOM
    n[0] = 2 * to.size[VALUE]       # numbers of double
    n[1] = rows * block.pitch
    n[2] = rows * to.size[KEY]
    n[3] = rows * to.size[VALUE]
    n[4] = n[5] = to.wide
    for i in range(6):
        n[i] = in_lines(n[i])
        total += n[i]
    memory = <char*>malloc(total * sizeof(float))
    if memory == NULL:
        return NULL
    block.exact = <double*>(memory + (-<uintptr_t>memory & (LINE * sizeof(float) - 1)))
    block.scores = <float*>block.exact + n[0]
    block.queries = block.scores + n[1]
    block.results = block.queries + n[2]
    block.added = block.results + n[3]
    block.masks = block.added + n[4]
    return memory


# Finds the block of a number: those of a head follow each other, and the heads of a unit.
cdef void place_block(const Heads* to, Block* block, int64_t number) noexcept nogil:
    cdef int64_t unit = to.unit + number // to.row_blocks // to.shared
    block.first = number % to.row_blocks * QUERIES
    block.rows = min(to.a.sequence - block.first, <int64_t>QUERIES)
    block.item = unit // to.a.key_heads
    block.head = unit % to.a.key_heads * to.shared + number // to.row_blocks % to.shared
    block.earlier = earlier_of(to, block.item)
    block.keys = block.earlier + to.a.key_sequence


# Computes some blocks of queries. -1: memory ran out.
cdef int compute_blocks(const void* args, int64_t begin, int64_t end) noexcept nogil:
    cdef const Heads* to = <const Heads*>args
    cdef Block block
    cdef char* memory = lay_out(to, &block)
    cdef int64_t number
    if memory == NULL:
        return -1
    for number in range(begin, end):
        place_block(to, &block, number)
        compute_block(to, &block)
    free(memory)
    return 0
