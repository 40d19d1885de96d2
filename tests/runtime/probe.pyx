"""The C functions of dmlcy._runtime, made callable for the tests."""

from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.stdint cimport int64_t, uint64_t, uintptr_t
from libc.string cimport memcpy
cimport numpy as cnp

import numpy

from dmlcy._runtime cimport arguments, call, context, processor, tensor, threads

cdef extern from "isa.h" nogil:
    int dmlcy_has_of(unsigned c1, unsigned b7, unsigned c7, unsigned a7, unsigned kept) noexcept
    int dmlcy_level_of(int has) noexcept

cnp.import_array()


cdef dict description(tensor.Tensor* seen):
    return {
        "data": <uintptr_t>seen.data,
        "dtype": seen.dtype,
        "item": seen.item,
        "sizes": tuple([seen.sizes[axis] for axis in range(seen.rank)]),
        "strides": tuple([seen.strides[axis] for axis in range(seen.rank)]),
    }


def view(value, rank=None):
    cdef tensor.Tensor seen
    if not tensor.view(tensor.as_array(value), &seen):
        return None
    if rank is None:
        return description(&seen)
    possible = tensor.set_rank(&seen, rank)
    return bool(possible), description(&seen)


def item_of(dtype):
    return tensor.item_of(dtype)


def new_array(like, rank):
    cdef tensor.Tensor seen
    if not tensor.view(tensor.as_array(like), &seen) or not tensor.set_rank(&seen, rank):
        return None
    array = tensor.new_array(&seen)
    return array, description(&seen)


def out_array(out, like):
    cdef tensor.Tensor seen
    if not tensor.view(tensor.as_array(like), &seen):
        raise ValueError
    array = tensor.out_array(out, &seen)
    return array, description(&seen)


def aligned(value, rank=None):
    cdef tensor.Tensor seen
    cdef cnp.ndarray array = tensor.as_array(value)
    if not tensor.view(array, &seen) or not tensor.set_rank(&seen, rank or seen.rank):
        raise ValueError
    result = tensor.aligned(array, &seen)
    return result, description(&seen)


def take_uint(value, minimum=0, maximum=2**32 - 1):
    cdef int64_t result
    return result if arguments.take_uint(value, minimum, maximum, &result) else None


def take_uints(value, n, minimum=0, maximum=2**32 - 1):
    cdef int64_t[8] results
    if not arguments.take_uints(value, n, minimum, maximum, results):
        return None
    return tuple([results[i] for i in range(n)])


def take_bool(value):
    cdef bint result
    return bool(result) if arguments.take_bool(value, &result) else None


def take_float(value, infinite=False):
    cdef float result
    return numpy.float32(result) if arguments.take_float(value, infinite, &result) else None


def take_enum(value, cls, names):
    cdef int64_t result
    return result if arguments.take_enum(value, cls, names, &result) else None


def take_dtype(value):
    cdef int64_t result
    return result if arguments.take_dtype(value, &result) else None


def take_size_2d(value):
    cdef int64_t height, width
    return (height, width) if arguments.take_size_2d(value, 1, 100, &height, &width) else None


def take_scalar(value, dtype):
    cdef unsigned char[8] result
    if not arguments.take_scalar(value, dtype, result):
        return None
    return PyBytes_FromStringAndSize(<char*>result, tensor.item_of(dtype))


def current_level():
    return context.current_level()


cdef struct Job:
    int64_t* begins
    int64_t* visits
    int64_t fail
    bint nested


cdef int work(const void* args, int64_t begin, int64_t end) noexcept nogil:
    cdef const Job* job = <const Job*>args
    cdef Job inner
    cdef int64_t i
    if job.nested:
        inner = job[0]
        inner.nested = False
        inner.begins += begin
        inner.visits += begin
        return threads.parallel_for(work, &inner, end - begin, 1)
    for i in range(begin, end):
        job.begins[i] = begin
        job.visits[i] += 1
    return -1 if begin <= job.fail < end else 0


def parallel_for(int64_t total, int64_t grain, int64_t fail=-1, bint nested=False):
    """Returns what it returned, the begin of the chunk of each item, and how often each was done."""
    cdef cnp.ndarray begins = numpy.full(max(total, 0), -1, numpy.int64)
    cdef cnp.ndarray visits = numpy.zeros(max(total, 0), numpy.int64)
    cdef Job job
    cdef int status
    job.begins = <int64_t*>cnp.PyArray_DATA(begins)
    job.visits = <int64_t*>cnp.PyArray_DATA(visits)
    job.fail = fail
    job.nested = nested
    with nogil:
        status = threads.parallel_for(work, &job, total, grain)
    return status, begins, visits


cdef int count_call(const void* args, int64_t begin, int64_t end) noexcept nogil:
    cdef int64_t* seen = <int64_t*>args
    seen[0] += 1
    seen[1] = begin
    seen[2] = end
    return 0


def chunks(int64_t total, int64_t grain):
    """The number of chunks and the last one; only for one thread."""
    cdef int64_t[3] seen = [0, 0, 0]
    threads.parallel_for(count_call, seen, total, grain)
    return seen[0], seen[1], seen[2]


def grain_of(int64_t bytes):
    return threads.grain_of(bytes)


def small_call(x, out, int count):
    """The work of the binding of an operator before its kernel, `count` times."""
    cdef tensor.Tensor x_view, out_view
    cdef cnp.ndarray x_array, out_array
    for _ in range(count):
        x_array = tensor.as_array(x)
        if not tensor.view(x_array, &x_view):
            return False
        context.current_level()
        out_view = x_view
        if out is None:
            out_array = tensor.new_array(&out_view)
        else:
            out_array = tensor.out_array(out, &out_view)
            if out_array is None or tensor.overlap(out_array, &out_view, x_array, &x_view):
                return False
            if tensor.overlaps_itself(out_array, &out_view):
                return False
        x_array = tensor.aligned(x_array, &x_view)
    return True


def stream_pieces(unsigned char[::1] target, list pieces):
    """Streams into the target: where (None: the next byte), how, a source of 8 bytes and more, the number of bytes."""
    cdef processor.dmlcy_stream s
    cdef const unsigned char[::1] source
    cdef uint64_t word
    cdef int64_t n
    processor.dmlcy_stream_begin(&s, <char*>&target[0])
    for where, how, source, n in pieces:
        if where is not None:
            processor.dmlcy_stream_seek(&s, <char*>&target[0] + <int64_t>where)
        if how == "put":
            processor.dmlcy_stream_put(&s, <const char*>&source[0], n)
        elif how == "fill":
            memcpy(&word, &source[0], 8)
            processor.dmlcy_stream_fill(&s, word, n)
        else:
            memcpy(processor.dmlcy_stream_room(&s), &source[0], n)
            processor.dmlcy_stream_advance(&s, n)
    processor.dmlcy_stream_end(&s)


def last_level_cache():
    return processor.dmlcy_last_level_cache()


def has_of(c1, b7, c7, a7, kept):
    return dmlcy_has_of(c1, b7, c7, a7, kept)


def level_of(has):
    return dmlcy_level_of(has)


# An operator that makes a copy of its second input where that is constant, from which its loops then read.
cdef call.Run loops = NULL
cdef int64_t[2] counts              # of inputs that were prepared, of runs with them


cdef int64_t prepare_second(const void* fields, int input, void* to) noexcept nogil:
    cdef const tensor.Tensor* second = &(<const tensor.Tensor*>fields)[1]
    if input != 1:
        return 0
    if to != NULL:
        counts[0] += 1
        memcpy(to, second.data, second.bytes)
    return second.bytes


cdef int run_prepared(const void* fields) noexcept nogil:
    cdef tensor.Tensor* second = &(<tensor.Tensor*>fields)[1]
    if second.prepared != NULL:
        counts[1] += 1
        second.data = <char*>second.prepared
    return loops(fields)


def prepare_by(name, on):
    """Whether the second input of an operator is prepared from now on."""
    global loops
    cdef call.Call known = call.call_of_operator(name)
    if loops == NULL:
        loops = known.run
    counts[0] = counts[1] = 0
    known.run = loops
    known.prepare = NULL
    if on:
        known.run = run_prepared
        known.prepare = prepare_second


def prepared_counts():
    return counts[0], counts[1]


def enough(int64_t work):
    return threads.enough(work)


def parallel_for_held(int64_t total, int64_t grain, int times):
    """The same so many times while threads are held, within another call that holds them; how often it was right."""
    cdef int right = 0
    cdef int _i
    threads.hold_threads()
    for _i in range(times):
        threads.hold_threads()
        right += parallel_for(total, grain)[2].tolist() == [1] * total
        threads.let_threads_go()
    threads.let_threads_go()
    return right
