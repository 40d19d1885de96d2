# Compiled operators: described once by a desc, then met by the arrays of each call.

# What compiled operators have in common.
cdef class CompiledOperator:
    cdef readonly object desc
    cdef int level
