"""The loops of views: which moves they are."""

from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memset

from dmlcy._runtime.checks cimport magnitude
from dmlcy._runtime.moves cimport Move, run_move
from dmlcy._runtime.pad cimport Pad, run_pad
from dmlcy._runtime.strided cimport Tensor, Tensors, bytes_of


# The move of all elements of `part`, whose sizes it has, from one tensor to the other.
cdef void begin(Move* work, const Tensor* input, const Tensor* output, const Tensor* part) noexcept nogil:
    cdef int d
    work.rank = part.rank
    work.item = part.item
    work.input = input.data
    work.output = output.data
    for d in range(part.rank):
        work.sizes[d] = part.sizes[d]
        work.input_strides[d] = input.strides[d]
        work.output_strides[d] = output.strides[d]


cdef int run_join(const Tensors* inputs, const Tensor* output, int64_t axis) noexcept nogil:
    cdef Move work
    cdef int64_t total = bytes_of(output)
    cdef int64_t at = 0, k
    for k in range(inputs.count):
        begin(&work, &inputs.each[k], output, &inputs.each[k])
        work.output += at * output.strides[axis]
        if run_move(&work, total) != 0:
            return -1
        at += inputs.each[k].sizes[axis]
    return 0


cdef int run_split(const Tensor* input, const Tensors* outputs, int64_t axis) noexcept nogil:
    cdef Move work
    cdef int64_t total = bytes_of(input)
    cdef int64_t at = 0, k
    for k in range(outputs.count):
        begin(&work, input, &outputs.each[k], &outputs.each[k])
        work.input += at * input.strides[axis]
        if run_move(&work, total) != 0:
            return -1
        at += outputs.each[k].sizes[axis]
    return 0


cdef int run_tile(const Tensor* input, const Tensor* output, const int64_t* repeats) noexcept nogil:
    cdef Move work
    cdef int d
    begin(&work, input, output, input)
    for d in range(input.rank):
        if repeats[d] > 1:
            work.sizes[work.rank] = repeats[d]
            work.input_strides[work.rank] = 0
            work.output_strides[work.rank] = input.sizes[d] * output.strides[d]
            work.rank += 1
    return run_move(&work, bytes_of(output))


# The distance from one of several elements to the next; a step to nowhere may be too long for a number.
cdef inline int64_t stride_of(const Tensor* tensor, int d, int64_t step, int64_t size) noexcept nogil:
    return step * tensor.strides[d] if size > 1 else 0


cdef int run_slice(const Tensor* input, const Tensor* output, const int64_t* start, const int64_t* step) noexcept nogil:
    cdef Move work
    cdef int d
    begin(&work, input, output, output)
    for d in range(output.rank):
        work.input += start[d] * input.strides[d]
        work.input_strides[d] = stride_of(input, d, step[d], output.sizes[d])
    return run_move(&work, bytes_of(output))


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
    begin(&work, output, output, output)
    work.input = <const char*> &zero
    memset(work.input_strides, 0, sizeof(work.input_strides))
    if run_move(&work, bytes_of(output)) != 0:
        return -1
    begin(&work, input, output, input)
    for d in range(input.rank):
        work.output += start[d] * output.strides[d]
        work.output_strides[d] = stride_of(output, d, step[d], input.sizes[d])
    return run_move(&work, bytes_of(output))
