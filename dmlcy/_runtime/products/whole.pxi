# Products with an activation that makes each result of several: it begins when all sums are there.

cdef int64_t elements_of(const Tensor* tensor) noexcept nogil:
    return 0 if tensor == NULL else tensor.bytes // tensor.item


# A tensor as FLOAT32 in some memory, which then begins behind it. One of FLOAT32 stays where it is.
cdef void widen_tensor(Tensor* tensor, float** memory) noexcept nogil:
    cdef Tensor source = tensor[0]
    cdef int64_t n = source.sizes[source.rank - 1], row, rest
    cdef const char* at
    cdef int axis
    if source.item == sizeof(float):
        return
    tensor.dtype, tensor.item = FLOAT32, sizeof(float)
    make_dense(tensor, <char*>memory[0])
    tensor.prepared = source.prepared
    for row in range(elements_of(&source) // n):
        at, rest = source.data, row
        for axis in range(source.rank - 2, -1, -1):
            at += rest % source.sizes[axis] * source.strides[axis]
            rest //= source.sizes[axis]
        dmlcy_widen(at, source.strides[source.rank - 1], source.item, memory[0] + row * n, n)
    memory[0] += elements_of(&source)


cdef int run_whole(const Matrices* a) noexcept nogil:
    cdef Matrices work = a[0]
    cdef Tensor left = a.left[0], right = a.right[0], sums = a.output[0], added
    cdef int64_t floats = elements_of(a.output)
    cdef float* memory
    cdef float* rest
    cdef int status
    if a.output.item != sizeof(float):
        floats += elements_of(a.left) + elements_of(a.right) + elements_of(a.added)
    memory = rest = <float*>malloc(max(floats, <int64_t>1) * sizeof(float))
    if memory == NULL:
        return -1
    sums.dtype, sums.item = FLOAT32, sizeof(float)
    make_dense(&sums, <char*>memory)
    rest += elements_of(&sums)
    widen_tensor(&left, &rest)
    widen_tensor(&right, &rest)
    work.left, work.right, work.output, work.fused = &left, &right, &sums, NULL
    if a.added != NULL:
        added = a.added[0]
        widen_tensor(&added, &rest)
        work.added = &added
    status = run_matrices(&work)
    if status == 0:
        status = activate_whole(a.fused, &sums, a.output)
    free(memory)
    return status
