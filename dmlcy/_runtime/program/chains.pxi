# Chains: steps that depend on elements at the same place only run together, each block through all of them.

cdef enum:
    SCRATCH = -1                    # the base of values that only a chain has: the room of a thread
    NEAR_ROOM = 8192                # bytes of a room that needs no memory of its own

# A tensor of a member.
cdef struct Spot:
    int64_t at                      # bytes from the start of the room to the tensor
    int64_t base
    int64_t offset
    int64_t[MAX_RANK] steps         # bytes along each axis of the chain

cdef struct Member:
    Run run
    const char* form                # without pointers
    int64_t bytes
    int64_t at                      # where its struct is in the room

# `axes` count elements; the last one is the row.
cdef struct Chain:
    int64_t members
    int64_t spots
    Member* each
    Spot* tensors                   # of all members, in order
    int64_t* counts                 # how many each member has
    int axes
    int64_t[MAX_RANK] sizes
    int64_t total                   # elements
    int64_t block                   # the same of a block
    int64_t unit                    # the same that a thread takes at once: whole rows, if these are short
    int64_t moved                   # bytes of all tensors for an element
    int64_t item                    # bytes of an element of the output that the chain follows
    int64_t least                   # elements of a row of it that the chain takes at once
    Strips strips                   # what loops may apply as they store the output that the chain follows, if any
    int64_t[MOST_STRIPS] base       # of the other input of each
    int64_t[MOST_STRIPS] offset
    int64_t slots                   # blocks of values that only the chain has
    int64_t room                    # bytes

# A chain of a run; `start`: of the output that it follows.
cdef struct Following:
    const Chain* chain
    char** bases
    char* start


# Rows of n elements of a chain, `line` elements apart: some that lie side by side are taken at once.
cdef struct Part:
    int64_t begin
    int64_t rows
    int64_t n
    int axis                        # along which the rows are
    int64_t times                   # so many steps of it from each to the next one


# Takes a part of what follows from element `begin` on: whole rows of the chain, or a piece of one.
cdef inline void cut_part(const Chain* chain, int64_t begin, int64_t end, Part* part) noexcept nogil:
    cdef int64_t length = chain.sizes[chain.axes - 1], column = begin % length, high
    part.begin = begin
    part.rows = part.times = 1
    part.axis = chain.axes - 2
    part.n = min(min(length - column, end - begin), chain.block)
    if chain.axes > 1 and part.n == length:
        high = chain.sizes[chain.axes - 2]
        part.rows = min(min((end - begin) // length, max(chain.block // length, 1)), high - begin // length % high)


# Whether some rows lie along an axis of the chain.
cdef inline bint are_along(const Chain* chain, int64_t begin, int64_t rows, int64_t line, int64_t n) noexcept nogil:
    cdef int64_t length = chain.sizes[chain.axes - 1], high
    if chain.axes == 1:
        return True
    high = chain.sizes[chain.axes - 2]
    return line == length and begin % length + n <= length and begin // length % high + rows <= high


# Makes a tensor those elements of it that belong to a part.
cdef inline void place_part(Tensor* tensor, const Spot* spot, int axes, const int64_t* index, const Part* part,
                            char* start) noexcept nogil:
    cdef int axis, rank = 1 if part.rows == 1 else 2
    cdef int64_t step
    tensor.rank = rank
    tensor.sizes[0] = part.rows
    tensor.sizes[rank - 1] = part.n
    if spot.base == SCRATCH:
        make_dense(tensor, start)
        return
    for axis in range(axes):
        start += index[axis] * spot.steps[axis]
    make_dense(tensor, start)
    if part.n > 1 and tensor.strides[rank - 1] != spot.steps[axes - 1]:
        tensor.strides[rank - 1] = spot.steps[axes - 1]
        tensor.dense = False
    if part.rows > 1:
        step = spot.steps[part.axis] * part.times
        if tensor.strides[0] != step:
            tensor.strides[0] = step
            tensor.dense = False


# Runs all members on a part. -1: memory ran out.
cdef int run_part_of(const Chain* chain, char** bases, char* room, const Part* part) noexcept nogil:
    cdef int64_t[MAX_RANK] index
    cdef int64_t rest = part.begin, k, m
    cdef const Spot* spot = chain.tensors
    cdef int axis, status
    for axis in range(chain.axes - 1, -1, -1):
        index[axis] = rest % chain.sizes[axis]
        rest //= chain.sizes[axis]
    for m in range(chain.members):
        for k in range(chain.counts[m]):
            place_part(<Tensor*>(room + spot.at), spot, chain.axes, index, part,
                       (room if spot.base == SCRATCH else bases[spot.base]) + spot.offset)
            spot += 1
        status = chain.each[m].run(room + chain.each[m].at)
        if status != 0:
            return status
    return 0


# The memory of a thread. `made`: memory beside it.
cdef struct Room:
    char[NEAR_ROOM] close       # not near, which windows.h takes for nothing
    char* made


# The room of a thread, with the structs of all members. NULL: memory ran out.
cdef char* enter(const Chain* chain, Room* room) noexcept nogil:
    cdef char* memory = room.close
    cdef int64_t m
    room.made = NULL
    if chain.room + ALIGNED > NEAR_ROOM:
        memory = room.made = <char*>malloc(chain.room + ALIGNED)
        if memory == NULL:
            return NULL
    memory += ALIGNED - <intptr_t>memory % ALIGNED
    for m in range(chain.members):
        memcpy(memory + chain.each[m].at, chain.each[m].form, chain.each[m].bytes)
    return memory


# Runs all members on elements that follow one another. -1: memory ran out.
cdef int run_range(const Chain* chain, char** bases, char* room, int64_t begin, int64_t end) noexcept nogil:
    cdef Part part
    while begin < end:
        cut_part(chain, begin, end, &part)
        if run_part_of(chain, bases, room, &part):
            return -1
        begin += part.rows * part.n
    return 0


# The same on rows of n elements, `line` elements apart.
cdef int run_rows(const Chain* chain, char** bases, char* room, int64_t begin, int64_t rows, int64_t line,
                  int64_t n) noexcept nogil:
    cdef Part part
    cdef int64_t row = 0
    cdef bint along = n <= chain.block and are_along(chain, begin, rows, line, n)
    if line == n:
        return run_range(chain, bases, room, begin, begin + rows * n)
    part.axis = max(chain.axes - 2, 0)
    part.times = line if chain.axes == 1 else 1
    part.n = n
    while row < rows:
        part.begin = begin + row * line
        part.rows = min(rows - row, chain.block // n) if along else 1
        if along:
            if run_part_of(chain, bases, room, &part):
                return -1
        elif run_range(chain, bases, room, part.begin, part.begin + n):
            return -1
        row += part.rows
    return 0


cdef int run_units(const void* args, int64_t begin, int64_t end) noexcept nogil:
    cdef const Following* to = <const Following*>args
    cdef int64_t unit = to.chain.unit
    cdef Room own
    cdef char* room = enter(to.chain, &own)
    cdef int status
    if room == NULL:
        return -1
    status = run_range(to.chain, to.bases, room, begin * unit, min(end * unit, to.chain.total))
    free(own.made)
    return status


# Runs a single member on all elements: as a step of its own. -1: memory ran out.
cdef int run_alone(const Chain* chain, char** bases) noexcept nogil:
    cdef Part part = Part(
        begin=0, rows=chain.sizes[0] if chain.axes == 2 else 1, n=chain.sizes[chain.axes - 1], axis=0, times=1)
    cdef Room own
    cdef char* room = enter(chain, &own)
    cdef int status
    if room == NULL:
        return -1
    status = run_part_of(chain, bases, room, &part)
    free(own.made)
    return status


cdef int run_chain(const Chain* chain, char** bases) noexcept nogil:
    cdef Following to = Following(chain=chain, bases=bases, start=NULL)
    cdef int64_t units = (chain.total + chain.unit - 1) // chain.unit
    if chain.members == 1 and chain.slots == 0 and chain.axes <= 2:
        return run_alone(chain, bases)
    if is_serial(chain.total * LARGEST):
        return run_units(&to, 0, units)
    return parallel_for(run_units, &to, units, grain_of(chain.unit * chain.moved))


# Runs a chain on some rows of the output that it follows, which have just been computed.
cdef int follow(const void* context, char* begin, int64_t rows, int64_t line, int64_t bytes) noexcept nogil:
    cdef const Following* to = <const Following*>context
    cdef int64_t item = to.chain.item
    cdef Room own
    cdef char* room = enter(to.chain, &own)
    cdef int status
    if room == NULL:
        return -1
    status = run_rows(to.chain, to.bases, room, (begin - to.start) // item, rows, line // item, bytes // item)
    free(own.made)
    return status


# Runs the loops of a step, and its chain behind them: on each part of the output, if the loops take it.
cdef int run_followed(const Step* step, char* form, char** bases) noexcept nogil:
    cdef Tensor* output
    cdef Following to
    cdef Epilogue epilogue
    cdef Strips strips
    cdef int status, s
    if step.run == NULL:
        return run_chain(step.chain, bases)
    output = <Tensor*>(form + step.output)
    to = Following(chain=step.chain, bases=bases, start=output.data)
    epilogue = Epilogue(follow=follow, context=&to, least=step.chain.least, strips=NULL, taken=False)
    if step.chain.strips.count > 0:
        strips = step.chain.strips
        for s in range(strips.count):
            if strips.each[s].inputs > 1:
                strips.each[s].other = bases[step.chain.base[s]] + step.chain.offset[s]
        epilogue.strips = &strips
    output.prepared = &epilogue
    status = step.run(form)
    if status == 0 and not epilogue.taken:
        status = run_chain(step.chain, bases)
    return status


cdef Chain* new_chain(Program program, list members, list sizes, list stores, int64_t slots, int64_t bytes,
                      int64_t item, int64_t least) except NULL:
    """A chain of members: each a form; for each tensor a base, an offset and its steps along the axes in elements.

    The offset of a value that only the chain has is the number of its slot. ``bytes``: of a block of the largest
    elements; ``item``: bytes of an element of the output that the chain follows, ``least``: elements of a row of it
    that the chain takes at once. ``stores``: for each member the input that the one before has computed, and the other
    one, or -1. An empty list means that the members do not compute the same elements one after the other, in one place.
    """
    cdef Chain* chain = <Chain*>PyMem_Calloc(1, sizeof(Chain))
    cdef Form form
    cdef Py_ssize_t m, k, spots = 0
    cdef int64_t largest = 1, length, at = 0
    if chain == NULL:
        raise MemoryError
    program.chains.append(<intptr_t>chain)      # which frees them
    chain.members = len(members)
    chain.axes = len(sizes)
    chain.total = 1
    chain.item = item
    chain.least = least
    for k in range(chain.axes):
        chain.sizes[k] = sizes[k]
        chain.total *= chain.sizes[k]
    for made, tensors in members:
        spots += len(tensors)
        form = made
        for k in range(len(tensors)):
            length = (<Tensor*>(form.image + <int64_t>form.slots[k])).item
            largest = max(largest, length)
            chain.moved += length
    chain.block = max(bytes // largest, 1)
    length = chain.sizes[chain.axes - 1]
    chain.unit = chain.block if length > chain.block else chain.block // length * length
    chain.spots = spots
    chain.each = <Member*>PyMem_Calloc(len(members), sizeof(Member))
    chain.tensors = <Spot*>PyMem_Calloc(spots, sizeof(Spot))
    chain.counts = <int64_t*>PyMem_Calloc(len(members), sizeof(int64_t))
    if chain.each == NULL or chain.tensors == NULL or chain.counts == NULL:
        raise MemoryError
    chain.slots = slots
    bytes = aligned_size(bytes)
    at = slots * bytes
    spots = 0
    for m in range(len(members)):
        form, tensors = members[m]
        if form.joints or form.operator.call.prepare != NULL or form.operator.call.data_holds != NULL or (
                len(tensors) != len(form.slots)):
            raise ValueError("a member of a chain has a place for each tensor, and nothing else to do")
        program.kept.append(form)
        chain.each[m] = Member(run=form.operator.call.run, form=form.image, bytes=form.size, at=at)
        chain.counts[m] = len(tensors)
        for k in range(len(tensors)):
            set_spot(program, chain, &chain.tensors[spots], form, k, at, bytes, tensors[k])
            spots += 1
        at += form.size
    chain.room = at
    take_stores(chain, members, stores)
    return chain


cdef int take_stores(Chain* chain, list members, list stores) except -1:
    """Asks all members for their strips; without those of one, the chain has none."""
    cdef Form form
    cdef char* image
    cdef int64_t own, other
    cdef int known
    cdef bint found
    for (made, tensors), (own, other) in zip(members, stores):
        form, known = made, chain.strips.count
        image = <char*>PyMem_Malloc(form.size)
        if image == NULL:
            raise MemoryError
        memcpy(image, form.image, form.size)
        found = ask_strips(form.operator.call.run, <Tensor*>image, len(tensors), &chain.strips)
        PyMem_Free(image)
        if not found or chain.strips.each[known].inputs != len(tensors) - 1:
            chain.strips.count = 0
            return 0
        chain.strips.each[known].place = own
        if other >= 0:
            chain.base[known], chain.offset[known], _ = tensors[other]
    return 0


cdef int set_spot(Program program, Chain* chain, Spot* spot, Form form, Py_ssize_t k, int64_t at,
                  int64_t bytes, object place) except -1:
    cdef int64_t slot = form.slots[k]
    cdef int64_t item = (<Tensor*>(form.image + slot)).item
    base, offset, steps = place
    spot.at = at + slot
    if base == SCRATCH:
        spot.base = SCRATCH
        spot.offset = offset * bytes
        return 0
    spot.base = checked(program, base)
    spot.offset = offset
    for axis in range(chain.axes):
        spot.steps[axis] = steps[axis] * item
    return 0


cdef void free_chain(Chain* chain) noexcept:
    PyMem_Free(chain.each)
    PyMem_Free(chain.tensors)
    PyMem_Free(chain.counts)
    PyMem_Free(chain)
