# Loops over rows of double, of which means of elements are made; samples.h says what each does.

from libc.stdint cimport int64_t

cdef extern from "samples.h" nogil:
    enum:
        PAIR_BLOCK "DMLCY_PAIR_BLOCK"
        PAIR_ROOM "DMLCY_PAIR_ROOM"

    ctypedef struct SampleTaps:
        int64_t* begin
        int64_t* source
        double* weight

    ctypedef struct SamplePairs:
        int64_t* base
        int64_t* low
        int64_t* high
        double* first
        double* second
        bint near

    ctypedef struct SampleLoops:
        void (*load)(int dtype, const char* source, int64_t step, double* target, int64_t n) noexcept nogil
        void (*store)(
            int dtype, const double* source, double zero, char* target, int64_t step, int64_t n) noexcept nogil
        void (*times)(const double* a, double weight, double* target, int64_t n) noexcept nogil
        void (*plus)(const double* a, double weight, double* target, int64_t n) noexcept nogil
        void (*blend)(
            const double* a, double first, const double* b, double second, double* target, int64_t n) noexcept nogil
        void (*blend_floats)(
            const double* a, double first, const double* b, double second, double zero, float* target,
            int64_t n) noexcept nogil
        void (*fours)(const float* first, const float* second, double zero, float* target, int64_t n) noexcept nogil
        void (*add)(const double* a, double* target, int64_t n) noexcept nogil
        void (*sum)(const double* a, const double* b, double* target, int64_t n) noexcept nogil
        void (*sum_four)(const double* const* rows, double* target, int64_t n) noexcept nogil
        void (*slide)(
            const double* row, double* before, const double* behind, float* target, int64_t n) noexcept nogil
        void (*scale)(const double* each, double weight, double* target, int64_t n) noexcept nogil
        void (*take)(
            const double* a, const int64_t* at, const double* b, const int64_t* also, double* target,
            int64_t n) noexcept nogil
        void (*along)(
            const SampleTaps* taps, int64_t first, int64_t end, const double* row, int64_t start,
            double* target) noexcept nogil
        void (*along_pairs)(
            const SamplePairs* pairs, int64_t first, int64_t end, const double* row, int64_t start,
            double* target) noexcept nogil

# The loops for this processor.
cdef const SampleLoops* sample_loops() noexcept nogil
