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
    # the most samples of a region along an axis that are all tried; of more, the ends inside the input are searched
    MANY = 65536
    CHANNELS = 64                   # the most channels that one piece of work computes with the tables of a region
    CELLS = 128                     # the most results along an axis for which a table of samples is made at once
    # the most numbers of channels that one piece of work adds gradients to; one channel may have more
    PLANES = 131072

include "regions/tables.pxi"
include "regions/cells.pxi"
include "regions/back.pxi"
include "regions/corners.pxi"
