# Compiled operators: described once by a desc, then met by the arrays of each call.

cimport cython

from dmlcy._runtime.call cimport Call
from dmlcy._runtime.vectorcall cimport vectorcallfunc

cdef enum:
    MAX_INPUTS = 16

# The numbers that the loops make of an input whose elements stay as they are; `made` becomes the place of it, in memory
# that the result owns. None: they take the elements themselves. `replaces`: whether they need no element beside it,
# since each one is in it as it is, and nothing else but zeros; NULL: nobody asks.
cdef object made_of(Call call, const void* fields, int input, const void** made, bint* replaces)

# The common parts of compiled operators.
cdef class CompiledOperator:
    cdef readonly object desc
    cdef int level


# The struct of an operator, and the inputs that no call gives: copies, and what the loops made of them.
@cython.final
cdef class Prepared:
    cdef void* fields
    cdef list arrays                # by the number of the input; None: each call gives it
    cdef list made                  # owns what the loops made
    cdef int[MAX_INPUTS] places     # of the inputs that a call gives
    cdef tuple names                # of these
    cdef Py_ssize_t inputs          # how many a call may have
    cdef Py_ssize_t least           # behind the last one that the desc has

# A compiled operator whose calls go over the table of the operator.
cdef class TableOperator(CompiledOperator):
    cdef vectorcallfunc vectorcall
    cdef Call call
    cdef Prepared prepared
    cdef list arrays                # own the arrays of tensors of the struct
    cdef object held                # a desc, or a tuple of them, whose address is in the struct
    cdef object use                 # what the reference computes; None: the loops do
