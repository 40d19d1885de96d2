"""Loops that compute elements from those at the same place: axes are joined, rows are cut into blocks or packed."""

from libc.stdint cimport int64_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

from dmlcy._runtime.activation cimport activate
from dmlcy._runtime.checks cimport ceil_div
from dmlcy._runtime.copy cimport dmlcy_copy, dmlcy_fill
from dmlcy._runtime.epilogue cimport MOST_STRIPS, STRIP_BYTES, Strip, Strips
from dmlcy._runtime.moves cimport Moves, dmlcy_ask_rows, moves_of
from dmlcy._runtime.processor cimport (
    dmlcy_level, dmlcy_stream, dmlcy_stream_begin, dmlcy_stream_end, dmlcy_stream_put, dmlcy_stream_seek, stream_pays
)
from dmlcy._runtime.strided cimport FLOAT16, FLOAT32, FLOAT64, INT64, MAX_RANK, Tensor, item_of, make_dense
from dmlcy._runtime.threads cimport grain_of, is_serial, parallel_for

cdef extern from "elements.h" nogil:
    bint DMLCY_X86
    enum: DMLCY_LANES
    bint dmlcy_are_plain_limits(const float* limits) noexcept
    void dmlcy_repeat(char* target, const char* source, int64_t n, int item) noexcept
    void dmlcy_scale(float* x, int64_t n, float scale, float bias) noexcept
    void dmlcy_scale_doubles(double* x, int64_t n, float scale, float bias, int dtype) noexcept

cdef extern from "conversions.h" nogil:
    const ElementKernel dmlcy_conversion
    ctypedef struct DmlcyDataTypes:
        int to
        int of
    void dmlcy_convert_elements(void* to, int to_dtype, const void* source, int dtype, int64_t n) noexcept

cdef enum:
    BLOCK = 1024                    # the number of elements that are loaded into a buffer, computed and stored together
    # the most elements of a block where the loop reads and writes the tensors themselves
    NEAR_BLOCK = 16384
    # the most elements of a block before a fused activation takes them, while they are in the cache
    FUSED_BLOCK = 4096
    # the most elements of a row that is computed with other rows even if they must be copied to a buffer
    SHORT = 64
    # the most elements of a row that is computed with other rows if that costs little: they are contiguous or repeated
    MEDIUM = 512
    LINE = 64                       # bytes of a cache line
    TENSORS = MOST_TENSORS
    MOST_AXES = 3 * MAX_RANK        # where two tensors have elements for blocks

# The axes of all tensors. The last one is the row, the one before counts the rows of a tile.
cdef struct Axes:
    const Elements* a
    ElementRow row
    bint fast                       # the processor has what the additional loops of a kernel need
    bint steady                     # the row reads one element of each input but the first
    bint halves                     # the row takes and gives FLOAT16 as it is in memory
    int lanes                       # it takes multiples of so many elements
    int number[TENSORS]             # the data type of the numbers that the row takes or gives
    bint same[TENSORS]              # it takes or gives elements as they are
    int last                        # number of the first output, which comes after the inputs
    int tensors
    int axes                        # before the row
    int64_t size[MOST_AXES]
    int64_t step[MOST_AXES][TENSORS]    # bytes
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

# The elements of an input that a thread has loaded, from `source` on.
cdef struct Loaded:
    const char* source
    int64_t rows
    int64_t n

# The memory of a thread.
cdef struct Room:
    uint64_t[TENSORS][BLOCK] numbers
    uint64_t[BLOCK] elements
    Loaded[TENSORS] loaded
    dmlcy_stream stream


include "elements/axes.pxi"
include "elements/tiles.pxi"


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


# Whether a tensor has elements of FLOAT16.
cdef inline bint has_half(const Axes* to) noexcept nogil:
    cdef int t
    for t in range(to.tensors):
        if to.a.tensors[t].dtype == FLOAT16:
            return True
    return False


# Chooses the row of the kernel: one that takes FLOAT16 as it is, where the processor converts it in registers.
cdef void choose(const ElementKernel* kernel, Axes* to) noexcept nogil:
    cdef int level = dmlcy_level()
    cdef int t, dtype, number
    to.fast = level > 0 or not DMLCY_X86
    to.halves = kernel.halves != NULL and level >= kernel.halves_from and not to.a.scaled and to.a.fused == NULL and (
        has_half(to))
    to.steady = False
    to.row = kernel.halves if to.halves else kernel.rows[level]
    to.lanes = DMLCY_LANES if to.halves else kernel.lanes
    for t in range(to.tensors):
        dtype = to.a.tensors[t].dtype
        number = kernel.takes[t] if t < to.last else kernel.gives
        to.number[t] = dtype if number == 0 or (to.halves and dtype == FLOAT16) else number
        to.same[t] = to.number[t] == dtype and not (t == 0 and to.a.scaled)


# Whether each tensor is one row of all elements, or repeats one element. Then it fills in the axes.
cdef inline bint is_row(Axes* to) noexcept nogil:
    cdef const Tensor* output = to.a.tensors[to.last]
    cdef const Tensor* tensor
    cdef int t, axis
    to.axes = 0
    to.length = 1
    for axis in range(output.rank):
        to.length *= output.sizes[axis]
    for t in range(to.tensors):
        tensor = to.a.tensors[t]
        if not tensor.dense or (tensor.bytes != tensor.item and tensor.bytes != to.length * tensor.item):
            return False
        to.row_step[t] = 0 if tensor.bytes == tensor.item and to.length > 1 else tensor.item
        to.near[t] = to.row_step[t] == tensor.item and to.same[t]
    return True


# Whether the loop reads and writes all tensors where they are.
cdef inline bint are_near(const Axes* to) noexcept nogil:
    cdef int t
    for t in range(to.tensors):
        if not to.near[t]:
            return False
    return True


# Computes all elements by one call of the loop, where they are a row that is short enough. False: they are not.
cdef inline bint run_at_once(const ElementKernel* kernel, Axes* to) noexcept nogil:
    cdef const void* inputs[TENSORS]
    cdef void* outputs[TENSORS]
    cdef int t
    if not is_row(to) or to.length > (FUSED_BLOCK if to.a.fused != NULL else NEAR_BLOCK):
        return False
    if not are_near(to):
        if to.length > BLOCK:
            return False
        take_steady(kernel, to)
        if not are_near(to):
            to.block = to.length
            to.blocks = 1
            to.packed = True
            to.streamed = False
            work(to, 0, 1)
            return True
    for t in range(to.tensors):
        inputs[t] = to.a.tensors[t].data
    for t in range(to.last, to.tensors):
        outputs[t - to.last] = to.a.tensors[t].data
    call_row(to, inputs, outputs, to.length)
    return True


# Adds the strips of an operator to the wanted ones, if it has loops for that.
cdef void add_strips(const ElementKernel* kernel, const Elements* a, Strips* to) noexcept nogil:
    cdef Strip* strip = &to.each[to.count]
    cdef int t, last = to.count + (1 if a.fused == NULL else 2)
    strip.loop = kernel.strips[dmlcy_level()]
    if strip.loop == NULL or a.scaled or kernel.attributes > STRIP_BYTES or last > MOST_STRIPS:
        return
    for t in range(a.inputs + 1):
        if a.tensors[t].dtype != FLOAT32:
            return
    if a.fused != NULL:
        if a.fused.strip.loop == NULL:
            return
        to.each[last - 1] = a.fused.strip
    strip.other = NULL
    strip.inputs = a.inputs
    strip.place = 0
    strip.limited = False
    if kernel.limits != NULL:
        kernel.limits(a.attributes, strip.limits)
        strip.limited = dmlcy_are_plain_limits(strip.limits)
    if kernel.attributes:
        memcpy(strip.attributes, a.attributes, kernel.attributes)
    to.count = last


cdef int run_elements(const ElementKernel* kernel, const Elements* a) noexcept nogil:
    cdef Axes to
    cdef int64_t units, moved = 0, element = 0
    cdef int t, axis
    if a.tensors[a.inputs].prepared != NULL:
        add_strips(kernel, a, <Strips*>a.tensors[a.inputs].prepared)
        return 0
    to.a = a
    to.last = a.inputs
    to.tensors = a.inputs + a.outputs
    choose(kernel, &to)
    if run_at_once(kernel, &to):
        return 0
    join_axes(a, &to)
    for t in range(to.tensors):
        to.near[t] = to.row_step[t] == a.tensors[t].item and to.same[t]
    for t in range(to.tensors):
        element += a.tensors[t].item
        moved += a.tensors[t].bytes
    to.streamed = a.outputs == 1 and stream_pays(moved) and to.row_step[to.last] == a.tensors[to.last].item
    cut(kernel, &to)
    units = to.blocks * to.tiles
    for axis in range(to.axes - 1):
        units *= to.size[axis]
    if is_serial(a.tensors[a.inputs].bytes):
        return parallel_for(work, &to, units, units)
    return parallel_for(work, &to, units, grain_of(element * to.height * to.block))


cdef int run_conversion(Elements* a) noexcept nogil:
    cdef DmlcyDataTypes dtypes
    dtypes.of = a.tensors[0].dtype
    dtypes.to = a.tensors[1].dtype
    a.attributes = &dtypes
    return run_elements(&dmlcy_conversion, a)


# Whether each block of one tensor is in one of the other, or the other way round.
cdef bint are_nested(const Tensor* a, const Tensor* b) noexcept nogil:
    cdef int axis
    for axis in range(a.rank):
        if max(a.sizes[axis], b.sizes[axis]) % min(a.sizes[axis], b.sizes[axis]) != 0:
            return False
    return True


cdef int run_blocks(const ElementKernel* kernel, Elements* a) noexcept nogil:
    cdef const Tensor* output = a.tensors[a.inputs]
    cdef Tensor spread
    cdef Elements copy
    cdef int axis, status
    if are_nested(a.tensors[1], a.tensors[2]):
        return run_elements(kernel, a)
    spread = a.tensors[2][0]
    for axis in range(output.rank):
        spread.sizes[axis] = output.sizes[axis]
    make_dense(&spread, NULL)
    spread.data = <char*>malloc(spread.bytes)
    if spread.data == NULL:
        return -1
    copy.inputs = copy.outputs = 1
    copy.tensors[0] = a.tensors[2]
    copy.tensors[1] = &spread
    copy.scaled = False
    copy.fused = NULL
    status = run_conversion(&copy)
    if status == 0:
        a.tensors[2] = &spread
        status = run_elements(kernel, a)
    free(spread.data)
    return status


cdef void fill_repeated(Tensor* to, const Tensor* of, int dtype, const void* data) noexcept nogil:
    cdef int axis
    to.dtype = dtype
    to.item = item_of(dtype)
    to.rank = of.rank
    for axis in range(of.rank):
        to.sizes[axis] = 1
    make_dense(to, <char*>data)


cdef void fill_integer(Tensor* to, const Tensor* of, int dtype, int64_t* number) noexcept nogil:
    cdef int64_t given = number[0]
    store_numbers(INT64, &given, number, 1, dtype)
    fill_repeated(to, of, dtype, number)


cdef void fill_entries(Tensor* to, const Tensor* of, int axis, const float* entries) noexcept nogil:
    fill_repeated(to, of, FLOAT32, entries)
    to.sizes[axis] = of.sizes[axis]
    make_dense(to, to.data)


cdef double float_in(int dtype, const unsigned char* bytes) noexcept nogil:
    cdef uint64_t room = 0
    cdef double number = 0
    memcpy(&room, bytes, item_of(dtype))
    dmlcy_convert_elements(&number, FLOAT64, &room, dtype, 1)
    return number


cdef int64_t integer_in(int dtype, const unsigned char* bytes) noexcept nogil:
    cdef uint64_t room = 0
    cdef int64_t number = 0
    memcpy(&room, bytes, item_of(dtype))
    dmlcy_convert_elements(&number, INT64, &room, dtype, 1)
    return number


cdef void store_numbers(int number, const void* numbers, void* to, int64_t n, int dtype) noexcept nogil:
    dmlcy_convert_elements(to, dtype, numbers, number, n)
