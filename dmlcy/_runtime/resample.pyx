"""The loops of resample: tables of taps for each axis, and how blocks of the output are made by them."""

from libc.math cimport ceil, floor
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from dmlcy._runtime.checks cimport ceil_div, floor_mod
from dmlcy._runtime.moves cimport Move, moves_of, run_move
from dmlcy._runtime.processor cimport stream_pays
from dmlcy._runtime.samples cimport (
    PAIR_BLOCK, PAIR_ROOM, SampleLoops, SamplePairs, SampleTaps, sample_loops
)
from dmlcy._runtime.strided cimport FLOAT32, MAX_RANK, Tensor
from dmlcy._runtime.threads cimport SERIAL_BYTES, grain_of, parallel_for
from dmlcy._runtime.views cimport run_copy

cdef enum:
    BLOCK_NUMBERS = 16384           # of each level of a block, about: they stay in the second-level cache
    LANES = 512                     # elements of an axis that keeps its size, which are computed side by side, at most
    FEWEST_LANES = 4                # that are worth being neighbours in memory
    MOST_NUMBERS = 32768            # of each level of a block
    FEW = 256                       # places along an axis: of no fewer half as many are made, so that a level is small
    LONG = 2048                     # places along an axis whose taps are not all made at once, of a block
    TABLE_TAPS = 16384              # of a table
    ITEMS = 16                      # blocks of a large output, at least

include "resample/places.pxi"
include "resample/tables.pxi"
include "resample/moves.pxi"
include "resample/fours.pxi"
include "resample/plan.pxi"
include "resample/blocks.pxi"


cdef int run_resample(const Resampling* a) noexcept nogil:
    cdef ResamplePlan plan
    find_axes(&plan, a)
    if plan.moves:
        return run_nearest(&plan)
    if is_of_fours(&plan):
        return run_fours(&plan)
    return run_means(&plan)
