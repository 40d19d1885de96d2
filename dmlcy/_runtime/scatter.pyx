"""The loops that add columns where windows lie: how the output is cut into slabs, and what each slab adds up."""

from libc.stdint cimport int64_t, uint16_t, uint64_t
from libc.string cimport memset

from dmlcy._runtime.checks cimport ceil_div, floor_mod
from dmlcy._runtime.moves cimport Moves, dmlcy_ask, dmlcy_ask_rows, dmlcy_touch, even, list_offsets, moves_of
from dmlcy._runtime.processor cimport DMLCY_LINE, dmlcy_wide
from dmlcy._runtime.strided cimport MAX_RANK
from dmlcy._runtime.threads cimport SERIAL_BYTES, grain_of, is_serial, parallel_for

cdef extern from "window_moves.h" nogil:
    void dmlcy_scatter(
        int64_t item, char* output, int64_t lines, int64_t line_step, int64_t column_step, int64_t lane_step,
        const char* results, int64_t pitch, int64_t columns, int64_t run) noexcept

# The output is made in slabs: some rows of a plane, small enough for the first-level cache. The window elements
# ("taps") add their elements to a slab one tap after another, in row-major order. A tap gives a run of the input for
# each row, which is read as it lies in memory. No two threads write to one slab, and each element of the output has its
# addends in the same order whatever the slabs are.
#
# Where all channels and taps of a block lie side by side (channels last), the slabs of all channels at some rows follow
# each other, because they share cache lines. The blocks of a slab are transposed into cells first: their runs are
# dense.
#
# Along a row a tap reaches positions a stride apart. Their sums lie side by side, those of each remainder modulo the
# stride (a "class") for themselves, and are woven into a row at the end.

cdef enum:
    SLAB = 4096                     # the most sums of a slab, a part of the output that is computed at once
    PLANE = 65536                   # the most elements of a slab whose windows do not overlap, so that nothing is added
    # the largest stride along a row whose sums lie apart by remainder, and are woven into rows at the end
    CLASSES = 64
    SLABS = 32                      # the fewest slabs that a large output is cut into, so that threads have work
    # the bytes of a row of windows below which the next row is prefetched: processors do not foresee short rows
    SHORT_RUN = 256
    CELL_BYTES = 65536              # the most bytes of the input that are transposed into a buffer for one slab
    # the most bytes of the input for the slabs of all channels, if channels lie together, so that they stay in a cache
    NEAR_BYTES = 524288
    # the largest stride whose sums, apart by remainder, are woven into rows; with a larger one, they are transposed
    FEW = 4
    TURNED = 64                     # the number of windows whose elements are transposed at once

# Position p of the output, which is q = p + start of the padded axis, takes block b of tap t where
# q = b * stride + t * dilation.
cdef struct ScatterAxis:
    int64_t size                    # of the output
    int64_t output_step             # bytes between its elements
    int64_t window
    int64_t stride
    int64_t dilation
    int64_t start
    int64_t blocks
    int64_t tap_step                # bytes of the input between taps
    int64_t block_step              # and between blocks
    int64_t common                  # greatest common divisor of stride and dilation
    int64_t period                  # taps from one that a position takes to the next one: stride / common
    int64_t inverse                 # of dilation / common, modulo period
    int64_t next_step               # bytes of the input between the elements that these two taps give to the position

cdef struct ScatterPlan:
    const ScatterKernel* kernel
    const ScatterLoops* loops
    Moves moves                     # for elements of this size
    const char* input
    char* output
    int64_t channels
    int64_t input_steps[2]          # bytes between items of the batch, and between channels
    int64_t output_steps[2]
    int last                        # the last of the axes: of the columns; the one before it is that of the rows
    ScatterAxis axes[MAX_RANK]
    int64_t planes                  # of a channel: positions of the axes before these two
    int64_t rows                    # of a slab
    int64_t columns
    int64_t row_slabs               # of a plane
    int64_t column_slabs
    bint woven                      # a row of sums is woven from its classes
    bint apart                      # windows touch each other along a row, without padding, and nowhere overlap
    bint covered                    # if `apart`: each row of a plane lies under a window
    bint far                        # if `apart`: the window is a cache line wide or more, and may come from memory
    int64_t tap_at[CLASSES]         # if `apart`: bytes from the first tap of a row to each
    bint together                   # all channels and taps of a block lie side by side
    bint turned                     # if `together`: for each slab, taps of rows and columns are put into cells
    int64_t block_at[TURNED]        # if `turned`: bytes from the first block to each
    bint touched                    # blocks follow each other, and may come from memory: they are read once before

# A slab: positions of the padded axes of rows (0) and columns (1), and where their sums lie.
cdef struct ScatterSlab:
    char* output                    # of the first position
    int64_t begin[2]
    int64_t end[2]
    char* sums
    int64_t row_step                # bytes of the sums from row to row
    int64_t low                     # position of the first sum of a row: a multiple of the stride where it is woven
    int64_t length                  # of a class, or of the row
    int64_t blocks_begin            # rows of blocks that the slab takes
    int64_t blocks_end
    bint fresh                      # these blocks are touched before they are added
    int64_t tap_step[2]             # bytes between taps: of the cells if `turned`, otherwise of the input
    int64_t block_step[2]           # and between blocks

include "scatter/taps.pxi"
include "scatter/plan.pxi"
include "scatter/rows.pxi"
include "scatter/slabs.pxi"


cdef int run_scatter(const ScatterKernel* kernel, const WindowScatter* a) noexcept nogil:
    cdef int64_t bytes = a.input.bytes + a.output.bytes
    cdef ScatterPlan plan
    cdef const ScatterAxis* columns
    cdef int64_t planes, slabs
    plan.kernel = kernel
    plan.loops = &kernel.loops[dmlcy_wide()]
    plan.moves = moves_of(kernel.item)
    plan.input = a.input.data
    plan.output = a.output.data
    plan.channels = a.output.sizes[1]
    plan.input_steps[0] = a.input.strides[0]
    plan.output_steps[0] = a.output.strides[0]
    plan.output_steps[1] = a.output.strides[1]
    collect_axes(&plan, a)
    planes = a.output.sizes[0] * plan.channels * plan.planes
    collect_slabs(&plan, a, planes, bytes)
    columns = &plan.axes[plan.last]
    plan.far = bytes > SERIAL_BYTES and columns.stride * a.input.item >= DMLCY_LINE
    plan.far = plan.far and columns.block_step == a.input.item and columns.blocks * a.input.item < SHORT_RUN
    slabs = planes * plan.row_slabs * plan.column_slabs
    return parallel_for(scatter_slabs, &plan, slabs, slabs if is_serial(bytes) else grain_of(bytes // slabs))
