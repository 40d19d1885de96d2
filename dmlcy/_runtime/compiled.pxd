# Compiled operators: described once by a desc, then met by the arrays of each call.

from dmlcy._runtime.call cimport Call
from dmlcy._runtime.vectorcall cimport vectorcallfunc

# What compiled operators have in common.
cdef class CompiledOperator:
    cdef readonly object desc
    cdef int level

# A compiled operator whose calls go over the table of the operator.
cdef class TableOperator(CompiledOperator):
    cdef vectorcallfunc vectorcall
    cdef Call call
    cdef void* fields               # struct of the operator
    cdef list arrays                # own the arrays of tensors of the struct
    cdef object held                # a desc, or a tuple of them, whose address is in the struct
    cdef object use                 # what the reference computes; None: the loops do
    cdef Py_ssize_t inputs          # how many a call may have
    cdef Py_ssize_t least           # behind the last one that the desc has
