# Where the elements of the tensors are, for an item of the batch, a head and a query or a key.

cdef inline bint is_there(const Tensor* tensor) noexcept nogil:
    return tensor != NULL and tensor.dtype != 0


cdef inline Rows nowhere() noexcept nogil:
    return Rows(data=NULL, item=0, head=0, row=0, element=0)


# Rows of several heads one behind another.
cdef inline Rows side_by_side(const Tensor* tensor, int64_t size) noexcept nogil:
    cdef int last = tensor.rank - 1
    return Rows(data=tensor.data, item=tensor.strides[last - 2], head=size * tensor.strides[last],
                row=tensor.strides[last - 1], element=tensor.strides[last])


# Rows of one part of a stacked tensor.
cdef inline Rows part_of(const Tensor* tensor, int part) noexcept nogil:
    return Rows(data=tensor.data + part * tensor.strides[3], item=tensor.strides[0], head=tensor.strides[2],
                row=tensor.strides[1], element=tensor.strides[4])


# Rows of a tensor with an axis of heads.
cdef inline Rows by_heads(const Tensor* tensor) noexcept nogil:
    cdef int last
    if not is_there(tensor):
        return nowhere()
    last = tensor.rank - 1
    return Rows(data=tensor.data, item=tensor.strides[last - 3], head=tensor.strides[last - 2],
                row=tensor.strides[last - 1], element=tensor.strides[last])


# The step along an axis, counted from the last one; 0 where there is no such axis, or one element of it for all.
cdef inline int64_t step_of(const Tensor* tensor, int axis) noexcept nogil:
    cdef int place = tensor.rank - 1 - axis
    if place < 0 or tensor.sizes[place] == 1:
        return 0
    return tensor.strides[place]


# Rows of a tensor of which any of the four axes may be of size 1, or the first ones left out.
cdef inline Rows repeated(const Tensor* tensor) noexcept nogil:
    return Rows(data=tensor.data, item=step_of(tensor, 3), head=step_of(tensor, 2), row=step_of(tensor, 1),
                element=step_of(tensor, 0))


cdef inline const char* at(const Rows* rows, int64_t item, int64_t head, int64_t row) noexcept nogil:
    return rows.data + item * rows.item + head * rows.head + row * rows.row


# Where the keys or values are of which one has this number among all: those of earlier runs come first.
cdef inline const Rows* rows_of(const Heads* to, int role, bint before) noexcept nogil:
    if before:
        return &to.before[role]
    return &to.own[role]


# The element of a number, in the order of the axes.
cdef const char* element_at(const Tensor* tensor, int64_t number) noexcept nogil:
    cdef const char* found = tensor.data
    cdef int axis
    for axis in range(tensor.rank - 1, -1, -1):
        found += number % tensor.sizes[axis] * tensor.strides[axis]
        number //= tensor.sizes[axis]
    return found


cdef inline float float_at(const char* source, int64_t bytes) noexcept nogil:
    return dmlcy_float_of_half((<const uint16_t*>source)[0]) if bytes == 2 else (<const float*>source)[0]


# Elements as floats, one after another.
cdef inline void widen(const char* source, int64_t step, int64_t bytes, float* to, int64_t n) noexcept nogil:
    cdef int64_t i
    if bytes == 2:
        dmlcy_half_to_float(<const uint16_t*>source, step, to, n)
    elif step == sizeof(float):
        memcpy(to, source, n * sizeof(float))
    else:
        for i in range(n):
            to[i] = (<const float*>(source + i * step))[0]


cdef inline void narrow(const float* source, char* to, int64_t step, int64_t bytes, int64_t n) noexcept nogil:
    cdef int64_t i
    if bytes == 2:
        dmlcy_float_to_half(source, <uint16_t*>to, step, n)
    elif step == sizeof(float):
        memcpy(to, source, n * sizeof(float))
    else:
        for i in range(n):
            (<float*>(to + i * step))[0] = source[i]


# How many earlier keys an item has.
cdef inline int64_t earlier_of(const Heads* to, int64_t item) noexcept nogil:
    cdef const Tensor* lengths = to.a.lengths
    cdef const char* found
    cdef int64_t number
    if not is_there(lengths):
        return to.past
    found = element_at(lengths, item)
    if lengths.dtype == INT32:
        number = (<const int32_t*>found)[0]
    else:
        number = <int64_t>float_at(found, lengths.item)
    return min(max(number, <int64_t>0), to.past)    # the caller may have changed it since it was checked


# The first key of an item that is not masked, and the first behind these.
cdef inline void find_masks(const Heads* to, int64_t item, int64_t* start, int64_t* end) noexcept nogil:
    end[0] = (<const int32_t*>element_at(to.a.mask, item))[0]
    start[0] = 0
    if to.a.masks == MASKS_STARTS:
        start[0] = (<const int32_t*>element_at(to.a.mask, to.a.batch + item))[0]


# The element of the mask for a key; NULL: the mask does not have it.
cdef inline const int32_t* mask_at(const Heads* to, const char* row, int64_t keys, int64_t key) noexcept nogil:
    if to.mask_width > 1 and to.mask_width < keys:
        key -= keys - to.mask_width
    return <const int32_t*>(row + key * to.mask.element) if key >= 0 else NULL


# The addend of the scores of some keys where they are masked, or 0.
cdef void list_masks(const Heads* to, const Block* block, int64_t row, int64_t first, int64_t n) noexcept nogil:
    cdef const char* line
    cdef const int32_t* mask
    cdef int64_t start, end, i, none = 0
    cdef float masked = to.a.masked
    if to.a.masks != MASKS_EACH:
        find_masks(to, block.item, &start, &end)
        for i in range(n):
            block.masks[i] = 0 if start <= first + i < end else masked
        return
    line = at(&to.mask, block.item, block.head, block.first + row)
    while none < n and mask_at(to, line, block.keys, first + none) == NULL:
        block.masks[none] = 0
        none += 1
    if none < n and to.mask.element == sizeof(int32_t):
        to.level.choose(mask_at(to, line, block.keys, first + none), masked, block.masks + none, n - none)
        return
    for i in range(none, n):
        mask = mask_at(to, line, block.keys, first + i)
        block.masks[i] = masked if mask[0] == 0 else 0


# The addends of the products of a query and some keys.
cdef const float* list_added(const Heads* to, const Block* block, int64_t row, int64_t first, int64_t n) noexcept nogil:
    cdef const char* line = at(&to.added, block.item, block.head, block.first + row) + first * to.added.element
    cdef float number
    cdef int64_t i
    if to.added.element == 0:
        number = float_at(line, to.bytes)
        for i in range(n):
            block.added[i] = number
        return block.added
    if to.added.element == sizeof(float) and to.bytes == sizeof(float):
        return <const float*>line
    widen(line, to.added.element, to.bytes, block.added, n)
    return block.added
