"""Folding elements along some axes: lines are cut into parts, parts into tiles, which the loops of a kernel take."""

from libc.math cimport isfinite
from libc.stdint cimport int64_t, uint64_t, uintptr_t
from libc.stdlib cimport free, malloc

from dmlcy._runtime.checks cimport ceil_div, magnitude
from dmlcy._runtime.elements cimport store_numbers
from dmlcy._runtime.lines cimport (
    LineAxis, Lines, Walk, begin_walk, folded_between, join_lines, next_walk
)
from dmlcy._runtime.moves cimport Move, Moves, moves_of, run_move
from dmlcy._runtime.processor cimport dmlcy_level
from dmlcy._runtime.strided cimport (
    FLOAT16, FLOAT32, MAX_RANK, UINT32, UINT64, Tensor, item_of, make_dense
)
from dmlcy._runtime.threads cimport SERIAL_BYTES, grain_of, parallel_for

cdef extern from "fold_extremes.h" nogil:
    enum:
        DMLCY_FOLD_LANES
        DMLCY_FOLD_GROUP
    const FoldKernel dmlcy_extremes[3]
    const FoldKernel dmlcy_places[2][3]

cdef extern from "scans.h" nogil:
    ctypedef struct ScanKernel:
        void (*lines[3])(
            const char* const* inputs, char* const* outputs, int64_t count, int64_t n, int64_t step, int64_t pitch,
            int exclusive) noexcept nogil
        void (*begin)(void* state, int64_t n) noexcept nogil
        void (*columns[3])(
            const void* const* inputs, void* const* outputs, int64_t rows, int64_t n, int exclusive,
            void* state) noexcept nogil
        unsigned char number
        unsigned char bits
        unsigned char apart

    const ScanKernel dmlcy_scans[2][3]

cdef enum:
    # the most elements of a line along the last axes that are folded to one result; parts of a longer line are joined
    PART = 4096
    # the most elements of a line across rows that are folded to one result; parts of a longer line are joined
    PART_ROWS = 1024
    # the most numbers that are loaded into a buffer at once, if the loop cannot read the tensor itself
    TILE = 4096
    COLUMNS = 1024                   # the most lines that are folded together, in one tile
    # the most lines of a tile whose lines lie across rows, and have partial results of their own
    TURNED_COLUMNS = 64
    ROWS = 128                      # the most rows of a tile, which one call of a loop folds
    # the most elements of a line that is folded side by side with its neighbors, if there are at least as many
    SHORT = 16
    FEW_UNITS = 32                  # the fewest pieces of work of whole lines with which threads do not share lines
    ITEM = 16                       # bytes of a result, at most
    ALIGNMENT = 64

# How a line lies in the tiles.
cdef enum Order:
    ALONG                           # in a row
    TURNED                          # in a column, and its elements are added as if it lay in a row
    ACROSS                          # in a column
    UPRIGHT                         # in a row, and its elements are added as if it lay in a column

# How the elements of a tensor become numbers.
cdef struct Taken:
    int dtype
    int item
    int number                      # the data type of the numbers
    bint same                       # elements are such numbers

cdef struct Plan:
    const FoldKernel* kernel
    FoldArgs args
    FoldTile tile
    Order order
    const char* input
    Taken take
    char* output                    # dense, in the order of the positions
    int output_dtype
    int output_item
    Lines lines                     # of the input
    int outer                       # kept axes before that of the columns; of lines in rows, all of them
    int64_t columns                 # of a tile, or rows
    int64_t blocks                  # of columns, in the last kept axis; or of all positions
    int64_t part                    # elements
    int64_t parts                   # of a line
    char* partial                   # the results of each part, for all positions; NULL: a unit of work has whole lines

# The memory of a thread.
cdef struct Room:
    char[TILE * 2] elements         # of 1 or 2 bytes: others are taken as they are
    char[TILE * 8 + ALIGNMENT] numbers
    char[DMLCY_FOLD_LANES * TURNED_COLUMNS * ITEM + ALIGNMENT] lanes
    char[COLUMNS * ITEM + ALIGNMENT] results
    char[COLUMNS * ITEM + ALIGNMENT] more
    const char* rows[ROWS]
    int64_t offsets[COLUMNS]


cdef inline char* aligned(char* room) noexcept nogil:
    return room + (-<uintptr_t>room & (ALIGNMENT - 1))


include "folds/load.pxi"
include "folds/plan.pxi"
include "folds/tiles.pxi"
include "folds/run.pxi"
include "folds/scan.pxi"


cdef int run_fold(const FoldKernel* kernel, const Tensor* input, const Tensor* output) noexcept nogil:
    cdef FoldArgs args
    args.tops = NULL
    args.flip = 0
    args.last = False
    return fold(kernel, &args, input, output)


# The kernel for a data type: floats, integers of up to 32 bits, and those of 64. An order of unsigned integers is that
# of signed ones whose first bit is another one.
cdef inline const FoldKernel* ordered(const FoldKernel* kernels, const Tensor* input, FoldArgs* args) noexcept nogil:
    if input.dtype == FLOAT32 or input.dtype == FLOAT16:
        return &kernels[0]
    if input.item == 8:
        if input.dtype == UINT64:
            args.flip ^= <int64_t>(<uint64_t>1 << 63)
        return &kernels[2]
    if input.dtype == UINT32:
        args.flip ^= <int64_t>(<uint64_t>1 << 31)
    return &kernels[1]


cdef int run_extreme(const Tensor* input, const Tensor* output, bint least) noexcept nogil:
    cdef FoldArgs args
    args.tops = NULL
    args.flip = -1 if least else 0
    args.last = False
    return fold(ordered(dmlcy_extremes, input, &args), &args, input, output)


cdef int find_place(const Tensor* input, const Tensor* output, bint least, bint last) noexcept nogil:
    cdef FoldArgs args
    args.tops = NULL
    args.flip = -1 if least else 0
    args.last = last
    return fold(ordered(dmlcy_places[1 if last else 0], input, &args), &args, input, output)
