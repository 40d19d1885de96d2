"""Loops that compute elements from those at the same place: axes are joined, rows are cut into blocks or packed."""

from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcpy

from dmlcy._runtime.activation cimport activate
from dmlcy._runtime.checks cimport ceil_div
from dmlcy._runtime.moves cimport Moves, dmlcy_ask_rows, moves_of
from dmlcy._runtime.processor cimport (
    dmlcy_level, dmlcy_stream, dmlcy_stream_begin, dmlcy_stream_end, dmlcy_stream_put, dmlcy_stream_seek, stream_pays
)
from dmlcy._runtime.strided cimport FLOAT16, FLOAT32, FLOAT64, INT64, MAX_RANK, UINT64, Tensor, bytes_of, item_of
from dmlcy._runtime.threads cimport SERIAL_BYTES, grain_of, parallel_for

cdef extern from "elements.h" nogil:
    bint DMLCY_X86
    void dmlcy_repeat(char* target, const char* source, int64_t n, int item) noexcept
    void dmlcy_scale(float* x, int64_t n, float scale, float bias) noexcept

cdef extern from "element_numbers.h" nogil:
    # Elements of the data type `dtype` become numbers of the data type `number`, and back.
    void dmlcy_load_numbers(int number, void* to, const void* source, int64_t n, int dtype) noexcept
    void dmlcy_store_numbers(int number, const void* source, void* to, int64_t n, int dtype) noexcept
    void dmlcy_scale_doubles(double* x, int64_t n, float scale, float bias, int dtype) noexcept

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


cdef void store_numbers(int number, const void* numbers, void* to, int64_t n, int dtype) noexcept nogil:
    if dtype == number or (number == INT64 and dtype == UINT64):
        memcpy(to, numbers, n * item_of(dtype))
    else:
        dmlcy_store_numbers(number, numbers, to, n, dtype)
