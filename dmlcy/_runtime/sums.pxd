# Sums over windows: means of quantized integers, and the gradients of windows.

from libc.stdint cimport int64_t

from dmlcy._runtime.strided cimport MAX_RANK, Tensor

# How a window slides over an image, and the tensors of a use.
cdef struct WindowSums:
    Tensor image                    # N, C, spatial axes: over which the window slides; of a gradient the output
    Tensor positions                # of the window
    int spatial                     # 2 or 3
    int64_t window[MAX_RANK]        # these four: one entry per spatial axis
    int64_t strides[MAX_RANK]
    int64_t dilations[MAX_RANK]
    int64_t start[MAX_RANK]
    bint counted                    # padding counts in the divisor
    const Tensor* input             # of maxima, whose gradient the image is
    const Tensor* scale             # of means, each with an element for all channels or for each; zeros may be NULL
    const Tensor* zero
    const Tensor* output_scale
    const Tensor* output_zero

# Each function computes the output. -1: memory ran out.

# Each element of the positions is spread over its window in equal parts.
cdef int run_shares(const WindowSums* a) noexcept nogil
# Each element of the positions goes to the first of the greatest elements of its window.
cdef int run_greatest(const WindowSums* a) noexcept nogil
# The integers under each window are averaged, and quantized again.
cdef int run_quantized(const WindowSums* a) noexcept nogil
