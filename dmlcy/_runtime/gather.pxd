# Copying the elements under a sliding window: one row per channel and window element ("tap"), one column per position
# of the window ("block"). Elements outside the input are zero.

from libc.stdint cimport int64_t

from dmlcy._runtime.strided cimport MAX_RANK, Tensor

cdef struct WindowGather:
    Tensor input                    # N, C, then the spatial axes
    Tensor output                   # N, C * prod(window), prod(blocks)
    int spatial                     # 1 to 6
    int64_t window[MAX_RANK]        # by spatial axis
    int64_t strides[MAX_RANK]
    int64_t dilations[MAX_RANK]
    int64_t start[MAX_RANK]
    int64_t blocks[MAX_RANK]

# Computes the output. -1: memory ran out.
cdef int run_gather(const WindowGather* a) noexcept nogil
