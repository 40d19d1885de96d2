# Tables along each axis: the taps of each element of the output.

# The taps of targets first … end-1 that are of the sources low … high-1. Target number 0 of the taps is `first`.
cdef struct ResampleTable:
    int64_t first
    int64_t end
    int64_t low
    int64_t high
    SampleTaps taps
    SamplePairs pairs
    bint paired                     # no target has more than two taps, and `pairs` has them


cdef double* new_numbers(int64_t count) noexcept nogil:
    return <double*> malloc(<size_t> max(count, 1) * sizeof(double))


# The first place of `count` whose last element is `element` or more, or with `all` whose first element is.
cdef int64_t place_from(const ResampleAxis* axis, const Resampling* a, int64_t element, bint all) noexcept nogil:
    cdef int64_t begin = 0, end = axis.size, middle, first, last
    cdef double rest
    while begin < end:
        middle = begin + (end - begin) // 2
        ends_of(axis, a, middle, &first, &last, &rest)
        if (first if all else last) >= element:
            end = middle
        else:
            begin = middle + 1
    return begin


# The sources that targets first … end-1 may need: places never decrease.
cdef void sources_of(const ResampleAxis* axis, const Resampling* a, int64_t first, int64_t end, int64_t* low,
                     int64_t* high) noexcept nogil:
    cdef int64_t least, most
    cdef double rest
    if a.gradient:
        low[0] = place_from(axis, a, first, False)
        high[0] = max(place_from(axis, a, end, True), low[0])
        return
    ends_of(axis, a, first, low, &most, &rest)
    ends_of(axis, a, end - 1, &least, &most, &rest)
    high[0] = most + 1


# The most taps that so many targets have, of so many sources.
cdef int64_t most_taps(const ResampleAxis* axis, const Resampling* a, int64_t targets, int64_t sources) noexcept nogil:
    if a.gradient:
        return 2 * sources
    if axis.smooth:
        return targets * min(sources, <int64_t> min(2 / <double> axis.places.factor + 4, <double> axis.size))
    return 2 * targets


# Words of 8 bytes of a table.
cdef int64_t table_words(int64_t targets, int64_t taps) noexcept nogil:
    cdef int64_t blocks = ceil_div(targets, PAIR_BLOCK)
    return targets + 1 + 2 * taps + blocks * (4 * PAIR_BLOCK + 1)


# Divides room for a table. The table is empty.
cdef void lay_table(ResampleTable* table, void* room, int64_t targets, int64_t taps) noexcept nogil:
    cdef int64_t places = ceil_div(targets, PAIR_BLOCK) * PAIR_BLOCK
    table.first = table.end = table.low = table.high = 0
    table.taps.begin = <int64_t*> room
    table.taps.source = table.taps.begin + targets + 1
    table.taps.weight = <double*> (table.taps.source + taps)
    table.pairs.base = <int64_t*> (table.taps.weight + taps)
    table.pairs.low = table.pairs.base + places // PAIR_BLOCK
    table.pairs.high = table.pairs.low + places
    table.pairs.first = <double*> (table.pairs.high + places)
    table.pairs.second = table.pairs.first + places


# The taps of targets, in the order of their sources.
cdef void fill_taps(ResampleTable* table, const ResampleAxis* axis, const Resampling* a) noexcept nogil:
    cdef SampleTaps* taps = &table.taps
    cdef int64_t total = 0, i
    for i in range(table.first, table.end):
        taps.begin[i - table.first] = total
        total += taps_of(axis, a, i, table.low, table.high, taps.source + total, taps.weight + total)
    taps.begin[table.end - table.first] = total


# The same backwards: what goes from places low … high-1 to the elements.
cdef void fill_taps_back(ResampleTable* table, const ResampleAxis* axis, const Resampling* a) noexcept nogil:
    cdef SampleTaps* taps = &table.taps
    cdef int64_t size = table.end - table.first, i, k, at, count
    cdef int64_t source[2]
    cdef double weight[2]
    memset(taps.begin, 0, <size_t> (size + 1) * sizeof(int64_t))
    for i in range(table.low, table.high):
        for k in range(taps_of(axis, a, i, table.first, table.end, source, weight)):
            taps.begin[source[k] - table.first + 1] += 1
    for i in range(size):
        taps.begin[i + 1] += taps.begin[i]
    for i in range(table.low, table.high):
        count = taps_of(axis, a, i, table.first, table.end, source, weight)
        for k in range(count):
            at = taps.begin[source[k] - table.first]
            taps.source[at] = i
            taps.weight[at] = weight[k]
            taps.begin[source[k] - table.first] = at + 1
    for i in range(size, 0, -1):
        taps.begin[i] = taps.begin[i - 1]
    taps.begin[0] = 0


# The taps in pairs, if no target has more; those of one tap have the weight 1.
cdef void pair_taps(ResampleTable* table) noexcept nogil:
    cdef SamplePairs* pairs = &table.pairs
    cdef const SampleTaps* taps = &table.taps
    cdef int64_t count = table.end - table.first, b, i, t, k, least
    for t in range(count):
        k = taps.begin[t + 1] - taps.begin[t]
        if k < 1 or k > 2 or (k == 1 and taps.weight[taps.begin[t]] != 1):
            return
    table.paired = True
    pairs.near = True
    for b in range(ceil_div(count, PAIR_BLOCK)):
        least = taps.source[taps.begin[b * PAIR_BLOCK]]
        for i in range(PAIR_BLOCK):
            t = min(b * PAIR_BLOCK + i, count - 1)
            least = min(least, taps.source[taps.begin[t]])
        pairs.base[b] = least
        for i in range(PAIR_BLOCK):
            t = min(b * PAIR_BLOCK + i, count - 1)
            k = taps.begin[t + 1] - 1
            t = taps.begin[t]
            pairs.low[b * PAIR_BLOCK + i] = taps.source[t] - least
            pairs.high[b * PAIR_BLOCK + i] = taps.source[k] - least
            pairs.first[b * PAIR_BLOCK + i] = taps.weight[t] if t < k else 0.5
            pairs.second[b * PAIR_BLOCK + i] = taps.weight[k] if t < k else 0.5
            pairs.near = pairs.near and taps.source[k] - least < PAIR_ROOM


# The taps of some targets that are of some sources. `row`: elements along a row are combined.
cdef void make_table(ResampleTable* table, const ResampleAxis* axis, const Resampling* a, bint row, int64_t first,
                     int64_t end, int64_t low, int64_t high) noexcept nogil:
    table.first = first
    table.end = end
    table.low = low
    table.high = high
    if a.gradient:
        fill_taps_back(table, axis, a)
    else:
        fill_taps(table, axis, a)
    table.paired = False
    if row:
        pair_taps(table)


# Finds the axes that have other places in the output.
cdef void find_axes(ResamplePlan* plan, const Resampling* a) noexcept nogil:
    cdef ResampleAxis* axis
    cdef Places p
    cdef int d
    plan.given = a
    plan.moves = not a.linear and not a.gradient
    plan.axes = 0
    for d in range(a.input.rank):
        p.size = a.output.sizes[d] if a.gradient else a.input.sizes[d]
        p.count = a.input.sizes[d] if a.gradient else a.output.sizes[d]
        p.whole = a.factors[d] if a.factors != NULL else 0
        p.factor = a.scales[d] if a.factors == NULL else <float> 1
        p.before = a.before[d] if a.before != NULL else <float> 0.5
        p.after = a.after[d] if a.after != NULL else <float> -0.5
        if is_same(&p) and not (a.gradient and plan.axes == 0 and d == a.input.rank - 1):
            continue                # a gradient has sums everywhere, which are never -0
        axis = &plan.axis[plan.axes]
        plan.axes += 1
        axis.number = d
        axis.size = a.input.sizes[d]
        axis.count = a.output.sizes[d]
        axis.smooth = a.linear and a.smooth and p.factor < 0.5
        axis.places = p
