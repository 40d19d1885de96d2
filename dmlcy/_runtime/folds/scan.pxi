# Running sums and products. A line is along one axis, which is the only folded one.

cdef struct ScanPlan:
    const ScanKernel* kernel
    int level
    bint exclusive
    Taken take
    const char* input
    char* output
    int output_dtype
    int output_item
    Lines lines                     # of the input and the output
    bint in_lines                   # lines are taken as they lie in memory; else columns, side by side
    int64_t columns                 # of a tile, or lines
    int64_t blocks                  # of columns

# The memory of a thread, beside the other room.
cdef struct ScanRoom:
    Room room
    char[TILE * 8 + ALIGNMENT] results
    char[3 * COLUMNS * 8 + ALIGNMENT] state
    char* outputs[ROWS]


cdef int scan_lines(const void* args, int64_t begin, int64_t end) noexcept nogil:
    cdef const ScanPlan* to = <const ScanPlan*>args
    cdef const LineAxis* axis = &to.lines.fold[0]
    cdef const char* inputs[ROWS]
    cdef char* outputs[ROWS]
    cdef int64_t position = begin * to.columns, last = min(end * to.columns, to.lines.positions)
    cdef int64_t n, i
    cdef Walk walk
    begin_walk(&walk, &to.lines, to.lines.keep, to.lines.kept, position)
    while position < last:
        n = min(last - position, <int64_t>ROWS)
        for i in range(n):
            inputs[i] = to.input + walk.offset[0]
            outputs[i] = to.output + walk.offset[1]
            next_walk(&walk)
        to.kernel.lines[to.level](
            <const char* const*>inputs, outputs, n, axis.size, axis.step[0], axis.step[1], to.exclusive)
        position += n
    return 0


# Stores rows of results in the output, one after the other along the axis.
cdef void store_rows(const ScanPlan* to, const char* results, char* target, int64_t rows, int64_t n,
                     ScanRoom* room) noexcept nogil:
    cdef int64_t item = to.output_item
    cdef int64_t pitch = to.lines.keep[to.lines.kept - 1].step[1], row_pitch = to.lines.fold[0].step[1]
    cdef Moves moves = moves_of(item)
    if to.output_dtype != to.take.number and not to.take.same:
        store_numbers(to.take.number, results, room.room.elements, rows * n, to.output_dtype)
        results = room.room.elements
    if pitch == item:
        moves.gather(results, n * item, item, target, row_pitch, rows, n)
    else:
        moves.copy_strided(results, n * item, item, target, row_pitch, pitch, rows, n)


cdef int scan_columns(const void* args, int64_t begin, int64_t end) noexcept nogil:
    cdef const ScanPlan* to = <const ScanPlan*>args
    cdef const LineAxis* last = &to.lines.keep[to.lines.kept - 1]
    cdef const LineAxis* axis = &to.lines.fold[0]
    cdef ScanRoom room
    cdef char* results = aligned(room.results)
    cdef void* state = aligned(room.state)
    cdef const char* source
    cdef char* target
    cdef int64_t unit, column, n, row, rows, most, i
    cdef bint direct, stored
    cdef Walk walk
    for unit in range(begin, end):
        column = unit % to.blocks * to.columns
        n = min(to.columns, last.size - column)
        begin_walk(&walk, &to.lines, to.lines.keep, to.lines.kept - 1, unit // to.blocks)
        source = to.input + walk.offset[0] + column * last.step[0]
        target = to.output + walk.offset[1] + column * last.step[1]
        direct = to.take.same and (last.step[0] == to.take.item or n == 1)
        stored = to.take.same and (last.step[1] == to.output_item or n == 1) and not to.kernel.apart
        most = ROWS
        if not (direct and stored):
            most = min(most, max(TILE // n, <int64_t>1))
            most = most & -4 if most >= 4 else most
        to.kernel.begin(state, n)
        row = 0
        while row < axis.size:
            rows = min(axis.size - row, most)
            for i in range(rows):
                room.room.rows[i] = source + (row + i) * axis.step[0]
                room.outputs[i] = target + (row + i) * axis.step[1]
                if not stored:
                    room.outputs[i] = results + i * n * item_of(to.take.number)
            if not direct:
                load_rows(&to.take, room.room.rows, rows, last.step[0], n, &room.room)
            to.kernel.columns[to.level](
                <const void* const*>room.room.rows, <void* const*>room.outputs, rows, n, to.exclusive, state)
            if not stored:
                store_rows(to, results, target + row * axis.step[1], rows, n, &room)
            row += rows
    return 0


cdef int run_scan(
        const Tensor* input, const Tensor* output, int64_t axis, bint product, bint decreasing,
        bint exclusive) noexcept nogil:
    cdef Tensor source = input[0], target = output[0]
    cdef const Tensor* tensors[2]
    cdef const LineAxis* keep
    cdef const LineAxis* fold_axis
    cdef ScanPlan plan
    cdef unsigned folded = 1u << axis
    cdef int64_t units
    cdef int kind = 2 if input.item == 8 else 1
    if input.dtype == FLOAT32 or input.dtype == FLOAT16:
        kind = 0
    tensors[0] = &source
    tensors[1] = &target
    if decreasing:
        turn_axis(&source, axis)
        turn_axis(&target, axis)
    folded = sort_axes(&source, &target, folded, False)
    join_lines(&plan.lines, tensors, 2, folded)
    keep = &plan.lines.keep[plan.lines.kept - 1]
    fold_axis = &plan.lines.fold[0]
    plan.kernel = &dmlcy_scans[1 if product else 0][kind]
    plan.level = dmlcy_level()
    plan.exclusive = exclusive
    plan.input = source.data
    plan.output = target.data
    plan.output_dtype = target.dtype
    plan.output_item = target.item
    take_as(&plan.take, &source, plan.kernel.number, plan.kernel.bits)
    plan.in_lines = plan.take.same and (
        keep.size < 8 or magnitude(fold_axis.step[0]) < magnitude(keep.step[0]))
    if plan.in_lines:
        plan.columns = min(max(TILE // plan.lines.count & -4, <int64_t>4), <int64_t>ROWS)
        units = ceil_div(plan.lines.positions, plan.columns)
    else:
        plan.columns = min(keep.size, <int64_t>COLUMNS if keep.step[0] == source.item else <int64_t>TURNED_COLUMNS)
        plan.blocks = ceil_div(keep.size, plan.columns)
        units = plan.lines.positions // keep.size * plan.blocks
    return parallel_for(
        scan_lines if plan.in_lines else scan_columns, &plan, units,
        units if input.bytes <= SERIAL_BYTES else grain_of(plan.columns * plan.lines.count * source.item))


# The same elements in the other direction.
cdef inline void turn_axis(Tensor* tensor, int64_t axis) noexcept nogil:
    tensor.data += (tensor.sizes[axis] - 1) * tensor.strides[axis]
    tensor.strides[axis] = -tensor.strides[axis]
