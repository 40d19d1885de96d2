# Elements of tensors as floats.

cdef inline float element_of(const char* source, int item) noexcept nogil:
    if item == sizeof(float):
        return (<const float*>source)[0]
    return dmlcy_float_of_half((<const uint16_t*>source)[0])


cdef inline void load(const char* source, int64_t step, int item, float* to, int64_t n) noexcept nogil:
    cdef int64_t i
    if item != sizeof(float):
        dmlcy_half_to_float(<const uint16_t*>source, step, to, n)
    elif step == sizeof(float):
        memcpy(to, source, n * sizeof(float))
    else:
        for i in range(n):
            to[i] = (<const float*>(source + i * step))[0]


cdef inline void store(const float* source, char* to, int64_t step, int item, int64_t n) noexcept nogil:
    cdef int64_t i
    if item != sizeof(float):
        dmlcy_float_to_half(source, <uint16_t*>to, step, n)
    elif step == sizeof(float):
        memcpy(to, source, n * sizeof(float))
    else:
        for i in range(n):
            (<float*>(to + i * step))[0] = source[i]


cdef inline void store_zeros(char* to, int64_t step, int item, int64_t n) noexcept nogil:
    cdef int64_t i
    for i in range(n):
        memset(to + i * step, 0, item)


# A row of a tensor of four axes: the elements along the last one, from `first` on.
cdef inline char* row_at(const Tensor* tensor, int64_t at, int64_t direction, int64_t row,
                         int64_t first) noexcept nogil:
    return tensor.data + at * tensor.strides[0] + direction * tensor.strides[1] + row * tensor.strides[2] + (
        first * tensor.strides[3])


cdef inline void load_row(const Tensor* tensor, int64_t at, int64_t direction, int64_t row, int64_t first, float* to,
                          int64_t n) noexcept nogil:
    load(row_at(tensor, at, direction, row, first), tensor.strides[3], tensor.item, to, n)


cdef inline void store_row(const Tensor* tensor, int64_t at, int64_t direction, int64_t row, int64_t first,
                           const float* numbers, int64_t n) noexcept nogil:
    store(numbers, row_at(tensor, at, direction, row, first), tensor.strides[3], tensor.item, n)


# The steps of a sequence.
cdef inline int64_t length_of(const Layer* to, int64_t sequence) noexcept nogil:
    cdef const Tensor* lengths = to.a.lengths
    if lengths == NULL:
        return to.steps
    return (<const uint32_t*>row_at(lengths, 0, 0, 0, sequence))[0]
