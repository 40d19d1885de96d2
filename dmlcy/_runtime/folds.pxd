# Folding the elements along some axes into one, and running sums; folds.h says what the loops are.

from libc.stdint cimport int64_t

from dmlcy._runtime.strided cimport Tensor

cdef extern from "folds.h" nogil:
    ctypedef struct FoldArgs:
        const float* tops
        int64_t flip
        int64_t base
        int64_t first
        int last
        int begins
        int ends
        void* room

    ctypedef void (*FoldTile)(
        const void* const* rows, int64_t count, int64_t n, const FoldArgs* args, void* results) noexcept

    ctypedef struct FoldKernel:
        FoldTile along[3]
        FoldTile turned[3]
        FoldTile across[3]
        FoldTile upright[3]
        void (*join)(void* results, const void* more, int64_t n) noexcept nogil
        void (*finish)(
            const void* results, void* target, int64_t n, double count, const FoldArgs* args) noexcept nogil
        unsigned char number
        unsigned char gives
        unsigned char item
        unsigned char tops
        unsigned char bits
        const FoldKernel* careful
        int (*doubts)(const void* results, int64_t n) noexcept nogil

# The elements along the axes where the output has the size 1, folded by the loops of a kernel. -1: memory ran out.
cdef int run_fold(const FoldKernel* kernel, const Tensor* input, const Tensor* output) noexcept nogil

# The greatest, or the least, of these elements.
cdef int run_extreme(const Tensor* input, const Tensor* output, bint least) noexcept nogil

# Where it is among these elements, in row-major order; of several, the first or the last one.
cdef int find_place(const Tensor* input, const Tensor* output, bint least, bint last) noexcept nogil

# The sum, or the product, of all elements up to each one along an axis, or of those before it.
cdef int run_scan(
    const Tensor* input, const Tensor* output, int64_t axis, bint product, bint decreasing,
    bint exclusive) noexcept nogil
