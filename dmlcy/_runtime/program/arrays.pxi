# Requirements on the arrays of a run.

# Requirements on an array that a program takes as it is, or makes.
cdef struct Wanted:
    bint used                       # whether anything reads it; else anything will do
    bint made                       # whether the tensor says what it is
    int64_t aligned                 # bytes: the address is a multiple of so many
    Tensor tensor


cdef int want(Wanted* wanted, object desc, bint used, int64_t aligned) except -1:
    cdef int axis
    wanted.used = used
    wanted.aligned = aligned
    wanted.made = False
    if desc is not None and len(desc.sizes) <= MAX_RANK and 0 < int(desc.dtype) < UINT4:
        wanted.made = True
        wanted.tensor.dtype = int(desc.dtype)
        wanted.tensor.item = item_of(wanted.tensor.dtype)
        wanted.tensor.rank = len(desc.sizes)
        for axis in range(wanted.tensor.rank):
            wanted.tensor.sizes[axis] = desc.sizes[axis]
    return 0


# Whether an object is an array that a program takes as it is.
cdef inline bint is_wanted(const Wanted* wanted, object value) noexcept:
    cdef int axis
    if not wanted.used:
        return True
    if not wanted.made or not cnp.PyArray_CheckExact(value):
        return False
    if (
        cnp.PyArray_NDIM(<ndarray>value) != wanted.tensor.rank
        or not has_dtype(<ndarray>value, wanted.tensor.dtype)
        or not cnp.PyArray_IS_C_CONTIGUOUS(<ndarray>value)
        or <intptr_t>cnp.PyArray_DATA(<ndarray>value) & (wanted.aligned - 1)
    ):
        return False
    for axis in range(wanted.tensor.rank):
        if cnp.PyArray_DIMS(<ndarray>value)[axis] != wanted.tensor.sizes[axis]:
            return False
    return is_within(<ndarray>value)


# Whether a view lies in the memory that the array behind it has now: that one may have been resized since.
cdef inline bint is_within(ndarray array) noexcept:
    cdef PyObject* base = <PyObject*>cnp.PyArray_BASE(array)
    if base == NULL or not cnp.PyArray_Check(<object>base):
        return True
    if not cnp.PyArray_CHKFLAGS(<ndarray>base, cnp.NPY_ARRAY_OWNDATA):
        return True
    return begins_within(array, <ndarray>base)


cdef inline bint begins_within(ndarray array, ndarray base) noexcept:
    cdef char* start = <char*>cnp.PyArray_DATA(base)
    cdef char* begin = <char*>cnp.PyArray_DATA(array)
    return start <= begin and begin + cnp.PyArray_NBYTES(array) <= start + cnp.PyArray_NBYTES(base)


cdef int must_be_there(tuple inputs) except -1:
    """Refuses inputs whose memory Python code has given up that ran since they were taken."""
    for array in inputs:
        if array is not None and not is_within(<ndarray>array):
            raise RuntimeError("graph(): an input was changed during the call")
    return 0


# Whether arrays can be written as results are, and share no memory with inputs or with each other.
cdef bint all_apart(Program program, tuple inputs, tuple outs):
    cdef Py_ssize_t i, k
    for k in range(program.results):
        if not is_wanted(&program.wanted[program.inputs + k], outs[k]) or not cnp.PyArray_ISWRITEABLE(<ndarray>outs[k]):
            return False
        for i in range(program.inputs):
            # Nobody knows the extent of what nothing reads.
            if not program.wanted[i].used or meet(<ndarray>outs[k], <ndarray>inputs[i]):
                return False
        for i in range(k):
            if meet(<ndarray>outs[k], <ndarray>outs[i]):
                return False
    return True


# Whether two contiguous arrays have bytes in common.
cdef inline bint meet(ndarray one, ndarray other) noexcept:
    cdef char* first = <char*>cnp.PyArray_DATA(one)
    cdef char* second = <char*>cnp.PyArray_DATA(other)
    return first < second + cnp.PyArray_NBYTES(other) and second < first + cnp.PyArray_NBYTES(one)
