# Loops that normalize lines of elements: sums and extremes along axes, and results that are made of them.

from libc.stdint cimport int64_t, uint32_t

from dmlcy._runtime.activation cimport Activation
from dmlcy._runtime.strided cimport INT8, INT16, INT32, INT64, Tensor, item_of

cdef extern from "norms.h" nogil:
    enum:
        DMLCY_NORM_LANES
        DMLCY_NORM_CHUNK
        DMLCY_NORM_TENSORS
        DMLCY_NORM_ALL
        DMLCY_NORM_SIDE_BY_SIDE
        DMLCY_NORM_SWEEP
        DMLCY_NORM_JOIN
        DMLCY_NORM_FINISH
        DMLCY_NORM_RESULTS
        DMLCY_NORM_ENDS

    ctypedef struct NormRows:
        float* rows[DMLCY_NORM_TENSORS]
        int64_t steps[DMLCY_NORM_TENSORS]
        int64_t paces[DMLCY_NORM_TENSORS]
        int64_t across[DMLCY_NORM_TENSORS]
        int64_t lines
        int64_t n
        int64_t first
        double count
        double* states
        const double* others
        bint fresh
        bint saved
        const void* attributes

    ctypedef void (*NormLoop)(const NormRows* rows, int step, int sweep) noexcept

    ctypedef struct NormKernel:
        NormLoop levels[3]
        int sweeps
        int states
        int saves
        uint32_t single
        uint32_t reads[4]

    ctypedef struct NearRows:
        const float* x[2]
        double* terms
        const double* around
        const double* from_ "from"
        float* results
        int64_t n
        const void* attributes

    ctypedef void (*NearLoop)(const NearRows* rows, int step) noexcept

    ctypedef struct NearKernel:
        NearLoop levels[3]
        bint from_ "from"

cdef struct Norm:
    int inputs
    int outputs
    const Tensor* tensors[DMLCY_NORM_TENSORS]   # the inputs, then the outputs; the first one has the sizes
    unsigned folded                             # a bit for each axis along which lines are
    const Activation* fused                     # applied to the elements of the first output; NULL: none
    const void* attributes                      # what the loops read of the operator; NULL: nothing

# Computes the outputs. -1: memory ran out.
cdef int run_norm(const NormKernel* kernel, const Norm* a) noexcept nogil

# Numbers that are made of sums over neighbors: `extents` says how many there are along each axis, of at most two axes.
# Of an even number, one more is behind an element than before it. -1: memory ran out.
cdef int run_near(const NearKernel* kernel, const Norm* a, const int64_t* extents) noexcept nogil

# Makes of `to` an input for `of` that has one number for all elements.
cdef void fill_number(Tensor* to, const Tensor* of, float* number) noexcept nogil


# The range of integers of a data type.
cdef inline double integers_most(int dtype) noexcept nogil:
    cdef bint signed = dtype == INT8 or dtype == INT16 or dtype == INT32 or dtype == INT64
    return <double>((<int64_t>1 << (8 * item_of(dtype) - signed)) - 1)

cdef inline double integers_least(int dtype) noexcept nogil:
    cdef bint signed = dtype == INT8 or dtype == INT16 or dtype == INT32 or dtype == INT64
    return -integers_most(dtype) - 1 if signed else 0
