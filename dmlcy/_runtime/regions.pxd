# Samples of regions: means and maxima of the samples of each cell, and their gradients.

from libc.stdint cimport int64_t

from dmlcy._runtime.strided cimport Tensor

cdef struct RegionSamples:
    const Tensor* regions           # rows of x1, y1, x2, y2; perhaps with leading ones
    const Tensor* items             # of the batch, for each region
    bint mean                       # or the maximum
    bint linear                     # or the nearest element
    double scale_x
    double scale_y
    int64_t least                   # samples of a cell along each axis
    int64_t most
    double before
    double after
    bint corners                    # the outer samples are at the ends of a region
    double outside                  # a sample outside the input

# Each function computes the outputs. -1: memory ran out.

cdef int run_regions(const RegionSamples* a, const Tensor* input, const Tensor* output) noexcept nogil
# `input`, `image` and `corners` may be left out: a tensor without a data type. `input` is there for maxima and corners.
cdef int run_regions_back(const RegionSamples* a, const Tensor* input, const Tensor* gradient, const Tensor* image,
                          const Tensor* corners) noexcept nogil
