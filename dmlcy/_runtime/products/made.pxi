# Products whose right matrix has no elements in memory: for some columns of the output at a time, a prologue makes
# those of the matrix, and the loops take them.

cdef struct MadeColumns:
    const Matrices* to
    int64_t columns                 # made at once; the last ones take what is left
    int64_t depth
    bint one_row                    # for which the prologue may have products of its own


# Whether one row is multiplied, and the sums are the elements of the output.
cdef bint is_one_row(const Matrices* to) noexcept nogil:
    cdef const Tensor* output = to.output
    cdef Products work
    cdef int axis
    collect_matrices(to, &work)
    choose_sums(&work)
    for axis in range(output.rank - 1):
        if output.sizes[axis] != 1:
            return False
    return to.right_transposed and work.straight and work.chains == 1 and work.a_step == work.item


cdef int compute_made(const void* args, int64_t begin, int64_t end) noexcept nogil:
    cdef const MadeColumns* made = <const MadeColumns*>args
    cdef const Matrices* to = made.to
    cdef const Prologue* before = <const Prologue*>to.right.prepared
    cdef Matrices part = to[0]
    cdef Tensor right = to.right[0], output = to.output[0], added
    cdef int row = output.rank - 2, column = output.rank - 1
    cdef Products work
    cdef int64_t total = output.sizes[column], blocks = max(total // made.columns, <int64_t>1), number, first, n
    cdef int64_t floats = (total - (blocks - 1) * made.columns) * made.depth
    cdef float* memory = <float*>malloc(max(floats, <int64_t>1) * sizeof(float))
    cdef const ProductLevel* level = dmlcy_product_levels[dmlcy_level()]
    cdef int64_t done
    cdef int status = 0, axis
    if memory == NULL:
        return -1
    part.right, part.output = &right, &output
    if to.added != NULL:
        added = to.added[0]
        part.added = &added
    right.data, right.prepared, output.prepared = <char*>memory, NULL, NULL
    for axis in range(row):
        right.strides[axis] = 0
    for number in range(begin, end):
        first = number * made.columns
        n = made.columns if number + 1 < blocks else total - first
        if made.one_row:
            done = before.multiply(before.context, <const float*>to.left.data, made.depth, first, n,
                                   <float*>to.output.data + first)
            if done < 0:
                status = -1
                break
            if level.are_finite(<const float*>to.output.data + first, 0, 1, done):
                first += done
                n -= done
            if n == 0:
                continue
        output.data = to.output.data + first * output.strides[column]
        output.sizes[column] = n
        if to.added != NULL:
            added.data = to.added.data + first * added.strides[column]
            added.sizes[column] = n
        right.strides[column] = sizeof(float)
        if to.right_transposed:
            right.sizes[row] = n
            right.strides[row] = made.depth * <int64_t>sizeof(float)
            status = before.make(before.context, first, n, 0, made.depth, memory)
        else:
            right.sizes[column] = n
            right.strides[row] = n * <int64_t>sizeof(float)
            status = before.make(before.context, 0, made.depth, first, n, memory)
        collect_matrices(&part, &work)
        work.elements = output.sizes[row] * total       # each sum is that of the whole
        take_stores(&work, &output, work.y_step)
        if status or run_products(&work):
            status = -1
            break
    free(memory)
    return status


# The right matrix is one for all batches.
cdef int run_made(const Matrices* to) noexcept nogil:
    cdef MadeColumns made
    cdef int row = to.output.rank - 2, column = to.output.rank - 1
    cdef int64_t rows = to.output.sizes[row]
    made.to = to
    made.one_row = is_one_row(to)
    made.depth = to.right.sizes[column if to.right_transposed else row]
    made.columns = max(MADE // max(made.depth, <int64_t>1) // LINE * LINE, <int64_t>MANY_MADE)
    made.columns = FEW_MADE if rows < MADE_ROWS else min(made.columns, <int64_t>MOST_MADE)
    return parallel_for(compute_made, &made, max(to.output.sizes[column] // made.columns, <int64_t>1),
                        grain_of(made.columns * made.depth * (rows + 8) // 4))
