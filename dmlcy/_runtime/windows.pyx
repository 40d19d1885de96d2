"""The loops over windows: how the output is cut into bands, and how what is under their windows is combined."""

from libc.stdint cimport INT64_MAX, int64_t, uint32_t, uintptr_t
from libc.stdlib cimport free, malloc

from dmlcy._runtime.checks cimport ceil_div, floor_div
from dmlcy._runtime.copy cimport dmlcy_copy
from dmlcy._runtime.processor cimport dmlcy_wide
from dmlcy._runtime.moves cimport dmlcy_ask
from dmlcy._runtime.strided cimport MAX_RANK
from dmlcy._runtime.threads cimport SERIAL_BYTES, enough, is_serial, parallel_for

cdef extern from "blocks.h" nogil:
    bint dmlcy_ignores_subnormals() noexcept

cdef extern from "window_moves.h" nogil:
    void dmlcy_repeat(char* target, const char* bytes, int64_t n) noexcept
    void dmlcy_scatter(
        int64_t item, char* output, int64_t lines, int64_t line_step, int64_t column_step, int64_t lane_step,
        const char* results, int64_t pitch, int64_t columns, int64_t run) noexcept
    void dmlcy_split(
        int64_t item, char* phases, int64_t pitch, const char* sums, int64_t step, int64_t used, int64_t size) noexcept

cdef enum:
    BLOCK = 32                      # bytes of the blocks of blocks.h
    SLOTS = 16                      # rows that are kept for the windows that follow, at most
    LONGEST_ROW = 1024              # columns of the input under the windows of a block, or under their first taps
    LONGEST_RUN = 4096              # the same, times lanes
    FEWEST_LANES = 8                # positions of an axis without windows that are combined side by side, at least
    MOST_LANES = 128                # and at most
    BAND_ELEMENTS = 2048            # columns of all rows and lines of a band, if it has more than one
    FEWEST_ROWS = 4                 # of a band, if it has more than one, but not all
    BANDS = 64                      # the fewest that keep all threads busy
    UNDER_BAND = 4096               # elements under a row of windows of all its lines, if it has more than one
    LINE = 16                       # accumulators; rows of them begin at the start of a cache line
    SHORT_ROW = 32                  # elements; shorter rows are put one after the other before a loop takes them
    SMALL_ROOM = 1024               # accumulators that a thread keeps without asking for memory
    MOST_BYTES = 16                 # of an accumulator
    FEW_COLUMNS = 20                # of the input: with so few, lanes are faster, though their elements are apart
    TURNED_LANES = 32               # lanes that are then turned at once
    BAND_BYTES = 262144             # of elements and results that are worth a thread
    SUMS = 3                        # additions in the time that it takes to move a byte
    SERIAL_SUMS = 6 * 1024 * 1024   # additions that one thread has made before another one has woken up
    ELEMENT_SUMS = 2                # the time to load an element, in additions
    RESULT_SUMS = 8                 # the time to finish a result, in additions
    TURN_SUMS = 12                  # the time to turn an element or a result, in additions
    TAKE_SUMS = 4                   # the time to compare an element and take it with its index, in additions
    FOLDED_BAND = 65536             # elements of a band of rows that are folded
    FORESEEN_BYTES = 8 * 1024       # rows as long as this one need no prefetch: the processor foresees what follows
    FAR_BYTES = 8 * 1024 * 1024     # the most of the input that is expected in a cache
    MOST_SHARED = 10                # windows that an element is under, if they are taken whole, lane by lane

# The elements under a window are combined axis after axis. First are the outer axes, which makes rows. Then comes
# `rows`, which makes a row of sums, then `columns`, the last axis that matters. On each axis neighbours are combined in
# pairs, then the pairs in ascending order. Pairs of columns begin at an even tap, padding being the identity.
# Elsewhere, pairs begin at the first tap inside the input. Where taps of columns lie more than LONGEST_ROW apart there
# are no pairs. So the order depends on sizes only.
#
# The output is made in bands: `tall` rows of `block` columns, times `run` lanes, times `band` lines. Lanes and lines
# are axes that are not pooled: lanes are neighbours in memory where columns are not, lines share the work of a loop.
# Every axis but the columns is combined by adding whole rows, and the columns too. Where windows step by more than one
# column and there are no lanes, the sums are first split into phases. Then a tap is a row that begins somewhere in a
# phase.
include "windows/axes.pxi"
include "windows/plan.pxi"
include "windows/places.pxi"
include "windows/rows.pxi"
include "windows/columns.pxi"
include "windows/results.pxi"
include "windows/folded.pxi"
include "windows/lanes.pxi"
include "windows/bands.pxi"
