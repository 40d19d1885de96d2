"""The loops of generate: numbers of places, diagonals, lines with an index, and random numbers."""

from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from dmlcy._runtime.copy cimport dmlcy_copy_rows, dmlcy_fill
from dmlcy._runtime.elements cimport store_numbers
from dmlcy._runtime.moves cimport CopyStrided, Move, moves_of, run_move
from dmlcy._runtime.processor cimport (
    DMLCY_LINE, dmlcy_stream, dmlcy_stream_begin, dmlcy_stream_end, dmlcy_stream_fill, dmlcy_stream_put,
    dmlcy_stream_seek, dmlcy_wide, stream_pays
)
from dmlcy._runtime.strided cimport (
    FLOAT16, FLOAT32, FLOAT64, INT32, INT64, UINT32, Tensor
)
from dmlcy._runtime.threads cimport grain_of, parallel_for
from dmlcy._runtime.views cimport run_repeat

cdef enum:
    # the fewest bytes of a row of a matrix that is streamed to memory; shorter rows are copied faster
    LONG_RUN = 256

include "generate/numbers.pxi"
include "generate/diagonals.pxi"
include "generate/lines.pxi"
include "generate/random.pxi"
