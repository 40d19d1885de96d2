"""The loops of window_sum: sums over windows whose cost does not depend on the sizes of the windows."""

from libc.stdint cimport INT64_MAX, INT64_MIN, int8_t, int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from dmlcy._runtime.checks cimport ceil_div, floor_div, floor_mod
from dmlcy._runtime.processor cimport dmlcy_level
from dmlcy._runtime.samples cimport PAIR_BLOCK, PAIR_ROOM, SampleLoops, SamplePairs, sample_loops
from dmlcy._runtime.strided cimport FLOAT32, INT8, Tensor
from dmlcy._runtime.threads cimport SERIAL_BYTES, grain_of, parallel_for

# The declarations of sums.h, which explains them.
cdef extern from "sum_loops.h" nogil:
    ctypedef struct SumQuotients:
        const double* sums
        const double* counts
        const double* divisors
        double taken
        double scale
        double divisor
        double added
        double least
        double most
        uint8_t* target
        int64_t step
        int64_t size

    ctypedef struct SumLoops:
        void (*keys)(int dtype, const char* source, int64_t step, int32_t* keys, int64_t n) noexcept nogil
        void (*greater)(
            const int32_t* keys, int32_t row, int32_t* best, int32_t* rows, int64_t n) noexcept nogil
        void (*greater_floats)(
            const float* source, int32_t row, int32_t* best, int32_t* rows, int64_t n) noexcept nogil
        void (*placed)(
            const int32_t* best, const int32_t* rows, int bits, int64_t* keys, int64_t n) noexcept nogil
        void (*most)(const int64_t* keys, int64_t step, int64_t* best, int64_t n) noexcept nogil
        void (*columns)(
            const char* source, int64_t step, int32_t rows, int bits, int64_t* keys, int64_t n) noexcept nogil
        void (*most_inside)(
            const int64_t* keys, int64_t step, int64_t dilation, int64_t taps, int64_t* best, int64_t n) noexcept nogil
        void (*give)(const int64_t* keys, const double* numbers, double* sums, int64_t n) noexcept nogil
        void (*give_floats)(
            const int64_t* keys, int bits, const float* numbers, char* target, int64_t row, int64_t column,
            int64_t n) noexcept nogil
        void (*fours)(
            const float* first, const float* second, const float* numbers, float* above, float* below,
            int64_t n) noexcept nogil
        void (*count)(
            bint is_signed, const char* source, int64_t step, int32_t sign, int32_t* sums, int64_t n) noexcept nogil
        void (*twos)(
            bint is_signed, const char* first, const char* second, double* sums, int64_t n) noexcept nogil
        void (*widen)(const int32_t* sums, double* target, int64_t n) noexcept nogil
        void (*plus)(const double* sums, int64_t step, double* target, int64_t n) noexcept nogil
        void (*quotients)(const SumQuotients* work) noexcept nogil

    const SumLoops dmlcy_sum_loops[3]

include "sums/axes.pxi"
include "sums/windows.pxi"
include "sums/shares.pxi"
include "sums/greatest.pxi"
include "sums/quantized.pxi"
