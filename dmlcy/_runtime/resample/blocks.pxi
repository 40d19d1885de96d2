# Making a block of means.

# The part of a block that is made now: along each axis first … end-1, places or sources.
cdef struct Block:
    const char* input               # of the first elements along the axes that have taps
    char* output
    int64_t first[MAX_RANK]
    int64_t end[MAX_RANK]
    int64_t lanes
    double* level[MAX_RANK + 1]
    double* line                    # room for a row
    ResampleTable table[MAX_RANK]   # of axes that have no shared one, or whose sources are taken in pieces


# How many numbers a level has along the axes from `begin` to `end`.
cdef inline int64_t count_of(const Block* block, int begin, int end) noexcept nogil:
    cdef int64_t count = 1
    cdef int k
    for k in range(begin, end):
        count *= block.end[k] - block.first[k]
    return count


# Row `number` of a level along the axes before `outer`: where it lies in a tensor.
cdef inline int64_t offset_of(const MeansPlan* plan, const Block* block, const Tensor* tensor, int64_t number,
                              int outer) noexcept nogil:
    cdef int64_t offset = 0, size
    cdef int k
    for k in range(plan.axes - 1, -1, -1):
        offset += block.first[k] * tensor.strides[plan.axis[k].number]
        if k < outer:
            size = block.end[k] - block.first[k]
            offset += number % size * tensor.strides[plan.axis[k].number]
            number //= size
    return offset


# The taps of targets of an axis: the last taps, if they are the same. `whole`: of all their sources.
cdef const ResampleTable* table_of(const MeansPlan* plan, Block* block, int k, int64_t first, int64_t end, int64_t low,
                                   int64_t high, bint whole) noexcept nogil:
    cdef ResampleTable* table = &block.table[k]
    if whole and plan.shared[k]:
        return &plan.table[k]
    if table.first != first or table.end != end or table.low != low or table.high != high:
        make_table(table, plan.axis[k], plan.given, k == plan.row, first, end, low, high)
    return table


# A row of numbers with the taps of the last axis.
cdef inline void combine_along(const MeansPlan* plan, const ResampleTable* table, int64_t first, int64_t end,
                               const double* row, int64_t low, double* target) noexcept nogil:
    first -= table.first
    end -= table.first
    if table.paired:
        plan.loops.along_pairs(&table.pairs, first // PAIR_BLOCK, ceil_div(end, PAIR_BLOCK), row, low, target)
    else:
        plan.loops.along(&table.taps, first, end, row, low, target)


# The sum of rows for one target.
cdef void combine_rows(const MeansPlan* plan, const SampleTaps* taps, int64_t target, const double* rows, int64_t low,
                       int64_t inner, double* sums) noexcept nogil:
    cdef int64_t k = taps.begin[target], end = taps.begin[target + 1]
    if k == end:
        memset(sums, 0, inner * sizeof(double))
        return
    if k + 1 == end:
        plan.loops.times(rows + (taps.source[k] - low) * inner, taps.weight[k], sums, inner)
        return
    plan.loops.blend(
        rows + (taps.source[k] - low) * inner, taps.weight[k],
        rows + (taps.source[k + 1] - low) * inner, taps.weight[k + 1], sums, inner)
    for k in range(k + 2, end):
        plan.loops.plus(rows + (taps.source[k] - low) * inner, taps.weight[k], sums, inner)


# Loads the elements of level 0. `table`: or combines those of each row, for targets first … end-1.
cdef void load_block(const MeansPlan* plan, const Block* block, const ResampleTable* table, int64_t first, int64_t end,
                     double* target) noexcept nogil:
    cdef int outer = plan.axes - (plan.row >= 0)
    cdef int64_t run = block.lanes * count_of(block, outer, plan.axes), number
    cdef int64_t step = plan.input.strides[plan.lanes if plan.row < 0 else plan.axis[plan.row].number]
    cdef const char* source
    for number in range(count_of(block, 0, outer)):
        source = block.input + offset_of(plan, block, plan.input, number, outer)
        if table == NULL:
            plan.loops.load(plan.input.dtype, source, step, target, run)
            target += run
        else:
            plan.loops.load(plan.input.dtype, source, step, block.line, run)
            combine_along(plan, table, first, end, block.line, block.first[plan.row], target)
            target += end - first


# Stores a row of results.
cdef inline void store_row(const MeansPlan* plan, const double* row, char* target, int64_t size) noexcept nogil:
    cdef int64_t step = plan.output.strides[plan.lanes if plan.row < 0 else plan.axis[plan.row].number]
    plan.loops.store(plan.output.dtype, row, plan.zero, target, step, size)


cdef void store_block(const MeansPlan* plan, const Block* block, const double* numbers) noexcept nogil:
    cdef int outer = plan.axes - (plan.row >= 0)
    cdef int64_t run = block.lanes * count_of(block, outer, plan.axes), number
    for number in range(count_of(block, 0, outer)):
        store_row(
            plan, numbers + number * run, block.output + offset_of(plan, block, plan.output, number, outer), run)


# Adds a piece of the sources of an axis to its targets.
cdef void add_rows(const MeansPlan* plan, const ResampleTable* table, const double* rows, int64_t low, int64_t inner,
                   double* sums) noexcept nogil:
    cdef const SampleTaps* taps = &table.taps
    cdef int64_t t, k
    for t in range(table.end - table.first):
        for k in range(taps.begin[t], taps.begin[t + 1]):
            plan.loops.plus(rows + (taps.source[k] - low) * inner, taps.weight[k], sums + t * inner, inner)


# Goes along axis k, from a level to the next one, for targets first … end-1. `whole`: all their sources are there.
cdef void combine_block(const MeansPlan* plan, const Block* block, int k, const ResampleTable* table, int64_t first,
                        int64_t end, bint whole, const double* rows, double* target) noexcept nogil:
    cdef int64_t inner = block.lanes * count_of(block, k + 1, plan.axes), size = block.end[k] - block.first[k], t
    cdef int64_t low = block.first[k]
    for _ in range(count_of(block, 0, k)):
        if not whole:
            add_rows(plan, table, rows, low, inner, target)
        elif k == plan.row:
            combine_along(plan, table, first, end, rows, low, target)
        else:
            for t in range(end - first):
                combine_rows(plan, &table.taps, first - table.first + t, rows, low, inner, target + t * inner)
        rows += size * inner
        target += (end - first) * inner


# Makes level n.
cdef void make_level(const MeansPlan* plan, Block* block, int n) noexcept nogil:
    cdef const ResampleTable* table
    cdef int64_t first, end, low, high, i
    cdef int k
    cdef bint whole
    if n == 0:
        load_block(plan, block, NULL, 0, 0, block.level[0])
        return
    k = plan.order[n - 1]
    first = block.first[k]
    end = block.end[k]
    sources_of(plan.axis[k], plan.given, first, end, &low, &high)
    whole = high - low <= plan.piece[n - 1]
    if not whole:
        for i in range(block.lanes * count_of(block, 0, plan.axes)):
            block.level[n][i] = -0.0    # a sum that begins there is that of the others alone
    while True:
        block.first[k] = low
        block.end[k] = min(low + plan.piece[n - 1], high)
        table = table_of(plan, block, k, first, end, low, block.end[k], whole)
        if whole and n == 1 and k == plan.row:
            load_block(plan, block, table, first, end, block.level[1])
        else:
            make_level(plan, block, n - 1)
            combine_block(plan, block, k, table, first, end, whole, block.level[n - 1], block.level[n])
        low = block.end[k]
        if low >= high:
            break
    block.first[k] = first
    block.end[k] = end


# Goes along the last axis of a block and stores each row at once.
cdef void finish_block(const MeansPlan* plan, const Block* block, int k, const ResampleTable* table, int64_t first,
                       int64_t end) noexcept nogil:
    cdef const SampleTaps* taps = &table.taps
    cdef int64_t inner = block.lanes * count_of(block, k + 1, plan.axes), size = block.end[k] - block.first[k]
    cdef int64_t low = block.first[k], step = plan.output.strides[plan.axis[k].number], o, t, at
    cdef const double* rows = block.level[plan.axes - 1]
    cdef char* target
    cdef int side = plan.lanes if plan.row < 0 else plan.axis[plan.row].number
    cdef bint floats = plan.output.dtype == FLOAT32 and plan.output.strides[side] == plan.output.item
    for o in range(count_of(block, 0, k)):
        target = block.output + offset_of(plan, block, plan.output, o, k) + (first - low) * step
        if k == plan.row:
            combine_along(plan, table, first, end, rows, low, block.line)
            store_row(plan, block.line, target, end - first)
        else:
            for t in range(first - table.first, end - table.first):
                at = taps.begin[t]
                if floats and taps.begin[t + 1] == at + 2:
                    plan.loops.blend_floats(
                        rows + (taps.source[at] - low) * inner, taps.weight[at],
                        rows + (taps.source[at + 1] - low) * inner, taps.weight[at + 1], plan.zero, <float*> target,
                        inner)
                elif taps.begin[t + 1] == at + 1 and taps.weight[at] == 1:
                    store_row(plan, rows + (taps.source[at] - low) * inner, target, inner)
                else:
                    combine_rows(plan, taps, t, rows, low, inner, block.line)
                    store_row(plan, block.line, target, inner)
                target += step
        rows += size * inner


cdef void make_block(const MeansPlan* plan, Block* block) noexcept nogil:
    cdef int n = plan.axes - 1, k = plan.order[n]
    cdef int64_t first = block.first[k], end = block.end[k], low, high
    sources_of(plan.axis[k], plan.given, first, end, &low, &high)
    if high - low > plan.piece[n] or k < plan.axes - (2 if plan.row >= 0 else 1):   # or its rows are parts of others
        make_level(plan, block, n + 1)
        store_block(plan, block, block.level[n + 1])
        return
    block.first[k] = low
    block.end[k] = high
    make_level(plan, block, n)
    finish_block(plan, block, k, table_of(plan, block, k, first, end, low, high, True), first, end)


# Divides room for the levels of a block, a row and its own tables: so many words of 8 bytes. NULL: they are counted.
cdef int64_t lay_block(const MeansPlan* plan, Block* block, double* room) noexcept nogil:
    cdef int64_t words = plan.line, taps, places
    cdef int n, k
    block.line = room
    for n in range(plan.axes + 1):
        if room != NULL:
            block.level[n] = room + words
        words += plan.numbers[n] + 2 * PAIR_ROOM
    for n in range(plan.axes):
        k = plan.order[n]
        if plan.shared[k] and plan.piece[n] == plan.taken[k]:
            continue
        places = min(plan.tall[k], plan.axis[k].count)
        taps = most_taps(plan.axis[k], plan.given, places, plan.piece[n])
        if room != NULL:
            lay_table(&block.table[k], room + words, places, taps)
        words += table_words(places, taps)
    return words


# Moves a block along the axes without taps; what is left of its number.
cdef inline int64_t along_planes(const MeansPlan* plan, Block* block, int64_t number) noexcept nogil:
    cdef int64_t place
    cdef int k, d
    for k in range(plan.planes - 1, -1, -1):
        d = plan.plane[k]
        place = number % plan.output.sizes[d]
        number //= plan.output.sizes[d]
        block.input += place * plan.input.strides[d]
        block.output += place * plan.output.strides[d]
    return number


cdef int mean_blocks(const void* args, int64_t begin, int64_t end) noexcept nogil:
    cdef const MeansPlan* plan = <const MeansPlan*> args
    cdef Block block
    cdef double* buffer = new_numbers(lay_block(plan, &block, NULL))
    cdef int64_t number, rest, place
    cdef int k
    if buffer == NULL:
        return -1
    lay_block(plan, &block, buffer)
    for number in range(begin, end):
        rest = number
        block.input = plan.input.data
        block.output = plan.output.data
        if plan.apart:              # one after another those that have the same tables
            rest = along_planes(plan, &block, rest)
        for k in range(plan.axes):
            block.first[k] = rest % plan.chunks[k] * plan.tall[k]
            block.end[k] = min(block.first[k] + plan.tall[k], plan.axis[k].count)
            rest //= plan.chunks[k]
        block.lanes = 1
        if plan.lanes >= 0:
            place = rest % plan.tiles * plan.width
            rest //= plan.tiles
            block.lanes = min(plan.width, plan.output.sizes[plan.lanes] - place)
            block.input += place * plan.input.strides[plan.lanes]
            block.output += place * plan.output.strides[plan.lanes]
        if not plan.apart:
            along_planes(plan, &block, rest)
        make_block(plan, &block)
    free(buffer)
    return 0
