"""The loops of views: which moves they are."""

from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memset

from dmlcy._runtime.checks cimport ceil_div, magnitude
from dmlcy._runtime.moves cimport Move, run_move
from dmlcy._runtime.pad cimport Pad, run_pad
from dmlcy._runtime.strided cimport Tensor, Tensors
from dmlcy._runtime.threads cimport grain_of, parallel_for

cdef enum:
    # the bytes of a slab of rows, in which tensors are joined or split: less than the second-level cache
    SLAB_BYTES = 262144
    # the fewest bytes of a slab of rows for each of the tensors that are joined or split
    PART_BYTES = 4096


# The move of all elements of `part`, whose sizes it has, from one tensor to the other.
cdef void whole_of(Move* work, const Tensor* input, const Tensor* output, const Tensor* part) noexcept nogil:
    cdef int d
    work.rank = part.rank
    work.item = part.item
    work.input = input.data
    work.output = output.data
    for d in range(part.rank):
        work.sizes[d] = part.sizes[d]
        work.input_strides[d] = input.strides[d]
        work.output_strides[d] = output.strides[d]


cdef int run_copy(const Tensor* input, const Tensor* output) noexcept nogil:
    cdef Move work
    whole_of(&work, input, output, output)
    return run_move(&work, output.bytes)


cdef int run_repeat(const void* element, const Tensor* output) noexcept nogil:
    cdef Move work
    whole_of(&work, output, output, output)
    work.input = <const char*> element
    memset(work.input_strides, 0, sizeof(work.input_strides))
    return run_move(&work, output.bytes)


# Tensors side by side along an axis, and one tensor that has all their elements.
cdef struct Parts:
    const Tensors* parts
    const Tensor* whole
    bint join                       # the parts are the inputs
    int64_t axis
    int lead                        # the axis before it that is cut into slabs; -1: none
    int64_t slab                    # elements of it in a slab, which has one element of each axis before it
    int64_t slabs                   # along it


# Takes a slab of a move.
cdef void take_slab(const Parts* a, Move* work, int64_t slab) noexcept nogil:
    cdef int64_t first = slab % a.slabs * a.slab
    cdef int64_t rest = slab // a.slabs
    cdef int d
    for d in range(a.lead, -1, -1):
        work.input += first * work.input_strides[d]
        work.output += first * work.output_strides[d]
        work.sizes[d] = min(a.slab, a.whole.sizes[d] - first) if d == a.lead else 1
        if d > 0:
            first = rest % a.whole.sizes[d - 1]
            rest //= a.whole.sizes[d - 1]


# Items are slabs, of which all parts are moved.
cdef int move_slabs(const void* args, int64_t begin, int64_t end) noexcept nogil:
    cdef const Parts* a = <const Parts*> args
    cdef const Tensor* part
    cdef Move work
    cdef int64_t total = a.whole.bytes
    cdef int64_t slab, at, k
    for slab in range(begin, end):
        at = 0
        for k in range(a.parts.count):
            part = &a.parts.each[k]
            if a.join:
                whole_of(&work, part, a.whole, part)
                work.output += at * a.whole.strides[a.axis]
            else:
                whole_of(&work, a.whole, part, part)
                work.input += at * a.whole.strides[a.axis]
            at += part.sizes[a.axis]
            take_slab(a, &work, slab)
            if run_move(&work, total) != 0:
                return -1
    return 0


# Where parts of rows take turns in a large tensor, slabs of rows are moved one after the other. Each slab is in the
# cache while all parts of it are moved.
cdef int move_parts(Parts* a) noexcept nogil:
    cdef int64_t bytes = a.whole.bytes
    cdef int64_t least = max(<int64_t> SLAB_BYTES, a.parts.count * PART_BYTES)
    cdef int64_t outer = 1
    cdef int64_t size
    a.lead = -1
    a.slabs = 1
    if bytes < 2 * least or a.parts.count == 1:
        return move_slabs(a, 0, 1)
    while a.lead + 1 < a.axis and (a.lead < 0 or bytes > least):
        a.lead += 1
        outer *= a.slabs
        size = a.slabs = a.whole.sizes[a.lead]
        bytes //= size
    if a.lead < 0:
        return move_slabs(a, 0, 1)
    a.slab = min(max(least // bytes, <int64_t> 1), size)
    a.slabs = ceil_div(size, a.slab)
    return parallel_for(move_slabs, a, outer * a.slabs, grain_of(bytes * a.slab))


cdef int run_join(const Tensors* inputs, const Tensor* output, int64_t axis) noexcept nogil:
    cdef Parts work
    work.parts = inputs
    work.whole = output
    work.join = True
    work.axis = axis
    return move_parts(&work)


cdef int run_split(const Tensor* input, const Tensors* outputs, int64_t axis) noexcept nogil:
    cdef Parts work
    work.parts = outputs
    work.whole = input
    work.join = False
    work.axis = axis
    return move_parts(&work)


cdef int run_tile(const Tensor* input, const Tensor* output, const int64_t* repeats) noexcept nogil:
    cdef Move work
    cdef int d
    whole_of(&work, input, output, input)
    for d in range(input.rank):
        if repeats[d] > 1:
            work.sizes[work.rank] = repeats[d]
            work.input_strides[work.rank] = 0
            work.output_strides[work.rank] = input.sizes[d] * output.strides[d]
            work.rank += 1
    return run_move(&work, output.bytes)


# The distance from one of several elements to the next; a step to nowhere may be too long for a number.
cdef inline int64_t stride_of(const Tensor* tensor, int d, int64_t step, int64_t size) noexcept nogil:
    return step * tensor.strides[d] if size > 1 else 0


cdef int run_slice(const Tensor* input, const Tensor* output, const int64_t* start, const int64_t* step) noexcept nogil:
    cdef Move work
    cdef int d
    whole_of(&work, input, output, output)
    for d in range(output.rank):
        work.input += start[d] * input.strides[d]
        work.input_strides[d] = stride_of(input, d, step[d], output.sizes[d])
    return run_move(&work, output.bytes)


# Whether the elements lie side by side in the output: what is around them is padding.
cdef bint is_dense(const Tensor* input, const int64_t* step) noexcept nogil:
    cdef int d
    for d in range(input.rank):
        if input.sizes[d] > 1 and magnitude(step[d]) != 1:
            return False
    return True


cdef int surround(const Tensor* input, const Tensor* output, const int64_t* start, const int64_t* step) noexcept nogil:
    cdef Pad work
    cdef int64_t last
    cdef int d
    work.input = input[0]
    work.output = output[0]
    work.index = NULL
    memset(work.fill, 0, sizeof(work.fill))
    for d in range(input.rank):
        work.start[d] = start[d]
        if step[d] < 0:
            last = input.sizes[d] - 1
            work.start[d] -= last
            work.input.data += last * input.strides[d]
            work.input.strides[d] = -input.strides[d]
    return run_pad(&work)


cdef int run_place(const Tensor* input, const Tensor* output, const int64_t* start, const int64_t* step) noexcept nogil:
    cdef Move work
    cdef uint64_t zero = 0
    cdef int d
    if is_dense(input, step):
        return surround(input, output, start, step)
    if run_repeat(&zero, output) != 0:
        return -1
    whole_of(&work, input, output, input)
    for d in range(input.rank):
        work.output += start[d] * output.strides[d]
        work.output_strides[d] = stride_of(output, d, step[d], input.sizes[d])
    return run_move(&work, output.bytes)
