"""The loops that only move elements, and how a move is cut into blocks, each of which is copied by one of them."""

from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcpy

from dmlcy._runtime.checks cimport ceil_div, magnitude
from dmlcy._runtime.copy cimport dmlcy_copy, dmlcy_copy_rows, dmlcy_fill
from dmlcy._runtime.processor cimport (
    DMLCY_LINE, DMLCY_ROOM, dmlcy_stream, dmlcy_stream_advance, dmlcy_stream_begin, dmlcy_stream_end, dmlcy_stream_fill,
    dmlcy_stream_put, dmlcy_stream_room, dmlcy_stream_seek, stream_pays
)
from dmlcy._runtime.threads cimport AWAKE_BYTES, SERIAL_BYTES, grain_of, is_serial, parallel_for

cdef extern from "move_rows.h" nogil:
    # The loops by the size of an element in bytes.
    const Gather dmlcy_gather[9]
    const Transpose dmlcy_transpose[9]
    const TurnTiles dmlcy_turn_tiles[9]
    const Weave dmlcy_weave[9]
    const CopyStrided dmlcy_copy_strided[9]
    const Clear dmlcy_clear[9]

# The axes are sorted and joined, and a few of them are chosen for a block: the innermost ones of the output, and the
# innermost one of the input. Both tensors are then passed through in full cache lines: blocks whose rows are not
# contiguous in the input go through cells, which stay in the first-level cache. The other axes count the blocks.

cdef enum:
    # the most bytes of the buffer through which a block goes from the input to the output
    CELL_BYTES = 65536
    # the most bytes of a block that is gathered or transposed: the first-level cache holds it
    NEAR_BYTES = 16384
    ROWS = 512                      # the most rows of a block that is transposed
    TILES = 32                      # the most tiles that are transposed together
    BLOCK_BYTES = 65536             # the most bytes of a block that is copied without a buffer
    # the most bytes of a contiguous run that is transposed with its neighbors; longer runs are copied
    SHORT_RUN = 16
    # the longest last axis of an output that is woven from as many runs of the input; a longer one is transposed
    FEW = 8
    # the fewest bytes of a row and of a column of a tile that is transposed by tiles; narrower tiles are slower
    NARROW = 16
    # the most positions of a strided row that are copied before the next row, which finds their lines in the cache
    STRIDED_POSITIONS = 128
    # the most bytes that are read in order before they are transposed: less than the second-level cache
    TOUCHED_BYTES = 262144
    # the fewest bytes of a line with which lines are taken in the order of the input, instead of the output
    APART_RUN = 2048
    # the fewest bytes of a line that is streamed to memory; shorter lines are copied faster
    LONG_RUN = 256
    # the bytes of a line below which lines that follow one another are put together before they are streamed
    PACKED_RUN = 320
    SIDE = 16                       # rows of one-byte elements that are turned at once

cdef struct MoveAxis:
    int64_t size
    int64_t step                    # bytes, in the input
    int64_t out_step

# Lines of the output. A line has `row` positions of `few` times `grain` elements, one after the other:
# position, plane, element. `line` and, inside of it, `within` count the lines.
cdef struct Block:
    MoveAxis row
    MoveAxis few
    MoveAxis grain
    MoveAxis line
    MoveAxis within

# How a block is copied.
cdef enum Way:
    COPY_RUNS                       # lines are contiguous in the input
    WEAVE_ROWS                      # planes are contiguous in the input
    GATHER_ROWS                     # nothing is contiguous in the input
    TURN_ROWS                       # `few`, `within` and `line` follow each other in the input: it is transposed
    TURN_TILES                      # `within` and `few` follow each other: each line is a tile that is transposed
    SPLIT_ROWS                      # the planes of a row take turns in the input: the elements of each come together
    COPY_STRIDED                    # nothing is contiguous in the output
    FILL_ROWS                       # a line repeats one element of the input

cdef struct MovePlan:
    const char* input
    char* output
    int64_t item
    Moves moves
    Way way
    bint streams
    bint packs                      # lines are streamed together
    bint far                        # the output may come from memory
    Weave weave
    Block block                     # sizes of the whole axes
    int64_t row_piece               # sizes of one block
    int64_t line_piece
    int row_axis                    # the outer axis that counts the pieces of the rows
    int line_axis
    int64_t pitch                   # of planes in cells
    int64_t few_planes              # in cells: planes from one plane of a line to its next plane
    int64_t within_planes           # in cells: planes from one line to the next line of `within`
    bint touches                    # before a block of the first lines, the memory between its rows is read in order
    MoveAxis outer[MAX_AXES + 2]    # slowest first
    int outers
    int64_t blocks                  # product of their sizes

include "moves/axes.pxi"
include "moves/plan.pxi"
include "moves/weaves.pxi"
include "moves/blocks.pxi"


cdef Moves moves_of(int64_t item) noexcept nogil:
    cdef Moves moves
    moves.gather = dmlcy_gather[item]
    moves.transpose = dmlcy_transpose[item]
    moves.turn_tiles = dmlcy_turn_tiles[item]
    moves.weave = dmlcy_weave[item]
    moves.copy_strided = dmlcy_copy_strided[item]
    moves.clear = dmlcy_clear[item]
    return moves


cdef void list_offsets(int64_t first, int64_t count, int64_t step, int64_t size, int64_t inner_step,
                       int64_t* offsets) noexcept nogil:
    cdef int64_t inner = first % size
    cdef int64_t outer = first // size * step
    cdef int64_t i
    for i in range(count):
        offsets[i] = outer + inner * inner_step
        inner += 1
        if inner == size:
            inner = 0
            outer += step


cdef int run_move(const Move* a, int64_t total) noexcept nogil:
    cdef MovePlan plan
    cdef int64_t bytes = a.item
    cdef int64_t run
    cdef int d
    for d in range(a.rank):
        bytes *= a.sizes[d]
    collect_axes(&plan, a)
    merge_axes(&plan)
    if bytes <= AWAKE_BYTES and is_one_run(&plan):
        dmlcy_copy_rows(plan.input, 0, plan.output, 0, bytes, 1)
        return 0
    widen(&plan)
    choose_block(&plan)
    choose_pieces(&plan)
    cut_blocks(&plan)
    plan.moves = moves_of(plan.item)
    choose_weave(&plan)
    plan.far = 2 * bytes > SERIAL_BYTES
    # Lines of grains that are woven are no faster either.
    run = plan.row_piece * plan.block.grain.size * plan.item
    if plan.way != SPLIT_ROWS:
        run *= plan.block.few.size
    plan.packs = plan.way == COPY_RUNS and run < PACKED_RUN and are_packed(&plan, run)
    # Elements that go through cells stay in the cache longer than streaming would take.
    plan.streams = (stream_pays(total if plan.packs or plan.way == GATHER_ROWS else 2 * total)
                    and plan.way != COPY_STRIDED and plan.way != TURN_TILES
                    and (plan.block.few.size == 1 or plan.block.grain.size == 1) and (run >= LONG_RUN or plan.packs))
    plan.blocks = 1
    for d in range(plan.outers):
        plan.blocks *= plan.outer[d].size
    return parallel_for(move_blocks, &plan, plan.blocks,
                        plan.blocks if is_serial(bytes) else grain_of(bytes // plan.blocks))
