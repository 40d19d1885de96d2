# What runs on each part of an output while it is near: the nodes of a graph behind the operator that computes it.

from libc.stdint cimport int64_t

from dmlcy._runtime.strided cimport Tensor

# Rows of so many bytes of the output, which are `line` bytes apart; in each, elements follow one another. Any thread
# calls it. -1: memory ran out.
ctypedef int (*Follow)(const void* context, char* begin, int64_t rows, int64_t line, int64_t bytes) noexcept nogil

cdef struct Epilogue:
    Follow follow
    const void* context
    int64_t least                   # elements of a row: what follows shorter ones takes longer than a pass over all
    bint taken                      # the loops call it for each element once, after it has its value


# What follows an output: `prepared` of it. Loops that ask for it call `follow` for all elements, in rows of so many.
# NULL: nothing follows, or not here.
cdef inline const Epilogue* take_epilogue(const Tensor* output, int64_t elements) noexcept nogil:
    cdef Epilogue* found = NULL if output == NULL else <Epilogue*>output.prepared
    if found == NULL or elements < found.least:
        return NULL
    found.taken = True
    return found
