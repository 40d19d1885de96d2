"""The loops that pad: how the output is cut into pieces of rows, and where each piece comes from."""

from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcpy, memset

from dmlcy._runtime.checks cimport ceil_div, magnitude
from dmlcy._runtime.copy cimport dmlcy_copy
from dmlcy._runtime.moves cimport dmlcy_ask
from dmlcy._runtime.processor cimport (
    dmlcy_stream, dmlcy_stream_begin, dmlcy_stream_end, dmlcy_stream_put, dmlcy_stream_seek, stream_pays
)
from dmlcy._runtime.strided cimport MAX_RANK
from dmlcy._runtime.threads cimport grain_of, is_serial, parallel_for

# The declarations of pad_rows.h, which explains them.
cdef extern from "pad_rows.h" nogil:
    enum:
        EDGE_POSITIONS "DMLCY_EDGES"

    ctypedef struct PadAxis:
        int64_t n
        int64_t size
        int64_t start
        int64_t step
        int64_t out_step

    ctypedef struct PadRows:
        PadAxis row
        PadAxis line
        IndexMap index
        uint64_t word
        int64_t cell
        bint turned
        bint dense

    ctypedef struct PadPiece:
        int64_t before
        int64_t body
        int64_t after
        int64_t first
        int64_t edges[EDGE_POSITIONS]

    ctypedef void (*PadWrite)(
        const PadRows* rows, const PadPiece* piece, dmlcy_stream* stream, int64_t count, const char* source,
        char* target) noexcept nogil

    const PadWrite dmlcy_pad_rows[9]        # by the size of an element in bytes
    void dmlcy_pad_stream(
        const PadRows* rows, const PadPiece* piece, dmlcy_stream* stream, int64_t count, const char* source,
        char* target) noexcept

cdef enum:
    LINES = 256                     # padding lines whose sources are looked up beforehand
    PIECE_BYTES = 262144            # the most bytes of a row that one thread writes at once
    BUFFER = 2048                   # words, for all lines of a plane
    # the bytes of contiguous elements that are copied in the time of one strided element
    STRIDED_COST = 16
    # the most cache lines that are expected to stay in the cache while several rows read them
    CACHED = 512
    # the most positions of a strided row that are written before the next row, which finds their lines in the cache
    STRIDED_POSITIONS = 256
    # the most bytes of contiguous elements that are padded together, as if they were one element
    CELL_BYTES = 2048
    # the fewest elements of a strided last axis that is written in rows; if it is shorter, the longest axis is
    SHORT = 16
    # the most bytes of padding before the body that are prefetched while the body is written
    ASKED_BYTES = 4096
    # the fewest bytes of a row that is streamed to memory; shorter rows are written faster through the cache
    LONG_ROW = 320

cdef struct PadPlan:
    const char* input
    char* output
    PadRows rows
    PadWrite write
    int64_t sources[LINES]          # for each line of padding, the line of the input that it reads
    PadAxis outer[MAX_RANK]         # the other axes, slowest first
    int outers
    int64_t count                   # product of the sizes of the lines and the outer axes
    int64_t piece                   # positions of the row in a piece
    bint streamed
    bint buffered                   # the stream takes whole planes, which are written to a buffer

# Where a thread is: one position of each outer axis.
cdef struct PadCursor:
    int64_t at[MAX_RANK]
    int64_t source[MAX_RANK]        # offset in bytes of the input
    bint outside[MAX_RANK]          # takes `word`
    int outsides                    # how many of them
    const char* input
    char* output

include "pad/cells.pxi"
include "pad/lines.pxi"
include "pad/plan.pxi"


cdef int run_pad(const Pad* a) noexcept nogil:
    cdef PadPlan plan
    cdef int64_t pieces
    cdef int item = a.input.item
    cdef int d
    plan.input = a.input.data
    plan.output = a.output.data
    plan.rows.index = a.index
    for d in range(8 // item):
        memcpy(<char*> &plan.rows.word + d * item, a.fill, item)
    plan.outers = merge_axes(plan.outer, collect_axes(a, plan.outer), a.index != NULL)
    choose_row(&plan, item)
    if plan.rows.row.step != plan.rows.cell:
        sort_by_input(&plan)
    choose_lines(&plan, item)
    choose_piece(&plan)
    plan.count = plan.rows.line.size
    for d in range(plan.outers):
        plan.count *= plan.outer[d].size
    choose_writer(&plan, a)
    pieces = ceil_div(plan.rows.row.size, plan.piece)
    return parallel_for(pad_work, &plan, plan.count * pieces, rows_per_chunk(&plan))
