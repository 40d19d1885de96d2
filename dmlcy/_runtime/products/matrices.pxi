# Products of matrices: the last two axes; each of the others counts pairs of matrices.

cdef int run_matrices(const Matrices* a) noexcept nogil:
    cdef Products to
    cdef const Tensor* output = a.output
    cdef int row = output.rank - 2, column = output.rank - 1, axis
    to.image = NULL
    to.biased = False
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
    return run_products(&to)
