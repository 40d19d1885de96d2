# An activation that another operator applies to numbers that it has computed.

from libc.stdint cimport int64_t
from libc.string cimport memcpy

from dmlcy._runtime.strided cimport FLOAT32, Tensor, make_dense

cdef enum:
    ATTRIBUTE_BYTES = 32

cdef struct Activation:
    int (*run)(const void* fields) noexcept nogil       # NULL: there is no activation, or none that loops compute
    unsigned char[ATTRIBUTE_BYTES] attributes           # as the struct of the operator has them

# The struct of an operator with one input and one output.
cdef struct ActivationFields:
    Tensor[2] tensors
    unsigned char[ATTRIBUTE_BYTES] attributes


# Replaces n numbers by those that the activation gives for them. -1: memory ran out.
cdef inline int activate(const Activation* activation, float* numbers, int64_t n) noexcept nogil:
    cdef ActivationFields fields
    cdef int t
    for t in range(2):
        fields.tensors[t].dtype = FLOAT32
        fields.tensors[t].item = sizeof(float)
        fields.tensors[t].rank = 1
        fields.tensors[t].sizes[0] = n
        make_dense(&fields.tensors[t], <char*>numbers)
    memcpy(fields.attributes, activation.attributes, ATTRIBUTE_BYTES)
    return activation.run(&fields)
