# Numbers that are made of sums over neighbors. A block is all elements along the axes with neighbors: one axis, and
# some positions of the others beside each other, or two axes.

cdef enum:
    # the most elements of a block: all elements of an axis with neighbors, at some positions
    BLOCK = 8192
    NARROW = 16                     # the fewest positions of a block, even if the axis with neighbors is long

cdef struct Near:
    const NearKernel* kernel
    const Norm* a
    NearLoop loop
    Lines lines
    int64_t extents[2]              # neighbors along rows, of which each is a row, and along a row
    int64_t rows
    int64_t row_step[TENSORS]
    int64_t wide                    # of two axes, elements of a row; 0: rows have some positions
    int64_t step[TENSORS]
    int64_t width                   # elements of a row of a block
    int64_t tiles
    int64_t items                   # of a block, with room behind them
    int64_t bytes


# Adds up neighbors along all axes. `mirrored`: what each element gives to its neighbors.
cdef inline double* add_up(
        const Near* to, double* source, double* other, double* room, int64_t n, bint mirrored) noexcept nogil:
    cdef int64_t after = to.extents[1] // 2
    cdef int64_t before = (to.extents[1] - 1) // 2
    cdef double* found = source
    if to.extents[1] > 1:
        dmlcy_sum_along(source, other, room, to.rows, n, after if mirrored else before, before if mirrored else after)
        found, other = other, found
    after = to.extents[0] // 2
    before = (to.extents[0] - 1) // 2
    if to.extents[0] > 1:
        dmlcy_sum_rows(found, other, room, to.rows, n, after if mirrored else before, before if mirrored else after)
        found = other
    return found


# Copies a block of a tensor to packed elements, or back.
cdef inline int move_block(
        const Near* to, int t, char* data, char* items, int64_t n, bint back) noexcept nogil:
    cdef Move move
    move.rank = 2
    move.item = to.a.tensors[t].item
    move.sizes[0] = to.rows
    move.sizes[1] = n
    if back:
        move.input = items
        move.output = data
    else:
        move.input = data
        move.output = items
    move.input_strides[0] = n * move.item if back else to.row_step[t]
    move.input_strides[1] = move.item if back else to.step[t]
    move.output_strides[0] = to.row_step[t] if back else n * move.item
    move.output_strides[1] = to.step[t] if back else move.item
    return run_move(&move, to.rows * n * move.item)


cdef inline int take_block(
        const Near* to, int t, char* data, float* target, char* items, int64_t n) noexcept nogil:
    if to.a.tensors[t].dtype == FLOAT32:
        return move_block(to, t, data, <char*>target, n, False)
    if move_block(to, t, data, items, n, False) != 0:
        return -1
    dmlcy_half_to_float(<const uint16_t*>items, sizeof(uint16_t), target, to.rows * n)
    return 0


cdef int do_block(const Near* to, char* memory, char** data, int64_t n) noexcept nogil:
    cdef int64_t count = to.rows * n
    cdef int last = to.a.inputs
    cdef double* numbers[5]
    cdef NearRows rows
    cdef int t
    for t in range(5):
        numbers[t] = <double*>(memory + t * to.items * <int64_t>sizeof(double))
    memory += 5 * to.items * <int64_t>sizeof(double)
    rows.x[0] = <float*>memory
    rows.x[1] = rows.x[0] if last == 1 else rows.x[0] + to.items
    rows.results = <float*>memory + 2 * to.items
    memory += 3 * to.items * <int64_t>sizeof(float)
    rows.n = count
    rows.attributes = to.a.attributes
    rows.terms = numbers[0]
    rows.around = rows.from_ = numbers[0]
    for t in range(last):
        if take_block(to, t, data[t], <float*>rows.x[t], memory, n) != 0:
            return -1
        memset(<float*>rows.x[t] + count, 0, DMLCY_NORM_LANES * sizeof(float))
    to.loop(&rows, 0)
    rows.around = add_up(to, numbers[0], numbers[1], numbers[3], n, False)
    memset(<double*>rows.around + count, 0, DMLCY_NORM_LANES * sizeof(double))
    if to.kernel.from_:
        rows.terms = numbers[1] if rows.around == numbers[0] else numbers[0]
        rows.from_ = rows.terms
        to.loop(&rows, 1)
        rows.from_ = add_up(to, rows.terms, numbers[2], numbers[3], n, True)
    to.loop(&rows, 2)
    if to.a.tensors[last].dtype == FLOAT32:
        return move_block(to, last, data[last], <char*>rows.results, n, True)
    store_numbers(FLOAT32, rows.results, memory, count, to.a.tensors[last].dtype)
    return move_block(to, last, data[last], memory, n, True)


cdef int run_blocks_of(const void* args, int64_t begin, int64_t end) noexcept nogil:
    cdef const Near* to = <const Near*>args
    cdef const LineAxis* inner = &to.lines.keep[to.lines.kept - 1]
    cdef int kept = to.lines.kept if to.wide else to.lines.kept - 1
    cdef char* data[TENSORS]
    cdef int64_t unit, first, n
    cdef int status = 0
    cdef int t
    cdef Walk walk
    cdef char* memory = <char*>malloc(to.bytes)
    if memory == NULL:
        return -1
    for unit in range(begin, end):
        begin_walk(&walk, &to.lines, to.lines.keep, kept, unit // to.tiles)
        first = unit % to.tiles * to.width
        n = to.wide if to.wide else min(inner.size - first, to.width)
        for t in range(to.a.inputs + 1):
            data[t] = to.a.tensors[t].data + walk.offset[t] + (0 if to.wide else first * inner.step[t])
        status = do_block(to, memory, data, n)
        if status != 0:
            break
    free(memory)
    return status


cdef int run_near(const NearKernel* kernel, const Norm* a, const int64_t* extents) noexcept nogil:
    cdef const Tensor* first = a.tensors[0]
    cdef int tensors = a.inputs + 1
    cdef int count = 0
    cdef unsigned folded = 0
    cdef int64_t units, element = 0
    cdef int d, t
    cdef Near to
    to.kernel = kernel
    to.a = a
    to.loop = kernel.levels[dmlcy_level()]
    to.extents[0] = to.extents[1] = 1
    to.rows = 1
    to.wide = 0
    for t in range(tensors):
        to.row_step[t] = 0
        element += a.tensors[t].item
    for d in range(first.rank):
        if extents[d] == 1 or first.sizes[d] == 1:
            continue
        folded |= 1u << d
        to.extents[count] = extents[d]
        for t in range(tensors):
            if count:
                to.step[t] = a.tensors[t].strides[d]
            else:
                to.row_step[t] = a.tensors[t].strides[d]
        if count:
            to.wide = first.sizes[d]
        else:
            to.rows = first.sizes[d]
        count += 1
    join_lines(&to.lines, a.tensors, tensors, folded)
    to.tiles = 1
    to.width = to.wide
    units = to.lines.positions
    if not to.wide:
        for t in range(tensors):
            to.step[t] = to.lines.keep[to.lines.kept - 1].step[t]
        to.width = min(to.lines.keep[to.lines.kept - 1].size, max(BLOCK // to.rows, <int64_t>NARROW))
        to.tiles = ceil_div(to.lines.keep[to.lines.kept - 1].size, to.width)
        units = units // to.lines.keep[to.lines.kept - 1].size * to.tiles
    to.items = to.rows * to.width + DMLCY_NORM_LANES
    to.bytes = to.items * (5 * <int64_t>sizeof(double) + 4 * <int64_t>sizeof(float))
    return parallel_for(run_blocks_of, &to, units, grain_of(8 * element * to.rows * to.width))
