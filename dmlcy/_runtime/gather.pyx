"""The loops that gather what is under windows: how the output is cut into boxes, and how each is filled."""

from libc.stdint cimport int64_t
from libc.string cimport memset

from dmlcy._runtime.checks cimport ceil_div, magnitude
from dmlcy._runtime.copy cimport dmlcy_copy
from dmlcy._runtime.moves cimport Moves, dmlcy_ask, dmlcy_ask_rows, dmlcy_touch, even, list_offsets, moves_of
from dmlcy._runtime.processor cimport (
    DMLCY_LINE, dmlcy_stream, dmlcy_stream_begin, dmlcy_stream_end, dmlcy_stream_put, dmlcy_stream_seek, stream_pays
)
from dmlcy._runtime.strided cimport MAX_RANK
from dmlcy._runtime.threads cimport SERIAL_BYTES, grain_of, is_serial, parallel_for

# Some taps and some blocks of a few channels are a box. Where that is fast, each tap of a box is copied from the input
# to the output. Elsewhere the box first goes into cells: a copy of that part of the input, with its padding, in which
# the blocks of every tap follow each other. So each element is fetched once for all taps, whatever the strides are, and
# the output is written in long runs.

cdef enum:
    # the most bytes of the buffer that holds the part of the input that a box of window elements reads
    CELL_BYTES = 65536
    # the most bytes of the buffer of a box with one channel, if enough windows fit: the first-level cache holds it
    NEAR_BYTES = 16384
    SLOTS = 64                      # the most elements of a window, along the last axis, that one box takes
    # the fewest windows of a box along the last axis; if fewer fit, the box takes fewer elements of each window
    LEAST_BLOCKS = 32
    ROWS = 256                      # the most windows whose elements are transposed at once
    # the bytes of the buffer in which strided elements are brought together before they are transposed
    DENSE_BYTES = 4096
    # the bytes of a line of the output up to which lines are stored apart for each window element, and prefetched
    SHORT_LINE = 256
    # the fewest bytes that a box should write in a row; a box with shorter runs takes fewer channels, and is not
    # streamed
    LONG_RUN = 512
    # the most bytes of a run of the output that is prefetched; the processor itself prefetches longer runs
    ASKED_BYTES = 8192
    # the most padding positions of a line that are cleared column by column, for all lines; more go line by line
    FEW = 4
    # the fewest positions for each position of padding with which all lines are copied as one run
    JOIN_GAP = 8
    # the largest step between elements, counted in elements, with which a loop gathers them fast
    KNOWN_STEP = 4

# Taps and blocks of one axis: block b of tap t is at position t * dilation + b * stride - start of the input. Taps t
# and t + slots, whose positions differ by a multiple of the stride, read the same elements: they share a slot of the
# cells.
cdef struct GatherAxis:
    int64_t n                       # elements of the input
    int64_t step                    # bytes
    int64_t window
    int64_t stride
    int64_t dilation
    int64_t start
    int64_t blocks
    int64_t tap_out_step
    int64_t block_out_step
    int64_t taps                    # in a box, at most
    int64_t piece                   # blocks in a box, at most
    int64_t slots
    int64_t shift                   # positions of a slot from its tap t to tap t + slots
    int64_t reach                   # positions of a slot beyond those of its first tap

# Neighbours in the input that go to distant places, which are transposed.
cdef enum Turn:
    TURN_NOTHING
    TURN_CHANNELS
    TURN_TAPS                       # of the last axis

cdef struct GatherPlan:
    const char* input
    char* output
    int64_t item
    Moves moves
    int64_t channels
    int64_t batch_step              # bytes, in the input
    int64_t channel_step
    int64_t batch_out_step
    int64_t channel_out_step
    GatherAxis axes[MAX_RANK]       # the spatial axes; there are two at least
    int last                        # number of the last one
    int64_t group                   # channels in a box, at most
    Turn turn
    bint gapped                     # there are gaps in the input between the taps that are transposed
    bint far                        # a position is a cache line or more, and may come from memory
    int64_t asked                   # bytes of the output that are prefetched while others are written; 0: none
    bint streams
    bint direct                     # the cells are the output: no two taps share a slot
    int64_t line_pitch              # bytes, in the cells
    int64_t slot_pitch
    int64_t line_slot_pitch
    int64_t channel_pitch

# Positions low … high-1 of a slot are inside the input; number q is at origin + q * stride there.
cdef struct Slot:
    int64_t origin
    int64_t low
    int64_t high

cdef struct Box:
    const char* source              # of the first channel, at position 0 of the last two axes
    char* target
    bint inside                     # its position is inside the input on all axes except the last two
    bint first                      # its channels are the first ones: other boxes then read the same lines
    int64_t channels
    int64_t tap[MAX_RANK]           # the first tap on each axis
    int64_t block[MAX_RANK]         # the first block on each axis
    int64_t height                  # positions of a slot of the last axis but one
    int64_t width                   # of the last axis
    int64_t slots                   # of the last axis
    Slot slot[SLOTS]
    int64_t low                     # low … high-1 are inside the input in all of them
    int64_t high
    int64_t rows[ROWS]              # offsets of the positions that are transposed at once

include "gather/plan.pxi"
include "gather/places.pxi"
include "gather/cells.pxi"
include "gather/boxes.pxi"


cdef int run_gather(const WindowGather* a) noexcept nogil:
    cdef int64_t bytes = a.output.bytes
    cdef int64_t moved = a.input.bytes + bytes
    cdef GatherPlan plan
    cdef const GatherAxis* axis
    cdef int64_t boxes
    cdef int d
    plan.input = a.input.data
    plan.output = a.output.data
    plan.item = a.input.item
    plan.moves = moves_of(a.input.item)
    plan.channels = a.input.sizes[1]
    plan.batch_step = a.input.strides[0]
    plan.channel_step = a.input.strides[1]
    plan.batch_out_step = a.output.strides[0]
    collect_axes(&plan, a)
    choose_turn(&plan)
    # Boxes of several channels write to so many places that streaming pays from half as much on. Other boxes write long
    # runs, which the cache takes in well until they are twice as much.
    plan.streams = a.output.strides[2] == plan.item and stream_pays(2 * moved if plan.group > 1 else moved // 2)
    choose_boxes(&plan)
    if plan.streams and not has_long_runs(&plan):
        plan.streams = False
        choose_turn(&plan)
        choose_boxes(&plan)
    axis = &plan.axes[plan.last]
    plan.far = moved > SERIAL_BYTES and not plan.gapped and axis.piece * plan.item < SHORT_LINE
    plan.far = plan.far and axis.window * axis.step >= DMLCY_LINE and axis.stride <= 2 * axis.window
    plan.asked = 0
    if plan.direct and plan.turn == TURN_NOTHING and stream_pays(2 * moved):
        plan.asked = plan.axes[plan.last - 1].piece * plan.line_pitch
        if plan.asked > ASKED_BYTES:
            plan.asked = 0
    boxes = a.input.sizes[0] * ceil_div(plan.channels, plan.group)
    for d in range(plan.last + 1):
        axis = &plan.axes[d]
        boxes *= ceil_div(axis.window, axis.taps) * ceil_div(axis.blocks, axis.piece)
    return parallel_for(gather_boxes, &plan, boxes, boxes if is_serial(bytes) else grain_of(bytes // boxes))
