# The functions that run on each part of an output while it is near: the nodes of a graph behind the operator that
# computes it.

from libc.stdint cimport int64_t

from dmlcy._runtime.strided cimport Tensor, make_dense

# Rows of so many bytes of the output, which are `line` bytes apart; in each, elements follow one another. Any thread
# calls it. -1: memory ran out.
ctypedef int (*Follow)(const void* context, char* begin, int64_t rows, int64_t line, int64_t bytes) noexcept nogil

# ElementStrip of elements.h.
ctypedef void (*StripLoop)(
    const float* const* inputs, const int64_t* steps, float* output, int64_t step, int64_t rows, int64_t n,
    const void* attributes) noexcept nogil

cdef enum:
    MOST_STRIPS = 4                 # of a node, or of nodes behind one output
    STRIP_BYTES = 48

# The function of an operator that replaces FLOAT32 numbers that have just been stored.
cdef struct Strip:
    StripLoop loop                  # NULL: there is none
    const char* other               # the other input: its elements lie as those of the output
    unsigned char[STRIP_BYTES] attributes
    int inputs                      # one or two
    int place                       # of the numbers among them
    bint limited                    # of a finite number, the loop makes the nearest one within two limits
    float[2] limits

# Several functions, one after the other.
cdef struct Strips:
    int count
    Strip[MOST_STRIPS] each

cdef struct Epilogue:
    Follow follow
    const void* context
    int64_t least                   # elements of a row: what follows shorter ones takes longer than a pass over all
    const Strips* strips            # the same, for loops that apply it as they store results; NULL: these cannot
    bint taken                      # the loops call it for each element once, after it has its value


# The functions behind an output: `prepared` of it. Loops that ask for it call `follow` for all elements, in rows of so
# many. NULL: nothing follows, or not here.
cdef inline const Epilogue* take_epilogue(const Tensor* output, int64_t elements) noexcept nogil:
    cdef Epilogue* found = NULL if output == NULL else <Epilogue*>output.prepared
    if found == NULL or found.taken or elements < found.least:
        return NULL
    found.taken = True
    return found


# The same for loops that apply strips to all elements as they store them.
cdef inline const Strips* take_strips(const Tensor* output) noexcept nogil:
    cdef Epilogue* found = NULL if output == NULL else <Epilogue*>output.prepared
    if found == NULL or found.strips == NULL:
        return NULL
    found.taken = True
    return found.strips


# Asks an operator for its strips: it runs on one number, and adds them if there are any. Its struct is a copy that
# begins with so many tensors, the output last.
cdef inline bint ask_strips(int (*run)(const void* fields) noexcept nogil, Tensor* tensors, int count,
                            Strips* strips) noexcept nogil:
    cdef double[8] numbers
    cdef int known = strips.count, t
    if count > 8:
        return False
    for t in range(count):
        numbers[t] = 0
        tensors[t].rank = 1
        tensors[t].sizes[0] = 1
        make_dense(&tensors[t], <char*>&numbers[t])
    tensors[count - 1].prepared = strips
    return run(tensors) == 0 and strips.count > known
