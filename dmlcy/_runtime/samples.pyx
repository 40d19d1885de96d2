"""Loops over rows of double, compiled once for all that make means of elements."""

from dmlcy._runtime.processor cimport dmlcy_level

cdef extern from "sample_loops.h" nogil:
    const SampleLoops dmlcy_sample_loops[3]


cdef const SampleLoops* sample_loops() noexcept nogil:
    return &dmlcy_sample_loops[dmlcy_level()]
