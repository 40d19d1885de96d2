"""The loops of region_sample: tables of samples for each region and axis, and what is made by them."""

from libc.math cimport ceil, ceilf
from libc.stdint cimport int64_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memset

from dmlcy._runtime.checks cimport ceil_div
from dmlcy._runtime.half cimport dmlcy_float_of_half
from dmlcy._runtime.samples cimport SampleLoops, SampleTaps, sample_loops
from dmlcy._runtime.strided cimport FLOAT16, UINT32, Tensor
from dmlcy._runtime.threads cimport grain_of, parallel_for

cdef enum:
    MANY = 65536                    # samples of a region along an axis, of which those inside the input are searched
    CHANNELS = 64                   # that are computed with the tables of a region, about
    CELLS = 128                     # along an axis, of a part of a region
    PLANES = 131072                 # numbers of the planes that gradients are added to, about

include "regions/tables.pxi"
include "regions/cells.pxi"
include "regions/back.pxi"
include "regions/corners.pxi"
