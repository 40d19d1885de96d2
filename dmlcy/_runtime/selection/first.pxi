# The elements of lines that come first.

cdef extern from "selection.h" nogil:
    enum:
        DMLCY_BESIDE
        DMLCY_FEW
        DMLCY_HITS

    ctypedef void (*dmlcy_keys_row)(const char* start, int64_t step, void* keys, int64_t n,
                                    int64_t flip) noexcept nogil

    ctypedef struct dmlcy_selection:
        dmlcy_keys_row keys
        int64_t flip, n, k, room, step, value_step, place_step
        int item, place_item, wide

    ctypedef struct dmlcy_lines:
        const char* start "from"
        char* values
        char* places
        int64_t apart, values_apart, places_apart
        int count

    const dmlcy_keys_row[12] dmlcy_keys_all
    const dmlcy_keys_row[12] dmlcy_keys_wide
    dmlcy_keys_row dmlcy_wider_of(int dtype) noexcept
    int64_t dmlcy_select_bytes_short(const dmlcy_selection* a, int lines) noexcept
    int64_t dmlcy_select_bytes_long(const dmlcy_selection* a, int lines) noexcept
    void dmlcy_select_short(const dmlcy_selection* a, const dmlcy_lines* lines, char* memory) noexcept
    void dmlcy_select_long(const dmlcy_selection* a, const dmlcy_lines* lines, char* memory) noexcept

cdef enum:
    # the number of candidates for each chosen element that are kept until the last ones are dropped
    WAITING = 4
    # the divisor of a line's length: if more elements than the quotient are chosen, all are kept until the end
    MOST_SHARE = 8
    BESIDE_BYTES = 1048576          # the most bytes of the candidates of lines that are gone through side by side
    SELECTING = 8                   # the time to select from one byte of a line, in bytes that are moved

# The lines are those of the other axes, of which the last one has the lines that lie closest in the input. Lines side
# by side are gone through at once.
cdef struct First:
    dmlcy_selection loops
    const Tensor* input
    const Tensor* values
    const Tensor* places
    bint longs
    int axis
    int rank
    int axes[MAX_RANK]
    int64_t beside                  # lines at once, at most
    int64_t groups                  # of lines along the last axis
    int64_t bytes                   # of memory


cdef int64_t distance(int64_t step) noexcept nogil:
    return -step if step < 0 else step


# The other axes that have elements, in the order of their steps in the input.
cdef void order_axes(First* a) noexcept nogil:
    cdef int d, at
    a.rank = 0
    for d in range(a.input.rank):
        if d == a.axis or a.input.sizes[d] == 1:
            continue
        at = a.rank
        while at > 0 and distance(a.input.strides[a.axes[at - 1]]) < distance(a.input.strides[d]):
            a.axes[at] = a.axes[at - 1]
            at -= 1
        a.axes[at] = d
        a.rank += 1


# Items are groups of lines side by side.
cdef int select_groups(const void* args, int64_t begin, int64_t end) noexcept nogil:
    cdef const First* a = <const First*> args
    cdef char* memory = <char*> malloc(a.bytes)
    cdef dmlcy_lines lines
    cdef int64_t item, number, at
    cdef int d, k
    if memory == NULL:
        return -1
    for item in range(begin, end):
        lines.start = a.input.data
        lines.values = a.values.data
        lines.places = a.places.data
        lines.count = 1
        number = item
        for k in range(a.rank - 1, -1, -1):
            d = a.axes[k]
            if k == a.rank - 1:
                at = number % a.groups * a.beside
                number //= a.groups
                lines.apart = a.input.strides[d]
                lines.values_apart = a.values.strides[d]
                lines.places_apart = a.places.strides[d]
                lines.count = <int> min(a.beside, a.input.sizes[d] - at)
            else:
                at = number % a.input.sizes[d]
                number //= a.input.sizes[d]
            lines.start += at * a.input.strides[d]
            lines.values += at * a.values.strides[d]
            lines.places += at * a.places.strides[d]
        if a.longs:
            dmlcy_select_long(&a.loops, &lines, memory)
        else:
            dmlcy_select_short(&a.loops, &lines, memory)
    free(memory)
    return 0


cdef int run_first(const Tensor* input, const Tensor* values, const Tensor* places, int64_t axis,
                   bint ascending) noexcept nogil:
    cdef First work
    cdef int64_t n = input.sizes[axis], k = values.sizes[axis], total, word
    cdef int last
    work.input = input
    work.values = values
    work.places = places
    work.axis = <int> axis
    order_axes(&work)
    work.longs = input.item == 8 or n > <int64_t> UINT32_MAX
    work.loops.wide = dmlcy_wide()
    work.loops.keys = dmlcy_keys_wide[input.dtype] if work.loops.wide else dmlcy_keys_all[input.dtype]
    if work.longs and input.item < 8:
        work.loops.keys = dmlcy_wider_of(input.dtype)
    work.loops.flip = 0 if ascending else -1
    work.loops.n = n
    work.loops.k = k
    work.loops.room = k if k <= DMLCY_FEW else n if k > n // MOST_SHARE else WAITING * k + DMLCY_HITS
    work.loops.step = input.strides[axis]
    work.loops.value_step = values.strides[axis]
    work.loops.place_step = places.strides[axis]
    work.loops.item = input.item
    work.loops.place_item = places.item
    word = 16 if work.longs else 8
    work.beside = work.groups = 1
    if work.rank > 0:
        last = work.axes[work.rank - 1]
        if distance(input.strides[last]) < distance(input.strides[axis]):
            work.beside = max(min(<int64_t> DMLCY_BESIDE, BESIDE_BYTES // (word * work.loops.room)), <int64_t> 1)
            work.beside = min(work.beside, input.sizes[last])
        work.groups = (input.sizes[last] - 1) // work.beside + 1
    work.bytes = (dmlcy_select_bytes_long(&work.loops, <int> work.beside) if work.longs
                  else dmlcy_select_bytes_short(&work.loops, <int> work.beside))
    total = work.groups
    for last in range(work.rank - 1):
        total *= input.sizes[work.axes[last]]
    return parallel_for(select_groups, &work, total, grain_of(work.beside * n * input.item * SELECTING))
