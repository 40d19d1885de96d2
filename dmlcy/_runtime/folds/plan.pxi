# How the elements of a tensor are folded: the order of axes, the loops, and the sizes of tiles.

# Whether the elements of the input along an axis are further apart. Those that are one element come first.
cdef inline bint is_longer(const Tensor* input, int axis, int than) noexcept nogil:
    cdef int64_t step = magnitude(input.strides[axis]), other = magnitude(input.strides[than])
    return other != 0 and (step == 0 or step > other)


# Puts the axes of a mask behind others, with the longest steps first if they may be sorted.
cdef int list_axes(const Tensor* input, unsigned mask, bint sorts, int* order, int count) noexcept nogil:
    cdef int first = count, d, at
    for d in range(input.rank):
        if mask >> d & 1:
            at = count
            while sorts and at > first and is_longer(input, d, order[at - 1]):
                order[at] = order[at - 1]
                at -= 1
            order[at] = d
            count += 1
    return count


# Brings the axes into another order: kept ones by their steps in the input, then folded ones, which are sorted, too, if
# their order makes no difference. Returns the mask of the folded ones then.
cdef unsigned sort_axes(Tensor* input, Tensor* output, unsigned folded, bint sorts) noexcept nogil:
    cdef int order[MAX_RANK]
    cdef Tensor first = input[0], second = output[0]
    cdef unsigned all_axes = (1u << input.rank) - 1
    cdef int kept = list_axes(&first, all_axes & ~folded, True, order, 0)
    cdef int d
    list_axes(&first, folded, sorts, order, kept)
    for d in range(input.rank):
        input.sizes[d] = first.sizes[order[d]]
        input.strides[d] = first.strides[order[d]]
        output.sizes[d] = second.sizes[order[d]]
        output.strides[d] = second.strides[order[d]]
    return all_axes & ~((1u << kept) - 1)


cdef bint follow(const Tensor* tensor) noexcept nogil:
    """Whether the elements follow one another in memory, in the order of the axes."""
    cdef int64_t step = tensor.item
    cdef int d
    for d in range(tensor.rank - 1, -1, -1):
        if tensor.sizes[d] != 1:
            if tensor.strides[d] != step:
                return False
            step *= tensor.sizes[d]
    return True


# Whether lines are folded as if each lay in a row, of which `along` says whether its elements are next to each other in
# the order of axes, and which loops do this fastest. Where the order of elements counts, it follows from sizes alone.
cdef Order order_of(const FoldKernel* kernel, const Lines* lines, int item, bint along) noexcept nogil:
    cdef const LineAxis* keep = &lines.keep[lines.kept - 1]
    cdef const LineAxis* fold_axis = &lines.fold[lines.folded - 1]
    cdef bint in_columns = keep.step[0] == item and keep.size > 1
    cdef bint in_rows = fold_axis.step[0] == item and fold_axis.size > 1
    cdef bint side_by_side = (lines.count <= SHORT and keep.size >= SHORT) or (in_columns and not in_rows)
    if kernel.turned[0] == NULL:
        if lines.count == 1 or side_by_side:
            return ACROSS
        if in_rows or magnitude(fold_axis.step[0]) <= magnitude(keep.step[0]):
            return ALONG
        return ACROSS
    if not along:
        return ACROSS
    return TURNED if side_by_side else ALONG


cdef void choose(Plan* to, bint along) noexcept nogil:
    cdef const FoldKernel* kernel = to.kernel
    cdef Lines* lines = &to.lines
    cdef int level = dmlcy_level()
    to.order = order_of(kernel, lines, to.take.item, along)
    to.part = PART_ROWS if to.order == ACROSS else PART
    to.parts = ceil_div(lines.count, to.part)
    if to.order == ALONG:
        to.tile = kernel.along[level]
        to.columns = min(max(TILE * 8 // lines.count, <int64_t>1), <int64_t>COLUMNS)
        to.blocks = ceil_div(lines.positions, to.columns)
        return
    to.tile = kernel.turned[level] if to.order == TURNED else kernel.across[level]
    to.columns = TURNED_COLUMNS if to.order == TURNED or kernel.item > 8 else COLUMNS
    to.blocks = ceil_div(lines.keep[lines.kept - 1].size, to.columns)


# The greatest element of each line where it is finite, else 0: what the steps of a kernel subtract.
cdef int find_tops(const Tensor* input, const Tensor* output, float* tops, int64_t count) noexcept nogil:
    cdef Tensor result = output[0]
    cdef int64_t i
    result.dtype = FLOAT32
    result.item = sizeof(float)
    make_dense(&result, <char*>tops)
    if run_extreme(input, &result, False):
        return -1
    for i in range(count):
        if not isfinite(tops[i]):
            tops[i] = 0
    return 0


cdef int fold_sorted(Plan* to, const Tensor* input) noexcept nogil:
    cdef Lines* lines = &to.lines
    cdef int64_t units = to.blocks, unit
    cdef int status
    if to.order != ALONG:
        units *= lines.positions // lines.keep[lines.kept - 1].size
    unit = to.columns * lines.count * to.take.item
    to.partial = NULL
    if input.bytes <= SERIAL_BYTES:
        return parallel_for(work, to, units, units)
    if units >= FEW_UNITS or to.parts == 1:
        return parallel_for(work, to, units, grain_of(unit))
    to.partial = <char*>malloc(to.parts * lines.positions * to.kernel.item)
    if to.partial == NULL:
        return -1
    status = parallel_for(work, to, units * to.parts, grain_of(unit // to.parts))
    if status == 0:
        status = parallel_for(join_parts, to, ceil_div(lines.positions, COLUMNS), grain_of(
            COLUMNS * to.parts * to.kernel.item))
    free(to.partial)
    return status


cdef int fold(const FoldKernel* kernel, const FoldArgs* args, const Tensor* input, const Tensor* output) noexcept nogil:
    cdef Tensor source = input[0], target = output[0], dense
    cdef const Tensor* tensors[1]
    cdef unsigned folded = folded_between(input, output)
    cdef char* room = NULL
    cdef float* tops = NULL
    cdef int64_t positions
    cdef bint along
    cdef Plan plan
    cdef Move move
    cdef int status = 0, d
    tensors[0] = &source
    join_lines(&plan.lines, tensors, 1, folded)
    along = plan.lines.along
    # Places are numbers in the order of the folded axes.
    folded = sort_axes(&source, &target, folded, kernel.turned[0] == NULL and kernel.item <= 8)
    join_lines(&plan.lines, tensors, 1, folded)
    positions = plan.lines.positions
    plan.kernel = kernel
    plan.args = args[0]
    plan.input = source.data
    take_as(&plan.take, &source, kernel.number, kernel.bits)
    plan.output = target.data
    plan.output_dtype = target.dtype
    plan.output_item = target.item
    choose(&plan, along)
    if not follow(&target):
        dense = target
        plan.output = room = <char*>malloc(positions * target.item)
        if room == NULL:
            return -1
        make_dense(&dense, room)
    if kernel.tops:
        tops = <float*>malloc(positions * sizeof(float))
        status = -1 if tops == NULL else find_tops(&source, &target, tops, positions)
        plan.args.tops = tops
    if status == 0:
        status = fold_sorted(&plan, input)
    if status == 0 and room != NULL:
        move.rank = target.rank
        move.item = target.item
        move.input = room
        move.output = target.data
        for d in range(target.rank):
            move.sizes[d] = target.sizes[d]
            move.input_strides[d] = dense.strides[d]
            move.output_strides[d] = target.strides[d]
        status = run_move(&move, positions * target.item)
    free(room)
    free(tops)
    return status
