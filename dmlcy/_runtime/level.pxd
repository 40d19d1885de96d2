# The feature level that calls are checked against.

# The index of the current level: the value of the context variable LEVEL.
cdef int current_level() except -1
