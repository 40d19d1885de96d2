# What goes where along each axis: the taps of each element of the output.

cdef struct ResampleAxis:
    int number                      # of the axis in the tensors
    int64_t size                    # of the input, and of the output
    int64_t count
    SampleTaps taps
    SamplePairs pairs
    bint paired                     # no target has more than two taps, and `pairs` has them

cdef struct ResamplePlan:
    const Resampling* given
    bint moves                      # elements only move
    int axes                        # that have other places in the output
    ResampleAxis axis[MAX_RANK]

# An axis of the operator, or of that whose gradient it is: `size` elements, and `count` places between them.
cdef struct Places:
    int64_t size
    int64_t count
    int64_t whole                   # the factor by which places are as in exact arithmetic; 0: places are of FLOAT32
    float factor
    float before
    float after


cdef inline bint is_same(const Places* p) noexcept nogil:
    cdef bint offsets = p.before == 0.5 and p.after == -0.5 or p.before == 0 and p.after == 0
    if p.size != p.count:
        return False
    return p.whole == 1 if p.whole > 0 else p.factor == 1 and offsets


# The element before the place of element i, and how far the place is behind it. Of places beyond the ends those there.
cdef inline int64_t place_of(const Places* p, int64_t i, double* rest) noexcept nogil:
    cdef float number
    cdef double place
    cdef int64_t low
    if p.whole > 0:
        low = 2 * i + 1 - p.whole
        rest[0] = <double> floor_mod(low, 2 * p.whole) / <double> (2 * p.whole)
        return (low - floor_mod(low, 2 * p.whole)) // (2 * p.whole)
    place = flat_place(p, i)
    if not place > 0:
        place = 0
    elif place > p.size - 1:
        place = p.size - 1
    low = <int64_t> place
    rest[0] = place - low
    return low


# The place of element i, in FLOAT32, step by step.
cdef inline double flat_place(const Places* p, int64_t i) noexcept nogil:
    cdef float number = <float> i
    number = number - p.after
    number = number / p.factor
    number = number - p.before
    return number


cdef inline int64_t inside(int64_t place, int64_t size) noexcept nogil:
    return min(max(place, 0), size - 1)


cdef inline int64_t nearest_of(const Places* p, int nearest, int64_t i) noexcept nogil:
    cdef double rest
    cdef int64_t low = place_of(p, i, &rest)
    if nearest == NEAREST_LOWER:
        low += rest > 0.5
    elif nearest == NEAREST_HIGHER:
        low += rest >= 0.5
    elif nearest == NEAREST_NEXT:
        low += rest > 0
    return inside(low, p.size)


# Sums of the weights of whole numbers around a place: 1 there, and less by `factor` for each step away, down to 0.
cdef struct Slopes:
    double place
    double factor
    double total


# Of the numbers at this distance and farther away, to the same side.
cdef inline double side_of(double factor, double distance) noexcept nogil:
    cdef double count = max(ceil(1 / factor - distance), <double> 0)
    return count - factor * (count * distance + count * (count - 1) / 2)


# Of this number and all less than it.
cdef inline double up_to(const Slopes* s, double number) noexcept nogil:
    if s.place < number:
        return s.total - side_of(s.factor, max(number + 1 - s.place, <double> 0))
    return side_of(s.factor, max(s.place - number, <double> 0))


# Of all numbers greater than this one.
cdef inline double beyond(const Slopes* s, double number) noexcept nogil:
    if s.place < number + 1:
        return side_of(s.factor, max(number + 1 - s.place, <double> 0))
    return s.total - side_of(s.factor, max(s.place - number, <double> 0))


# The taps of element i that count: all elements that are less than 1 / factor away, the ends repeated without end.
# NULL: they are only counted.
cdef int64_t smooth_taps(const Places* p, int64_t i, int64_t* source, double* weight) noexcept nogil:
    cdef double reach = 1 / <double> p.factor
    cdef double place = flat_place(p, i)
    cdef double low, scaled, found
    cdef int64_t first, last, k
    cdef int64_t count = 0
    cdef Slopes s
    if not place > -2 * reach:
        place = -2 * reach
    elif place > p.size - 1 + 2 * reach:
        place = p.size - 1 + 2 * reach
    first = <int64_t> min(max(floor(place - reach), <double> 0), <double> (p.size - 1))
    last = <int64_t> min(max(ceil(place + reach), <double> 0), <double> (p.size - 1))
    low = floor(place)
    s.place = place
    s.factor = p.factor
    s.total = side_of(s.factor, place - low) + side_of(s.factor, low + 1 - place)
    scaled = place * s.factor
    for k in range(first, last + 1):
        if p.size == 1:
            found = s.total
        elif k == 0:
            found = up_to(&s, 0)
        elif k == p.size - 1:
            found = beyond(&s, <double> (p.size - 2))
        else:
            found = max(min(1 - scaled + k * s.factor, 1 + scaled - k * s.factor), <double> 0)
        found = found / s.total
        if found != 0:
            if source != NULL:
                source[count] = k
                weight[count] = found
            count += 1
    return count


cdef int64_t linear_taps(const Places* p, int64_t i, int64_t* source, double* weight) noexcept nogil:
    cdef double rest
    cdef int64_t low = place_of(p, i, &rest)
    cdef int64_t high = inside(low + 1, p.size)
    low = inside(low, p.size)
    if source == NULL:
        return 2 if rest > 0 and low < high else 1
    source[0] = low
    weight[0] = 1
    if not (rest > 0 and low < high):
        return 1
    weight[0] = 1 - rest
    source[1] = high
    weight[1] = rest
    return 2


cdef inline int64_t taps_of(const Places* p, const Resampling* a, int64_t i, int64_t* source,
                            double* weight) noexcept nogil:
    if not a.linear:
        if source != NULL:
            source[0] = nearest_of(p, a.nearest, i)
            weight[0] = 1
        return 1
    if a.smooth and p.factor < 0.5:
        return smooth_taps(p, i, source, weight)
    return linear_taps(p, i, source, weight)


cdef int64_t* new_integers(int64_t count) noexcept nogil:
    return <int64_t*> malloc(<size_t> max(count, 1) * sizeof(int64_t))


cdef double* new_numbers(int64_t count) noexcept nogil:
    return <double*> malloc(<size_t> max(count, 1) * sizeof(double))


# The taps of all places, in the order of their sources. -1: memory ran out.
cdef int fill_taps(SampleTaps* taps, const Places* p, const Resampling* a) noexcept nogil:
    cdef int64_t total = 0, i
    taps.begin = new_integers(p.count + 1)
    if taps.begin == NULL:
        return -1
    for i in range(p.count):
        taps.begin[i] = total
        total += taps_of(p, a, i, NULL, NULL)
    taps.begin[p.count] = total
    taps.source = new_integers(total)
    taps.weight = new_numbers(total)
    if taps.source == NULL or taps.weight == NULL:
        return -1
    for i in range(p.count):
        taps_of(p, a, i, taps.source + taps.begin[i], taps.weight + taps.begin[i])
    return 0


# The same backwards: what goes from the `count` places to the `size` elements. -1: memory ran out.
cdef int turn_taps(SampleTaps* taps, int64_t size, int64_t count) noexcept nogil:
    cdef SampleTaps turned
    cdef int64_t total = taps.begin[count], i, k, at
    turned.begin = new_integers(size + 1)
    turned.source = new_integers(total)
    turned.weight = new_numbers(total)
    if turned.begin == NULL or turned.source == NULL or turned.weight == NULL:
        free_taps(&turned)
        return -1
    memset(turned.begin, 0, <size_t> (size + 1) * sizeof(int64_t))
    for k in range(total):
        turned.begin[taps.source[k] + 1] += 1
    for i in range(size):
        turned.begin[i + 1] += turned.begin[i]
    for i in range(count):
        for k in range(taps.begin[i], taps.begin[i + 1]):
            at = turned.begin[taps.source[k]]
            turned.source[at] = i
            turned.weight[at] = taps.weight[k]
            turned.begin[taps.source[k]] = at + 1
    for i in range(size, 0, -1):
        turned.begin[i] = turned.begin[i - 1]
    turned.begin[0] = 0
    free_taps(taps)
    taps[0] = turned
    return 0


cdef void free_taps(SampleTaps* taps) noexcept nogil:
    free(taps.begin)
    free(taps.source)
    free(taps.weight)


# The taps in pairs, if no target has more; those of one tap have the weight 1. -1: memory ran out.
cdef int pair_taps(ResampleAxis* axis) noexcept nogil:
    cdef SamplePairs* pairs = &axis.pairs
    cdef const SampleTaps* taps = &axis.taps
    cdef int64_t blocks = ceil_div(axis.count, PAIR_BLOCK), b, i, t, k, least
    cdef int64_t places = blocks * PAIR_BLOCK
    for t in range(axis.count):
        k = taps.begin[t + 1] - taps.begin[t]
        if k < 1 or k > 2 or (k == 1 and taps.weight[taps.begin[t]] != 1):
            return 0
    pairs.base = new_integers(blocks)
    pairs.low = new_integers(places)
    pairs.high = new_integers(places)
    pairs.first = new_numbers(places)
    pairs.second = new_numbers(places)
    axis.paired = True
    if pairs.base == NULL or pairs.low == NULL or pairs.high == NULL or pairs.first == NULL or pairs.second == NULL:
        return -1
    pairs.near = True
    for b in range(blocks):
        least = taps.source[taps.begin[b * PAIR_BLOCK]]
        for i in range(PAIR_BLOCK):
            t = min(b * PAIR_BLOCK + i, axis.count - 1)
            least = min(least, taps.source[taps.begin[t]])
        pairs.base[b] = least
        for i in range(PAIR_BLOCK):
            t = min(b * PAIR_BLOCK + i, axis.count - 1)
            k = taps.begin[t + 1] - 1
            t = taps.begin[t]
            pairs.low[b * PAIR_BLOCK + i] = taps.source[t] - least
            pairs.high[b * PAIR_BLOCK + i] = taps.source[k] - least
            pairs.first[b * PAIR_BLOCK + i] = taps.weight[t] if t < k else 0.5
            pairs.second[b * PAIR_BLOCK + i] = taps.weight[k] if t < k else 0.5
            pairs.near = pairs.near and taps.source[k] - least < PAIR_ROOM
    return 0


# Finds the axes that have other places in the output, and their taps. -1: memory ran out.
cdef int make_tables(ResamplePlan* plan, const Resampling* a) noexcept nogil:
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
        memset(axis, 0, sizeof(ResampleAxis))
        axis.number = d
        axis.size = a.input.sizes[d]
        axis.count = a.output.sizes[d]
        if fill_taps(&axis.taps, &p, a) != 0:
            return -1
        if a.gradient and turn_taps(&axis.taps, p.size, p.count) != 0:
            return -1
        if not plan.moves and pair_taps(axis) != 0:
            return -1
    return 0


cdef void free_tables(ResamplePlan* plan) noexcept nogil:
    cdef SamplePairs* pairs
    cdef int k
    for k in range(plan.axes):
        free_taps(&plan.axis[k].taps)
        pairs = &plan.axis[k].pairs
        free(pairs.base)
        free(pairs.low)
        free(pairs.high)
        free(pairs.first)
        free(pairs.second)
