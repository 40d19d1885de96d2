"""Sums of products: tiles of the output, strips of a tile, and what becomes of the sums."""

from libc.math cimport INFINITY, NAN, fabs, isfinite
from libc.stdint cimport int64_t, uintptr_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from dmlcy._runtime.activation cimport activate, activate_whole
from dmlcy._runtime.checks cimport ceil_div
from dmlcy._runtime.epilogue cimport MOST_STRIPS, Epilogue, Strip, Strips, take_epilogue, take_strips
from dmlcy._runtime.processor cimport dmlcy_level
from dmlcy._runtime.prologue cimport Prologue
from dmlcy._runtime.strided cimport FLOAT32, MAX_RANK, make_dense
from dmlcy._runtime.threads cimport enough, grain_of, parallel_for, thread_limit

cdef extern from "products.h" nogil:
    enum:
        DMLCY_DEPTH
        DMLCY_HEIGHTS
        DMLCY_WIDTHS
        DMLCY_STRIP
        DMLCY_CHANNELS
        DMLCY_SUMS

    ctypedef void (*ProductKernel)(
        int64_t depth, const float* a, int64_t a_row, const float* b, int64_t step, const float* source,
        int64_t from_row, float* to, int64_t to_row) noexcept nogil

    ctypedef void (*ProductSpread)(
        int64_t depth, const float* a, int64_t a_row, const float* b, const int64_t* at, const float* source,
        int64_t from_row, float* to, int64_t to_row) noexcept nogil

    ctypedef void (*ProductSome)(
        int64_t depth, const float* a, int64_t a_row, const float* b, int64_t step, int64_t some, const float* source,
        int64_t from_row, float* to, int64_t to_row) noexcept nogil

    ctypedef void (*ProductTurned)(
        int64_t depth, const float* a, int64_t a_row, const float* b, int64_t line, int64_t columns,
        const float* source, int64_t from_row, float* to, int64_t to_row) noexcept nogil

    ctypedef int (*ProductLast)(
        int64_t depth, const float* a, int64_t a_row, const float* b, int64_t step, int64_t some, const float* limits,
        const float* source, int64_t from_row, float* to, int64_t to_row) noexcept nogil

    ctypedef struct ProductAxis:
        int64_t places
        int64_t size
        int64_t step
        int64_t start
        int64_t taps
        int64_t tap_step
        int64_t stride
        int64_t filter_stride
        int64_t output_stride
        const int64_t* low
        const int64_t* high

    ctypedef struct ProductImage:
        ProductAxis axes[3]
        int64_t item
        int64_t taps
        int64_t image_stride
        int64_t channel_stride
        int64_t filter_stride
        int64_t output_stride

    ctypedef struct ProductRun:
        int64_t column
        int64_t count
        int64_t place[3]
        int64_t source "from"
        int64_t to

    ctypedef struct ProductPlane:
        const float* x
        int64_t line
        int64_t low
        int64_t high
        int64_t left
        int64_t right
        float filter[9]
        float begin
        float limits[2]
        int64_t rows
        int64_t columns
        int64_t step
        float* to
        int64_t pitch

    ctypedef struct ProductLevel:
        int64_t lanes
        int64_t heights[5]
        int64_t widths[4]
        ProductKernel kernels[5][4]
        ProductKernel halves[5][3]
        void (*pack)(
            const char* source, int64_t line, int64_t lines, int64_t width, const int64_t* at, int64_t step,
            int64_t depth, int64_t item, float* to, int64_t pitch) noexcept nogil
        void (*pack_image)(
            const ProductImage* image, const char* source, const ProductRun* runs, int64_t count, int64_t first,
            int64_t step, int64_t depth, float* to, int64_t pitch) noexcept nogil
        ProductSpread spread[5][4]
        ProductSome some[5][2]
        ProductLast last[5][2]
        ProductLast last_some[5][2]
        ProductTurned turned[5]
        void (*row)(
            int64_t depth, const float* a, const float* b, int64_t step, int64_t n, const float* source,
            float* to) noexcept nogil
        void (*channels)(
            const float* x, int64_t step, const int64_t* at, int64_t taps, const float* filters, const float* begin,
            int64_t places, float* to) noexcept nogil
        void (*turn)(
            const char* source, int64_t line, int64_t lines, int64_t depth, float* to, int64_t pitch) noexcept nogil
        void (*fill_rows)(
            const char* source, int64_t channel, int64_t channels, int64_t row, int64_t between, int64_t item,
            int64_t first, int64_t last, int64_t n, int64_t begin, int64_t end, int64_t rows, float* to) noexcept nogil
        void (*put_rows)(
            const float* source, int64_t pitch, int64_t rows, int64_t n, char* to, int64_t row, int64_t step,
            int64_t item) noexcept nogil
        void (*merge_rows)(
            const float* source, int64_t pitch, int64_t rows, int64_t between, int64_t turns, int64_t n, char* to,
            int64_t row, int64_t step, int64_t item) noexcept nogil
        void (*dots)(
            const float* a, const float* b, int64_t line, int64_t depth, int64_t n, float* to) noexcept nogil
        bint (*plane)(const ProductPlane* plane) noexcept nogil
        bint (*are_finite)(const float* x, int64_t row, int64_t rows, int64_t n) noexcept nogil
        void (*scale)(float* x, float alpha, int64_t n) noexcept nogil
        void (*add)(float* x, float alpha, const float* c, float beta, int64_t n) noexcept nogil

    const ProductLevel* dmlcy_product_levels[3]
    float dmlcy_element_of(const char* source, int64_t item) noexcept
    void dmlcy_widen(const char* source, int64_t step, int64_t item, float* to, int64_t n) noexcept
    void dmlcy_narrow(const float* source, char* to, int64_t step, int64_t item, int64_t n) noexcept
    int64_t dmlcy_list_runs(const ProductImage* image, int64_t column, int64_t count, ProductRun* runs) noexcept

cdef enum:
    LINE = 16                       # floats of a cache line
    FEW = 12                        # rows: a multiple of the greatest height of the kernels of each level
    STEP = 96                       # columns: a multiple of the strips of each level that has more rows than these
    HIGH = 384                      # the most rows of a tile of the output
    # the most threads for which two tiles for each thread suffice; more threads get three tiles each
    SOME_THREADS = 4
    # the fewest tiles for each thread with which tiles are not made equally wide for the threads
    TILES = 4
    EVEN = 16                       # the divisor of the columns of a tile where each thread gets equally many columns
    EVEN_LEAST = 64                 # the fewest columns of a tile where each thread gets equally many columns
    # the fewest rows for each thread with which threads share a depthwise convolution by equally many rows
    BANDS = 6
    LOW = 96                        # the most rows of a tile that is not halved to make tiles for more threads
    # the fewest columns of a tile, unless threads need narrower ones: packing the rows takes little time then
    NARROW = 192
    WIDE = 1536                     # the most columns of a tile of the output
    # the most rows with which the other matrix is read where it is: packing it would take longer
    FLAT = 48
    # the multiplications of each sum that are made at once where few rows take the other matrix where it is
    SHALLOW = 64
    # the most bytes of the other matrix, or of some rows of it, that are read where they are: they stay in the cache
    NEAR_BYTES = 65536
    # the fewest places of an image that a filter of one tap takes as a matrix of its own; smaller images are joined
    LARGE = 512
    PHASES = 8                      # of an axis, at most
    GROUPS = 8                      # the fewest groups of a depthwise convolution that are computed side by side
    # the most filters of a group of a convolution whose input is copied even if rows are short
    FILTERS = 16
    # the most filters of a group of a convolution whose input is copied if a stride is above 1
    STEPPED = 64
    TAPS = 8192                     # the most multiplications of each sum of a convolution whose input is copied
    PIECES = 32                     # the fewest pieces of work that a large convolution is cut into
    # the most elements of filters that are put in order for a convolution whose input is copied
    TURNED = 262144
    # the most floats of the copied input of a convolution; if a row of the output needs more, nothing is copied
    COPY = 524288
    # the most floats of the copied input of a convolution with few filters, so that they stay in the cache
    NEAR_COPY = 32768
    # the most sums of a channel that are computed before they are stored, so that they stay in the cache
    PLANE = 4096
    # the divisor of the rows of a channel that are computed at once: a multiple of the rows that kernels take
    PLANE_ROWS = 28
    # the time to compute a place of a depthwise convolution of 3 by 3, in multiplications
    PLANE_WORK = 20
    # the fewest sums that are kept, for each one that is dropped, if rows are computed together, not one by one
    BETWEEN = 12
    OVER = 128                      # floats behind an array that kernels may read or write
    # the fewest elements of a product whose sums are one chain; smaller products have partial sums
    SMALL = 64
    DEEP = 64                       # the fewest multiplications of each sum of a small product that has partial sums
    ROOM = 12288                    # floats of a tile that need no memory of their own: a strip, and a few sums
    # the fewest multiplications of a convolution, depthwise or with a copied input, that are worth another thread
    SPREAD_WORK = 1048576
    WORK = 4194304                  # the fewest multiplications of a product that are worth another thread
    TINY = 1048576                  # the most multiplications of a product that is computed without tiles
    # the fewest multiplications of many products without tiles that are worth another thread
    TINY_WORK = 1048576
    TINY_CALL = 1024                # the time of a product without tiles beside its multiplications, in multiplications
    REMAINDERS = 16                 # modulo the strides of a convolution backwards that are computed together, at most
    # the most taps of a filter of a transposed convolution whose remainders modulo the strides are computed together
    MERGED_TAPS = 64
    MERGED_FLOATS = 589824          # the most floats of filters of a transposed convolution that are packed at once
    SHIFTED = 10                    # the time to pack a column of a transposed convolution, in multiplications
    # the most floats of the packed columns of a transposed convolution; one channel may have more
    MERGED_COPY = 65536
    MERGED_STRIP = 128              # the most columns of a transposed convolution that are computed at once
    # the most rows of a transposed convolution, of all remainders modulo the strides, that are computed at once
    MERGED_ROWS = 384
    # the number of channels of a transposed convolution whose filters are packed at once
    TAKEN = 4
    # the fewest floats of filters of a transposed convolution whose packing is worth another thread
    TAKEN_WORK = 65536
    # the most columns of a tile whose long rows are not packed, though they displace one another in the cache
    DISPLACING = 256
    # the most places of a convolution whose filters are packed as columns before the call
    FEW_COLUMNS = 256
    # the most places that are transposed at once where filters are columns: a multiple of the greatest height of
    # kernels
    ACROSS = 120
    ACROSS_WIDE = 240               # the most places of a tile where filters are columns
    ACROSS_LEAST = 24               # the fewest places of a tile where filters are columns and threads share the places
    # the divisor of the places of a tile where filters are columns and threads share the places
    ACROSS_EVEN = 4
    ACROSS_CUT = 96                 # the fewest places that threads share in any case where filters are columns
    # the number of filters, as columns, below which threads share the places even if these are few
    ACROSS_ROWS = 512
    ACROSS_COPY = 98304             # the most floats of packed places that stay in the cache where filters are columns
    # the most sums of a tile where filters are columns and places are packed in several steps
    ACROSS_SUMS = 65536
    # the most elements of the right matrix that are made at once, where they are computed from others
    MADE = 65536
    # the fewest rows of the left matrix with which many columns of a computed right matrix are made at once
    MADE_ROWS = 8
    # the number of columns of a computed right matrix that are made at once if the left matrix has few rows
    FEW_MADE = 32
    # the fewest columns of a computed right matrix that are made at once if the left matrix has many rows
    MANY_MADE = 64
    MOST_MADE = 256                 # the most columns of a computed right matrix that are made at once
    ACROSS_UNIT = 64                # rows: a multiple of the columns that packing puts together at each level

# The smallest normal number: sums below it may have lost digits.
cdef float LEAST = 1.17549435e-38

# One product: rows of `a`, columns of `b`. All steps are in bytes. Columns are those of a matrix, or places of images.
cdef struct Products:
    const ProductLevel* level
    int64_t rows
    int64_t columns
    int64_t depth
    int64_t elements                # of a matrix; or of the places of an image, for all filters of a group
    int64_t chains                  # for each sum: 1, or DMLCY_SUMS
    int64_t item                    # bytes of an element of any tensor
    const char* a
    int64_t a_line
    int64_t a_step                  # 0: k goes on in another way
    const char* b
    int64_t b_line
    int64_t b_step
    const ProductImage* image       # NULL: columns are those of a matrix
    int64_t images
    const char* c                   # NULL: nothing is added
    int64_t c_line
    int64_t c_step
    float alpha
    float beta
    const Activation* fused
    const Tensor* followed          # the output, if something may follow parts of it; NULL: nothing does
    const Epilogue* after           # what follows the parts; NULL: nothing
    int strips                      # so many are applied to what has just been stored
    Strip[1 + MOST_STRIPS] strip
    const char* base                # the first element of the output
    bint limited                    # that is no more than two limits of finite numbers, which kernels apply
    float[2] limits
    char* y
    int64_t y_line
    int64_t y_step                  # of a matrix
    bint biased                     # what is added is an element for each row, with which chains begin if sizes allow
    bint by_column                  # an element for each column instead
    bint begun                      # each chain begins with what is added
    bint straight                   # the sums are the elements of the output, which follow one another along a row
    int batch_axes
    int64_t batch[MAX_RANK]
    int64_t a_batch[MAX_RANK]
    int64_t b_batch[MAX_RANK]
    int64_t c_batch[MAX_RANK]
    int64_t y_batch[MAX_RANK]
    const char* packed              # the columns of each matrix, as pack_matrix leaves them; NULL: they are in `b`
    bint across                     # or the rows, so: they are columns for the kernels
    const float* floats             # the rows of all groups, as kernels take them; NULL: they are in `a`
    int64_t floats_row              # floats from one to the next
    int64_t packed_batch[MAX_RANK]
    int64_t high                    # of a tile
    int64_t wide
    int64_t row_tiles
    int64_t column_tiles

# A tile of the output, and what a thread works with.
cdef struct Tile:
    const char* a
    const char* b
    const char* packed_b            # NULL: the columns are in `b`
    const float* floats             # NULL: the rows are in `a`
    const char* c
    char* y
    int64_t row                     # the first one
    int64_t rows
    int64_t column
    int64_t columns
    int64_t first                   # column of a strip
    int64_t count                   # its columns
    bint settles                    # its last sums become elements of the output while they are near
    float* near                     # sums of a kernel, DMLCY_STRIP of each row
    int width                       # of a strip, as a number of a width of the level
    int64_t strip                   # columns of a strip
    float* packed                   # rows of `a`, if they are not as the kernels take them
    const float* left               # the rows that these take
    int64_t left_row                # floats
    float* strips                   # columns of `b`, DMLCY_DEPTH of each
    float* sums                     # of a strip
    float* begin                    # what the chains of a strip begin with, if they do
    int64_t begin_row               # floats from those of a row to those of the next one
    float* held                     # of strips whose sums wait for more, each by itself; or of the last one only
    int64_t[DMLCY_DEPTH] a_at
    int64_t[DMLCY_DEPTH] b_at
    ProductRun[DMLCY_STRIP] runs
    int64_t run_count


# A convolution whose rows are long, or whose filters few. The input of some rows of the output is copied, with its
# padding, so that the elements under a tap follow one another, row after row. A plane of the copy has those of one
# channel, tap of the first axis, and remainder of the other two axes modulo their step: a phase.
cdef struct Spread:
    const Products* to
    int64_t* at                     # floats from the first plane to the elements of each k
    int64_t high                    # rows of the output
    int64_t bands                   # of so many rows
    int64_t filters                 # computed at once
    int64_t parts                   # of so many filters
    int64_t pitch                   # floats of a row of the copy
    int64_t rows                    # of a plane
    int64_t phases[3]
    int64_t lowest[3]               # place along the input of the first element of the copy
    int64_t reach[3]                # and how many more than the output it has
    bint by_row                     # rows of the output are computed one by one
    bint direct                     # where they are: each sum is made at once
    int64_t channels
    int64_t[PHASES] first           # elements of a row of a phase that are inside the input
    int64_t[PHASES] last


# A convolution of one filter for each channel. The input of some channels and rows is turned so that the channels lie
# side by side, and the output is turned back.
cdef struct Depthwise:
    const Products* to
    int64_t* at                     # floats from the first tap to each
    int64_t high                    # rows of the output
    int64_t bands                   # of so many rows
    int64_t lowest                  # place along a row of the input of the first element of a turned row
    int64_t pitch                   # elements of a turned row
    int64_t rows                    # of the input for a band, at most


# A convolution of one filter of 3 by 3 for each channel, whose planes are read where they are.
cdef struct Planes:
    const Products* to
    int64_t high                    # rows of the output that are computed at once
    int64_t bands                   # of so many rows
    int64_t taps[9]                 # bytes from the first one to each


# A spatial axis as the operator has it; strides in bytes.
cdef struct Spatial:
    int64_t input
    int64_t input_stride
    int64_t output
    int64_t output_stride
    int64_t window
    int64_t filter_stride
    int64_t filter_start            # bytes to the first tap
    int64_t stride
    int64_t dilation
    int64_t start
    int64_t appended


include "products/strips.pxi"
include "products/finish.pxi"
include "products/inner.pxi"
include "products/small.pxi"
include "products/cuts.pxi"
include "products/tiles.pxi"
include "products/spread.pxi"
include "products/depthwise.pxi"
include "products/planes.pxi"
include "products/whole.pxi"
include "products/matrices.pxi"
include "products/made.pxi"
include "products/filters.pxi"
include "products/windows.pxi"
include "products/merged.pxi"
