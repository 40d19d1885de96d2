# Loops that compute elements from those at the same place. A loop takes contiguous rows; the rest is elements.pyx.

from libc.stdint cimport int64_t

from dmlcy._runtime.activation cimport Activation
from dmlcy._runtime.epilogue cimport StripLoop
from dmlcy._runtime.strided cimport Tensor

cdef enum:
    MOST_INPUTS = 5
    MOST_TENSORS = 8    # inputs and outputs

cdef extern from "elements.h" nogil:
    ctypedef void (*ElementRow)(
        const void* const* inputs, void* const* outputs, int64_t n, const void* attributes) noexcept

    ctypedef struct ElementKernel:
        ElementRow rows[3]
        ElementRow steady
        ElementRow halves
        unsigned char halves_from
        unsigned char lanes
        unsigned char gives
        unsigned char takes[MOST_INPUTS]
        unsigned char attributes
        StripLoop strips[3]
        void (*limits)(const void* attributes, float* limits) noexcept nogil

cdef struct Elements:
    int inputs
    int outputs
    const Tensor* tensors[MOST_TENSORS]     # the inputs, whose axes may have one element for all; then the outputs
    bint scaled                             # a loop takes `scale` times an element of the first input, plus `bias`
    float scale
    float bias
    const Activation* fused                 # applied to the results of a loop, which are floats; NULL: none
    const void* attributes                  # what the loop reads of the operator; NULL: nothing

# Computes the outputs. -1: memory ran out.
cdef int run_elements(const ElementKernel* kernel, const Elements* a) noexcept nogil

# The same where the second and the third tensor may have an element for each block of elements of the output. Along
# each axis, their sizes divide those of the output.
cdef int run_blocks(const ElementKernel* kernel, Elements* a) noexcept nogil

# Converts the elements of one input to the data type of one output.
cdef int run_conversion(Elements* a) noexcept nogil

# Makes of `to` an input for the output `of`. The input has an integer for all its elements, which becomes one of a data
# type where it is, or one of some entries for each index of an axis.
cdef void fill_integer(Tensor* to, const Tensor* of, int dtype, int64_t* number) noexcept nogil
cdef void fill_entries(Tensor* to, const Tensor* of, int axis, const float* entries) noexcept nogil

# A number of a data type, as a float, and an integer.
cdef double float_in(int dtype, const unsigned char* bytes) noexcept nogil
cdef int64_t integer_in(int dtype, const unsigned char* bytes) noexcept nogil

# Numbers, FLOAT64 or INT64, as elements of a data type: cut to its range, or without their upper bits.
cdef void store_numbers(int number, const void* numbers, void* to, int64_t n, int dtype) noexcept nogil
