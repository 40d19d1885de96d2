"""The loops of elements by index: which axes are gone through, and where each index points to."""

from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.string cimport memset

from dmlcy._runtime.copy cimport dmlcy_copy
from dmlcy._runtime.moves cimport Moves, dmlcy_ask, moves_of
from dmlcy._runtime.processor cimport (
    DMLCY_LINE, DMLCY_ROOM, dmlcy_stream, dmlcy_stream_advance, dmlcy_stream_begin, dmlcy_stream_end, dmlcy_stream_put,
    dmlcy_stream_room, dmlcy_stream_seek, dmlcy_wide, stream_pays
)
from dmlcy._runtime.strided cimport INT32, INT64, MAX_RANK, Tensor
from dmlcy._runtime.threads cimport SERIAL_BYTES, grain_of, is_serial, parallel_for
from dmlcy._runtime.views cimport run_copy, run_repeat

ctypedef void (*Take)(const char* places, const int64_t* offsets, char* others, int64_t stride,
                      int64_t n) noexcept nogil
ctypedef void (*Give)(char* places, const int64_t* offsets, const char* others, int64_t stride,
                      int64_t n) noexcept nogil
ctypedef void (*Offsets)(int64_t* offsets, int64_t n, const char* indices, int64_t stride, int64_t size,
                         int64_t step) noexcept nogil
ctypedef int (*AnyOutside)(const char* elements, int64_t n, int64_t stride, int64_t low, int64_t high) noexcept nogil
ctypedef void (*TakeEach)(const char* places, int64_t own, const char* indices, int64_t index_stride, int64_t size,
                          int64_t step, char* others, int64_t stride, int64_t n) noexcept nogil
ctypedef void (*GiveEach)(char* places, int64_t own, const char* indices, int64_t index_stride, int64_t size,
                          int64_t step, const char* others, int64_t stride, int64_t n) noexcept nogil

ctypedef void (*TakeWhole)(const char* places, const int64_t* offsets, char* others, int64_t step, int64_t row,
                           int64_t n, bint asks) noexcept nogil
ctypedef void (*GiveWhole)(char* places, const int64_t* offsets, const char* others, int64_t step, int64_t row,
                           int64_t n) noexcept nogil

cdef extern from "indexed.h" nogil:
    enum:
        DMLCY_AHEAD
        DMLCY_ASKED
        DMLCY_WHOLE
    const TakeWhole[2] dmlcy_take_whole_rows        # of each level
    const GiveWhole[2] dmlcy_give_whole_rows
    # By the type of an index: its bytes, and 1 more where it has a sign; by the size of an element.
    const Offsets[10] dmlcy_offsets_rows
    const AnyOutside[2][10] dmlcy_outside_rows      # of each level
    const Take[9] dmlcy_take_rows
    const Give[9] dmlcy_give_rows
    const TakeEach[10][9] dmlcy_take_elements
    const GiveEach[10][9] dmlcy_give_elements
    void dmlcy_flat_offsets(int64_t* offsets, int64_t n, const char* indices, int64_t stride, int item,
                            int rank, const int64_t* sizes, const int64_t* strides) noexcept

cdef enum:
    MOST_AXES = 2 * MAX_RANK + 2
    TOGETHER = 512                  # the number of indices from which offsets in memory are computed at once
    # the fewest bytes of a scattered output for one thread, so that threads do not share cache lines
    APART_BYTES = 256
    # the fewest bytes of indices that threads check together; one thread checks fewer before another one wakes up
    CHECKED_BYTES = 4 * SERIAL_BYTES
    # the most bytes along an indexed axis that are expected in a cache; the rows of a longer axis are prefetched
    NEAR_BYTES = 1048576
    # the fewest positions of an axis that threads share; if each axis has fewer, threads share the longest axis
    LEAST_PIECES = 16

cdef enum Way:
    EACH                            # each element has an index of its own
    ELEMENTS                        # the same by way of offsets
    RUNS                            # rows of elements that follow each other
    STRIDED                         # rows of elements that do not
    LINES                           # lines that are reversed in part

# `places` are the elements of the tensor that indices name. `others`, those of the other tensor, go to places or come
# from there, in the order of the axes. Each axis has a size, and steps in bytes: `own` of the places, 0 where an
# index has the coordinate, and those of the others and of the indices. An index counts elements along an axis of the
# first tensor, from its end if the index is negative: `counted` are there, `place_steps` bytes apart.
cdef struct Indexed:
    char* places
    char* others
    const char* indices
    int item
    int index_item
    int index_type                  # its bytes, and 1 more where it has a sign
    bint gives                      # the others go to places; otherwise they come from there
    bint flat                       # an index counts all elements of a tensor of these sizes and steps
    bint streams
    Way way
    int rank
    int coordinates
    int shared                      # the axis that threads share
    int64_t sizes[MOST_AXES]
    int64_t own[MOST_AXES]
    int64_t steps[MOST_AXES]
    int64_t index_steps[MOST_AXES]
    int64_t coordinate_step
    int64_t counted[MAX_RANK]
    int64_t place_steps[MAX_RANK]


cdef inline int type_of_index(const Tensor* indices) noexcept nogil:
    return indices.item + (indices.dtype == INT32 or indices.dtype == INT64)


include "indexed/axes.pxi"
include "indexed/rows.pxi"
include "indexed/lines.pxi"
include "indexed/checks.pxi"


cdef int run(Indexed* a) noexcept nogil:
    cdef int64_t bytes = a.item, size, grain
    cdef int d
    for d in range(a.rank):
        bytes *= a.sizes[d]
    if a.way == LINES:
        bytes *= a.counted[0]
    if bytes == 0:
        return 0
    join_axes(a)
    choose_way(a)
    share_axis(a)
    a.streams = (not a.gives and stream_pays(2 * bytes) and a.steps[a.rank - 1] == a.item
                 and (a.sizes[a.rank - 1] * a.item >= DMLCY_LINE or a.steps[a.rank - 2] == a.item))
    size = a.sizes[a.shared]
    grain = grain_of(bytes // size)
    if a.gives and a.own[a.shared] > 0:
        grain = max(grain, APART_BYTES // a.own[a.shared])
    return parallel_for(move_part, a, size, size if is_serial(bytes) else grain)


cdef int take_slices(const Tensor* input, const Tensor* indices, const Tensor* output, int64_t axis,
                     int64_t index_dimensions) noexcept nogil:
    cdef Indexed a
    cdef int d, rank = input.rank
    begin(&a, input, indices, output, False)
    for d in range(rank):
        if d > axis:
            add_axis(&a, output.sizes[d], input.strides[d], output.strides[d], 0)
        elif d + index_dimensions > axis:
            add_axis(&a, output.sizes[d], 0, output.strides[d], indices.strides[d + rank - 1 - axis])
        elif d + index_dimensions > 0:
            add_axis(&a, output.sizes[d], input.strides[d + index_dimensions - 1], output.strides[d], 0)
    add_coordinate(&a, input.sizes[axis], input.strides[axis])
    return run(&a)


cdef int of_elements(const Tensor* places, const Tensor* indices, const Tensor* others, int64_t axis,
                     bint gives) noexcept nogil:
    cdef Indexed a
    cdef int d
    begin(&a, places, indices, others, gives)
    for d in range(indices.rank):
        add_axis(&a, indices.sizes[d], 0 if d == axis else places.strides[d], others.strides[d], indices.strides[d])
    add_coordinate(&a, places.sizes[axis], places.strides[axis])
    return run(&a)


cdef int take_elements(const Tensor* input, const Tensor* indices, const Tensor* output, int64_t axis) noexcept nogil:
    return of_elements(input, indices, output, axis, False)


cdef int give_elements(const Tensor* input, const Tensor* indices, const Tensor* updates, const Tensor* output,
                       int64_t axis) noexcept nogil:
    if copy(input, output) != 0:
        return -1
    return of_elements(output, indices, updates, axis, True)


cdef int of_tuples(const Tensor* places, const Tensor* indices, const Tensor* others, int64_t batches,
                   int64_t places_count, int64_t indices_count, bint gives) noexcept nogil:
    cdef Indexed a
    cdef int d, rank = places.rank
    cdef int first = rank - <int>places_count, own = rank - <int>indices_count
    cdef int coordinates = <int>indices.sizes[rank - 1]
    cdef int blocks = first + <int>batches + coordinates
    cdef int at = rank - (<int>indices_count - 1) - (rank - blocks)
    begin(&a, places, indices, others, gives)
    for d in range(own, rank - 1):
        add_axis(&a, indices.sizes[d], places.strides[first + d - own] if d - own < batches else 0, others.strides[at],
                 indices.strides[d])
        at += 1
    for d in range(blocks, rank):
        add_axis(&a, places.sizes[d], places.strides[d], others.strides[at], 0)
        at += 1
    a.coordinate_step = indices.strides[rank - 1]
    for d in range(first + <int>batches, blocks):
        add_coordinate(&a, places.sizes[d], places.strides[d])
    return run(&a)


cdef int take_tuples(const Tensor* input, const Tensor* indices, const Tensor* output, int64_t batches,
                     int64_t input_count, int64_t indices_count) noexcept nogil:
    return of_tuples(input, indices, output, batches, input_count, indices_count, False)


cdef int give_tuples(const Tensor* input, const Tensor* indices, const Tensor* updates, const Tensor* output,
                     int64_t batches, int64_t input_count, int64_t indices_count) noexcept nogil:
    if copy(input, output) != 0:
        return -1
    return of_tuples(output, indices, updates, batches, input_count, indices_count, True)


cdef int give_places(const Tensor* input, const Tensor* indices, const Tensor* output) noexcept nogil:
    cdef Indexed a
    cdef int d
    if clear(output) != 0:
        return -1
    begin(&a, output, indices, input, True)
    for d in range(input.rank):
        add_axis(&a, input.sizes[d], 0, input.strides[d], indices.strides[d])
    if output.dense:
        add_coordinate(&a, output.bytes // output.item, output.item)
        return run(&a)
    a.flat = True
    for d in range(output.rank):
        add_coordinate(&a, output.sizes[d], output.strides[d])
    return run(&a)


cdef int take_lengths(const Tensor* input, const Tensor* lengths, const Tensor* output, int64_t axis) noexcept nogil:
    cdef Indexed a
    cdef int d
    begin(&a, input, lengths, output, False)
    a.way = LINES
    for d in range(input.rank):
        if d != axis:
            add_axis(&a, input.sizes[d], input.strides[d], output.strides[d], lengths.strides[d])
    add_coordinate(&a, input.sizes[axis], input.strides[axis])
    a.coordinate_step = output.strides[axis]
    return run(&a)
