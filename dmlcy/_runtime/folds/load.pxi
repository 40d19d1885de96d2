# Elements that the loops cannot take where they are: put together in rows, and converted.

cdef inline void list_steps(int64_t step, int64_t count, int64_t* offsets) noexcept nogil:
    cdef int64_t i
    for i in range(count):
        offsets[i] = i * step


# `bits`: the bytes of integers that are numbers as they are.
cdef inline void take_as(Taken* take, const Tensor* input, int number, int bits) noexcept nogil:
    cdef bint whole = input.dtype != FLOAT32 and input.dtype != FLOAT16
    take.dtype = input.dtype
    take.item = input.item
    take.number = number
    take.same = input.dtype == number or (whole and input.item == bits)


# Elements `first` … `first` + `count` - 1 of a line, one after the other. `offsets` is room for COLUMNS of them.
cdef void gather_line(
        const Lines* lines, const Taken* take, const char* source, int64_t first, int64_t count, char* target,
        int64_t* offsets) noexcept nogil:
    cdef const LineAxis* axis = &lines.fold[lines.folded - 1]
    cdef const LineAxis* outer = &lines.fold[max(lines.folded - 2, 0)]
    cdef int64_t step = axis.step[0], item = take.item
    cdef Moves moves = moves_of(item)
    cdef int64_t within, n, rows, at, i
    cdef const char* begin
    cdef Walk walk
    while count > 0:
        within = first % axis.size
        begin_walk(&walk, lines, lines.fold, lines.folded - 1, first // axis.size)
        begin = source + walk.offset[0] + within * step
        if within > 0 or count < axis.size or lines.folded == 1:
            n = min(count, axis.size - within)
            moves.gather(begin, 0, step, target, 0, 1, n)
        else:
            rows = min(count // axis.size, outer.size - walk.index[lines.folded - 2])
            n = rows * axis.size
            if outer.step[0] == item and step != item and rows > 1:
                at = 0
                while at < axis.size:
                    i = min(axis.size - at, <int64_t>COLUMNS)
                    list_steps(step, i, offsets)
                    moves.transpose(begin + at * step, offsets, i, rows, target + at * item, axis.size * item)
                    at += i
            else:
                moves.gather(begin, outer.step[0], step, target, axis.size * item, rows, axis.size)
        target += n * item
        first += n
        count -= n


# Puts the elements of rows together that begin at `rows`, `step` bytes apart, and lets `rows` say where they are then.
cdef void gather_rows(
        const Taken* take, const char** rows, int64_t count, int64_t step, int64_t n, char* target,
        int64_t* offsets) noexcept nogil:
    cdef int64_t item = take.item
    cdef Moves moves = moves_of(item)
    cdef int64_t row = 0, some, i
    while row < count:
        some = 1
        if step != item:
            while row + some < count and rows[row + some] == rows[row] + some * item:
                some += 1
        if some > 1:
            list_steps(step, n, offsets)
            moves.transpose(rows[row], offsets, n, some, target + row * n * item, n * item)
        else:
            moves.gather(rows[row], 0, step, target + row * n * item, 0, 1, n)
        row += some
    for i in range(count):
        rows[i] = target + i * n * item


# Makes rows of numbers of rows of elements.
cdef void load_rows(
        const Taken* take, const char** rows, int64_t count, int64_t step, int64_t n, Room* room) noexcept nogil:
    cdef char* numbers = aligned(room.numbers)
    cdef int64_t item = item_of(take.number)
    cdef int64_t row
    if take.same:
        if step != item:
            gather_rows(take, rows, count, step, n, numbers, room.offsets)
        return
    if step != take.item:
        gather_rows(take, rows, count, step, n, room.elements, room.offsets)
        store_numbers(take.dtype, room.elements, numbers, count * n, take.number)
    else:
        for row in range(count):
            store_numbers(take.dtype, rows[row], numbers + row * n * item, n, take.number)
    for row in range(count):
        rows[row] = numbers + row * n * item
