# The loops over windows that no type changes, and what they are given for each type; window_loops.h says how.

from libc.stdint cimport int64_t, uint32_t

from dmlcy._runtime.strided cimport MAX_RANK, Tensor

ctypedef void (*WindowLoop)(const void* args) noexcept nogil

cdef extern from "window_loops.h" nogil:
    enum:
        DMLCY_GROUP
        DMLCY_SLIDE
        DMLCY_FOLDED
        DMLCY_FEWEST_FOLDED
        DMLCY_MOST_FOLDED
        DMLCY_MOST_TAPS

    ctypedef struct WindowSum:
        WindowLoop loop
        void* target
        int64_t target_step
        int64_t line_step
        int64_t lines
        int64_t passes
        int64_t pass_step
        int64_t size
        int64_t item
        int64_t ahead
        bint fresh
        int64_t waiting
        const void* row[DMLCY_GROUP]

    ctypedef struct WindowFold:
        const char* input
        int64_t line_step
        int64_t lines
        int64_t rows
        int64_t row_step
        int64_t size
        bint far
        void* results

    ctypedef struct WindowLoad:
        const char* input
        void* target
        int64_t number
        int64_t lines
        int64_t line_step
        int64_t target_step
        int64_t number_line_step
        int64_t width
        int64_t column_step
        int64_t number_step
        int64_t run
        int64_t lane_step
        const int64_t* lane_at
        void* spare
        const void* attributes

    ctypedef struct WindowFinish:
        char* target
        const void* results
        const void* counts
        int64_t size
        int64_t lines
        int64_t target_step
        int64_t line_step
        int64_t taps
        int64_t tap_step
        double volume
        const void* attributes
        bint doubtful

    ctypedef struct WindowLanes:
        const char* input
        char* output
        char* indices
        int64_t columns
        int64_t input_step
        int64_t output_step
        int64_t indices_step
        int indices_item
        int64_t lanes
        uint32_t number
        uint32_t number_step
        uint32_t lane_step
        int taps
        int64_t at[DMLCY_MOST_TAPS]
        uint32_t numbers[DMLCY_MOST_TAPS]

    ctypedef struct WindowLoops:
        WindowLoop load
        WindowLoop sums
        WindowLoop near
        WindowLoop elements
        WindowLoop slide
        WindowLoop fold
        WindowLoop finish
        WindowLoop indices[2]
        WindowLoop lanes

    ctypedef struct WindowKernel:
        int64_t item
        int64_t acc
        bint own
        bint converted
        bint folds
        bint placed
        void (*clear)(void* target, int64_t bytes) noexcept nogil
        void (*count)(void* target, int64_t size, int64_t taps, double volume, const void* attributes) noexcept nogil
        const WindowKernel* exact
        WindowLoops loops[2]

cdef struct WindowReduce:
    Tensor input
    Tensor output                   # of the rank of the input
    int spatial                     # axes that are pooled, the last ones
    int64_t window[MAX_RANK]        # these four: one entry per spatial axis
    int64_t strides[MAX_RANK]
    int64_t dilations[MAX_RANK]
    int64_t start[MAX_RANK]
    Tensor indices                  # the index of each maximum in the packed input; data type 0: not asked for
    const void* attributes          # what functions of the kernel read of the operator; NULL: nothing

# Computes the output, and the indices if they are asked for. -1: memory ran out.
cdef int run_windows(const WindowKernel* kernel, const WindowReduce* a) noexcept nogil
