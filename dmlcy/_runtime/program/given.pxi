# What is there before a run: constants, and what the loops of the steps make of them.

@cython.final
cdef class Given:
    """The constants of a program and the arrays that were given once, and what the loops of the steps made of them.

    ``arrays``: their bytes; None where an array was not given yet. They stay as they are.
    """

    cdef Program program
    cdef readonly list arrays
    cdef bint complete              # whether all were given
    cdef char** pointers            # of all bases, those of arrays filled in
    cdef Made* made                 # of the inputs of all steps
    cdef int64_t* last              # for each step, behind the last of its own
    cdef list owners                # of what was made

    def __init__(self, Program program not None, list arrays not None):
        cdef Py_ssize_t k
        if self.arrays is not None or len(arrays) != program.fixes:
            raise TypeError("the arrays of a program are given once")
        self.program = program
        self.arrays = []
        self.owners = []
        self.complete = all([array is not None for array in arrays])
        self.pointers = <char**>PyMem_Calloc(program.bases, sizeof(char*))
        self.last = <int64_t*>PyMem_Calloc(max(program.count, 1), sizeof(int64_t))
        if self.pointers == NULL or self.last == NULL:
            raise MemoryError
        for k in range(program.fixes):
            array = None if arrays[k] is None else in_reach(arrays[k], program.fixed[k])
            self.arrays.append(array)
            if array is not None:
                self.pointers[ARRAYS + k] = <char*>cnp.PyArray_DATA(<ndarray>array)
        if self.complete:
            prepare(program, self)

    def __dealloc__(self):
        PyMem_Free(self.pointers)
        PyMem_Free(self.made)
        PyMem_Free(self.last)


cdef int prepare(Program program, Given given) except -1:
    """Lets the loops of each step prepare its constant inputs; steps that are alike have what is made in common."""
    cdef const Step* step
    cdef Tensor* tensors
    cdef Call call
    cdef char* form
    cdef const void* made = NULL
    cdef Py_ssize_t n, place = 0
    cdef int i
    cdef dict known = {}
    cdef list found = []
    for n in range(program.count):
        step = &program.steps[n]
        given.last[n] = len(found)
        if step.run == NULL:
            continue
        call = (<Form>program.forms[place]).operator.call
        slots = (<Form>program.forms[place]).slots
        place += 1
        if n in program.makers:
            found.append(made_by(program.makers[n], slots, given))
            given.last[n] = len(found)
        if call.prepare == NULL:
            continue
        form = <char*>new_memory(step.bytes)
        try:
            point_to_known(step, form, given.pointers)
            key = form[: step.bytes]    # with the addresses of constants, and of nothing else
            given.pointers[FORM] = form
            point_to_known(step, form, given.pointers)
            tensors = <Tensor*>form
            for i in range(call.inputs):
                if tensors[i].dtype == 0 or tensors[i].data == NULL:
                    continue
                if (key, i) not in known:
                    owner = made_of(call, form, i, &made)
                    owner = None if owner is None else in_common(owner, &made, tensors[i].data)
                    known[key, i] = owner, None if owner is None else <intptr_t>made
                owner, address = known[key, i]
                if owner is not None:
                    given.owners.append(owner)
                    found.append((<char*>&tensors[i].prepared - form, address))
        finally:
            given.pointers[FORM] = NULL
            PyMem_Free(form)
        given.last[n] = len(found)
    given.made = <Made*>new_memory(len(found) * sizeof(Made))
    for n in range(len(found)):
        given.made[n].at = found[n][0]
        given.made[n].made = <const void*><intptr_t>found[n][1]
    return 0


# By the address of a constant and the bytes of what was made of it. Graphs for several sizes of the inputs have the
# same constants.
_MADE = WeakValueDictionary()


cdef object in_common(object owner, const void** made, const void* data):
    """What has the same bytes, of those that other programs keep."""
    cdef Py_ssize_t size = len(owner) - ALIGNED
    key = <intptr_t>data, size
    other = _MADE.setdefault(key, owner)
    if other is owner:
        return owner
    cdef const char* start = start_in(other)
    if memcmp(start, made[0], size) != 0:
        return owner
    made[0] = start
    return other


cdef const char* start_in(object memory) except NULL:
    """The first address in the bytes that is a multiple of ALIGNED."""
    cdef char* start = memory
    return <const char*>((<intptr_t>start + ALIGNED - 1) & ~<intptr_t>(ALIGNED - 1))


cdef tuple made_by(tuple maker, list slots, Given given):
    """Where the struct of a step has a prologue, and its address."""
    cdef Tensor tensor
    number, places, make = maker
    owner, address = make([<intptr_t>given.pointers[base] + offset for base, offset in places])
    given.owners.append(owner)
    return slots[number] + (<char*>&tensor.prepared - <char*>&tensor.data), address


# The struct of a step, whose pointers lead to the bases that are known: the others are NULL.
cdef void point_to_known(const Step* step, char* form, char** bases) noexcept nogil:
    cdef const Patch* patch
    cdef int64_t k
    memcpy(form, step.form, step.bytes)
    for k in range(step.patched):
        patch = &step.patches[k]
        (<char**>(form + patch.at))[0] = NULL if bases[patch.base] == NULL else bases[patch.base] + patch.offset
