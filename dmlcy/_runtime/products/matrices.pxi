# Products of matrices: the last two axes; each of the others counts pairs of matrices.

cdef void collect_matrices(const Matrices* a, Products* to) noexcept nogil:
    cdef const Tensor* output = a.output
    cdef int row = output.rank - 2, column = output.rank - 1, axis
    to.image = NULL
    to.biased = to.by_column = to.across = False
    to.floats = NULL
    to.item = output.item
    to.rows = output.sizes[row]
    to.columns = output.sizes[column]
    to.elements = to.rows * to.columns
    to.depth = a.left.sizes[row if a.left_transposed else column]
    to.a = a.left.data
    to.a_line = a.left.strides[column if a.left_transposed else row]
    to.a_step = a.left.strides[row if a.left_transposed else column]
    to.b = a.right.data
    to.b_line = a.right.strides[row if a.right_transposed else column]
    to.b_step = a.right.strides[column if a.right_transposed else row]
    to.c = NULL
    to.c_line = to.c_step = 0
    if a.added != NULL:
        to.c = a.added.data
        to.c_line = a.added.strides[row]
        to.c_step = a.added.strides[column]
    to.alpha = a.alpha
    to.beta = a.beta
    to.fused = a.fused
    to.followed = NULL
    to.y = output.data
    to.y_line = output.strides[row]
    to.y_step = output.strides[column]
    to.batch_axes = row
    for axis in range(row):
        to.batch[axis] = output.sizes[axis]
        to.a_batch[axis] = a.left.strides[axis]
        to.b_batch[axis] = a.right.strides[axis]
        to.c_batch[axis] = 0 if a.added == NULL else a.added.strides[axis]
        to.y_batch[axis] = output.strides[axis]
    to.packed = <const char*>a.right.prepared
    if to.packed != NULL:
        place_packed(to)


# Lets each right matrix have packed columns of its own. Returns the bytes of all.
cdef int64_t place_packed(Products* to) noexcept nogil:
    cdef int64_t step = ceil_div(packed_floats(to.columns, to.depth), LINE) * LINE * to.item
    cdef int axis
    for axis in range(to.batch_axes - 1, -1, -1):
        to.packed_batch[axis] = 0
        if to.batch[axis] > 1 and to.b_batch[axis] != 0:
            to.packed_batch[axis] = step
            step *= to.batch[axis]
    return step


cdef int run_matrices(const Matrices* a) noexcept nogil:
    cdef Products to
    if a.fused != NULL and a.fused.whole != NULL:
        return run_whole(a)
    if a.right.data == NULL:
        return run_made(a)
    collect_matrices(a, &to)
    to.followed = a.output
    take_stores(&to, a.output, to.y_step)
    return run_products(&to)


# Packs the right matrices, if memory is given: each element as it is, in place of the matrices. Returns the bytes;
# without memory, below 0.
cdef int64_t pack_right(const Matrices* a, void* packed) noexcept nogil:
    cdef Products to, columns
    cdef int64_t number, rest, matrices = 1, bytes
    cdef const char* b
    cdef char* target
    cdef int axis
    collect_matrices(a, &to)
    choose_sums(&to)
    if to.chains > 1 or to.depth == 0 or are_tiny(&to):
        return 0
    if to.fused != NULL and to.fused.whole != NULL and to.item != sizeof(float):
        return 0    # it is widened as a whole
    bytes = place_packed(&to)
    if packed == NULL:
        return -bytes
    columns = describe_columns(to.b_line, to.b_step, to.item, to.columns, to.depth)
    for axis in range(to.batch_axes):
        matrices *= to.batch[axis] if to.packed_batch[axis] else 1
    for number in range(matrices):
        b = to.b
        target = <char*>packed
        rest = number
        for axis in range(to.batch_axes - 1, -1, -1):
            if to.packed_batch[axis]:
                b += rest % to.batch[axis] * to.b_batch[axis]
                target += rest % to.batch[axis] * to.packed_batch[axis]
                rest //= to.batch[axis]
        pack_rows(&columns, b, target, to.item)
    return bytes
