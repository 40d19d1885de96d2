# Elements that are not 0.

ctypedef void (*FlagsRow)(const char* start, int64_t step, uint8_t* flags, int64_t n, uint32_t mask) noexcept nogil
ctypedef int64_t (*FlaggedRow)(const uint8_t* flags, int64_t n) noexcept nogil
ctypedef void (*RowsRow)(uint32_t* to, const uint32_t* row, int last, const uint16_t* places, int64_t n,
                         uint32_t more) noexcept nogil

cdef extern from "nonzero.h" nogil:
    enum:
        DMLCY_FLAGGED
    const FlagsRow[2][5] dmlcy_flags_rows
    const FlaggedRow[2] dmlcy_flagged_rows
    const RowsRow[9] dmlcy_rows_of
    int64_t dmlcy_found(const uint8_t* flags, int64_t n, uint16_t* places) noexcept

cdef enum:
    # the number of elements of a piece of work that lists nonzero elements: 16 times DMLCY_FLAGGED
    SHARE = 16384

# The elements are counted in shares first, which says where the rows of each share begin.
cdef struct Nonzero:
    const Tensor* input
    const Tensor* table
    FlagsRow flags
    FlaggedRow flagged
    uint32_t mask
    int64_t elements
    int64_t shares
    int64_t* starts                 # of the rows of each share; the last one is behind all
    int last                        # the last axis with more than one element
    int columns
    bint dense
    bint streams


# Where a thread is among the elements.
cdef struct Walk:
    int64_t place[MAX_RANK]
    const char* data


cdef void walk_to(const Nonzero* a, Walk* walk, int64_t number) noexcept nogil:
    cdef int d
    walk.data = a.input.data
    for d in range(a.input.rank - 1, -1, -1):
        walk.place[d] = number % a.input.sizes[d]
        number //= a.input.sizes[d]
        walk.data += walk.place[d] * a.input.strides[d]


# To the beginning of the next row along the last axis.
cdef void next_row(const Nonzero* a, Walk* walk) noexcept nogil:
    cdef int d = a.last - 1
    walk.data -= walk.place[a.last] * a.input.strides[a.last]
    walk.place[a.last] = 0
    while d >= 0:
        walk.place[d] += 1
        walk.data += a.input.strides[d]
        if walk.place[d] < a.input.sizes[d]:
            return
        walk.data -= walk.place[d] * a.input.strides[d]
        walk.place[d] = 0
        d -= 1


# Flags of some elements from one on: of elements that follow each other in memory, or row by row.
cdef void find_flags(const Nonzero* a, int64_t first, int64_t n, uint8_t* flags) noexcept nogil:
    cdef Walk walk
    cdef int64_t step = a.input.strides[a.last], done = 0, count
    if a.input.dense:
        a.flags(a.input.data + first * a.input.item, a.input.item, flags, n, a.mask)
        return
    walk_to(a, &walk, first)
    while done < n:
        count = min(a.input.sizes[a.last] - walk.place[a.last], n - done)
        a.flags(walk.data, step, flags + done, count, a.mask)
        done += count
        next_row(a, &walk)


# Items are shares.
cdef int count_shares(const void* args, int64_t begin, int64_t end) noexcept nogil:
    cdef const Nonzero* a = <const Nonzero*> args
    cdef uint8_t flags[DMLCY_FLAGGED]
    cdef int64_t share, first, stop, n, count
    for share in range(begin, end):
        first = share * SHARE
        stop = min(first + SHARE, a.elements)
        count = 0
        while first < stop:
            n = min(stop - first, <int64_t> DMLCY_FLAGGED)
            find_flags(a, first, n, flags)
            count += a.flagged(flags, n)
            first += n
        a.starts[share + 1] = count
    return 0


# Writes rows of which only one coordinate differs.
cdef int64_t write_rows(const Nonzero* a, const uint32_t* row, int last, const uint16_t* places, int64_t n,
                        uint32_t more, int64_t at, dmlcy_stream* stream) noexcept nogil:
    cdef RowsRow rows = dmlcy_rows_of[a.columns]
    cdef int64_t pitch = a.table.strides[a.table.rank - 2], step = a.table.strides[a.table.rank - 1], i, count
    cdef int64_t most = DMLCY_ROOM // (4 * a.columns)
    cdef char* target = a.table.data + at * pitch
    cdef int c
    if a.streams:
        i = 0
        while i < n:
            count = min(n - i, most)
            rows(<uint32_t*> dmlcy_stream_room(stream), row, last, places + i, count, more)
            dmlcy_stream_advance(stream, 4 * a.columns * count)
            i += count
    elif a.dense:
        rows(<uint32_t*> target, row, last, places, n, more)
    else:
        for i in range(n):
            for c in range(a.columns):
                (<uint32_t*> (target + i * pitch + c * step))[0] = places[i] + more if c == last else row[c]
    return at + n


# Rows of 0 behind all others.
cdef void clear_rows(const Nonzero* a, int64_t at, int64_t end, dmlcy_stream* stream) noexcept nogil:
    cdef int64_t pitch = a.table.strides[a.table.rank - 2], step = a.table.strides[a.table.rank - 1]
    cdef char* target = a.table.data + at * pitch
    cdef int c
    if a.streams:
        dmlcy_stream_seek(stream, target)
        dmlcy_stream_fill(stream, 0, (end - at) * 4 * a.columns)
    elif a.dense:
        memset(target, 0, (end - at) * 4 * a.columns)
    else:
        for at in range(at, end):
            for c in range(a.columns):
                (<uint32_t*> (target + c * step))[0] = 0
            target += pitch


# The rows of what was found among the elements from one on.
cdef int64_t write_found(const Nonzero* a, const uint16_t* places, int64_t n, int64_t first, int64_t at,
                         dmlcy_stream* stream) noexcept nogil:
    cdef int skipped = a.input.rank - a.columns, last = a.last - skipped, c
    cdef int64_t size = a.input.sizes[a.last], done = 0, end, row_end
    cdef uint32_t row[MAX_RANK]
    cdef Walk walk
    row_end = -1
    while done < n:
        if places[done] >= row_end + size:          # rows without any
            row_end = -1
        if row_end < 0:
            walk_to(a, &walk, first + places[done])
            row_end = places[done] - walk.place[a.last] + size
        else:
            next_row(a, &walk)
            row_end += size
        end = done + 1
        while end < n and places[end] < row_end:
            end += 1
        for c in range(a.columns):
            row[c] = <uint32_t> walk.place[skipped + c]
        at = write_rows(a, row, last, places + done, end - done, <uint32_t> (size - row_end), at, stream)
        done = end
    return at


# Items are shares: each makes its rows, and as many of those behind all as fall to it.
cdef int write_shares(const void* args, int64_t begin, int64_t end) noexcept nogil:
    cdef const Nonzero* a = <const Nonzero*> args
    cdef uint8_t flags[DMLCY_FLAGGED + 8]
    cdef uint16_t places[DMLCY_FLAGGED + 8]
    cdef dmlcy_stream stream
    cdef int64_t total = a.starts[a.shares], share, first, stop, n, at
    if a.streams:
        dmlcy_stream_begin(&stream, a.table.data)
    for share in range(begin, end):
        first = share * SHARE
        stop = min(first + SHARE, a.elements)
        at = a.starts[share]
        if a.streams:
            dmlcy_stream_seek(&stream, a.table.data + at * 4 * a.columns)
        while first < stop:
            n = min(stop - first, <int64_t> DMLCY_FLAGGED)
            find_flags(a, first, n, flags)
            memset(flags + n, 0, 8)
            at = write_found(a, places, dmlcy_found(flags, n, places), first, at, &stream)
            first += n
        # The rows that lack in the shares before, and in this share, are rows behind all.
        clear_rows(a, total + share * SHARE - a.starts[share], total + stop - a.starts[share + 1], &stream)
    if a.streams:
        dmlcy_stream_end(&stream)
    return 0


cdef int run_nonzero(const Tensor* input, const Tensor* count, const Tensor* places) noexcept nogil:
    cdef Nonzero work
    cdef int wide = dmlcy_wide()
    cdef int64_t share, grain
    cdef int status
    work.input = input
    work.table = places
    work.flags = dmlcy_flags_rows[wide][input.item]
    work.flagged = dmlcy_flagged_rows[wide]
    work.mask = 0x7fffffff if input.dtype == FLOAT32 else 0x7fff if input.dtype == FLOAT16 else UINT32_MAX
    work.elements = input.bytes // input.item
    work.shares = (work.elements - 1) // SHARE + 1
    work.columns = <int> places.sizes[places.rank - 1]
    work.last = input.rank - 1
    while work.last > input.rank - work.columns and input.sizes[work.last] == 1:
        work.last -= 1
    work.dense = places.dense
    work.streams = work.dense and stream_pays(input.bytes + places.bytes)
    work.starts = <int64_t*> malloc((work.shares + 1) * sizeof(int64_t))
    if work.starts == NULL:
        return -1
    grain = grain_of(SHARE * input.item)
    work.starts[0] = 0
    status = parallel_for(count_shares, &work, work.shares, grain)
    if status == 0:
        for share in range(work.shares):
            work.starts[share + 1] += work.starts[share]
        (<uint32_t*> count.data)[0] = <uint32_t> work.starts[work.shares]
        status = parallel_for(write_shares, &work, work.shares, grain)
    free(work.starts)
    return status
