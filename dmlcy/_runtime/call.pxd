# Calls of operators. Operators differ in a table and a few functions; the rest is here.

from cpython.object cimport PyObject
from libc.stdint cimport int64_t, uint32_t

from dmlcy._runtime.activation cimport Activation
from dmlcy._runtime.checks cimport same_sizes
from dmlcy._runtime.strided cimport Tensor, set_rank

cdef enum:
    MAX_KEYWORDS = 32               # of an operator

cdef extern from "layout.h" nogil:
    enum:
        ONE "DMLCY_ONE"
        AT_MOST_ONE "DMLCY_AT_MOST_ONE"
        SEVERAL "DMLCY_SEVERAL"
        MIXED "DMLCY_MIXED"
    ctypedef struct TensorLayout "dmlcy_tensor_layout":
        const char* name
        const uint32_t* dtypes
        const uint32_t* ranks
        int same_as
        int call_rank
        int desc_rank
        int desc_ones
        int number
        int in_place
    ctypedef struct KeywordLayout "dmlcy_keyword_layout":
        const char* name
        const char* tensor
        int before
        int after
    ctypedef struct Layout "dmlcy_layout":
        const char* name
        const char* python
        int since
        int levels
        int inputs
        int outputs
        int keywords
        int open_output
        int open_keyword
        int data_rules
        const TensorLayout* tensors
        const KeywordLayout* rows

# The functions of an operator; `fields` is its struct.
# Takes the keywords from Python; 0 where one is not acceptable.
ctypedef int (*Take)(void* fields, int level, const void* keywords) except -1
# Computes the lets and the sizes of the outputs; whether every rule holds.
ctypedef bint (*Holds)(void* fields, int level) noexcept nogil
# Whether the values of the inputs are acceptable; `broken` is the first index at which a rule does not hold.
ctypedef bint (*DataHolds)(const void* fields, int64_t* broken) noexcept nogil
# The attributes as Python has them, by name.
ctypedef dict (*Attributes)(const void* fields)
# Computes the outputs; not 0: there is no memory.
ctypedef int (*Run)(const void* fields) noexcept nogil
# Makes the numbers that the loops take in place of the elements of an input, call after call. Writes the numbers to
# memory that is a multiple of 64, if any is given. Returns the bytes of it; 0: the loops take the elements themselves;
# -1: there is no memory. An input that is not known before the call has no data. Below 0 where none is given: so many
# bytes, which have each element as it is, and else zeros; then the loops do not read the elements themselves.
ctypedef int64_t (*Prepare)(const void* fields, int input, void* to) noexcept nogil

# How an operator is called.
cdef class Call:
    cdef const Layout* layout
    cdef size_t size                # bytes of the struct
    cdef size_t given               # bytes of its tensors and attributes, which come first
    cdef size_t held                # where the struct owns a desc, or a tuple of them; 0: nowhere
    cdef size_t fused               # where it has the loops of that desc, or of the first of them; 0: nowhere
    cdef int inputs
    cdef int tensors
    cdef int keywords
    cdef bint arrays                # some of the tensors are arrays of tensors
    cdef bint halves                # some may have elements of 4 bits
    cdef Take take
    cdef Holds holds
    cdef DataHolds data_holds       # NULL: any values are acceptable
    cdef Attributes attributes
    cdef Run run                    # NULL: the reference computes the outputs
    cdef Prepare prepare            # NULL: the loops take the elements of all inputs themselves
    cdef tuple names                # of the tensors, as Python has the names of attributes
    cdef bytes key                  # what the last call is told from others by, which the reference computed
    cdef tuple use                  # and its use, with the values that the use was made of

# Whether the reference computes the outputs: there are no loops, or none of the activation that is applied to them.
cdef bint lacks_loops(Call call, const void* fields) noexcept nogil

# A call of the function; `given` are borrowed: inputs, keywords, and `out` last.
cdef object of_arguments(Call call, PyObject* const* given)

# A call of a compiled operator of this desc, whose struct is `fields`; `given` are the inputs, borrowed. `use`: what
# the reference computes; None: the loops do.
cdef object of_inputs(Call call, const void* fields, PyObject* const* given, object out, object desc, object use)

# The arrays of tensors in a struct, new and without tensors: the objects that own them.
cdef list new_arrays(Call call, void* fields)

# Fills the struct from a desc. False: the desc is not acceptable.
cdef bint of_desc(Call call, void* fields, object desc, int level) except -1

# The call of an operator, by its name in DirectML.
cdef Call call_of_operator(str name)

# The loops of an activation that a field holds.
cdef int take_loops(object desc, Activation* loops) except -1

# The object that the struct owns, which becomes the caller's, or None.
cdef object taken_from(Call call, void* fields)

cdef Call call_of(
    const Layout* layout, size_t size, size_t given, size_t held, size_t fused, Take take, Holds holds,
    DataHolds data_holds, Attributes attributes, Run run, Prepare prepare,
)

# Whether the tensor has the data type of `computed`, and its sizes except leading ones.
cdef inline bint as_computed(const Tensor* tensor, const Tensor* computed) noexcept nogil:
    cdef Tensor trimmed = tensor[0]
    return set_rank(&trimmed, computed.rank) and trimmed.dtype == computed.dtype and same_sizes(&trimmed, computed)
