# Everything: keys and values of some heads are packed, then the queries of these heads follow.

# Where everything is.
cdef void find_all(Heads* to) noexcept nogil:
    cdef const Attention* a = to.a
    cdef int64_t size = a.head_size
    to.size[KEY] = size
    to.size[VALUE] = a.value_size
    if is_there(a.query):
        to.query = side_by_side(a.query, size)
    else:
        to.query = part_of(a.query_key if is_there(a.query_key) else a.query_key_value, 0)
    if is_there(a.key):
        to.own[KEY] = side_by_side(a.key, size)
    elif is_there(a.key_value):
        to.own[KEY] = part_of(a.key_value, 0)
    else:
        to.own[KEY] = part_of(a.query_key if is_there(a.query_key) else a.query_key_value, 1)
    if is_there(a.value):
        to.own[VALUE] = side_by_side(a.value, a.value_size)
    elif is_there(a.key_value):
        to.own[VALUE] = part_of(a.key_value, 1)
    else:
        to.own[VALUE] = part_of(a.query_key_value, 2)
    to.before[KEY] = by_heads(a.past_key)
    to.before[VALUE] = by_heads(a.past_value)
    to.present[KEY] = by_heads(a.present_key)
    to.present[VALUE] = by_heads(a.present_value)
    to.output = side_by_side(a.output, a.value_size)
    to.added = nowhere()
    if is_there(a.added):
        to.added = repeated(a.added)
    to.mask = nowhere()
    to.mask_width = 0
    if a.masks == MASKS_EACH:
        to.mask = repeated(a.mask)
        to.mask_width = a.mask.sizes[a.mask.rank - 1]
    to.past = a.past_key.sizes[a.past_key.rank - 2] if is_there(a.past_key) else 0
    to.total = to.past + a.key_sequence
    to.room = 0
    if is_there(a.present_key):
        to.room = a.present_key.sizes[a.present_key.rank - 2]
    elif is_there(a.present_value):
        to.room = a.present_value.sizes[a.present_value.rank - 2]


# The elements of the bias as floats. -1: memory ran out.
cdef int take_biases(Heads* to) noexcept nogil:
    cdef const Tensor* bias = to.a.bias
    cdef int64_t n
    to.biases = NULL
    if not is_there(bias):
        return 0
    n = bias.sizes[bias.rank - 1]
    to.biases = <float*>malloc(n * sizeof(float))
    if to.biases == NULL:
        return -1
    widen(bias.data, bias.strides[bias.rank - 1], to.bytes, to.biases, n)
    to.bias[KEY] = to.biases + to.a.query_heads * to.size[KEY]
    to.bias[VALUE] = to.bias[KEY] + to.a.key_heads * to.size[KEY]
    return 0


# Memory for the packed keys and values of some units. NULL: it ran out.
cdef char* take_memory(Heads* to, int64_t units) noexcept nogil:
    cdef int64_t blocks = units * to.blocks, floats = blocks * (to.floats[KEY] + to.floats[VALUE])
    cdef char* memory = <char*>malloc((floats + LINE) * sizeof(float) + blocks * (to.wide + 1))
    if memory == NULL:
        return NULL
    to.packed = <float*>(memory + (-<uintptr_t>memory & (LINE * sizeof(float) - 1)))
    to.special = <uint8_t*>(to.packed + floats)
    return memory


# Some units, each by itself: what is packed stays near. -1: memory ran out.
cdef int compute_units(const void* args, int64_t begin, int64_t end) noexcept nogil:
    cdef Heads to = (<const Heads*>args)[0]
    cdef char* memory = take_memory(&to, 1)
    cdef int status = 0 if memory != NULL else -1
    cdef int64_t unit
    for unit in range(begin, end):
        to.unit = unit
        if status == 0:
            status = pack_blocks(&to, 0, to.blocks)
        if status == 0:
            status = compute_blocks(&to, 0, to.shared * to.row_blocks)
    free(memory)
    return status


# Threads share the blocks of some units. -1: memory ran out.
cdef int share_blocks(Heads* to, int64_t units, int64_t work) noexcept nogil:
    cdef int64_t size = to.size[KEY] + to.size[VALUE], unit = 0, n
    cdef int64_t some = min(max(PACKED // (to.blocks * (to.floats[KEY] + to.floats[VALUE])), <int64_t>1), units)
    cdef char* memory = take_memory(to, some)
    cdef int status = 0 if memory != NULL else -1
    while status == 0 and unit < units:
        to.unit = unit
        n = min(some, units - unit)
        status = parallel_for(pack_blocks, to, n * to.blocks, grain_of(to.wide * size * <int64_t>sizeof(float)))
        if status == 0:
            status = parallel_for(compute_blocks, to, n * to.shared * to.row_blocks, max(WORK // work, 1))
        unit += n
    free(memory)
    return status


cdef int run_attention(const Attention* a) noexcept nogil:
    cdef Heads to
    cdef int64_t units = a.batch * a.key_heads, n, work, unit
    cdef int status
    to.a = a
    to.level = dmlcy_attention_levels[dmlcy_level()]
    to.bytes = a.output.item
    to.shared = a.query_heads // a.key_heads
    find_all(&to)
    to.wide = min(to.total, <int64_t>(SEEN if is_there(a.lengths) else KEYS))
    to.blocks = ceil_div(to.total, to.wide)
    to.row_blocks = ceil_div(a.sequence, QUERIES)
    to.floats[KEY] = in_lines(packed_floats(to.wide, to.size[KEY]))
    to.floats[VALUE] = in_lines(packed_floats(to.size[VALUE], to.wide))
    status = take_biases(&to)
    if status == 0 and to.room > 0:
        n = ceil_div(to.room, to.wide) * units * ROLES
        status = parallel_for(give_present, &to, n, grain_of(to.wide * max(to.size[KEY], to.size[VALUE]) * to.bytes))
    work = min(a.sequence, <int64_t>QUERIES) * to.total * (to.size[KEY] + to.size[VALUE])
    unit = work * to.shared * to.row_blocks
    to.unit = 0
    if status == 0 and a.sequence * to.shared == 1:
        status = parallel_for(compute_singles, &to, units, max(WORK // SLOWER // work, 1))
    elif status == 0 and (units >= MANY or unit <= WORK):
        status = parallel_for(compute_units, &to, units, max(WORK // unit, 1))
    elif status == 0:
        status = share_blocks(&to, units, work)
    free(to.biases)
    return status
