# How means are made: which axis is a row, and which blocks of the output are made one after another.

# The output is made in blocks: some places along the first of the axes that have taps, all places along the others. A
# block takes the elements that these places need, as numbers of FLOAT64, and goes along the axes one after another:
# those that become shorter come first, the outer ones before the inner ones, then the others, the inner ones first.
#
# Elements along `lanes`, an axis without taps, are computed side by side where they are neighbours in memory and
# those of the last axis with taps are not. Otherwise this last axis is a row, along which elements are combined.
cdef struct MeansPlan:
    const Tensor* input
    const Tensor* output
    const SampleLoops* loops
    double zero                     # what is added to each result: a gradient is never -0
    int axes
    const ResampleAxis* axis[MAX_RANK]
    int order[MAX_RANK]
    int lanes                       # an axis; -1: there is none
    int64_t width                   # of the lanes of a block
    int64_t tiles
    int64_t tall                    # places of the first axis in a block
    int64_t chunks
    int planes                      # axes without taps, but for the lanes
    int plane[MAX_RANK]
    int64_t room                    # numbers of a buffer
    int64_t line                    # and of a row


# The sources along an axis that some targets need.
cdef inline void needed(const SampleTaps* taps, int64_t first, int64_t end, int64_t* low, int64_t* high) noexcept nogil:
    cdef int64_t k
    low[0] = high[0] = 0
    if taps.begin[first] < taps.begin[end]:
        low[0] = taps.source[taps.begin[first]]
        for k in range(taps.begin[first], taps.begin[end]):
            low[0] = min(low[0], taps.source[k])
            high[0] = max(high[0], taps.source[k] + 1)


cdef void choose_order(MeansPlan* plan) noexcept nogil:
    cdef int k, count = 0
    for k in range(plan.axes):
        if plan.axis[k].count < plan.axis[k].size:
            plan.order[count] = k
            count += 1
    for k in range(plan.axes - 1, -1, -1):
        if plan.axis[k].count >= plan.axis[k].size:
            plan.order[count] = k
            count += 1


cdef void choose_lanes(MeansPlan* plan) noexcept nogil:
    cdef int row = plan.axis[plan.axes - 1].number, d, k = 0
    cdef bint given
    plan.lanes = -1
    plan.planes = 0
    for d in range(plan.output.rank):
        given = k < plan.axes and plan.axis[k].number == d
        if given:
            k += 1
            continue
        plan.plane[plan.planes] = d
        plan.planes += 1
        if plan.output.sizes[d] < FEWEST_LANES or plan.output.strides[d] != plan.output.item:
            continue
        if d == plan.output.rank - 1 or plan.output.strides[row] != plan.output.item:
            plan.lanes = d
    if plan.lanes >= 0:
        k = 0
        for d in range(plan.planes):
            if plan.plane[d] != plan.lanes:
                plan.plane[k] = plan.plane[d]
                k += 1
        plan.planes = k


# The most numbers that a block of so many places of the first axis keeps at once, for one lane.
cdef int64_t kept(const MeansPlan* plan, int64_t tall) noexcept nogil:
    cdef const ResampleAxis* first = plan.axis[0]
    cdef int64_t sizes[MAX_RANK]
    cdef int64_t begin = 0, low, high, most, total
    cdef int k, n
    sizes[0] = 0
    while begin < first.count:
        needed(&first.taps, begin, min(begin + tall, first.count), &low, &high)
        sizes[0] = max(sizes[0], high - low)
        begin += tall
    for k in range(1, plan.axes):
        sizes[k] = plan.axis[k].size
    most = 0
    for n in range(plan.axes + 1):
        total = 1
        for k in range(plan.axes):
            total *= sizes[k]
        most = max(most, total)
        if n < plan.axes:
            k = plan.order[n]
            sizes[k] = plan.axis[k].count if k > 0 else min(tall, first.count)
    return most


cdef void choose_blocks(MeansPlan* plan) noexcept nogil:
    cdef const ResampleAxis* first = plan.axis[0]
    cdef int64_t planes = 1, count
    cdef int k
    for k in range(plan.planes):
        planes *= plan.output.sizes[plan.plane[k]]
    plan.width = 1
    plan.tiles = 1
    if plan.lanes >= 0:
        count = plan.output.sizes[plan.lanes]
        plan.tiles = ceil_div(count, LANES)
        plan.width = ceil_div(count, plan.tiles)
    plan.tall = ceil_div(first.count, PAIR_BLOCK) * PAIR_BLOCK
    while plan.tall > PAIR_BLOCK and (
            kept(plan, plan.tall) * plan.width > BLOCK_NUMBERS
            or plan.output.bytes > SERIAL_BYTES and planes * plan.tiles * ceil_div(first.count, plan.tall) < ITEMS):
        plan.tall = ceil_div(plan.tall // PAIR_BLOCK, 2) * PAIR_BLOCK
    plan.chunks = ceil_div(first.count, plan.tall)
    plan.room = kept(plan, plan.tall) * plan.width + 2 * PAIR_ROOM
    plan.line = plan.width
    if plan.lanes < 0:
        plan.line = max(plan.axis[plan.axes - 1].size, plan.axis[plan.axes - 1].count)
    plan.line += 2 * PAIR_ROOM


cdef int run_means(const ResamplePlan* given) noexcept nogil:
    cdef MeansPlan plan
    cdef int64_t items = 1, bytes
    cdef int k
    plan.input = given.given.input
    plan.output = given.given.output
    if given.axes == 0:
        return run_copy(plan.input, plan.output)
    plan.loops = sample_loops()
    plan.zero = 0.0 if given.given.gradient else -0.0
    plan.axes = given.axes
    for k in range(given.axes):
        plan.axis[k] = &given.axis[k]
    choose_order(&plan)
    choose_lanes(&plan)
    choose_blocks(&plan)
    for k in range(plan.planes):
        items *= plan.output.sizes[plan.plane[k]]
    items *= plan.tiles * plan.chunks
    bytes = plan.input.bytes + plan.output.bytes
    return parallel_for(mean_blocks, &plan, items, items if bytes <= SERIAL_BYTES else grain_of(bytes // items))
