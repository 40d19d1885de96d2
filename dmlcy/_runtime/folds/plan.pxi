# How the elements of a tensor are folded: the order of axes, the loops, and the sizes of tiles.

# Whether the elements of the input along an axis are further apart. Axes of one element come first.
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


# Whether lines are folded as if each lay in a row, and which loops do this fastest. `along`: whether the elements of a
# line are next to each other in the order of axes. Where the order of elements counts, it follows from sizes alone.
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
        return UPRIGHT if in_rows and not in_columns and lines.count > 1 else ACROSS
    return TURNED if side_by_side else ALONG


cdef void choose(Plan* to, bint along) noexcept nogil:
    cdef const FoldKernel* kernel = to.kernel
    cdef Lines* lines = &to.lines
    cdef int level = dmlcy_level()
    to.order = order_of(kernel, lines, to.take.item, along)
    to.part = PART_ROWS if to.order == ACROSS or to.order == UPRIGHT else PART
    to.parts = ceil_div(lines.count, to.part)
    if to.order == ALONG or to.order == UPRIGHT:
        to.tile = kernel.along[level] if to.order == ALONG else kernel.upright[level]
        to.columns = min(max(TILE * 8 // lines.count, <int64_t>1), <int64_t>COLUMNS)
        to.blocks = ceil_div(lines.positions, to.columns)
        return
    to.tile = kernel.turned[level] if to.order == TURNED else kernel.across[level]
    if to.order == TURNED:
        to.columns = TURNED_COLUMNS
    elif to.take.same and lines.keep[lines.kept - 1].step[0] == to.take.item:
        to.columns = COLUMNS
    else:
        to.columns = TILE // DMLCY_FOLD_GROUP       # a group of rows is loaded at once
    to.blocks = ceil_div(lines.keep[lines.kept - 1].size, to.columns)


# The same with the kernel whose results are never doubtful, and are as large.
cdef void take_care(const Plan* to, Plan* careful) noexcept nogil:
    if careful != to:
        careful[0] = to[0]
    careful.kernel = careful.kernel.careful
    careful.tile = careful.kernel.along[dmlcy_level()] if to.order == ALONG else careful.kernel.across[dmlcy_level()]
