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
    SLOTS = 16                      # the most rows that are kept for the windows of the next rows
    LONGEST_ROW = 1024              # the most columns of the input from the first to the last window of a band
    # the most columns of the input, times channels side by side, from the first to the last window of a band
    LONGEST_RUN = 4096
    # the fewest positions of an axis without windows, such as channels, that are computed side by side
    FEWEST_LANES = 8
    # the number of positions of an axis without windows that are computed side by side, if all are too many
    MOST_LANES = 128
    BAND_ELEMENTS = 2048            # the most elements of the rows of a band, if the band has several rows or planes
    # the fewest rows of a band with several rows, unless the output has fewer; else a band has one row
    FEWEST_ROWS = 4
    # the fewest bands of a large input, if one window is over all rows: so many keep all threads busy
    BANDS = 64
    UNDER_BAND = 4096               # the most elements under a row of windows of a band with several planes
    LINE = 16                       # accumulators; rows of them begin at the start of a cache line
    # the fewest elements of a row that a loop takes alone; shorter rows are joined before
    SHORT_ROW = 32
    SMALL_ROOM = 1024               # accumulators that a thread keeps without asking for memory
    MOST_BYTES = 16                 # of an accumulator
    # the most contiguous columns with which channels are computed side by side, though their elements are apart
    FEW_COLUMNS = 20
    # the number of channels that are brought side by side at once, if columns are contiguous
    TURNED_LANES = 32
    BAND_BYTES = 262144             # the fewest bytes of elements and results of windows that are worth another thread
    SUMS = 3                        # the number of additions in the time that it takes to move a byte
    # the most additions that one thread makes alone: waking another one up takes as long
    SERIAL_SUMS = 6 * 1024 * 1024
    ELEMENT_SUMS = 2                # the time to load an element, in additions
    RESULT_SUMS = 8                 # the time to finish a result, in additions
    TURN_SUMS = 12                  # the time to bring an element or a result of channels side by side, in additions
    TAKE_SUMS = 4                   # the time to compare an element and take it with its index, in additions
    FOLDED_BAND = 65536             # the most elements of a band if one window is over all elements of a plane
    # the fewest bytes of a row that needs no prefetch: the processor foresees the next row
    FORESEEN_BYTES = 8 * 1024
    # the most bytes of an input that is expected in a cache; the planes of a larger input are prefetched
    FAR_BYTES = 8 * 1024 * 1024
    # the most windows over an element with which each window is taken whole, for channels side by side
    MOST_SHARED = 10

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
