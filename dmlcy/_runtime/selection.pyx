"""The loops that choose elements: the first ones of lines in an order, and elements that are not 0."""

from libc.stdint cimport UINT32_MAX, int64_t, uint8_t, uint16_t, uint32_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from dmlcy._runtime.processor cimport (
    DMLCY_ROOM, dmlcy_stream, dmlcy_stream_advance, dmlcy_stream_begin, dmlcy_stream_end, dmlcy_stream_fill,
    dmlcy_stream_room, dmlcy_stream_seek, dmlcy_wide, stream_pays
)
from dmlcy._runtime.strided cimport FLOAT16, FLOAT32, MAX_RANK, Tensor
from dmlcy._runtime.threads cimport grain_of, parallel_for

include "selection/first.pxi"
include "selection/nonzero.pxi"
