"""Loops that compute elements from those at the same place: axes are joined, and rows are cut into blocks."""

from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t

from dmlcy._runtime.checks cimport ceil_div
from dmlcy._runtime.half cimport dmlcy_float_to_half, dmlcy_half_to_float
from dmlcy._runtime.processor cimport (
    dmlcy_level, dmlcy_stream, dmlcy_stream_begin, dmlcy_stream_end, dmlcy_stream_put, dmlcy_stream_seek, stream_pays
)
from dmlcy._runtime.strided cimport FLOAT16, MAX_RANK, Tensor, bytes_of
from dmlcy._runtime.threads cimport SERIAL_BYTES, grain_of, parallel_for

cdef extern from "elements.h" nogil:
    void dmlcy_scale(float* x, int64_t n, float scale, float bias) noexcept

cdef enum:
    BLOCK = 1024                    # elements that are loaded, computed and stored together
    NEAR_BLOCK = 16384              # the same where the loop reads and writes the tensors themselves
    TENSORS = MOST_INPUTS + 1       # the output is the last one

# The axes of all tensors. The last one is the row.
cdef struct Axes:
    const Elements* a
    const ElementKernel* kernel
    ElementRow row
    int last                        # number of the output
    int axes                        # before the row
    int64_t size[MAX_RANK]
    int64_t step[MAX_RANK][TENSORS]     # bytes
    int64_t length                  # of a row
    int64_t row_step[TENSORS]
    int64_t block                   # elements; `blocks` of them are a row
    int64_t blocks
    bint streamed

# What a thread has loaded: the rows of an input, from `source` on.
cdef struct Loaded:
    const char* source
    int64_t n


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
        for t in range(a.inputs + 1):
            joined = joined and to.step[count - 1][t] == size * a.tensors[t].strides[axis]
        if joined:
            to.size[count - 1] *= size
        else:
            to.size[count] = size
            count += 1
        for t in range(a.inputs + 1):
            to.step[count - 1][t] = a.tensors[t].strides[axis]
    last = count - 1
    to.axes = max(last, 0)
    to.length = to.size[last] if count else 1
    for t in range(a.inputs + 1):
        to.row_step[t] = to.step[last][t] if count else a.tensors[t].item


# Elements that lie `step` bytes apart, one after the other, and back.
cdef void gather(char* target, const char* source, int64_t step, int64_t n, int item) noexcept nogil:
    cdef int64_t i
    if item == 4:
        for i in range(n):
            (<uint32_t*>target)[i] = (<const uint32_t*>(source + i * step))[0]
    elif item == 2:
        for i in range(n):
            (<uint16_t*>target)[i] = (<const uint16_t*>(source + i * step))[0]
    elif item == 1:
        for i in range(n):
            (<uint8_t*>target)[i] = (<const uint8_t*>(source + i * step))[0]
    else:
        for i in range(n):
            (<uint64_t*>target)[i] = (<const uint64_t*>(source + i * step))[0]


cdef void scatter(char* target, int64_t step, const char* source, int64_t n, int item) noexcept nogil:
    cdef int64_t i
    if item == 4:
        for i in range(n):
            (<uint32_t*>(target + i * step))[0] = (<const uint32_t*>source)[i]
    elif item == 2:
        for i in range(n):
            (<uint16_t*>(target + i * step))[0] = (<const uint16_t*>source)[i]
    elif item == 1:
        for i in range(n):
            (<uint8_t*>(target + i * step))[0] = (<const uint8_t*>source)[i]
    else:
        for i in range(n):
            (<uint64_t*>(target + i * step))[0] = (<const uint64_t*>source)[i]


# Whether a loop takes the elements of an input as they are, or gives those of the output.
cdef inline bint is_same(const Axes* to, int t) noexcept nogil:
    cdef const Tensor* tensor = to.a.tensors[t]
    if t == to.last:
        return tensor.item == to.kernel.item
    return (tensor.dtype != FLOAT16 or to.kernel.bits) and not (t == 0 and to.a.scaled)


# The same, where the rows of a tensor lie in memory as those of a loop.
cdef inline bint is_near(const Axes* to, int t) noexcept nogil:
    return to.row_step[t] == to.a.tensors[t].item and is_same(to, t)


# The elements of an input that a loop takes. What was loaded before, such as the one element of a row, stays.
cdef inline const void* taken(
        const Axes* to, int t, const char* source, int64_t n, char* room, Loaded* loaded) noexcept nogil:
    cdef const Tensor* tensor = to.a.tensors[t]
    if is_near(to, t):
        return source
    if loaded.source == source and n <= loaded.n:
        return room
    loaded.source = source
    loaded.n = n
    if tensor.dtype == FLOAT16 and not to.kernel.bits:
        dmlcy_half_to_float(<const uint16_t*>source, to.row_step[t], <float*>room, n)
    else:
        gather(room, source, to.row_step[t], n, tensor.item)
    if t == 0 and to.a.scaled:
        dmlcy_scale(<float*>room, n, to.a.scale, to.a.bias)
    return room


cdef inline void put(const Axes* to, char* target, const char* results, int64_t n) noexcept nogil:
    cdef const Tensor* tensor = to.a.tensors[to.last]
    cdef int64_t step = to.row_step[to.last]
    cdef int64_t i
    if is_same(to, to.last):
        scatter(target, step, results, n, tensor.item)
    elif tensor.dtype == FLOAT16:
        dmlcy_float_to_half(<const float*>results, <uint16_t*>target, step, n)
    else:                       # UINT32
        for i in range(n):
            (<uint32_t*>(target + i * step))[0] = <uint8_t>results[i]


cdef int work(const void* args, int64_t begin, int64_t end) noexcept nogil:
    cdef const Axes* to = <const Axes*>args
    cdef const Elements* a = to.a
    cdef uint64_t[TENSORS][BLOCK] rooms
    cdef Loaded[TENSORS] loaded
    cdef const void* inputs[TENSORS]
    cdef int64_t offset[TENSORS]
    cdef dmlcy_stream stream
    cdef int64_t at, number, index, column, n
    cdef char* target
    cdef int t, axis
    for t in range(to.last):
        loaded[t].source = NULL
    if to.streamed:
        dmlcy_stream_begin(&stream, a.tensors[to.last].data)
    for at in range(begin, end):
        number = at // to.blocks
        column = at % to.blocks * to.block
        n = min(to.length - column, to.block)
        for t in range(to.last + 1):
            offset[t] = column * to.row_step[t]
        for axis in range(to.axes - 1, -1, -1):
            index = number % to.size[axis]
            number //= to.size[axis]
            for t in range(to.last + 1):
                offset[t] += index * to.step[axis][t]
        for t in range(to.last):
            inputs[t] = taken(to, t, a.tensors[t].data + offset[t], n, <char*>rooms[t], &loaded[t])
        target = a.tensors[to.last].data + offset[to.last]
        if to.streamed:
            to.row(inputs, rooms[to.last], n, a.attributes)
            dmlcy_stream_seek(&stream, target)
            dmlcy_stream_put(&stream, <const char*>rooms[to.last], n * a.tensors[to.last].item)
        elif is_near(to, to.last):
            to.row(inputs, target, n, a.attributes)
        else:
            to.row(inputs, rooms[to.last], n, a.attributes)
            put(to, target, <const char*>rooms[to.last], n)
    if to.streamed:
        dmlcy_stream_end(&stream)
    return 0


cdef int run_elements(const ElementKernel* kernel, const Elements* a) noexcept nogil:
    cdef Axes to
    cdef const void* inputs[TENSORS]
    cdef int64_t rows = 1, moved = 0, element = 0
    cdef bint near = True
    cdef int t, axis
    to.a = a
    to.kernel = kernel
    to.row = kernel.rows[dmlcy_level()]
    to.last = a.inputs
    join_axes(a, &to)
    for t in range(a.inputs + 1):
        near = near and is_near(&to, t)
    if near and to.axes == 0 and to.length <= NEAR_BLOCK:
        for t in range(a.inputs):
            inputs[t] = a.tensors[t].data
        to.row(inputs, a.tensors[a.inputs].data, to.length, a.attributes)
        return 0
    for axis in range(to.axes):
        rows *= to.size[axis]
    for t in range(a.inputs + 1):
        element += a.tensors[t].item
        moved += bytes_of(a.tensors[t])
    to.streamed = stream_pays(moved) and is_near(&to, to.last)
    to.block = NEAR_BLOCK if near and not to.streamed else BLOCK
    to.blocks = ceil_div(to.length, to.block)
    if bytes_of(a.tensors[a.inputs]) <= SERIAL_BYTES:
        return parallel_for(work, &to, rows * to.blocks, rows * to.blocks)
    return parallel_for(work, &to, rows * to.blocks, grain_of(element * min(to.length, to.block)))
