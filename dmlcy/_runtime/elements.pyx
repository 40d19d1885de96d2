"""Loops that compute elements from those at the same place: axes are joined, rows are cut into blocks or packed."""

from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcpy

from dmlcy._runtime.activation cimport activate
from dmlcy._runtime.checks cimport ceil_div
from dmlcy._runtime.moves cimport Moves, dmlcy_ask_rows, moves_of
from dmlcy._runtime.processor cimport (
    dmlcy_level, dmlcy_stream, dmlcy_stream_begin, dmlcy_stream_end, dmlcy_stream_put, dmlcy_stream_seek, stream_pays
)
from dmlcy._runtime.strided cimport FLOAT16, FLOAT32, FLOAT64, INT64, MAX_RANK, Tensor, bytes_of, item_of
from dmlcy._runtime.threads cimport SERIAL_BYTES, grain_of, parallel_for

cdef extern from "elements.h" nogil:
    bint DMLCY_X86
    void dmlcy_repeat(char* target, const char* source, int64_t n, int item) noexcept
    void dmlcy_scale(float* x, int64_t n, float scale, float bias) noexcept

cdef extern from "element_numbers.h" nogil:
    # Elements of the data type `dtype` become numbers of the data type `number`, and back.
    void dmlcy_load_numbers(int number, void* to, const void* source, int64_t n, int dtype) noexcept
    void dmlcy_store_numbers(int number, const void* source, void* to, int64_t n, int dtype) noexcept
    void dmlcy_scale_doubles(double* x, int64_t n, double scale, double bias) noexcept

cdef enum:
    BLOCK = 1024                    # elements that are loaded, computed and stored together
    NEAR_BLOCK = 16384              # the same where the loop reads and writes the tensors themselves
    FUSED_BLOCK = 4096              # the same where an activation follows, while they are near
    SHORT = 64                      # elements of a row that is packed with others
    MEDIUM = 512                    # the same where that costs little
    LINE = 64                       # bytes of a cache line
    TENSORS = MOST_TENSORS

cdef uint64_t ZEROS = 0                   # zero of any data type

# The axes of all tensors. The last one is the row, the one before counts the rows of a tile.
cdef struct Axes:
    const Elements* a
    ElementRow row
    bint fast                       # the processor has what the additional loops of a kernel need
    bint halves                     # the row takes and gives FLOAT16 as it is in memory
    int number[TENSORS]             # the data type of the numbers that the row takes or gives
    bint same[TENSORS]              # it takes or gives elements as they are
    int last                        # number of the first output, which comes after the inputs
    int tensors
    int axes                        # before the row
    int64_t size[MAX_RANK]
    int64_t step[MAX_RANK][TENSORS]     # bytes
    int64_t length                  # of a row
    int64_t row_step[TENSORS]
    bint near[TENSORS]              # the elements of a row lie in memory as the loop takes or gives them
    int64_t piece                   # elements that the loop takes at once
    int64_t block                   # the same of a tile, some pieces; `blocks` of them are a row
    int64_t blocks
    int64_t height                  # rows; `tiles` times as many are the last axis before the row
    int64_t tiles
    bint packed                     # the loop takes all rows of a tile at once
    bint direct                     # it takes rows that are in memory, or repeat an element, and writes into the output
    bint streamed

# What a thread has loaded of an input, from `source` on.
cdef struct Loaded:
    const char* source
    int64_t rows
    int64_t n

# What a thread works with.
cdef struct Room:
    uint64_t[TENSORS][BLOCK] numbers
    uint64_t[BLOCK] elements
    Loaded[TENSORS] loaded
    dmlcy_stream stream


# Bytes between elements along an axis of the output. A tensor of size 1 repeats its element.
cdef inline int64_t step_of(const Tensor* tensor, int axis, int64_t size) noexcept nogil:
    return tensor.strides[axis] if tensor.sizes[axis] == size else 0


# Joins axes that lie one after the other in all tensors.
cdef void join_axes(const Elements* a, Axes* to) noexcept nogil:
    cdef const Tensor* output = a.tensors[a.inputs]
    cdef int axis, t, last, count = 0
    cdef int64_t size
    cdef bint joined
    for axis in range(output.rank):
        size = output.sizes[axis]
        if size == 1:
            continue
        joined = count > 0
        for t in range(to.tensors):
            joined = joined and to.step[count - 1][t] == size * step_of(a.tensors[t], axis, size)
        if joined:
            to.size[count - 1] *= size
        else:
            to.size[count] = size
            count += 1
        for t in range(to.tensors):
            to.step[count - 1][t] = step_of(a.tensors[t], axis, size)
    last = count - 1
    to.axes = max(last, 0)
    to.length = to.size[last] if count else 1
    for t in range(to.tensors):
        to.row_step[t] = to.step[last][t] if count else a.tensors[t].item


# Brings to the end of the axes before the row the one along which a tensor lies in memory whose rows do not. Returns
# that tensor; -1: there is none.
cdef int turn(Axes* to) noexcept nogil:
    cdef int64_t size
    cdef int axis, t, other
    for t in range(to.tensors):
        if to.row_step[t] == 0 or to.row_step[t] == to.a.tensors[t].item:
            continue
        for axis in range(to.axes):
            if to.step[axis][t] == to.a.tensors[t].item:
                size = to.size[axis]
                to.size[axis] = to.size[to.axes - 1]
                to.size[to.axes - 1] = size
                for other in range(to.tensors):
                    to.step[axis][other], to.step[to.axes - 1][other] = (
                        to.step[to.axes - 1][other], to.step[axis][other])
                return t
    return -1


# Whether each input but the first repeats an element in a row, as the loop `steady` of the kernel has it.
cdef bint is_steady(const ElementKernel* kernel, const Axes* to) noexcept nogil:
    cdef int t
    for t in range(1, to.last):
        if to.row_step[t] != 0 or not to.same[t]:
            return False
    return kernel.steady != NULL and to.fast and not to.halves and to.length > SHORT


# Says how many rows and elements of them are a tile. Rows are packed where they are too short for a call each, or where
# packing costs little: they follow one another, or repeat an element or a row.
cdef void cut(const ElementKernel* kernel, Axes* to) noexcept nogil:
    cdef int turned = turn(to)
    cdef int outer = to.axes - 1
    cdef int64_t rows = to.size[outer] if to.axes > 0 else 1
    cdef bint packed = turned >= 0 or (to.length <= SHORT and rows > 1)
    cdef bint easy = to.length <= MEDIUM and rows > 1
    cdef bint near = not to.streamed
    cdef int t
    if turned < 0 and is_steady(kernel, to):
        to.row = kernel.steady
        easy = False
        for t in range(1, to.last):
            to.near[t] = True
    to.direct = not to.streamed
    for t in range(to.tensors):
        near = near and to.near[t]
        if t >= to.last:
            to.direct = to.direct and to.near[t]
        else:
            to.direct = to.direct and (to.near[t] or (to.row_step[t] == 0 and to.same[t]))
        easy = easy and (to.row_step[t] == 0 or (to.near[t] and (
            to.step[outer][t] == 0 or to.step[outer][t] == to.length * to.a.tensors[t].item)))
    to.packed = packed or easy
    to.block = min(to.length, FUSED_BLOCK if to.a.fused != NULL else NEAR_BLOCK)
    if turned >= 0:
        to.height = min(rows, LINE // to.a.tensors[turned].item)
        to.block = min(to.length, BLOCK // to.height)
    else:
        to.height = min(rows, max((BLOCK if to.packed else NEAR_BLOCK) // to.block, 1))
    to.piece = to.block if to.packed or near else BLOCK
    to.blocks = ceil_div(to.length, to.block)
    to.tiles = ceil_div(rows, to.height)


# The same, where so many rows of n elements follow one another in memory.
cdef inline bint is_packed(const Axes* to, int t, int64_t rows, int64_t n) noexcept nogil:
    return to.near[t] and (rows == 1 or to.step[to.axes - 1][t] == n * to.a.tensors[t].item)


# The elements of rows of an input, one after the other.
cdef inline void gather(
        const Axes* to, int t, const char* source, int64_t rows, int64_t n, char* target) noexcept nogil:
    cdef int64_t[BLOCK] columns
    cdef int item = to.a.tensors[t].item
    cdef int64_t step = to.row_step[t]
    cdef int64_t row_step = to.step[to.axes - 1][t] if rows > 1 else 0
    cdef Moves moves = moves_of(item)
    cdef int64_t column, row
    if step == 0:
        for row in range(rows):
            dmlcy_repeat(target + row * n * item, source + row * row_step, n, item)
    elif row_step == item and step != item:
        dmlcy_ask_rows(source + n * step, step, n, rows * item)     # the tile that is next
        for column in range(n):
            columns[column] = column * step
        moves.transpose(source, columns, n, rows, target, n * item)
    else:
        moves.gather(source, row_step, step, target, n * item, rows, n)


# Puts elements one after the other into rows of an output.
cdef inline void scatter(
        const Axes* to, int t, const char* source, int64_t rows, int64_t n, char* target) noexcept nogil:
    cdef int64_t[LINE] starts
    cdef int item = to.a.tensors[t].item
    cdef int64_t step = to.row_step[t]
    cdef int64_t row_step = to.step[to.axes - 1][t] if rows > 1 else 0
    cdef Moves moves = moves_of(item)
    cdef int64_t row
    if step == item:
        moves.gather(source, n * item, item, target, row_step, rows, n)
    elif row_step == item and rows <= LINE:
        for row in range(rows):
            starts[row] = row * n * item
        moves.transpose(source, starts, rows, n, target, step)
    else:
        moves.copy_strided(source, n * item, item, target, row_step, step, rows, n)


# The elements of an input that a loop takes. What was loaded before, such as the one element of a row, stays.
cdef inline const void* taken(
        const Axes* to, int t, const char* source, int64_t rows, int64_t n, Room* room) noexcept nogil:
    cdef const Tensor* tensor = to.a.tensors[t]
    cdef Loaded* loaded = &room.loaded[t]
    cdef char* numbers = <char*>room.numbers[t]
    cdef const char* elements = source
    if is_packed(to, t, rows, n):
        return source
    if loaded.source == source and loaded.rows == rows and (n == loaded.n or (rows == 1 and n < loaded.n)):
        return numbers
    loaded.source = source
    loaded.rows = rows
    loaded.n = n
    if to.number[t] == tensor.dtype:
        gather(to, t, source, rows, n, numbers)
    else:
        if rows > 1 or to.row_step[t] != tensor.item:
            elements = <const char*>room.elements
            gather(to, t, source, rows, n, <char*>room.elements)
        dmlcy_load_numbers(to.number[t], numbers, elements, rows * n, tensor.dtype)
    if t == 0 and to.a.scaled and to.number[t] == FLOAT64:
        dmlcy_scale_doubles(<double*>numbers, rows * n, to.a.scale, to.a.bias)
    elif t == 0 and to.a.scaled:
        dmlcy_scale(<float*>numbers, rows * n, to.a.scale, to.a.bias)
    return numbers


# Puts what the row gave into an output. Rows that follow one another are streamed at once.
cdef inline void put(const Axes* to, int t, char* target, int64_t rows, int64_t n, Room* room) noexcept nogil:
    cdef const Tensor* tensor = to.a.tensors[t]
    cdef const char* results = <const char*>room.numbers[t]
    cdef bint straight
    cdef int64_t i
    if rows > 1 and to.row_step[t] == tensor.item and to.step[to.axes - 1][t] == n * tensor.item:
        n *= rows
        rows = 1
    if not to.same[t]:
        straight = rows == 1 and to.row_step[t] == tensor.item and not to.streamed
        dmlcy_store_numbers(to.number[t], results, target if straight else <char*>room.elements, rows * n, tensor.dtype)
        if straight:
            return
        results = <const char*>room.elements
    if not to.streamed:
        scatter(to, t, results, rows, n, target)
        return
    for i in range(rows):
        dmlcy_stream_seek(&room.stream, target + (i * to.step[to.axes - 1][t] if rows > 1 else 0))
        dmlcy_stream_put(&room.stream, results + i * n * tensor.item, n * tensor.item)


# The loop of a row, and the activation of what it gives. So few elements need no memory.
cdef inline void call_row(const Axes* to, const void* const* inputs, void* const* outputs, int64_t n) noexcept nogil:
    to.row(inputs, outputs, n, to.a.attributes)
    if to.a.fused != NULL:
        activate(to.a.fused, <float*>outputs[0], n)


# Computes rows at these places.
cdef inline void compute(
        const Axes* to, const int64_t* offset, int64_t rows, int64_t n, Room* room) noexcept nogil:
    cdef const void* inputs[TENSORS]
    cdef void* outputs[TENSORS]
    cdef bint straight[TENSORS]
    cdef int t
    for t in range(to.last):
        inputs[t] = taken(to, t, to.a.tensors[t].data + offset[t], rows, n, room)
    for t in range(to.last, to.tensors):
        straight[t] = is_packed(to, t, rows, n) and not to.streamed
        outputs[t - to.last] = to.a.tensors[t].data + offset[t] if straight[t] else <char*>room.numbers[t]
    call_row(to, inputs, outputs, rows * n)
    for t in range(to.last, to.tensors):
        if not straight[t]:
            put(to, t, to.a.tensors[t].data + offset[t], rows, n, room)


# Computes the rows of a tile where they are.
cdef void compute_direct(const Axes* to, const int64_t* offset, int64_t rows, int64_t n, Room* room) noexcept nogil:
    cdef const Elements* a = to.a
    cdef const char* begin[TENSORS]
    cdef const void* inputs[TENSORS]
    cdef void* outputs[TENSORS]
    cdef const char* source
    cdef int64_t _row, column, count
    cdef int t
    for t in range(to.tensors):
        begin[t] = a.tensors[t].data + offset[t]
    for _row in range(rows):
        for t in range(to.last):
            inputs[t] = source = begin[t]
            if not to.near[t]:
                inputs[t] = room.numbers[t]
                if room.loaded[t].source != source:
                    room.loaded[t].source = source
                    dmlcy_repeat(<char*>room.numbers[t], source, min(to.length, to.piece), a.tensors[t].item)
        for t in range(to.last, to.tensors):
            outputs[t - to.last] = <char*>begin[t]
        column = 0
        while True:
            count = min(n - column, to.piece)
            call_row(to, inputs, outputs, count)
            column += count
            if column == n:
                break
            for t in range(to.last):
                inputs[t] = <const char*>inputs[t] + count * to.row_step[t]
            for t in range(to.last, to.tensors):
                outputs[t - to.last] = <char*>outputs[t - to.last] + count * a.tensors[t].item
        if rows > 1:
            for t in range(to.tensors):
                begin[t] += to.step[to.axes - 1][t]


# The same of short rows that follow one another in the output: as many as there is room for are stored together.
cdef void compute_streamed(const Axes* to, int64_t* offset, int64_t rows, int64_t n, Room* room) noexcept nogil:
    cdef const void* inputs[TENSORS]
    cdef void* outputs[TENSORS]
    cdef char* target = to.a.tensors[to.last].data + offset[to.last]
    cdef int item = to.a.tensors[to.last].item if to.same[to.last] else item_of(to.number[to.last])
    cdef int64_t row, held = 0
    cdef int t
    for row in range(rows):
        for t in range(to.last):
            inputs[t] = taken(to, t, to.a.tensors[t].data + offset[t], 1, n, room)
            offset[t] += to.step[to.axes - 1][t]
        outputs[0] = <char*>room.numbers[to.last] + held * n * item
        call_row(to, inputs, outputs, n)
        held += 1
        if (held + 1) * n > BLOCK or row == rows - 1:
            put(to, to.last, target, held, n, room)
            target += held * n * to.a.tensors[to.last].item
            held = 0


# The same of rows that are loaded or stored in pieces.
cdef inline void compute_rows(const Axes* to, int64_t* offset, int64_t rows, int64_t n, Room* room) noexcept nogil:
    cdef int64_t begin[TENSORS]
    cdef int64_t _row, column
    cdef int t
    for _row in range(rows):
        memcpy(begin, offset, sizeof(begin))
        column = 0
        while column < n:
            compute(to, begin, 1, min(n - column, to.piece), room)
            for t in range(to.tensors):
                begin[t] += to.piece * to.row_step[t]
            column += to.piece
        for t in range(to.tensors):
            offset[t] += to.step[to.axes - 1][t] if rows > 1 else 0


cdef int work(const void* args, int64_t begin, int64_t end) noexcept nogil:
    cdef const Axes* to = <const Axes*>args
    cdef Room room
    cdef int64_t offset[TENSORS]
    cdef int64_t at, number, index, column, rows, n
    cdef int t, axis
    for t in range(to.last):
        room.loaded[t].source = NULL
    if to.streamed:
        dmlcy_stream_begin(&room.stream, to.a.tensors[to.last].data)
    for at in range(begin, end):
        number = at // to.blocks
        column = at % to.blocks * to.block
        n = min(to.length - column, to.block)
        rows = 1
        for t in range(to.tensors):
            offset[t] = column * to.row_step[t]
        for axis in range(to.axes - 1, -1, -1):
            if axis == to.axes - 1:
                index = number % to.tiles * to.height
                number //= to.tiles
                rows = min(to.size[axis] - index, to.height)
            else:
                index = number % to.size[axis]
                number //= to.size[axis]
            for t in range(to.tensors):
                offset[t] += index * to.step[axis][t]
        if to.packed:
            compute(to, offset, rows, n, &room)
        elif to.direct:
            compute_direct(to, offset, rows, n, &room)
        elif rows > 1 and n <= BLOCK and to.streamed and (
                to.step[to.axes - 1][to.last] == n * to.a.tensors[to.last].item):
            compute_streamed(to, offset, rows, n, &room)
        else:
            compute_rows(to, offset, rows, n, &room)
    if to.streamed:
        dmlcy_stream_end(&room.stream)
    return 0


# Chooses the row of the kernel: one that takes FLOAT16 as it is, where the processor converts it in registers.
cdef void choose(const ElementKernel* kernel, Axes* to) noexcept nogil:
    cdef int level = dmlcy_level()
    cdef int t, dtype, number
    cdef bint half = False
    for t in range(to.tensors):
        half = half or to.a.tensors[t].dtype == FLOAT16
    to.fast = level > 0 or not DMLCY_X86
    to.halves = half and kernel.halves != NULL and to.fast and not to.a.scaled and to.a.fused == NULL
    to.row = kernel.halves if to.halves else kernel.rows[level]
    for t in range(to.tensors):
        dtype = to.a.tensors[t].dtype
        number = kernel.takes[t] if t < to.last else kernel.gives
        to.number[t] = dtype if number == 0 or (to.halves and dtype == FLOAT16) else number
        to.same[t] = to.number[t] == dtype and not (t == 0 and to.a.scaled)


cdef int run_elements(const ElementKernel* kernel, const Elements* a) noexcept nogil:
    cdef Axes to
    cdef const void* inputs[TENSORS]
    cdef void* outputs[TENSORS]
    cdef int64_t units, moved = 0, element = 0
    cdef bint near = True
    cdef int t, axis
    to.a = a
    to.last = a.inputs
    to.tensors = a.inputs + a.outputs
    choose(kernel, &to)
    join_axes(a, &to)
    for t in range(to.tensors):
        to.near[t] = to.row_step[t] == a.tensors[t].item and to.same[t]
        near = near and to.near[t]
    if near and to.axes == 0 and to.length <= (FUSED_BLOCK if a.fused != NULL else NEAR_BLOCK):
        for t in range(to.last):
            inputs[t] = a.tensors[t].data
        for t in range(to.last, to.tensors):
            outputs[t - to.last] = a.tensors[t].data
        call_row(&to, inputs, outputs, to.length)
        return 0
    for t in range(to.tensors):
        element += a.tensors[t].item
        moved += bytes_of(a.tensors[t])
    to.streamed = a.outputs == 1 and stream_pays(moved) and to.row_step[to.last] == a.tensors[to.last].item
    cut(kernel, &to)
    units = to.blocks * to.tiles
    for axis in range(to.axes - 1):
        units *= to.size[axis]
    if bytes_of(a.tensors[a.inputs]) <= SERIAL_BYTES:
        return parallel_for(work, &to, units, units)
    return parallel_for(work, &to, units, grain_of(element * to.height * to.block))


cdef void fill_repeated(Tensor* to, const Tensor* of, int dtype, const void* data) noexcept nogil:
    cdef int axis
    to.data = <char*>data
    to.dtype = dtype
    to.item = item_of(dtype)
    to.rank = of.rank
    for axis in range(of.rank):
        to.sizes[axis] = 1
        to.strides[axis] = 0


cdef void fill_zeros(Tensor* to, const Tensor* of, int dtype) noexcept nogil:
    fill_repeated(to, of, dtype, &ZEROS)


cdef void fill_entries(Tensor* to, const Tensor* of, int axis, const float* entries) noexcept nogil:
    fill_repeated(to, of, FLOAT32, entries)
    to.sizes[axis] = of.sizes[axis]
    to.strides[axis] = to.item


cdef double float_in(int dtype, const unsigned char* bytes) noexcept nogil:
    cdef uint64_t room = 0
    cdef double number = 0
    memcpy(&room, bytes, item_of(dtype))
    dmlcy_load_numbers(FLOAT64, &number, &room, 1, dtype)
    return number


cdef int64_t integer_in(int dtype, const unsigned char* bytes) noexcept nogil:
    cdef uint64_t room = 0
    cdef int64_t number = 0
    memcpy(&room, bytes, item_of(dtype))
    dmlcy_load_numbers(INT64, &number, &room, 1, dtype)
    return number
