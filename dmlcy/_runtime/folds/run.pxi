# Folding a tensor: whether threads share lines, and what is made for the time of a call.

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
    if to.order == ACROSS or to.order == TURNED:
        units *= lines.positions // lines.keep[lines.kept - 1].size
    unit = to.columns * lines.count * to.take.item
    to.partial = NULL
    if input.bytes <= SERIAL_BYTES:
        return parallel_for(work, to, units, units)
    if units >= FEW_UNITS or to.parts == 1:
        return parallel_for(work, to, units, grain_of(unit))
    if to.kernel.careful != NULL:
        take_care(to, to)
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
