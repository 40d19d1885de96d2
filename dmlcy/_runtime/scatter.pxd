# Adding columns to the image, each where its window lies; scatter.h says how.

from libc.stdint cimport int64_t, uint16_t

from dmlcy._runtime.strided cimport MAX_RANK, Tensor

cdef extern from "scatter.h" nogil:
    ctypedef struct ScatterRun:
        int64_t rows
        int64_t size
        const char* input
        int64_t input_row
        int64_t input_step
        char* sums
        int64_t sums_row
        int64_t sums_step

    ctypedef struct ScatterRows:
        int64_t rows
        char* output
        int64_t output_row
        const char* input
        int64_t input_row
        const int64_t* at
        int64_t width
        int64_t blocks
        int64_t step

    ctypedef struct ScatterLoops:
        void (*add)(const ScatterRun* run) noexcept nogil
        void (*weave)(const ScatterRows* rows) noexcept nogil
        void (*alone)(char* row, int64_t size) noexcept nogil

    ctypedef struct ScatterKernel:
        int64_t item
        int64_t sum
        void (*narrow)(const float* sums, uint16_t* target, ptrdiff_t step, size_t count) noexcept nogil
        ScatterLoops loops[2]

cdef struct WindowScatter:
    Tensor input                    # N, C * prod(window), prod(blocks)
    Tensor output                   # N, C, then the spatial axes
    int spatial                     # 1 to 6
    int64_t window[MAX_RANK]        # by spatial axis
    int64_t strides[MAX_RANK]
    int64_t dilations[MAX_RANK]
    int64_t start[MAX_RANK]
    int64_t blocks[MAX_RANK]        # positions of the window

# Computes the output. -1: memory ran out.
cdef int run_scatter(const ScatterKernel* kernel, const WindowScatter* a) noexcept nogil
