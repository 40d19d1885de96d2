# Loops that compute elements from those at the same place. A loop takes contiguous rows; the rest is elements.pyx.

from libc.stdint cimport int64_t

from dmlcy._runtime.activation cimport Activation
from dmlcy._runtime.strided cimport Tensor

cdef enum:
    MOST_INPUTS = 5

cdef extern from "elements.h" nogil:
    ctypedef void (*ElementRow)(const void* const* inputs, void* output, int64_t n, const void* attributes) noexcept

    ctypedef struct ElementKernel:
        ElementRow rows[3]
        ElementRow halves
        ElementRow steady
        int item
        bint bits

cdef struct Elements:
    int inputs
    const Tensor* tensors[MOST_INPUTS + 1]  # the inputs, then the output
    bint scaled                             # a loop takes `scale` times an element of the first input, plus `bias`
    float scale
    float bias
    const Activation* fused                 # applied to the results of a loop, which are floats; NULL: none
    const void* attributes                  # what the loop reads of the operator; NULL: nothing

# Computes the output. -1: memory ran out.
cdef int run_elements(const ElementKernel* kernel, const Elements* a) noexcept nogil
