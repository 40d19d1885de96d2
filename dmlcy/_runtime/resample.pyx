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
    # the most numbers of a block after each axis, if cutting its first axis suffices: the second-level cache holds them
    BLOCK_NUMBERS = 16384
    LANES = 512                     # the most elements of an axis that keeps its size, which are computed side by side
    FEWEST_LANES = 4                # the fewest elements of an axis that keeps its size that are computed side by side
    # the most numbers of a block after each axis; if there are more, its longest axis is cut
    MOST_NUMBERS = 32768
    # the most places of a block along an axis that is not cut further to have fewer numbers after each axis
    FEW = 256
    LONG = 2048                     # the most places of a block along an axis that is too long for one table of taps
    TABLE_TAPS = 16384              # of a table
    ITEMS = 16                      # the fewest blocks that a large output is cut into, so that threads have work

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
