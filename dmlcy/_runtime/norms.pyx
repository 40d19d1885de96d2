"""Loops that normalize lines of elements: lines are brought together as rows of floats, and results are put back."""

from libc.stdint cimport int64_t, uint16_t, uint32_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from dmlcy._runtime.activation cimport activate
from dmlcy._runtime.checks cimport ceil_div
from dmlcy._runtime.elements cimport store_numbers
from dmlcy._runtime.epilogue cimport Epilogue, take_epilogue
from dmlcy._runtime.half cimport dmlcy_float_of_half, dmlcy_half_to_float
from dmlcy._runtime.lines cimport LineAxis, Lines, Walk, begin_walk, join_lines, next_walk
from dmlcy._runtime.moves cimport Move, Moves, dmlcy_ask, moves_of, run_move
from dmlcy._runtime.processor cimport (
    dmlcy_level, dmlcy_stream, dmlcy_stream_begin, dmlcy_stream_end, dmlcy_stream_put, dmlcy_stream_seek, stream_pays
)
from dmlcy._runtime.strided cimport FLOAT16, FLOAT32, Tensor, make_dense
from dmlcy._runtime.threads cimport grain_of, parallel_for

cdef extern from "norm_sums.h" nogil:
    void dmlcy_sum_rows(const double* source, double* target, double* room, int64_t rows, int64_t n, int64_t before,
                        int64_t after) noexcept
    void dmlcy_sum_along(const double* source, double* target, double* room, int64_t rows, int64_t n, int64_t before,
                         int64_t after) noexcept

cdef enum:
    TENSORS = DMLCY_NORM_TENSORS
    CHUNK = DMLCY_NORM_CHUNK
    LINE = 64                       # bytes of a cache line
    PAGE = 4096                     # bytes: caches keep only some places that are so far apart
    FEW = 4                         # the most pieces of work of whole lines with which threads share long lines instead
    SHORT = 64                      # the most elements of lines that are computed side by side in any layout
    SOME = 16                       # the fewest neighboring lines that are worth computing side by side
    SMALL = 8192                    # bytes that a call has without asking for memory

# Where the rows of a tensor are.
cdef enum Place:
    NEAR                            # in the tensor
    REPEATED                        # an element of the tensor is all elements of a line
    PACKED                          # in memory of their own
    ONE                             # one element for each line

# How lines are cut. A unit is some lines that follow one another along the last kept axis.
cdef struct Plan:
    const NormKernel* kernel
    const Norm* a
    NormLoop loop
    Lines lines
    int last                        # the number of the first output
    int tensors
    Place place[TENSORS]
    bint sides                      # lines are computed side by side
    bint streams                    # of these, outputs whose lines are contiguous are streamed
    int64_t chunk                   # elements of a line that are computed together
    int64_t chunks                  # of a line
    int64_t height                  # lines of a unit
    int64_t tiles                   # units along the last kept axis
    int64_t units
    int64_t items                   # elements of each row, in memory of their own
    int64_t bytes                   # of all memory of its own that a thread needs
    double* states                  # of the chunks of all lines, one sweep after the other; NULL: threads have lines
    const Epilogue* after           # what follows the elements of each chunk; NULL: nothing
    int step                        # what they do with chunks
    int sweep

# The memory of a thread.
cdef struct Room:
    float* rows[TENSORS]
    char* elements                  # as tensors have them
    int64_t* columns                # where the elements of a row are
    int64_t column_step             # they are so far apart; 1: nothing is known yet
    double* states
    dmlcy_stream* stream
    const char* repeated[TENSORS]   # what is repeated in rows
    int64_t repeats[TENSORS]
    int64_t repeated_rows[TENSORS]

include "norms/rows.pxi"
include "norms/units.pxi"
include "norms/sides.pxi"
include "norms/run.pxi"
include "norms/neighbors.pxi"


cdef void fill_number(Tensor* to, const Tensor* of, float* number) noexcept nogil:
    cdef int axis
    to.dtype = FLOAT32
    to.item = sizeof(float)
    to.rank = of.rank
    for axis in range(of.rank):
        to.sizes[axis] = 1
    make_dense(to, <char*>number)


# Says where the rows of a tensor are.
cdef inline Place place_of(const Plan* to, int t) noexcept nogil:
    cdef const Tensor* tensor = to.a.tensors[t]
    cdef const Lines* lines = &to.lines
    cdef bint repeats = True
    cdef int axis
    if to.kernel.single >> t & 1:
        return ONE
    for axis in range(lines.folded):
        repeats = repeats and lines.fold[axis].step[t] == 0
    if repeats and t < to.last and lines.count > 1:
        return REPEATED
    if tensor.dtype == FLOAT32 and lines.folded == 1 and (
            lines.fold[0].step[t] == tensor.item or lines.count == 1):
        return NEAR
    return PACKED


# Whether elements of neighbouring lines follow one another in memory, and those of a line do not.
cdef inline bint is_turned(const Plan* to, int t) noexcept nogil:
    cdef const Lines* lines = &to.lines
    cdef int item = to.a.tensors[t].item
    return to.place[t] == PACKED and lines.keep[lines.kept - 1].step[t] == item and (
        lines.fold[lines.folded - 1].step[t] != item)


cdef void cut(Plan* to) noexcept nogil:
    cdef int64_t wide = to.lines.keep[to.lines.kept - 1].size
    cdef int64_t least = 1
    cdef int64_t rows = 0
    cdef int64_t bytes = 0
    cdef int t
    for t in range(to.tensors):
        bytes += to.a.tensors[t].bytes
        to.place[t] = place_of(to, t)
        if is_turned(to, t):
            least = max(least, LINE // to.a.tensors[t].item)
    to.chunk = min(to.lines.count, CHUNK)
    to.chunks = ceil_div(to.lines.count, to.chunk)
    to.sides = to.chunks == 1 and wide >= SOME and to.lines.count > 1 and (
        is_turned(to, 0) or to.lines.count <= SHORT)
    to.height = DMLCY_NORM_LANES if to.sides else min(wide, max(least, CHUNK // to.chunk))
    to.tiles = ceil_div(wide, to.height)
    to.units = to.lines.positions // wide * to.tiles
    to.items = to.height * to.chunk
    to.streams = to.sides and stream_pays(bytes)
    for t in range(to.tensors):
        if to.place[t] == ONE:
            rows += to.height
        elif to.sides or to.place[t] != NEAR:
            rows += to.items
    to.bytes = 0
    if rows:
        to.bytes = (rows + to.items) * <int64_t>sizeof(float) + (to.chunk + LINE) * <int64_t>sizeof(int64_t)
    to.bytes += to.height * to.kernel.states * <int64_t>sizeof(double) + 3 * LINE


# Elements of the first output that follow one another, among elements that are computed together; 0: they do not.
cdef inline int64_t row_of_results(const Plan* to) noexcept nogil:
    cdef int t = to.last
    if to.sides or to.place[t] == ONE or to.lines.folded != 1 or to.lines.fold[0].step[t] != to.a.tensors[t].item:
        return 0
    if to.chunks == 1 and to.lines.keep[to.lines.kept - 1].step[t] == to.chunk * to.a.tensors[t].item:
        return to.height * to.chunk
    return to.chunk


cdef int run_norm(const NormKernel* kernel, const Norm* a) noexcept nogil:
    cdef Plan to
    cdef int64_t element = 0
    cdef int t
    to.kernel = kernel
    to.a = a
    to.loop = kernel.levels[dmlcy_level()]
    to.last = a.inputs
    to.tensors = a.inputs + a.outputs
    to.states = NULL
    join_lines(&to.lines, a.tensors, to.tensors, a.folded)
    cut(&to)
    to.after = NULL
    if a.outputs == 1 and row_of_results(&to) > 0:
        to.after = take_epilogue(a.tensors[to.last], row_of_results(&to))
    for t in range(to.tensors):
        if not kernel.single >> t & 1:
            element += a.tensors[t].item
    if to.units <= FEW and to.chunks > FEW:
        return run_chunks(&to, element)
    return parallel_for(run_units, &to, to.units, grain_of(element * to.height * to.lines.count))
