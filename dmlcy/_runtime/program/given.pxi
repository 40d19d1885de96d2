# What is there before a run: constants, and what steps prepare of them.

@cython.final
cdef class Given:
    """The constants of a program and the arrays that were given once, and what steps have prepared of them.

    ``arrays``: their bytes; None where an array was not given yet. They stay as they are.
    """

    cdef Program program
    cdef readonly list arrays
    cdef bint complete              # whether all were given
    cdef char** pointers            # of all bases, those of arrays filled in
    cdef const char** prepared      # for each step; NULL: nothing was prepared
    cdef list owners                # of what was prepared

    def __init__(self, Program program not None, list arrays not None):
        cdef Py_ssize_t k
        if self.arrays is not None or len(arrays) != program.fixes:
            raise TypeError("the arrays of a program are given once")
        self.program = program
        self.arrays = []
        self.owners = []
        self.complete = all([array is not None for array in arrays])
        self.pointers = <char**>PyMem_Calloc(program.bases, sizeof(char*))
        self.prepared = <const char**>PyMem_Calloc(max(program.count, 1), sizeof(char*))
        if self.pointers == NULL or self.prepared == NULL:
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
        PyMem_Free(self.prepared)


cdef int prepare(Program program, Given given) except -1:
    """Lets each step prepare its constant inputs; steps that are alike have what they prepare in common."""
    cdef const Step* step
    cdef char* form
    cdef char* place
    cdef int64_t bytes
    cdef Py_ssize_t n
    cdef int status
    cdef ndarray memory
    cdef dict known = {}
    for n in range(program.count):
        step = &program.steps[n]
        if step.run == NULL or step.preparing == NULL:
            continue
        form = <char*>new_memory(step.bytes)
        try:
            point_to_known(step, form, given.pointers)
            key = form[: step.bytes]    # with the addresses of constants, and of nothing else
            memory = known.get(key)
            if memory is None:
                given.pointers[FORM] = form
                point_to_known(step, form, given.pointers)
                bytes = step.preparing.bytes(form)
                if bytes <= 0:
                    continue
                memory = known[key] = new_bytes(bytes + ALIGNED)
                given.owners.append(memory)
                place = start_of(memory)
                with nogil:
                    status = step.preparing.prepare(form, place)
                if status != 0 and not raised():
                    raise MemoryError("no memory for what a graph prepares")
            given.prepared[n] = start_of(memory)
        finally:
            given.pointers[FORM] = NULL
            PyMem_Free(form)
    return 0


# The struct of a step, whose pointers lead to the bases that are known: the others are NULL.
cdef void point_to_known(const Step* step, char* form, char** bases) noexcept nogil:
    cdef const Patch* patch
    cdef int64_t k
    memcpy(form, step.form, step.bytes)
    for k in range(step.patched):
        patch = &step.patches[k]
        (<char**>(form + patch.at))[0] = NULL if bases[patch.base] == NULL else bases[patch.base] + patch.offset
