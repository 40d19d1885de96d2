# An activation that another operator applies to numbers that it has computed.

from libc.stdint cimport int64_t
from libc.string cimport memcpy

from dmlcy._runtime.epilogue cimport Strip
from dmlcy._runtime.strided cimport FLOAT32, MAX_RANK, Tensor, make_dense

cdef enum:
    ATTRIBUTE_BYTES = 32
    WHOLE_BYTES = 1024              # of the struct of an operator that makes each result of several numbers, at most

# The needs of an activation that makes each result of several numbers, such as a softmax.
cdef struct Whole:
    bint (*holds)(void* fields, int level) noexcept nogil   # computes the lets for sizes
    int level
    int64_t bytes                                       # of the struct of the operator
    unsigned char[WHOLE_BYTES] fields                   # with its attributes

cdef struct Activation:
    int (*run)(const void* fields) noexcept nogil       # NULL: there is no activation, or none that loops compute
    unsigned char[ATTRIBUTE_BYTES] attributes           # as the struct of the operator has them
    const Whole* whole                                  # NULL: each result is made of one number
    Strip strip                                         # its loop is NULL: there is none

# The struct of an operator with one input and one output.
cdef struct ActivationFields:
    Tensor[2] tensors
    unsigned char[ATTRIBUTE_BYTES] attributes

# The same with room for all that it may have.
cdef union WholeFields:
    Tensor[2] tensors
    unsigned char[WHOLE_BYTES] bytes


# Replaces n numbers by the results of the activation. -1: memory ran out.
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


# A tensor with more axes, of size 1, behind its own.
cdef inline void extend(Tensor* to, const Tensor* tensor, int rank) noexcept nogil:
    cdef int axis
    to[0] = tensor[0]
    to.rank = rank
    for axis in range(tensor.rank, rank):
        to.sizes[axis] = 1
        to.strides[axis] = to.item


# One of the matrices of a tensor, with all its axes.
cdef inline void take_matrix(Tensor* to, const Tensor* tensor, int64_t number) noexcept nogil:
    cdef int axis
    to[0] = tensor[0]
    for axis in range(tensor.rank - 3, -1, -1):
        to.data += number % tensor.sizes[axis] * tensor.strides[axis]
        number //= tensor.sizes[axis]
        to.sizes[axis] = 1
        to.bytes //= tensor.sizes[axis]
        to.dense = False


# Whether an activation takes numbers of these sizes; its struct is then filled in.
cdef inline bint takes_whole(const Whole* whole, WholeFields* fields, const Tensor* numbers) noexcept nogil:
    cdef int rank
    memcpy(fields, whole.fields, whole.bytes)
    for rank in range(numbers.rank, MAX_RANK + 1):
        extend(&fields.tensors[0], numbers, rank)
        extend(&fields.tensors[1], numbers, rank)
        if whole.holds(fields, whole.level):
            return True
    return False


# The results of an activation that makes each of several numbers, in another tensor. An axis that the tensors do not
# have is one of a single number; an activation of one matrix goes over each. -1: memory ran out.
cdef inline int activate_whole(const Activation* activation, const Tensor* numbers,
                               const Tensor* results) noexcept nogil:
    cdef WholeFields fields
    cdef Tensor one
    cdef int64_t number, matrices = 1
    cdef int axis
    if takes_whole(activation.whole, &fields, numbers):
        extend(&fields.tensors[1], results, fields.tensors[0].rank)
        return activation.run(&fields)
    for axis in range(numbers.rank - 2):
        matrices *= numbers.sizes[axis]
    for number in range(matrices):
        take_matrix(&one, numbers, number)
        takes_whole(activation.whole, &fields, &one)
        take_matrix(&one, results, number)
        extend(&fields.tensors[1], &one, fields.tensors[0].rank)
        if activation.run(&fields):
            return -1
    return 0
