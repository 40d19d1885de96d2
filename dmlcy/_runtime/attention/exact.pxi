# One query in double, for results that are infinite or NaN otherwise, or that infinite values or NaN take part in.

# An element of a query, with what is added to it.
cdef inline double query_at(const Heads* to, const char* row, int64_t head, int64_t i) noexcept nogil:
    cdef double found = float_at(row + i * to.query.element, to.bytes)
    return found if to.biases == NULL else found + to.biases[head * to.size[KEY] + i]


# Where a key or a value is, and what is added to it: NULL where nothing is.
cdef inline const char* row_of(const Heads* to, int role, const Block* block, int64_t key, int64_t* step,
                               const float** bias) noexcept nogil:
    cdef int64_t head = block.head // to.shared
    cdef const Rows* rows = rows_of(to, role, key < block.earlier)
    step[0] = rows.element
    bias[0] = NULL
    if key >= block.earlier and to.biases != NULL:
        bias[0] = to.bias[role] + head * to.size[role]
    return at(rows, block.item, head, key if key < block.earlier else key - block.earlier)


cdef double exact_score(const Heads* to, const Block* block, int64_t row, int64_t key) noexcept nogil:
    cdef const char* query = at(&to.query, block.item, block.head, block.first + row)
    cdef const char* source
    cdef const float* bias
    cdef int64_t i, step, start, end
    cdef const int32_t* mask
    cdef double total = 0, number
    cdef bint masked = False
    source = row_of(to, KEY, block, key, &step, &bias)
    for i in range(to.size[KEY]):
        number = float_at(source + i * step, to.bytes)
        if bias != NULL:
            number += bias[i]
        total += query_at(to, query, block.head, i) * number
    total *= to.a.scale
    if to.added.data != NULL:
        total += float_at(at(&to.added, block.item, block.head, block.first + row) + key * to.added.element, to.bytes)
    if to.a.masks == MASKS_EACH:
        mask = mask_at(to, at(&to.mask, block.item, block.head, block.first + row), block.keys, key)
        masked = mask != NULL and mask[0] == 0
    elif to.a.masks != MASKS_NONE:
        find_masks(to, block.item, &start, &end)
        masked = not start <= key < end
    return total + to.a.masked if masked else total


# The results of a row of the block.
cdef void compute_exact(const Heads* to, const Block* block, int64_t row, int64_t keys, float* results) noexcept nogil:
    cdef int64_t size = to.size[VALUE], key, step, i
    cdef double greatest = 0, score, weight, total = 0, number
    cdef const float* bias
    cdef const char* source
    for key in range(keys):
        score = exact_score(to, block, row, key)
        if key == 0 or score > greatest or score != score:
            greatest = score
        if score != score:
            break
    for i in range(size):
        block.exact[i] = 0
    for key in range(keys):
        weight = exp(exact_score(to, block, row, key) - greatest)
        if weight == 0:
            continue
        total += weight
        if weight != weight:
            break
        source = row_of(to, VALUE, block, key, &step, &bias)
        for i in range(size):
            number = float_at(source + i * step, to.bytes)
            if bias != NULL:
                number += bias[i]
            block.exact[i] += weight * number
    for i in range(size):
        results[i] = <float>(block.exact[i] / total)
