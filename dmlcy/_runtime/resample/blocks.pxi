# Making a block of means.

# A block: places first … end-1 of the first axis, of the sources from `low` on.
cdef struct Block:
    const char* input               # of the first source
    char* output                    # of the first place
    int64_t first
    int64_t end
    int64_t low
    int64_t sizes[MAX_RANK]         # along each axis, of what is kept now
    int64_t lanes
    double* numbers                 # kept now
    double* others                  # room for what comes next
    double* line                    # room for a row


cdef inline int64_t inner_of(const MeansPlan* plan, const Block* block, int k) noexcept nogil:
    cdef int64_t inner = block.lanes
    cdef int n
    for n in range(k + 1, plan.axes):
        inner *= block.sizes[n]
    return inner


# Row `number` of a block: where it lies in a tensor.
cdef inline int64_t offset_of(const MeansPlan* plan, const Block* block, const Tensor* tensor, int64_t number,
                              int outer) noexcept nogil:
    cdef int64_t offset = 0
    cdef int k
    for k in range(outer - 1, -1, -1):
        offset += number % block.sizes[k] * tensor.strides[plan.axis[k].number]
        number //= block.sizes[k]
    return offset


# The targets of an axis that the block has, and the first of the sources.
cdef inline void part_of(const MeansPlan* plan, const Block* block, int k, int64_t* first, int64_t* end,
                         int64_t* low) noexcept nogil:
    first[0] = block.first if k == 0 else 0
    end[0] = block.end if k == 0 else plan.axis[k].count
    low[0] = block.low if k == 0 else 0


# A row of numbers with the taps of the last axis.
cdef inline void combine_along(const MeansPlan* plan, const Block* block, const double* row,
                               double* target) noexcept nogil:
    cdef const ResampleAxis* axis = plan.axis[plan.axes - 1]
    cdef int64_t first, end, low
    part_of(plan, block, plan.axes - 1, &first, &end, &low)
    if axis.paired:
        plan.loops.along_pairs(
            &axis.pairs, first // PAIR_BLOCK, ceil_div(end, PAIR_BLOCK), row, low, target)
    else:
        plan.loops.along(&axis.taps, first, end, row, low, target)


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


# Loads the elements that a block needs. `along`: and combines those of each row.
cdef void load_block(const MeansPlan* plan, Block* block, bint along) noexcept nogil:
    cdef int outer = plan.axes - (plan.lanes < 0)
    cdef int64_t run = block.lanes, step, rows = 1, number, size
    cdef const char* source
    cdef int k, last = plan.axes - 1
    step = plan.input.strides[plan.lanes if plan.lanes >= 0 else plan.axis[last].number]
    if plan.lanes < 0:
        run = block.sizes[last]
    size = run
    if along:
        size = block.end - block.first if last == 0 else plan.axis[last].count
    for k in range(outer):
        rows *= block.sizes[k]
    for number in range(rows):
        source = block.input + offset_of(plan, block, plan.input, number, outer)
        if along:
            plan.loops.load(plan.input.dtype, source, step, block.line, run)
            combine_along(plan, block, block.line, block.numbers + number * size)
        else:
            plan.loops.load(plan.input.dtype, source, step, block.numbers + number * size, run)
    if along:
        block.sizes[last] = size


# Stores a row of results.
cdef inline void store_row(const MeansPlan* plan, const double* row, char* target, int64_t size) noexcept nogil:
    cdef int64_t step = plan.output.strides[
        plan.lanes if plan.lanes >= 0 else plan.axis[plan.axes - 1].number]
    plan.loops.store(plan.output.dtype, row, plan.zero, target, step, size)


cdef void store_block(const MeansPlan* plan, const Block* block) noexcept nogil:
    cdef int outer = plan.axes - (plan.lanes < 0)
    cdef int64_t run = block.lanes if plan.lanes >= 0 else block.sizes[plan.axes - 1]
    cdef int64_t rows = 1, number
    cdef int k
    for k in range(outer):
        rows *= block.sizes[k]
    for number in range(rows):
        store_row(
            plan, block.numbers + number * run, block.output + offset_of(plan, block, plan.output, number, outer), run)


# Goes along one axis.
cdef void combine_block(const MeansPlan* plan, Block* block, int k) noexcept nogil:
    cdef int64_t inner = inner_of(plan, block, k), outer = 1, o, t, first, end, low
    cdef const double* rows
    cdef double* target = block.others
    cdef int n
    part_of(plan, block, k, &first, &end, &low)
    for n in range(k):
        outer *= block.sizes[n]
    for o in range(outer):
        rows = block.numbers + o * block.sizes[k] * inner
        if plan.lanes < 0 and k == plan.axes - 1:
            combine_along(plan, block, rows, target)
            target += end - first
            continue
        for t in range(first, end):
            combine_rows(plan, &plan.axis[k].taps, t, rows, low, inner, target)
            target += inner
    block.sizes[k] = end - first
    block.others = block.numbers
    block.numbers = target - outer * (end - first) * inner


# Goes along the last axis of a block and stores each row at once.
cdef void finish_block(const MeansPlan* plan, Block* block, int k) noexcept nogil:
    cdef const SampleTaps* taps = &plan.axis[k].taps
    cdef int64_t inner = inner_of(plan, block, k), outer = 1, o, t, first, end, low, at
    cdef const double* rows
    cdef char* base
    cdef char* target
    cdef bint floats
    cdef int n, row = plan.lanes if plan.lanes >= 0 else plan.axis[plan.axes - 1].number
    cdef bint along = plan.lanes < 0 and k == plan.axes - 1
    floats = plan.output.dtype == FLOAT32 and plan.output.strides[row] == plan.output.item
    part_of(plan, block, k, &first, &end, &low)
    for n in range(k):
        outer *= block.sizes[n]
    for o in range(outer):
        rows = block.numbers + o * block.sizes[k] * inner
        base = block.output + offset_of(plan, block, plan.output, o, k)
        if along:
            combine_along(plan, block, rows, block.line)
            store_row(plan, block.line, base, end - first)
            continue
        for t in range(first, end):
            target = base + (t - first) * plan.output.strides[plan.axis[k].number]
            at = taps.begin[t]
            if floats and taps.begin[t + 1] == at + 2:
                plan.loops.blend_floats(
                    rows + (taps.source[at] - low) * inner, taps.weight[at], rows + (taps.source[at + 1] - low) * inner,
                    taps.weight[at + 1], plan.zero, <float*> target, inner)
            elif taps.begin[t + 1] == at + 1 and taps.weight[at] == 1:
                store_row(plan, rows + (taps.source[at] - low) * inner, target, inner)
            else:
                combine_rows(plan, taps, t, rows, low, inner, block.line)
                store_row(plan, block.line, target, inner)


cdef void make_block(const MeansPlan* plan, Block* block) noexcept nogil:
    cdef int n = 0, k, last = plan.order[plan.axes - 1]
    cdef bint along = plan.lanes < 0 and plan.order[0] == plan.axes - 1 and plan.axes > 1
    cdef bint whole = last < plan.axes - (1 if plan.lanes >= 0 else 2)
    load_block(plan, block, along)
    if along:
        n = 1
    for n in range(n, plan.axes):
        k = plan.order[n]
        if n == plan.axes - 1 and not whole:
            finish_block(plan, block, k)
            return
        combine_block(plan, block, k)
    store_block(plan, block)


cdef int mean_blocks(const void* args, int64_t begin, int64_t end) noexcept nogil:
    cdef const MeansPlan* plan = <const MeansPlan*> args
    cdef double* buffer = new_numbers(2 * plan.room + plan.line)
    cdef Block block
    cdef int64_t number, rest, place, high
    cdef int k, d
    if buffer == NULL:
        return -1
    memset(buffer, 0, (2 * plan.room + plan.line) * sizeof(double))
    for number in range(begin, end):
        rest = number
        block.first = rest % plan.chunks * plan.tall
        block.end = min(block.first + plan.tall, plan.axis[0].count)
        rest //= plan.chunks
        needed(&plan.axis[0].taps, block.first, block.end, &block.low, &high)
        d = plan.axis[0].number
        block.input = plan.input.data + block.low * plan.input.strides[d]
        block.output = plan.output.data + block.first * plan.output.strides[d]
        block.sizes[0] = high - block.low
        for k in range(1, plan.axes):
            block.sizes[k] = plan.axis[k].size
        block.lanes = 1
        if plan.lanes >= 0:
            place = rest % plan.tiles * plan.width
            rest //= plan.tiles
            block.lanes = min(plan.width, plan.output.sizes[plan.lanes] - place)
            block.input += place * plan.input.strides[plan.lanes]
            block.output += place * plan.output.strides[plan.lanes]
        for k in range(plan.planes - 1, -1, -1):
            d = plan.plane[k]
            place = rest % plan.output.sizes[d]
            rest //= plan.output.sizes[d]
            block.input += place * plan.input.strides[d]
            block.output += place * plan.output.strides[d]
        block.numbers = buffer
        block.others = buffer + plan.room
        block.line = buffer + 2 * plan.room
        make_block(plan, &block)
    free(buffer)
    return 0
