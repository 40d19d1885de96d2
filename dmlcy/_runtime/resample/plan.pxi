# How means are made: which axis is a row, and which blocks of the output are made one after another.

# The output is made in blocks: some places along each of the axes that have taps. A block takes the elements that these
# places need, as numbers of FLOAT64, and goes along the axes one after another. Axes that become shorter come first,
# the outer axes before the inner ones. Then the other axes follow, the inner axes first.
#
# Level n of a block is what is there after n of the axes: along these the places, along the others the sources. Where
# there are many sources along the next axis, they are taken in pieces, which are added to the level behind one after
# another. So each level has few numbers, whatever the sizes are.
#
# Elements along `lanes`, an axis without taps, are computed side by side where they are neighbours in memory and
# those of the last axis with taps are not. Otherwise this last axis is a row, along which elements are combined.
cdef struct MeansPlan:
    const Resampling* given
    const Tensor* input
    const Tensor* output
    const SampleLoops* loops
    double zero                     # what is added to each result: a gradient is never -0
    int axes
    const ResampleAxis* axis[MAX_RANK]
    int order[MAX_RANK]
    int lanes                       # an axis; -1: there is none
    int row                         # which of the axes is the row; -1: there is none
    int64_t width                   # of the lanes of a block
    int64_t tiles
    int64_t tall[MAX_RANK]          # places of a block along each axis
    int64_t chunks[MAX_RANK]
    int64_t taken[MAX_RANK]         # sources that these places need at most
    int64_t piece[MAX_RANK]         # and how many of them are taken at once for level n + 1
    int64_t numbers[MAX_RANK + 1]   # of each level
    int64_t line                    # and of a row
    bint shared[MAX_RANK]           # the taps of all places are in `table`
    ResampleTable table[MAX_RANK]
    bint apart                      # some have no shared table
    int planes                      # axes without taps, but for the lanes
    int plane[MAX_RANK]


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
    plan.row = plan.axes - 1
    if plan.lanes >= 0:
        plan.row = -1
        k = 0
        for d in range(plan.planes):
            if plan.plane[d] != plan.lanes:
                plan.plane[k] = plan.plane[d]
                k += 1
        plan.planes = k


# Sets so many places of an axis for a block, and finds out how many sources they need at most.
cdef void set_tall(MeansPlan* plan, int k, int64_t tall) noexcept nogil:
    cdef const ResampleAxis* axis = plan.axis[k]
    cdef int64_t begin = 0, low, high, most = 1
    while begin < axis.count:
        sources_of(axis, plan.given, begin, min(begin + tall, axis.count), &low, &high)
        most = max(most, high - low)
        begin += tall
    plan.tall[k] = tall
    plan.chunks[k] = ceil_div(axis.count, tall)
    plan.taken[k] = most


# Finds out how many numbers each level has, at most `limit`. Whether no sources have to be taken in pieces.
cdef bint fits(MeansPlan* plan, int64_t limit) noexcept nogil:
    cdef int64_t size = plan.width, places
    cdef bint whole
    cdef int k, n
    for k in range(plan.axes):
        size *= min(plan.tall[k], plan.axis[k].count)
    plan.numbers[plan.axes] = size
    whole = size <= limit
    for n in range(plan.axes - 1, -1, -1):
        k = plan.order[n]
        places = min(plan.tall[k], plan.axis[k].count)
        size //= places
        plan.piece[n] = min(plan.taken[k], max(limit // size, 1))
        if most_taps(plan.axis[k], plan.given, places, plan.piece[n]) > TABLE_TAPS:
            plan.piece[n] = max(TABLE_TAPS // (2 if plan.given.gradient else places), 1)
        whole = whole and plan.piece[n] == plan.taken[k]
        size *= plan.piece[n]
        plan.numbers[n] = size
    return whole


cdef void choose_blocks(MeansPlan* plan) noexcept nogil:
    cdef const ResampleAxis* axis
    cdef int64_t items = 1, count
    cdef int k, most
    for k in range(plan.planes):
        items *= plan.output.sizes[plan.plane[k]]
    plan.width = 1
    plan.tiles = 1
    if plan.lanes >= 0:
        count = plan.output.sizes[plan.lanes]
        plan.tiles = ceil_div(count, LANES)
        plan.width = ceil_div(count, plan.tiles)
    items *= plan.tiles
    plan.apart = False
    for k in range(plan.axes):
        axis = plan.axis[k]
        count = ceil_div(axis.count, PAIR_BLOCK) * PAIR_BLOCK
        plan.shared[k] = count + most_taps(axis, plan.given, count, axis.size) <= TABLE_TAPS
        plan.apart = plan.apart or not plan.shared[k]
        if not plan.shared[k]:
            count = min(count, LONG)
            while count > PAIR_BLOCK and axis.smooth and most_taps(axis, plan.given, count, axis.size) > TABLE_TAPS:
                count = ceil_div(count // PAIR_BLOCK, 2) * PAIR_BLOCK
        set_tall(plan, k, count)
        if k > 0:
            items *= plan.chunks[k]
    while plan.tall[0] > PAIR_BLOCK and (
            not fits(plan, BLOCK_NUMBERS) or plan.output.bytes > SERIAL_BYTES and items * plan.chunks[0] < ITEMS):
        set_tall(plan, 0, ceil_div(plan.tall[0] // PAIR_BLOCK, 2) * PAIR_BLOCK)
    while not fits(plan, MOST_NUMBERS):     # of the axis with the most places half as many
        most = 0
        for k in range(plan.axes):
            if plan.tall[k] > plan.tall[most]:
                most = k
        if plan.tall[most] <= (PAIR_BLOCK if plan.numbers[plan.axes] > MOST_NUMBERS else FEW):
            if plan.width <= FEWEST_LANES or plan.numbers[plan.axes] <= MOST_NUMBERS:
                break
            plan.tiles *= 2
            plan.width = ceil_div(plan.output.sizes[plan.lanes], plan.tiles)
        else:
            set_tall(plan, most, ceil_div(plan.tall[most] // PAIR_BLOCK, 2) * PAIR_BLOCK)
    plan.line = plan.width
    if plan.row >= 0:
        plan.line = max(plan.taken[plan.row], plan.tall[plan.row])
    plan.line += 2 * PAIR_ROOM


# Words of 8 bytes of the shared tables; with room, the tables are made there.
cdef int64_t share_tables(MeansPlan* plan, double* room) noexcept nogil:
    cdef const ResampleAxis* axis
    cdef int64_t words = 0, taps
    cdef int k
    for k in range(plan.axes):
        axis = plan.axis[k]
        if not plan.shared[k]:
            continue
        taps = most_taps(axis, plan.given, axis.count, axis.size)
        if room != NULL:
            lay_table(&plan.table[k], room + words, axis.count, taps)
            make_table(&plan.table[k], axis, plan.given, k == plan.row, 0, axis.count, 0, axis.size)
        words += table_words(axis.count, taps)
    return words


cdef int run_means(const ResamplePlan* given) noexcept nogil:
    cdef MeansPlan plan
    cdef int64_t items, bytes, grain
    cdef double* room
    cdef int k, status
    plan.given = given.given
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
    room = new_numbers(share_tables(&plan, NULL))
    if room == NULL:
        return -1
    share_tables(&plan, room)
    items = plan.tiles
    for k in range(plan.planes):
        items *= plan.output.sizes[plan.plane[k]]
    for k in range(plan.axes):
        items *= plan.chunks[k]
    bytes = plan.input.bytes + plan.output.bytes
    grain = grain_of(bytes // items)
    if bytes <= SERIAL_BYTES:
        grain = items
    elif plan.apart:                # tables are made again in each part
        grain *= 4
    status = parallel_for(mean_blocks, &plan, items, grain)
    free(room)
    return status
