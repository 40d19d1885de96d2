"""Sums of products of integers: what is packed, tiles of the output, and what becomes of the sums."""

from libc.math cimport NAN, fabs, isfinite
from libc.stdint cimport INT32_MAX, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uintptr_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from dmlcy._runtime.checks cimport ceil_div
from dmlcy._runtime.strided cimport FLOAT16, FLOAT32, INT8, INT16, INT32, UINT8, UINT16, Tensor
from dmlcy._runtime.threads cimport parallel_for

cdef extern from "integer_products.h" nogil:
    enum:
        DMLCY_INTEGER_HEIGHTS
        DMLCY_INTEGER_BLOCK

    ctypedef void (*IntegerKernel)(
        int64_t words, const char* a, int64_t a_row, const char* b, const int64_t* at, bint adds, int32_t* to,
        int64_t to_row) noexcept nogil

    ctypedef struct IntegerKernels:
        int64_t strip
        int64_t item
        int64_t heights[5]
        IntegerKernel kernels[5]

    ctypedef struct IntegerEnds:
        int64_t rows
        int64_t columns
        int32_t* sums
        int64_t sums_row
        const int32_t* row_added
        const int32_t* row_times
        const int32_t* column_sums
        const int32_t* row_sums
        const int32_t* column_times
        const double* bias
        const double* row_scale
        const double* column_scale
        bint columns_first
        bint each_column
        const double* divisor
        const double* factor
        const float* zero
        float least
        float most
        const char* added
        int64_t added_row
        int64_t added_step
        int64_t item
        char* y
        int64_t y_row

    ctypedef struct IntegerLoops:
        void (*turn)(
            const uint8_t** rows, int64_t n, uint32_t mask, uint32_t* to, int bits, int64_t pitch) noexcept nogil
        int64_t (*turn_short)(
            const uint8_t* source, int64_t row, int64_t rows, int64_t n, const uint8_t* end,
            uint32_t* to) noexcept nogil
        int32_t (*take_bytes)(const uint8_t* source, int64_t n, int mask, char* to) noexcept nogil
        int32_t (*take_pairs)(const uint8_t* source, int64_t n, int mask, int zero, char* to) noexcept nogil
        void (*mend)(const IntegerEnds* ends) noexcept nogil
        void (*put)(const IntegerEnds* ends) noexcept nogil
        void (*quantize)(const IntegerEnds* ends) noexcept nogil
        void (*scale)(const IntegerEnds* ends) noexcept nogil

    const IntegerLoops* dmlcy_integer_loops[3]
    const IntegerKernels* dmlcy_integer_kernels[5]
    bint dmlcy_takes_integers(int number) noexcept
    void dmlcy_long_add(int64_t* high, int64_t* low, int64_t number, int shift) noexcept
    double dmlcy_double_of_long(int64_t high, int64_t low) noexcept
    float dmlcy_element_of(const char* source, int64_t item) noexcept
    void dmlcy_put_scaled(const IntegerEnds* ends, int64_t row, int64_t column, double sum) noexcept
    void dmlcy_put_quantized(const IntegerEnds* ends, int64_t row, int64_t column, double sum) noexcept

cdef enum:
    LINE = 64                       # bytes of a cache line
    BLOCK = 64                      # columns that are packed together: DMLCY_INTEGER_BLOCK
    NUMBERS = 5                     # of kernels
    # the divisor of the rows of a tile: a multiple of the rows that most kernels take at once
    FEW = 12
    HIGH = 192                      # the most rows of a tile of a product of integers
    # the rows that a tile may always have, even if rows are so long that their numbers leave the cache
    LOW = 48
    # the most bytes of the packed rows of a tile that stay in a cache; tiles of long rows have fewer rows
    NEAR_ROWS = 1048576
    WIDE = 1024                     # the most columns of a tile of a product of integers
    NARROW = 128                    # the fewest columns of a tile of a product of integers
    # the most words of four integers of a column that are multiplied at once, so that they stay in the cache
    SLAB = 256
    EXACT = 8192                    # words of which every sum has 32 bits
    FILTERS = 132                   # the most filters of a tile of a convolution of integers
    PLACES = 1024                   # the most places along a row of the output in a tile of a convolution of integers
    # the most bytes of the image that are copied for a tile, so that they stay in a cache; one row may have more
    NEAR_COPY = 262144
    # the most bytes of the image that are copied for one row; for a larger row, elements are gathered for each place
    LARGE_COPY = 4194304
    # the most places of a tile where elements are gathered for each place, and no rows are copied
    GATHERED = 128
    # the most bytes of the sums of a tile of a convolution that stay in a cache; larger tiles have fewer rows
    NEAR_SUMS = 393216
    # the largest step between elements with which the elements between them are read, too, and dropped
    STEPS = 4
    CHUNK = 1048576                 # bytes of a row whose sum has 32 bits
    GREATEST = 65025                # products of two numbers of 8 bits, less their zero points
    ROOM = 16384                    # bytes of a tile that need no memory of their own
    # the most bytes of sums whose results are written at once, where the results follow one another
    TOGETHER = 262144
    WORK = 8388608                  # the fewest multiplications of integers that are worth another thread


# Elements that go with rows or columns: one for all, if the step is 0.
cdef struct Entries:
    const char* data                # NULL: `number` for all
    int64_t step
    int dtype
    double number

# Bytes of elements that are multiplied as numbers of 8 bits.
cdef struct Digit:
    int number                      # from the lowest byte of an element on
    bint signed_                    # the highest one of a signed integer is


include "integer_products/entries.pxi"
include "integer_products/panels.pxi"
include "integer_products/matrices.pxi"
include "integer_products/windows.pxi"


def kernels() -> list[int]:
    """The numbers of the kernels that this processor may take: those of the levels, then those with VNNI."""
    return [number for number in range(NUMBERS) if dmlcy_takes_integers(number)]


def set_kernels(number: int) -> int:
    """Set which kernels are taken, and return which were: the result is the same."""
    global chosen
    before = chosen if chosen >= 0 else best_kernels()
    if number not in kernels():
        raise ValueError(f"this processor takes no kernels of the number {number}")
    chosen = number
    return before
