# Moving elements from one layout to another: strided copies of any number of axes, and the loops they are made of.

from libc.stdint cimport int64_t

from dmlcy._runtime.checks cimport ceil_div

cdef extern from "moves.h" nogil:
    void dmlcy_ask(const char* source, int64_t n) noexcept
    void dmlcy_ask_rows(const char* source, int64_t pitch, int64_t rows, int64_t n) noexcept
    void dmlcy_touch(const char* source, int64_t n) noexcept
    int64_t dmlcy_turned_columns(int64_t item, int64_t height, int64_t width) noexcept

cdef enum:
    MAX_AXES = 16

# A strided copy: an element of the input may go to several places of the output.
cdef struct Move:
    int rank
    int item                            # bytes of an element
    const char* input
    char* output
    int64_t sizes[MAX_AXES]             # slowest first
    int64_t input_strides[MAX_AXES]     # bytes, of any sign, or 0
    int64_t output_strides[MAX_AXES]    # bytes, of any sign

# Copies all elements. `total`: bytes that the call writes, of which this may be a part. -1: memory ran out.
cdef int run_move(const Move* a, int64_t total) noexcept nogil

# The loops for each size of an element; move_rows.h has them. Steps and pitches are bytes: steps of what is read,
# pitches of what is written.

# Puts elements of a row together that lie `step` apart, in so many rows.
ctypedef void (*Gather)(const char* source, int64_t row_step, int64_t step, char* target, int64_t pitch, int64_t rows,
                        int64_t count) noexcept nogil
# Row i, of `width` elements, begins at source + rows[i]; column j goes to target + j * pitch.
ctypedef void (*Transpose)(const char* source, const int64_t* rows, int64_t height, int64_t width, char* target,
                           int64_t pitch) noexcept nogil
# Transposes full registers of dmlcy_turned_columns: dmlcy_turn_tiles_ITEM of moves.h.
ctypedef void (*TurnTiles)(const char* source, const int64_t* rows, int64_t height, int64_t cols, char* target,
                           const int64_t* places, int64_t step) noexcept nogil
# A grain of each of `few` planes in turn; in the loops of Moves, one element is a grain.
ctypedef void (*Weave)(const char* planes, int64_t pitch, int64_t few, int64_t grain, int64_t count,
                       char* target) noexcept nogil
ctypedef void (*CopyStrided)(const char* source, int64_t row_step, int64_t step, char* target, int64_t row_pitch,
                             int64_t pitch, int64_t rows, int64_t count) noexcept nogil
# Elements that lie `pitch` apart become 0.
ctypedef void (*Clear)(char* target, int64_t pitch, int64_t count) noexcept nogil

# The loops for one size of elements.
cdef struct Moves:
    Gather gather
    Transpose transpose
    TurnTiles turn_tiles
    Weave weave
    CopyStrided copy_strided
    Clear clear

# The loops for elements of 1, 2, 4 or 8 bytes.
cdef Moves moves_of(int64_t item) noexcept nogil

# Offsets of elements first … first+count-1 of two axes, `size` of the inner one to each of the outer one.
cdef void list_offsets(int64_t first, int64_t count, int64_t step, int64_t size, int64_t inner_step,
                       int64_t* offsets) noexcept nogil


# Pieces of one size, except the last one, which is not much smaller.
cdef inline int64_t even(int64_t size, int64_t piece) noexcept nogil:
    return ceil_div(size, ceil_div(size, piece))
